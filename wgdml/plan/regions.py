"""What dispatches read and fill: views of the tensors, and pairs in scratch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

from ..selection import AxisDim, Selection, extent, packed_strides
from .machine import ceil_div

#: Bytes: the strictest alignment of a binding's offset.
ALIGNMENT = 256
#: Bytes at the beginning of scratch that are zero between dispatches: workgroups meet there
#: (``lib/workgroup/last_block.wgsl``).
MEETING_BYTES = 16 << 10
#: Of spans of one sequence, the longest has at most this many times the items that teams expect.
_MOST_OF_USUAL = 1 << 14
#: Loads under way at once where a sequence is read again, of at most so many items: each is a bit
#: of a word (``lib/thread/near_loads.wgsl``).
_LOADS_AGAIN, _ITEMS_AGAIN = 4, 32


def loads_again(per_load: int) -> int:
    """Loads of so many items each that an invocation has under way where it reads again."""
    return min(_LOADS_AGAIN, _ITEMS_AGAIN // per_load)


class Region(NamedTuple):
    """A range of bytes of a resource."""

    offset: int
    size: int
    resource: str = "scratch"  #: "scratch", "input", "values", "indices", or a name of BESIDES


@dataclass(frozen=True)
class View:
    """A box of the input that fits a binding: a range of every axis, the whole batch of a part."""

    selection: Selection  #: The sub-selection, with offsets of its own first element.
    starts: tuple[int, ...]  #: Of the axes.
    sizes: tuple[int, ...]  #: Of the axes.
    vectors: bool  #: The input may be bound as vectors of four words.
    steps: tuple[int, ...] = ()  #: Of a sample: steps of the flattened index, an axis each.
    start_index: int = 0  #: The flattened index of the selection's first item.
    region: Region | None = None  #: Where the elements lie, if not in the input tensor.

    @staticmethod
    def whole(part: Selection, vectors: bool) -> View:
        """All of a part's axes."""
        return View(part, (0,) * len(part.axes), tuple(a.size for a in part.axes), vectors)

    @cached_property
    def covered(self) -> int:
        """Positions of the axes."""
        return math.prod(self.sizes)

    @cached_property
    def length(self) -> int:
        """The most items of a sequence that may be visited: all, or as many as can take part."""
        s = self.selection
        return min(self.covered, max(s.longest, s.k)) if s.longest and self.one_axis else self.covered

    @cached_property
    def sharers(self) -> int:
        """Sequences that are spans of one."""
        s = self.selection
        return math.prod(d.size for d in s.batch if not d.input_stride) if s.ragged else 1

    @cached_property
    def usual_loads(self) -> int:
        """Loads of most sequences, by which teams are sized. Spans of one lie apart, as a rule.

        No sequence has so many more that loops get too long (docs/driver-bugs.md).
        """
        length = max(min(self.length, self.covered // self.sharers), self.length // _MOST_OF_USUAL)
        return ceil_div(max(1, length), self.per_load)

    @property
    def axis_steps(self) -> list[int]:
        """The step of the flattened index for each axis."""
        return list(self.steps or packed_strides([axis.size for axis in self.selection.axes]))

    @property
    def first_index(self) -> int:
        return self.start_index + sum(s * step for s, step in zip(self.starts, self.axis_steps, strict=True))

    @property
    def offset(self) -> int:
        """Elements before the view's first."""
        axes = self.selection.axes
        return self.selection.input_offset + sum(s * a.stride for s, a in zip(self.starts, axes, strict=True))

    @property
    def span(self) -> int:
        """Elements from the view's first to its last, inclusive."""
        s = self.selection
        axes = ((n, axis.stride) for n, axis in zip(self.sizes, s.axes, strict=True))
        return extent([*axes, *((d.size, d.input_stride) for d in s.batch)])

    def sample(self, axes: Sequence[AxisDim], steps: Sequence[int]) -> View:
        """Some items: those along ``axes`` from the first one on, with their steps of the index."""
        return replace(
            self,
            selection=replace(self.selection, axes=tuple(axes), input_offset=self.offset),
            starts=(0,) * len(axes),
            sizes=tuple(axis.size for axis in axes),
            steps=tuple(steps),
            start_index=self.first_index,
        )

    # -- layout and loads --

    @property
    def one_axis(self) -> bool:
        return len(self.selection.axes) == 1

    @cached_property
    def rows(self) -> bool:
        """The axis is one contiguous run."""
        return self.one_axis and self.selection.axes[0].stride == 1

    @cached_property
    def columns(self) -> bool:
        """Neighbouring sequences lie side by side in memory."""
        return not self.rows and bool(self.selection.batch) and self.selection.batch[-1].input_stride == 1

    @property
    def load_words(self) -> int:
        """Words of one load of contiguous elements."""
        return 4 if self.vectors else max(1, self.selection.format.bytes // 4)

    @cached_property
    def per_load(self) -> int:
        """Items of a sequence that one load brings."""
        return self.load_words * 4 // self.selection.format.bytes if self.rows else 1

    @cached_property
    def skewed(self) -> bool:
        """Sequences may begin inside loads."""
        if self.selection.starts is not None:
            return self.per_load > 1
        first = self.offset % (ALIGNMENT // self.selection.format.bytes)
        return any(n % self.per_load for n in (first, *(d.input_stride for d in self.selection.batch)))

    @property
    def loads(self) -> int:
        """Loads that cover a sequence that begins with one."""
        return ceil_div(self.length, self.per_load)

    @cached_property
    def most_loads(self) -> int:
        """The most loads that cover a sequence, wherever it begins."""
        return ceil_div(self.length + (self.per_load - 1 if self.skewed else 0), self.per_load)


class Spread(NamedTuple):
    """Of pairs whose indices count along one of two axes, and which are items of the other one."""

    inner: int  #: Sequences that lie between two items of one.
    scale: int  #: Step of the flattened index along the axis that the indices count.
    step: int  #: Step of the flattened index from an item to the next.
    first: int  #: The flattened index of the first item's first.


@dataclass(frozen=True)
class Pairs:
    """Pairs in scratch: ``length`` a sequence, from pair ``base`` of the regions on."""

    keys: Region
    indices: Region
    base: int
    step: int  #: Pairs between sequences.
    length: int
    item_step: int = 1  #: Pairs between items.
    spread: Spread | None = None
    counts: Region | None = None  #: Words: how many of them each sequence has, from k on; else all.
    in_order: bool = False  #: By index; else in any order.
    rows: ClassVar[bool] = False
    skewed: ClassVar[bool] = False
    per_load: ClassVar[int] = 1
    beside: ClassVar[int] = 1  # As of a sink: ranks are neighbours, or as good.

    @property
    def columns(self) -> bool:
        """Pairs of neighbouring sequences lie side by side."""
        return self.item_step > 1

    @property
    def loads(self) -> int:
        return self.length

    @property
    def most_loads(self) -> int:
        return self.length

    @property
    def usual_loads(self) -> int:
        return self.length

    def line(self, sequences: int, ranks: int) -> int:
        """As of a sink: an invocation may put all one after the other."""
        return sequences * ranks

    def window(self, first: int, count: int, key_words: int) -> Pairs:
        """Items ``first`` to ``first + count`` of a single sequence, as pairs of their own."""
        keys = Region(self.keys.offset + 4 * key_words * first, 4 * key_words * count, self.keys.resource)
        indices = Region(self.indices.offset + 4 * first, 4 * count, self.indices.resource)
        return replace(self, keys=keys, indices=indices, base=0, step=count, length=count)


@dataclass(frozen=True)
class Outputs:
    """The output tensors themselves. Values are read again from ``view``."""

    view: View
    first_rank: int = 0

    @property
    def beside(self) -> int:
        """Sequences whose results of one rank are neighbours in memory; 1 where ranks are."""
        s = self.view.selection
        inner = s.batch[-1] if s.batch else None
        outputs = ((s.has_values, "value_stride", s.value_step), (s.has_indices, "index_stride", s.index_step))
        apart = all(inner and getattr(inner, stride) == 1 and step > 1 for wanted, stride, step in outputs if wanted)
        return inner.size if inner and apart else 1

    def line(self, sequences: int, ranks: int) -> int:
        """Results that an invocation may put one after the other: a rank's, a sequence's, or all.

        Narrow values share words, so theirs are neighbours in memory; 1 where values lie apart.
        """
        s = self.view.selection
        if self.beside > 1:
            return self.beside
        narrow = s.has_values and s.format.bytes < 4
        if narrow and s.value_step > 1:
            return 1
        one = len(s.batch) <= 1 and all(d.value_stride == ranks for d in s.batch if narrow)
        return sequences * ranks if one else ranks


Source = View | Pairs
Sink = Pairs | Outputs


class TooLargeError(Exception):
    """A part needs more than a binding holds, or scratch than a buffer: its batch must be cut."""


class Arena:
    """Hands out scratch, front to back, in aligned regions behind the place to meet."""

    def __init__(self, largest_binding: int, largest_buffer: int) -> None:
        self.largest_binding = largest_binding
        self.largest_buffer = largest_buffer
        self.used = MEETING_BYTES
        self.peak = 0

    def meeting(self) -> Region:
        """The first bytes. A dispatch that writes them leaves zeros in the end."""
        self.peak = max(self.peak, MEETING_BYTES)
        return Region(0, MEETING_BYTES)

    def take(self, size: int, *, windows: bool = False) -> Region:
        """A new region. Only one that is bound by ``windows`` may exceed a binding."""
        offset = self.used
        size = max(16, ceil_div(size, 16) * 16)
        self.used = ceil_div(offset + size, ALIGNMENT) * ALIGNMENT
        if self.used > self.largest_buffer or (size > self.largest_binding and not windows):
            raise TooLargeError(self.used)
        self.peak = max(self.peak, self.used)
        return Region(offset, size)
