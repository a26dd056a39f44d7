"""DirectML's vocabulary for its selection operators, and the rules that its descs obey.

`SelectOperatorDesc` alone is wgdml's own.

Pure data and checks: enums, tensor and operator descs, and what each feature level takes.
Everything is checked when it is constructed, so a desc that exists is one that some feature level
takes. Only a device's level is left to `check_feature_level`. Names and numbers follow
``directml.h``, in Python's spelling.

Every error names the field, its value and the rule: `TypeError` where a value has the wrong Python
type, `ValueError` where it breaks a rule.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from itertools import combinations
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = [
    "FEATURE_TABLE",
    "HIGHEST_FEATURE_LEVEL",
    "MAX_DIMENSION_COUNT",
    "OTHER_DATA_TYPES",
    "ArgmaxOperatorDesc",
    "ArgminOperatorDesc",
    "AxisDirection",
    "DataType",
    "FeatureLevel",
    "FeatureRow",
    "OperatorDesc",
    "ReduceFunction",
    "ReduceOperatorDesc",
    "SelectOperatorDesc",
    "TensorDesc",
    "TopK1OperatorDesc",
    "TopKOperatorDesc",
    "as_enum",
    "check_feature_level",
    "overlaps_itself",
    "required_feature_level",
    "supports_data_type",
]

MAX_DIMENSION_COUNT: Final = 8  # DML_TENSOR_DIMENSION_COUNT_MAX1
_UINT32_MAX: Final = 2**32 - 1  # sizes, strides, axes and alignments are UINTs in directml.h
_UINT64_MAX: Final = 2**64 - 1  # TotalTensorSizeInBytes is a UINT64
# What fields that hold several integers accept.
_Ints = Sequence[SupportsIndex] | npt.NDArray[np.integer[Any]]


# -- enumerations --


class DataType(IntEnum):
    """Type of a tensor's elements (``DML_TENSOR_DATA_TYPE``, with its numbers)."""

    FLOAT32 = 1
    FLOAT16 = 2
    UINT32 = 3
    UINT16 = 4
    UINT8 = 5
    INT32 = 6
    INT16 = 7
    INT8 = 8
    UINT64 = 10
    INT64 = 11

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The NumPy dtype with the same elements, in native byte order."""
        return np.dtype(self.name.lower())  # NumPy and DirectML use the same names

    @property
    def itemsize(self) -> int:
        """Size of one element in bytes: 1, 2, 4 or 8."""
        return self.numpy_dtype.itemsize

    @classmethod
    def from_dtype(cls, dtype: npt.DTypeLike) -> DataType:
        """The data type with the elements of a NumPy dtype, or of what ``np.dtype`` takes but None.

        Raises:
            TypeError: no data type has these elements (float64, bool, a foreign byte order, ...).
        """
        rule = f"must be one of {', '.join(t.name.lower() for t in cls)}, in native byte order"
        if dtype is None:  # np.dtype(None) is float64, which nobody means
            raise TypeError(f"dtype is None; it {rule} (DML_TENSOR_DATA_TYPE)")
        try:
            found = np.dtype(dtype)
        except (TypeError, ValueError, SyntaxError) as error:  # NumPy parses strings
            raise TypeError(f"dtype is {dtype!r}, which NumPy does not know; it {rule}") from error
        for data_type in cls:
            if data_type.numpy_dtype == found:
                return data_type
        raise TypeError(f"dtype is {found}; it {rule} (DML_TENSOR_DATA_TYPE)")


OTHER_DATA_TYPES: Final[Mapping[int, str]] = MappingProxyType({9: "FLOAT64", 12: "UINT4", 13: "INT4"})
"""DirectML's data types that are not here, by their numbers."""


class AxisDirection(IntEnum):
    """Direction along an axis (``DML_AXIS_DIRECTION``): top-k's order, argmax's ties."""

    INCREASING = 0
    DECREASING = 1


class ReduceFunction(IntEnum):
    """Function of a REDUCE operator (``DML_REDUCE_FUNCTION``). ARGMAX, ARGMIN, MAX, MIN select."""

    ARGMAX = 0
    ARGMIN = 1
    AVERAGE = 2
    L1 = 3
    L2 = 4
    LOG_SUM = 5
    LOG_SUM_EXP = 6
    MAX = 7
    MIN = 8
    MULTIPLY = 9
    SUM = 10
    SUM_SQUARE = 11


class FeatureLevel(IntEnum):
    """What a device offers (``DML_FEATURE_LEVEL``, its numbers). Each level includes the lower."""

    LEVEL_1_0 = 0x1000
    LEVEL_2_0 = 0x2000
    LEVEL_2_1 = 0x2100
    LEVEL_3_0 = 0x3000
    LEVEL_3_1 = 0x3100
    LEVEL_4_0 = 0x4000
    LEVEL_4_1 = 0x4100
    LEVEL_5_0 = 0x5000
    LEVEL_5_1 = 0x5100
    LEVEL_5_2 = 0x5200
    LEVEL_6_0 = 0x6000
    LEVEL_6_1 = 0x6100
    LEVEL_6_2 = 0x6200
    LEVEL_6_3 = 0x6300
    LEVEL_6_4 = 0x6400


HIGHEST_FEATURE_LEVEL: Final = max(FeatureLevel)
"""The feature level that a device is opened at unless told otherwise."""


# -- what each feature level takes --


@dataclass(frozen=True)
class FeatureRow:
    """What one operator takes from `level` up to the next row of that operator.

    `value_types` are the types of the input and of the value output. `index_types` are those of the
    index output, none where the operator has no such output. `ranks` are the dimension counts.
    """

    level: FeatureLevel
    ranks: range
    value_types: tuple[DataType, ...]
    index_types: tuple[DataType, ...]


_RANK_4 = range(4, 5)
_ALL_RANKS = range(1, MAX_DIMENSION_COUNT + 1)
_FLOATS = (DataType.FLOAT32, DataType.FLOAT16)
_TO_32_BITS = (*_FLOATS, *(DataType[f"{sign}INT{bits}"] for sign in ("", "U") for bits in (32, 16, 8)))
_ALL_TYPES = (*_TO_32_BITS, DataType.INT64, DataType.UINT64)
_UINT32_ONLY = (DataType.UINT32,)
_TOP_K_INDICES = (DataType.UINT64, DataType.UINT32)
_ARG_INDICES = (DataType.INT64, DataType.INT32, DataType.UINT64, DataType.UINT32)

_TOP_K1_ROWS = (
    FeatureRow(FeatureLevel.LEVEL_2_1, _RANK_4, _TO_32_BITS, _UINT32_ONLY),
    FeatureRow(FeatureLevel.LEVEL_3_1, _ALL_RANKS, _TO_32_BITS, _UINT32_ONLY),
    FeatureRow(FeatureLevel.LEVEL_5_0, _ALL_RANKS, _ALL_TYPES, _TOP_K_INDICES),
)
_ARG_ROWS = (
    FeatureRow(FeatureLevel.LEVEL_3_0, _ALL_RANKS, _TO_32_BITS, _ARG_INDICES),
    FeatureRow(FeatureLevel.LEVEL_4_1, _ALL_RANKS, _ALL_TYPES, _ARG_INDICES),
)
_EXTREME_ROWS = (
    FeatureRow(FeatureLevel.LEVEL_1_0, _RANK_4, _FLOATS, ()),
    FeatureRow(FeatureLevel.LEVEL_2_1, _RANK_4, (*_FLOATS, DataType.INT32, DataType.UINT32), ()),
    FeatureRow(FeatureLevel.LEVEL_3_0, _ALL_RANKS, _TO_32_BITS, ()),
    FeatureRow(FeatureLevel.LEVEL_5_0, _ALL_RANKS, _ALL_TYPES, ()),
)

FEATURE_TABLE: Final[Mapping[str, tuple[FeatureRow, ...]]] = MappingProxyType(
    {
        "TOP_K": (FeatureRow(FeatureLevel.LEVEL_2_0, _RANK_4, _FLOATS, _UINT32_ONLY), *_TOP_K1_ROWS),
        "TOP_K1": _TOP_K1_ROWS,
        "ARGMAX": _ARG_ROWS,
        "ARGMIN": _ARG_ROWS,
        "REDUCE": (  # its functions ARGMAX and ARGMIN
            FeatureRow(FeatureLevel.LEVEL_1_0, _RANK_4, _FLOATS, _UINT32_ONLY),
            FeatureRow(FeatureLevel.LEVEL_2_1, _RANK_4, _TO_32_BITS, _UINT32_ONLY),
            *_ARG_ROWS,
        ),
        "REDUCE MAX": _EXTREME_ROWS,
        "REDUCE MIN": _EXTREME_ROWS,
    }
)
"""Rows by operator (``DML_OPERATOR_TYPE``), lowest level first; each row includes those before it.

"REDUCE" has the rows of its functions ARGMAX and ARGMIN; MAX and MIN have rows of their own.
"""


# -- tensors --


@dataclass(frozen=True, init=False)
class TensorDesc:
    """Type and layout of a tensor in a buffer (``DML_TENSOR_DESC``, ``DML_BUFFER_TENSOR_DESC``).

    Args:
        data_type: type of the elements.
        sizes: 1 to 8 sizes of at least 1, together at most 2**32 - 1 elements. Stored as a tuple.
        strides: elements from one position to the next, per dimension: 0 repeats (broadcast), more
            than packed leaves padding. None means packed in row-major order, and stays None: see
            `element_strides`.
        total_tensor_size_in_bytes: bytes of the buffer that belong to the tensor; None means
            `minimum_size_in_bytes`, and is stored as that number.
        guaranteed_base_offset_alignment: alignment in bytes that the tensor's offset in a buffer
            will have: 0 for no promise, or a power of two no smaller than an element.

    Raises:
        TypeError: a field is not of the type above. NumPy's integers are; bool and float are not.
        ValueError: a broken rule of ``DML_BUFFER_TENSOR_DESC``, or an extent over 64 bits.
    """

    data_type: DataType
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None
    total_tensor_size_in_bytes: int
    guaranteed_base_offset_alignment: int

    # Written out, because what is passed is wider than what is stored.
    def __init__(
        self,
        data_type: DataType,
        sizes: _Ints,
        strides: _Ints | None = None,
        total_tensor_size_in_bytes: SupportsIndex | None = None,
        guaranteed_base_offset_alignment: SupportsIndex = 0,
    ) -> None:
        _store(
            self,
            data_type=as_enum("data_type", data_type, DataType),
            sizes=_as_ints("sizes", sizes),
            strides=None if strides is None else _as_ints("strides", strides),
            guaranteed_base_offset_alignment=_as_int("guaranteed_base_offset_alignment", guaranteed_base_offset_alignment),
        )
        self._check_layout()
        minimum = self.minimum_size_in_bytes
        total = minimum if total_tensor_size_in_bytes is None else _as_int("total_tensor_size_in_bytes", total_tensor_size_in_bytes)
        least = f"{minimum}, the minimum for sizes {self.sizes}, strides {self.element_strides} and {self.data_type.name}"
        holds = minimum <= total <= _UINT64_MAX
        _require(holds, "total_tensor_size_in_bytes", total, f"it must be below 2**64 and at least {least}")
        _store(self, total_tensor_size_in_bytes=total)

    def _check_layout(self) -> None:
        sizes, strides, count, name = self.sizes, self.strides, len(self.sizes), self.data_type.name
        if not 1 <= count <= MAX_DIMENSION_COUNT:
            rule = f"it must have 1 to {MAX_DIMENSION_COUNT} (DimensionCount of DML_BUFFER_TENSOR_DESC)"
            raise ValueError(f"sizes has {count} dimensions; {rule}")
        for dimension, size in enumerate(sizes):
            _require(1 <= size <= _UINT32_MAX, f"sizes[{dimension}]", size, "every size must be from 1 to 2**32 - 1")
        elements = self.element_count
        _require(elements <= _UINT32_MAX, "sizes", f"{sizes}, {elements} elements", "there may be at most 2**32 - 1")
        if strides is not None and len(strides) != count:
            rule = f"it must have one stride for each of the {count} sizes {sizes}"
            raise ValueError(f"strides has {len(strides)} dimensions; {rule}")
        for dimension, stride in enumerate(strides or ()):
            _require(0 <= stride <= _UINT32_MAX, f"strides[{dimension}]", stride, "every stride must be from 0 to 2**32 - 1")
        extent = self.minimum_size_in_bytes
        value = f"{strides}, an extent of {extent} bytes with sizes {sizes} and {name}"
        _require(extent <= _UINT64_MAX, "strides", value, "the extent must be below 2**64 bytes")
        alignment, item = self.guaranteed_base_offset_alignment, self.data_type.itemsize
        serves = alignment == 0 or (item <= alignment <= _UINT32_MAX and alignment & (alignment - 1) == 0)
        rule = f"it must be 0, or a power of two from {item} (the size of {name}) to 2**31"
        _require(serves, "guaranteed_base_offset_alignment", alignment, rule)

    @property
    def dimension_count(self) -> int:
        """Number of dimensions, 1 to 8 (DimensionCount)."""
        return len(self.sizes)

    @property
    def element_count(self) -> int:
        """Number of elements: the product of the sizes, at most 2**32 - 1."""
        return math.prod(self.sizes)

    @property
    def element_strides(self) -> tuple[int, ...]:
        """The strides in elements: `strides`, or the packed row-major ones where it is None."""
        if self.strides is not None:
            return self.strides
        return tuple(math.prod(self.sizes[d + 1 :]) for d in range(self.dimension_count))

    @property
    def minimum_size_in_bytes(self) -> int:
        """Bytes from the first element to the end of the last, rounded up to a multiple of 4.

        The least TotalTensorSizeInBytes, as ``DMLCalcBufferTensorSize`` gives it.
        """
        last = sum((size - 1) * stride for size, stride in zip(self.sizes, self.element_strides, strict=True))
        return ((last + 1) * self.data_type.itemsize + 3) // 4 * 4


# -- operators --


@dataclass(frozen=True)
class _TopKOperatorDesc:
    """The fields that TOP_K and TOP_K1 share."""

    operator_type: ClassVar[str]

    input_tensor: TensorDesc
    output_value_tensor: TensorDesc
    output_index_tensor: TensorDesc
    axis: int
    k: int

    def __post_init__(self) -> None:
        source = _as_tensor("input_tensor", self.input_tensor)
        values = _as_tensor("output_value_tensor", self.output_value_tensor)
        indices = _as_tensor("output_index_tensor", self.output_index_tensor)
        axis, k = _as_int("axis", self.axis), _as_int("k", self.k)
        _store(self, axis=axis, k=k)

        _check_some_level_takes(self)
        _check_value_type("output_value_tensor", values, source)
        _check_axis("axis", axis, source)
        size = source.sizes[axis]
        _require(1 <= k <= size, "k", k, f"it must be from 1 to {size}, the size of axis {axis} of input_tensor")
        sizes = (*source.sizes[:axis], k, *source.sizes[axis + 1 :])
        reason = f"the sizes of input_tensor with k = {k} on axis {axis}"
        _check_output("output_value_tensor", values, sizes, reason)
        _check_output("output_index_tensor", indices, sizes, reason)
        # UINT32 holds every index: sizes are below 2**32.


@dataclass(frozen=True)
class TopKOperatorDesc(_TopKOperatorDesc):
    """The `k` largest of each sequence along `axis`, sorted (``DML_TOP_K_OPERATOR_DESC``).

    `TopK1OperatorDesc` with DECREASING, and its fields, rules and errors. From feature level 2_0.
    """

    operator_type: ClassVar[str] = "TOP_K"


@dataclass(frozen=True)
class TopK1OperatorDesc(_TopKOperatorDesc):
    """The `k` largest or smallest of each sequence along `axis` (``DML_TOP_K1_OPERATOR_DESC``).

    Values come sorted; ties go to the lower index, in both directions. From feature level 2_1.

    Args:
        input_tensor: any layout; a type and rank of `FEATURE_TABLE`.
        output_value_tensor: sizes of the input except `k` on `axis`; type of the input.
        output_index_tensor: sizes of the value output; UINT32 or UINT64. Indices within a sequence.
        axis: less than the dimension count.
        k: 1 to the size of `axis` (that size included).
        axis_direction: DECREASING selects the largest, largest first; INCREASING the smallest,
            smallest first.

    Raises:
        TypeError: a field is not of its type.
        ValueError: a type that no level takes, a broken rule above, or an overlapping output.
    """

    operator_type: ClassVar[str] = "TOP_K1"

    axis_direction: AxisDirection

    def __post_init__(self) -> None:
        as_enum("axis_direction", self.axis_direction, AxisDirection)
        super().__post_init__()


@dataclass(frozen=True, init=False)
class _ArgOperatorDesc:
    """The fields that ARGMAX and ARGMIN share."""

    operator_type: ClassVar[str]

    input_tensor: TensorDesc
    output_tensor: TensorDesc
    axes: tuple[int, ...]
    axis_direction: AxisDirection

    def __init__(self, input_tensor: TensorDesc, output_tensor: TensorDesc, axes: _Ints, axis_direction: AxisDirection) -> None:
        _store(
            self,
            input_tensor=_as_tensor("input_tensor", input_tensor),
            output_tensor=_as_tensor("output_tensor", output_tensor),
            axes=_as_ints("axes", axes, " (AxisCount is its length)"),
            axis_direction=as_enum("axis_direction", axis_direction, AxisDirection),
        )
        _check_arg(self)


@dataclass(frozen=True, init=False)
class ArgmaxOperatorDesc(_ArgOperatorDesc):
    """Index of the largest element over one or more axes (``DML_ARGMAX_OPERATOR_DESC``).

    The index is flattened in row-major order over the reduced axes, in ascending axis order. From
    feature level 3_0.

    Args:
        input_tensor: any layout; a type and rank of `FEATURE_TABLE`.
        output_tensor: sizes of the input except 1 on each of `axes`; INT64, INT32, UINT64 or
            UINT32, able to hold every index.
        axes: at least one axis, each less than the dimension count, none twice. Stored as a tuple.
        axis_direction: of equal elements, INCREASING takes the first and DECREASING the last.

    Raises:
        TypeError: a field is not of its type.
        ValueError: a type that no level takes, a broken rule above, or an overlapping output.
    """

    operator_type: ClassVar[str] = "ARGMAX"

    # Its own, so that errors name this class.
    def __init__(
        self,
        input_tensor: TensorDesc,
        output_tensor: TensorDesc,
        axes: _Ints,
        axis_direction: AxisDirection = AxisDirection.INCREASING,
    ) -> None:
        super().__init__(input_tensor, output_tensor, axes, axis_direction)


@dataclass(frozen=True, init=False)
class ArgminOperatorDesc(_ArgOperatorDesc):
    """Index of the smallest element over one or more axes (``DML_ARGMIN_OPERATOR_DESC``).

    Fields, rules and errors are those of `ArgmaxOperatorDesc`. From feature level 3_0.
    """

    operator_type: ClassVar[str] = "ARGMIN"

    def __init__(
        self,
        input_tensor: TensorDesc,
        output_tensor: TensorDesc,
        axes: _Ints,
        axis_direction: AxisDirection = AxisDirection.INCREASING,
    ) -> None:
        super().__init__(input_tensor, output_tensor, axes, axis_direction)


@dataclass(frozen=True, init=False)
class ReduceOperatorDesc:
    """REDUCE with a function that selects (``DML_REDUCE_OPERATOR_DESC``). From feature level 1_0.

    ARGMAX and ARGMIN are `ArgmaxOperatorDesc` and `ArgminOperatorDesc` with INCREASING. MAX and MIN
    give that element's value, bit for bit: the first NaN's, if any, and of -0.0 and +0.0 the first.

    Args:
        function: ARGMAX, ARGMIN, MAX or MIN.
        input_tensor: any layout; a type and rank of `FEATURE_TABLE`.
        output_tensor: sizes of the input except 1 on each of `axes`. Of ARGMAX and ARGMIN: INT64,
            INT32, UINT64 or UINT32, able to hold every index. Of MAX and MIN: the input's type.
        axes: at least one axis, each less than the dimension count, none twice. Stored as a tuple.

    Raises:
        TypeError: a field is not of its type.
        ValueError: another function, a type of no level, a rule above broken, or an overlap.
    """

    operator_type: ClassVar[str] = "REDUCE"

    function: ReduceFunction
    input_tensor: TensorDesc
    output_tensor: TensorDesc
    axes: tuple[int, ...]

    def __init__(self, function: ReduceFunction, input_tensor: TensorDesc, output_tensor: TensorDesc, axes: _Ints) -> None:
        _store(
            self,
            function=as_enum("function", function, ReduceFunction),
            input_tensor=_as_tensor("input_tensor", input_tensor),
            output_tensor=_as_tensor("output_tensor", output_tensor),
            axes=_as_ints("axes", axes, " (AxisCount is its length)"),
        )
        if self.function not in (ReduceFunction.ARGMAX, ReduceFunction.ARGMIN, ReduceFunction.MAX, ReduceFunction.MIN):
            raise ValueError(f"function is {self.function.name}, which is not supported; it must be ARGMAX, ARGMIN, MAX or MIN")
        _check_arg(self)

    @property
    def gives_values(self) -> bool:
        """Whether the output has values (MAX and MIN), not indices."""
        return self.function in (ReduceFunction.MAX, ReduceFunction.MIN)


OperatorDesc = TopKOperatorDesc | TopK1OperatorDesc | ArgmaxOperatorDesc | ArgminOperatorDesc | ReduceOperatorDesc
"""Any operator desc."""


# -- wgdml's own operator --

_NAN_RULES = ("greatest", "last", "first")
_INTEGERS = tuple(t for t in DataType if t not in _FLOATS)


@dataclass(frozen=True)
class SelectOperatorDesc:
    """The first `k` of a span of each sequence: TOP_K1 and ARGMAX, and what DirectML lacks.

    It is wgdml's own, so any feature level takes it. What lies in the tensors is read when the
    recorded work runs, and nothing comes back to the host. Numbers beyond the axis, or beyond `k`,
    are cut to it then; negative ones are 0.

    Args:
        input_tensor: any layout and type. Sizes other than those of `axes` are the outputs', or 1:
            then all sequences along that dimension are spans of one.
        k: 1 to the size of the axis; 1 of several axes.
        axes: at least one axis, each less than the dimension count, none twice. Stored as a tuple.
        axis_direction: DECREASING selects the largest, largest first; INCREASING the smallest.
        output_value_tensor: `k` on the axis, or 1 on several; type of the input. None: not wanted.
        output_index_tensor: the same sizes; INT64, INT32, UINT64 or UINT32, able to hold every
            index, or the payload's type. One of the outputs at least is wanted.
        lengths_tensor: how many items of each sequence take part; any integers. Sizes of the
            outputs with 1 on `axes`, or 1. None: all to the end of the axis.
        starts_tensor: the first item of each sequence that takes part, as `lengths_tensor`.
        counts_tensor: how many ranks are wanted of each sequence, as `lengths_tensor`. None: `k`.
        payload_tensor: what is written in place of indices, of 32 or 64 bits. Sizes of the outputs
            but for the axis, which has the input's; or 1. For a single axis.
        sorted: False allows any order of the `k`.
        nan: "greatest" than every number, "last" in both directions, or "first" in both.
        select_last_index: of equal elements, the last one comes first. For `k` = 1.
        longest: promises that no length in `lengths_tensor` is larger. Larger ones are cut to it.
            None: the axis.

    Ranks without an item have index -1, all ones, and the last value of the type in the order: an
    infinity, or the least or greatest integer. Indices count along the axis from its beginning, and
    over several axes row-major.

    Raises:
        TypeError: a field is not of its type.
        ValueError: a broken rule above, or an overlapping output.
    """

    operator_type: ClassVar[str] = "SELECT"

    input_tensor: TensorDesc
    k: int
    axes: Sequence[int]
    axis_direction: AxisDirection
    output_value_tensor: TensorDesc | None = None
    output_index_tensor: TensorDesc | None = None
    lengths_tensor: TensorDesc | None = None
    starts_tensor: TensorDesc | None = None
    counts_tensor: TensorDesc | None = None
    payload_tensor: TensorDesc | None = None
    sorted: bool = True
    nan: str = "greatest"
    select_last_index: bool = False
    longest: int | None = None

    def __post_init__(self) -> None:
        source = _as_tensor("input_tensor", self.input_tensor)
        _store(self, k=_as_int("k", self.k), axes=_as_ints("axes", self.axes, " (AxisCount is its length)"))
        as_enum("axis_direction", self.axis_direction, AxisDirection)
        for field in ("sorted", "select_last_index"):
            if not isinstance(getattr(self, field), bool):
                raise TypeError(f"{field} is {getattr(self, field)!r}; it must be True or False")
        _require(
            isinstance(self.nan, str) and self.nan in _NAN_RULES,
            "nan",
            repr(self.nan),
            f"it must be one of {', '.join(_NAN_RULES)}",
        )
        if self.longest is not None:
            _store(self, longest=_as_int("longest", self.longest))
            holds = self.longest >= 1 and self.lengths_tensor is not None
            _require(holds, "longest", self.longest, "it must be at least 1, and given with a lengths_tensor alone")
        _check_axes(self.axes, source)
        size = source.sizes[self.axes[0]] if len(self.axes) == 1 else 1
        _require(1 <= self.k <= size, "k", self.k, f"it must be from 1 to {size}, the size of a single axis, or 1 of several")
        serves = self.k == 1 or not self.select_last_index
        _require(serves, "select_last_index", f"True with k = {self.k}", "it must be False for k over 1")
        _check_select_outputs(self)
        _check_select_inputs(self)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes of the batch, and of the input on `axes`."""
        output = self.output_value_tensor or self.output_index_tensor
        assert output is not None
        source = self.input_tensor.sizes
        return tuple(source[d] if d in self.axes else size for d, size in enumerate(output.sizes))

    def strides_of(self, tensor: TensorDesc) -> tuple[int, ...]:
        """The strides of a tensor that is read, with 0 where it is of size 1."""
        return tuple(0 if size == 1 else stride for size, stride in zip(tensor.sizes, tensor.element_strides, strict=True))


# -- feature levels --


def required_feature_level(desc: OperatorDesc) -> FeatureLevel:
    """The lowest feature level whose row of `FEATURE_TABLE` takes `desc`.

    Raises:
        TypeError: `desc` is not an operator desc.
    """
    use = _use_of(desc)
    # A desc is checked against the last row when it is made, so one is always found.
    return next(row.level for row in FEATURE_TABLE[use.operator] if not any(_lacks(row, use)))


def check_feature_level(desc: OperatorDesc, level: FeatureLevel) -> None:
    """Check that a device opened at `level` takes `desc`, by the rows of `FEATURE_TABLE`.

    Raises:
        TypeError: `desc` is not an operator desc, or `level` not a `FeatureLevel`.
        ValueError: `level` does not take it. It names what the level lacks, and the level needed.
    """
    use = _use_of(desc)
    as_enum("level", level, FeatureLevel)
    required = required_feature_level(desc)
    if required <= level:
        return
    rows = [row for row in FEATURE_TABLE[use.operator] if row.level <= level]
    lacking = "; ".join(_lacks(rows[-1], use)) if rows else "the operator does not exist at this level"
    raise ValueError(f"{use.operator} at feature level {level.name}: {lacking}; feature level {required.name} takes it")


def supports_data_type(data_type: DataType | int, level: FeatureLevel) -> bool:
    """Whether tensors of `data_type` are supported at `level`, by some operator.

    Answers ``CheckFeatureSupport`` with ``DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT`` for the operators
    here: true from the first row of `FEATURE_TABLE` with `data_type` among its types. FLOAT32,
    FLOAT16 and UINT32 are supported from 1_0 (REDUCE). The other integers of up to 32 bits are from
    2_1 (REDUCE, TOP_K, TOP_K1). INT64 and UINT64 are from 3_0 (as indices of ARGMAX, ARGMIN and
    REDUCE). Those of `OTHER_DATA_TYPES` never are.

    Raises:
        TypeError: `data_type` is no `DataType` nor number of `OTHER_DATA_TYPES`; `level` no level.
    """
    as_enum("level", level, FeatureLevel)
    if type(data_type) is int and data_type in OTHER_DATA_TYPES:
        return False
    as_enum("data_type", data_type, DataType)
    return any(
        row.level <= level and data_type in (*row.value_types, *row.index_types) for rows in FEATURE_TABLE.values() for row in rows
    )


class _Use(NamedTuple):
    """What an operator desc asks of a row of the feature table."""

    operator: str  # a key of the table
    rank: int
    value_type: DataType
    index_field: str
    index_type: DataType | None  # None without an output of indices


def _use_of(desc: object) -> _Use:
    if not isinstance(desc, _TopKOperatorDesc | _ArgOperatorDesc | ReduceOperatorDesc):
        raise TypeError(f"desc is {desc!r}, of type {type(desc).__name__}; it must be an operator desc")
    source = desc.input_tensor
    if isinstance(desc, ReduceOperatorDesc) and desc.gives_values:
        return _Use(f"REDUCE {desc.function.name}", source.dimension_count, source.data_type, "", None)
    index_field = "output_index_tensor" if isinstance(desc, _TopKOperatorDesc) else "output_tensor"
    indices: TensorDesc = getattr(desc, index_field)
    return _Use(desc.operator_type, source.dimension_count, source.data_type, index_field, indices.data_type)


def _lacks(row: FeatureRow, use: _Use) -> Iterator[str]:
    """What `use` asks for and `row` lacks, a phrase each."""
    if use.rank not in row.ranks:
        ranks = " to ".join(str(rank) for rank in sorted({row.ranks[0], row.ranks[-1]}))
        yield f"input_tensor.dimension_count is {use.rank}; it must be {ranks}"
    if use.value_type not in row.value_types:
        accepted = _names(row.value_types)
        yield f"input_tensor.data_type is {use.value_type.name}; it must be one of {accepted}"
    if use.index_type is not None and use.index_type not in row.index_types:
        accepted = _names(row.index_types)
        yield f"{use.index_field}.data_type is {use.index_type.name}; it must be one of {accepted}"


def _names(data_types: tuple[DataType, ...]) -> str:
    return ", ".join(data_type.name for data_type in data_types)


# -- rules of the operators --


def _check_arg(desc: _ArgOperatorDesc | ReduceOperatorDesc) -> None:
    source, output, axes = desc.input_tensor, desc.output_tensor, desc.axes
    _check_some_level_takes(desc)
    _check_axes(axes, source)
    sizes = tuple(1 if d in axes else size for d, size in enumerate(source.sizes))
    _check_output("output_tensor", output, sizes, f"the sizes of input_tensor with 1 on axes {axes}")
    if isinstance(desc, ReduceOperatorDesc) and desc.gives_values:
        _check_value_type("output_tensor", output, source)
    else:
        _check_index_type("output_tensor", output, source.sizes, axes)


def _check_select_outputs(desc: SelectOperatorDesc) -> None:
    source, outputs = desc.input_tensor, ("output_value_tensor", "output_index_tensor")
    given = {field: _as_tensor(field, tensor) for field in outputs if (tensor := getattr(desc, field)) is not None}
    if not given:
        raise ValueError("output_value_tensor and output_index_tensor are None; at least one must be given")
    first = next(iter(given.values()))
    batch = desc.sizes if first.dimension_count == source.dimension_count else source.sizes
    fits = all(n in (1, m) for n, m in zip(source.sizes, batch, strict=True))
    _require(fits, "input_tensor.sizes", source.sizes, f"each must be 1 or that of the outputs, {first.sizes}, but on axes")
    sizes = tuple(desc.k if d in desc.axes else n for d, n in enumerate(batch))
    for field, tensor in given.items():
        _check_output(field, tensor, sizes, f"those of the batch with {desc.k} on axes {desc.axes}")
    if desc.output_value_tensor is not None:
        _check_value_type("output_value_tensor", desc.output_value_tensor, source)


def _check_select_inputs(desc: SelectOperatorDesc) -> None:
    own = tuple(1 if d in desc.axes else size for d, size in enumerate(desc.sizes))
    for field in ("lengths_tensor", "starts_tensor", "counts_tensor"):
        tensor = getattr(desc, field)
        if tensor is not None:
            _check_type(field, _as_tensor(field, tensor), _INTEGERS)
            _check_broadcast(field, tensor, own)
    if desc.output_index_tensor is None:
        if desc.payload_tensor is not None:
            raise ValueError("payload_tensor is given without an output_index_tensor; it must have one to be written to")
        return
    if desc.payload_tensor is None:
        _check_type("output_index_tensor", desc.output_index_tensor, _ARG_INDICES)
        _check_index_type("output_index_tensor", desc.output_index_tensor, desc.sizes, desc.axes)
        return
    payload = _as_tensor("payload_tensor", desc.payload_tensor)
    if len(desc.axes) > 1:
        raise ValueError(f"payload_tensor is given for axes {desc.axes}; it must be for a single axis")
    _check_type("payload_tensor", payload, tuple(t for t in DataType if t.itemsize >= 4))
    _check_broadcast("payload_tensor", payload, desc.sizes)
    _check_type("output_index_tensor", desc.output_index_tensor, (payload.data_type,))


def _check_index_type(field: str, indices: TensorDesc, sizes: tuple[int, ...], axes: Sequence[int]) -> None:
    length = math.prod(sizes[axis] for axis in axes)
    check_holds(f"{field}.data_type", indices.data_type, length, f" over axes {axes} of input_tensor")


def check_holds(name: str, kind: DataType | np.dtype[Any], length: int, over: str = "") -> None:
    """Refuse a data type that does not hold the last index of a sequence of this length."""
    largest = int(np.iinfo(kind.numpy_dtype if isinstance(kind, DataType) else kind).max)
    holds = f"{kind.name}, which holds indices up to {largest}"
    _require(length <= largest + 1, name, holds, f"it must hold {length - 1}, the last index{over}")


def _check_type(field: str, tensor: TensorDesc, types: tuple[DataType, ...], reason: str = "") -> None:
    rule = ("" if len(types) == 1 else "one of ") + _names(types) + reason
    _require(tensor.data_type in types, f"{field}.data_type", tensor.data_type.name, f"it must be {rule}")


def _check_broadcast(field: str, tensor: TensorDesc, sizes: tuple[int, ...]) -> None:
    fits = tensor.dimension_count == len(sizes) and all(n in (1, m) for n, m in zip(tensor.sizes, sizes, strict=True))
    _require(fits, f"{field}.sizes", tensor.sizes, f"it must be {sizes}, or 1 in some dimensions")


def _check_some_level_takes(desc: object) -> None:
    use = _use_of(desc)
    most = FEATURE_TABLE[use.operator][-1]  # includes all the rows before it
    if lacking := "; ".join(_lacks(most, use)):
        raise ValueError(f"{use.operator} at every feature level: {lacking}")


def _check_axes(axes: Sequence[int], source: TensorDesc) -> None:
    _require(bool(axes), "axes", axes, "it must have at least one axis")
    for position, axis in enumerate(axes):
        _check_axis(f"axes[{position}]", axis, source)
        once = axis not in axes[:position]
        _require(once, f"axes[{position}]", f"{axis}, a duplicate", "axes must name each axis once")


def _check_axis(field: str, axis: int, source: TensorDesc) -> None:
    last = source.dimension_count - 1
    _require(0 <= axis <= last, field, axis, f"it must be from 0 to {last}, less than the dimension count of input_tensor")


def _check_value_type(field: str, values: TensorDesc, source: TensorDesc) -> None:
    _check_type(field, values, (source.data_type,), ", the type of input_tensor")


def _check_output(field: str, tensor: TensorDesc, sizes: tuple[int, ...], reason: str) -> None:
    """Refuse other sizes, and elements that share an address, which DirectML leaves open."""
    own, own_address = tensor.sizes, "needs an address of its own"
    rule = f"it must have {len(sizes)}, as many as input_tensor"
    _require(len(own) == len(sizes), f"{field}.sizes", f"{own}, {len(own)} dimensions", rule)
    _require(own == sizes, f"{field}.sizes", own, f"it must be {sizes}, {reason}")
    for dimension, (size, stride) in enumerate(zip(own, tensor.element_strides, strict=True)):
        rule = f"an output must not be broadcast: every element {own_address}"
        _require(size == 1 or stride > 0, f"{field}.strides[{dimension}]", f"0 with size {size}", rule)
    apart = not overlaps_itself(own, tensor.element_strides)
    overlap = f"{tensor.strides}, which lets elements overlap with sizes {own}"
    _require(apart, f"{field}.strides", overlap, f"every element of an output {own_address}")


def overlaps_itself(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two elements of a tensor share an address.

    They do exactly when ``sum(d_i * stride_i) == 0`` for integers ``|d_i| < size_i``, not all 0.
    """
    # How far each dimension reaches, and its stride.
    dims = [(size - 1, stride) for size, stride in zip(sizes, strides, strict=True) if size > 1]
    if 0 in (stride for _, stride in dims):
        return True
    # Such dimensions do not matter to the others. Nested layouts have no others.
    while (zero := next((i for i in range(len(dims)) if _must_be_zero(dims, i)), None)) is not None:
        del dims[zero]
    return bool(dims) and (any(_meet(a, b) for a, b in combinations(dims, 2)) or _cancel(dims))


def _cancel(dims: list[tuple[int, int]]) -> bool:
    """Whether steps along some of at least three dimensions undo steps along others.

    The dimensions are parted in two with about as many sums of steps each, and those are compared.
    An output has fewer than 2**32 elements, so that a part has at most some 2**24 sums.
    """
    parts: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for dim in sorted(dims, reverse=True):
        min(parts, key=lambda part: math.prod(2 * reach + 1 for reach, _ in part)).append(dim)
    sums = [_sums_of_steps(part) for part in parts if len(part) > 1]
    if any(np.count_nonzero(s) < s.size - 1 for s in sums):
        return True  # within a part
    positive = [s[s > 0] for s in sums]  # the negative ones are their mirror image
    if len(sums) > 1:
        return bool(np.intersect1d(positive[0], positive[1]).size)
    ((reach, stride),) = min(parts, key=len)
    return bool(np.any((positive[0] % stride == 0) & (positive[0] // stride <= reach)))


def _sums_of_steps(dims: list[tuple[int, int]]) -> npt.NDArray[np.int64]:
    """``sum(d_i * stride_i)`` of every ``|d_i| <= reach_i``, in 63 bits: two reach below 2**31."""
    sums = np.zeros(1, np.int64)
    for reach, stride in dims:
        sums = np.add.outer(sums, np.arange(-reach, reach + 1, dtype=np.int64) * stride).ravel()
    return sums


def _must_be_zero(dims: list[tuple[int, int]], i: int) -> bool:
    """Whether d_i is 0 in every solution. ``dims``: how far each dimension reaches, its stride."""
    reach, stride = dims[i]
    others = dims[:i] + dims[i + 1 :]
    if stride > sum(other_reach * other for other_reach, other in others):
        return True  # one step is more than the others can take back
    divisor = math.gcd(*(other for _, other in others))
    return reach < divisor // math.gcd(divisor, stride)  # else some d_i makes a multiple


def _meet(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether two dimensions solve it: d_a = stride_b / divisor, d_b = -stride_a / divisor."""
    divisor = math.gcd(a[1], b[1])
    return b[1] // divisor <= a[0] and a[1] // divisor <= b[0]


# -- Python types --


_E = TypeVar("_E", bound=Enum)


def _require(holds: bool, field: str, value: object, rule: str) -> None:
    """``ValueError`` for a value that breaks a rule."""
    if not holds:
        raise ValueError(f"{field} is {value}; {rule}")


def _store(desc: object, **fields: object) -> None:
    """Set fields of a frozen dataclass while it is being made."""
    for name, value in fields.items():
        object.__setattr__(desc, name, value)


def _as_int(field: str, value: object) -> int:
    if not isinstance(value, bool | np.bool_):  # a bool is an int, but never what is meant
        try:
            return operator.index(value)  # type: ignore[arg-type]  # raises for what is no integer
        except TypeError:
            pass
    raise TypeError(f"{field} is {value!r}, of type {type(value).__name__}; it must be an integer")


def _as_ints(field: str, values: _Ints, hint: str = "") -> tuple[int, ...]:
    if isinstance(values, np.ndarray):
        is_sequence = values.ndim == 1
    else:  # bytes are integers in Python, but never what is meant
        is_sequence = isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray)
    if not is_sequence:
        raise TypeError(f"{field} is {values!r}, of type {type(values).__name__}; it must be a sequence of integers{hint}")
    return tuple(_as_int(f"{field}[{position}]", value) for position, value in enumerate(values))


def as_enum(field: str, value: object, enum: type[_E]) -> _E:
    """`value`, where it is a member of `enum`. `TypeError` for numbers and names of members."""
    if not isinstance(value, enum):
        raise TypeError(
            f"{field} is {value!r}, of type {type(value).__name__}; it must be a member of "
            f"{enum.__name__}: {', '.join(member.name for member in enum)}"
        )
    return value


def _as_tensor(field: str, value: TensorDesc) -> TensorDesc:
    if not isinstance(value, TensorDesc):
        raise TypeError(f"{field} is {value!r}, of type {type(value).__name__}; it must be a TensorDesc")
    return value
