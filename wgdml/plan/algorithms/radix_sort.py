"""A stable radix sort of everything. Two reads and a write a digit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..machine import Machine, ceil_div, power_of_two_above, power_of_two_below
from ..policy import Profile, number
from ..program import Program
from ..regions import Region, Sink, View
from .radix_passes import BINS, ONE_BY_ONE, Pass, RadixPasses
from .serial_radix_sort import SerialRadixSort

#: Items of an invocation where pairs are few. Tiles have one of three sizes: kernels are few.
_FEW_ITEMS = (1, 4)
#: And the most without subgroups or for keys of two words, whose pairs take more registers.
_MORE_WORDS_ITEMS = 8
#: Most neighbouring tiles whose counts are made together
#: (benchmarks/LOG.md#counts-by-groups-of-tiles-2026-11-23-5aea9aa).
_MAX_GROUP = 8
#: Groups that a tile sums up at one look, without a dispatch that scans them.
_GROUPS_A_LOOK = 16
#: Loads of an invocation that are under way at once.
_LOADS_AT_ONCE = 16


@dataclass(frozen=True)
class RadixSortPolicy:
    """Tiles of pairs, each counted and scattered by a workgroup."""

    #: With subgroups, an invocation has up to this many items of one-word keys
    #: (benchmarks/LOG.md#registers-and-workgroup-memory-2026-11-23-5aea9aa).
    items_per_thread: int = number(12, 4, 16)


class _Sizes(NamedTuple):
    items_per_thread: int
    tile: int  # Items of a workgroup.
    group: int  # Tiles of a group.
    unscanned_groups: int  # As many are summed up without a scan.
    subgroups: bool


class RadixSort(RadixPasses[RadixSortPolicy]):
    """A workgroup counts a group of tiles, and moves the pairs of one."""

    name = "radix_sort"
    summary = "a stable radix sort of everything; two reads and a write a digit"

    def prepare(self, program: Program, lengths: Sequence[Sequence[int]], sequences: int) -> dict[str, Region]:
        s = self._sizes(sequences, sum(lengths[0]), program.selection.format.key_words)
        room = max(sum(ceil_div(length, s.tile * s.group) for length in each) for each in lengths)
        return {
            "groups": program.words(sequences * BINS * (room + 1)),
            "counts": program.words(sequences * BINS * room * s.group if s.group > 1 else 1),
        }

    def _sizes(self, sequences: int, n: int, key_words: int) -> _Sizes:
        p, m = self.policy, self.machine
        subgroups = m.subgroups and m.workgroup >= BINS  # an invocation for each digit
        most = p.items_per_thread if subgroups and key_words == 1 else _MORE_WORDS_ITEMS
        items = next(i for i in (most, *_FEW_ITEMS[::-1]) if i == 1 or n * sequences >= i * m.workgroup * self.occupancy.processors)
        tile = items * m.workgroup
        # Groups so few that each tile sums them up by itself, at one look, or for few sequences at
        # several. An invocation counts no more than 32 items for that.
        # Else as many groups as fill the machine, and a dispatch that sums them up.
        unscanned = _GROUPS_A_LOOK * max(1, 4 // sequences)
        group = power_of_two_above(ceil_div(n, tile * _GROUPS_A_LOOK))
        group = min(group, _MAX_GROUP, power_of_two_below(32 // items))
        if n > unscanned * group * tile:
            group = min(_MAX_GROUP, power_of_two_below(n * sequences // (tile * self.occupancy.processors)))
        return _Sizes(items, tile, group, unscanned, subgroups)

    def dispatch_pass(self, program: Program, here: Pass, target: Sink, kept: int) -> None:
        lengths = [segment.length for segment in here.segments]
        key_words = program.selection.format.key_words
        s = self._sizes(here.sequences, sum(lengths), key_words)
        tiles = [ceil_div(length, s.tile) for length in lengths]
        groups = [ceil_div(length, s.tile * s.group) for length in lengths]
        first_tiles = [s.group * sum(groups[:i]) for i in range(len(groups))]
        scanned = sum(groups) > s.unscanned_groups
        params = {"group": s.group, "groups": sum(groups)}
        constants = here.constants | {"ITEMS_PER_THREAD": s.items_per_thread}
        if isinstance(here.segments[0], View):
            constants |= ONE_BY_ONE
        for segment, first, own_tiles, own_groups in zip(here.segments, first_tiles, tiles, groups, strict=True):
            bind, digits = here.bind_digits(segment, key_words)
            program.dispatch(
                "radix_sort/histogram",
                here.sequences * own_groups,
                source=segment,
                bind=bind,
                constants=constants
                | {"MAX_GROUP": _MAX_GROUP, "TILES_AT_ONCE": max(1, power_of_two_below(_LOADS_AT_ONCE // s.items_per_thread))},
                params=digits | params | {"tiles": own_tiles, "first_tile": first},
            )
        if scanned:
            # A workgroup sums up eight digits: eight neighbours are what memory is read by.
            program.dispatch(
                "radix_sort/scan",
                here.sequences * BINS // 8,
                bind={"groups": here.bind["groups"]},
                params={"groups": sum(groups)},
            )
        kernel = "radix_sort/scatter_subgroups" if s.subgroups else "radix_sort/scatter"
        team = {} if s.subgroups else {"COUNTERS": 8}
        for segment, first, own_tiles in zip(here.segments, first_tiles, tiles, strict=True):
            for piece, first_rank, ranks in program.windows(target, kept, here.sequences):
                program.dispatch(
                    kernel,
                    here.sequences * own_tiles,
                    source=segment,
                    sink=piece,
                    bind=here.bind,
                    constants=constants | team,
                    params=here.params
                    | params
                    | {"scanned": int(scanned), "tiles": own_tiles, "first_tile": first, "first_rank": first_rank, "ranks": ranks},
                )


def radix_sort_of(machine: Machine, policies: Profile) -> RadixPasses[Any]:
    """The radix sort of a machine."""
    return (SerialRadixSort if machine.software else RadixSort)(machine, policies)
