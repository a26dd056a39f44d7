"""Dispatches as data, what they read and fill, and the one place where a dispatch is put together."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace

from ..selection import Selection
from .tuning import Algorithm, Limits, Tuning

__all__ = [
    "MEETING",
    "PARAMS",
    "WINDOW",
    "Binding",
    "Box",
    "Builder",
    "Dispatch",
    "Final",
    "Pairs",
    "Plan",
    "Sink",
    "Source",
    "TooLargeError",
    "is_rows",
]


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
class Box:
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
class Pairs:
    """Pairs in scratch: ``length`` a sequence, from pair ``base`` of the regions on; pairs between sequences and between items."""

    keys: tuple[int, int]  # byte offset and size
    indices: tuple[int, int]
    base: int
    step: int
    length: int
    item_step: int = 1
    keys_in: str = "scratch"  # the resource
    indices_in: str = "scratch"

    def window(self, first: int, count: int, key_words: int) -> Pairs:
        """Items ``first`` to ``first + count`` of a single sequence, as pairs of their own."""
        keys = self.keys[0] + 4 * key_words * first, 4 * key_words * count
        indices = self.indices[0] + 4 * first, 4 * count
        return replace(self, keys=keys, indices=indices, base=0, step=count, length=count)


Source = Box | Pairs


@dataclass(frozen=True)
class Final:
    """The output tensors themselves; values are read again from ``box``."""

    box: Box
    rank_base: int = 0


Sink = Pairs | Final

WINDOW = 256  # bytes: the strictest alignment of a binding's offset

#: Bytes at the start of all scratch that are zero between dispatches (``shaders/lib/meet.wgsl``).
MEETING = 16 << 10


class TooLargeError(Exception):
    """A part needs more scratch than a binding or a buffer holds: its batch must be cut."""


@dataclass
class _Arena:
    """Hands out scratch, front to back."""

    most: int  # bytes of one binding
    room: int  # and of the whole
    first: int  # where it begins: behind the meeting
    used: int = 0
    peak: int = 0

    def take(self, size: int, *, windows: bool = False) -> tuple[int, int]:
        """Offset and size of a new range; only one that is bound by ``windows`` may exceed a binding."""
        offset = self.used
        size = max(16, -(-size // 16) * 16)
        self.used = -(-(offset + size) // WINDOW) * WINDOW
        if self.used > self.room or (size > self.most and not windows):
            raise TooLargeError(self.used)
        self.peak = max(self.peak, self.used)
        return offset, size


#: The scalars of ``shaders/lib/params.wgsl``, in its order.
PARAMS = [
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
    """``workgroups`` folded into three dimensions, each within the limit; hardly any are too many, which the kernels do in vain."""
    z = -(-workgroups // limit**2)
    y = -(-workgroups // (limit * z))
    return -(-workgroups // (y * z)), y, z


def is_rows(box: Box) -> bool:
    """Is the axis one contiguous run?"""
    axes = box.selection.axes
    return len(axes) == 1 and axes[0].stride == 1


class Builder:
    """Collects the dispatches of one plan, and hands out the scratch that they share."""

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
        # Nobody meets where a second dispatch costs less than barriers.
        first = 0 if tuning.barrier_free else MEETING
        self.arena = _Arena(limits.max_storage_buffer_binding_size, limits.max_buffer_size, first)
        self.dispatches: list[Dispatch] = []
        self.algorithms: list[Algorithm] = []
        self.sequences = selection.sequences  # of the part being built

    # -- one dispatch --

    def emit(
        self,
        kernel: str,
        workgroups: int,
        source: Source | None,
        sink: Sink | None,
        *,
        delegates: Pairs | None = None,
        scratch: dict[int, tuple[int, int]] | None = None,
        constants: dict[str, int] | None = None,
        in_order: bool = False,
        meets: bool = False,
        **params: int,
    ) -> None:
        """Appends one dispatch; ``scratch`` maps further binding slots to scratch ranges; ``meets``: may its workgroups meet?"""
        s = self.selection
        f = s.format
        box = source if isinstance(source, Box) else sink.box if isinstance(sink, Final) else None
        shape = box.selection if box else s
        bindings: list[Binding] = []
        values = {"sequences": self.sequences, "k": s.k, "split": 1}
        c: dict[str, int] = {
            "WORKGROUP": self.tuning.workgroup,
            "SUBGROUPS": int(self.limits.subgroups),
            "KEY_WORDS": f.key_words,
            "PAIR_WORDS": f.key_words + 1,
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
            "EXTREMES": int(self.has_extremes(source)),
            "SINK_PAIRS": int(isinstance(sink, Pairs)),
            "HAS_VALUES": int(s.has_values),
            "HAS_INDICES": int(s.has_indices),
            "IN_ORDER": int(in_order and not s.last_index),
            "MEETS": int(meets),
            "KTH_DIGIT": 11,
            "MANY_BOXES": int(isinstance(sink, Final) and sink.box.length < shape.length),
        }
        if isinstance(source, Box):
            values["length"] = source.length
            if is_rows(source):
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
        reads_values = isinstance(sink, Final) and s.has_values
        if box is not None:
            start, size = self.window(box.offset, box.span, f.bytes, 16 if self.vectors else 4)
            if isinstance(source, Box) or reads_values:
                bindings.append(Binding(1, "input", start, size))
            values |= {
                "input_base": box.offset - start // f.bytes,
                "input_size": size // f.bytes,
                "first_index": box.first_index,
            }
        if isinstance(sink, Pairs):
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
        if meets:
            scratch = (scratch or {}) | {9: (0, MEETING)}
            self.arena.peak = max(self.arena.peak, MEETING)
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
        start = offset * element_bytes // WINDOW * WINDOW
        end = (offset + span) * element_bytes
        return start, -(-(end - start) // unit) * unit

    def has_extremes(self, source: Source | None) -> bool:
        """Do the extremes of several elements' bits tell their first key? So it is with rows of floats whose NaNs come first."""
        s = self.selection
        floats = s.format.key_words == 1 and s.format.minus > 0 and s.order.nan_first
        return floats and isinstance(source, Box) and is_rows(source)

    def load_shape(self) -> tuple[int, int]:
        """Words and items of one load of contiguous elements."""
        size = self.selection.format.bytes
        words = 4 if self.vectors else max(1, size // 4)
        return words, words * 4 // size

    @staticmethod
    def pack(values: dict[str, int], box: Box | None) -> bytes:
        words = [values.get(name, 0) for name in PARAMS]
        batch = list(reversed(box.selection.batch)) if box else []
        words += [w for d in batch for w in (d.size, d.input_stride, d.value_stride, d.index_stride)]
        words += [0] * (4 * (8 - len(batch)))
        axes = list(zip(box.sizes, box.selection.axes, box.axis_steps, strict=True))[::-1] if box else []
        words += [w for size, axis, step in axes for w in (size, axis.stride, step, axis.size)]
        words += [0] * (4 * (8 - len(axes)))
        return struct.pack(f"<{len(words)}I", *(w & 0xFFFFFFFF for w in words))

    def new_pairs(self, sequences: int, length: int, *, side_by_side: bool = False, windows: bool = False) -> Pairs:
        """Room for pairs; ``side_by_side`` puts the same item of all sequences together, as kernels down columns write them.

        ``windows``: those of a single sequence will be bound by windows, and may exceed a binding.
        """
        count = sequences * length
        windows = windows and sequences == 1
        keys = self.arena.take(count * 4 * self.selection.format.key_words, windows=windows)
        step, item_step = (1, sequences) if side_by_side else (length, 1)
        return Pairs(keys, self.arena.take(count * 4, windows=windows), 0, step, length, item_step)
