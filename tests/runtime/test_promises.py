"""What asyncio, trio and a window's loop await: reads, devices, operators; and that they go on."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import loops
import numpy as np
import oracle
import pytest
import trio
import wgpu
from rendercanvas import raw

import wgdml

TESTS = Path(__file__).resolve().parents[1]
X = np.random.default_rng(7).standard_normal((7, 900)).astype(np.float32)


def run_rendercanvas(work: Callable[[], Awaitable[Any]]) -> Any:
    """Runs it on the loop that rendercanvas has for Qt and wx, here without a window."""
    loop, results = raw.loop, []
    loop._stop_when_no_canvases = False

    async def task() -> None:
        try:
            results.append(await work())
        except BaseException as error:  # else it would be logged
            results.append(error)
        loop.stop()

    loop.add_task(task)
    loop.run()
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]


LOOPS: dict[str, Callable[[Any], Any]] = {
    "asyncio": lambda work: asyncio.run(work()),
    "trio": trio.run,
    "rendercanvas": run_rendercanvas,
}


@pytest.fixture(params=LOOPS)
def run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Awaitable[Any]]], Any]:
    """Runs an async function on a loop, where nothing may wait as wgpu's synchronous calls do."""

    def refuse(promise: Any) -> None:
        raise AssertionError(f"{promise} was waited for")

    def start(work: Callable[[], Awaitable[Any]]) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(wgpu._async.GPUPromise, "sync_wait", refuse)
            return LOOPS[request.param](work)

    return start


def argmax_of(device: wgdml.Device, count: int) -> wgdml.Operator:
    desc = wgdml.TensorDesc(wgdml.DataType.FLOAT32, (count,))
    return device.create_operator(wgdml.ArgmaxOperatorDesc(desc, wgdml.TensorDesc(wgdml.DataType.UINT32, (1,)), (0,)))


def test_reads(device, run) -> None:
    tensor = wgdml.asarray(X, device=device)
    long = np.arange(700_001, dtype=np.float32)  # of several staging buffers
    other = wgdml.asarray(long, device=wgdml.Device(device.gpu_device))

    async def work() -> None:
        promise = tensor.numpy_async()
        assert isinstance(promise, wgpu.GPUPromise)
        oracle.assert_same(await promise, X)
        oracle.assert_same(await promise, X)  # once more
        oracle.assert_same(await tensor.T.numpy_async(), X.T)
        values, indices = await wgdml.to_numpy_async(*wgdml.top_k(tensor, 9))
        oracle.assert_same(values, oracle.top_k(X, 9)[0])
        oracle.assert_same(indices, oracle.top_k(X, 9)[1])
        empty = wgdml.asarray(np.zeros((0, 3), np.int8), device=device)
        host, none, far, near = await wgdml.to_numpy_async(X, empty, other, tensor)
        assert host is X and none.shape == (0, 3) and np.array_equal(far, long)
        oracle.assert_same(near, X)
        assert await wgdml.to_numpy_async() == ()

    run(work)


def test_a_read_has_what_was_there_when_it_was_asked_for(device, run) -> None:
    """Also where the tensor is written or dropped meanwhile; in any order of waiting."""
    tensor = wgdml.empty((1, 700_001), np.float32, device=device)
    rows = [np.roll(np.arange(tensor.size, dtype=np.float32), n)[None] for n in range(3)]
    given = [wgdml.asarray(row, device=device) for row in rows]

    async def work() -> None:
        promises = []
        for row in given:
            wgdml.max(row, axis=0, keepdims=True, out=tensor)
            promises.append(tensor.numpy_async())
        while given:
            promises.append(given.pop(0).numpy_async())
            wgdml.max(tensor, axis=0)  # into the memory of one that is gone
        for promise, row in reversed(list(zip(promises, 2 * rows, strict=True))):
            assert np.array_equal(await promise, row)

    run(work)


def test_staging_buffers_come_back(device, run) -> None:
    tensor = wgdml.asarray(X, device=device)

    async def work() -> None:
        for count in (3, 8, 8):
            made = device.counters["buffers"]
            for promise in [tensor.numpy_async() for _ in range(count)]:
                await promise
        assert device.counters["buffers"] == made

    run(work)


def test_devices_and_operators(device, run) -> None:
    async def work() -> None:
        own = await wgdml.Device.open_async(kept=50)
        assert own.adapter_info == device.adapter_info and own.gpu_device is not device.gpu_device
        compiled = await own.compile_operator_async(argmax_of(own, X.size))
        result = compiled(wgdml.asarray(X.reshape(-1), device=own))["output_tensor"]
        assert await result.numpy_async() == [X.argmax()]
        with pytest.raises(ValueError, match="kept must be at least 1"):
            await wgdml.Device.open_async(kept=0)
        with pytest.raises(TypeError, match="operator must be a wgdml"):
            await own.compile_operator_async(3)
        with pytest.raises(ValueError, match="created by this device"):
            await own.compile_operator_async(argmax_of(device, 5))

    run(work)


def test_a_lost_device(run) -> None:
    lost = wgdml.Device()
    tensor = wgdml.asarray(np.random.default_rng(1).standard_normal(300_000).astype(np.float32), device=lost)
    operator = argmax_of(lost, 77)

    async def work() -> None:
        promises = [wgdml.sort(tensor).numpy_async() for _ in range(3)]
        lost.gpu_device.destroy()
        for promise in promises:
            with pytest.raises(wgdml.DeviceLostError):
                await promise
        with pytest.raises(wgdml.DeviceLostError):
            await lost.compile_operator_async(operator)
        with pytest.raises(wgdml.DeviceLostError):
            tensor.numpy_async()

    run(work)
    assert wgdml.argmax(X[0]) == X[0].argmax()


def test_two_lost_devices(caplog: pytest.LogCaptureFixture) -> None:
    """A promise is told of the first. wgpu would log that it ignores the second."""
    lost = [wgdml.Device(), wgdml.Device()]

    async def work() -> None:
        promise = wgdml.to_numpy_async(*(wgdml.asarray(X, device=device) for device in lost))
        for device in lost:
            device.gpu_device.destroy()
        with pytest.raises(wgdml.DeviceLostError):
            await promise
        await asyncio.sleep(0.1)

    asyncio.run(work())
    assert "Ignoring" not in caplog.text


def test_devices_that_come_and_go_on_one_gpu_device(device) -> None:
    """Threads that watch for its end do not pile up."""

    async def work() -> None:
        for _ in range(4):
            with wgdml.Device(device.gpu_device) as own:
                oracle.assert_same(await wgdml.asarray(X, device=own).numpy_async(), X)

    threads = threading.active_count()
    asyncio.run(work())
    assert threading.active_count() <= threads + 1


def test_who_stops_waiting(device) -> None:
    tensor = wgdml.asarray(X, device=device)

    async def on_asyncio() -> None:
        tasks = [asyncio.create_task(wait()) for _ in range(3)]
        await asyncio.sleep(0)
        for task in tasks[:2]:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one) for one in found[:2]] == [asyncio.CancelledError] * 2
        oracle.assert_same(found[2], X)
        oracle.assert_same(await tensor.numpy_async(), X)

    async def on_trio() -> None:
        with trio.CancelScope() as scope:
            scope.cancel()
            await wait()
        assert scope.cancelled_caught
        oracle.assert_same(await wait(), X)

    async def wait() -> Any:
        return await tensor.numpy_async()

    asyncio.run(on_asyncio())
    trio.run(on_trio)
    oracle.assert_same(tensor.numpy(), X)


@pytest.mark.parametrize("name", ["asyncio", "trio"])
def test_a_loop_that_ends_before_its_promises(device, name: str) -> None:
    """Nobody is told, nothing is raised in a thread or a callback, and others read on."""
    long = wgdml.asarray(np.arange(700_001, dtype=np.float32)[::-1], device=device)
    operator = argmax_of(device, 4321)
    wgdml.sort(long).numpy()
    seen = []

    async def work() -> None:
        seen.extend([wgdml.sort(long).numpy_async() for _ in range(3)])
        seen.append(device.compile_operator_async(operator))

    LOOPS[name](work)
    end = time.monotonic() + 30
    while seen[-1]._state == "pending":
        assert time.monotonic() < end
        time.sleep(0.01)
    expected = wgdml.sort(long).numpy()  # after all that was under way

    async def again() -> None:
        assert np.array_equal(await wgdml.sort(long).numpy_async(), expected)

    LOOPS[name](again)


@pytest.mark.parametrize("name", ["asyncio", "trio"])
def test_another_loop(device, name: str) -> None:
    """Nothing would wake it there."""
    tensor = wgdml.asarray(X, device=device)
    long = wgdml.asarray(np.arange(700_001, dtype=np.float32)[::-1], device=device)
    promises = []

    async def ask() -> None:
        oracle.assert_same(await tensor.numpy_async().then(lambda found: found + 1), X + 1)
        promises.extend([wgdml.sort(long).numpy_async() for _ in range(3)])

    async def wait() -> None:
        with pytest.raises(RuntimeError, match="of another event loop: await it on the one"):
            await asyncio.wait_for(promises[2], 10)

    LOOPS[name](ask)
    asyncio.run(wait())


def test_what_is_refused_at_once(device) -> None:
    tensor = wgdml.asarray(X, device=device)
    with pytest.raises(RuntimeError, match=r"Tensor\.numpy_async needs a running event loop, of asyncio, trio or rendercanvas"):
        tensor.numpy_async()
    with pytest.raises(RuntimeError, match=r"Device\.open_async needs a running event loop"):
        wgdml.Device.open_async()

    async def work() -> None:
        with pytest.raises(TypeError, match=r"tensors must be wgdml\.Tensors or NumPy arrays, not list"):
            wgdml.to_numpy_async(tensor, [1])
        with pytest.raises(RuntimeError, match=r"Tensor\.numpy_async' pending .* cannot be waited for: await it, or call"):
            tensor.numpy_async().sync_wait()
        own = wgdml.asarray(X, device=device)
        own.buffer.destroy()
        with pytest.raises(ValueError, match="destroyed"):
            wgdml.to_numpy_async(tensor, own)

    asyncio.run(work())


def left(device: wgdml.Device, name: str) -> weakref.ref[wgdml.Device]:
    """A device after a read whose event loop has ended before."""
    own = wgdml.Device(device.gpu_device)
    tensor = wgdml.asarray(X, device=own)

    async def work() -> None:
        tensor.numpy_async()

    LOOPS[name](work)
    oracle.assert_same(tensor.numpy(), X)  # the read before has come too, to no loop
    return weakref.ref(own)


@pytest.mark.parametrize("name", ["asyncio", "trio"])  # rendercanvas's loop may go on
def test_a_read_whose_loop_has_ended_keeps_nothing(device, name: str) -> None:
    own, deadline = left(device, name), time.monotonic() + 10
    while own() is not None and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert own() is None


def test_no_room(device, monkeypatch) -> None:
    tensor = wgdml.asarray(np.zeros(3_000_000, np.int8), device=device)
    wgdml.Device.trim(device)

    def refuse(size: int, usage: int) -> None:
        raise MemoryError("no room")

    async def work() -> None:
        promise = tensor.numpy_async()
        with pytest.raises(MemoryError, match="no room"):
            await promise

    with monkeypatch.context() as patch:
        patch.setattr(device.buffers, "create", refuse)
        asyncio.run(work())
    assert not tensor.numpy().any()


def stood_still(device: wgdml.Device, name: str) -> float:
    tasks = []

    async def on_asyncio() -> float:
        return await loops.stood_still(device, asyncio.sleep, lambda task: tasks.append(asyncio.create_task(task())))

    async def on_trio() -> float:
        async with trio.open_nursery() as nursery:
            return await loops.stood_still(device, trio.sleep, nursery.start_soon)

    return LOOPS[name]({"asyncio": on_asyncio, "trio": on_trio}[name])


@pytest.mark.parametrize("name", ["asyncio", "trio"])
def test_the_loop_goes_on(device, name: str) -> None:
    stood = stood_still(device, name)
    assert stood <= loops.ALLOWED, f"the loop stood still for {1e3 * stood:.1f} ms beyond the compute and the machine's own"


def test_a_loop_that_does_not_go_on_is_seen(device, monkeypatch) -> None:
    read = wgdml.to_numpy_async
    monkeypatch.setattr(wgdml, "to_numpy_async", lambda *tensors: time.sleep(0.01) or read(*tensors))
    monkeypatch.setattr(loops, "ATTEMPTS", 2 * loops.LEAST)
    assert stood_still(device, "asyncio") > loops.ALLOWED


@pytest.mark.skipif(sys.platform != "linux", reason="needs Xvfb, which only Linux has")
def test_the_loop_of_a_window_goes_on(display: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("WAYLAND_DISPLAY", "RENDERCANVAS_FORCE_OFFSCREEN")}
    command = [sys.executable, str(TESTS / "loops.py")]
    done = subprocess.run(command, env=environment | {"DISPLAY": display}, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
