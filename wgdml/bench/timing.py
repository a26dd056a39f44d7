"""Device time, by timestamp queries around passes that are submitted together; the read ceiling."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import wgpu
from numpy.typing import NDArray

from wgdml import Device
from wgdml.runtime.buffers import STORAGE
from wgdml.runtime.context import nanoseconds_a_tick
from wgdml.runtime.executor import record_steps

#: Records dispatches into a compute pass.
Record = Callable[[Any], None]

MOST_PASSES = 1000  # of one query set, which holds at most 4096 timestamps
BUDGET = 0.15  # seconds of timed work a case

_READ = """
const WORKGROUP = 256u;
const UNROLL = {unroll}u;
const RUNS = {runs};
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {{
    let count = arrayLength(&words);
    let invocations = groups.x * WORKGROUP;
    // Side by side, or each invocation along a run of its own.
    let run = (count + invocations - 1u) / invocations;
    let stride = select(invocations, 1u, RUNS);
    let end = select(count, min(count, (id.x + 1u) * run), RUNS);
    var at = select(id.x, id.x * run, RUNS);
    var sum = vec4<u32>();
    for (; at + (UNROLL - 1u) * stride < end; at += UNROLL * stride) {{
        {loads}
    }}
    for (; at < end; at += stride) {{ sum += words[at]; }}
    let all = sum.x + sum.y + sum.z + sum.w;
    // Needs every word, and writes next to nothing.
    if (all == 0x9E3779B9u || id.x == 0u) {{ sums[id.x % arrayLength(&sums)] = all; }}
}}
"""

_EMPTY = """
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(1) fn main() { sums[0] = words[0].x; }
"""


@dataclass(frozen=True)
class Ceiling:
    """The fastest read that a plain summing kernel made, and how."""

    bytes_per_second: float
    bytes: int
    workgroups: int
    unroll: int
    runs: bool = False


class Clock:
    """Times passes on one device, by its own clock (``timestamps``) or by the host's."""

    def __init__(self, device: Device, *, warm_seconds: float | None = None) -> None:
        self.device = device
        self.gpu = device.gpu_device
        self.timestamps = "timestamp-query" in device.features
        self.software = device.machine.software
        #: A software adapter has no clock to warm.
        self.warm_seconds = warm_seconds if warm_seconds is not None else 0.0 if self.software else 0.4
        self._queries: Any = None
        self._period = nanoseconds_a_tick(self.gpu)
        self._burner: tuple[Record, float] | None = None
        self._fence = (
            self.gpu.create_buffer(size=4, usage=wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST),
            self.gpu.create_buffer(size=4, usage=wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST),
        )
        if self.timestamps:
            self._queries = self.gpu.create_query_set(type="timestamp", count=2 * MOST_PASSES)
            self._resolved = self.gpu.create_buffer(
                size=16 * MOST_PASSES, usage=wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
            )

    @property
    def method(self) -> str:
        return "timestamp queries" if self.timestamps else "host clock, submitting and waiting included (no timestamp queries)"

    def set_burner(self, record: Record, seconds: float) -> None:
        """Work to keep the device busy with while its clocks climb, and about how long it takes."""
        self._burner = record, seconds

    def wait(self) -> None:
        """Until all work is done, by a word copied after it. wgpu-py 0.32's own call is broken."""
        encoder = self.gpu.create_command_encoder()
        encoder.copy_buffer_to_buffer(self._fence[0], 0, self._fence[1], 0, 4)
        self.gpu.queue.submit([encoder.finish()])
        self._fence[1].map_sync(wgpu.MapMode.READ, 0, 4)
        self._fence[1].unmap()

    def submit(self, records: Sequence[Record]) -> None:
        encoder = self.gpu.create_command_encoder()
        compute_pass = encoder.begin_compute_pass()
        for record in records:
            record(compute_pass)
        compute_pass.end()
        self.gpu.queue.submit([encoder.finish()])

    def warm(self) -> None:
        """Keeps the device busy for the warm-up, and returns with work still under way."""
        if not self.warm_seconds or self._burner is None:
            return
        record, seconds = self._burner
        batch = [record] * max(1, min(200, round(0.02 / max(seconds, 1e-6))))
        end = time.perf_counter() + self.warm_seconds
        self.submit(batch)
        while time.perf_counter() < end:
            self.submit(batch)
            # The gap until the next submission is some tens of microseconds.
            self.wait()
        self.submit(batch)

    def time(self, records: Sequence[Record], passes: int, *, warm: bool = True) -> NDArray[np.float64]:
        """Seconds of rounds of one pass for each of ``records``: (passes, len(records))."""
        if not self.timestamps:
            self.warm()
            self.wait()
            return np.array([[self.once(record) for record in records] for _ in range(passes)])
        count = passes * len(records)
        if count > MOST_PASSES:
            raise ValueError(f"passes must be at most {MOST_PASSES // len(records)}, not {passes}")
        encoder = self.gpu.create_command_encoder()
        for number in range(count):
            writes = {
                "query_set": self._queries,
                "beginning_of_pass_write_index": 2 * number,
                "end_of_pass_write_index": 2 * number + 1,
            }
            compute_pass = encoder.begin_compute_pass(timestamp_writes=writes)
            records[number % len(records)](compute_pass)
            compute_pass.end()
        encoder.resolve_query_set(self._queries, 0, 2 * count, self._resolved, 0)
        commands = encoder.finish()  # before the warm-up, which must not wait for the recording
        if warm:
            self.warm()
        self.gpu.queue.submit([commands])
        ticks = np.frombuffer(self.gpu.queue.read_buffer(self._resolved, 0, 16 * count), np.uint64).reshape(-1, 2)
        return ((ticks[:, 1] - ticks[:, 0]).astype(np.float64) * self._period * 1e-9).reshape(passes, len(records))

    def once(self, record: Record) -> float:
        """Seconds of one pass by the host's clock, submitting and waiting included."""
        started = time.perf_counter()
        self.submit([record])
        self.wait()
        return time.perf_counter() - started

    def median(self, record: Record, budget: float = BUDGET) -> tuple[float, list[float]]:
        """The median and all of a case's times, after a first round that compiles and uploads."""
        first = float(self.time([record], 1, warm=False)[0, 0])
        fewest = 3 if first > 0.5 else 5 if first > 0.02 else 20
        passes = int(min(max(fewest, budget / max(first, 1e-9)), 200))
        times = self.time([record], passes)[:, 0].tolist()
        return statistics.median(times), times

    def seconds(self, record: Record, budget: float) -> float:
        """The median; on a software adapter the least, as its processors do other things too."""
        median, times = self.median(record, budget)
        return min(times) if self.software else median


def by_host(call: Callable[[], Any]) -> list[float]:
    """Seconds of many calls, by the host's clock, after a first one."""
    started = time.perf_counter()
    call()
    first = time.perf_counter() - started
    times = []
    for _ in range(int(min(max(3, 0.3 / max(first, 1e-7)), 50)) if first < 2 else 1):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return times


def small_kernel(gpu: Any, code: str, buffers: Sequence[Any]) -> tuple[Any, Any]:
    """Pipeline and bind group of a small kernel of the benchmark's own, over (buffer, size)."""
    pipeline = gpu.create_compute_pipeline(
        layout="auto", compute={"module": gpu.create_shader_module(code=code), "entry_point": "main"}
    )
    entries = [{"binding": i, "resource": {"buffer": b, "offset": 0, "size": size}} for i, (b, size) in enumerate(buffers)]
    return pipeline, gpu.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)


def empty_dispatch(device: Device, source: Any, target: Any = None) -> Record:
    """One dispatch of one invocation that copies a word."""
    gpu = device.gpu_device
    target = target or gpu.create_buffer(size=256, usage=STORAGE)
    pipeline, group = small_kernel(gpu, _EMPTY, [(source, 256), (target, 256)])
    return partial(record_steps, steps=[(pipeline, group, (1, 1, 1))])


def reads(device: Device, buffer: Any, size: int, unroll: int, runs: bool = False) -> Callable[[int], Record]:
    """A plain summing kernel that reads so many bytes of a buffer, by a number of workgroups."""
    sums = device.gpu_device.create_buffer(size=256, usage=STORAGE)
    loads = " ".join(f"sum += words[at + {i}u * stride];" for i in range(unroll))
    code = _READ.format(unroll=unroll, loads=loads, runs=str(runs).lower())
    pipeline, group = small_kernel(device.gpu_device, code, [(buffer, size), (sums, 256)])
    return lambda workgroups: partial(record_steps, steps=[(pipeline, group, (workgroups, 1, 1))])


def measure_ceiling(clock: Clock, buffer: Any) -> Ceiling:
    """The fastest of some plain summing kernels that read the buffer; it is the burner then."""
    device = clock.device
    size = min(buffer.size, device.limits["max-storage-buffer-binding-size"]) // 256 * 256
    if clock.software:
        # More would only take longer.
        size = min(size, 64 << 20)
    groups = (2, 4, 8, 32) if clock.software else (1056, 2112, 4224, 8448, 16896)
    best: Ceiling | None = None
    for unroll, runs in ((4, False), (4, True)) if clock.software else ((4, False), (8, False)):
        reading = reads(device, buffer, size, unroll, runs)
        for workgroups in groups:
            record = reading(workgroups)
            if best is None:
                clock.set_burner(record, float(clock.time([record], 1, warm=False)[0, 0]))
            seconds = clock.seconds(record, budget=0.05)
            if best is None or size / seconds > best.bytes_per_second:
                best = Ceiling(size / seconds, size, workgroups, unroll, runs)
                clock.set_burner(record, seconds)
    assert best is not None
    return best
