"""Lists of a short row's first words in registers, by networks of minima and maxima. One read."""

from __future__ import annotations

from dataclasses import dataclass

from ..machine import ceil_div
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Sink
from .base import Algorithm
from .parts import LONGEST_LIST, class_tile, list_size, word_lists

_TILE_SIZES = 8  # of register tiles from one power of two to the next
#: Words that are merged into a list at a time, and from how many pairs of it on twice as many share
#: the cost of a merge (benchmarks/LOG.md#words-at-a-time-2026-11-26-a0595f9).
_BATCH, _LONG_LIST = 8, 25
_NARROW = 64  # invocations of a workgroup


@dataclass(frozen=True)
class SelectNetworksPolicy:
    """Sorted lists of k + 1 packed words in registers."""

    #: Networks serve k up to this: a list and the items share an invocation's registers
    #: (benchmarks/LOG.md#packed-words-in-registers-2026-11-21-8584e02).
    max_k: int = number(31, 2, 31)
    #: An invocation holds at most this many items of 32 bits in registers (the same figures).
    items: int = number(64, 4, 256)
    #: It reads at most this many of 8 and 16 bits, some at a time
    #: (benchmarks/LOG.md#narrow-rows-some-loads-at-a-time-2026-11-30-b101ed9).
    narrow_items: int = number(256, 4, 1024)
    #: Networks serve rows of up to this many items, twice as many of 8 and 16 bits. Longer ones are
    #: faster by a threshold, which reads twice what may matter (the same figures).
    max_length: int = number(1024, 3, 4096)


class SelectNetworks(Algorithm[SelectNetworksPolicy]):
    """An invocation a sequence, or as many as it needs or the machine has room for."""

    name = "select_networks"
    summary = "a list of the first in registers, into which networks of minima and maxima merge; one read"

    def check(self, problem: Problem) -> tuple[int, dict[str, int]]:
        """The invocations of a team, and the constants of its register tile."""
        k, p = problem.k, self.policy
        source = problem.view
        one_word = problem.key_words == 1
        self.require(
            one_word and 1 < k <= LONGEST_LIST, f"takes k from 2 to {LONGEST_LIST} of elements of up to 4 bytes, not k={k}"
        )
        self.require(k < source.length <= 4096, f"takes k={k} of sequences of k + 1 to 4096 items, not {source.length}")
        self.check_first(problem)
        per_load = source.per_load
        items = p.items if problem.format.bytes == 4 else p.narrow_items
        at_a_time = max(1, 4 // per_load)  # Tiles have few sizes.
        most, team = min(32, self.machine.workgroup), 1
        tile = class_tile(source, team, at_a_time, _TILE_SIZES)
        while team < most:
            spare = problem.sequences * team < self.occupancy.invocations and tile["LOADS"] // at_a_time >= 8
            if tile["LOADS"] * per_load <= items and not spare:
                break
            team *= 2
            tile = class_tile(source, team, at_a_time, _TILE_SIZES)
        self.require(tile["LOADS"] * per_load <= items, f"takes up to {most * items} items, not {source.length}")
        return team, tile

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        team, tile = self.check(problem)
        workgroup = max(team, min(_NARROW, self.machine.workgroup))
        per_load, items = problem.view.per_load, tile["LOADS"] * problem.view.per_load
        k = min(list_size(problem.k), problem.length - 1)
        batch = _BATCH if k < _LONG_LIST else 2 * _BATCH
        fetch = max(1, batch // per_load)
        program.dispatch(
            "select/networks",
            ceil_div(problem.sequences * team, workgroup),
            source=problem.source,
            sink=sink,
            constants=tile
            | word_lists(k, batch)
            | {
                "WORKGROUP": workgroup,
                "ONE_BATCH_DIM": int(len(problem.view.selection.batch) == 1),
                "TEAM": team,
                "GROUPS": ceil_div(k, team),
                "BATCHES": ceil_div(items, batch),
                "FETCH": fetch,
                "FETCH_BATCHES": fetch * per_load // batch,
                "PLACE_BITS": (team * items).bit_length(),
            },
            params={"k": problem.k, "least": k + 1},
        )
