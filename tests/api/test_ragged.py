"""Lengths, starts, counts and ids in the functions: exact, from arrays and from Tensors."""

from __future__ import annotations

import re
from typing import Any

import data
import numpy as np
import oracle
import pytest
from checks import strided_tensor
from planning import planned_device

import wgdml

TYPES = ("float32", "int32", "uint8", "float16", "int64", "float64", "bool", "bfloat16")


def expected(
    x: np.ndarray, k: int, axis: int, largest: bool = True, ids: Any = None, **spans: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The oracle's answer along an axis; ``spans`` have x's shape without it, or less."""
    lines = np.moveaxis(x, axis, -1)
    batch = lines.shape[:-1]
    flat = {n: np.broadcast_to(v, batch).reshape(-1) for n, v in spans.items() if n != "nan_last"}
    values, indices = oracle.ragged_top_k(
        lines.reshape(-1, lines.shape[-1]), k, largest, nan_last=spans.get("nan_last", False), **flat
    )
    if ids is not None:
        own = np.moveaxis(np.broadcast_to(ids, x.shape), axis, -1).reshape(indices.shape[0], -1)
        taken = oracle.take(np.ascontiguousarray(own), np.maximum(indices, 0), 1)
        ones = oracle.from_bits(np.full(indices.shape, -1, np.int64).astype(f"u{own.itemsize}"), own.dtype)
        indices = oracle.from_bits(np.where(indices < 0, oracle.bits(ones), oracle.bits(taken)), own.dtype)
    shape = (*batch, k)
    return np.moveaxis(values.reshape(shape), -1, axis), np.moveaxis(indices.reshape(shape), -1, axis)


def assert_result(found: Any, wanted: tuple[np.ndarray, np.ndarray], case: object = "") -> None:
    oracle.assert_same(np.asarray(found.values), wanted[0], case)
    oracle.assert_same(np.asarray(found.indices), wanted[1], case)


@pytest.mark.parametrize("name", TYPES)
def test_lengths_of_every_type(device, name):
    rng = np.random.default_rng(1)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        x = data.make(kind, name, (4, 83), number)
        lengths = rng.integers(0, 84, 4)
        for mode in ("largest", "smallest"):
            found = wgdml.top_k(x, 9, mode=mode, lengths=lengths, device=device)
            assert isinstance(found.values, np.ndarray)
            assert_result(found, expected(x, 9, -1, mode == "largest", lengths=lengths), (kind, mode))


@pytest.mark.parametrize("numbers", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_any_integers_and_what_they_are_broadcast_to(device, numbers):
    rng = np.random.default_rng(2)
    x = data.make("random", "float32", (3, 50, 4))
    lengths = rng.integers(0, 40, (3, 1)).astype(numbers)
    starts = rng.integers(0, 10, 4).astype(numbers)
    counts = np.array(5, numbers)
    found = wgdml.top_k(x, 7, axis=1, lengths=lengths, starts=starts, counts=counts, device=device)
    assert_result(found, expected(x, 7, 1, lengths=lengths, starts=starts, counts=counts))
    tensors = [wgdml.asarray(n, device=device) for n in (lengths, starts, counts)]
    found = wgdml.top_k(x, 7, axis=1, lengths=tensors[0], starts=tensors[1], counts=tensors[2], device=device)
    assert isinstance(found.values, wgdml.Tensor)
    assert_result(found, expected(x, 7, 1, lengths=lengths, starts=starts, counts=counts))


@pytest.mark.parametrize("nan", ["greatest", "last"])
def test_nan_and_what_stands_for_no_item(device, nan):
    x = data.make("nan_payloads", "float32", (5, 40))
    lengths = np.array([0, 1, 7, 39, 40])
    for mode in ("largest", "smallest"):
        found = wgdml.top_k(x, 40, mode=mode, nan=nan, lengths=lengths, device=device)
        assert_result(found, expected(x, 40, -1, mode == "largest", lengths=lengths, nan_last=nan == "last"), mode)


def test_an_axis_of_size_0(device):
    """What the page on ragged rows says of it."""
    x, none = np.zeros((3, 0), np.float32), [0, 0, 0]
    assert wgdml.top_k(x, 0, lengths=none).indices.shape == wgdml.sort(x, lengths=none).shape == (3, 0)
    assert wgdml.argsort(x, lengths=none).shape == (3, 0)
    with pytest.raises(ValueError, match="nothing to reduce"):
        wgdml.argmax(x, axis=1, lengths=none)


def test_numbers_on_the_device_are_cut_to_the_axis(device):
    x = data.make("random", "int32", (6, 30))
    lengths = wgdml.asarray(np.array([31, 2**31 - 1, -1, 5, 30, -(2**31)], np.int32), device=device)
    starts = wgdml.asarray(np.array([0, 3, 2, 29, 31, 2**40]), device=device)
    counts = wgdml.asarray(np.array([200, 3, 1, 2, 1, 0], np.uint8), device=device)
    found = wgdml.top_k(x, 4, lengths=lengths, starts=starts, counts=counts, device=device)
    numbers = {"lengths": lengths.numpy(), "starts": starts.numpy(), "counts": counts.numpy()}
    assert_result(found, expected(x, 4, -1, **numbers))


def test_tensors_of_any_layout(device):
    x, host = strided_tensor(device, "random", "float16", (5, 60), (131, 2), 3)
    lengths, own = strided_tensor(device, "constant", "int16", (5,), (3,), 7)
    ids, names = strided_tensor(device, "random", "int64", (5, 60), (1, 5), 2)
    own = own * 0 + np.arange(5, dtype=np.int16) * 11
    flat = np.zeros(7 + 13, np.int16)
    flat[7::3] = own
    device.gpu_device.queue.write_buffer(lengths.buffer, 0, np.ascontiguousarray(flat))
    found = wgdml.top_k(x, 6, lengths=lengths, indices=ids, device=device)
    assert_result(found, expected(host, 6, -1, lengths=own, ids=names))


@pytest.mark.parametrize("ids", ["uint32", "int32", "float32", "int64", "uint64", "float64"])
def test_ids_stand_for_positions(device, ids):
    x = data.make("eight_values", "float32", (7, 90))
    for shape in ((7, 90), (90,), (7, 1)):
        own = data.make("random", ids, shape)
        assert_result(wgdml.top_k(x, 11, indices=own, device=device), expected(x, 11, -1, ids=own), shape)
        assert_result(
            wgdml.top_k(x.T, 11, axis=0, indices=own.T if len(shape) > 1 else own[:, None], device=device),
            expected(x.T, 11, 0, ids=own.T if len(shape) > 1 else own[:, None]),
            shape,
        )
    # The elements themselves, ties and all.
    found = wgdml.top_k(x, 11, indices=x, device=device)
    oracle.assert_same(found.indices, found.values)


@pytest.mark.parametrize("last", [False, True])
def test_argmax_and_argmin(device, last):
    rng = np.random.default_rng(3)
    x = data.make("few_distinct", "int16", (4, 6, 7))
    for axis in (0, 1, 2, (0, 1), (1, 2), (0, 2), None):
        axes = tuple(range(3)) if axis is None else (axis,) if isinstance(axis, int) else axis
        kept = [d for d in range(3) if d not in axes]
        n = int(np.prod([x.shape[d] for d in axes]))
        batch = tuple(x.shape[d] for d in kept)
        starts = rng.integers(0, n, batch)
        lengths = np.minimum(rng.integers(0, n + 1, batch), n - starts)
        lines = x.transpose(*kept, *axes).reshape(-1, n)
        for call, largest in ((wgdml.argmax, True), (wgdml.argmin, False)):
            found = call(x, axis=axis, select_last_index=last, lengths=lengths, starts=starts, device=device)
            wanted = [
                -1 if m == 0 else s + int(oracle.arg_reduce(line[s : s + m], 0, select_last=last, largest=largest))
                for line, s, m in zip(lines, np.ravel(starts), np.ravel(lengths), strict=True)
            ]
            assert np.array_equal(np.asarray(found), np.array(wanted).reshape(batch)), (axis, largest)
            kept_dims = call(x, axis=axis, keepdims=True, lengths=lengths, starts=starts, device=device)
            assert kept_dims.shape == tuple(1 if d in axes else m for d, m in enumerate(x.shape))


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint64", "uint32"])
def test_no_item_has_index_minus_one(device, dtype):
    x = np.ones((3, 5), np.float32)
    found = wgdml.argmax(x, axis=1, lengths=[0, 5, 0], index_dtype=dtype, device=device)
    assert found.dtype == dtype and np.array_equal(found, np.array([-1, 0, -1]).astype(dtype))


def test_sort_and_argsort(device):
    x = data.make("random", "float32", (4, 70))
    lengths = np.array([0, 69, 70, 13])
    for descending in (False, True):
        values, indices = expected(x, 70, -1, descending, lengths=lengths)
        oracle.assert_same(wgdml.sort(x, descending=descending, lengths=lengths, device=device), values)
        oracle.assert_same(wgdml.argsort(x, descending=descending, lengths=lengths, device=device), indices)


def segments(rng: np.random.Generator, count: int, n: int, longest: int) -> tuple[np.ndarray, np.ndarray]:
    starts = rng.integers(0, n + 1, count)
    return starts, np.minimum(rng.integers(0, longest + 1, count), n - starts)


@pytest.mark.parametrize("name", data.in_turn(["uint8", "float32", "int64"]))
def test_segments_of_one_array(device, name):
    rng = np.random.default_rng(4)
    x = data.make("eight_values", name, 3001)
    starts, lengths = segments(rng, 90, x.size, 40)
    lengths[::30] = x.size - starts[::30]
    wide = np.broadcast_to(x, (90, x.size))
    wanted = expected(wide, 5, -1, starts=starts, lengths=lengths)
    assert_result(wgdml.top_k(x, 5, starts=starts, lengths=lengths, device=device), wanted)
    resident = [wgdml.asarray(a, device=device) for a in (x, starts, lengths)]
    for longest in (None, 3001, 10**6):
        found = wgdml.top_k(resident[0], 5, starts=resident[1], lengths=resident[2], longest=longest, device=device)
        assert_result(found, wanted)
    found = wgdml.top_k(resident[0], 5, starts=resident[1], lengths=resident[2], longest=7, device=device)
    assert_result(found, expected(wide, 5, -1, starts=starts, lengths=np.minimum(lengths, 7)))
    ids = data.make("random", "int64", x.size)
    found = wgdml.top_k(x, 5, starts=starts, lengths=lengths, indices=ids, device=device)
    assert_result(found, expected(wide, 5, -1, starts=starts, lengths=lengths, ids=ids))
    first = wgdml.argmax(x, starts=starts.reshape(9, 10), lengths=lengths.reshape(9, 10), device=device)
    assert np.array_equal(first, wanted[1][:, 0].reshape(9, 10))


def test_offsets_of_segments(device):
    # As CSR has them, with neighbours that share a bound.
    x = data.make("random", "float32", 1000)
    offsets = np.array([0, 0, 1, 400, 403, 999, 1000, 1000])
    starts, lengths = offsets[:-1], np.diff(offsets)
    found = wgdml.top_k(x, 3, starts=starts, lengths=lengths, device=device)
    assert_result(found, expected(np.broadcast_to(x, (7, 1000)), 3, -1, starts=starts, lengths=lengths))


def test_results_into_tensors(device):
    x = data.make("random", "float32", (4, 30))
    values = wgdml.empty((4, 3), "float32", device=device)
    ids = wgdml.empty((4, 3), "float32", device=device)
    found = wgdml.top_k(x, 3, lengths=[3, 0, 30, 1], indices=x, out=(values, ids), device=device)
    assert found.values is values and found.indices is ids
    assert_result(found, expected(x, 3, -1, lengths=[3, 0, 30, 1], ids=x))
    shared = wgdml.asarray(x, device=device)
    with pytest.raises(ValueError, match="out must not share memory with x"):
        wgdml.sort(shared, lengths=3, out=shared, device=device)
    numbers = wgdml.asarray(np.full((4, 3), 2.0, np.float32), device=device)
    with pytest.raises(ValueError, match="out's values must not share memory with indices"):
        wgdml.top_k(x, 3, indices=shared, out=(wgdml.Tensor.from_buffer(shared.buffer, "float32", (4, 3), device=device), numbers))


def test_nothing_to_select(device):
    x = np.zeros((0, 5), np.float32)
    assert wgdml.top_k(x, 2, lengths=np.zeros(0, int), device=device).values.shape == (0, 2)
    assert wgdml.top_k(np.zeros((3, 5), np.float32), 0, lengths=2, device=device).indices.shape == (3, 0)
    flat = wgdml.top_k(np.zeros(5, np.float32), 2, starts=np.zeros(0, int), lengths=np.zeros(0, int), device=device)
    assert flat.values.shape == (0, 2)


X = np.ones((3, 8), np.float32)
BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"lengths": [1.0, 2.0, 3.0]}, TypeError, "lengths must be integers, not float64"),
    ({"lengths": [True, False, True]}, TypeError, "lengths must be integers, not bool"),
    ({"lengths": "abc"}, TypeError, "lengths"),
    ({"starts": object()}, TypeError, "starts"),
    ({"lengths": [1, 2]}, ValueError, r"lengths must have x's shape without the axis, \(3,\), .* not \(2,\)"),
    ({"starts": np.zeros((3, 8), int)}, ValueError, r"starts must have .*\(3,\).* not \(3, 8\)"),
    ({"counts": np.zeros((1, 3), int)}, ValueError, r"counts must have .*\(3,\).* not \(1, 3\)"),
    ({"lengths": [1, -1, 3]}, ValueError, "lengths must not be negative, not -1"),
    ({"starts": -2}, ValueError, "starts must not be negative, not -2"),
    ({"lengths": [1, 9, 3]}, ValueError, "lengths must be at most the axis's size of 8, not 9"),
    ({"starts": 9}, ValueError, "starts must be at most the axis's size of 8, not 9"),
    ({"starts": 5, "lengths": [1, 3, 4]}, ValueError, r"starts \+ lengths must be at most the axis's size of 8, not 9"),
    ({"lengths": np.uint64(2**63)}, ValueError, "lengths must be at most"),
    ({"counts": [2, 3, 0]}, ValueError, "counts must be at most k = 2, not 3"),
    ({"counts": -1}, ValueError, "counts must not be negative, not -1"),
    ({"indices": np.zeros((3, 8), np.int16)}, TypeError, "indices must have a data type of 32 or 64 bits, not int16"),
    ({"indices": np.zeros((3, 7), np.int32)}, ValueError, r"indices must have x's shape, \(3, 8\), .* not \(3, 7\)"),
    ({"lengths": 3, "longest": 0}, ValueError, "longest must be at least 1, not 0"),
    ({"starts": 3, "longest": 2}, ValueError, "longest must be None without lengths, which it bounds, not 2"),
    ({"lengths": [2, 3, 1], "longest": 2}, ValueError, "lengths must be at most longest = 2, not 3"),
    ({"lengths": 3, "longest": 2.5}, TypeError, "longest must be an integer, not 2.5"),
]


@pytest.mark.parametrize(("given", "error", "words"), BAD)
def test_bad_input(no_device, given, error, words):
    with pytest.raises(error, match=words):
        wgdml.top_k(X, 2, **given)


def test_bad_input_of_other_functions(no_device):
    for call in (wgdml.argmax, wgdml.argmin, wgdml.sort, wgdml.argsort):
        with pytest.raises(ValueError, match="lengths must be at most the axis's size of 8, not 11"):
            call(X, axis=1, lengths=[1, 2, 11])
    with pytest.raises(ValueError, match=re.escape("lengths and starts must have shapes that can be broadcast together")):
        wgdml.argmax(X[0], starts=[1, 2], lengths=[1, 2, 3])
    with pytest.raises(ValueError, match="lengths must be at most the axis's size of 24"):
        wgdml.argmax(X, lengths=25)


def test_bad_tensors(device):
    with pytest.raises(TypeError, match="lengths must be integers, not float32"):
        wgdml.top_k(X, 2, lengths=wgdml.asarray(X[:, 0], device=device))
    with pytest.raises(ValueError, match=r"lengths must have x's shape without the axis"):
        wgdml.top_k(X, 2, lengths=wgdml.asarray([1, 2], device=device))


def test_a_payload_follows_as_far_as_its_length(device):
    x = data.make("eight_values", "float32", (4, 70))
    lengths = np.array([0, 69, 70, 13])
    ids = data.make("random", "int64", (4, 70))
    for descending in (False, True):
        found = wgdml.sort(x, ids, descending=descending, lengths=lengths, device=device)
        values, wanted = expected(x, 70, -1, descending, ids=ids, lengths=lengths)
        oracle.assert_same(found.values, values)
        oracle.assert_same(found.payload, wanted)
    found = wgdml.sort(x, ids, lengths=wgdml.asarray(lengths, device=device), device=device)
    assert isinstance(found.payload, wgdml.Tensor)
    oracle.assert_same(found.payload.numpy(), expected(x, 70, -1, False, ids=ids, lengths=lengths)[1])


def test_what_is_on_another_gpu_device_is_named(device):
    x = np.zeros((2, 5), np.float32)
    with wgdml.Device() as other:
        theirs = wgdml.asarray(np.int32([1, 2]), device=other)
        ids = wgdml.asarray(np.arange(10, dtype=np.int32).reshape(2, 5), device=other)
        with pytest.raises(ValueError, match="lengths is on another GPU device"):
            wgdml.top_k(wgdml.asarray(x), 1, lengths=theirs)
        with pytest.raises(ValueError, match="indices is on another GPU device"):
            wgdml.top_k(wgdml.asarray(x), 1, indices=ids)


@pytest.mark.parametrize("algorithm", [None, "delegates"])
def test_thresholds_between_a_piece_and_its_padding(device, algorithm):
    """A span whose end lies in another piece of the axis: its k-th may be an index of neither."""
    planned, _ = planned_device(device, algorithm, limits={"max_storage_buffer_binding_size": 1 << 16})
    x = np.zeros((1, 130048), np.uint8)  # in pieces of 65024 items
    x[0, 63509] = 255
    for start in (63439, 63450):
        spans = {"starts": np.array([start]), "lengths": np.array([3169])}
        values, indices = wgdml.to_numpy(*wgdml.top_k(wgdml.asarray(x, device=planned), 100, **spans))
        want = oracle.ragged_top_k(x, 100, **spans)
        oracle.assert_same(values, want[0])
        assert np.array_equal(indices, want[1])


def test_spans_of_a_single_number(device):
    for x, empty, best in ((np.float32(3), -1, 0), (wgdml.asarray(np.int64(3), device=device), -1, 0)):
        for function in (wgdml.argmax, wgdml.argmin):
            for length, want in ((1, best), (0, empty)):
                found = function(x, lengths=length, device=device)
                assert found.shape == () and wgdml.to_numpy(found)[0] == want


def test_a_single_number_has_no_axis(no_device):
    for call in (
        lambda x: wgdml.top_k(x, 2, lengths=1),
        lambda x: wgdml.top_k(x, 1, indices=np.int32(7)),
        lambda x: wgdml.sort(x, lengths=1),
        lambda x: wgdml.argsort(x, lengths=1),
        lambda x: wgdml.sort(x, np.int32(7)),
    ):
        with pytest.raises(ValueError, match="x must have at least one dimension"):
            call(np.float32(3))
    with pytest.raises(ValueError, match=re.escape("axis must be None or () for x without dimensions, not 0")):
        wgdml.argmax(np.float32(3), axis=0, lengths=1)


def test_segments_of_many_dimensions(device):
    x, lengths = np.arange(5.0), np.full((1,) * 40 + (2,), 3)
    values, _ = wgdml.top_k(x, 1, lengths=lengths, starts=np.array([0, 2]), device=device)
    assert values.shape == (1,) * 40 + (2, 1) and values.ravel().tolist() == [2, 4]
    with pytest.raises(ValueError, match=re.escape("must have shapes that can be broadcast together")):
        wgdml.top_k(x, 1, lengths=lengths, starts=np.zeros(3, int), device=device)


def test_empty_lists_are_of_integers():
    """NumPy takes them for float64."""
    x = np.arange(6, dtype=np.float32)
    values, indices = wgdml.top_k(x, 2, starts=[], lengths=[])
    assert values.shape == indices.shape == (0, 2) and indices.dtype == np.int64
    assert wgdml.top_k(x.reshape(-1, 3)[:0], 2, lengths=[], counts=()).values.shape == (0, 2)
    assert wgdml.argmax(x, starts=(), lengths=()).shape == (0,)
    assert wgdml.top_k(x[:0], 0, indices=[]).indices.dtype == np.int64
    assert wgdml.take_along_axis(x, []).shape == (0,)
    running = wgdml.RunningTopK(2, "float32")
    running.update(x, indices=list(range(10, 16)))
    running.update(x[:0], indices=[])
    assert running.result().indices.numpy().tolist() == [15, 14]
    with pytest.raises(TypeError, match="lengths must be integers, not float64"):
        wgdml.top_k(x.reshape(-1, 3)[:0], 2, lengths=np.array([]))
