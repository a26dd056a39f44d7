"""Selection + adapter limits -> Plan: a list of dispatches and the scratch that they need. Pure data, no GPU.

The path of a selection::

    cut to windows -> choose an algorithm -> dispatches over elements or pairs -> pairs in order -> output tensors

Every algorithm reads a *source* (a box of the input tensor, or pairs that an earlier dispatch left in scratch) and fills a *sink*
(pairs in scratch, or the outputs), so algorithms compose: the result of one is the source of the next.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product

from .selection import Selection

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


class Algorithm(Enum):
    """How the first k pairs of each sequence are found. ``choose_algorithm`` says when each one pays."""

    REDUCE = "reduce"  #: k = 1: a tree; one read
    SELECT = "select"  #: delegates, threshold and a small sort inside a workgroup; one read and a little
    LISTS = "lists"  #: a sorted list of k pairs an invocation, in registers; one read and a little
    DELEGATES = "delegates"  #: the best of each strided subset, a threshold from those, its subsets again; one read and a little
    SORT_ROWS = "sort_rows"  #: a bitonic sort of whole short sequences in workgroup memory; one read
    SORT_ROWS_RADIX = "sort_rows_radix"  #: a radix sort there; for the input's elements, in their own order; one read
    RANK = "rank"  #: pairs placed by counting those before each; for a few thousand
    RADIX_SELECT = (
        "radix_select"  #: a histogram of each digit, or of a sample's, then those that pass, sorted; a read a digit, or one
    )
    RADIX_SORT = "radix_sort"  #: a stable radix sort of everything; two reads and a write a digit


@dataclass(frozen=True)
class Limits:
    """What a plan must keep to: the device's limits, by WebGPU's names, and what kind of machine it is."""

    max_storage_buffer_binding_size: int = 128 << 20
    max_buffer_size: int = 256 << 20
    max_compute_invocations_per_workgroup: int = 256
    max_compute_workgroup_storage_size: int = 16 << 10
    max_compute_workgroups_per_dimension: int = 65535
    software: bool = False  #: a CPU adapter: few long workgroups pay, barriers cost
    subgroups: bool = False  #: subgroup operations may be used; how large subgroups are nobody promises


@dataclass(frozen=True)
class Tuning:
    """The numbers that the algorithms leave open. ``tuning_for`` sets them; tests shrink them to force the multi-pass paths."""

    workgroup: int  #: invocations of an ordinary workgroup
    large_workgroup: int  #: the most invocations that serve one long sequence together
    workgroups: int  #: workgroups that fill the machine
    unroll: int  #: loads in flight an invocation
    loads_each: int  #: loads an invocation should have before a sequence is cut among more of them
    sort_capacity: int  #: the most pairs that one workgroup sorts in its memory (a power of two)
    radix_row_length: int  #: the shortest sequence for SORT_ROWS_RADIX before SORT_ROWS
    radix_row_each: int  #: items of an invocation there, 8 or 16
    radix_row_digit: int  #: and bits of a digit, up to 5; one more for long sequences
    select_k: int  #: the largest k for SELECT
    lists_k: int  #: the largest k for LISTS
    lists_length: int  #: and the longest sequence
    lists_sequences: int  #: and the fewest of them
    lists_columns: int  #: the longest of sequences side by side, before DELEGATES
    rank_length: int  #: the longest list that is sorted by counting
    tile: int  #: pairs of a radix sort's tile
    sample_k: int  #: the smallest k for which RADIX_SELECT looks at a sample
    sample_length: int  #: and the shortest sequence
    delegate_loads: int  #: loads that a delegate stands for, where there are fewer loads than make full use of ``delegates``
    delegate_length: int  #: the shortest sequence for DELEGATES
    delegate_sequences: int  #: and the most of them
    delegate_k: int  #: and the largest k
    delegate_workgroup: int  #: invocations of a workgroup that makes them
    delegates: int  #: invocations that read at full speed, each making a delegate
    delegates_a_rank: int  #: and more where k is large, as the subsets of k of them are read again
    delegate_columns: int  #: the most of each sequence, where sequences lie side by side
    kth_workgroup: int  #: invocations that look for a threshold among the delegates
    groups_a_rank: float  #: SELECT's groups for each of the k
    reduce_workgroup: int  #: invocations of a workgroup that reduces
    reduce_large: int  #: and where sequences are few, or side by side
    reduce_loads: int  #: loads of an invocation of a short sequence
    barrier_free: bool = False  #: teams of one invocation: barriers cost more than a second dispatch


def _power_of_two_below(n: int) -> int:
    return 1 << (max(n, 1).bit_length() - 1)


def _power_of_two_above(n: int) -> int:
    return 1 << (max(n, 1) - 1).bit_length()


def tuning_for(limits: Limits, key_words: int) -> Tuning:
    """The one table of tuning parameters, from the limits alone.

    Evidence: a GPU with 132 processors reads at full speed from 1056 workgroups of 256 up; a software adapter with two cores pays
    some 3 us for every workgroup with a barrier, so few long workgroups are best there (``benchmarks/LOG.md``).
    """
    workgroup = min(256, _power_of_two_below(limits.max_compute_invocations_per_workgroup))
    pair = 8 * key_words  # bytes of a pair in workgroup memory
    # sort_rows.wgsl: 16 pairs an invocation, moved a word at a time through memory with one place in 17 to spare; and
    # sort_rows_radix.wgsl keeps an invocation's sum besides.
    capacity = min(
        16 * _power_of_two_below(limits.max_compute_invocations_per_workgroup),
        _power_of_two_below(limits.max_compute_workgroup_storage_size * 16 // 19 // 4),
    )
    large = min(1024, _power_of_two_below(limits.max_compute_invocations_per_workgroup))
    # select.wgsl keeps, an invocation, a delegate and two words, and at least as many candidates.
    while large * (2 * pair + 8) > limits.max_compute_workgroup_storage_size - 512:
        large //= 2
    # sort_scatter.wgsl keeps a word of each item, with one place in eight to spare, a counter a digit and a scan.
    tile = 8 * workgroup
    while tile > workgroup and 4 * (tile + workgroup) + 1024 + 5 * workgroup > limits.max_compute_workgroup_storage_size:
        tile //= 2
    kth = min(256 if limits.software else 1024, _power_of_two_below(limits.max_compute_invocations_per_workgroup))
    if limits.software:
        return Tuning(
            workgroup=workgroup,
            large_workgroup=min(large, 256),
            workgroups=32,
            unroll=1,
            loads_each=64,
            sort_capacity=min(capacity, 4096),
            radix_row_length=1 << 30,
            radix_row_each=16,
            radix_row_digit=4,
            select_k=128,
            lists_k=16,
            lists_length=4096,
            lists_sequences=64,
            lists_columns=1 << 30,
            rank_length=512,
            tile=tile // 2,
            sample_k=1 << 12,
            sample_length=1 << 25,
            delegate_loads=8,
            delegate_length=1 << 20,
            delegate_sequences=16,
            delegate_k=4 * kth,
            delegate_workgroup=workgroup,
            delegates=1 << 12,
            delegates_a_rank=4,
            delegate_columns=1024,
            kth_workgroup=kth,
            groups_a_rank=2,
            reduce_workgroup=workgroup,
            reduce_large=workgroup,
            reduce_loads=2,
            barrier_free=True,
        )
    return Tuning(
        workgroup=workgroup,
        large_workgroup=large,
        workgroups=2112,
        unroll=4,
        loads_each=8,
        sort_capacity=min(capacity, 8192),
        radix_row_length=512,
        radix_row_each=16,
        radix_row_digit=4,
        select_k=256,
        lists_k=16,
        lists_length=4096,
        lists_sequences=8192,
        lists_columns=256,
        rank_length=8192,
        tile=tile,
        sample_k=1 << 12,
        sample_length=1 << 25,
        delegate_loads=16,
        delegate_length=1 << 20,
        delegate_sequences=16,
        delegate_k=4 * kth,
        delegate_workgroup=workgroup,
        delegates=1 << 18,
        delegates_a_rank=128,
        delegate_columns=1024,
        kth_workgroup=kth,
        groups_a_rank=2,
        reduce_workgroup=workgroup,
        reduce_large=min(1024, _power_of_two_below(limits.max_compute_invocations_per_workgroup)),
        reduce_loads=2,
    )


@dataclass(frozen=True)
class Binding:
    """A range of a resource bound to a slot. ``resource``: "input", "values", "indices" or "scratch"; bytes."""

    slot: int
    resource: str
    offset: int
    size: int


@dataclass(frozen=True)
class Dispatch:
    """One dispatch: a kernel, the constants it is specialised by, its parameter block, what it binds and its workgroup grid."""

    kernel: str
    constants: tuple[tuple[str, int], ...]
    params: bytes
    bindings: tuple[Binding, ...]
    grid: tuple[int, int, int]


@dataclass(frozen=True)
class Plan:
    """Dispatches in order, each seeing what the ones before it wrote, and the bytes of scratch that they share."""

    dispatches: tuple[Dispatch, ...]
    scratch_size: int
    algorithms: tuple[Algorithm, ...]  #: those used, in order, for people and tests


# ----------------------------------------------------------------------------
# Sources and sinks


@dataclass(frozen=True)
class _Box:
    """A box of the selection's tensors that fits the windows: a range of every axis, the whole batch of its sub-selection."""

    selection: Selection  # the sub-selection, with offsets of its own first element
    starts: tuple[int, ...]  # of the axes
    sizes: tuple[int, ...]
    steps: tuple[int, ...] = ()  # of the flattened index, of the axes and at the start: a sample's, whose axes are not the tensor's
    start_offset: int = -1
    start_index: int = 0

    @property
    def length(self) -> int:
        return math.prod(self.sizes)

    @property
    def axis_steps(self) -> list[int]:
        """The step of the flattened index for each axis."""
        if self.steps:
            return list(self.steps)
        steps, step = [], 1
        for axis in reversed(self.selection.axes):
            steps.append(step)
            step *= axis.size
        return steps[::-1]

    @property
    def first_index(self) -> int:
        return self.start_index + sum(s * step for s, step in zip(self.starts, self.axis_steps, strict=True))

    @property
    def offset(self) -> int:
        """Elements before the box's first."""
        if self.steps:
            return self.start_offset
        axes = self.selection.axes
        return self.selection.input_offset + sum(s * a.stride for s, a in zip(self.starts, axes, strict=True))

    @property
    def span(self) -> int:
        """Elements from the box's first to its last, inclusive."""
        axes = sum((n - 1) * a.stride for n, a in zip(self.sizes, self.selection.axes, strict=True))
        return 1 + axes + sum((d.size - 1) * d.input_stride for d in self.selection.batch)


@dataclass(frozen=True)
class _Pairs:
    """Pairs in scratch: ``length`` a sequence, from pair ``base`` of the regions on; pairs between sequences and between items."""

    keys: tuple[int, int]  # byte offset and size
    indices: tuple[int, int]
    base: int
    step: int
    length: int
    item_step: int = 1
    keys_in: str = "scratch"  # the resource
    indices_in: str = "scratch"

    def window(self, first: int, count: int, key_words: int) -> _Pairs:
        """Items ``first`` to ``first + count`` of a single sequence, as pairs of their own."""
        keys = self.keys[0] + 4 * key_words * first, 4 * key_words * count
        indices = self.indices[0] + 4 * first, 4 * count
        return replace(self, keys=keys, indices=indices, base=0, step=count, length=count)


_Source = _Box | _Pairs


@dataclass(frozen=True)
class _Final:
    """The output tensors themselves; values are read again from ``box``."""

    box: _Box
    rank_base: int = 0


_Sink = _Pairs | _Final

_WINDOW = 256  # bytes: the strictest alignment of a binding's offset


class _TooLargeError(Exception):
    """A part needs more scratch than a binding or a buffer holds: its batch must be cut."""


@dataclass
class _Arena:
    """Hands out scratch, front to back."""

    most: int  # bytes of one binding
    room: int  # and of the whole
    used: int = 0
    peak: int = 0

    def take(self, size: int, *, windows: bool = False) -> tuple[int, int]:
        """Offset and size of a new range; only one that is bound by ``windows`` may exceed a binding."""
        offset = self.used
        size = max(16, -(-size // 16) * 16)
        self.used = -(-(offset + size) // _WINDOW) * _WINDOW
        if self.used > self.room or (size > self.most and not windows):
            raise _TooLargeError(self.used)
        self.peak = max(self.peak, self.used)
        return offset, size


#: The scalars of ``shaders/lib/params.wgsl``, in its order.
_PARAMS = [
    name
    for line in (
        "sequences length k split",
        "input_base input_size value_base value_step index_base index_step",
        "source_step source_base source_item_step sink_step sink_item_step sink_base",
        "members subsets first_index",
        "digit_word digit_shift digit_bits before_word before_shift level rank_base rank_count tile_base",
    )
    for name in line.split()
]


def _grid(workgroups: int, limit: int) -> tuple[int, int, int]:
    """``workgroups`` folded into three dimensions, each within the limit; the kernels ignore what is too many."""
    x = min(workgroups, limit)
    y = min(-(-workgroups // x), limit)
    z = -(-workgroups // (x * y))
    return x, y, z


class _Builder:
    """Collects the dispatches of one plan. Each method appends what one algorithm needs and returns nothing."""

    def __init__(
        self,
        selection: Selection,
        limits: Limits,
        tuning: Tuning,
        vectors: bool,
        shared_input: bool,
        forced: Algorithm | None,
    ) -> None:
        self.selection = selection
        self.limits = limits
        self.tuning = tuning
        self.vectors = vectors
        self.shared_input = shared_input
        self.wanted = forced
        self.forced: Algorithm | None = None
        self.arena = _Arena(limits.max_storage_buffer_binding_size, limits.max_buffer_size)
        self.dispatches: list[Dispatch] = []
        self.algorithms: list[Algorithm] = []
        self.sequences = selection.sequences  # of the part being built

    # -- one dispatch --

    def emit(
        self,
        kernel: str,
        workgroups: int,
        source: _Source | None,
        sink: _Sink | None,
        *,
        delegates: _Pairs | None = None,
        scratch: dict[int, tuple[int, int]] | None = None,
        constants: dict[str, int] | None = None,
        in_order: bool = False,
        **params: int,
    ) -> None:
        """Appends one dispatch; ``scratch`` maps further binding slots to scratch ranges."""
        s = self.selection
        f = s.format
        box = source if isinstance(source, _Box) else sink.box if isinstance(sink, _Final) else None
        shape = box.selection if box else s
        bindings: list[Binding] = []
        values = {"sequences": self.sequences, "k": s.k, "split": 1}
        c: dict[str, int] = {
            "WORKGROUP": self.tuning.workgroup,
            "SUBGROUPS": int(self.limits.subgroups),
            "KEY_WORDS": f.key_words,
            "SIGN_BIT": f.sign_bit,
            "MINUS": f.minus,
            "LARGEST": f.largest,
            "NAN_KEY": 0 if s.order.nan_first else f.key_mask,
            "DIRECTION": f.key_mask if s.order.largest_first else 0,
            "INDEX_FLIP": 0xFFFFFFFF if s.last_index else 0,
            "ELEMENT_BYTES": f.bytes,
            "INDEX_BYTES": s.index_bytes,
            "BATCH_DIMS": len(shape.batch) if box else 0,
            "AXIS_DIMS": len(shape.axes) if box else 1,
            "INPUT_WORDS": 4 if self.vectors else 1,
            "INPUT_SHARED": int(self.shared_input),
            "SOURCE_ROWS": 0,
            "SOURCE_ELEMENTS": 0,
            "SOURCE_PAIRS": 0,
            "COUNTED": 0,
            "PER_LOAD": 1,
            "LOAD_WORDS": 1,
            "UNROLL": self.tuning.unroll,
            "SINK_PAIRS": int(isinstance(sink, _Pairs)),
            "HAS_VALUES": int(s.has_values),
            "HAS_INDICES": int(s.has_indices),
            "IN_ORDER": int(in_order and not s.last_index),
            "MANY_BOXES": int(isinstance(sink, _Final) and sink.box.length < shape.length),
        }
        if isinstance(source, _Box):
            values["length"] = source.length
            if _is_rows(source):
                c["SOURCE_ROWS"] = 1
                c["LOAD_WORDS"], c["PER_LOAD"] = self.load_shape()
            else:
                c["SOURCE_ELEMENTS"] = 1
        elif source is not None:
            c["SOURCE_PAIRS"] = 1
            values |= {
                "length": source.length,
                "source_base": source.base,
                "source_step": source.step,
                "source_item_step": source.item_step,
            }
            bindings += [Binding(2, source.keys_in, *source.keys), Binding(3, source.indices_in, *source.indices)]
        if delegates is not None:
            values |= {"source_base": delegates.base, "source_step": delegates.step, "source_item_step": delegates.item_step}
            bindings += [Binding(2, "scratch", *delegates.keys), Binding(3, "scratch", *delegates.indices)]
        reads_values = isinstance(sink, _Final) and s.has_values
        if box is not None:
            start, size = self.window(box.offset, box.span, f.bytes, 16 if self.vectors else 4)
            if isinstance(source, _Box) or reads_values:
                bindings.append(Binding(1, "input", start, size))
            values |= {
                "input_base": box.offset - start // f.bytes,
                "input_size": size // f.bytes,
                "first_index": box.first_index,
            }
        if isinstance(sink, _Pairs):
            values |= {"sink_base": sink.base, "sink_step": sink.step, "sink_item_step": sink.item_step}
            bindings += [Binding(4, sink.keys_in, *sink.keys), Binding(5, sink.indices_in, *sink.indices)]
        elif sink is not None:
            ranks = params.get("ranks", s.k)
            if s.has_values:
                offset = shape.value_offset + sink.rank_base * s.value_step
                span = 1 + (ranks - 1) * s.value_step + sum((d.size - 1) * d.value_stride for d in shape.batch)
                start, size = self.window(offset, span, f.bytes, 4)
                bindings.append(Binding(4, "values", start, size))
                values |= {"value_base": offset - start // f.bytes, "value_step": s.value_step}
            if s.has_indices:
                offset = shape.index_offset + sink.rank_base * s.index_step
                span = 1 + (ranks - 1) * s.index_step + sum((d.size - 1) * d.index_stride for d in shape.batch)
                start, size = self.window(offset, span, s.index_bytes, 4)
                bindings.append(Binding(5, "indices", start, size))
                values |= {"index_base": offset - start // s.index_bytes, "index_step": s.index_step}
            values["rank_base"] = sink.rank_base
        for slot, (offset, size) in (scratch or {}).items():
            bindings.append(Binding(slot, "scratch", offset, size))
        params.pop("ranks", None)
        values |= params
        c |= constants or {}
        self.dispatches.append(
            Dispatch(
                kernel,
                tuple(sorted(c.items())),
                self.pack(values, box),
                tuple(sorted(bindings, key=lambda b: b.slot)),
                _grid(workgroups, self.limits.max_compute_workgroups_per_dimension),
            )
        )

    @staticmethod
    def window(offset: int, span: int, element_bytes: int, unit: int) -> tuple[int, int]:
        """The aligned byte range that holds ``span`` elements from element ``offset`` on."""
        start = offset * element_bytes // _WINDOW * _WINDOW
        end = (offset + span) * element_bytes
        return start, -(-(end - start) // unit) * unit

    def load_shape(self) -> tuple[int, int]:
        """Words and items of one load of contiguous elements."""
        size = self.selection.format.bytes
        words = 4 if self.vectors else max(1, size // 4)
        return words, words * 4 // size

    @staticmethod
    def pack(values: dict[str, int], box: _Box | None) -> bytes:
        words = [values.get(name, 0) for name in _PARAMS]
        batch = list(reversed(box.selection.batch)) if box else []
        words += [w for d in batch for w in (d.size, d.input_stride, d.value_stride, d.index_stride)]
        words += [0] * (4 * (8 - len(batch)))
        axes = list(zip(box.sizes, box.selection.axes, box.axis_steps, strict=True))[::-1] if box else []
        words += [w for size, axis, step in axes for w in (size, axis.stride, step, axis.size)]
        words += [0] * (4 * (8 - len(axes)))
        return struct.pack(f"<{len(words)}I", *(w & 0xFFFFFFFF for w in words))

    def new_pairs(self, sequences: int, length: int, *, side_by_side: bool = False, windows: bool = False) -> _Pairs:
        """Room for pairs; ``side_by_side`` puts the same item of all sequences together, as kernels down columns write them.

        ``windows``: those of a single sequence will be bound by windows, and may exceed a binding.
        """
        count = sequences * length
        windows = windows and sequences == 1
        keys = self.arena.take(count * 4 * self.selection.format.key_words, windows=windows)
        step, item_step = (1, sequences) if side_by_side else (length, 1)
        return _Pairs(keys, self.arena.take(count * 4, windows=windows), 0, step, length, item_step)

    # -- the whole --

    def build(self) -> Plan:
        parts = list(self.batch_pieces())[::-1]
        while parts:
            part = parts.pop()
            self.arena.used = 0
            built = len(self.dispatches), len(self.algorithms)
            try:
                self.build_part(part)
            except _TooLargeError as error:
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
        limit = self.limits.max_storage_buffer_binding_size // 16 * 16 - 2 * _WINDOW
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
            _Box(
                part,
                starts,
                tuple(min(n, a.size - x) for n, a, x in zip(axis_sizes, part.axes, starts, strict=True)),
            )
            for starts in product(*(range(0, a.size, n) for a, n in zip(part.axes, axis_sizes, strict=True)))
        ]
        sequences, k = part.sequences, part.k
        self.sequences = sequences
        self.forced = self.wanted
        whole = _Box(part, (0,) * len(part.axes), tuple(a.size for a in part.axes))
        if len(boxes) == 1 and ranks == k:
            self.run(boxes[0], sequences, k, _Final(boxes[0]))
            return
        lengths = [min(k, b.length) for b in boxes]
        if sequences == 1 and sum(lengths) > self.pairs_a_binding():
            # Too many to merge: sort everything.
            self.algorithms.append(Algorithm.RADIX_SORT)
            ordered = self.new_pairs(1, part.length, windows=True)
            self.sort_segments(boxes, 1, part.length, ordered)
        else:
            # The first k of the whole are among the first k of each box.
            merged: _Source = boxes[0]
            if len(boxes) > 1:
                pairs = self.new_pairs(sequences, sum(lengths))
                for i, (box, length) in enumerate(zip(boxes, lengths, strict=True)):
                    self.run(box, sequences, length, replace(pairs, base=sum(lengths[:i]), length=length))
                merged = pairs
            if not part.has_values and ranks == k:
                self.run(merged, sequences, k, _Final(whole))
                return
            ordered = self.new_pairs(sequences, k)
            self.run(merged, sequences, k, ordered)
        self.emit_ordered(ordered, sequences, k, [_Final(box) for box in (boxes if part.has_values else [whole])], ranks)

    def emit_ordered(self, ordered: _Pairs, sequences: int, k: int, sinks: Sequence[_Sink], ranks: int) -> None:
        """The first k of pairs in order to the sinks, at most ``ranks`` at a time."""
        if sequences == 1:
            # Windows start where bindings may.
            ranks = min(ranks, self.pairs_a_binding())
            ranks = ranks if ranks >= k else ranks // _WINDOW * _WINDOW
        for first in range(0, k, ranks):
            count = min(ranks, k - first)
            source, base = ordered, first
            if sequences == 1:
                source, base = ordered.window(first, count, self.selection.format.key_words), 0
            for sink in sinks:
                if isinstance(sink, _Final):
                    sink = replace(sink, rank_base=first)
                else:
                    sink = replace(sink, base=sink.base + first * sink.item_step)
                workgroups = -(-sequences * count // self.tuning.workgroup)
                self.emit("emit", workgroups, source, sink, length=count, ranks=count, rank_base=base)

    def run(self, source: _Source, sequences: int, k: int, sink: _Sink) -> None:
        """The first k of every sequence of the source, in order, to the sink."""
        algorithm, self.forced = self.forced, None
        if self.selection.last_index and algorithm not in (None, Algorithm.REDUCE):
            raise ValueError(f"{algorithm} takes the first of equal items, not the last")
        if algorithm is None:
            algorithm = choose_algorithm(
                source.length, sequences, k, self.is_columns(source), isinstance(source, _Box), self.tuning
            )
        self.algorithms.append(algorithm)
        getattr(self, algorithm.value)(source, sequences, k, sink)

    def is_columns(self, source: _Source) -> bool:
        """Do neighbouring sequences lie side by side in memory?"""
        if not isinstance(source, _Box) or _is_rows(source) or not source.selection.batch:
            return False
        return source.selection.batch[-1].input_stride == 1

    # -- k = 1 --

    def reduce(self, source: _Source, sequences: int, k: int, sink: _Sink) -> None:
        """A tree, or subgroups. Sequences too few to fill the machine are cut in parts, whose bests a second dispatch reduces."""
        if k != 1:
            raise ValueError(f"reduce finds the first pair only, not k={k}")
        t = self.tuning
        if self.is_columns(source):
            assert isinstance(source, _Box)
            self.reduce_columns(source, sequences, sink)
            return
        loads = self.loads(source)
        workgroup = t.reduce_workgroup if sequences > t.workgroups // 4 else t.reduce_large
        if isinstance(source, _Pairs) and source.length <= 4096:
            split, team = 1, min(workgroup, _power_of_two_above(source.length))
        elif t.barrier_free:
            team = 1
            split = max(1, min(t.workgroups * workgroup // 4 // sequences, loads // t.loads_each))
        else:
            # Short sequences: an invocation for every few loads, while the machine has room. Long ones: whole workgroups.
            room = _power_of_two_below(t.workgroups * t.workgroup // sequences)
            fewest = _power_of_two_above(loads // t.loads_each)
            team = min(workgroup, _power_of_two_above(loads // t.reduce_loads), max(room, fewest))
            split = max(1, min(t.workgroups * t.workgroup // (2 * sequences * team), loads // (team * 32)))
        parts = self.new_pairs(sequences, split) if split > 1 else None
        if self.limits.subgroups and team >= 32:
            workgroup = team  # whose subgroups hardly wait for each other
        self.emit(
            "reduce",
            -(-sequences * split * team // workgroup),
            source,
            parts or sink,
            constants={
                "TEAM": team,
                "WORKGROUP": workgroup,
                "CHUNKS": int(t.barrier_free),
                "UNROLL": max(1, min(t.unroll, -(-loads // (team * split)))),
            },
            in_order=isinstance(source, _Box),
            split=split,
        )
        if parts:
            self.reduce(parts, sequences, 1, sink)

    def reduce_columns(self, source: _Box, sequences: int, sink: _Sink, split: int = 0) -> None:
        """Down adjacent sequences; ``split`` > 0 makes that many delegates of each and no tree."""
        t = self.tuning
        per_load = self.column_items(source)
        columns = source.selection.batch[-1].size
        groups = sequences // columns * -(-columns // per_load)
        team = 1
        if split:
            parts = None
        else:
            wanted = t.workgroups * t.workgroup // 4
            cuts = max(1, min(wanted // groups, source.length // t.loads_each))
            if not t.barrier_free:
                team = min(8, _power_of_two_below(cuts))
            split = max(1, cuts // team)
            parts = self.new_pairs(sequences, split, side_by_side=True) if split > 1 else None
        workgroup = t.reduce_large
        blocks = -(-groups // (workgroup // team))
        pair = 4 * (self.selection.format.key_words + 1)
        # Never more than the least workgroup memory that there is, so that several workgroups find room.
        together = min(per_load, team, _power_of_two_below((16 << 10) // (workgroup * pair)))
        self.emit(
            "reduce_columns",
            blocks * split,
            source,
            parts or sink,
            constants={
                "WORKGROUP": workgroup,
                "TEAM": team,
                "TOGETHER": together,
                "PER_LOAD": per_load,
                "UNROLL": 4,
                "INPUT_WORDS": 4 if self.vectors else 1,
                "LOADS_VECTORS": int(per_load > 1),
            },
            in_order=True,
            split=split,
        )
        if parts:
            self.reduce(parts, sequences, 1, sink)

    def column_items(self, source: _Box) -> int:
        """Adjacent sequences that one load serves: a whole vector where every row of the box starts on one."""
        s = source.selection
        size = s.format.bytes
        items = 16 // size
        strides = [d.input_stride for d in s.batch[:-1]] + [a.stride for a in s.axes]
        aligned = source.offset % items == 0 and all(stride % items == 0 for stride in strides)
        return items if self.vectors and aligned else 1

    def loads(self, source: _Source) -> int:
        if isinstance(source, _Box) and _is_rows(source):
            return -(-source.length // self.load_shape()[1])
        return source.length

    # -- small k --

    def select(
        self,
        source: _Source,
        sequences: int,
        k: int,
        sink: _Sink,
        delegates: _Pairs | None = None,
    ) -> None:
        """Delegates in a workgroup. A long sequence of few is cut in parts, whose firsts are selected from again.

        ``delegates``: those of the source's strided subsets, where an earlier dispatch has found them.
        """
        t = self.tuning
        if k > t.large_workgroup:
            raise ValueError(f"select takes k up to {t.large_workgroup}, not {k}")
        loads = self.loads(source)
        per_load = self.load_shape()[1] if isinstance(source, _Box) and _is_rows(source) else 1
        groups = min(t.large_workgroup, max(32, _power_of_two_above(int(t.groups_a_rank * k))))
        each = t.loads_each if loads >= 1024 else max(1, t.loads_each // 4)
        team = max(groups, min(t.large_workgroup, _power_of_two_below(loads // each)))
        if isinstance(source, _Pairs) and source.item_step > 1:
            # Several sequences a workgroup: their items lie side by side.
            team = groups
        split = 1
        if delegates:
            team = max(32, _power_of_two_above(delegates.length))
            groups = min(groups, team)
        elif team == t.large_workgroup or t.barrier_free:
            most = max(1, t.workgroups * t.workgroup // 4 // (sequences * team))
            split = max(1, min(most, loads // (team * 2 * each), loads // (4 * k)))
        workgroup = max(team, t.workgroup)
        teams = workgroup // team
        pair = 8 * self.selection.format.key_words
        room = self.limits.max_compute_workgroup_storage_size - 512 - workgroup * (pair + 8)
        capacity = _power_of_two_above(max(2 * k, 4 * k * min(per_load, 4), 64))
        while capacity * teams * pair > room and capacity > k:
            capacity //= 2
        if capacity <= k:
            raise ValueError(f"select takes fewer than {k} in this adapter's workgroup memory")
        parts = self.new_pairs(sequences, split * k) if split > 1 else None
        self.emit(
            "select",
            -(-sequences * split // teams),
            source,
            parts or sink,
            delegates=delegates,
            constants={
                "DELEGATED": int(delegates is not None),
                "WORKGROUP": workgroup,
                "TEAM": team,
                "GROUPS": groups,
                "CAPACITY": capacity,
                "AHEAD": max(1, min(8, groups * groups // team)),
            },
            in_order=isinstance(source, _Box),
            split=split,
            k=k,
            subsets=delegates.length if delegates else 0,
        )
        if parts:
            self.run(parts, sequences, k, sink)

    def lists(self, source: _Source, sequences: int, k: int, sink: _Sink) -> None:
        """Sorted lists in registers; as many invocations a sequence as fill the machine."""
        t = self.tuning
        if not isinstance(source, _Box) or k > t.lists_k:
            raise ValueError(f"lists takes k up to {t.lists_k} of the input's elements, not k={k}")
        if len(source.selection.axes) != 1:
            raise ValueError("lists needs the input's elements along one axis")  # as a group is found again by an item's index
        loads = self.loads(source)
        team = 1
        if not t.barrier_free:
            team = min(32, _power_of_two_below(t.workgroups * 64 // sequences), _power_of_two_below(loads // 4))
        # A group of loads is looked at again where its best is kept, so groups must be many.
        per_load = self.load_shape()[1] if _is_rows(source) else 1
        unroll = max(1, min(t.unroll, 32 // per_load, _power_of_two_below(loads // (4 * k * team))))
        workgroup = t.workgroup
        pair = 8 * self.selection.format.key_words
        while team > 1 and workgroup * k * pair > self.limits.max_compute_workgroup_storage_size:
            workgroup //= 2
        self.emit(
            "select_lists",
            -(-sequences * team // workgroup),
            source,
            sink,
            constants={
                "WORKGROUP": workgroup,
                "TEAM": min(team, workgroup),
                "K": k,
                "UNROLL": unroll,
                "GROUP": unroll * per_load,
                "AHEAD": 2 if unroll == 1 and not t.barrier_free else 1,
            },
            in_order=True,
            k=k,
        )

    def delegates(self, source: _Source, sequences: int, k: int, sink: _Sink) -> None:
        """One strided subset an invocation, whose best is its delegate; then only the subsets of the first delegates again."""
        if not isinstance(source, _Box) or len(source.selection.axes) != 1:
            raise ValueError("delegates needs the input's elements along one axis")
        if self.is_columns(source):
            self.delegates_of_columns(source, sequences, k, sink)
        else:
            self.delegates_of_rows(source, sequences, k, sink)

    def delegates_of_columns(self, source: _Box, sequences: int, k: int, sink: _Sink) -> None:
        """Down adjacent sequences; a team of invocations then looks at each sequence's delegates."""
        loads = self.loads(source)
        subsets = max(2 * k, _power_of_two_below(int(math.sqrt(loads * k))))
        subsets = min(loads, subsets, self.tuning.delegate_columns, self.tuning.large_workgroup)
        if subsets < k:
            raise ValueError(f"delegates needs at least k={k} positions of at most {subsets} to choose from")
        delegates = self.new_pairs(sequences, subsets, side_by_side=True)
        self.reduce_columns(source, sequences, delegates, split=subsets)
        self.select(source, sequences, k, sink, delegates)

    def delegates_of_rows(self, source: _Box, sequences: int, k: int, sink: _Sink) -> None:
        """The delegates' own bests, class by class, give a threshold; what does not come after it is listed and ranked.

        With g groups of delegates about g ln(g / (g - k)) pairs do not come after the k-th of the groups' bests: few more than k,
        where g is large.
        """
        t = self.tuning
        per_load = self.load_shape()[1] if _is_rows(source) else 1
        loads = self.loads(source)
        wide = t.kth_workgroup  # invocations that look for a threshold together, with up to 16 groups each
        subsets = max(t.delegates // sequences, t.delegates_a_rank * k)
        subsets = _power_of_two_below(max(1, min(subsets, loads // t.delegate_loads)))
        subsets = min(max(subsets, _power_of_two_above(4 * k)), _power_of_two_below(loads))
        # Few delegates are spread over the machine in small workgroups.
        workgroup = min(t.delegate_workgroup, subsets, max(64, _power_of_two_above(sequences * subsets // 128)))
        workgroups = subsets // workgroup
        classes = 0
        while subsets > 16 * wide and workgroups * max(1, classes) < 8 * wide:
            classes = 2 * classes or 8
        while classes and workgroups * classes > 16 * wide:
            subsets, workgroups = subsets // 2, workgroups // 2
        bests_each = workgroups * classes if classes else subsets
        fan = _power_of_two_below(math.isqrt(workgroup // max(1, classes))) if classes else workgroup
        groups = min(bests_each, max(wide, _power_of_two_above(8 * k)), 16 * wide)
        # In sorted data the k loads with the first delegates all lie before the threshold.
        capacity = min(max(2 * wide, _power_of_two_above(per_load * k)), 16 * wide)
        if k > min(groups, capacity) // 2:
            raise ValueError(f"delegates takes k up to {min(groups, capacity) // 2} of {loads} loads here, not k={k}")
        delegates = self.new_pairs(sequences, subsets)
        bests = self.new_pairs(sequences, bests_each) if classes else delegates
        thresholds = self.new_pairs(sequences, 1)
        candidates = self.new_pairs(sequences, capacity)
        counts = self.arena.take(sequences * 4)
        members = -(-(loads + 1) // subsets)
        self.emit(
            "delegates",
            sequences * workgroups,
            source,
            delegates,
            scratch={6: bests.keys, 7: bests.indices} if classes else None,
            constants={
                "WORKGROUP": workgroup,
                "CLASSES": classes,
                "FAN": fan,
                "WIDE": workgroup // (max(1, classes) * fan),
                # A long run of loads has time for more of them at once.
                "UNROLL": t.unroll * (2 if loads // subsets >= 64 else 1),
            },
            in_order=True,
            subsets=subsets,
        )
        self.emit(
            "threshold",
            sequences,
            bests,
            thresholds,
            scratch={8: counts},
            constants={"WORKGROUP": wide, "EACH": max(1, groups // wide), "MERGED": max(1, bests_each // max(groups, wide))},
            k=k,
        )
        again_workgroup = min(workgroup, t.workgroup)
        again = {2: delegates.keys, 3: delegates.indices, 6: thresholds.keys, 7: thresholds.indices, 8: counts}
        self.emit(
            "gather",
            sequences * -(-subsets // again_workgroup),
            source,
            candidates,
            scratch=again,
            constants={"CAPACITY": capacity, "WORKGROUP": again_workgroup},
            members=members,
            subsets=subsets,
        )
        ranked = min(capacity, max(2 * k, min(2 * per_load * k, 2048), 256))
        self.emit(
            "trim",
            sequences,
            source,
            candidates,
            scratch=again,
            constants={
                "WORKGROUP": wide,
                "CAPACITY": capacity,
                "EACH": capacity // wide,
                "STEP": min(wide, _power_of_two_below((capacity - k) // per_load)),
            },
            k=k,
            members=members,
            subsets=subsets,
            rank_count=ranked,
        )
        candidates = replace(candidates, length=ranked)
        if ranked <= t.rank_length or ranked > t.sort_capacity:
            self.rank(candidates, sequences, k, sink, counts)
        else:
            self.sort_rows(candidates, sequences, k, sink, counts)

    # -- sorting --

    def sort_rows(self, source: _Source, sequences: int, k: int, sink: _Sink, counts: tuple[int, int] | None = None) -> None:
        """Whole sequences in workgroup memory, eight items an invocation, or 16 where there are too few of those.

        ``counts``: where each sequence's own length is.
        """
        t = self.tuning
        capacity = max(16, _power_of_two_above(source.length))
        if capacity > t.sort_capacity:
            raise ValueError(f"sort_rows takes sequences of up to {t.sort_capacity}, not {source.length}")
        each = 8 if capacity // 8 <= min(512, self.limits.max_compute_invocations_per_workgroup) else 16
        team = capacity // each
        key_words = self.selection.format.key_words
        room = self.limits.max_compute_workgroup_storage_size
        padded = capacity + capacity // each
        split = int(padded * 8 * key_words > room)
        pair = 4 if split else 8 * key_words
        teams = max(1, min(t.workgroup // team, room // (padded * pair)))
        self.emit(
            "sort_rows",
            -(-sequences // teams),
            source,
            sink,
            scratch={8: counts} if counts else None,
            constants={
                "COUNTED": int(counts is not None),
                "WORKGROUP": teams * team,
                "CAPACITY": capacity,
                "SIZE": capacity.bit_length() - 1,
                "EACH": each,
                "HALF": each // 2,
                "BITS": each.bit_length() - 1,
                "SPLIT": split,
                "WORDS": key_words + 1,
            },
            k=k,
        )

    def sort_rows_radix(self, source: _Source, sequences: int, k: int, sink: _Sink) -> None:
        """Whole sequences of elements in workgroup memory, by as many passes as the key has digits."""
        t = self.tuning
        if not isinstance(source, _Box) or self.selection.last_index:
            raise ValueError("sort_rows_radix needs the input's elements, of which the first one wins a tie")
        each = t.radix_row_each
        # Fewer and wider passes pay where each of them is long.
        digit = min(5, t.radix_row_digit + int(source.length > 4096))
        pairs = 1 << (digit - 1)
        if source.length > each * self.limits.max_compute_invocations_per_workgroup:
            each = 16
        team = max(32, _power_of_two_above(-(-source.length // each)))
        if team >= 128 and team * 3 // 4 * each >= source.length:
            team = team * 3 // 4
        # An invocation's counters or words, whichever are more, and its sum among 16.
        room = 4 * max(each + 1, pairs) * team + 4 * team + 8 * (team // 16)
        most = self.limits.max_compute_workgroup_storage_size - 32
        if room > most or team > self.limits.max_compute_invocations_per_workgroup:
            raise ValueError(f"a sequence of {source.length} does not fit sort_rows_radix in this adapter's workgroup memory")
        teams = max(1, min(t.workgroup // team, most // room))
        bits = self.key_bits()
        index_bits = (team * each - 1).bit_length()
        # Words hold so many of the key's bits that passes are fewest, and of those the most.
        passes = {
            part: sum(-(-min(part, bits - low) // digit) for low in range(0, bits, part))
            for part in range(1, min(bits, 32 - index_bits) + 1)
        }
        part = min(passes, key=lambda part: (passes[part], -part))
        parts = -(-bits // part)
        per_load = self.load_shape()[1] if _is_rows(source) else 1
        self.emit(
            "sort_rows_radix",
            -(-sequences // teams),
            source,
            sink,
            constants={
                "WORKGROUP": teams * team,
                "TEAM": team,
                "EACH": each,
                "DIGIT": digit,
                "PAIRS": pairs,
                "INDEX_BITS": index_bits,
                "PART": part,
                "PARTS": parts,
                "LOADS": max(1, each // per_load),
                "FETCH": int(parts > 1 and (isinstance(sink, _Pairs) or self.selection.has_values)),
            },
            k=k,
        )

    def radix_select(self, source: _Source, sequences: int, k: int, sink: _Sink) -> None:
        """The first k in any order by histograms, then those in order.

        Of a long row only a sample is put into histograms: all that does not come after a pair of the sample that is a little later
        than the k-th should be is listed. Where that turns out to be too few or too many, the whole row is done after all.
        """
        t = self.tuning
        sample = self.sample(source, sequences) if k >= t.sample_k else None
        if sample is None:
            found = self.new_pairs(sequences, k)
            self.find(source, sequences, k, found)
            self.sort_pairs(found, sequences, k, sink)
            return
        # Five standard deviations of how many of the first k the sample has, for a threshold late enough; as many again for room.
        expected = k * sample.length / source.length
        rank = min(sample.length, math.ceil(expected + 5 * math.sqrt(expected) + 8))
        room = math.ceil((rank + 5 * math.sqrt(rank)) * source.length / sample.length)
        candidates = self.new_pairs(sequences, max(k, min(room, source.length)))
        counts = self.arena.take(2 * sequences * 4)
        self.find(source, sequences, rank, candidates, sample, counts)
        self.find(source, sequences, k, candidates, None, counts)
        self.radix_sort(candidates, sequences, k, sink, counts)

    def sample(self, source: _Source, sequences: int) -> _Box | None:
        """Runs of eight elements from all over a long contiguous row."""
        if not isinstance(source, _Box) or not _is_rows(source) or source.length < self.tuning.sample_length or sequences > 1:
            return None
        run, every = 8, 256
        (axis,) = source.selection.axes
        runs = source.length // (run * every)
        axes = (replace(axis, size=runs, stride=run * every), replace(axis, size=run, stride=1))
        return _Box(replace(source.selection, axes=axes), (0, 0), (runs, run), (run * every, 1), source.offset, source.first_index)

    def find(
        self,
        source: _Source,
        sequences: int,
        k: int,
        found: _Pairs,
        sample: _Box | None = None,
        counts: tuple[int, int] | None = None,
    ) -> None:
        """The first k pairs of every sequence, in any order: the k-th by histograms, digit by digit, then all up to it.

        ``sample``: the k-th pair of this in place of the source's own. ``counts``: where to leave how many were found; without a
        sample, what a find with one has left there, so that nothing is done where it went well.
        """
        t = self.tuning
        bins = 2048 if self.limits.max_compute_workgroup_storage_size >= 16384 else 1024
        digits = list(_digits(self.key_bits(), self.selection.length, bins.bit_length() - 1, self.selection.format.key_words))
        levels = len(digits)
        fallback = int(counts is not None and sample is None)
        start = self.arena.used
        histogram = self.arena.take(levels * sequences * bins * 4)
        listed = counts or self.arena.take(sequences * 4)
        self.clear((start, self.arena.used - start))
        if counts and not fallback:
            self.clear(counts)
        progress = self.arena.take((levels + 1) * sequences * 16)
        before = (0, 0, 0)
        for level, digit in enumerate([*digits, None]):
            word, shift, bits = digit or (0, 0, 0)
            read = sample if sample and digit else source
            split = max(1, min(t.workgroups // sequences, self.loads(read) // (t.workgroup * 4)))
            self.emit(
                "select_digit" if digit else "select_keep",
                sequences * split,
                read,
                None if digit else found,
                scratch={6: histogram, 7: progress, 8: listed},
                constants={
                    "BINS": bins,
                    "EACH_BINS": bins // t.workgroup,
                    "ROOM": 1024 if self.limits.max_compute_workgroup_storage_size >= 32768 else 512,
                    "FALLBACK": fallback,
                },
                split=split,
                k=k,
                level=level,
                digit_word=word,
                digit_shift=shift,
                digit_bits=bits,
                before_word=before[0],
                before_shift=before[1],
                rank_count=found.length,
            )
            before = (word, shift, bits)

    def clear(self, region: tuple[int, int]) -> None:
        words = region[1] // 4
        self.emit("clear", -(-words // self.tuning.workgroup), None, None, scratch={6: region}, length=words)

    def rank(self, source: _Source, sequences: int, k: int, sink: _Sink, counts: tuple[int, int] | None = None) -> None:
        """By counting; the work grows with the square of the length. ``counts``: where each sequence's own length is."""
        if not isinstance(source, _Pairs):
            raise ValueError("rank takes pairs only")
        items = 16
        blocks = -(-source.length // items)
        workgroup = min(self.tuning.large_workgroup, max(self.tuning.workgroup, _power_of_two_above(source.length)))
        self.emit(
            "rank",
            sequences * blocks,
            source,
            sink,
            scratch={8: counts} if counts else None,
            constants={"ITEMS": items, "WORKGROUP": workgroup, "COUNTED": int(counts is not None)},
            k=k,
        )

    def sort_pairs(self, pairs: _Pairs, sequences: int, k: int, sink: _Sink) -> None:
        """Pairs in any order -> their first k in order."""
        t = self.tuning
        if pairs.length <= t.sort_capacity and sequences * 4 > t.workgroups:
            self.sort_rows(pairs, sequences, k, sink)
        elif pairs.length <= t.rank_length:
            self.rank(pairs, sequences, k, sink)
        elif pairs.length <= t.sort_capacity:
            self.sort_rows(pairs, sequences, k, sink)
        else:
            self.radix_sort(pairs, sequences, k, sink)

    def key_bits(self) -> int:
        return 8 * self.selection.format.bytes

    def radix_sort(self, source: _Source, sequences: int, k: int, sink: _Sink, counts: tuple[int, int] | None = None) -> None:
        """All in order by their digits, of which the first k are kept."""
        self.sort_segments([source], sequences, k, sink, counts)

    def sort_segments(
        self, segments: Sequence[_Source], sequences: int, k: int, sink: _Sink, lengths: tuple[int, int] | None = None
    ) -> None:
        """A stable radix sort, least significant digit first, of sequences that lie in one or more segments.

        Elements come in index order, so that only keys need sorting; pairs come in any. Where a single sequence is longer than a
        binding, every step runs once for each window of what it reads and, to scatter, each window of what it writes. ``lengths``:
        where the number of pairs of each sequence is, when that is known on the device only.
        """
        t = self.tuning
        n = sum(segment.length for segment in segments)
        key_words = self.selection.format.key_words
        digits = list(_digits(self.key_bits(), self.selection.length, 8, key_words))[::-1]
        if isinstance(segments[0], _Box):
            digits = [d for d in digits if d[0] < key_words]
        # Segments and windows each end in a tile of their own.
        tile = t.tile
        if t.barrier_free:  # an invocation a tile; its 256 counters must be worth it
            tile = min(max(tile, _power_of_two_above(-(-n * sequences // (16 * t.workgroups)))), _power_of_two_above(n))
        workgroup = 16 if t.barrier_free else t.workgroup
        tiles_each = workgroup if t.barrier_free else 1  # a workgroup
        most_tiles = -(-n // tile) + len(segments) + -(-n // self.pairs_a_binding())
        counts = self.arena.take(sequences * 256 * most_tiles * 4)
        totals = self.arena.take(sequences * 256 * 4)
        scratch = {6: counts, 7: totals}
        buffers = self.sort_buffers(sequences, n, len(digits) - 1, sink if k == n else None)
        for number, (word, shift, bits) in enumerate(digits):
            last = number == len(digits) - 1
            target = sink if last else buffers[(len(digits) - number) % 2]
            kept = k if last else n
            counted = {8: lengths} if lengths and number == 0 else {}
            constants = {
                "BINS": 256,
                "TILE": tile,
                "WORKGROUP": workgroup,
                "EACH": -(-tile // workgroup),
                "ALONE": int(t.barrier_free),
                "DIGIT_WORD": word,
                "COUNTED": int(bool(counted)),
            }
            each = [-(-segment.length // tile) for segment in segments]  # tiles
            tiles = sum(each)
            starts = [sum(each[:i]) for i in range(len(each))]
            for segment, start, count in zip(segments, starts, each, strict=True):
                self.emit(
                    "sort_count",
                    -(-sequences * count // tiles_each),
                    segment,
                    None,
                    scratch=scratch | counted,
                    constants=constants,
                    k=k,
                    split=tiles,
                    digit_shift=shift,
                    digit_bits=bits,
                    tile_base=start,
                    members=count,
                )
            lines = sequences * 256
            short = tiles <= 32 or t.barrier_free
            # Where a line is a workgroup's, four counts an invocation.
            scanning = 64 if short else max(32, min(t.workgroup, _power_of_two_above(-(-tiles // 4))))
            self.emit(
                "sort_scan",
                -(-lines // scanning) if short else lines,
                None,
                None,
                scratch=scratch,
                constants={"BINS": 256, "WORKGROUP": scanning, "SHORT": int(short)},
                split=tiles,
            )
            for segment, start, count in zip(segments, starts, each, strict=True):
                for piece, first, length in self.windows(target, kept, sequences):
                    self.emit(
                        "sort_scatter",
                        -(-sequences * count // tiles_each),
                        segment,
                        piece,
                        scratch=scratch | counted,
                        constants=constants,
                        k=k,
                        split=tiles,
                        digit_shift=shift,
                        digit_bits=bits,
                        tile_base=start,
                        members=count,
                        rank_base=first,
                        rank_count=length,
                    )
            segments = [piece for piece, _, _ in self.windows(target, kept, sequences) if isinstance(piece, _Pairs)]

    def pairs_a_binding(self) -> int:
        """The most pairs whose keys one binding holds, in whole windows."""
        limit = self.limits.max_storage_buffer_binding_size
        return max(_WINDOW, limit // (4 * self.selection.format.key_words) // _WINDOW * _WINDOW)

    def windows(self, sink: _Sink, n: int, sequences: int) -> list[tuple[_Sink, int, int]]:
        """A sink for n items a sequence in pieces that fit a binding: (piece, first rank, ranks)."""
        most = self.pairs_a_binding()
        if not isinstance(sink, _Pairs) or sequences * n <= most:
            return [(sink, 0, n)]
        key_words = self.selection.format.key_words
        return [(sink.window(first, min(most, n - first), key_words), first, min(most, n - first)) for first in range(0, n, most)]

    def sort_buffers(self, sequences: int, n: int, passes: int, sink: _Sink | None) -> list[_Pairs]:
        """The two buffers that the passes before the last go between; the last one reads the first.

        The second may lie in outputs that are one run of enough bytes each: they are written again at the end.
        """
        if not passes:
            return []
        first = self.new_pairs(sequences, n, windows=True)
        if passes == 1:
            return [first, first]
        in_values = in_indices = False
        if isinstance(sink, _Final):
            s = sink.box.selection
            one_run = sequences * n - 1  # from the first element to the last
            values_span = (n - 1) * s.value_step + sum((d.size - 1) * d.value_stride for d in s.batch)
            indices_span = (n - 1) * s.index_step + sum((d.size - 1) * d.index_stride for d in s.batch)
            in_values = s.has_values and s.format.bytes >= 4 and not s.value_offset and values_span == one_run
            in_indices = s.has_indices and not s.index_offset and indices_span == one_run
        sizes = first.keys[1], first.indices[1]
        windows = sequences == 1
        second = replace(
            first,
            keys=(0, sizes[0]) if in_values else self.arena.take(sizes[0], windows=windows),
            indices=(0, sizes[1]) if in_indices else self.arena.take(sizes[1], windows=windows),
            keys_in="values" if in_values else "scratch",
            indices_in="indices" if in_indices else "scratch",
        )
        return [first, second]


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


def _is_rows(box: _Box) -> bool:
    """Is the axis one contiguous run?"""
    axes = box.selection.axes
    return len(axes) == 1 and axes[0].stride == 1


def _digits(key_bits: int, length: int, digit: int, key_words: int) -> Iterator[tuple[int, int, int]]:
    """(word, lowest bit, bits) of each digit of a pair, most significant first; keys sit at the top of their words."""
    for word in range(key_words):
        bits = min(32, key_bits - 32 * word)
        yield from _word_digits(word, 32 - bits, bits, digit)
    yield from _word_digits(key_words, 0, max(1, (length - 1).bit_length()), digit)


def _word_digits(word: int, lowest: int, bits: int, digit: int) -> Iterator[tuple[int, int, int]]:
    high = lowest + bits
    while high > lowest:
        take = min(digit, high - lowest)
        high -= take
        yield word, high, take


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


def choose_algorithm(length: int, sequences: int, k: int, columns: bool, in_order: bool, tuning: Tuning) -> Algorithm:
    """The algorithm for ``sequences`` sequences of ``length`` items. The order of the rules is the order of preference.

    ``columns``: neighbouring sequences lie side by side in memory. ``in_order``: items are the input's own, not pairs that
    an earlier dispatch left. The figures behind the rules are in ``benchmarks/LOG.md``.
    """
    t = tuning
    if k == 1:
        return Algorithm.REDUCE
    if not in_order and length <= min(2048, t.rank_length) and sequences * length <= 32768 and not t.barrier_free:
        return Algorithm.RANK  # nothing waits for anything
    lists = in_order and k <= t.lists_k and length >= 4 * k and sequences >= t.lists_sequences
    if lists and columns and (length <= t.lists_columns or t.barrier_free):
        return Algorithm.LISTS  # one dispatch, one read
    if columns and k <= 64 and length >= 16 * k:
        return Algorithm.DELEGATES
    if in_order and k <= t.delegate_k and length >= max(t.delegate_length, 256 * k) and sequences <= t.delegate_sequences:
        return Algorithm.DELEGATES
    if lists and length <= t.lists_length:
        return Algorithm.LISTS
    fits = length <= t.sort_capacity
    if fits and (length <= 64 or 4 * k > length):
        return Algorithm.SORT_ROWS_RADIX if in_order and length >= t.radix_row_length else Algorithm.SORT_ROWS
    if k <= t.select_k and length >= 2 * k:
        return Algorithm.SELECT
    if fits:
        return Algorithm.SORT_ROWS
    if 4 * k <= length:
        return Algorithm.RADIX_SELECT
    return Algorithm.RADIX_SORT


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
    return _Builder(selection, limits, tuning, vectors, shared_input, algorithm).build()
