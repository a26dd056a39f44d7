"""A stable radix sort for software adapters: an invocation serves a tile, without barriers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..policy import number
from ..program import Program
from ..regions import Region, Sink, View
from .radix_passes import BINS, ONE_BY_ONE, Pass, RadixPasses

#: Tiles of a workgroup: their 256 counters each fill the least workgroup memory.
_WORKGROUP = 16
#: Items of the longest tile. Lavapipe ends an invocation's loops after 65,535 iterations in all,
#: and to find an element by several axes is a loop.
_LONGEST_TILE = 1 << 15
#: Digits that a workgroup sums up over the tiles, an invocation each.
_SCANNED = 64
#: There are this many tiles in all, where that makes them longer
#: (benchmarks/LOG.md#small-kernels-without-barriers-2026-11-23-27c0d6c).
_TILES = 512


@dataclass(frozen=True)
class SerialRadixSortPolicy:
    """Tiles of one invocation each."""

    #: The least tile of a long sequence has this many items. Its counters must be worth it
    #: (benchmarks/LOG.md#small-kernels-without-barriers-2026-11-23-27c0d6c).
    least_tile: int = number(1024, 256, 1 << 15)


class SerialRadixSort(RadixPasses[SerialRadixSortPolicy]):
    """Small kernels with few loops: lavapipe compiles a loop with a branch in 50 ms."""

    name = "serial_radix_sort"
    summary = "a stable radix sort without barriers, a tile an invocation; two reads and a write a digit"

    def prepare(self, program: Program, lengths: Sequence[Sequence[int]], sequences: int) -> dict[str, Region]:
        tile = self._tile(program, sequences, sum(lengths[0]))
        room = max(sum(ceil_div(length, tile) for length in each) for each in lengths)
        return {"tile_counts": program.words(sequences * BINS * (room + 1))}

    def _tile(self, program: Program, sequences: int, n: int) -> int:
        axes = len(program.selection.axes)
        longest = _LONGEST_TILE if axes == 1 else power_of_two_below(_LONGEST_TILE // (axes + 2))
        least = power_of_two_above(self.policy.least_tile)
        tile = max(least, power_of_two_above(ceil_div(n * sequences, _TILES)))
        return min(tile, longest, power_of_two_above(n))

    def dispatch_pass(self, program: Program, here: Pass, target: Sink, kept: int) -> None:
        lengths = [segment.length for segment in here.segments]
        tile = self._tile(program, here.sequences, sum(lengths))
        tiles = [ceil_div(length, tile) for length in lengths]
        first_tiles = [sum(tiles[:i]) for i in range(len(tiles))]
        params = {"tile": tile, "groups": sum(tiles)}
        constants = here.constants | {"WORKGROUP": _WORKGROUP}
        if isinstance(here.segments[0], View):
            constants |= ONE_BY_ONE
        for segment, first, own in zip(here.segments, first_tiles, tiles, strict=True):
            bind, digits = here.bind_digits(segment, program.selection.format.key_words)
            program.dispatch(
                "serial/radix_histogram",
                ceil_div(here.sequences * own, _WORKGROUP),
                source=segment,
                bind=bind,
                constants=constants,
                params=digits | params | {"tiles": own, "first_tile": first},
            )
        program.dispatch(
            "serial/radix_scan",
            ceil_div(here.sequences * BINS, _SCANNED),
            bind={"tile_counts": here.bind["tile_counts"]},
            constants={"WORKGROUP": _SCANNED},
            params={"groups": sum(tiles)},
        )
        for segment, first, own in zip(here.segments, first_tiles, tiles, strict=True):
            for piece, first_rank, ranks in program.windows(target, kept, here.sequences):
                program.dispatch(
                    "serial/radix_scatter",
                    ceil_div(here.sequences * own, _WORKGROUP),
                    source=segment,
                    sink=piece,
                    bind=here.bind,
                    constants=constants,
                    params=here.params | params | {"tiles": own, "first_tile": first, "first_rank": first_rank, "ranks": ranks},
                )
