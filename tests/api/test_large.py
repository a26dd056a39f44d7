"""Problems larger than a tile, a dispatch or a binding, within the memory of a small machine."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from checks import STORAGE, check

import wgdml

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("room")]


def bits_of(count: int, seed: int, dtype: str = "float32") -> np.ndarray:
    """Elements whose every bit is at random."""
    dtype_ = np.dtype(dtype)
    return np.frombuffer(np.random.default_rng(seed).bytes(count * dtype_.itemsize), dtype_).copy()


@pytest.fixture(autouse=True)
def trimmed(device):
    """The device would keep the buffers of every test for the next one."""
    yield
    device.trim()


@pytest.fixture(scope="module")
def long_row():
    return bits_of(1 << 24, 24)


@pytest.mark.parametrize("operator", ["argmax-first", "argmin-last"])
def test_argmax_of_2_to_the_24(device, long_row, operator):
    check(operator, long_row, axis=None, device=device)
    number = np.nan_to_num(long_row, copy=True, nan=0.0)  # and with no NaN to win at once
    number[-1] = number[5_000_000] = np.inf
    number[-2] = number[4_999_999] = -np.inf
    check(operator, number, axis=None, device=device)


@pytest.mark.parametrize("mode", ["largest", "smallest"])
@pytest.mark.parametrize("k", [100, 5_000])
def test_top_k_of_2_to_the_24(device, long_row, k, mode):
    values, indices = wgdml.top_k(long_row, k, mode=mode, device=device)
    want_values, want_indices = oracle.top_k_long(long_row, k, mode == "largest")
    oracle.assert_same(indices, want_indices)
    oracle.assert_same(values, want_values)


@pytest.mark.parametrize("data", ["normal", "sorted", "reversed", "constant", "eight values"])
def test_top_k_of_2_to_the_24_in_every_distribution(device, data):
    count = 1 << 24
    x = {
        "normal": lambda: np.random.default_rng(3).standard_normal(count, np.float32),
        "sorted": lambda: np.arange(count, dtype=np.float32),
        "reversed": lambda: np.arange(count, 0, -1, dtype=np.float32),
        "constant": lambda: np.ones(count, np.float32),
        "eight values": lambda: np.random.default_rng(8).integers(0, 8, count, np.uint8).astype(np.float32),
    }[data]()
    k = 100
    values, indices = wgdml.top_k(x, k, device=device)
    want_values, want_indices = oracle.top_k_long(x, k)
    oracle.assert_same(indices, want_indices, data)
    oracle.assert_same(values, want_values, data)


@pytest.mark.parametrize(
    ("operator", "dtype"),
    [
        ("sort-ascending", "float32"),
        ("argsort-descending", "float32"),
        ("argsort-ascending", "uint64"),
        ("argsort-descending", "uint8"),
    ],
)
def test_sort_of_2_to_the_22(device, operator, dtype):
    check(operator, bits_of(1 << 22, 22, dtype), device=device)


def test_sort_with_all_keys_equal(device):
    check("argsort-descending", np.zeros((1 << 20) + 1, np.int16), device=device)


@pytest.mark.parametrize("mode", ["largest", "smallest"])
def test_half_of_a_long_row(device, mode):
    check(f"top_k-{mode}", bits_of(1_000_001, 7), k=500_001, device=device)


# More than one binding ----------------------------------------------------------------------------


def test_small_types_of_more_than_a_binding(device):
    # 160 million bytes: windows of a binding hold a whole number of words, not of rows.
    count = 160_000_000
    x = np.zeros(count, np.int8)
    x[[134_217_727, 134_217_728, 134_217_729, count - 1]] = 7
    x[[134_217_726, count - 2]] = -7
    tensor = wgdml.asarray(x, device=device)
    assert int(wgdml.argmax(tensor, device=device).numpy()) == 134_217_727
    assert int(wgdml.argmax(tensor, select_last_index=True, device=device).numpy()) == count - 1
    assert int(wgdml.argmin(tensor, device=device).numpy()) == 134_217_726
    result = wgdml.top_k(tensor, 6, device=device)
    assert result.indices.numpy().tolist() == [134_217_727, 134_217_728, 134_217_729, count - 1, 0, 1]
    rows = wgdml.Tensor.from_buffer(tensor.buffer, "int8", (159, 1_000_003), device=device)
    host = x[: 159 * 1_000_003].reshape(159, 1_000_003)
    oracle.assert_same(wgdml.argmax(rows, axis=1, device=device).numpy(), host.argmax(1).astype(np.int64))


def test_outputs_of_more_than_a_binding(device):
    # 18 million indices of 64 bits are 144 MB, in rows that no binding boundary respects.
    rows, size = 6_000_001, 3
    x = np.random.default_rng(3).integers(0, 3, (rows, size), np.uint8)
    got_values, got = wgdml.to_numpy(*wgdml.top_k(wgdml.asarray(x, device=device), size, device=device))
    device.trim()  # before as much is made for the comparison
    rank = x.astype(np.int16) * -4 + np.arange(size, dtype=np.int16)
    expected = np.argsort(rank, axis=1)
    assert got.dtype == np.int64 and np.array_equal(got, expected)
    oracle.assert_same(got_values, np.take_along_axis(x, expected, 1))


def test_far_offsets_in_a_large_buffer(device):
    # A small tensor that starts, and one whose stride leaps, beyond what one binding reaches.
    size = 200 << 20
    buffer = device.gpu_device.create_buffer(size=size, usage=STORAGE)
    x = bits_of(1_000, 5)
    device.gpu_device.queue.write_buffer(buffer, size - 4_000, x)
    tail = wgdml.Tensor.from_buffer(buffer, "float32", (1_000,), (1,), size - 4_000, device=device)
    for operator in ("argmax-first", "top_k-smallest", "sort-descending"):
        check(operator, x, k=7, given=tail, device=device)
    leaps = wgdml.Tensor.from_buffer(
        buffer, "float32", (2, 1_000), (size // 4 - 1_000, 1), device=device
    )  # zeros, as every new buffer holds, and then x
    both = np.stack([np.zeros(1_000, np.float32), x])
    for operator in ("argmax-first", "top_k-smallest", "sort-descending"):
        for axis in (0, 1):
            check(operator, both, axis=axis, k=2, given=leaps, device=device)


# Last, so that no other test stands beside these 200 MB and the device's.
@pytest.fixture(scope="module")
def larger_than_a_binding(device):
    """A 200 MB row on the device, most of it alike, with winners where windows of it meet."""
    count = 50_000_000
    limit = min(
        device.limits["max-storage-buffer-binding-size"] // 4, count // 2
    )  # elements in one binding, where bindings are as small as on lavapipe
    x = np.full(count, 0.5, np.float32)
    x[::1_000] = np.random.default_rng(1).random(count // 1_000, np.float32)
    x[[0, 1, limit - 1, limit, limit + 1, count - 2, count - 1]] = 1.0
    x[[2, limit - 2, limit + 2, count - 3]] = -1.0
    return wgdml.asarray(x, device=device), x


@pytest.mark.parametrize(("shape", "axis"), [((1_048_577, 2), 0), ((1_100_000, 3, 2), (0, 2))])
def test_argmax_of_long_axes_that_are_no_rows(device, shape, axis):
    """There are so many subsets that what they find needs subsets too."""
    x = np.zeros(shape, np.uint8)
    x[5], x[-3] = 9, 9
    for operator in ("argmax-first", "argmax-last", "argmin-first"):
        check(operator, x, axis=axis, device=device)
    if axis == 0:
        check("top_k-largest", x, k=1, axis=axis, device=device)


@pytest.mark.parametrize("operator", ["argmax-first", "argmax-last", "argmin-first", "argmin-last"])
def test_argmax_of_200_mb(device, larger_than_a_binding, operator):
    tensor, x = larger_than_a_binding
    best = x.max() if "max" in operator else x.min()
    expected = np.flatnonzero(x == best)[0 if operator.endswith("first") else -1]
    call = getattr(wgdml, operator.partition("-")[0])
    result = call(tensor, select_last_index=operator.endswith("last"), device=device)
    assert int(result.numpy()) == expected


@pytest.mark.parametrize(("k", "mode"), [(3, "smallest"), (100, "largest")])
def test_top_k_of_200_mb(device, larger_than_a_binding, k, mode):
    tensor, x = larger_than_a_binding
    result = wgdml.top_k(tensor, k, mode=mode, device=device)
    want_values, want_indices = oracle.top_k_long(x, k, mode == "largest")
    oracle.assert_same(result.indices.numpy(), want_indices)
    oracle.assert_same(result.values.numpy(), want_values)


@pytest.mark.parametrize(("shape", "axis"), [((500, 100_000), 1), ((500, 100_000), 0), ((3, 16_666_666), 1), ((400_000, 125), 1)])
def test_rows_and_columns_of_200_mb(device, larger_than_a_binding, shape, axis):
    tensor, x = larger_than_a_binding
    count = shape[0] * shape[1]
    strides = (shape[1], 1)
    view = wgdml.Tensor.from_buffer(tensor.buffer, "float32", shape, strides, device=device)
    host = x[:count].reshape(shape)
    # The data has no NaN and no zeros, so NumPy's own argmax is the oracle, on far less memory.
    oracle.assert_same(wgdml.argmax(view, axis=axis, device=device).numpy(), host.argmax(axis).astype(np.int64))
    values, indices = wgdml.top_k(view, 2, axis=axis, device=device)
    first = host.argmax(axis)
    place = np.expand_dims(first, axis)
    best = np.take_along_axis(host, place, axis)
    np.put_along_axis(host, place, -np.inf, axis)
    expected = np.stack([first, host.argmax(axis)], axis)
    np.put_along_axis(host, place, best, axis)
    oracle.assert_same(indices.numpy(), expected.astype(np.int64))
    oracle.assert_same(values.numpy(), np.take_along_axis(host, expected, axis))
