"""What wgdml adds to wgpu on the host: cached calls and transfers beside the barest, in turns.

python benchmarks/host_overhead.py [--profile]
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import wgpu

import wgdml
from wgdml.bench import timing
from wgdml.bench.data import make_flat
from wgdml.runtime.buffers import STORAGE

#: Times the bare call: an encode, dispatch and submit, and a write, dispatch and staged read.
GOALS = {"tensor_to_tensor": 1.5, "numpy_to_numpy": 1.2}

Call = Callable[[], Any]


def _per_call(
    clock: timing.Clock, calls: dict[str, Call], seconds: float, batch: int = 1, now: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Median microseconds of a call. They take turns; the device empties in between, untimed."""
    for call in calls.values():
        call()
        call()
    clock.wait()
    times: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[next(iter(calls))]) < 5:
        for name, call in calls.items():
            started = now()
            for _ in range(batch):
                call()
            times[name].append((now() - started) / batch * 1e6)
            clock.wait()
    return {name: statistics.median(t) for name, t in times.items()}


def call_times(clock: timing.Clock, seconds: float = 1.0) -> dict[str, Any]:
    """Cached calls on 1024 elements, and the barest submissions that could stand for them."""
    device = clock.device
    gpu = device.gpu_device
    host = make_flat("random", 1024)
    x = wgdml.asarray(host, device=device)
    source = wgdml.asarray(host, device=device).buffer
    out = gpu.create_buffer(size=256, usage=STORAGE)
    trivial = timing.empty_dispatch(device, source, out)
    staging = gpu.create_buffer(size=256, usage=wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST)

    def bare_call() -> None:
        clock.submit([trivial])

    def bare_round_trip() -> Any:
        gpu.queue.write_buffer(source, 0, host)
        encoder = gpu.create_command_encoder()
        compute_pass = encoder.begin_compute_pass()
        trivial(compute_pass)
        compute_pass.end()
        encoder.copy_buffer_to_buffer(out, 0, staging, 0, 8)
        gpu.queue.submit([encoder.finish()])
        staging.map_sync(wgpu.MapMode.READ, 0, 8)
        try:
            return np.frombuffer(staging.read_mapped(0, 8), np.uint8)
        finally:
            staging.unmap()

    # A software adapter works on the host's processors: there the calling thread's own time counts,
    # if the system has a fine clock for it. Windows' ticks every 16 ms.
    fine = time.get_clock_info("thread_time").implementation.startswith("clock_gettime")
    shared = fine and device.machine.software
    tensors = _per_call(
        clock,
        {
            "bare": bare_call,
            "argmax": lambda: wgdml.argmax(x, device=device),
            "top_k": lambda: wgdml.top_k(x, 5, device=device),
        },
        seconds,
        **({"now": time.thread_time} if shared else {"batch": 20}),
    )
    arrays = _per_call(
        clock,
        {
            "bare": bare_round_trip,
            "argmax": lambda: wgdml.argmax(host, device=device),
            "top_k": lambda: wgdml.top_k(host, 5, device=device),
            "numpy argmax": lambda: np.argmax(host),
        },
        seconds,
    )
    document: dict[str, Any] = {}
    for way, times in (("tensor_to_tensor", tensors), ("numpy_to_numpy", arrays)):
        ratios = {name: times[name] / times["bare"] for name in ("argmax", "top_k")}
        document |= {f"{way}_us": times, f"{way}_ratio": ratios}
    return document


def transfer_rates(clock: timing.Clock, size: int | None = None) -> dict[str, Any]:
    """Bytes a second of ``asarray`` and ``numpy``, of the queue's own calls and by kept buffers."""
    device = clock.device
    gpu = device.gpu_device
    if size is None:
        size = 32 << 20 if device.machine.software else 256 << 20
    size = min(size, device.limits["max-buffer-size"]) // 4096 * 4096
    host = make_flat("random", size // 4)
    raw = host.view(np.uint8)
    tensor = wgdml.asarray(host, device=device)

    def upload() -> None:
        wgdml.asarray(host, device=device)
        clock.wait()

    def write() -> None:
        gpu.queue.write_buffer(tensor.buffer, 0, raw)
        gpu.queue.submit([])
        clock.wait()

    def read() -> None:
        gpu.queue.read_buffer(tensor.buffer, 0, size)

    ways: dict[str, Call] = {
        "upload": upload,
        "upload_by_write_buffer": write,
        "download": tensor.numpy,
        "download_by_read_buffer": read,
    }
    for chunk in sorted({min(16 << 20, size), min(64 << 20, size)}):
        up, down = _kept(clock, tensor.buffer, raw, chunk)
        ways |= {f"upload_by_kept_{chunk >> 20}_MiB": up, f"download_by_kept_{chunk >> 20}_MiB": down}
    rates = {name: size / us * 1e6 for name, us in _per_call(clock, ways, 0.0).items()}
    return {
        "bytes": size,
        "bytes_per_second": rates,
        "share_of_best": {
            way: rates[way] / max(rate for name, rate in rates.items() if name.startswith(f"{way}_by"))
            for way in ("upload", "download")
        },
    }


def _kept(clock: timing.Clock, buffer: Any, raw: Any, chunk: int) -> tuple[Call, Call]:
    """Transfers through one mapped buffer, made once: the measure for ``asarray`` and ``numpy``."""
    gpu = clock.gpu
    writing = gpu.create_buffer(size=chunk, usage=wgpu.BufferUsage.MAP_WRITE | wgpu.BufferUsage.COPY_SRC)
    reading = gpu.create_buffer(size=chunk, usage=wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST)

    def copy(source: Any, source_offset: int, target: Any, target_offset: int, count: int) -> None:
        encoder = gpu.create_command_encoder()
        encoder.copy_buffer_to_buffer(source, source_offset, target, target_offset, count)
        gpu.queue.submit([encoder.finish()])

    def up() -> None:
        for start in range(0, raw.size, chunk):
            part = raw[start : start + chunk]
            writing.map_sync(wgpu.MapMode.WRITE, 0, part.size)
            writing.write_mapped(part, 0)
            writing.unmap()
            copy(writing, 0, buffer, start, part.size)
        clock.wait()

    def down() -> None:
        out = np.empty(raw.size, np.uint8)
        for start in range(0, raw.size, chunk):
            count = min(chunk, raw.size - start)
            copy(buffer, start, reading, 0, count)
            reading.map_sync(wgpu.MapMode.READ, 0, count)
            out[start : start + count] = np.frombuffer(reading.read_mapped(0, count, copy=False), np.uint8)
            reading.unmap()

    return up, down


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", action="store_true", help="also say where a call spends its time")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each group of calls (default: 3)")
    options = parser.parse_args()
    device = wgdml.default_device()
    clock = timing.Clock(device)
    print(device)
    calls = call_times(clock, options.seconds)
    for group, goal in GOALS.items():
        print(f"{group.replace('_', ' ')}, goal: within {goal} of the bare call")
        for name, us in calls[group + "_us"].items():
            print(f"  {name:24} {us:8.1f} us  {us / calls[group + '_us']['bare']:5.2f}")
    transfers = transfer_rates(clock)
    print(f"transfers of {transfers['bytes'] >> 20} MiB, goal: 0.9 of the best kept buffer or better")
    for name, rate in transfers["bytes_per_second"].items():
        print(f"  {name:32} {rate / 1e9:6.2f} GB/s  {transfers['share_of_best'].get(name, float('nan')):5.2f}")
    if options.profile:
        x = make_flat("random", 1024)
        tensor = wgdml.asarray(x)
        for name, call in {"Tensor": lambda: wgdml.top_k(tensor, 5), "NumPy": lambda: wgdml.top_k(x, 5)}.items():
            print(f"\n500 top_k of a {name}")
            with cProfile.Profile() as profile:
                for _ in range(500):
                    call()
                clock.wait()
            pstats.Stats(profile).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
