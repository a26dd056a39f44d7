"""Arrays that go through the device block by block: exact, in bounded memory, stopped cleanly."""

from __future__ import annotations

import io
import json
import math
import mmap
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import oracle
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

import wgdml
from wgdml import cli, outofcore
from wgdml.runtime.transfers import uploads

MIB = 1 << 20


@pytest.fixture(scope="module")
def small_device(device):
    """A device whose largest buffer is 256 MiB. It counts the bytes of all buffers ever made."""

    limits = {"max-buffer-size": 256 * MIB, "max-storage-buffer-binding-size": 128 * MIB}
    small = wgdml.Device(device.gpu_device.adapter.request_device_sync(required_limits=limits))
    assert small.limits["max-buffer-size"] == 256 * MIB
    create = small.buffers.create
    small.made = 0

    def counted(size: int, usage: int) -> Any:
        small.made += size
        return create(size, usage)

    small.buffers.create = counted
    return small


def file_of(path: Any, shape: Any, dtype: Any = np.float32) -> np.memmap:
    """A file of zeros that takes room on the disk only where something else is written."""
    return np.memmap(path / "array.dat", dtype, "w+", shape=shape)


class DataSet:
    """What HDF5 and Zarr give: an object that is read part by part."""

    chunks = None

    def __init__(self, x: np.ndarray) -> None:
        self.x, self.shape, self.dtype, self.largest = x, x.shape, x.dtype, 0

    def __getitem__(self, key: Any) -> np.ndarray:
        part = self.x[key]
        self.largest = max(self.largest, part.nbytes)
        return part.copy()


# Exactness ----------------------------------------------------------------------------------------

CASES = [
    # shape, type, axis, k, bytes of a block
    ((1000,), "float32", 0, 7, 400),
    ((1000,), "int8", 0, 100, 200),
    ((4000,), "bfloat16", 0, 1, 20),  # more blocks than are merged at once
    ((9, 41), "uint64", 1, 3, 128),
    ((37, 11), "float16", 0, 3, 300),
    ((41, 37), "float64", 0, 2, 4000),
    ((500, 3), "int16", 1, 2, 100),
    ((3, 11, 13), "uint8", 1, 2, 64),
    ((3, 4, 5, 6), "int64", 2, 5, 128),
]


@pytest.mark.parametrize(("shape", "dtype", "axis", "k", "block"), CASES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_top_k_is_exact(device, shape, dtype, axis, k, block, order):
    x = np.random.default_rng(1).integers(0, 9, shape).astype(oracle.DTYPES[dtype])
    if oracle.is_float(x.dtype):
        x.reshape(-1)[::17] = np.nan
        x.reshape(-1)[1::5] = -0.0
    stored = np.array(x, order=order)
    for mode in ("largest", "smallest"):
        values, indices = outofcore.top_k(stored, k, axis=axis, mode=mode, block_bytes=block, device=device)
        expected = oracle.top_k(x, k, axis, mode == "largest")
        oracle.assert_same(values, expected[0], (mode, order))
        oracle.assert_same(indices, expected[1], (mode, order))


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (2, 0), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_argmax_and_argmin_are_exact(device, axis, order):
    x = np.random.default_rng(2).integers(0, 5, (7, 11, 13)).astype(np.float32)
    x[3, 4, ::3] = np.nan
    for block in (64, 900):
        for last in (False, True):
            for function, largest in ((outofcore.argmax, True), (outofcore.argmin, False)):
                got = function(
                    np.array(x, order=order), axis=axis, select_last_index=last, keepdims=last, block_bytes=block, device=device
                )
                oracle.assert_same(got, oracle.arg_reduce(x, axis, last, last, largest), (block, last))


def test_backwards_and_broadcast_arrays(device):
    x = np.random.default_rng(8).integers(0, 9, (20, 30)).astype(np.int32)[::-1, ::-2]
    oracle.assert_same(outofcore.argmax(x, axis=0, block_bytes=256, device=device), x.argmax(0))
    x = np.broadcast_to(x[0], (5, 15))
    oracle.assert_same(outofcore.top_k(x, 2, axis=1, block_bytes=64, device=device)[1], oracle.top_k(x, 2, 1)[1])


def test_ties_across_blocks(device):
    """Equal values on both sides of every border: positions settle ties as indices would."""
    x = np.full(640, 5, np.int32)
    x[::9] = 2
    for mode in ("largest", "smallest"):
        got = outofcore.top_k(x, 80, mode=mode, block_bytes=256, device=device)
        oracle.assert_same(got.indices, oracle.top_k(x, 80, 0, mode == "largest")[1])
    x = np.array([2, 5, 5, 1, 5, 5], np.int32)
    assert outofcore.top_k(x, 3, block_bytes=8, device=device).indices.tolist() == [1, 2, 4]


def test_whole_sequences_are_selected_at_once(device, monkeypatch):
    """Merging their pairs takes up to three times as long as short ones."""

    def none(*_: Any) -> Any:
        raise AssertionError("a running top-k for sequences that are not cut")

    monkeypatch.setattr(outofcore, "running_of", none)
    x = np.random.default_rng(4).integers(0, 9, (50, 6)).astype(np.float32)
    found = outofcore.top_k(x, 4, axis=1, device=device, block_bytes=400, progress=None)
    oracle.assert_same(found, oracle.top_k(x, 4, 1))
    index = outofcore.argmax(x, axis=1, select_last_index=True, device=device, block_bytes=400, progress=None)
    assert index.tolist() == (5 - x[:, ::-1].argmax(1)).tolist()


def test_indices_must_fit_their_type(device):
    with pytest.raises(ValueError, match=r"index_dtype is int32, .* it must hold 4294967295"):
        outofcore.argmax(DataSet(np.broadcast_to(np.uint8(0), (2**16, 2**16))), index_dtype="int32", device=device)


@given(
    st.lists(st.integers(1, 3000), min_size=1, max_size=4),
    st.permutations(range(4)),
    st.sets(st.integers(0, 3), min_size=1),
    st.integers(1, 50),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(1, 10**6),
)
@example([1000, 1000], [0, 1, 2, 3], {0}, 1, 4, 65536)
def test_blocks(shape, order, axes, k, itemsize, block_bytes):
    order = [d for d in order if d < len(shape)]
    axes = sorted(a for a in axes if a < len(shape)) or [0]
    sizes = outofcore.block_sizes(shape, order, axes, k, itemsize, block_bytes)
    assert all(1 <= size <= n for size, n in zip(sizes, shape, strict=True))
    assert math.prod(sizes) * itemsize <= max(block_bytes, itemsize)
    inner_whole = True
    for axis in reversed(axes):
        assert inner_whole or sizes[axis] == 1, "the indices of a block must be one range"
        inner_whole = inner_whole and sizes[axis] == shape[axis]
    for size, n in zip(sizes, shape, strict=True):
        ranges = outofcore._ranges(n, size)
        lengths = {r.stop - r.start for r in ranges}
        assert max(lengths) <= size and max(lengths) - min(lengths) <= 1
        assert [r.start for r in ranges] == [0, *(r.stop for r in ranges[:-1])] and ranges[-1].stop == n


# Size ---------------------------------------------------------------------------------------------


def resident() -> int:
    """Bytes of the process that are not pages of files."""
    if not sys.platform.startswith("linux"):
        return 0  # and nothing is measured
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) << 10


def forget(x: np.memmap) -> None:
    """Hands the pages that were read back to the system. They would count as the process's own."""
    if hasattr(mmap, "MADV_DONTNEED"):
        x.base.madvise(mmap.MADV_DONTNEED)


@pytest.mark.slow
def test_memory_map_of_300_mb(small_device, tmp_path):
    x = file_of(tmp_path, (600, 500, 250))
    tile = np.random.default_rng(3).standard_normal((60, 500, 250), np.float32)
    for start in range(0, 600, 60):
        x[start : start + 60] = tile
        forget(x)
    best = int(tile.argmax())
    assert int(wgdml.argmax(x, device=small_device)) == best
    oracle.assert_same(wgdml.argmin(x, axis=2, device=small_device), np.tile(tile.argmin(2), (10, 1)))
    oracle.assert_same(wgdml.argmax(x, axis=0, device=small_device), tile.argmax(0))
    # The tile repeats, so that the winner comes ten times.
    values, indices = wgdml.top_k(x.reshape(-1), 10, device=small_device)
    oracle.assert_same(indices, best + tile.size * np.arange(10))
    oracle.assert_same(values, np.full(10, tile.max()))
    del x


@pytest.mark.slow
def test_file_of_gigabytes_over_256_mib(small_device, tmp_path):
    """2.4 gigabytes through a device that may take 256 MiB, with as little of the host's memory."""
    x = file_of(tmp_path, (600_000_000,))
    places = [5, 134_217_727, 134_217_728, 500_000_001, 599_999_999]
    x[places] = 3.5
    x[400_000_000] = -1
    small_device.trim()
    small_device.made = 0
    before, most, calls = resident(), 0, []

    def watch(done: int, total: int) -> None:
        nonlocal most
        most = max(most, resident() - before)
        calls.append((done, total))
        forget(x)

    values, indices = outofcore.top_k(x, 7, device=small_device, progress=watch)
    assert indices.tolist() == [*places, 0, 1] and values.tolist() == [3.5] * 5 + [0, 0]
    assert [done for done, _ in calls] == sorted({done for done, _ in calls}) and calls[-1] == (x.nbytes, x.nbytes)
    assert len(calls) >= 64
    assert small_device.made <= 256 * MIB
    # On a software adapter the device's memory is the host's.
    assert most <= 400 * MIB, f"{most >> 20} MiB"
    assert int(outofcore.argmin(x, device=small_device, progress=lambda done, total: forget(x))) == 400_000_000


def test_data_sets(device):
    x = np.random.default_rng(5).integers(0, 100, (60, 1000)).astype(np.int32)
    source = DataSet(x)
    assert int(outofcore.argmax(source, block_bytes=8192, device=device)) == int(x.argmax())
    assert 0 < source.largest <= 8192
    oracle.assert_same(outofcore.top_k(source, 4, axis=0, block_bytes=8192, device=device)[1], oracle.top_k(x, 4, 0)[1])
    swapped = DataSet(x.astype(">i4"))
    oracle.assert_same(outofcore.argmin(swapped, axis=1, device=device), x.argmin(1))


def test_functions_take_data_sets(device, monkeypatch):
    monkeypatch.setattr(wgdml.functions, "_LONG", 1000)
    x = np.random.default_rng(6).integers(0, 100, (30, 100)).astype(np.int32)
    source = DataSet(x)
    oracle.assert_same(wgdml.argmax(source, axis=1, keepdims=True, device=device), x.argmax(1, keepdims=True))
    oracle.assert_same(wgdml.argmin(source, device=device), oracle.argmin(x))
    oracle.assert_same(wgdml.top_k(source, 3, mode="smallest", device=device)[1], oracle.top_k(x, 3, 1, False)[1])
    assert source.largest > 0
    for shape, words in (((30, 100.0), "each of x.shape must be an integer, not 100.0"), ((-30, -100), "x.shape must have no neg")):
        source.shape = shape
        for function in (wgdml.argmax, outofcore.argmax):
            with pytest.raises((TypeError, ValueError), match=words):
                function(source)


def test_max_and_min(device):
    x = np.random.default_rng(8).integers(0, 9, (30, 100)).astype(np.float32)
    x[3, 4] = np.nan
    for function, largest in ((outofcore.max, True), (outofcore.min, False)):
        for axis, keepdims in ((None, False), (0, True), ((1, 0), False)):
            got = function(x, axis=axis, keepdims=keepdims, block_bytes=800, device=device)
            oracle.assert_same(got, oracle.extreme(x, axis, keepdims, largest=largest))
        values, indices = function(x, axis=1, nan="last", return_indices=True, index_dtype="uint32", block_bytes=800, device=device)
        oracle.assert_same(values, oracle.extreme(x, 1, largest=largest, nan_last=True))
        oracle.assert_same(indices, oracle.arg_reduce(x, 1, largest=largest, nan_last=True).astype(np.uint32))


# On the way ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_bytes", [None, 16])
def test_max_over_no_axes_reduces_nothing(device, block_bytes):
    x = np.float32([[1, np.nan], [-0.0, 3], [5, 5]])
    values, indices = outofcore.max(x, axis=(), return_indices=True, index_dtype="int32", block_bytes=block_bytes)
    oracle.assert_same(values, x)
    oracle.assert_same(indices, np.zeros(x.shape, np.int32))
    with pytest.raises(ValueError, match="axis must name at least one axis"):
        outofcore.argmax(x, axis=())


def test_interrupt(device):
    """Ctrl-C ends the work at once and gives the memory back; the device works on."""
    x = np.random.default_rng(7).standard_normal(1 << 20).astype(np.float32)
    ended: list[Any] = []
    calls = []

    @contextmanager
    def watched(*arguments: Any) -> Iterator[Any]:
        try:
            with uploads(*arguments) as upload:
                yield upload
        except BaseException as error:
            ended.append(type(error))
            raise

    def stop(done: int, total: int) -> None:
        calls.append(done)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outofcore, "uploads", watched)
        with pytest.raises(KeyboardInterrupt):
            outofcore.top_k(x, 5, block_bytes=1 << 16, device=device, progress=stop)
    assert len(calls) == 3 and ended == [KeyboardInterrupt]
    assert int(outofcore.argmax(x, block_bytes=1 << 18, device=device)) == int(x.argmax())


def test_bar_on_a_terminal(device, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(outofcore, "_BAR_AFTER", 0.0)
    x = np.arange(5000, dtype=np.float32)
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        assert int(outofcore.argmax(x, block_bytes=4000, device=device)) == 4999
        assert ("20.0/20.0 kB" in stream.getvalue()) == shown


def test_no_bar_where_standard_error_is_none_or_closed_or_cannot_tell(device, monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed, SimpleNamespace(write=len, flush=int)):
        monkeypatch.setattr(sys, "stderr", stream)
        assert int(outofcore.argmax(np.arange(9), device=device)) == 8


def test_bad_input(device):
    x = np.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match="k must be at most the axis's size of 4, not 5"):
        outofcore.top_k(x, 5, device=device)
    with pytest.raises(ValueError, match="axis must lie in"):
        outofcore.argmax(x, axis=2, device=device)
    with pytest.raises(ValueError, match="block_bytes must be at least 1"):
        outofcore.argmax(x, block_bytes=0, device=device)
    with pytest.raises(TypeError, match="progress must be"):
        outofcore.argmax(x, progress="yes", device=device)
    for other in ([1, 2], wgdml.asarray(x, device=device)):
        with pytest.raises(TypeError, match=r"x must have shape, dtype and x\[slices\]"):
            outofcore.argmax(other, device=device)
    assert type(outofcore.argmax(x, device=device)) is type(wgdml.argmax(x, device=device))
    with pytest.raises(TypeError, match="complex"):
        outofcore.argmax(x.astype(complex), device=device)
    with pytest.raises(ValueError, match="nothing to reduce"):
        outofcore.argmax(x[:0], device=device)
    assert outofcore.argmax(x[:0], axis=1, device=device).shape == (0,)
    assert outofcore.top_k(x, 0, device=device).values.shape == (3, 0)

    for name, value, kind in (
        ("shape", None, TypeError),
        ("shape", 5, TypeError),
        ("shape", (3, -4), ValueError),
        ("shape", (3, None), TypeError),
        ("dtype", None, TypeError),
        ("dtype", "zz", TypeError),
    ):
        source = DataSet(x)
        setattr(source, name, value)
        for call in (outofcore.argmax, lambda source: outofcore.top_k(source, 1)):
            with pytest.raises(kind, match=rf"x\.{name} must"):
                call(source)

    class Short(DataSet):
        def __getitem__(self, key: Any) -> np.ndarray:
            return self.x[key][:1]

    with pytest.raises(ValueError, match="x gave float32"):
        outofcore.argmax(Short(x), device=device)


def test_new_axes_of_long_arrays(small_device, tmp_path):
    """NumPy gives a new axis stride 0, as it gives one that repeats elements."""
    x = file_of(tmp_path, (256 * MIB + 4,), np.uint8)
    x[200 * MIB] = 3
    assert wgdml.argmax(x[None], axis=1, device=small_device).tolist() == [200 * MIB]
    assert wgdml.top_k(x[:, None], 1, axis=0, device=small_device).indices.tolist() == [[200 * MIB]]


def test_arrays_over_a_buffer_of_less_than_webgpu_promises(device, tmp_path):
    limits = {"max-buffer-size": 1 << 20, "max-storage-buffer-binding-size": 1 << 20}
    own = wgdml.Device(device.gpu_device.adapter.request_device_sync(required_limits=limits))
    x = np.random.default_rng(11).integers(0, 1 << 20, (3, 1 << 17)).astype(np.int32)
    np.save(tmp_path / "x.npy", x)
    for source in (x, x[:, None], np.load(tmp_path / "x.npy", mmap_mode="r")):
        assert wgdml.argmax(source, device=own) == x.argmax()
        indices = wgdml.top_k(source, 3, device=own).indices
        oracle.assert_same(indices.reshape(3, 3), oracle.top_k(x, 3)[1])
    with pytest.raises(MemoryError, match="x of 1572864 bytes is over this device's largest buffer"):
        wgdml.sort(x, device=own)
    with pytest.raises(MemoryError, match="x of 1572864 bytes is over this device's largest buffer"):
        wgdml.argmax(np.broadcast_to(np.int32(1), x.shape), device=own)


def test_arrays_in_memory_of_more_elements_than_a_tensor(device, monkeypatch):
    """Where the largest buffer would hold them, as some GPUs' does."""
    own = wgdml.Device(device.gpu_device)
    own.context.limits["max-buffer-size"] = 1 << 52
    for name in ("arguments", "functions"):
        monkeypatch.setattr(getattr(wgdml, name), "MOST_ELEMENTS", 1000)
    x = np.random.default_rng(12).integers(0, 200, (3, 1000)).astype(np.uint8)
    oracle.assert_same(wgdml.argmax(x, axis=1, device=own), x.argmax(1))
    oracle.assert_same(wgdml.top_k(x, 3, mode="smallest", device=own).indices, oracle.top_k(x, 3, 1, False)[1])
    with pytest.raises(ValueError, match="x has 3000 elements; a tensor has at most 1000"):
        wgdml.sort(x, device=own)


def test_masked_elements_are_refused(device):
    x = np.ma.masked_array(np.arange(3000.0), mask=np.arange(3000) == 2500)
    with pytest.raises(TypeError, match="x has masked elements"):
        outofcore.top_k(x, 2, block_bytes=1024)
    assert outofcore.top_k(np.ma.masked_array(x.data), 2, block_bytes=1024).indices.tolist() == [2999, 2998]


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_command_maps_large_files(tmp_path, monkeypatch, order):
    monkeypatch.setattr(cli.reading, "_MAPPED_BYTES", 0)
    monkeypatch.setattr(wgdml.functions, "_LONG", 0)
    used = []
    select = outofcore.select
    monkeypatch.setattr(outofcore, "select", lambda *a, **o: used.append(a) or select(*a, **o))
    x = np.random.default_rng(9).integers(0, 9, (5, 70)).astype(f"{order}i4")
    file = str(tmp_path / "x.npy")
    np.save(file, x)

    def result(*arguments: str) -> Any:
        run = CliRunner().invoke(cli.main, [*arguments, "--json"])
        assert run.exit_code == 0, run.output
        return json.loads(run.stdout)

    native = x.astype(np.int32)
    assert result("top-k", file, "-k", "3")["indices"] == oracle.top_k(native, 3)[1].tolist()
    assert result("argmax", file, "--axis", "0")["indices"] == x.argmax(0).tolist()
    found = result("sort", file)
    assert found["values"] == np.sort(x, 1).tolist() and found["dtype"] == "int32"
    assert len(used) == 2
    with open(file, "r+b") as opened:
        opened.truncate(1000)
    assert CliRunner().invoke(cli.main, ["argmax", file]).exit_code == 2
