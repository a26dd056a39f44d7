"""The first k by delegates that an earlier dispatch left. The last step of top-k down columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..machine import ceil_div, power_of_two_above
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Pairs, Region, Sink
from .base import Step
from .select_teams import bests_of, largest_team, places_of

_LEAST_OWN = 2  # Delegates of an invocation. An idle place costs less than another kernel.


@dataclass(frozen=True)
class SelectFromDelegatesPolicy:
    """A team of invocations for the delegates of each sequence."""

    #: An invocation has this many delegates, or twice as many where all have many
    #: (benchmarks/LOG.md#second-keys-down-columns-2026-11-22-f0f71f6).
    delegates: int = number(2, 1, 16)


class _Shape(NamedTuple):
    team: int
    workgroup: int
    bests: int  # Of groups of delegates: the threshold is looked for among them.
    own: int  # Delegates of an invocation.
    places: int  # Survivors that a team's list has room for.


class SelectFromDelegates(Step[SelectFromDelegatesPolicy]):
    """Delegates of strided subsets, and second keys, tell which subsets to read again."""

    name = "select_from_delegates"

    def shape_from(self, problem: Problem, delegates: int) -> _Shape:
        """How so many delegates of each sequence are served. ``Unserved`` where k is too large."""
        large, k, sequences = largest_team(self.machine, problem.key_words), problem.k, problem.sequences
        self.require(k <= large, f"takes k up to {large}, not {k}")
        few = sequences * delegates <= 4 * self.policies["delegates"].total
        each = self.policy.delegates * (1 if few else 2)
        bests = bests_of(k, large)
        team = min(large, max(bests, power_of_two_above(ceil_div(delegates, each))))
        workgroup = max(team, self.machine.workgroup)
        own = max(_LEAST_OWN, power_of_two_above(ceil_div(delegates, team)))
        return _Shape(team, workgroup, bests, own, places_of(self.machine, problem, team, workgroup, own))

    def build_from(self, program: Program, problem: Problem, sink: Sink, delegates: Pairs, second_keys: Region) -> None:
        k, sequences = problem.k, problem.sequences
        team, workgroup, bests, own, places = self.shape_from(problem, delegates.length)
        program.dispatch(
            "select/from_delegates",
            ceil_div(sequences, workgroup // team),
            source=problem.source,
            sink=sink,
            bind={"delegate_keys": delegates.keys, "delegate_indices": delegates.indices, "second_keys": second_keys},
            constants={
                "WORKGROUP": workgroup,
                "WHOLE_TEAM": 0,
                "SIDE_BY_SIDE": 0,
                "OWN": own,
                "LISTED": places * (workgroup // team),
            },
            params={
                "k": k,
                "least": delegates.length,
                "team_bests": bests,
                "team": team,
                "places": places,
                "source_base": delegates.base,
                "source_step": delegates.step,
                "source_item_step": delegates.item_step,
                "subsets": delegates.length,
                "members": ceil_div(problem.length, delegates.length),
            },
        )
