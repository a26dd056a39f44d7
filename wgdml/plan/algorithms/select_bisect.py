"""Short rows in registers, whose threshold is bisected. One read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..machine import ceil_div, power_of_two_above
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Sink, View
from .base import Algorithm
from .parts import class_tile, network, placed_words, teams_of_workgroup

_TEAM = 32  # invocations: more would wait for each other at every step
#: Teams of a workgroup, twice as many of many rows of over _LARGE words an invocation; half as many
#: of 64-bit types (benchmarks/LOG.md#several-rows-a-workgroup-2026-11-25-e32f064).
_TEAMS = 4
_LARGE = 32
_AT_A_TIME = 2  # loads: tiles come in fewer sizes
_SIZES = 4  # of register tiles from one power of two to the next
#: An invocation has up to this many words of keys
#: (benchmarks/LOG.md#bits-of-keys-in-registers-2026-11-24-b945986).
_WORDS = 64
#: Bisection serves k up to this, as their pairs are sorted in registers
#: (the same figures).
_MAX_K = 512


@dataclass(frozen=True)
class SelectBisectPolicy:
    """A team of 32 invocations a row, whose keys stay in registers."""

    #: Bisection pays from this many rows on. Fewer wait for each step
    #: (benchmarks/LOG.md#bits-of-keys-in-registers-2026-11-24-b945986).
    min_sequences: int = number(640, 1, 1 << 24)


class SelectBisect(Algorithm[SelectBisectPolicy]):
    """A key that k others precede, and then the order of those."""

    name = "select_bisect"
    summary = "short rows in registers, the threshold by halves, the k sorted there too; one read"

    def check(self, problem: Problem) -> dict[str, int]:
        self.require(1 < problem.k <= _MAX_K, f"takes k from 2 to {_MAX_K}, not k={problem.k}")
        self.check_one_axis(problem)
        source = self._view(problem)
        tile = class_tile(source, _TEAM, _AT_A_TIME, _SIZES)
        fits = tile["LOADS"] * source.per_load * problem.key_words <= _WORDS
        self.require(fits, f"takes up to {_TEAM * _WORDS // problem.key_words} items, not {source.length}")
        return tile

    @staticmethod
    def _view(problem: Problem) -> View:
        """With loads of a word or an element: half of a wide one might be no items of the row."""
        # benchmarks/LOG.md#loads-of-a-word-for-bisection-2026-11-26-f54f09a
        return replace(problem.view, vectors=False)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        tile, source = self.check(problem), self._view(problem)
        # Room beyond k for those that share the k-th key: twice as many as do on average
        # (benchmarks/LOG.md#room-beyond-k-in-bisection-2026-11-26-e116295).
        spare = problem.length >> 7 if problem.format.bytes == 1 else 0
        items = power_of_two_above(ceil_div(min(problem.k + spare, _MAX_K), _TEAM))
        keys = tile["LOADS"] * source.per_load
        many = keys * problem.key_words > _LARGE and problem.sequences * _TEAM >= 4 * self.occupancy.invocations
        most = _TEAMS * (2 if many else 1) // problem.key_words
        teams = teams_of_workgroup(self.machine, _TEAM, 4 * (items + 1) * _TEAM + 64, most)
        program.dispatch(
            "select/bisect",
            ceil_div(problem.sequences, teams),
            source=source,
            sink=sink,
            constants=tile
            | network(items)
            | placed_words(problem, keys * _TEAM, items * _TEAM)
            | {"TEAM": _TEAM, "WORKGROUP": teams * _TEAM, "KEYS": keys},
            params={"k": problem.k},
        )
