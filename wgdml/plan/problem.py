"""What a choice of algorithm looks at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..selection import ElementFormat
from .regions import Pairs, Source, View


class Unserved(ValueError):
    """An algorithm does not serve a problem; the message says why not."""


class Rejected(Unserved):
    """A plan without the kernels that the device's driver rejected would lack one of them."""


@dataclass(frozen=True)
class Problem:
    """The first k of each of so many sequences of a source."""

    source: Source
    sequences: int
    k: int
    format: ElementFormat  #: Of the input's elements, whose keys the pairs have too.
    last_index: bool = False  #: The last of equal items wins.
    packed: bool = False  #: A pair fits one word.

    @property
    def length(self) -> int:
        return self.source.length

    @property
    def loads(self) -> int:
        """The most loads that cover a sequence."""
        return self.source.most_loads

    @property
    def pairs(self) -> bool:
        """Items are pairs that an earlier dispatch left, not the input's elements."""
        return isinstance(self.source, Pairs)

    @property
    def listed(self) -> int:
        """Items of a sequence, about: of lists with counts of their own hardly more than k."""
        return self.k if self.counted else self.length

    @property
    def counted(self) -> bool:
        """Items are lists of pairs whose lengths only the device knows."""
        return isinstance(self.source, Pairs) and self.source.counts is not None

    @property
    def one_axis(self) -> bool:
        """Items are elements along one axis."""
        return isinstance(self.source, View) and self.source.one_axis

    @cached_property
    def columns(self) -> bool:
        """Neighbouring sequences lie side by side in memory, along one axis."""
        return isinstance(self.source, View) and self.source.one_axis and self.source.columns

    @property
    def along(self) -> bool:
        """Items are elements along one axis, and neighbouring sequences do not lie side by side."""
        return self.one_axis and not self.columns

    @property
    def ragged(self) -> bool:
        """Items are elements, and sequences have spans of their own."""
        return isinstance(self.source, View) and self.source.selection.ragged

    @property
    def segments(self) -> bool:
        """Many sequences are spans of one long one, and most of them are far shorter than some."""
        return isinstance(self.source, View) and self.source.one_axis and self.source.sharers > 1 and self.length > 1024

    @property
    def key_words(self) -> int:
        """Words of a key: two for 64-bit elements."""
        return self.format.key_words

    @property
    def view(self) -> View:
        """The source, where it is the input's elements. Raises ``Unserved`` for pairs."""
        if isinstance(self.source, View):
            return self.source
        raise Unserved("takes the input's elements, not pairs")
