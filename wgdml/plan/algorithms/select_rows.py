"""Short rows by small teams that keep the least key of each load. One read and a little."""

from __future__ import annotations

from dataclasses import dataclass

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Sink
from .base import Algorithm
from .parts import class_above

_SIZES = 2  # of register tiles from one power of two to the next: each is a kernel
_NARROW = 64  # invocations of a workgroup where teams are small and sequences few


@dataclass(frozen=True)
class SelectRowsPolicy:
    """Short rows, whose loads all are under way at once."""

    #: Teams serve k up to this. A team has 1.5 k invocations, and a large one is slow
    #: (benchmarks/LOG.md#threshold-by-a-small-team-2026-11-21-be5ecae).
    max_k: int = number(42, 1, 170)
    #: An invocation of a small team has up to this many loads (the same figures).
    loads: int = number(16, 1, 32)
    #: Teams serve rows of up to this many items (the same figures).
    max_length: int = number(8192, 4, 1 << 20)


class SelectRows(Algorithm[SelectRowsPolicy]):
    """A team of invocations a sequence, which is enough to find a threshold."""

    name = "select_rows"
    summary = "the least keys of a short row's loads give a threshold; one read and a little"

    def check(self, problem: Problem) -> tuple[int, int]:
        """The invocations of a team, and of a workgroup."""
        o, m = self.occupancy, self.machine
        source, k = self.check_one_axis(problem), problem.k
        # Each has a load of its own.
        most = min(m.workgroup, power_of_two_below(source.length // source.per_load))
        team, loads = max(4, power_of_two_above(k + k // 2)), source.most_loads
        while team < most:
            many = loads > max(self.policy.loads, min(team, 32)) * team
            spare = problem.sequences * team < o.invocations and loads // team >= 8
            if not many and not (team < 32 and spare):
                break
            team *= 2
        self.require(
            team <= most and loads <= 32 * team,
            f"takes k={k} of 1 to 32 loads for each of {team} invocations, up to {m.workgroup}, not of {source.length} items",
        )
        narrow = team > _NARROW or problem.sequences * team < o.invocations
        return team, max(team, min(_NARROW, m.workgroup) if narrow else m.workgroup)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        team, workgroup = self.check(problem)
        program.dispatch(
            "select/rows",
            ceil_div(problem.sequences * team, workgroup),
            source=problem.source,
            sink=sink,
            constants={
                "WORKGROUP": workgroup,
                "PLACES_EACH": 4 if problem.key_words == 1 else 2,
                "LOADS": class_above(ceil_div(problem.view.most_loads, team), _SIZES),
            },
            params={"k": problem.k, "team": team, "least": team * problem.view.per_load},
        )
