"""Selection + adapter limits -> Plan: a list of dispatches and the scratch that they need. Pure data, no GPU.

The path of a selection::

    cut to windows -> choose an algorithm -> dispatches over elements or pairs -> pairs in order -> output tensors

Every algorithm reads a *source* (a box of the input tensor, or pairs that an earlier dispatch left in scratch) and fills a *sink*
(pairs in scratch, or the outputs), so algorithms compose: the result of one is the source of the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from ..selection import Selection
from .algorithms import Algorithms
from .dispatch import WINDOW, Binding, Box, Dispatch, Final, Pairs, Plan, Sink, Source, TooLargeError
from .tuning import Algorithm, Limits, Tuning, choose_algorithm, tuning_for

__all__ = [
    "Algorithm",
    "Binding",
    "Dispatch",
    "Limits",
    "Plan",
    "Tuning",
    "choose_algorithm",
    "make_plan",
    "tuning_for",
]


class _Planner(Algorithms):
    """Cuts a selection into parts that fit the bindings, and puts together what was found in each."""

    def build(self) -> Plan:
        parts = list(self.batch_pieces())[::-1]
        while parts:
            part = parts.pop()
            self.arena.used = self.arena.first
            built = len(self.dispatches), len(self.algorithms)
            try:
                self.build_part(part)
            except TooLargeError as error:
                del self.dispatches[built[0] :], self.algorithms[built[1] :]
                if part.sequences == 1:
                    raise MemoryError(
                        f"selecting k={part.k} of {part.length} elements needs {error} bytes of scratch, over the adapter's "
                        f"largest buffer of {self.arena.room} bytes or binding of {self.arena.most} bytes"
                    ) from None
                parts += self.halves(part)
        return Plan(tuple(self.dispatches), self.arena.peak, tuple(self.algorithms))

    @staticmethod
    def halves(part: Selection) -> list[Selection]:
        """The selection cut in two along its longest batch dimension, last half first."""
        d = max(range(len(part.batch)), key=lambda d: part.batch[d].size)
        half = part.batch[d].size // 2
        return [_sub_batch(part, d, half, part.batch[d].size - half), _sub_batch(part, d, 0, half)]

    def piece_sizes(self) -> tuple[list[int], list[int], int]:
        """Sizes of the pieces of each batch dimension, each axis, and the ranks, so that each tensor's part fits a binding."""
        s = self.selection
        limit = self.limits.max_storage_buffer_binding_size // 16 * 16 - 2 * WINDOW
        inputs = _fit(
            [(d.size, d.input_stride) for d in s.batch] + [(a.size, a.stride) for a in s.axes],
            limit // s.format.bytes,
        )
        batch, axes = inputs[: len(s.batch)], inputs[len(s.batch) :]
        ranks = s.k
        for wanted, size, strides, step in (
            (s.has_values, s.format.bytes, [d.value_stride for d in s.batch], s.value_step),
            (s.has_indices, s.index_bytes, [d.index_stride for d in s.batch], s.index_step),
        ):
            if wanted:
                dims = [(n, stride) for n, stride in zip(batch, strides, strict=True)]
                *batch, fitting = _fit([*dims, (ranks, step)], limit // size)
                ranks = min(ranks, fitting)
        return batch, axes, ranks

    def batch_pieces(self) -> Iterator[Selection]:
        """The selection cut along its batch into parts whose windows fit."""
        s = self.selection
        sizes, _, _ = self.piece_sizes()
        for starts in product(*(range(0, d.size, n) for d, n in zip(s.batch, sizes, strict=True))):
            part = s
            # From the innermost dimension out: one that is cut to a single sequence disappears.
            for d in reversed(range(len(s.batch))):
                part = _sub_batch(part, d, starts[d], min(sizes[d], s.batch[d].size - starts[d]))
            yield part

    def build_part(self, part: Selection) -> None:
        _, axis_sizes, ranks = self.piece_sizes()
        boxes = [
            Box(
                part,
                starts,
                tuple(min(n, a.size - x) for n, a, x in zip(axis_sizes, part.axes, starts, strict=True)),
            )
            for starts in product(*(range(0, a.size, n) for a, n in zip(part.axes, axis_sizes, strict=True)))
        ]
        sequences, k = part.sequences, part.k
        self.sequences = sequences
        self.forced = self.wanted
        whole = Box(part, (0,) * len(part.axes), tuple(a.size for a in part.axes))
        if len(boxes) == 1 and ranks == k:
            self.run(boxes[0], sequences, k, Final(boxes[0]))
            return
        lengths = [min(k, b.length) for b in boxes]
        if sequences == 1 and sum(lengths) > self.pairs_a_binding():
            # Too many to merge: sort everything.
            self.algorithms.append(Algorithm.RADIX_SORT)
            ordered = self.new_pairs(1, part.length, windows=True)
            self.sort_segments(boxes, 1, part.length, ordered)
        else:
            # The first k of the whole are among the first k of each box.
            merged: Source = boxes[0]
            if len(boxes) > 1:
                pairs = self.new_pairs(sequences, sum(lengths))
                for i, (box, length) in enumerate(zip(boxes, lengths, strict=True)):
                    self.run(box, sequences, length, replace(pairs, base=sum(lengths[:i]), length=length))
                merged = pairs
            if not part.has_values and ranks == k:
                self.run(merged, sequences, k, Final(whole))
                return
            ordered = self.new_pairs(sequences, k)
            self.run(merged, sequences, k, ordered)
        self.emit_ordered(ordered, sequences, k, [Final(box) for box in (boxes if part.has_values else [whole])], ranks)

    def emit_ordered(self, ordered: Pairs, sequences: int, k: int, sinks: Sequence[Sink], ranks: int) -> None:
        """The first k of pairs in order to the sinks, at most ``ranks`` at a time."""
        if sequences == 1:
            # Windows start where bindings may.
            ranks = min(ranks, self.pairs_a_binding())
            ranks = ranks if ranks >= k else ranks // WINDOW * WINDOW
        for first in range(0, k, ranks):
            count = min(ranks, k - first)
            source, base = ordered, first
            if sequences == 1:
                source, base = ordered.window(first, count, self.selection.format.key_words), 0
            for sink in sinks:
                if isinstance(sink, Final):
                    sink = replace(sink, rank_base=first)
                else:
                    sink = replace(sink, base=sink.base + first * sink.item_step)
                workgroups = -(-sequences * count // self.tuning.workgroup)
                self.emit("emit", workgroups, source, sink, length=count, ranks=count, rank_base=base)


def _sub_batch(s: Selection, d: int, first: int, size: int) -> Selection:
    """The selection with a range of one batch dimension."""
    dim = s.batch[d]
    kept = () if size == 1 else (replace(dim, size=size),)
    return replace(
        s,
        batch=s.batch[:d] + kept + s.batch[d + 1 :],
        input_offset=s.input_offset + first * dim.input_stride,
        value_offset=s.value_offset + first * dim.value_stride,
        index_offset=s.index_offset + first * dim.index_stride,
    )


def _fit(dims: list[tuple[int, int]], limit: int) -> list[int]:
    """Sizes of pieces of each (size, stride) dimension so that a piece spans at most ``limit`` elements, widest first."""
    sizes = [size for size, _ in dims]
    for d in sorted(range(len(dims)), key=lambda d: -dims[d][1]):
        span = 1 + sum((n - 1) * stride for n, (_, stride) in zip(sizes, dims, strict=True))
        if span <= limit:
            break
        others = span - (sizes[d] - 1) * dims[d][1]
        sizes[d] = max(1, min(sizes[d], (limit - others) // dims[d][1] + 1)) if limit > others else 1
    return sizes


def make_plan(
    selection: Selection,
    limits: Limits,
    *,
    tuning: Tuning | None = None,
    algorithm: Algorithm | None = None,
    vectors: bool = True,
    shared_input: bool = False,
) -> Plan:
    """Plans a selection.

    ``vectors``: may the input be bound as 16-byte vectors (does the buffer reach the next multiple of 16 bytes)?
    ``shared_input``: does an output lie in the input's buffer, so that all of it must be bound writable? ``algorithm`` forces the
    first choice; ``ValueError`` where it cannot serve. ``MemoryError`` where the scratch would exceed the largest buffer.
    """
    tuning = tuning or tuning_for(limits, selection.format.key_words)
    return _Planner(selection, limits, tuning, vectors, shared_input, algorithm).build()
