"""Much use: threads that share a device, many calls; exact answers, flat memory, bounded caches.

A short version at every run; ``make soak`` lasts a minute and makes 100,000 calls.
"""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import data
import numpy as np
import oracle
import pytest

import wgdml
from wgdml.runtime.adapter import wgpu

SOAK = bool(os.environ.get("WGDML_SOAK"))
SECONDS = 60 if SOAK else 3
CALLS = 100_000 if SOAK else 1_500
THREADS = 8


def resident_bytes() -> int:
    """What this process holds in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def live_buffers() -> int:
    gc.collect()
    return int(wgpu.diagnostics.object_counts.get_dict()["Buffer"]["count"])


Job = tuple[Callable[[wgdml.Device], list[np.ndarray]], list[np.ndarray]]


def job(operator: str, x: np.ndarray, k: int, axis: int) -> Job:
    """A call and the arrays that it must give."""
    if operator == "top_k":
        return lambda d: list(wgdml.top_k(x, k, axis=axis, device=d)), list(oracle.top_k(x, k, axis))
    if operator == "argsort":
        return lambda d: [wgdml.argsort(x, axis=axis, device=d)], [oracle.argsort(x, axis)]
    if operator == "sort":
        return lambda d: [wgdml.sort(x, axis=axis, device=d)], [oracle.sort(x, axis)]
    return lambda d: [wgdml.argmax(x, axis=axis, device=d)], [oracle.argmax(x, axis)]


def jobs(count: int, seed: int) -> list[Job]:
    """Calls of mixed types, shapes, axes and k."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        dtype = str(rng.choice(["float32", "uint8", "int64", "float16"]))
        shape = (int(rng.integers(1, 20)), int(rng.choice([3, 40, 100, 1000, 3000])))
        axis = int(rng.integers(0, 2))
        x = data.make("eight_values" if rng.integers(0, 2) else "random", dtype, shape, int(rng.integers(1 << 30)))
        operator = str(rng.choice(["top_k", "argmax", "argsort", "sort"]))
        made.append(job(operator, x, int(rng.integers(1, shape[axis] + 1)), axis))
    return made


def check(device: wgdml.Device, work: Job) -> None:
    call, wanted = work
    for got, want in zip(call(device), wanted, strict=True):
        oracle.assert_same(got, want)


def test_threads_share_a_device(device):
    work = jobs(24, 1)
    for each in work:
        check(device, each)  # compiled before the clock starts
    device.trim()  # as many threads as there are hold as many buffers, and the pool keeps them
    before, buffers, pipelines = resident_bytes(), live_buffers(), device.counters["pipelines"]
    stop, wrong, done = time.monotonic() + SECONDS, [], [0] * THREADS

    def run(number: int) -> None:
        rng = np.random.default_rng(number)
        try:
            while time.monotonic() < stop and not wrong:
                check(device, work[rng.integers(len(work))])
                done[number] += 1
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS + 120)
        assert not thread.is_alive(), "a thread hangs"
    if wrong:
        raise wrong[0]
    assert min(done) > 0, done
    device.trim()
    grown, left = resident_bytes() - before, live_buffers()
    print(
        f"{sum(done)} calls from {THREADS} threads in {SECONDS} s: "
        f"resident memory {grown / 1e6:+.1f} MB, buffers {buffers} -> {left}"
    )
    assert grown < 64 << 20, f"resident memory grew by {grown / 1e6:.0f} MB"
    assert left <= buffers
    assert device.counters["pipelines"] == pipelines, "calls of the same kind compile nothing"


def test_many_calls_leave_memory_as_it_was(device):
    work = jobs(40, 2)
    for each in work:
        check(device, each)
    before, buffers, pipelines = resident_bytes(), live_buffers(), device.counters["pipelines"]
    for number in range(CALLS):
        call, wanted = work[number % len(work)]
        got = call(device)
        if number % 10 == 0 or SOAK:
            for part, want in zip(got, wanted, strict=True):
                oracle.assert_same(part, want)
    del got
    grown = resident_bytes() - before
    print(f"{CALLS} calls: resident memory {grown / 1e6:+.1f} MB, buffers {buffers} -> {live_buffers()}")
    assert grown < 64 << 20, f"resident memory grew by {grown / 1e6:.0f} MB in {CALLS} calls"
    assert live_buffers() <= buffers + 2
    assert device.counters["pipelines"] == pipelines, "calls of the same kind compile nothing"


def test_buffers_go_back_with_their_tensors(device):
    x = np.arange(100_000, dtype=np.float32)
    for _ in range(3):
        wgdml.sort(wgdml.asarray(x, device=device), device=device)
    before = live_buffers()
    for _ in range(200):
        tensor = wgdml.asarray(x, device=device)
        wgdml.top_k(tensor, 10, device=device)
    del tensor
    assert live_buffers() <= before + 2


@pytest.mark.parametrize("new", ["shapes", "devices"])
def test_caches_are_bounded(new):
    """Ever new shapes, and ever new devices, do not fill the memory."""
    if new == "devices":
        for number in range(12):
            fresh = wgdml.Device()
            assert wgdml.argmax(np.arange(number + 1.0), device=fresh) == number
        before = live_buffers()
        for _ in range(12):
            fresh = wgdml.Device()
            wgdml.argmax(np.arange(9.0), device=fresh)
        del fresh
        assert live_buffers() <= before + 8
        return
    fresh = wgdml.Device()
    first = live_buffers()
    x = np.arange(3000, dtype=np.float32)
    for length in range(1, 1500):
        assert wgdml.argmax(x[:length], device=fresh) == length - 1
    assert live_buffers() - first <= 1024 + 32, "each kept plan has one buffer, for its parameters"
    assert fresh.counters["pipelines"] < 64, "sizes must not be part of a shader"


def test_looks_and_reads_of_event_loops_leave_memory_as_it_was(device):
    """A window asks at each frame whether the device is lost, and awaits what it selects."""
    x = wgdml.asarray(np.arange(250_000, dtype=np.float32), device=device)

    async def frames(count: int) -> None:
        for _ in range(count):
            wgdml.argmax(x)
            assert not device.lost
            await x.numpy_async()

    asyncio.run(frames(20))
    gc.collect()
    before, waiting = resident_bytes(), len(wgpu.GPUPromise._UNRESOLVED)
    asyncio.run(frames(150))
    grown = resident_bytes() - before
    assert grown < 16 << 20, f"resident memory grew by {grown / 1e6:.0f} MB"
    assert len(wgpu.GPUPromise._UNRESOLVED) == waiting
