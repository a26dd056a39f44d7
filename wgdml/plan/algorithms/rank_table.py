"""Wanted ranks as words for the device, and the brackets that a sample of a long row gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..regions import ALIGNMENT, Pairs, Region, View

_MOST_BRACKETS = 16
_DEVIATIONS = 5  # standard ones, by which more may lie in a bracket of one sample than is expected
#: Of a row's items over the root of a sample's size, by which a bracket of many samples may be
#: wider: six deviations of its width, each a twentieth, and what saves its ends a digit.
_WIDER = 0.32
_NONE = 0xFFFFFFFF  # a rank before the first of a sample, or behind its last


@dataclass(frozen=True)
class Sample:
    """Runs of elements from all over a row, and brackets from them.

    Of several samples each estimates a bracket's ends. The earliest and the latest few are left
    out.
    """

    run: int  #: Elements of a run.
    every: int  #: One run in so many is taken.
    samples: int  #: The runs go to so many samples in turn.
    deviations: float  #: Standard deviations of a sample that its ends lie to each side of a rank.
    margin: int  #: Elements of a sample that they lie further away.
    spread: float  #: Standard deviations that several samples' ends lie apart.
    most: int  #: Places that the lists of all brackets of a row may have together.
    together: int  #: Ranks that are found together, at most.

    def size(self, length: int) -> int:
        """Elements of one sample."""
        return length // (self.run * self.every) // self.samples * self.run

    def slack(self, width: int, length: int) -> int:
        """Items by which more may lie in a bracket than the ``width`` that is expected."""
        if self.samples > 1:
            return math.ceil(_WIDER * length / math.sqrt(self.size(length))) + 4096
        return math.ceil(_DEVIATIONS * math.sqrt(width * length / self.size(length))) + 64


@dataclass(frozen=True)
class Brackets:
    """Neighbouring ranks, in brackets of which each has some of them."""

    bounds: tuple[int, ...]  #: The first rank of each bracket among those of the part, and the end.
    sampled: Region  #: Words: two ranks of the sample for each bracket.
    bounds_at: Region  #: Words: ``bounds``.
    places: int  #: Pairs that a bracket's list has room for.
    between: int  #: Items that lie in all of them, about.
    sample: Sample

    @property
    def count(self) -> int:
        return len(self.bounds) - 1

    @property
    def most(self) -> int:
        """The most ranks of a bracket."""
        return max(b - a for a, b in zip(self.bounds, self.bounds[1:], strict=False))


@dataclass(frozen=True)
class Part:
    """Some of the ranks, found together."""

    first: int
    count: int
    brackets: Brackets | None = None  #: None where all items are looked at, digit by digit.
    last: bool = False  #: The last of the ranks is the last of all, and needs no bracket.

    @property
    def wanted(self) -> int:
        """The others."""
        return self.count - self.last


@dataclass(frozen=True)
class Ranks:
    """The ranks that are wanted, ascending, from 0, as words of the resource "ranks"."""

    count: int
    last: int  #: The largest that there may be.
    region: Region
    parts: tuple[Part, ...]
    own: bool = False  #: Each sequence has its own row, which lies as its indices do.
    propagates: bool = False  #: The last one's pair takes the place of all if it is NaN.
    positions: bool = True  #: Which of equal elements they are counts.


@dataclass(frozen=True)
class Search:
    """Ranks of the sequences of a view that are found together, and where their pairs go."""

    view: View
    sequences: int
    ranks: Ranks
    part: Part
    sink: Pairs

    @property
    def index_bits(self) -> int:
        """Bits of positions, where those matter."""
        return self.view.selection.index_bits if self.ranks.positions else 0

    @property
    def bits(self) -> int:
        """Bits that tell a pair."""
        return 8 * self.view.selection.format.bytes + self.index_bits

    @property
    def params(self) -> dict[str, int]:
        """The parameters of what reads the ranks. Own ones lie as the indices do.

        What writes indices has an ``index_base`` of its own, and takes none of these.
        """
        row = {"rank_step": int(self.ranks.own), "index_base": self.view.selection.index_offset}
        return row | {"first_rank": self.part.first, "ranks": self.part.wanted}


@dataclass
class _Table:
    """Words in sections that may be bound."""

    words: list[int] = field(default_factory=list)

    def add(self, section: Sequence[int]) -> Region:
        self.words += [0] * (-len(self.words) % (ALIGNMENT // 4))
        start = 4 * len(self.words)
        self.words += section
        return Region(start, 4 * len(section), "ranks")


def rank_table(
    length: int, ranks: Sequence[int], together: int, sample: Sample | None, *, propagates: bool, positions: bool
) -> tuple[list[int], Ranks]:
    """One row of ranks for sequences of ``length``: the words, and how they are found.

    ``together``: the most ranks that are found by one look at all items. ``sample``: what may be
    taken of the sequence.
    """
    table = _Table()
    region = table.add(ranks)
    parts: list[Part] = []
    if sample is not None and sample.size(length):
        last = len(ranks) > 1 and ranks[-1] == length - 1
        for first, found in _brackets(ranks[:-1] if last else ranks, length, sample):
            brackets = _add_brackets(table, length, found, sample)
            if brackets is None:
                parts.clear()
                break
            parts.append(Part(first, brackets.bounds[-1], brackets))
        if last and parts:
            parts[-1] = replace(parts[-1], count=parts[-1].count + 1, last=True)
    whole = tuple(parts) or plain_parts(len(ranks), together)
    return table.words, Ranks(len(ranks), ranks[-1], region, whole, propagates=propagates, positions=positions)


def plain_parts(count: int, together: int) -> tuple[Part, ...]:
    """So many ranks, found digit by digit."""
    return tuple(Part(first, min(together, count - first)) for first in range(0, count, together))


#: (low, high) ranks in a sample, how far samples lie apart, the number of wanted ranks between.
_Found = tuple[int, int, int, int]


def _add_brackets(table: _Table, length: int, found: Sequence[_Found], sample: Sample) -> Brackets | None:
    """Brackets as words. None where too many items would lie in them."""
    size, bounds = sample.size(length), [0]
    for *_, count in found:
        bounds.append(bounds[-1] + count)
    widths = [(min(high + apart, size) - max(low - apart, 0)) * length // size for low, high, apart, _ in found]
    places = min(length, max(widths) + sample.slack(max(widths), length))
    if len(found) * places > sample.most:
        return None
    # A skewed row's sample lacks what its first load has of it.
    ends = [rank if 0 <= rank < size - sample.run else _NONE for low, high, *_ in found for rank in (low, high)]
    return Brackets(tuple(bounds), table.add(ends), table.add(bounds), places, sum(widths), sample)


def _brackets(ranks: Sequence[int], length: int, sample: Sample) -> list[tuple[int, list[_Found]]]:
    """The first rank's number, and the brackets, of each part."""
    parts: list[tuple[int, list[_Found]]] = []
    size = sample.size(length)
    for number, rank in enumerate(ranks):
        share = rank / length
        variance = size * share * (1 - share)
        # A run's elements may not tell of each other, so one run more.
        margin = math.ceil(sample.deviations * math.sqrt(variance)) + sample.run + sample.margin
        apart = math.ceil(sample.spread * math.sqrt(variance + margin))
        low, high = rank * size // length - margin, rank * size // length + margin + 1
        full = not parts or number - parts[-1][0] == sample.together
        if not full and low - apart <= parts[-1][1][-1][1] + parts[-1][1][-1][2]:
            first, _, before, count = parts[-1][1][-1]
            parts[-1][1][-1] = (first, high, max(apart, before), count + 1)
        elif full or len(parts[-1][1]) == min(_MOST_BRACKETS, sample.together // 2):
            parts.append((number, [(low, high, apart, 1)]))
        else:
            parts[-1][1].append((low, high, apart, 1))
    return parts


def bound_pairs(sink: Pairs) -> dict[str, Region]:
    """What is bound where pairs are written."""
    return {"pair_keys": sink.keys, "pair_indices": sink.indices}
