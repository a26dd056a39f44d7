"""What those reach for who know NumPy: max, min, nan=, sorted=, out= and take_along_axis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import data
import numpy as np
import oracle
import pytest
from checks import STORAGE, buffer_of, read, strided_tensor

import wgdml
from wgdml import outofcore

FLOATS = ("float16", "bfloat16", "float32", "float64")


def hostile(dtype: Any, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """A few values, NaNs of several payloads, both zeros and infinities, a last row of NaN."""
    x = data.make("eight_values", oracle.DTYPES.get(dtype, dtype), int(np.prod(shape)), seed)
    if oracle.is_float(x.dtype):
        x[::5] = data.make("nan_payloads", x.dtype, x.size, seed)[::5]
        x[1::7], x[2::7], x[3::11], x[4::11] = 0.0, -0.0, np.inf, -np.inf
    x = x.reshape(shape)
    if oracle.is_float(x.dtype):
        x[-1] = np.nan
    return x


# max and min -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", oracle.DTYPES)
def test_max_and_min(device, name):
    x = hostile(name, (4, 3, 5))
    for axis in (None, 1, -1, (0, 2), (2, 0, 1)) if name in ("float32", "int8", "uint64") else (-1,):
        for function, largest in ((wgdml.max, True), (wgdml.min, False)):
            want = oracle.extreme(x, axis, largest=largest)
            oracle.assert_same(function(x, axis=axis, device=device), want, (name, axis))
    tensor = wgdml.asarray(x, device=device)
    got = wgdml.max(tensor, axis=1, keepdims=True)
    assert isinstance(got, wgdml.Tensor)
    oracle.assert_same(got.numpy(), oracle.extreme(x, 1, True))


def test_max_and_min_are_numpy_s(device):
    x = np.random.default_rng(0).standard_normal((6, 7, 8)).astype(np.float32)
    for axis in (None, 0, (1, 2)):
        for keepdims in (False, True):
            assert np.array_equal(wgdml.max(x, axis=axis, keepdims=keepdims, device=device), np.max(x, axis, keepdims=keepdims))
            assert np.array_equal(wgdml.min(x, axis=axis, keepdims=keepdims, device=device), np.min(x, axis, keepdims=keepdims))
    x[0, 0, 0] = np.nan
    assert np.isnan(wgdml.max(x, device=device)) and np.isnan(wgdml.min(x, device=device))
    assert wgdml.max(x, nan="last", device=device) == np.nanmax(x)
    assert wgdml.min(np.float32(3), device=device) == 3
    for given in (x[0], x[0].T):
        assert np.array_equal(wgdml.max(given, axis=(), device=device), np.max(given, axis=()), equal_nan=True)
        both = wgdml.min(wgdml.asarray(x[0], device=device).T, axis=(), return_indices=True)
        oracle.assert_same(both.values.numpy(), x[0].T)
        assert not both.indices.numpy().any()
    for empty in (np.zeros((0, 3)), np.zeros((3, 0))):
        axis = empty.shape.index(0)
        with pytest.raises(ValueError, match="nothing to reduce"):
            wgdml.max(empty, axis=axis, device=device)
        assert wgdml.min(empty, axis=1 - axis, device=device).shape == (0,)


def test_values_and_indices_in_one_read(device, monkeypatch):
    x = hostile("float32", (5, 40))
    reads = []
    read_spans = device.transfers.read
    monkeypatch.setattr(device.transfers, "read", lambda spans, *rest: reads.append(len(spans)) or read_spans(spans, *rest))
    values, indices = wgdml.max(x, axis=1, return_indices=True, index_dtype="int32", device=device)
    assert reads == [2]
    oracle.assert_same(values, oracle.extreme(x, 1))
    oracle.assert_same(indices, oracle.argmax(x, 1).astype(np.int32))
    both = wgdml.min(x, return_indices=True, keepdims=True, device=device)
    assert isinstance(both, wgdml.TopKResult) and both.values.shape == both.indices.shape == (1, 1)
    assert both.indices[0, 0] == oracle.argmin(x)


def test_max_of_an_array_in_blocks(device, monkeypatch):
    x = hostile("float32", (20, 60))
    for axis in (0, 1, None, (1, 0)):
        for order in ("greatest", "last"):
            whole = outofcore.argmax(x, axis=axis, nan=order, device=device, block_bytes=800)
            oracle.assert_same(whole, oracle.arg_reduce(x, axis, nan_last=order == "last"))
    monkeypatch.setattr(wgdml.functions, "_LONG", 1000)
    monkeypatch.setattr(wgdml.functions, "_streams", lambda x, device: True)
    for axis in (1, None):
        values, indices = wgdml.min(x, axis=axis, nan="last", return_indices=True, device=device)
        oracle.assert_same(values, oracle.extreme(x, axis, largest=False, nan_last=True))
        oracle.assert_same(indices, oracle.arg_reduce(x, axis, largest=False, nan_last=True))
        oracle.assert_same(wgdml.max(x, axis=axis, device=device), oracle.extreme(x, axis))
    assert np.array_equal(wgdml.top_k(x, 3, nan="last", device=device).indices, oracle.top_k(x, 3, nan_last=True)[1])


# nan= --------------------------------------------------------------------------------------------


def check_nan_last(x: np.ndarray, axis: int, k: int, device: wgdml.Device) -> None:
    case = (x.dtype, x.shape, axis, k)
    for mode in ("largest", "smallest"):
        got = wgdml.top_k(x, k, axis=axis, mode=mode, nan="last", device=device)
        for part, want in zip(got, oracle.top_k(x, k, axis, mode == "largest", nan_last=True), strict=True):
            oracle.assert_same(part, want, (mode, *case))
    for descending in (False, True):
        oracle.assert_same(
            wgdml.sort(x, axis=axis, descending=descending, nan="last", device=device), oracle.sort(x, axis, descending, True), case
        )
        oracle.assert_same(
            wgdml.argsort(x, axis=axis, descending=descending, nan="last", device=device),
            oracle.argsort(x, axis, descending, True),
            case,
        )
    for largest in (True, False):
        for last in (False, True):
            function = wgdml.argmax if largest else wgdml.argmin
            got = function(x, axis=axis, select_last_index=last, nan="last", device=device)
            oracle.assert_same(got, oracle.arg_reduce(x, axis, False, last, largest, nan_last=True), (largest, last, *case))


@pytest.mark.parametrize("name", FLOATS)
def test_nan_comes_last_in_every_direction(device, name):
    check_nan_last(hostile(name, (6, 50)), 1, 7, device)


@pytest.mark.parametrize("software", [False, True])
def test_nan_comes_last_in_every_algorithm(forced, software):
    """Shapes for other algorithms: short rows, columns, rows in a workgroup, long ones, digits."""
    own, planned = forced(None, software)
    for shape, axis, k in (((9, 24), 1, 3), ((400, 70), 0, 5), ((3, 3000), 1, 60), ((2, 9001), 1, 300)):
        x = hostile("float32", shape)
        for mode in ("largest", "smallest"):
            got = wgdml.top_k(x, k, axis=axis, mode=mode, nan="last", device=own)
            oracle.assert_same(got.indices, oracle.top_k(x, k, axis, mode == "largest", nan_last=True)[1], (shape, mode))
            oracle.assert_same(got.values, oracle.top_k(x, k, axis, mode == "largest", nan_last=True)[0], (shape, mode))
        oracle.assert_same(wgdml.argmax(x, axis=axis, nan="last", device=own), oracle.arg_reduce(x, axis, nan_last=True), shape)
    assert len({name for plan in planned for name in plan.algorithms}) >= (2 if software else 3)


def test_nan_last_is_numpy_s_sort_and_nanargmax(device):
    x = np.array([2.0, np.nan, -np.inf, 5.0, np.nan, 5.0], np.float32)
    numbers = x[~np.isnan(x)]
    assert np.array_equal(wgdml.sort(x, nan="last", descending=True, device=device)[:4], np.sort(numbers)[::-1])
    assert wgdml.argmax(x, nan="last", device=device) == np.nanargmax(x)
    assert wgdml.argmin(x, nan="last", device=device) == np.nanargmin(x)
    assert wgdml.top_k(x, 6, nan="last", device=device).indices.tolist() == [3, 5, 0, 2, 1, 4]
    assert wgdml.top_k(x, 6, mode="smallest", nan="last", device=device).indices.tolist() == [2, 0, 3, 5, 1, 4]
    assert wgdml.argmax(np.full(4, np.nan), nan="last", device=device) == 0


@pytest.mark.parametrize("name", ["top_k", "sort", "argsort", "argmax", "argmin", "max", "min"])
@pytest.mark.parametrize("nan", ["first", "", None, True, 0])
def test_an_unknown_nan(device, name, nan):
    with pytest.raises(ValueError, match=f'nan must be "greatest" or "last", not {nan!r}'):
        getattr(wgdml, name)(np.zeros(3), *([1] if name == "top_k" else []), nan=nan, device=device)


# sorted= -----------------------------------------------------------------------------------------


def assert_same_elements(got, x, k):
    values, indices = oracle.top_k(x, k)
    by_index = np.argsort(got.indices), np.argsort(indices)
    oracle.assert_same(np.sort(got.indices), np.sort(indices))
    oracle.assert_same(oracle.take(got.values, by_index[0], -1), oracle.take(values, by_index[1], -1))


@pytest.mark.parametrize(
    ("algorithm", "name"),
    [("select_radix", "float32"), ("select_radix", "int64"), ("delegates", "float32"), ("radix_select", "int64")],
)
def test_what_is_not_sorted_has_the_same_elements(forced, algorithm, name):
    """Lists in workgroup memory and in scratch, cut to exactly k, on a GPU; no sort comes after."""
    device, plans = forced(algorithm)
    k = 1030 if name == "int64" else 2000
    for number, kind in enumerate(("random", "sorted", "constant", "eight_values")):
        x = data.make(kind, name, (2, 20_003 if number else 70_001), number)
        got = wgdml.top_k(x, k, sorted=False, index_dtype="int64", device=device)
        assert_same_elements(got, x, k)
    assert not any(dispatch.kernel.startswith(("row_sort", "radix_sort")) for plan in plans for dispatch in plan.dispatches)


def test_unsorted_has_the_same_elements(device):
    x = hostile("float32", (3, 200))
    for k in (1, 20, 200):
        assert_same_elements(wgdml.top_k(x, k, sorted=False, device=device), x, k)
    assert wgdml.top_k(x, 2, sorted=np.True_, device=device).indices.shape == (3, 2)


# out= --------------------------------------------------------------------------------------------


def test_results_go_into_tensors_that_exist(device):
    x = hostile("float32", (4, 30))
    for given in (x, wgdml.asarray(x, device=device)):
        pair = wgdml.empty((4, 5), "float32", device=device), wgdml.empty((4, 5), "int32", device=device)
        got = wgdml.top_k(given, 5, index_dtype="int32", out=pair, device=device)
        assert got.values is pair[0] and got.indices is pair[1]
        for part, want in zip(got, oracle.top_k(x, 5), strict=True):
            oracle.assert_same(part.numpy(), want.astype(part.dtype))
        one = wgdml.empty((4,), "int64", device=device)
        assert wgdml.argmax(given, axis=1, out=one, device=device) is one
        oracle.assert_same(one.numpy(), oracle.argmax(x, 1))
        kept = wgdml.empty((1, 30), "int64", device=device)
        oracle.assert_same(wgdml.argmin(given, axis=0, keepdims=True, out=kept, device=device).numpy(), oracle.argmin(x, 0, True))
        best = wgdml.empty((30,), "float32", device=device)
        assert wgdml.max(given, axis=0, out=best, device=device) is best
        oracle.assert_same(best.numpy(), oracle.extreme(x, 0))
        pair = wgdml.empty((), "float32", device=device), wgdml.empty((), "int64", device=device)
        assert wgdml.min(given, return_indices=True, out=pair, device=device).indices is pair[1]
        oracle.assert_same(pair[1].numpy(), oracle.argmin(x))
        whole = wgdml.empty(x.shape, "float32", device=device)
        oracle.assert_same(wgdml.sort(given, out=whole, device=device).numpy(), oracle.sort(x))
        order = wgdml.empty(x.shape, "int64", device=device)
        assert wgdml.argsort(given, out=order, device=device) is order
        oracle.assert_same(order.numpy(), oracle.argsort(x))
    plans = device.counters["plans"]
    wgdml.argsort(wgdml.asarray(x, device=device), out=order, device=device)
    assert device.counters["plans"] == plans


def test_out_on_another_device_than_the_default_one(device):
    """An array goes where its result is wanted. Tensors of the same GPU device are ours."""
    other = wgdml.Device()
    x = hostile("float32", (4, 30))
    one = wgdml.empty((4,), "int64", device=other)
    assert wgdml.argmax(x, axis=1, out=one) is one
    oracle.assert_same(one.numpy(), oracle.argmax(x, 1))
    beside = wgdml.Device(device.gpu_device)
    one = wgdml.empty((4,), "int64", device=beside)
    assert wgdml.argmin(wgdml.asarray(x, device=device), axis=1, out=one) is one
    oracle.assert_same(one.numpy(), oracle.argmin(x, 1))


def test_out_of_any_layout(device):
    """Strided, offset, transposed outputs, one in the input's buffer; no byte beside changes."""
    x = hostile("int16", (3, 20))
    before = np.full(200, 77, np.int16)
    before[100:160] = x.ravel()
    buffer = buffer_of(device, before)
    source = wgdml.Tensor.from_buffer(buffer, "int16", (3, 20), None, 200, device=device)
    values = wgdml.Tensor.from_buffer(buffer, "int16", (3, 4), (1, 5), 6, device=device)
    indices = wgdml.Tensor.from_buffer(buffer_of(device, np.zeros(64, np.uint32)), "uint32", (3, 4), (17, 3), 8, device=device)
    wgdml.top_k(source, 4, index_dtype="uint32", out=(values, indices))
    want = oracle.top_k(x, 4)
    oracle.assert_same(values.numpy(), want[0])
    oracle.assert_same(indices.numpy(), want[1].astype(np.uint32))
    for i in range(3):
        for j in range(4):
            before[3 + i + 5 * j] = want[0][i, j]
    assert np.array_equal(read(device, buffer).view(np.int16), before)
    tall = wgdml.empty((20, 3), "int64", device=device)
    wgdml.argsort(source, out=tall.T)
    oracle.assert_same(tall.numpy(), oracle.argsort(x).T)
    column = wgdml.empty((3, 8), "int16", device=device)
    lane = wgdml.Tensor.from_buffer(column.buffer, "int16", (3,), (8,), 4, device=device)
    oracle.assert_same(wgdml.max(source, axis=1, out=lane).numpy(), oracle.extreme(x, 1))
    nothing = wgdml.empty((3, 0), "int16", device=device), wgdml.empty((3, 0), "int64", device=device)
    assert wgdml.top_k(source, 0, out=nothing).values is nothing[0]


def test_out_that_is_refused(device):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    tensor = wgdml.asarray(x, device=device)
    values, indices = wgdml.empty((3, 2), "float32", device=device), wgdml.empty((3, 2), "int64", device=device)
    repeated = wgdml.empty((3, 1), "float32", device=device).broadcast_to((3, 2))
    other = wgdml.Device()
    plans, runs = device.counters["plans"], device.counters["bind_groups"]
    for out, error, word in (
        (values, TypeError, "2 wgdml.Tensors"),
        ((values,), TypeError, "2 wgdml.Tensors"),
        ((values, np.zeros((3, 2), np.int64)), TypeError, "2 wgdml.Tensors"),
        ((np.zeros((3, 2), np.float32), indices), TypeError, "2 wgdml.Tensors"),
        ((indices, values), TypeError, "data type float32 .* not int64"),
        ((values, wgdml.empty((3, 2), "int32", device=device)), TypeError, "data type int64 .* not int32"),
        ((values, wgdml.empty((2, 3), "int64", device=device)), ValueError, r"shape \(3, 2\), not \(2, 3\)"),
        ((repeated, indices), ValueError, "an address for every element"),
        ((wgdml.empty((3, 2), "float32", device=other), indices), ValueError, "out is on another GPU device"),
        ((tensor.reshape(6, 2).broadcast_to((6, 2)), indices), ValueError, "shape"),
        (
            (wgdml.Tensor.from_buffer(tensor.buffer, "float32", (3, 2), device=device), indices),
            ValueError,
            "must not share memory with x",
        ),
        (
            (values, wgdml.Tensor.from_buffer(values.buffer, "int64", (3, 2), device=device)),
            ValueError,
            "must not share memory with out's",
        ),
    ):
        with pytest.raises(error, match=word):
            wgdml.top_k(tensor, 2, out=out, device=device)
    for out, kind in (((values,), "tuple"), ([indices], "list"), (np.zeros(3), "ndarray"), (3, "int"), ((), "tuple")):
        with pytest.raises(TypeError, match=rf"out must be a wgdml\.Tensor, not {kind}$"):
            wgdml.argmax(tensor, axis=1, out=out, device=device)
    for out, kinds in (
        ((values, None), "Tensor, NoneType"),
        (values, "Tensor"),
        ("x" * 9, "str, str, str"),
        (iter(()), "tuple_iterator"),
    ):
        with pytest.raises(TypeError, match=f"for values and for indices, not {kinds}$"):
            wgdml.top_k(tensor, 2, out=out, device=device)
    mapped = device.gpu_device.create_buffer(size=64, usage=STORAGE, mapped_at_creation=True)
    with pytest.raises(ValueError, match="out is over a buffer that the host has mapped"):
        wgdml.sort(tensor, out=wgdml.Tensor.from_buffer(mapped, "float32", (3, 4), device=device))
    assert device.counters["bind_groups"] == runs and device.counters["plans"] <= plans + 1
    mapped.unmap()


def test_out_is_checked_before_anything_is_uploaded(device, monkeypatch):
    x = np.zeros((3, 4), np.float32)
    buffer = buffer_of(device, np.zeros(64, np.int64))
    values = wgdml.Tensor.from_buffer(buffer, "float32", (3, 2), device=device)
    indices = wgdml.Tensor.from_buffer(buffer, "int64", (3, 2), offset=16, device=device)
    monkeypatch.setattr(device.transfers, "write", lambda *given: pytest.fail("something was uploaded"))
    with pytest.raises(ValueError, match="out's indices must not share memory with out's values"):
        wgdml.top_k(x, 2, out=(values, indices), device=device)
    one = wgdml.Tensor.from_buffer(buffer, "int64", 3, device=device)
    buffer.destroy()
    with pytest.raises(ValueError, match="out is over a buffer that has been destroyed"):
        wgdml.argmax(x, axis=1, out=one, device=device)


# take_along_axis ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", oracle.DTYPES)
def test_take_along_axis(device, name):
    x = hostile(name, (4, 6, 5))
    rng = np.random.default_rng(1)
    for axis in (0, 1, -1):
        indices = rng.integers(-x.shape[axis], x.shape[axis], [9 if d == axis % 3 else n for d, n in enumerate(x.shape)])
        for dtype in (np.int64, np.int32) if name in ("float32", "int8") else (np.int64,):
            got = wgdml.take_along_axis(x, indices.astype(dtype), axis, device=device)
            oracle.assert_same(got, oracle.take(x, indices, axis), (name, axis))
    tensor = wgdml.asarray(x, device=device)
    best = wgdml.top_k(tensor, 3, axis=1, index_dtype="uint32")
    again = wgdml.take_along_axis(tensor, best.indices, axis=1)
    assert isinstance(again, wgdml.Tensor)
    oracle.assert_same(again.numpy(), best.values.numpy())


def test_take_along_axis_broadcasts_as_numpy(device):
    x = hostile("float32", (4, 1, 5))
    indices = np.array([[[0], [4], [2]]])
    oracle.assert_same(wgdml.take_along_axis(x, indices, device=device), oracle.take(x, indices, -1))
    assert wgdml.take_along_axis(x, indices).shape == np.take_along_axis(x, indices, -1).shape == (4, 3, 1)
    assert wgdml.take_along_axis(x, np.zeros((4, 1, 0), int), device=device).shape == (4, 1, 0)
    assert wgdml.take_along_axis([1, 2], [1], 0, device=device).tolist() == [2]


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_take_along_axis_of_all_elements(device):
    x, indices = hostile("float32", (4, 5)), np.array([19, 3, -20, 7])
    complexes = x.astype("complex64")
    for given in (x, x.T, np.matrix(x), complexes, complexes.tolist(), wgdml.asarray(x, device=device), x.tolist()):
        got = wgdml.take_along_axis(given, indices, None, device=device)
        if isinstance(given, wgdml.Tensor):
            got, given = got.numpy(), x
        oracle.assert_same(got.real, np.take_along_axis(np.asarray(given), indices, None).real.astype(got.real.dtype))
    with pytest.raises(ValueError, match="indices must have one dimension with axis=None"):
        wgdml.take_along_axis(x, np.zeros((4, 1), int), None, device=device)
    with pytest.raises(ValueError, match="needs a copy"):
        wgdml.take_along_axis(wgdml.asarray(x, device=device).T, indices, axis=None)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_take_along_axis_of_every_integer(device, dtype):
    x = hostile("float32", (2, 200))
    indices = np.array([[0, 127, 5], [-1, -128, 3]] if dtype.startswith("i") else [[0, 199, 5], [1, 2, 3]]).astype(dtype)
    oracle.assert_same(wgdml.take_along_axis(x, indices, device=device), oracle.take(x, indices, -1))
    with pytest.raises(ValueError, match=r"indices must lie in \[-100, 99\]"):
        wgdml.take_along_axis(x[:, :100], indices, device=device)


def test_take_along_axis_of_views(device):
    """Strided, offset and transposed tensors, and both in one buffer."""
    tensor, host = strided_tensor(device, "eight_values", np.int16, (3, 7), (16, 2), offset=5)
    order = wgdml.argsort(tensor, descending=True, index_dtype="uint32")
    oracle.assert_same(wgdml.take_along_axis(tensor, order).numpy(), oracle.sort(host, descending=True))
    oracle.assert_same(wgdml.take_along_axis(tensor.T, order.T, 0).numpy(), oracle.sort(host, descending=True).T)
    buffer = buffer_of(device, np.array([7, 8, 9, 2, 0, 1, 2], np.int32))
    x = wgdml.Tensor.from_buffer(buffer, "int32", 3, device=device)
    places = wgdml.Tensor.from_buffer(buffer, "int32", 4, offset=12, device=device)
    assert wgdml.take_along_axis(x, places).numpy().tolist() == [9, 7, 8, 9]
    beyond = wgdml.asarray(np.array([3, 1000, -4, -1]), device=device)  # these take the last one
    assert wgdml.take_along_axis(x, beyond).numpy().tolist() == [9, 9, 9, 9]


def test_take_along_axis_beyond_one_binding(device):
    own = wgdml.Device(device.gpu_device)
    own.machine = replace(own.machine, max_storage_buffer_binding_size=2048)
    x = hostile("float32", (3, 1500))
    indices = oracle.argsort(x)
    oracle.assert_same(wgdml.take_along_axis(x, indices, device=own), oracle.take(x, indices, -1))
    oracle.assert_same(wgdml.take_along_axis(x.T, indices.T, 0, device=own), oracle.take(x, indices, -1).T)


def test_take_along_axis_of_complex_numbers(device):
    """As the array API standard asks: they have no order, but can be taken."""
    for numbers, dtype in (("float32", "complex64"), ("float64", "complex128")):
        x = hostile(numbers, (4, 12)).view(dtype)
        indices = np.array([[5, -1, 0], [2, 2, -6], [0, 1, 2], [3, 4, 5]])
        for given, places, axis in ((x, indices, -1), (x.T, indices.T, 0), (x.T, indices[:1].T, 0)):
            got = wgdml.take_along_axis(given, places, axis, device=device)
            want = np.take_along_axis(given, places, axis)
            assert got.dtype == dtype and got.shape == want.shape
            oracle.assert_same(got.view(numbers), np.ascontiguousarray(want).view(numbers))
    for indices, axis, error, word in (
        (np.zeros(4, int), 1, ValueError, "indices must have x's 2 dimensions"),
        (np.full((4, 1), 6), 1, ValueError, r"\[-6, 5\]"),
        (np.zeros((4, 1), int), 2, ValueError, "axis must lie in"),
        (wgdml.asarray(np.zeros((4, 1), int), device=device), 1, TypeError, "x has data type complex128"),
    ):
        with pytest.raises(error, match=word):
            wgdml.take_along_axis(x, indices, axis, device=device)
    longer = x.astype(np.clongdouble)
    if longer.dtype != x.dtype:  # as on Linux
        with pytest.raises(TypeError, match=f"x has data type {longer.dtype}"):
            wgdml.take_along_axis(longer, np.zeros((4, 1), int), device=device)
    with pytest.raises(TypeError, match="x has data type complex128"):
        wgdml.sort(x, device=device)


def test_take_along_axis_refuses(device):
    x = np.zeros((3, 4), np.float32)
    for indices, axis, error, word in (
        (np.zeros((3, 1)), 1, TypeError, "indices must be integers, not float64"),
        (np.zeros((3, 1), bool), 1, TypeError, "indices must be integers, not bool"),
        (wgdml.asarray(np.zeros((3, 1), "int8"), device=device), 1, TypeError, "indices in a Tensor must be int64.*not int8"),
        (np.zeros((3, 1), complex), 1, TypeError, "indices"),
        (np.zeros(3, int), 1, ValueError, "dimensions"),
        (np.zeros((2, 1), int), 1, ValueError, "broadcast"),
        (np.full((3, 1), 4), 1, ValueError, r"\[-4, 3\]"),
        (np.full((3, 1), -5), 1, ValueError, r"\[-4, 3\]"),
        (np.zeros((3, 1), int), 2, ValueError, "axis"),
        (np.zeros((3, 1), int), 1.0, TypeError, "axis"),
    ):
        with pytest.raises(error, match=word):
            wgdml.take_along_axis(x, indices, axis, device=device)
    with pytest.raises(ValueError, match="nothing to take"):
        wgdml.take_along_axis(np.zeros((3, 0)), wgdml.asarray(np.zeros((3, 1), int), device=device), 1)


def test_take_along_axis_checks_before_it_uploads(device, monkeypatch):
    uploads = []
    monkeypatch.setattr(wgdml.functions, "asarray", lambda *given, **more: uploads.append(given))
    x = np.ones(9, np.float32)
    for indices, axis in ((np.array([99]), 0), (np.array([0]), 3), (np.array([[0]]), 0)):
        with pytest.raises(ValueError):
            wgdml.take_along_axis(x, indices, axis, device=device)
    assert not uploads


def test_take_along_axis_of_tensors_that_cannot_be(device, monkeypatch):
    """Named, and before the other one is uploaded."""
    monkeypatch.setattr(device.transfers, "write", lambda *given: pytest.fail("something was uploaded"))
    other, buffer = wgdml.Device(), buffer_of(device, np.zeros(9, np.int64))
    far = wgdml.asarray(np.zeros(9, np.int64), device=other)
    gone = wgdml.Tensor.from_buffer(buffer, "int64", 9, device=device)
    buffer.destroy()
    host = np.zeros(9, np.int64)
    for given, word in (((host, far), "indices is on another GPU device"), ((far, host), "x is on another GPU device")):
        with pytest.raises(ValueError, match=word):
            wgdml.take_along_axis(*given, device=device)
    for given, word in (((host, gone), "indices is over a buffer"), ((gone, host), "x is over a buffer")):
        with pytest.raises(ValueError, match=f"{word} that has been destroyed"):
            wgdml.take_along_axis(*given)


def test_an_axis_of_what_has_none(device):
    with pytest.raises(ValueError, match="axis must be None or \\(\\) for x without dimensions, not 0"):
        wgdml.argmax(np.float32(5), axis=0, device=device)


def test_results_have_numpy_s_own_data_type(device):
    """Equal data types are one: results had that of the first call, its metadata too."""
    own = np.dtype("int64")
    for dtype in (np.dtype(np.longlong), np.dtype("int64", metadata={"unit": "m"})):
        x = np.arange(9, dtype=dtype)
        tensors = [wgdml.asarray(x), wgdml.empty(3, dtype), wgdml.sort(wgdml.asarray(x))]
        for found in (wgdml.sort(x), wgdml.top_k(x, 0).values, wgdml.take_along_axis(x, x), wgdml.kth_value(x, 1).values, *tensors):
            assert found.dtype is own, dtype
        assert wgdml.RunningTopK(1, dtype).dtype is wgdml.outofcore.top_k(x, 1).values.dtype is own
    assert wgdml.sort(np.arange(9)).dtype is own
