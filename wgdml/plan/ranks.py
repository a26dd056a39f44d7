"""Plans of order statistics: the pairs at given ranks, and sequences parted at them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..selection import Selection
from .algorithms.digit_ranks import DigitRanks
from .algorithms.part_rows import PartRows
from .algorithms.radix_sort import radix_sort_of
from .algorithms.rank_table import Ranks, plain_parts
from .algorithms.select_ranks import SelectRanks
from .cut import Pieces, outputs_of, views_of
from .planner import Planner
from .program import Plan, Program
from .regions import Outputs, Region, View

#: Most ranks at which sequences are parted: a byte has two values for each of them, and one more.
MOST_PARTED = 127


def rank_words(
    planner: Planner, selection: Selection, ranks: Sequence[int], *, propagates: bool, positions: bool, vectors: bool
) -> tuple[list[int], Ranks]:
    """The words of the resource "ranks" for one row of ascending ranks from 0, and what they are.

    ``propagates``: the last one's pair takes the place of all others if it is NaN. ``positions``:
    which of equal elements they are counts. ``vectors``: as of the plan.
    """
    whole = View.whole(selection, vectors)
    return SelectRanks(planner.machine, planner.policies).table(
        whole, selection.sequences, ranks, propagates=propagates, positions=positions
    )


def own_ranks(planner: Planner, selection: Selection) -> Ranks:
    """What the resource "ranks" is where each sequence has ``selection.k`` ranks of its own.

    They lie as the indices do.
    """
    together = DigitRanks(planner.machine, planner.policies).together
    # Each part of a plan tells where its rows lie.
    return Ranks(selection.k, selection.length - 1, Region(0, 0, "ranks"), plain_parts(selection.k, together), own=True)


def ranks_plan(planner: Planner, selection: Selection, ranks: Ranks, *, vectors: bool) -> Plan:
    """The pairs at the first ``selection.k`` of the ranks of every sequence."""
    step = SelectRanks(planner.machine, planner.policies)

    def build(program: Program, part: Selection, pieces: Pieces) -> None:
        program.algorithms.append(step.name)
        known = ranks
        if ranks.own:
            part, rows = _as_indices(program, part, "ranks")
            known = replace(ranks, region=rows)
        views = views_of(part, pieces, program.vectors)
        found = program.pairs(part.sequences, ranks.count)
        step.build(program, views, part.sequences, known, found)
        program.emit(found, part.sequences, part.k, outputs_of(part, views), pieces.ranks)

    return planner.compose(selection, build, vectors=vectors)


def partition_plan(planner: Planner, selection: Selection, ranks: Ranks, *, vectors: bool) -> Plan:
    """All pairs of every sequence, parted at ranks.

    Those at the ranks are where a sort would put them. Those between come in order of index. Long
    sequences take one pass of a stable radix sort, whose digit counts the pairs at the ranks that
    come before.
    """
    step = SelectRanks(planner.machine, planner.policies)
    rows = PartRows(planner.machine, planner.policies)
    radix_sort = radix_sort_of(planner.machine, planner.policies)

    def build(program: Program, part: Selection, pieces: Pieces) -> None:
        views = views_of(part, pieces, program.vectors)
        sequences, n = part.sequences, part.length
        whole = len(views) == 1 and pieces.ranks == n
        alone = whole and rows.serves(views[0], sequences, ranks)
        if alone:
            views = [step.to_read_again(program, views[0], sequences, ranks.count)]
        at = program.pairs(sequences, ranks.count)
        step.build(program, views, sequences, ranks, at)
        program.algorithms += [step.name, rows.name if alone else radix_sort.name]
        if alone:
            rows.build(program, views[0], sequences, ranks, at, Outputs(views[0]))
            return
        if whole:
            radix_sort.part(program, views, sequences, n, at, Outputs(views[0]))
            return
        parted = program.pairs(sequences, n, windows=True)
        radix_sort.part(program, views, sequences, n, at, parted)
        program.emit(parted, sequences, n, outputs_of(part, views), pieces.ranks)

    return planner.compose(selection, build, vectors=vectors)


def numbers_plan(planner: Planner, selection: Selection, *, vectors: bool) -> Plan:
    """How many elements of each sequence are not NaN, added to the words of "numbers"."""
    step = SelectRanks(planner.machine, planner.policies)

    def build(program: Program, part: Selection, pieces: Pieces) -> None:
        part, words = _as_indices(program, part, "numbers")
        for view in views_of(part, pieces, program.vectors):
            step.count_numbers(program, view, part.sequences, words)

    return planner.compose(selection, build, vectors=vectors)


def _as_indices(program: Program, part: Selection, resource: str) -> tuple[Selection, Region]:
    """Words that lie as a part's indices do: the part as they are bound, and where they are."""
    dims = [(part.k, part.index_step), *((d.size, d.index_stride) for d in part.batch)]
    region, first = program.beside(resource, part.index_offset, dims, 4)
    return replace(part, index_offset=first), region
