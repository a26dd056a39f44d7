"""Dask arrays in any chunks, on threads and on worker processes, one of which dies on the way."""

from __future__ import annotations

import os
import pathlib
import signal
import time
import types
from typing import Any

import checks
import dask
import dask.array as da
import numpy as np
import oracle
import pytest

import wgdml
import wgdml.dask

X = np.random.default_rng(0).integers(0, 5, (12, 9, 7)).astype(np.float32)
X[::5, 2, ::3] = np.nan
X[1::4, 3, 1::3] = -0.0


def test_ties_are_exact(device):
    x = da.from_array(np.array([2, 5, 5, 1, 5, 5]), chunks=2)
    result = wgdml.dask.top_k(x, 3)
    assert result.indices.compute().tolist() == [1, 2, 4]
    assert result.values.compute().tolist() == [5, 5, 5]
    assert [int(wgdml.dask.argmax(x, select_last_index=last).compute()) for last in (False, True)] == [1, 5]


def test_masked_elements_are_refused(device):
    x = da.from_array(np.ma.masked_array([1.0, 5.0, 3.0, 2.0], mask=[0, 1, 0, 0]), chunks=2)
    with pytest.raises(TypeError, match="x has masked elements"):
        wgdml.dask.top_k(x, 2).indices.compute()


@pytest.mark.parametrize("change", [lambda b: b.astype("float64"), lambda b: b.astype(int), lambda b: b[:1], lambda b: b[None]])
def test_blocks_that_are_not_as_the_array_says_are_refused(device, change):
    x = da.from_array(X, chunks=3).map_blocks(change, dtype="float32")
    for result in (wgdml.dask.top_k(x, 2).values, wgdml.dask.argmax(x), wgdml.dask.max(x, axis=1)):
        with pytest.raises(ValueError, match=r"x gave \w+\[.*\] for a block of float32\[3, 3, "):
            result.compute()


@pytest.mark.parametrize("chunks", [(5, 4, 3), (12, 9, 7), ((1, 11), (2, 0, 7), (7,))])
@pytest.mark.parametrize("mode", ["largest", "smallest"])
def test_top_k(device, chunks, mode):
    x = da.from_array(X, chunks=chunks)
    for axis, k in ((0, 12), (1, 4), (-1, 1), (2, 3)):
        result = wgdml.dask.top_k(x, k, axis=axis, mode=mode, split_every=2, index_dtype="uint32")
        values, indices = oracle.top_k(X, k, axis, mode == "largest")
        assert result.values.shape == values.shape and result.indices.dtype == np.uint32
        got = dask.compute(*result)
        oracle.assert_same(got[0], values)
        oracle.assert_same(got[1], indices.astype(np.uint32))


@pytest.mark.parametrize("chunks", [(5, 4, 3), (6, (2, 0, 7), 7)])
@pytest.mark.parametrize("axis", [None, 0, 2, (0, 1), (2, 0), (2, 1, 0)])
def test_arg_reductions(device, chunks, axis):
    x = da.from_array(X, chunks=chunks)
    pairs = []
    for last, keepdims in ((False, True), (True, False)):
        for function, largest in ((wgdml.dask.argmax, True), (wgdml.dask.argmin, False)):
            lazy = function(x, axis=axis, keepdims=keepdims, select_last_index=last)
            expected = oracle.arg_reduce(X, axis, keepdims, last, largest)
            assert lazy.shape == expected.shape and lazy.dtype == expected.dtype
            pairs.append((lazy, expected))
    for got, (_, expected) in zip(dask.compute(*(lazy for lazy, _ in pairs)), pairs, strict=True):
        oracle.assert_same(got, expected)


@pytest.mark.parametrize("nan", ["greatest", "last"])
def test_max_and_min_and_nan(device, nan):
    x, last = da.from_array(X, chunks=(5, 4, 3)), nan == "last"
    for axis in (None, 1, (2, 0)):
        for function, largest in ((wgdml.dask.max, True), (wgdml.dask.min, False)):
            values, indices = dask.compute(*function(x, axis=axis, nan=nan, return_indices=True, index_dtype="uint32"))
            oracle.assert_same(values, oracle.extreme(X, axis, False, False, largest, last))
            oracle.assert_same(indices, oracle.arg_reduce(X, axis, False, False, largest, last).astype(np.uint32))
            oracle.assert_same(
                function(x, axis=axis, nan=nan, keepdims=True).compute(), oracle.extreme(X, axis, True, False, largest, last)
            )
    for mode in ("largest", "smallest"):
        got = dask.compute(*wgdml.dask.top_k(x, 4, axis=0, mode=mode, nan=nan))
        for part, want in zip(got, oracle.top_k(X, 4, 0, mode == "largest", last), strict=True):
            oracle.assert_same(part, want)
    assert int(wgdml.dask.argmin(x, nan=nan).compute()) == int(oracle.arg_reduce(X, largest=False, nan_last=last))
    assert float(wgdml.dask.max(da.from_array(np.array(3.0))).compute()) == 3


def test_max_over_no_axes_reduces_nothing():
    x = da.from_array(X, chunks=(5, 4, 3))
    values, indices = dask.compute(*wgdml.dask.min(x, axis=(), return_indices=True, index_dtype="uint32"))
    oracle.assert_same(values, X)
    oracle.assert_same(indices, np.zeros(X.shape, np.uint32))
    with pytest.raises(ValueError, match="axis must name at least one axis"):
        wgdml.dask.argmin(x, axis=())


def test_the_other_byte_order(device):
    values, indices = dask.compute(*wgdml.dask.top_k(da.from_array(X.astype(">f4"), chunks=4), 2))
    want = oracle.top_k(X, 2, -1)
    oracle.assert_same(values, want[0])
    oracle.assert_same(indices, want[1])


@pytest.mark.parametrize("flag", ["keepdims", "select_last_index", "return_indices"])
def test_flags(no_device, flag):
    functions = [wgdml.dask.argmax, wgdml.dask.argmin, wgdml.dask.max, wgdml.dask.min]
    for function in functions[2:] if flag == "return_indices" else functions[:2]:
        for value in (1, None, "no"):
            with pytest.raises(TypeError, match=f"{flag} must be True or False, not {value!r}"):
                function(da.from_array(X), **{flag: value})
    with pytest.raises(ValueError, match='nan must be "greatest" or "last"'):
        wgdml.dask.top_k(da.from_array(X), 1, nan="first")


@pytest.mark.parametrize("name", ["top_k", "argmax", "argmin", "max", "min"])
def test_every_argument_is_named(no_device, name):
    checks.check_arguments(getattr(wgdml.dask, name), da.from_array(X, chunks=4))


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_schedulers(device, scheduler):
    x = np.random.default_rng(1).standard_normal((400, 500)).astype(np.float32)
    lazy = da.from_array(x, chunks=(100, 70))
    with dask.config.set(scheduler=scheduler, num_workers=4):
        got = dask.compute(*wgdml.dask.top_k(lazy, 5), wgdml.dask.argmin(lazy))
    oracle.assert_same(got[1], oracle.top_k(x, 5)[1])
    assert int(got[2]) == int(x.argmin())


@pytest.mark.parametrize(("shape", "chunks"), [((7, 1 << 20, 1 << 20), (4, 1 << 10, 1 << 10)), ((3, 0, 5, 7), 2), ((0, 3), 1)])
def test_none_of_each_sequence(shape, chunks):
    """There is nothing to compute, however much there is else. Options are checked all the same."""
    x = da.zeros(shape, chunks=chunks, dtype="int8")
    for axis in range(x.ndim):
        expected = (*shape[:axis], 0, *shape[axis + 1 :])
        for part, dtype in zip(wgdml.dask.top_k(x, 0, axis=axis, index_dtype="uint32"), ("int8", "uint32"), strict=True):
            assert part.shape == expected and part.dtype == dtype
            assert all(own == kept for d, (own, kept) in enumerate(zip(part.chunks, x.chunks, strict=True)) if d != axis)
    assert wgdml.dask.top_k(x, 0, axis=0).values.blocks[(0,) * x.ndim].compute().size == 0
    with pytest.raises(ValueError, match="split_every must be at least 2, not 1"):
        wgdml.dask.top_k(x, 0, split_every=1)


def test_other_types_and_bad_input():
    x = da.from_array(X, chunks=4)
    assert wgdml.dask.top_k(x, 0, axis=0).indices.compute().shape == (0, 9, 7)
    assert int(wgdml.dask.argmax(da.from_array(np.array(3.0))).compute()) == 0
    assert int(wgdml.dask.argmax([1, 3, 2]).compute()) == 1
    with pytest.raises(ValueError, match="k must be at most the axis's size of 7, not 8"):
        wgdml.dask.top_k(x, 8)
    with pytest.raises(ValueError, match="mode"):
        wgdml.dask.top_k(x, 1, mode="best")
    with pytest.raises(ValueError, match="axis must lie in"):
        wgdml.dask.argmax(x, axis=3)
    with pytest.raises(ValueError, match="axis must name each axis once"):
        wgdml.dask.argmax(x, axis=(0, -3))
    with pytest.raises(ValueError, match="unknown size"):
        wgdml.dask.argmax(x[x > 1])
    long = da.zeros((2**31 + 10,), chunks=2**27, dtype="int8")
    with pytest.raises(ValueError, match=r"index_dtype is int32, .* it must hold 2147483657"):
        wgdml.dask.argmax(long, select_last_index=True, index_dtype="int32")
    with pytest.raises(ValueError, match=r"index_dtype is uint32, .* it must hold 4294967299"):
        wgdml.dask.top_k(da.zeros((2**32 + 4,), chunks=2**27, dtype="int8"), 1, index_dtype="uint32")
    with pytest.raises(TypeError, match="complex"):
        wgdml.dask.argmax(x.astype(complex))


@pytest.mark.parametrize("x", [(None,), np.array([None], object), np.dtype("i4"), np.ma.masked], ids=repr)
def test_what_is_no_array(x):
    with pytest.raises(TypeError, match="x "):
        wgdml.dask.argmax(x)


@pytest.mark.parametrize("name", ["top_k", "argmax"])
def test_a_tensor_is_an_array(device, name):
    x = wgdml.asarray(np.float32([[1, 5, 3], [2, 8, 9]]), device=device)
    result = {"top_k": lambda: wgdml.dask.top_k(x, 2).indices, "argmax": lambda: wgdml.dask.argmax(x, axis=1)}[name]()
    assert result.compute().tolist() == {"top_k": [[1, 2], [2, 1]], "argmax": [1, 2]}[name]


def test_a_worker_takes_the_adapter_of_its_number(monkeypatch):
    """Several GPUs in a host are shared out among its workers; WGDML_ADAPTER overrides that."""
    made = []

    def device(adapter: Any = None) -> str:
        made.append(adapter)
        return f"device of {adapter}"

    monkeypatch.setattr(wgdml.dask, "equal_adapters", lambda: ["first", "second"])
    monkeypatch.setattr(wgdml.dask, "Device", device)
    monkeypatch.setattr(wgdml.dask, "default_device", lambda: "default")
    monkeypatch.setattr(wgdml.dask, "_worker_devices", {})
    assert wgdml.dask.worker_device() == "default"
    named = {0: "first", 3: "second", "gpu-3": "second", "tcp://10.0.0.7:43211": "default", "tcp://[::1]:43211": "default"}
    named |= {"inproc://10.0.0.7/77/1": "default", "alice": "default"}
    for number, expected in (*named.items(), (3, "second")):
        monkeypatch.setattr("distributed.get_worker", lambda number=number: types.SimpleNamespace(name=number))
        assert wgdml.dask.worker_device() == (expected if expected == "default" else f"device of {expected}")
    assert made == ["first", "second"]
    monkeypatch.setenv("WGDML_ADAPTER", "0")
    assert wgdml.dask.worker_device() == "default"


# Worker processes ---------------------------------------------------------------------------------


def slow_block(block: np.ndarray, folder: str) -> np.ndarray:
    """Leaves a mark that it has begun, and gives the test time to kill whoever works on it."""
    pathlib.Path(folder, f"{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(0.3)
    return block


@pytest.mark.slow
def test_a_worker_that_dies(tmp_path, monkeypatch):
    """Two workers, each with a device; one is killed while it works, and the answer is exact."""
    from distributed import Client, LocalCluster

    # The workers have to find this module's function and the package.
    paths = [*map(str, pathlib.Path(__file__).resolve().parents[:3]), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in paths if p))
    x = np.random.default_rng(2).integers(0, 50, (60, 4000)).astype(np.int32)
    folder = str(tmp_path)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 10}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, timeout=60) as client,
    ):
        pids = set(client.run(os.getpid).values())
        assert len(pids) == 2 and os.getpid() not in pids
        lazy = da.from_array(x, chunks=(10, 1000)).map_blocks(slow_block, folder, dtype=x.dtype, meta=x[:0, :0])
        futures = client.compute([*wgdml.dask.top_k(lazy, 20, axis=0), wgdml.dask.argmax(lazy)])
        deadline = time.monotonic() + 60
        while True:
            begun = [int(mark.name.split("-")[0]) for mark in tmp_path.iterdir()]
            if len(set(begun)) == 2 and len(begun) >= 6:
                break
            assert time.monotonic() < deadline, f"the workers do not work: {begun}"
            time.sleep(0.05)
        victim = begun[0]
        os.kill(victim, signal.SIGKILL)
        values, indices, best = client.gather(futures)
        done = {int(mark.name.split("-")[0]) for mark in tmp_path.iterdir()}
    assert len(list(tmp_path.iterdir())) > 24, "the dead worker's chunks were not computed again"
    assert len(done) >= 2 and victim in done
    expected = oracle.top_k(x, 20, 0)
    oracle.assert_same(values, expected[0])
    oracle.assert_same(indices, expected[1])
    assert int(best) == int(x.argmax())
