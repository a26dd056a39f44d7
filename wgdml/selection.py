"""Every operator as one problem: the first k pairs of each sequence under one total order.

Pure data: no GPU, no NumPy arrays. A ``Selection`` is what ``wgdml.plan`` plans.

- Elements become unsigned *keys* in the wanted order (``shaders/lib/order/key.wgsl``).
- (key, index) pairs have a strict total order, so how the work is cut does not change the answer.
- Argmax is k = 1; "the last index wins" is the index order reversed; sort and argsort are k = n.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import prod
from typing import Any

from . import contract


@dataclass(frozen=True)
class ElementFormat:
    """How the bits order: left-aligned numbers of ``shaders/lib/order/key.wgsl``."""

    bytes: int
    sign_bit: int = 0
    minus: int = 0
    largest: int = 0xFFFFFFFF
    greatest: int = 0xFFFFFFFF  #: Of an unsigned integer, which may leave bits unused.

    @property
    def key_words(self) -> int:
        return 2 if self.bytes == 8 else 1

    @property
    def pair_size(self) -> int:
        """Bytes of a key and its index, apart."""
        return 4 * self.key_words + 4

    @property
    def key_mask(self) -> int:
        """The bits of a key's words that are used: narrow types leave the low ones zero."""
        return (0xFFFFFFFF << max(0, 32 - 8 * self.bytes)) & 0xFFFFFFFF

    def last(self, largest_first: bool) -> tuple[int, int]:
        """The words, high and low, of the number that comes last: an infinity, or an extreme."""
        if self.minus:
            return (self.minus if largest_first else 0) | self.largest, 0
        if largest_first:
            return self.sign_bit, 0
        return self.greatest & self.key_mask & ~self.sign_bit, 0xFFFFFFFF


def _float(size: int, infinity: int) -> ElementFormat:
    return ElementFormat(size, 0x80000000, 0x80000000, infinity)


#: Element formats by NumPy dtype name. Infinity is where the numbers end: NaNs have more.
FORMATS: dict[str, ElementFormat] = {
    "float16": _float(2, 0x7C000000),
    "bfloat16": _float(2, 0x7F800000),
    "float32": _float(4, 0x7F800000),
    "float64": _float(8, 0x7FF00000),
    "bool": ElementFormat(1, greatest=0x01000000),
    **{f"uint{8 * n}": ElementFormat(n) for n in (1, 2, 4, 8)},
    **{f"int{8 * n}": ElementFormat(n, 0x80000000) for n in (1, 2, 4, 8)},
}


class Order(Enum):
    """Which pairs come first: (largest elements first?, NaNs first?)."""

    DESCENDING = (True, True)  # top-k largest, descending sort: NaN is greater than every number
    ASCENDING = (False, False)  # top-k smallest, ascending sort
    MAXIMUM = (True, True)  # argmax: the first NaN wins (the same keys as DESCENDING)
    MINIMUM = (False, True)  # argmin: the first NaN wins
    NUMBERS_DESCENDING = (True, False)  # largest first, NaN last; ASCENDING has it last too

    __hash__ = object.__hash__  # Enum's own is Python code, and every call looks a kept plan up

    @property
    def numbers_first(self) -> Order:
        """The order with NaN after every number."""
        return Order.NUMBERS_DESCENDING if self.largest_first else Order.ASCENDING

    @property
    def largest_first(self) -> bool:
        return self.value[0]

    @property
    def nan_first(self) -> bool:
        return self.value[1]


@dataclass(frozen=True)
class BatchDim:
    """One dimension of the batch of sequences; strides in elements of each tensor."""

    size: int
    input_stride: int
    value_stride: int = 0
    index_stride: int = 0
    besides: tuple[int, ...] = (0, 0, 0, 0)  #: Of lengths, starts, counts and payload.

    @property
    def strides(self) -> tuple[int, ...]:
        return self.input_stride, self.value_stride, self.index_stride, *self.besides


@dataclass(frozen=True)
class Beside:
    """A tensor beside the input: a number of each sequence, or what stands for each item."""

    dtype: str  #: NumPy's name.
    offset: int = 0  #: Elements before the first.
    step: int = 0  #: Elements between the items of a sequence.

    @property
    def format(self) -> ElementFormat:
        return FORMATS[self.dtype]


@dataclass(frozen=True)
class AxisDim:
    """A dimension selected over, outermost first; flattened row-major they make the sequence."""

    size: int
    stride: int


@dataclass(frozen=True)
class Layout:
    """A tensor's memory: sizes and strides, in elements, and elements before the first."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @classmethod
    def packed(cls, sizes: Sequence[int]) -> Layout:
        """Row-major, from the first element on."""
        return cls(tuple(sizes), packed_strides(sizes))


def packed_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def extent(dims: Iterable[tuple[int, int]]) -> int:
    """Elements from the first to the end of the last along dimensions (size, stride), if any."""
    return 1 + sum((size - 1) * stride for size, stride in dims)


def reshaped_strides(shape: Sequence[int], strides: Sequence[int], target: Sequence[int]) -> tuple[int, ...] | None:
    """The strides of another shape with the same elements, row-major; None where none do."""
    if not prod(shape):
        return packed_strides(target)
    runs: list[tuple[int, int]] = []  # (size, stride), as long as can be
    for n, step in zip(shape, strides, strict=True):
        if n > 1 and runs and runs[-1][1] == n * step:
            runs[-1] = runs[-1][0] * n, step
        elif n > 1:
            runs.append((n, step))
    result, left, step = [], 1, 1
    for n in reversed(target):
        if n > 1 and left == 1:
            left, step = runs.pop()
        if left % n:
            return None
        result.append(step)
        left, step = left // n, step * n
    return tuple(reversed(result))


#: Numbers of each sequence.
SPANS = ("lengths", "starts", "counts")
#: The tensors that may lie beside the input, in the order of ``BatchDim.besides``: the last is what
#: stands for each item, top-k's ``indices`` or sort's ``payload``.
BESIDES = (*SPANS, "payload")


@dataclass(frozen=True)
class Selection:
    """The first ``k`` of every sequence. Offsets and strides are in elements."""

    element: str  # a name of FORMATS
    batch: tuple[BatchDim, ...]  # outermost first, merged
    axes: tuple[AxisDim, ...]  # outermost first, merged; at least one
    k: int
    order: Order
    last_index: bool = False
    sorted: bool = True  #: False: the k may be written in any order.
    has_values: bool = True
    has_indices: bool = True
    index_bytes: int = 4
    value_step: int = 0  # elements between consecutive ranks
    index_step: int = 0
    input_offset: int = 0
    value_offset: int = 0
    index_offset: int = 0
    lengths: Beside | None = None  #: Items of each sequence that take part; None: all to its end.
    starts: Beside | None = None  #: The first of them; None: the first of all.
    counts: Beside | None = None  #: Ranks that are wanted of each sequence; None: k.
    payload: Beside | None = None  #: What is written in place of indices.
    longest: int = 0  #: No sequence has more items that take part; 0: any number.

    @property
    def ragged(self) -> bool:
        """Do sequences have spans of their own?"""
        return self.lengths is not None or self.starts is not None or self.counts is not None

    @property
    def format(self) -> ElementFormat:
        return FORMATS[self.element]

    @property
    def sequences(self) -> int:
        return prod(d.size for d in self.batch)

    @property
    def length(self) -> int:
        return prod(d.size for d in self.axes)

    @property
    def index_bits(self) -> int:
        """Bits of the largest index, at least 1."""
        return max(1, (self.length - 1).bit_length())

    @property
    def packed(self) -> bool:
        """A pair fits one word: the key is so narrow that an index finds room below it."""
        return self.format.bytes < 4 and self.length < 1 << (32 - 8 * self.format.bytes) and not self.last_index


def merged_dims(dims: list[BatchDim]) -> tuple[BatchDim, ...]:
    return tuple(_joined(sorted(dims, key=lambda d: -d.input_stride)))


def _joined(dims: Iterable[BatchDim]) -> list[BatchDim]:
    """Drops sizes of 1, joins neighbours that are one run in every tensor."""
    joined: list[BatchDim] = []
    for d in dims:
        if d.size == 1:
            continue
        if joined and joined[-1].strides == tuple(d.size * stride for stride in d.strides):
            joined[-1] = replace(d, size=joined[-1].size * d.size)
        else:
            joined.append(d)
    return joined


def _check_rank(left: int, tensors: Mapping[str, Layout | None]) -> None:
    """Dimensions merge that lie as one in every tensor, so each may be the one to blame."""
    if left > 8:
        layouts = {name: layout for name, layout in tensors.items() if layout is not None}
        said = ", ".join(f"{name} {tuple(layout.strides)}" for name, layout in layouts.items())
        raise ValueError(
            f"x may have at most 8 dimensions after merging those that lie in memory as one, not {left}: for shape "
            f"{tuple(layouts['x'].sizes)} strides are {said}"
        )


def _dims_of(layouts: Sequence[Layout], chosen: Sequence[int]) -> tuple[tuple[BatchDim, ...], tuple[AxisDim, ...]]:
    """The batch and the axes, merged, of the source, both outputs and what is beside them."""
    source, values, indices, *beside = layouts
    dims = [
        BatchDim(size, source.strides[d], values.strides[d], indices.strides[d], tuple(t.strides[d] for t in beside))
        for d, size in enumerate(source.sizes)
    ]
    axes = _joined(BatchDim(dims[d].size, dims[d].input_stride) for d in chosen)
    batch = merged_dims([dim for d, dim in enumerate(dims) if d not in chosen])
    return batch, tuple(AxisDim(d.size, d.input_stride) for d in axes) or (AxisDim(1, 1),)


def make_selection(
    element: str,
    source: Layout,
    axes: Sequence[int],
    k: int,
    order: Order,
    *,
    values: Layout | None,
    indices: Layout | None,
    index_bytes: int = 4,
    last_index: bool = False,
    in_order: bool = True,
    besides: Mapping[str, tuple[str, Layout]] | None = None,
    longest: int = 0,
) -> Selection:
    """Builds a Selection from checked layouts of equal rank, over the dimensions ``axes``.

    Without axes every element is a sequence of its own.
    ``values`` and ``indices`` are the outputs' layouts (size k along the axis), or None.
    ``besides``: data types of lengths, starts, counts and payload, by these names, where there are
    any. Their layouts are broadcast to the source's, but for the size of the axes.
    More than 8 dimensions left on either side after merging raise ``ValueError``.
    """
    chosen, besides = sorted(axes), besides or {}
    nowhere = Layout(source.sizes, (0,) * len(source.sizes))
    to_values, to_indices = values or nowhere, indices or nowhere
    beside = [besides[name][1] if name in besides else nowhere for name in BESIDES]
    merged_batch, merged_axes = _dims_of([source, to_values, to_indices, *beside], chosen)
    tensors = {"x": source, "values": values, "indices": indices} | {name: layout for name, (_, layout) in besides.items()}
    _check_rank(max(len(merged_batch), len(merged_axes)), tensors)
    axis = chosen[0] if len(chosen) == 1 and k > 1 else None
    beside_them: dict[str, Any] = {
        name: Beside(dtype, layout.offset, layout.strides[chosen[0]] if name == "payload" else 0)
        for name, (dtype, layout) in besides.items()
    }
    return Selection(
        element=element,
        batch=merged_batch,
        axes=merged_axes,
        k=k,
        order=order,
        last_index=last_index,
        # Of spans the ranks without an item come last, and counts need the first of all.
        sorted=in_order or bool(set(besides) - {"payload"}),
        has_values=values is not None,
        has_indices=indices is not None,
        index_bytes=index_bytes,
        value_step=0 if axis is None else to_values.strides[axis],
        index_step=0 if axis is None else to_indices.strides[axis],
        input_offset=source.offset,
        value_offset=to_values.offset,
        index_offset=to_indices.offset,
        longest=longest,
        **beside_them,
    )


def take_selection(element: str, source: Layout, axis: int, values: Layout, indices: Layout, index_bytes: int) -> Selection:
    """One element of a sequence for each index; the layouts differ in size along ``axis`` alone.

    More than 8 dimensions left after merging raise ``ValueError``.
    """
    steps = [0 if d == axis else stride for d, stride in enumerate(source.strides)]
    batch = merged_dims([BatchDim(*dim) for dim in zip(values.sizes, steps, values.strides, indices.strides, strict=True)])
    _check_rank(len(batch), {"x": Layout(values.sizes, tuple(steps)), "values": values, "indices": indices})
    axes = (AxisDim(source.sizes[axis], source.strides[axis]),)
    selection = Selection(element, batch, axes, 1, Order.DESCENDING, index_bytes=index_bytes)
    return moved(selection, {"input": source.offset, "values": values.offset, "indices": indices.offset})


#: Fields of a selection for where its tensors begin, by a plan's names of these.
_OFFSETS = {"input": "input_offset", "values": "value_offset", "indices": "index_offset"}


def moved(selection: Selection, offsets: Mapping[str, int]) -> Selection:
    """The selection of tensors that begin behind so many elements, by a plan's names of these."""
    changed: dict[str, Any] = {field: offsets[name] for name, field in _OFFSETS.items() if name in offsets}
    changed |= {name: replace(getattr(selection, name), offset=offsets[name]) for name in BESIDES if name in offsets}
    return replace(selection, **changed)


OperatorDesc = contract.OperatorDesc | contract.SelectOperatorDesc


def _as_select(desc: contract.OperatorDesc) -> contract.SelectOperatorDesc:
    """What DirectML's operators are among the selections."""
    source = desc.input_tensor
    if isinstance(desc, contract.TopKOperatorDesc | contract.TopK1OperatorDesc):
        direction = getattr(desc, "axis_direction", contract.AxisDirection.DECREASING)
        return contract.SelectOperatorDesc(
            source, desc.k, (desc.axis,), direction, desc.output_value_tensor, desc.output_index_tensor
        )
    if isinstance(desc, contract.ReduceOperatorDesc):
        largest = desc.function in (contract.ReduceFunction.ARGMAX, contract.ReduceFunction.MAX)
        last, values = False, desc.gives_values
    else:
        largest = isinstance(desc, contract.ArgmaxOperatorDesc)
        last, values = desc.axis_direction == contract.AxisDirection.DECREASING, False
    return contract.SelectOperatorDesc(
        source,
        1,
        desc.axes,
        contract.AxisDirection.DECREASING if largest else contract.AxisDirection.INCREASING,
        output_value_tensor=desc.output_tensor if values else None,
        output_index_tensor=None if values else desc.output_tensor,
        nan="first",
        select_last_index=last,
    )


def lower(desc: OperatorDesc) -> Selection:
    """The Selection that a (checked) operator desc asks for."""
    if not isinstance(desc, contract.SelectOperatorDesc):
        desc = _as_select(desc)
    largest = desc.axis_direction == contract.AxisDirection.DECREASING
    if desc.nan == "first":
        order = Order.MAXIMUM if largest else Order.MINIMUM
    else:
        order = Order.DESCENDING if largest else Order.ASCENDING
    besides = {
        name: (tensor.data_type.numpy_dtype.name, Layout(desc.sizes, desc.strides_of(tensor)))
        for name in BESIDES
        if (tensor := getattr(desc, f"{name}_tensor")) is not None
    }
    values, indices = desc.output_value_tensor, desc.output_index_tensor
    longest = desc.longest or 0
    return make_selection(
        desc.input_tensor.data_type.numpy_dtype.name,
        Layout(desc.sizes, desc.strides_of(desc.input_tensor)),
        desc.axes,
        desc.k,
        order.numbers_first if desc.nan == "last" else order,
        values=Layout(values.sizes, values.element_strides) if values else None,
        indices=Layout(indices.sizes, indices.element_strides) if indices else None,
        index_bytes=indices.data_type.itemsize if indices else 4,
        last_index=desc.select_last_index,
        in_order=desc.sorted,
        besides=besides,
        longest=0 if longest >= prod(desc.sizes[axis] for axis in desc.axes) else longest,
    )
