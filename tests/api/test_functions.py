"""top_k, argmax, argmin, sort and argsort on NumPy arrays and Tensors, against the oracle."""

from __future__ import annotations

import itertools
import re

import data
import numpy as np
import oracle
import pytest
from checks import OPERATORS, check, strided_tensor

import wgdml

#: One type of each width, each ordered in its own way.
WIDTHS = ("int8", "float16", "float32", "uint64")

ARG_OPERATORS = tuple(name for name in OPERATORS if name.startswith(("argmax", "argmin")))
LINE_OPERATORS = tuple(name for name in OPERATORS if name not in ARG_OPERATORS)


# Types and data -----------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name in oracle.DTYPES for kind in data.kinds(oracle.DTYPES[name])])
def test_every_type_and_kind_of_data(device, name, kind, operator):
    check(operator, data.make(kind, name, (3, 130)), k=7, device=device)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", oracle.DTYPES)
def test_tensor_in_tensor_out(device, name, operator):
    # The problem of the test above, so that nothing is compiled anew; the same goes for the next
    # test.
    x = data.make("random", name, (3, 130))
    tensor = wgdml.asarray(x, device=device)
    check(operator, x, k=7, given=tensor, device=device)
    oracle.assert_same(tensor.numpy(), x)


@pytest.mark.parametrize("name", oracle.DTYPES)
def test_results_are_ordinary_arrays(device, name):
    x = data.make("random", name, (3, 130))
    for result in (
        *wgdml.top_k(x, 7, device=device),
        wgdml.sort(x, device=device),
        wgdml.argsort(x, device=device),
        wgdml.argmax(x, axis=0, device=device),
    ):
        assert type(result) is np.ndarray
        assert result.flags.writeable and result.flags.c_contiguous
        kept = result.copy()
        wgdml.sort(data.make("random", name, (3, 130), seed=1), device=device)  # not its memory
        oracle.assert_same(result, kept)
        result[...] = result[::-1].copy()


@pytest.mark.parametrize(
    ("name", "operator"),
    [
        (name, operator)
        for name in oracle.DTYPES
        for operator in OPERATORS
        if name in WIDTHS or operator in ("top_k-smallest", "argsort-descending", "argmin-last")
    ],
)
def test_every_kind_of_data_in_a_long_row(device, name, operator):
    for kind in data.kinds(oracle.DTYPES[name]):
        check(operator, data.make(kind, name, (1, 9_011)), k=70, device=device, case=kind)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", WIDTHS)
def test_every_kind_of_data_down_the_columns(device, name, operator):
    for kind in data.kinds(oracle.DTYPES[name]):
        check(operator, data.make(kind, name, (611, 37)), axis=0, k=9, device=device, case=kind)


def test_ties_are_settled_by_index(device):
    x = np.array([[2, 3, 3, 1, 3, 1]], np.float32)
    assert wgdml.top_k(x, 4, device=device).indices.tolist() == [[1, 2, 4, 0]]
    assert wgdml.top_k(x, 4, mode="smallest", device=device).indices.tolist() == [[3, 5, 0, 1]]
    assert wgdml.argsort(x, device=device).tolist() == [[3, 5, 0, 1, 2, 4]]
    assert wgdml.argsort(x, descending=True, device=device).tolist() == [[1, 2, 4, 0, 3, 5]]
    assert int(wgdml.argmax(x, device=device)) == 1
    assert int(wgdml.argmax(x, select_last_index=True, device=device)) == 4
    assert int(wgdml.argmin(x, device=device)) == 3
    assert int(wgdml.argmin(x, select_last_index=True, device=device)) == 5


def test_nan_and_signed_zeros_as_the_contract_says(device):
    nan, inf = np.nan, np.inf
    x = np.array([1, nan, -0.0, inf, 0.0, -inf, nan], np.float32)
    largest = wgdml.top_k(x, 7, device=device)
    assert largest.indices.tolist() == [1, 6, 3, 0, 2, 4, 5]
    smallest = wgdml.top_k(x, 7, mode="smallest", device=device)
    assert smallest.indices.tolist() == [5, 2, 4, 0, 3, 1, 6]
    assert np.signbit(smallest.values[1:3]).tolist() == [True, False]
    for function in (wgdml.argmax, wgdml.argmin):
        assert int(function(x, device=device)) == 1
        assert int(function(x, select_last_index=True, device=device)) == 6


def test_a_row_of_infinities_still_has_k_elements(device):
    # Sentinels that equal the lowest float answer -1 here.
    x = np.full(10, -np.inf, np.float32)
    x[3] = 1
    assert wgdml.top_k(x, 4, device=device).indices.tolist() == [3, 0, 1, 2]
    assert wgdml.top_k(-x, 4, mode="smallest", device=device).indices.tolist() == [3, 0, 1, 2]
    low = np.full(1000, np.iinfo(np.int32).min, np.int32)
    assert wgdml.top_k(low, 1000, device=device).indices.tolist() == list(range(1000))
    high = np.full(1000, 2**64 - 1, np.uint64)
    assert wgdml.top_k(high, 1000, mode="smallest", device=device).indices.tolist() == list(range(1000))


# Shapes and axes ----------------------------------------------------------------------------------

SHAPES = [
    (1,),
    (7,),
    (1, 1),
    (4, 5),
    (70, 3),
    (3, 70),
    (2, 3, 4),
    (3, 70, 2),
    (3, 1, 4),
    (2, 3, 4, 5),
    (2, 1, 3, 1, 2),
    (1,) * 8,
    (2,) * 8,
    (300, *(1,) * 7),
    (*(1,) * 7, 300),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_axis(device, shape):
    rank = len(shape)
    for axis in range(-rank, rank):
        size = shape[axis]
        x = data.make("eight_values", ("uint8", "float32", "int64")[axis % rank % 3], shape)
        for operator in OPERATORS[axis % rank % 2 :: 2]:
            check(operator, x, axis=axis, k=size // 2 + 1, device=device)
        check("top_k-smallest", x, axis=axis, k=1, device=device)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("shape", [(4, 5), (2, 3, 4), (2, 3, 4, 5), (2, 1, 3, 1, 2)], ids=str)
def test_every_set_of_axes(device, shape, keepdims):
    x = data.make("few_distinct", "int16", shape)
    rank = len(shape)
    sets = [axes for count in range(1, rank + 1) for axes in itertools.combinations(range(rank), count)]
    for axes in [None, *sets]:
        for operator in ARG_OPERATORS:
            check(operator, x, axis=axes, keepdims=keepdims, device=device)


def test_axes_in_any_order_and_sign(device):
    x = data.make("eight_values", "float32", (3, 4, 5, 6))
    for axes in [(3, 1), (-1, 1), (-3, 3), [2, 0], (0, -4 + 2), (3, 2, 1, 0), (np.int64(2),)]:
        check("argmax-first", x, axis=axes, device=device)
        check("argmin-last", x, axis=axes, keepdims=True, device=device)
    check("argmax-first", x, axis=np.int32(-2), device=device)
    check("top_k-largest", x, axis=np.int32(-2), k=np.int8(2), device=device)


def test_axis_none_flattens(device):
    x = data.make("eight_values", "uint16", (30, 41, 7))
    for operator in ARG_OPERATORS:
        check(operator, x, axis=None, device=device)
        check(operator, x, axis=None, keepdims=True, device=device)


def test_more_than_eight_dimensions(device):
    # Dimensions that are one run in memory are one dimension, however many there are.
    x = data.make("random", "int8", (2,) * 12)
    for axis in (0, 5, -1, (0, 11), (3, 4, 5, 6), tuple(range(0, 12, 2)), None):
        check("argmax-first", x, axis=axis, device=device)
    check("top_k-largest", x, axis=6, k=2, device=device)
    check("sort-ascending", x, axis=0, device=device)
    comb = data.make("random", "int8", (2,) * 18)
    with pytest.raises(ValueError, match="x may have at most 8 dimensions after merging those that lie in memory as one, not 9"):
        wgdml.argmax(comb, axis=tuple(range(0, 18, 2)), device=device)
    # One run in x, but not in what is beside it.
    reverse = wgdml.asarray(np.zeros((2,) * 10, np.int32), device=device).T
    steps = tuple(2**n for n in range(10))
    with pytest.raises(ValueError, match=re.escape(f"not 9: for shape {(2,) * 10} strides are x {steps[::-1]}, values {steps}")):
        wgdml.sort(comb[(0,) * 8].astype(np.int32), out=reverse)
    with pytest.raises(ValueError, match=re.escape(f"payload {steps}")):
        wgdml.sort(comb[(0,) * 8], reverse)
    with pytest.raises(ValueError, match=re.escape(f"x {(*steps[:-1], 0)}, values")):
        wgdml.take_along_axis(reverse, np.zeros((1,) * 10, int))


def test_defaults_are_numpy_s(device):
    x = data.make("random", "int32", (6, 9))
    oracle.assert_same(wgdml.argmax(x), np.asarray(np.argmax(x)))
    oracle.assert_same(wgdml.argmin(x), np.asarray(np.argmin(x)))
    oracle.assert_same(wgdml.sort(x), np.sort(x))
    oracle.assert_same(wgdml.argsort(x), np.argsort(x, kind="stable"))
    values, indices = wgdml.top_k(x, 4)
    oracle.assert_same(values, np.sort(x)[:, :-5:-1])
    oracle.assert_same(indices, oracle.top_k(x, 4)[1])


def test_zero_dimensions(device):
    for scalar in (np.array(5.0), np.float32(5), 5, True):
        for function in (wgdml.argmax, wgdml.argmin):
            for keepdims in (False, True):
                oracle.assert_same(function(scalar, keepdims=keepdims, device=device), np.array(0, np.int64), repr(scalar))
        for call in (
            lambda x: wgdml.top_k(x, 1, device=device),
            lambda x: wgdml.sort(x, device=device),
            lambda x: wgdml.argsort(x, device=device),
        ):
            with pytest.raises(ValueError, match="x must have at least one dimension"):
                call(scalar)


@pytest.mark.parametrize("kind_of_input", ["array", "tensor"])
@pytest.mark.parametrize("name", ["float32", "int8", "bool", "bfloat16"])
def test_empty_results(device, name, kind_of_input):
    def given(shape):
        x = np.zeros(shape, oracle.DTYPES[name])
        return x, wgdml.asarray(x, device=device) if kind_of_input == "tensor" else x

    for shape, axis, k in [((4, 5), 1, 0), ((4, 5), 0, 0), ((0, 5), 1, 2), ((5, 0), 0, 2), ((5, 0), 1, 0)]:
        x, source = given(shape)
        for mode in ("largest", "smallest"):
            check(f"top_k-{mode}", x, axis=axis, k=k, given=source, device=device)
    for shape, axis in [((0, 5), 1), ((5, 0), 0), ((3, 0, 5), 0), ((3, 0, 5), (0, 2)), ((0, 1, 2), (2, 1))]:
        x, source = given(shape)
        for operator in ARG_OPERATORS:
            for keepdims in (False, True):
                check(operator, x, axis=axis, keepdims=keepdims, given=source, device=device)
    for shape, axis in [((0,), 0), ((0, 5), 1), ((0, 5), 0), ((5, 0), 0), ((5, 0), 1), ((2, 0, 3), 2)]:
        x, source = given(shape)
        for operator in LINE_OPERATORS:
            if not operator.startswith("top_k"):
                check(operator, x, axis=axis, given=source, device=device)


@pytest.mark.parametrize("kind_of_input", ["array", "tensor"])
@pytest.mark.parametrize("function", ["argmax", "argmin"])
def test_nothing_to_choose_from(device, function, kind_of_input):
    call = getattr(wgdml, function)
    for shape, axis in [
        ((0,), None),
        ((0,), 0),
        ((5, 0), 1),
        ((5, 0), None),
        ((0, 0), 1),
        ((3, 0, 5), (0, 1)),
        ((3, 0, 5), -2),
    ]:
        x = np.zeros(shape, np.float32)
        source = wgdml.asarray(x, device=device) if kind_of_input == "tensor" else x
        with pytest.raises(ValueError, match="nothing to reduce"):
            call(source, axis=axis, device=device)


# Sizes --------------------------------------------------------------------------------------------

BOUNDARIES = [edge + step for edge in (512, 1024, 2048, 4096, 8192, 16384, 65536) for step in (-1, 0, 1)]


@pytest.mark.parametrize("name", ["float32", "uint8"])
@pytest.mark.parametrize("operator", ["argmax-first", "argmin-last", "top_k-largest", "sort-ascending"])
def test_every_size_to_300(device, operator, name):
    for size in range(1, 301):
        x = data.make("eight_values", name, (2, size), seed=size)
        check(operator, x, k=min(3, size), device=device)


@pytest.mark.parametrize("name", WIDTHS)
@pytest.mark.parametrize("operator", ["argmax-last", "argmin-first", "top_k-smallest", "argsort-descending"])
def test_sizes_around_powers_of_two(device, operator, name):
    for size in BOUNDARIES:
        kind = ("eight_values", "random", "shared_leading_bits")[size % 3]
        check(operator, data.make(kind, name, size), k=min(33, size), device=device, case=kind)


@pytest.mark.parametrize("operator", ["argmax-first", "argmin-last", "top_k-largest", "sort-descending"])
def test_column_sizes(device, operator):
    for length, columns in itertools.product((1, 2, 3, 31, 33, 127, 257), (1, 3, 4, 5, 63, 65, 257)):
        x = data.make("eight_values", "float32", (length, columns))
        check(operator, x, axis=0, k=min(3, length), device=device)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("shape", [(2, 5_000), (17, 1_000), (3, 40_000)], ids=str)
def test_several_long_rows(device, shape, operator):
    check(operator, data.make("random", "float32", shape), k=20, device=device)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("rows", [65_535, 65_536, 65_537, 131_073])
def test_more_rows_than_one_dimension_of_a_dispatch(device, rows, size, operator):
    check(operator, data.make("eight_values", "int8", (rows, size)), k=min(2, size), device=device)


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_hundred_thousand_rows(device, operator):
    check(operator, data.make("random", "float32", (100_000, 10)), k=3, device=device)
    check(operator, data.make("random", "float32", (9, 100_000)), axis=0, k=3, device=device)
    check(operator, data.make("eight_values", "uint8", (70_000, 3, 2)), axis=1, k=2, device=device)


# k ------------------------------------------------------------------------------------------------

K_EDGES = sorted({edge + step for edge in (32, 64, 128, 256, 512, 1024, 2048) for step in (-1, 0, 1)})


@pytest.mark.parametrize("name", ["float32", "uint8", "int64"])
@pytest.mark.parametrize("shape", [(3, 300), (2, 2_500), (1, 70_000)], ids=str)
def test_every_edge_of_k(device, shape, name):
    size = shape[1]
    for number, k in enumerate([1, 2, 3, 5, 16, *K_EDGES, 4096, 9000, size // 2, size - 1, size]):
        if k <= size and (name == "float32" or number % 5 < 2 or k > 2048):
            kind = "random" if k % 2 else "eight_values"
            mode = "largest" if (number % 2 == 0) == (name == "uint8") else "smallest"
            check(f"top_k-{mode}", data.make(kind, name, shape), k=k, device=device, case=kind)


@pytest.mark.parametrize("mode", ["largest", "smallest"])
def test_every_k_of_short_rows(device, mode):
    for size in (1, 2, 3, 4, 5, 8, 9, 31, 40):
        x = data.make("few_distinct", "float16", (6, size))
        for k in range(1, size + 1):
            check(f"top_k-{mode}", x, k=k, device=device)


def test_large_k_down_the_columns(device):
    x = data.make("random", "float32", (2_100, 5))
    for k in (1, 64, 1_025, 2_099, 2_100):
        check("top_k-largest", x, axis=0, k=k, device=device)
        check("top_k-smallest", x, axis=0, k=k, device=device)
    long = data.make("few_distinct", "float32", (1 << 20, 2))
    for k in (300, 1_100, 4_096):
        check("top_k-largest", long, axis=0, k=k, device=device)


# What goes in and what comes out ------------------------------------------------------------------


def test_result_is_a_named_tuple(device):
    x = np.array([3, 1, 2], np.int16)
    result = wgdml.top_k(x, 2, device=device)
    assert isinstance(result, tuple) and type(result) is wgdml.TopKResult
    assert type(result)._fields == ("values", "indices")
    values, indices = result
    assert values is result.values and indices is result.indices
    assert values.dtype == np.int16 and indices.dtype == np.int64


@pytest.mark.parametrize("index_dtype", ["int32", "int64", "uint32", "uint64", np.uint32, np.dtype("int32")])
def test_index_dtype(device, index_dtype):
    x = data.make("eight_values", "float32", (5, 60))
    values, indices = wgdml.top_k(x, 4, index_dtype=index_dtype, device=device)
    want_values, want_indices = oracle.top_k(x, 4)
    oracle.assert_same(values, want_values)
    oracle.assert_same(indices, want_indices.astype(index_dtype))
    for function, want in ((wgdml.argmax, oracle.argmax(x, 1)), (wgdml.argmin, oracle.argmin(x, 1))):
        oracle.assert_same(function(x, axis=1, index_dtype=index_dtype, device=device), want.astype(index_dtype))
    oracle.assert_same(wgdml.argsort(x, index_dtype=index_dtype, device=device), oracle.argsort(x).astype(index_dtype))


def test_arrays_of_any_layout(device):
    x = data.make("random", "float32", (12, 20))
    for view in (
        x.T,
        x[::2, ::3],
        x[::-1, ::-1],
        x[3:7, 5:6],
        np.asfortranarray(x),
        np.broadcast_to(x[0], (5, 20)),
        np.broadcast_to(x[:, :1], (12, 6)),
        x.reshape(12, 4, 5).transpose(2, 0, 1),
    ):
        for operator in OPERATORS:
            for axis in (0, view.ndim - 1):
                check(operator, view, k=min(2, view.shape[axis]), axis=axis, device=device)


def test_what_numpy_takes_as_an_array(device):
    oracle.assert_same(wgdml.sort([3, 1, 2], device=device), np.array([1, 2, 3]))
    oracle.assert_same(wgdml.argmax([[1.5, 2.5], [3.5, 0.5]], axis=1, device=device), np.array([1, 0]))
    oracle.assert_same(wgdml.sort((True, False), device=device), np.array([False, True]))
    oracle.assert_same(wgdml.sort(range(3, 0, -1), device=device), np.array([1, 2, 3]))
    read_only = np.array([2, 1], np.uint8)
    read_only.flags.writeable = False
    oracle.assert_same(wgdml.sort(read_only, device=device), np.array([1, 2], np.uint8))


def test_other_byte_order(device):
    x = np.array([3.0, -1.0, 2.0], ">f4")
    values, indices = wgdml.top_k(x, 2, device=device)
    assert values.tolist() == [3.0, 2.0] and indices.tolist() == [0, 2]
    assert wgdml.argmin(np.array([3, 259, 2], ">i2"), device=device) == 2


def test_other_byte_order_of_a_long_array_that_fits_a_buffer(device, monkeypatch):
    monkeypatch.setattr(wgdml.functions, "_LONG", 0)
    x = np.array([3, 259, 2], ">i2")
    assert wgdml.argmin(x, device=device) == 2
    oracle.assert_same(wgdml.sort(x, device=device), np.array([2, 3, 259], np.int16))


def test_stable_false_is_a_permission_not_an_order(device):
    x = data.make("eight_values", "int32", 500)
    oracle.assert_same(wgdml.sort(x, stable=False, device=device), oracle.sort(x))
    indices = wgdml.argsort(x, stable=False, device=device)
    oracle.assert_same(x[indices], oracle.sort(x))
    assert sorted(indices.tolist()) == list(range(500))


def test_answers_do_not_depend_on_what_ran_before(device):
    # Scratch and staging buffers are kept: a smaller problem after a larger one sees what the
    # larger left.
    for size in (50_000, 10, 3_000, 1, 50_001, 77):
        for name in ("float32", "uint8", "int64"):
            for operator in OPERATORS[::3]:
                check(operator, data.make("random", name, (2, size)), k=min(5, size), device=device)


# Tensors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "operator"),
    [(WIDTHS[(n + step) % 4], operator) for n, operator in enumerate(OPERATORS) for step in (0, 1)],
)
def test_transposed_and_broadcast_tensors(device, name, operator):
    x = data.make("eight_values", name, (6, 40))
    tensor = wgdml.asarray(x, device=device)
    for axis in (0, 1):
        check(operator, x.T, axis=axis, k=3, given=tensor.T, device=device)
    cube = data.make("eight_values", name, (3, 5, 7))
    cube_tensor = wgdml.asarray(cube, device=device)
    for number, order in enumerate(itertools.permutations(range(3))):
        given = cube_tensor.transpose(*order)
        check(operator, cube.transpose(order), axis=number % 3, k=2, given=given, device=device)
    wide, wide_tensor = np.broadcast_to(x, (4, 6, 40)), tensor.broadcast_to((4, 6, 40))
    for axis in range(3):
        check(operator, wide, axis=axis, k=3, given=wide_tensor, device=device)


#: shape, strides in elements, offset: what a caller's buffer may hold.
LAYOUTS = {
    "every second": ((50,), (2,), 0),
    "every third from 5": ((50,), (3,), 5),
    "padded rows": ((4, 33), (40, 1), 0),
    "padded rows from 8": ((4, 33), (37, 1), 8),
    "columns": ((33, 4), (1, 33), 0),
    "one element repeated": ((70,), (0,), 3),
    "rows repeated": ((5, 20), (0, 1), 0),
    "columns repeated": ((5, 20), (1, 0), 4),
    "overlapping windows": ((9, 16), (3, 1), 0),
    "sliding windows": ((30, 8), (1, 1), 1),
    "padded cube": ((3, 4, 5), (50, 7, 1), 2),
    "mixed cube": ((3, 4, 5), (1, 0, 9), 6),
    "long padded rows": ((2, 9_000), (9_001, 1), 1),
    "long strided row": ((20_000,), (3,), 7),
}


@pytest.mark.parametrize(
    ("layout", "name"),
    [(layout, WIDTHS[(n + step) % 4]) for n, layout in enumerate(LAYOUTS) for step in (0, 1)],
)
def test_strided_tensors(device, layout, name):
    shape, strides, offset = LAYOUTS[layout]
    tensor, x = strided_tensor(device, "random", name, shape, strides, offset)
    oracle.assert_same(tensor.numpy(), x, layout)
    for axis in range(len(shape)):
        for operator in OPERATORS[axis % 3 :: 3]:
            k = min(3, shape[axis])
            check(operator, x, axis=axis, k=k, given=tensor, device=device, case=layout)
    for operator in ARG_OPERATORS[::3]:
        check(operator, x, axis=None, given=tensor, device=device, case=layout)


def test_functions_chain_on_the_device(device):
    x = data.make("random", "float32", (40, 200))
    tensor = wgdml.asarray(x, device=device)
    values, indices = wgdml.top_k(tensor, 10, device=device)
    again = wgdml.sort(values.T, axis=0, device=device)
    want_values, want_indices = oracle.top_k(x, 10)
    oracle.assert_same(indices.numpy(), want_indices)
    oracle.assert_same(again.numpy(), oracle.sort(want_values.T, 0))
    oracle.assert_same(wgdml.argmin(indices, axis=1, device=device).numpy(), oracle.argmin(want_indices, axis=1))


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint32"])
def test_indices_of_a_tensor_that_are_out_of_range(device, dtype):
    """They take the last element, whatever their type. Negative ones may count from the end."""
    info, wanted = np.iinfo(dtype), []
    places = [
        n for n in (0, 4, 5, -1, -5, -6, 2**31, 2**32, 2**32 + 1, 2**64 - 2, -(2**32), 2 - 2**32) if info.min <= n <= info.max
    ]
    for n in (*places, info.min, info.max):
        wanted.append(10 * (n if 0 <= n < 5 else n + 5 if -5 <= n < 0 else 4))
    indices = wgdml.asarray(np.array([*places, info.min, info.max], dtype), device=device)
    x = wgdml.asarray(np.arange(0, 50, 10, dtype=np.float32), device=device)
    assert wgdml.take_along_axis(x, indices).numpy().tolist() == wanted


@pytest.mark.parametrize("dtype", [">c16", "<c16", ">c8"])
def test_complex_elements_of_either_byte_order_are_taken(device, dtype):
    x = np.array([1 + 2j, 3 + 4j, 5 - 1j], dtype)
    assert wgdml.take_along_axis(x, np.array([2, 0]), device=device).tolist() == [5 - 1j, 1 + 2j]
    with pytest.raises(TypeError, match="x has masked elements"):
        wgdml.take_along_axis(np.ma.array(x, mask=[1, 0, 0]), np.array([0]), device=device)


def test_no_function_takes_more_elements_than_a_tensor_has(device):
    x = wgdml.asarray(np.float32([7.0]), device=device).broadcast_to((2**33,))
    for call in (
        lambda: wgdml.top_k(x, 1),
        lambda: wgdml.kth_value(x, 5),
        lambda: wgdml.median(x),
        lambda: wgdml.quantile(x, 0.0, method="lower"),
        lambda: wgdml.partition(x, 1),
        lambda: wgdml.take_along_axis(x, np.array([0])),
    ):
        with pytest.raises(ValueError, match=f"x has {2**33} elements; a tensor has at most"):
            call()
