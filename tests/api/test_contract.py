"""The contract layer: every rule, every row of the feature table, every error. No GPU."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
import pickle
import re
import time
from typing import get_type_hints

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wgdml import contract
from wgdml.contract import (
    FEATURE_TABLE,
    HIGHEST_FEATURE_LEVEL,
    ArgmaxOperatorDesc,
    ArgminOperatorDesc,
    AxisDirection,
    DataType,
    FeatureLevel,
    ReduceFunction,
    ReduceOperatorDesc,
    TensorDesc,
    TopK1OperatorDesc,
    TopKOperatorDesc,
    check_feature_level,
    required_feature_level,
    supports_data_type,
)

FLOAT32 = DataType.FLOAT32
UINT32 = DataType.UINT32
INT64 = DataType.INT64
UINT64 = DataType.UINT64
INCREASING = AxisDirection.INCREASING
DECREASING = AxisDirection.DECREASING

OPERATORS = ("TOP_K", "TOP_K1", "ARGMAX", "ARGMIN", "REDUCE_ARGMAX", "REDUCE_ARGMIN", "REDUCE_MAX", "REDUCE_MIN")


def raises(error, *phrases):
    """The error, with a message that holds these in order: the field, its value and the rule."""
    return pytest.raises(error, match="(?s)" + ".*".join(re.escape(phrase) for phrase in phrases))


def make(operator, value_type=FLOAT32, index_type=UINT32, rank=4):
    """A valid desc of the operator with the types and rank given; MAX and MIN have no indices."""
    source = TensorDesc(value_type, (3,) * rank)
    if operator.startswith("TOP_K"):
        sizes = (2,) + (3,) * (rank - 1)
        tensors = (source, TensorDesc(value_type, sizes), TensorDesc(index_type, sizes))
        if operator == "TOP_K":
            return TopKOperatorDesc(*tensors, 0, 2)
        return TopK1OperatorDesc(*tensors, 0, 2, INCREASING)
    output = TensorDesc(value_type if index_type is None else index_type, (1,) + (3,) * (rank - 1))
    if operator == "ARGMAX":
        return ArgmaxOperatorDesc(source, output, (0,))
    if operator == "ARGMIN":
        return ArgminOperatorDesc(source, output, (0,))
    return ReduceOperatorDesc(ReduceFunction[operator.removeprefix("REDUCE_")], source, output, (0,))


def top_k_fields(**changes):
    """Fields of a valid top-k desc: input (4, 5), k = 2 on axis 1."""
    fields = {
        "input_tensor": TensorDesc(FLOAT32, (4, 5)),
        "output_value_tensor": TensorDesc(FLOAT32, (4, 2)),
        "output_index_tensor": TensorDesc(UINT32, (4, 2)),
        "axis": 1,
        "k": 2,
    }
    return fields | changes


def arg_fields(**changes):
    """Fields of a valid argmax desc: input (4, 5, 6), axes 0 and 2."""
    fields = {
        "input_tensor": TensorDesc(FLOAT32, (4, 5, 6)),
        "output_tensor": TensorDesc(UINT32, (1, 5, 1)),
        "axes": (0, 2),
    }
    return fields | changes


TOP_K_MAKERS = {
    "TOP_K": lambda **fields: TopKOperatorDesc(**fields),
    "TOP_K1": lambda **fields: TopK1OperatorDesc(**fields, axis_direction=DECREASING),
}
ARG_MAKERS = {
    "ARGMAX": ArgmaxOperatorDesc,
    "ARGMIN": ArgminOperatorDesc,
    "REDUCE_ARGMAX": lambda **fields: ReduceOperatorDesc(function=ReduceFunction.ARGMAX, **fields),
    "REDUCE_ARGMIN": lambda **fields: ReduceOperatorDesc(function=ReduceFunction.ARGMIN, **fields),
}
each_top_k = pytest.mark.parametrize("make_top_k", TOP_K_MAKERS.values(), ids=TOP_K_MAKERS)
each_output = pytest.mark.parametrize(("field", "data_type"), [("output_value_tensor", FLOAT32), ("output_index_tensor", UINT32)])
each_arg = pytest.mark.parametrize("make_arg", ARG_MAKERS.values(), ids=ARG_MAKERS)

# What is not an integer, though Python or NumPy may let it pass for one.
NOT_INTEGERS = (True, False, np.True_, 1.0, np.float32(1), "1", None, 1j, np.array([1]), np.array(1.0))
INTEGERS = (1, np.int8(1), np.uint64(1), np.int64(1), np.array(1))


# --------------------------------------------------------------------------------------------------
# The module
# --------------------------------------------------------------------------------------------------


def test_public_names_are_documented():
    for name in contract.__all__:
        assert hasattr(contract, name)
        if isinstance(getattr(contract, name), type):
            assert getattr(contract, name).__doc__


# --------------------------------------------------------------------------------------------------
# Enumerations
# --------------------------------------------------------------------------------------------------


def test_enumerations_have_the_numbers_of_directml():
    assert {t.name: t.value for t in DataType} == {
        "FLOAT32": 1,
        "FLOAT16": 2,
        "UINT32": 3,
        "UINT16": 4,
        "UINT8": 5,
        "INT32": 6,
        "INT16": 7,
        "INT8": 8,
        "UINT64": 10,
        "INT64": 11,
    }
    assert {d.name: d.value for d in AxisDirection} == {"INCREASING": 0, "DECREASING": 1}
    functions = "ARGMAX ARGMIN AVERAGE L1 L2 LOG_SUM LOG_SUM_EXP MAX MIN MULTIPLY SUM SUM_SQUARE"
    assert [(f.name, f.value) for f in ReduceFunction] == list(zip(functions.split(), range(12), strict=True))
    levels = "1_0 2_0 2_1 3_0 3_1 4_0 4_1 5_0 5_1 5_2 6_0 6_1 6_2 6_3 6_4"
    assert [level.name for level in FeatureLevel] == [f"LEVEL_{level}" for level in levels.split()]
    for level in FeatureLevel:
        major, minor = level.name.removeprefix("LEVEL_").split("_")
        assert level.value == (int(major) << 12) + (int(minor) << 8)
    assert HIGHEST_FEATURE_LEVEL is FeatureLevel.LEVEL_6_4


@pytest.mark.parametrize("data_type", DataType)
def test_data_type_and_numpy(data_type):
    assert data_type.numpy_dtype == np.dtype(data_type.name.lower())
    assert data_type.itemsize == int(re.sub(r"\D", "", data_type.name)) // 8
    spellings = (data_type.numpy_dtype, data_type.numpy_dtype.type, data_type.numpy_dtype.str)
    for dtype in spellings:
        assert DataType.from_dtype(dtype) is data_type


def test_from_dtype_takes_every_c_integer():
    for kind in "bBhHiIlLqQ":  # two of these are the same type under two names
        assert DataType.from_dtype(kind).itemsize == np.dtype(kind).itemsize


@pytest.mark.parametrize(
    "dtype",
    [
        *(
            "float64",
            float,
            bool,
            complex,
            object,
            "S4",
            "U2",
            "M8[s]",
            "V4",
            [("x", "f4")],
            None,
            "no such type",
        ),
        *(ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4),
    ],
    ids=repr,
)
def test_from_dtype_refuses(dtype):
    with raises(TypeError, "dtype is", "must be one of float32, float16, uint32"):
        DataType.from_dtype(dtype)


@pytest.mark.parametrize("text", ["(1,2", "f4,,(", "f4,f4,("])
def test_from_dtype_refuses_what_numpy_cannot_parse(text):
    with raises(TypeError, "dtype is", "which NumPy does not know"):
        DataType.from_dtype(text)


def test_from_dtype_refuses_a_foreign_byte_order():
    with raises(TypeError, f"dtype is {np.dtype('f4').newbyteorder()}", "native byte order"):
        DataType.from_dtype(np.dtype("f4").newbyteorder())


# --------------------------------------------------------------------------------------------------
# TensorDesc
# --------------------------------------------------------------------------------------------------


def test_tensor_desc_of_a_packed_tensor():
    desc = TensorDesc(FLOAT32, (2, 3, 4))
    assert desc.data_type is FLOAT32
    assert desc.sizes == (2, 3, 4)
    assert desc.strides is None
    assert desc.element_strides == (12, 4, 1)
    assert desc.dimension_count == 3
    assert desc.element_count == 24
    assert desc.minimum_size_in_bytes == desc.total_tensor_size_in_bytes == 96
    assert desc.guaranteed_base_offset_alignment == 0


def test_tensor_desc_of_a_strided_tensor():
    desc = TensorDesc(DataType.INT8, (2, 3), (0, 7), 64, 16)
    assert desc.strides == desc.element_strides == (0, 7)
    assert desc.element_count == 6
    assert desc.minimum_size_in_bytes == 16  # roundup4(2 * 7 + 1)
    assert desc.total_tensor_size_in_bytes == 64
    assert desc.guaranteed_base_offset_alignment == 16


def test_tensor_desc_is_a_value():
    desc = TensorDesc(FLOAT32, [2, 3], strides=np.array([3, 1]))
    assert desc == TensorDesc(FLOAT32, (2, 3), (3, 1), 24)
    assert hash(desc) == hash(TensorDesc(FLOAT32, (2, 3), (3, 1), 24))
    assert desc != TensorDesc(FLOAT32, (2, 3), (4, 1))
    assert pickle.loads(pickle.dumps(desc)) == copy.deepcopy(desc) == desc
    assert dataclasses.replace(desc, data_type=UINT32) == TensorDesc(UINT32, (2, 3), (3, 1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        desc.sizes = (1,)
    assert "sizes=(2, 3)" in repr(desc)


@pytest.mark.parametrize("sizes", [(2, 3), [2, 3], range(2, 4), np.array([2, 3], np.uint8)], ids=repr)
def test_sizes_and_strides_may_be_any_sequence(sizes):
    desc = TensorDesc(FLOAT32, sizes, sizes)
    assert desc.sizes == desc.strides == (2, 3)
    assert all(type(number) is int for number in desc.sizes + desc.strides)


@pytest.mark.parametrize("integer", INTEGERS, ids=repr)
def test_tensor_desc_takes_any_integer(integer):
    desc = TensorDesc(DataType.INT8, (integer,), (integer,), integer + 3, integer)
    assert desc == TensorDesc(DataType.INT8, (1,), (1,), 4, 1)
    assert type(desc.total_tensor_size_in_bytes) is type(desc.guaranteed_base_offset_alignment) is int


@pytest.mark.parametrize("value", NOT_INTEGERS, ids=repr)
def test_tensor_desc_refuses_what_is_not_an_integer(value):
    rule = (repr(value), type(value).__name__, "must be an integer")
    with raises(TypeError, "sizes[1] is", *rule):
        TensorDesc(FLOAT32, (1, value))
    with raises(TypeError, "strides[0] is", *rule):
        TensorDesc(FLOAT32, (1, 1), (value, 1))
    with raises(TypeError, "guaranteed_base_offset_alignment is", *rule):
        TensorDesc(FLOAT32, (1,), guaranteed_base_offset_alignment=value)
    if value is not None:
        with raises(TypeError, "total_tensor_size_in_bytes is", *rule):
            TensorDesc(FLOAT32, (1,), total_tensor_size_in_bytes=value)


@pytest.mark.parametrize("value", [3, "12", b"12", {1, 2}, {1: 2}, iter([1]), None, np.ones((1, 1), int), np.array(1)])
def test_tensor_desc_refuses_what_is_not_a_sequence(value):
    with raises(TypeError, "sizes is", type(value).__name__, "must be a sequence of integers"):
        TensorDesc(FLOAT32, value)
    if value is not None:
        with raises(TypeError, "strides is", type(value).__name__, "must be a sequence of integers"):
            TensorDesc(FLOAT32, (1,), value)


@pytest.mark.parametrize("value", [1, "float32", np.dtype("f4"), np.float32, None, INCREASING], ids=repr)
def test_tensor_desc_refuses_what_is_not_a_data_type(value):
    with raises(TypeError, "data_type is", repr(value), "must be a member of DataType: FLOAT32, FLOAT16"):
        TensorDesc(value, (1,))


@pytest.mark.parametrize("count", [0, 9, 100])
def test_dimension_count_out_of_range(count):
    with raises(ValueError, f"sizes has {count} dimensions", "1 to 8"):
        TensorDesc(FLOAT32, (1,) * count)


@pytest.mark.parametrize("size", [0, -1, 2**32, 2**64, -(2**70)])
def test_size_out_of_range(size):
    with raises(ValueError, f"sizes[1] is {size};", "from 1 to 2**32 - 1"):
        TensorDesc(FLOAT32, (2, size))


def test_element_count():
    assert TensorDesc(DataType.INT8, (2**32 - 1,)).element_count == 2**32 - 1
    assert TensorDesc(UINT64, (65535, 65537)).minimum_size_in_bytes == 8 * (2**32 - 1)
    for sizes in ((2**16, 2**16), (2**32 - 1, 2), (2**31, 1, 2)):
        with raises(ValueError, f"sizes is {sizes}, {math.prod(sizes)} elements", "at most 2**32 - 1"):
            TensorDesc(DataType.INT8, sizes)
        with raises(ValueError, "sizes is", "at most 2**32 - 1"):  # repeated elements count too
            TensorDesc(DataType.INT8, sizes, (0,) * len(sizes))


@pytest.mark.parametrize("strides", [(), (1,), (1, 1, 1)])
def test_one_stride_for_each_size(strides):
    with raises(ValueError, f"strides has {len(strides)} dimensions", "each of the 2 sizes (3, 4)"):
        TensorDesc(FLOAT32, (3, 4), strides)


@pytest.mark.parametrize("stride", [-1, 2**32, 2**64])
def test_stride_out_of_range(stride):
    with raises(ValueError, f"strides[0] is {stride};", "from 0 to 2**32 - 1"):
        TensorDesc(FLOAT32, (1, 4), (stride, 1))


def test_extent_does_not_wrap_around_in_32_bits():
    desc = TensorDesc(FLOAT32, (2, 2), (2**32 - 1, 2**31))
    assert desc.minimum_size_in_bytes == 4 * (2**32 + 2**31)
    with raises(ValueError, "total_tensor_size_in_bytes is 2147483648", str(4 * (2**32 + 2**31))):
        TensorDesc(FLOAT32, (2, 2), (2**32 - 1, 2**31), 2**31)  # enough, were there 32 bits only


def test_extent_fits_64_bits():
    widest = 2**32 - 1
    assert TensorDesc(DataType.INT8, (widest,), (widest,)).minimum_size_in_bytes < 2**64
    with raises(ValueError, f"strides is ({widest},)", "bytes", "INT16", "below 2**64"):
        TensorDesc(DataType.INT16, (widest,), (widest,))
    sizes, stride = (2**30 + 1, 2), 2**31 - 1  # the very edge: 2**30 * stride + 2**30 is 2**61
    assert TensorDesc(UINT64, sizes, (stride, 2**30 - 2)).minimum_size_in_bytes == 2**64 - 8
    with raises(ValueError, "strides is", "18446744073709551616 bytes", str(sizes), "UINT64", "below 2**64"):
        TensorDesc(UINT64, sizes, (stride, 2**30 - 1))


def test_total_tensor_size():
    for total in (24, 25, 28, 2**32, 2**64 - 1):
        assert TensorDesc(FLOAT32, (2, 3), None, total).total_tensor_size_in_bytes == total
    for total in (23, 0, -1, 2**64):
        with raises(ValueError, f"total_tensor_size_in_bytes is {total};", "at least 24", "(2, 3)", "FLOAT32"):
            TensorDesc(FLOAT32, (2, 3), None, total)
    with raises(ValueError, "total_tensor_size_in_bytes is 15;", "at least 16", "INT8"):
        TensorDesc(DataType.INT8, (13,), None, 15)  # holds the 13 bytes, but not rounded up to 4


@pytest.mark.parametrize("data_type", DataType)
def test_base_offset_alignment(data_type):
    accepted = {0} | {2**n for n in range(32) if 2**n >= data_type.itemsize}
    for alignment in accepted | {-4, -1, 1, 2, 3, 4, 5, 6, 12, 2**31 + 1, 2**32 - 1, 2**32, 2**40}:
        if alignment in accepted:
            desc = TensorDesc(data_type, (1,), guaranteed_base_offset_alignment=alignment)
            assert desc.guaranteed_base_offset_alignment == alignment
        else:
            with raises(
                ValueError,
                f"guaranteed_base_offset_alignment is {alignment};",
                f"0, or a power of two from {data_type.itemsize}",
            ):
                TensorDesc(data_type, (1,), guaranteed_base_offset_alignment=alignment)


@st.composite
def layouts(draw, max_elements=2000, max_stride=40):
    """Sizes of at most so many elements together, and strides."""
    sizes = []
    for _ in range(draw(st.integers(1, 8))):
        sizes.append(draw(st.integers(1, max(1, min(12, max_elements // math.prod(sizes))))))
    strides = draw(st.lists(st.integers(0, max_stride), min_size=len(sizes), max_size=len(sizes)))
    return tuple(sizes), tuple(strides)


def addresses_of(sizes, strides):
    """Address of every element, in elements, from NumPy's own indices and not from a formula."""
    return sum(index * stride for index, stride in zip(np.indices(sizes), strides, strict=True)).ravel()


@given(layouts(), st.sampled_from(DataType))
def test_minimum_size_against_numpy(layout, data_type):
    sizes, strides = layout
    itemsize = data_type.itemsize
    addresses = addresses_of(sizes, strides)
    touched = np.unique(addresses[:, None] * itemsize + np.arange(itemsize))
    words = np.unique(touched // 4)  # whole 32-bit words are bound
    assert TensorDesc(data_type, sizes, strides).minimum_size_in_bytes == (words[-1] + 1) * 4


@given(layouts(), st.sampled_from(DataType))
def test_packed_strides_against_numpy(layout, data_type):
    sizes, _ = layout
    array = np.empty(sizes, data_type.numpy_dtype)
    desc = TensorDesc(data_type, sizes)
    strides = tuple(stride // array.itemsize for stride in array.strides)
    # NumPy may write anything for a dimension of size 1; it writes what row-major order has.
    assert desc.element_strides == strides
    assert desc.element_count == array.size
    assert 0 <= desc.minimum_size_in_bytes - array.nbytes < 4
    assert desc.minimum_size_in_bytes % 4 == 0


# --------------------------------------------------------------------------------------------------
# Self-overlap of outputs
# --------------------------------------------------------------------------------------------------


def make_output(sizes, strides):
    """An argmax desc with an output of this layout."""
    assert len(sizes) < 8
    source = TensorDesc(FLOAT32, (*sizes, 1), (0,) * (len(sizes) + 1))
    return ArgmaxOperatorDesc(source, TensorDesc(UINT32, (*sizes, 1), (*strides, 0)), (len(sizes),))


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [
        ((3, 4), (4, 1)),  # packed
        ((3, 4), (1, 3)),  # transposed
        ((3, 4), (9, 2)),  # padded
        ((3, 1, 4), (4, 0, 1)),  # 0 in a dimension of size 1
        ((3, 1, 4), (4, 1, 1)),
        ((1, 1), (0, 0)),
        ((2, 2), (3, 2)),  # interleaved: 0 2 3 5
        ((3, 2), (2, 3)),  # interleaved: 0 3 2 5 4 7
        ((2, 3, 2), (1, 4, 2)),
        ((2, 2, 2), (7, 6, 5)),  # only an enumeration tells: 0 5 6 7 11 12 13 18
        ((60000, 60000), (60001, 60000)),  # coprime and large, both dimensions too short to meet
        ((2**20, 2**10), (2**10 + 1, 2**30)),
        ((2**16, 2**16 - 1), (2**16 - 1, 1)),  # 2**32 - 2**16 elements, packed
        ((512, 512, 512), (300001, 517, 1)),  # padded, with no common divisor to go by
        ((2,) * 7, (64, 32, 16, 8, 4, 2, 1)),
    ],
)
def test_output_that_does_not_overlap(sizes, strides):
    make_output(sizes, strides)


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [
        ((3, 4), (1, 1)),
        ((3, 4), (3, 1)),
        ((4, 3), (2, 3)),  # 3 * 2 == 2 * 3
        ((3, 3, 3), (7, 6, 5)),
        ((2, 2, 2), (3, 2, 1)),  # 3 == 2 + 1: no two dimensions meet, three do
        ((2, 2, 2, 2), (9, 4, 3, 2)),  # 9 == 4 + 3 + 2
        ((1000, 1000), (1, 1)),  # sliding windows
        ((60000, 60000), (3, 2)),
        ((2000, 2000), (1500000, 1501000)),  # fewer elements than addresses, too many to enumerate
        ((2**10, 2**10, 2**10), (3, 5, 7)),  # more than may be enumerated, yet certain
    ],
)
def test_output_that_overlaps(sizes, strides):
    with raises(ValueError, f"output_tensor.strides is {(*strides, 0)}", "overlap", "an address of its own"):
        make_output(sizes, strides)


def test_broadcast_output():
    with raises(ValueError, "output_tensor.strides[1] is 0 with size 4", "must not be broadcast"):
        make_output((3, 4), (1, 0))


@pytest.mark.parametrize(
    ("sizes", "strides", "overlaps"),
    [
        ((1000, 1000, 2), (40009, 40013, 7), False),
        ((1000, 1000, 3), (40009, 40013, 8), True),  # twice 4 is 8
        ((2**7, 2**7, 2**7), (2724573685, 2418525393, 3242996796), False),
        ((1600, 1600, 1600), (2724573685, 2418525393, 3242996796), False),  # most elements
        ((10, 25, 14, 23, 24, 2, 12), (83108925, 95268, 4394, 81325726, 82650, 58487, 7205098), False),
        ((16,) * 6, (2724573685, 2418525393, 3242996796, 4052739511, 1800035173, 3999971057), False),
        ((22,) * 6 + (9,), (2724573685, 2418525393, 3242996796, 4052739511, 1800035173, 3999971057, 1), True),
    ],
)
def test_overlap_of_irregular_layouts_is_decided_quickly(sizes, strides, overlaps):
    if overlaps is True and len(sizes) > 3:  # the last stride: what steps along the others make
        strides = (*strides[:-1], abs(3 * strides[0] - 5 * strides[1] + 2 * strides[2] - strides[3]))
    start = time.process_time()
    assert contract.overlaps_itself(sizes, strides) is overlaps
    assert time.process_time() - start < 8


@given(layouts())
def test_overlap_against_enumeration(layout):
    sizes, strides = layout
    sizes, strides = sizes[:7], strides[:7]
    addresses = addresses_of(sizes, strides)
    if np.unique(addresses).size == addresses.size:
        make_output(sizes, strides)
    else:
        with pytest.raises(ValueError, match=r"output_tensor\.strides.*address of its own"):
            make_output(sizes, strides)


def test_overlap_of_every_small_layout():
    for rank in (1, 2, 3):
        for sizes in itertools.product(range(1, 5), repeat=rank):
            for strides in itertools.product(range(9), repeat=rank):
                addresses = {
                    sum(i * stride for i, stride in zip(index, strides, strict=True))
                    for index in itertools.product(*map(range, sizes))
                }
                expected = len(addresses) < math.prod(sizes)
                assert contract.overlaps_itself(sizes, strides) is expected, (sizes, strides)


# --------------------------------------------------------------------------------------------------
# TOP_K and TOP_K1
# --------------------------------------------------------------------------------------------------


@each_top_k
def test_top_k(make_top_k):
    desc = make_top_k(**top_k_fields())
    assert (desc.axis, desc.k) == (1, 2)
    assert desc == copy.deepcopy(desc) == pickle.loads(pickle.dumps(desc))
    assert hash(desc) == hash(copy.deepcopy(desc))
    with pytest.raises(dataclasses.FrozenInstanceError):
        desc.k = 1


def test_top_k1_has_a_direction():
    for direction in AxisDirection:
        assert TopK1OperatorDesc(**top_k_fields(), axis_direction=direction).axis_direction is direction
    for value in (0, 1, True, "INCREASING", None):
        with raises(TypeError, "axis_direction is", repr(value), "AxisDirection: INCREASING, DECREASING"):
            TopK1OperatorDesc(**top_k_fields(), axis_direction=value)
    assert TopK1OperatorDesc(**top_k_fields(), axis_direction=DECREASING) != TopKOperatorDesc(**top_k_fields())


@each_top_k
@pytest.mark.parametrize("field", ["input_tensor", "output_value_tensor", "output_index_tensor"])
@pytest.mark.parametrize("value", [None, (4, 2), FLOAT32, np.ones((4, 2))], ids=repr)
def test_top_k_tensors_are_tensor_descs(make_top_k, field, value):
    with raises(TypeError, f"{field} is {value!r}", "must be a TensorDesc"):
        make_top_k(**top_k_fields(**{field: value}))


@each_top_k
@pytest.mark.parametrize("field", ["axis", "k"])
def test_top_k_integers(make_top_k, field):
    for value in NOT_INTEGERS:
        with raises(TypeError, f"{field} is {value!r}", type(value).__name__, "must be an integer"):
            make_top_k(**top_k_fields(**{field: value}))
    fields = top_k_fields(output_value_tensor=TensorDesc(FLOAT32, (4, 1)), output_index_tensor=TensorDesc(UINT32, (4, 1)), k=1)
    for value in INTEGERS:
        desc = make_top_k(**fields | {field: value})
        assert getattr(desc, field) == 1
        assert type(getattr(desc, field)) is int


@each_top_k
@pytest.mark.parametrize("axis", [-1, 2, 2**40])
def test_top_k_axis_out_of_range(make_top_k, axis):
    with raises(ValueError, f"axis is {axis};", "from 0 to 1", "dimension count of input_tensor"):
        make_top_k(**top_k_fields(axis=axis))


@each_top_k
@pytest.mark.parametrize("k", [-1, 0, 6, 2**40])
def test_top_k_k_out_of_range(make_top_k, k):
    with raises(ValueError, f"k is {k};", "from 1 to 5", "axis 1 of input_tensor"):
        make_top_k(**top_k_fields(k=k))


@each_top_k
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_top_k_for_every_k(make_top_k, axis):
    sizes = (3, 4, 5)
    for k in range(1, sizes[axis] + 1):  # k == size is accepted
        output = tuple(k if d == axis else size for d, size in enumerate(sizes))
        make_top_k(
            input_tensor=TensorDesc(FLOAT32, sizes),
            output_value_tensor=TensorDesc(FLOAT32, output),
            output_index_tensor=TensorDesc(UINT64, output),
            axis=axis,
            k=k,
        )


@each_top_k
@each_output
def test_top_k_output_sizes(make_top_k, field, data_type):
    for sizes in ((4, 5), (4, 1), (3, 2), (2, 4), (1, 2)):
        with raises(ValueError, f"{field}.sizes is {sizes}; it must be (4, 2)", "k = 2 on axis 1"):
            make_top_k(**top_k_fields(**{field: TensorDesc(data_type, sizes)}))
    for sizes in ((8,), (1, 4, 2), (4, 2, 1)):
        with raises(ValueError, f"{field}.sizes is {sizes}, {len(sizes)} dimensions", "must have 2", "input_tensor"):
            make_top_k(**top_k_fields(**{field: TensorDesc(data_type, sizes)}))


@each_top_k
def test_top_k_value_type(make_top_k):
    for source, value in itertools.product(DataType, repeat=2):
        fields = top_k_fields(input_tensor=TensorDesc(source, (4, 5)), output_value_tensor=TensorDesc(value, (4, 2)))
        if source is value:
            make_top_k(**fields)
        else:
            with raises(ValueError, f"output_value_tensor.data_type is {value.name};", f"be {source.name},"):
                make_top_k(**fields)


@each_top_k
@pytest.mark.parametrize("index_type", DataType)
def test_top_k_index_type(make_top_k, index_type):
    fields = top_k_fields(output_index_tensor=TensorDesc(index_type, (4, 2)))
    if index_type in (UINT32, UINT64):
        make_top_k(**fields)
    else:
        with raises(ValueError, f"output_index_tensor.data_type is {index_type.name};", "one of UINT64, UINT32"):
            make_top_k(**fields)


@each_top_k
@each_output
def test_top_k_output_overlap(make_top_k, field, data_type):
    with raises(ValueError, f"{field}.strides[0] is 0 with size 4", "must not be broadcast"):
        make_top_k(**top_k_fields(**{field: TensorDesc(data_type, (4, 2), (0, 1))}))
    with raises(ValueError, f"{field}.strides is (1, 3)", "overlap", "(4, 2)"):
        make_top_k(**top_k_fields(**{field: TensorDesc(data_type, (4, 2), (1, 3))}))


@each_top_k
def test_top_k_input_may_overlap_itself(make_top_k):
    for strides in ((0, 0), (0, 1), (1, 1), (7, 2)):
        make_top_k(**top_k_fields(input_tensor=TensorDesc(FLOAT32, (4, 5), strides)))


# --------------------------------------------------------------------------------------------------
# ARGMAX, ARGMIN and REDUCE
# --------------------------------------------------------------------------------------------------


@each_arg
def test_arg(make_arg):
    desc = make_arg(**arg_fields(axes=[np.int32(2), 0]))
    assert desc.axes == (2, 0)
    assert all(type(axis) is int for axis in desc.axes)
    assert desc == make_arg(**arg_fields(axes=(2, 0))) == copy.deepcopy(desc) == pickle.loads(pickle.dumps(desc))
    assert hash(desc) == hash(copy.deepcopy(desc))
    for name in ("axes", "axis"):  # also one that it has not
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(desc, name, (1,))


def test_argmax_and_argmin_have_a_direction():
    for operator in (ArgmaxOperatorDesc, ArgminOperatorDesc):
        assert operator(**arg_fields()).axis_direction is INCREASING
        for direction in AxisDirection:
            assert operator(**arg_fields(), axis_direction=direction).axis_direction is direction
        for value in (0, 1, True, "INCREASING", None):
            with raises(TypeError, "axis_direction is", repr(value), "AxisDirection: INCREASING, DECREASING"):
                operator(**arg_fields(), axis_direction=value)


def test_axis_count_passed_as_in_c():
    """The error names the class that was called, and what becomes of AxisCount."""
    source, output, axes = arg_fields().values()
    for operator in (ArgmaxOperatorDesc, ArgminOperatorDesc):
        with raises(TypeError, "axes is 2", "AxisCount is its length"):
            operator(source, output, 2, axes)
        with raises(TypeError, f"{operator.__name__}.__init__"):
            operator(source, output, 2, axes, INCREASING)
    with raises(TypeError, "ReduceOperatorDesc.__init__"):
        ReduceOperatorDesc(ReduceFunction.ARGMAX, source, output, 2, axes)


def test_argmax_is_not_argmin():
    assert ArgmaxOperatorDesc(**arg_fields()) != ArgminOperatorDesc(**arg_fields())
    assert not isinstance(ArgminOperatorDesc(**arg_fields()), ArgmaxOperatorDesc)
    assert repr(ArgmaxOperatorDesc(**arg_fields())).startswith("ArgmaxOperatorDesc(input_tensor=TensorDesc(")
    assert repr(ArgminOperatorDesc(**arg_fields())).startswith("ArgminOperatorDesc(input_tensor=TensorDesc(")


@pytest.mark.parametrize("function", ReduceFunction)
def test_reduce_function(function):
    if function.name in ("ARGMAX", "ARGMIN"):
        assert ReduceOperatorDesc(function, **arg_fields()).function is function
    elif function.name in ("MAX", "MIN"):
        assert ReduceOperatorDesc(function, **arg_fields(output_tensor=TensorDesc(FLOAT32, (1, 5, 1)))).function is function
        with raises(ValueError, "output_tensor.data_type is UINT32; it must be FLOAT32, the type of input_tensor"):
            ReduceOperatorDesc(function, **arg_fields())
    else:
        with raises(ValueError, f"function is {function.name}", "not supported", "must be ARGMAX, ARGMIN, MAX or MIN"):
            ReduceOperatorDesc(function, **arg_fields())


@pytest.mark.parametrize("value", [0, "ARGMAX", None, INCREASING], ids=repr)
def test_reduce_function_type(value):
    with raises(TypeError, f"function is {value!r}", "ReduceFunction: ARGMAX, ARGMIN"):
        ReduceOperatorDesc(value, **arg_fields())


@each_arg
@pytest.mark.parametrize("field", ["input_tensor", "output_tensor"])
def test_arg_tensors_are_tensor_descs(make_arg, field):
    with raises(TypeError, f"{field} is None", "must be a TensorDesc"):
        make_arg(**arg_fields(**{field: None}))


@pytest.mark.parametrize("desc", [ArgmaxOperatorDesc, ArgminOperatorDesc, ReduceOperatorDesc, contract.SelectOperatorDesc])
def test_axes_are_typed_as_what_is_taken(desc):
    """A list, as the documentation gives them."""
    assert get_type_hints(desc.__init__)["axes"] != tuple[int, ...]


@each_arg
def test_arg_axes_type(make_arg):
    for value in (0, "02", b"\0\2", None, {0, 2}, np.array(1), np.ones((1, 1), int)):
        with raises(TypeError, "axes is", type(value).__name__, "must be a sequence of integers (AxisCount is its length)"):
            make_arg(**arg_fields(axes=value))
    for value in NOT_INTEGERS:
        with raises(TypeError, f"axes[1] is {value!r}", type(value).__name__, "must be an integer"):
            make_arg(**arg_fields(axes=(0, value)))


@each_arg
def test_arg_axes_rules(make_arg):
    with raises(ValueError, "axes is ()", "at least one axis"):
        make_arg(**arg_fields(axes=()))
    for axis in (-1, 3, 2**40):
        with raises(ValueError, f"axes[1] is {axis};", "from 0 to 2", "dimension count of input_tensor"):
            make_arg(**arg_fields(axes=(0, axis)))
    for axes in ((2, 0, 2), (0, 0), [0] * 100):
        with raises(ValueError, f"is {axes[-1]}, a duplicate", "each axis once"):
            make_arg(**arg_fields(axes=axes))


@each_arg
def test_arg_over_every_set_of_axes(make_arg):
    sizes = (2, 3, 4, 5)
    for count in range(1, 5):
        for axes in itertools.permutations(range(4), count):
            output = tuple(1 if d in axes else size for d, size in enumerate(sizes))
            make_arg(input_tensor=TensorDesc(FLOAT32, sizes), output_tensor=TensorDesc(UINT32, output), axes=axes)


@each_arg
def test_arg_output_sizes(make_arg):
    for sizes in ((4, 5, 6), (1, 5, 6), (4, 5, 1), (1, 1, 1), (1, 4, 1), (5, 1, 1)):
        with raises(ValueError, f"output_tensor.sizes is {sizes}; it must be (1, 5, 1)", "1 on axes (0, 2)"):
            make_arg(**arg_fields(output_tensor=TensorDesc(UINT32, sizes)))
    for sizes in ((5,), (1, 5), (1, 5, 1, 1)):
        with raises(ValueError, f"output_tensor.sizes is {sizes}, {len(sizes)} dimensions", "must have 3"):
            make_arg(**arg_fields(output_tensor=TensorDesc(UINT32, sizes)))


@each_arg
@pytest.mark.parametrize("index_type", DataType)
def test_arg_index_type(make_arg, index_type):
    fields = arg_fields(output_tensor=TensorDesc(index_type, (1, 5, 1)))
    if index_type.name in ("INT64", "INT32", "UINT64", "UINT32"):
        make_arg(**fields)
    else:
        with raises(
            ValueError,
            f"output_tensor.data_type is {index_type.name};",
            "one of INT64, INT32, UINT64, UINT32",
        ):
            make_arg(**fields)


@each_arg
def test_arg_output_overlap(make_arg):
    with raises(ValueError, "output_tensor.strides[1] is 0 with size 5", "must not be broadcast"):
        make_arg(**arg_fields(output_tensor=TensorDesc(UINT32, (1, 5, 1), (1, 0, 1))))
    make_arg(**arg_fields(output_tensor=TensorDesc(UINT32, (1, 5, 1), (0, 3, 0))))
    make_arg(**arg_fields(input_tensor=TensorDesc(FLOAT32, (4, 5, 6), (0, 0, 0))))
    fields = {"input_tensor": TensorDesc(FLOAT32, (2, 3, 4)), "axes": (1,)}
    with raises(ValueError, "output_tensor.strides is (3, 9, 1)", "overlap", "(2, 1, 4)"):
        make_arg(**fields, output_tensor=TensorDesc(UINT32, (2, 1, 4), (3, 9, 1)))


@each_arg
def test_arg_index_type_holds_every_index(make_arg):
    source = TensorDesc(DataType.INT8, (2**16, 2**15, 1))
    longer = TensorDesc(DataType.INT8, (2**16 - 1, 2**15 + 1, 2**0))
    assert longer.element_count == 2**31 + 2**15 - 1
    for index_type in (INT64, DataType.INT32, UINT64, UINT32):
        output = TensorDesc(index_type, (1, 1, 1))
        make_arg(input_tensor=source, output_tensor=output, axes=(0, 1))  # up to index 2**31 - 1
        if index_type is not DataType.INT32:
            make_arg(input_tensor=longer, output_tensor=output, axes=(0, 1))
    with raises(
        ValueError,
        "output_tensor.data_type is INT32",
        "up to 2147483647",
        f"must hold {2**31 + 2**15 - 2}",
        "axes (1, 0)",
    ):
        make_arg(input_tensor=longer, output_tensor=TensorDesc(DataType.INT32, (1, 1, 1)), axes=(1, 0))
    # Only the reduced axes count.
    make_arg(input_tensor=longer, output_tensor=TensorDesc(DataType.INT32, (1, 2**15 + 1, 1)), axes=(0, 2))


# --------------------------------------------------------------------------------------------------
# Feature levels
# --------------------------------------------------------------------------------------------------

# The table again, independently: operator, level, ranks, input types, index types.
FLOATS = "FLOAT32 FLOAT16"
TO_32_BITS = "FLOAT32 FLOAT16 INT32 INT16 INT8 UINT32 UINT16 UINT8"
EVERY_TYPE = TO_32_BITS + " INT64 UINT64"
EVERY_INDEX = "INT64 INT32 UINT64 UINT32"
TABLE = [
    ("TOP_K", "2_0", "4", FLOATS, "UINT32"),
    ("TOP_K", "2_1", "4", TO_32_BITS, "UINT32"),
    ("TOP_K", "3_1", "12345678", TO_32_BITS, "UINT32"),
    ("TOP_K", "5_0", "12345678", EVERY_TYPE, "UINT64 UINT32"),
    ("TOP_K1", "2_1", "4", TO_32_BITS, "UINT32"),
    ("TOP_K1", "3_1", "12345678", TO_32_BITS, "UINT32"),
    ("TOP_K1", "5_0", "12345678", EVERY_TYPE, "UINT64 UINT32"),
    *((f"ARG{m}", "3_0", "12345678", TO_32_BITS, EVERY_INDEX) for m in ("MAX", "MIN")),
    *((f"ARG{m}", "4_1", "12345678", EVERY_TYPE, EVERY_INDEX) for m in ("MAX", "MIN")),
    *((f"REDUCE_ARG{m}", "1_0", "4", FLOATS, "UINT32") for m in ("MAX", "MIN")),
    *((f"REDUCE_ARG{m}", "2_1", "4", TO_32_BITS, "UINT32") for m in ("MAX", "MIN")),
    *((f"REDUCE_ARG{m}", "3_0", "12345678", TO_32_BITS, EVERY_INDEX) for m in ("MAX", "MIN")),
    *((f"REDUCE_ARG{m}", "4_1", "12345678", EVERY_TYPE, EVERY_INDEX) for m in ("MAX", "MIN")),
    *((f"REDUCE_{m}", "1_0", "4", FLOATS, "none") for m in ("MAX", "MIN")),
    *((f"REDUCE_{m}", "2_1", "4", FLOATS + " INT32 UINT32", "none") for m in ("MAX", "MIN")),
    *((f"REDUCE_{m}", "3_0", "12345678", TO_32_BITS, "none") for m in ("MAX", "MIN")),
    *((f"REDUCE_{m}", "5_0", "12345678", EVERY_TYPE, "none") for m in ("MAX", "MIN")),
]


def lowest_level(operator, rank, value_type, index_type):
    """The first level of the table that takes this, or None."""
    levels = [
        FeatureLevel[f"LEVEL_{level}"]
        for name, level, ranks, value_types, index_types in TABLE
        if name == operator
        and str(rank) in ranks
        and value_type.name in value_types.split()
        and (index_type.name if index_type else "none") in index_types.split()
    ]
    return min(levels, default=None)


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_row_of_the_table_and_nothing_else(operator):
    index_types = [None] if operator in ("REDUCE_MAX", "REDUCE_MIN") else DataType
    for rank, value_type, index_type in itertools.product(range(1, 9), DataType, index_types):
        expected = lowest_level(operator, rank, value_type, index_type)
        if expected is None:
            with raises(ValueError, f"{operator.split('_ARG')[0]} at every feature level:", "data_type is"):
                make(operator, value_type, index_type, rank)
            continue
        desc = make(operator, value_type, index_type, rank)
        assert required_feature_level(desc) is expected
        for level in FeatureLevel:
            if level >= expected:
                check_feature_level(desc, level)
            else:
                row = desc.operator_type if index_type else operator.replace("_", " ")
                with raises(ValueError, f"{row} at", level.name, f"level {expected.name} takes it"):
                    check_feature_level(desc, level)


def test_rows_include_the_rows_before_them():
    assert set(FEATURE_TABLE) == {"TOP_K", "TOP_K1", "ARGMAX", "ARGMIN", "REDUCE", "REDUCE MAX", "REDUCE MIN"}
    for rows in FEATURE_TABLE.values():
        for lower, higher in itertools.pairwise(rows):
            assert lower.level < higher.level
            assert set(lower.ranks) <= set(higher.ranks)
            assert set(lower.value_types) <= set(higher.value_types)
            assert set(lower.index_types) <= set(higher.index_types)
    with pytest.raises(TypeError):
        FEATURE_TABLE["TOP_K"] = ()


@pytest.mark.parametrize(
    ("operator", "level", "exists_from"),
    [
        ("TOP_K", "1_0", "2_0"),
        ("TOP_K1", "1_0", "2_1"),
        ("TOP_K1", "2_0", "2_1"),
        ("ARGMAX", "2_1", "3_0"),
        ("ARGMIN", "1_0", "3_0"),
    ],
)
def test_operator_that_does_not_exist_yet(operator, level, exists_from):
    message = f"{operator} at feature level LEVEL_{level}: the operator does not exist at this level"
    with raises(ValueError, message, f"feature level LEVEL_{exists_from} takes it"):
        check_feature_level(make(operator), FeatureLevel[f"LEVEL_{level}"])


def test_what_a_level_lacks_is_named():
    desc = make("TOP_K", UINT64, UINT64, rank=3)
    with raises(
        ValueError,
        "TOP_K at feature level LEVEL_3_0",
        "input_tensor.dimension_count is 3; it must be 4",
        "input_tensor.data_type is UINT64; it must be one of FLOAT32, FLOAT16, INT32, INT16, INT8",
        "output_index_tensor.data_type is UINT64; it must be one of UINT32",
        "feature level LEVEL_5_0 takes it",
    ):
        check_feature_level(desc, FeatureLevel.LEVEL_3_0)
    with pytest.raises(ValueError) as caught:  # and only that
        check_feature_level(desc, FeatureLevel.LEVEL_3_1)
    assert "dimension_count" not in str(caught.value)
    with raises(ValueError, "REDUCE at feature level LEVEL_2_1: output_tensor.data_type is INT64", "LEVEL_3_0"):
        check_feature_level(make("REDUCE_ARGMIN", FLOAT32, INT64), FeatureLevel.LEVEL_2_1)


def test_feature_level_checks_check_their_arguments():
    desc = make("ARGMAX")
    for level in (0x3000, "3_0", None):
        with raises(TypeError, f"level is {level!r}", "FeatureLevel: LEVEL_1_0"):
            check_feature_level(desc, level)
        with raises(TypeError, f"level is {level!r}", "FeatureLevel"):
            supports_data_type(FLOAT32, level)
    for value in (None, desc.input_tensor, "ARGMAX", ArgmaxOperatorDesc):
        with raises(TypeError, "desc is", type(value).__name__, "must be an operator desc"):
            check_feature_level(value, HIGHEST_FEATURE_LEVEL)
        with raises(TypeError, "desc is", "must be an operator desc"):
            required_feature_level(value)
    with raises(TypeError, "data_type is 'float32'", "DataType"):
        supports_data_type("float32", HIGHEST_FEATURE_LEVEL)
    # Numbers of DirectML's types go where there is no member.
    for number in (9, 12, 13):
        assert supports_data_type(number, HIGHEST_FEATURE_LEVEL) is False
    for value in (True, 1, 1.0, 9.0, np.int64(9), 0, 14, INCREASING):
        with raises(TypeError, "data_type is", "DataType: FLOAT32"):
            supports_data_type(value, HIGHEST_FEATURE_LEVEL)


@pytest.mark.parametrize("data_type", DataType)
def test_supported_data_types(data_type):
    if data_type.name in FLOATS.split() or data_type == UINT32:
        first = FeatureLevel.LEVEL_1_0
    elif data_type.itemsize < 8:
        first = FeatureLevel.LEVEL_2_1
    else:
        first = FeatureLevel.LEVEL_3_0  # as indices
    for level in FeatureLevel:
        assert supports_data_type(data_type, level) is (level >= first)


def test_overlaps_of_many_dimensions_are_found_soon():
    """Tensors may have more dimensions than descs."""
    for n in (9, 20):
        assert contract.overlaps_itself((2,) * n, [1000 + i for i in range(n)])
        assert not contract.overlaps_itself((2,) * n, [1 << i for i in range(n)])
    # Sums of steps that are all different: no layout nests another.
    assert not contract.overlaps_itself((2,) * 9, [3 * 2**i + (i == 8) for i in range(9)])
