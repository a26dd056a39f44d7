"""The pairs at any ranks of short sequences in registers, by bisection of intervals. One read."""

from __future__ import annotations

from dataclasses import replace

from ..machine import ceil_div, power_of_two_above
from ..program import Program
from ..regions import View
from .base import Step
from .parts import NEIGHBOURS, class_tile
from .rank_table import Search, bound_pairs

#: An invocation has up to so many keys, and words of keys. More wait for fewer others; fewer leave
#: more sums to make (benchmarks/LOG.md#short-rows-by-bisected-ranks-2026-11-28-65d986a).
_EACH_KEYS, _EACH_WORDS = 48, 64
#: Words of keys of a row: many registers of as many invocations as a workgroup may have hold more,
#: but lists between brackets take less time (the same figures).
_WORDS = 1 << 14
_BYTES = 1 << 13  # items of 8 bits: of more, too many share a key
_BYTE_VALUES = 1 << 10  # where that does not matter: of more, one read counts all values
_COLUMN_WORDS = 1 << 11  # of columns: longer ones are copied to rows
#: Ranks that are bisected one after the other of sequences that a sort serves, at most
#: (the same figures).
_FEW_RANKS = 4
_SORTED = 1024  # items of those
_MOST_RANKS = 16  # of longer ones
_WORKGROUP = 128  # invocations at least: processors hold only so many workgroups
_LISTED = 32  # pairs of an interval, at most: each is compared with all
_LOOK = 3  # bits between two looks at whether any team goes on
_AT_A_TIME = 2  # loads: tiles come in fewer sizes
_SIZES = 4  # of register tiles from one power of two to the next


class BisectRanks(Step[None]):
    """A team of invocations a sequence. Each rank is looked for by itself."""

    name = "bisect_ranks"

    def fits(self, view: View, positions: bool) -> bool:
        """Do teams hold the sequences of a view? Software adapters have no such registers."""
        form = view.selection.format
        most = _WORDS if view.rows else _COLUMN_WORDS
        if form.bytes == 1:
            most = min(most, _BYTES if positions else _BYTE_VALUES)
        return not self.machine.software and view.length * form.key_words <= most

    @staticmethod
    def pays(length: int, ranks: int) -> bool:
        """Does it take less than to put all in order does?"""
        return ranks <= _FEW_RANKS or (length > _SORTED and ranks <= _MOST_RANKS)

    def build(self, program: Program, search: Search) -> None:
        """Appends the dispatch. NaN at the last rank has taken the place of all then."""
        # Of loads of several words more would be no items of the row.
        view, sink = search.view, search.sink
        source, key_words = replace(view, vectors=False), view.selection.format.key_words
        widest = self.machine.widest_workgroup
        team = min(widest, power_of_two_above(ceil_div(view.length, min(_EACH_KEYS, _EACH_WORDS // key_words))))
        teams, beside = max(1, _WORKGROUP // team), source.columns and team > 1
        if beside:
            teams = min(max(teams, NEIGHBOURS), widest // team)
        tile, listed = class_tile(source, team, _AT_A_TIME, _SIZES), min(_LISTED, max(4, team))
        program.dispatch(
            "ranks/bisect",
            ceil_div(search.sequences, teams),
            source=source,
            bind={"ranks": search.ranks.region} | bound_pairs(sink),
            constants=tile
            | {"KEYS": tile["LOADS"] * source.per_load, "LISTED": listed, "EACH": ceil_div(listed, team), "LOOK": _LOOK}
            | {"TEAM": team, "WORKGROUP": teams * team, "SIDE_BY_SIDE": int(beside)},
            params=search.params
            | {"sink_step": sink.step, "propagates": int(search.ranks.propagates), "index_bits": search.index_bits},
        )
