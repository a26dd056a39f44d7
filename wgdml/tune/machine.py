"""What a device does, by small kernels: reads, dispatches, barriers, atomics, what runs at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from wgdml.bench import timing
from wgdml.runtime.buffers import STORAGE
from wgdml.runtime.executor import record_steps

_BUDGET = 0.02  # seconds of each measurement
_TURNS = 64

#: Arithmetic that a compiler cannot leave out, and something besides in each turn.
_WORK = """
const WORDS = 256u;
var<workgroup> memory: array<u32, WORDS>;
var<workgroup> counter: atomic<u32>;
@group(0) @binding(0) var<storage, read_write> sink: array<u32>;
@compute @workgroup_size({workgroup})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {{
    var x = id.x + 1u;
    memory[local % WORDS] = x;
    for (var turn = 0u; turn < {turns}u; turn++) {{
        for (var i = 0u; i < {work}u; i++) {{ x = x * 1664525u + 1013904223u; }}
        {besides}
    }}
    if (x == 0x9E3779B9u) {{ sink[0] = memory[x % WORDS] + atomicLoad(&counter); }}
}}
"""

#: Each needs what the one before has written.
_NEXT = """
@group(0) @binding(0) var<storage, read_write> sink: array<u32>;
@compute @workgroup_size(1) fn main() { sink[0] = sink[0] + 1u; }
"""

_SUBGROUPS = """
@group(0) @binding(0) var<storage, read_write> sink: array<u32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { sink[id.x] = subgroupAdd(1u); }
"""


@dataclass(frozen=True)
class Facts:
    """What was measured of a device."""

    reads: dict[str, dict[str, float]]  #: Bytes a second by loads in flight and workgroups.
    empty_dispatch_us: float
    dependent_dispatch_us: float  #: What a dispatch adds that reads what the one before wrote.
    barrier_ns: float
    atomic_ns: float  #: An atomic addition of each of a workgroup's invocations to one word.
    workgroups_at_once: int  #: Of as many invocations as an ordinary workgroup has.
    subgroup_sizes: tuple[int, ...]  #: Seen. Empty without subgroup operations.

    @property
    def bytes_per_second(self) -> float:
        return max(rate for rates in self.reads.values() for rate in rates.values())

    @property
    def full_workgroups(self) -> int:
        """The fewest workgroups that read at nearly the full rate."""
        enough = 0.93 * self.bytes_per_second
        return min(int(n) for rates in self.reads.values() for n, rate in rates.items() if rate >= enough)


class _Bench:
    def __init__(self, clock: timing.Clock) -> None:
        self.clock, self.device = clock, clock.device
        self.workgroup = self.device.machine.workgroup
        self.sink = self.device.gpu_device.create_buffer(size=64 << 10, usage=STORAGE)

    def step(self, code: str, workgroups: int = 1) -> Any:
        pipeline, group = timing.small_kernel(self.device.gpu_device, code, [(self.sink, 64 << 10)])
        return pipeline, group, (workgroups, 1, 1)

    def seconds(self, *steps: Any) -> float:
        return self.clock.seconds(partial(record_steps, steps=list(steps)), _BUDGET)

    def work(self, besides: str = "", work: int = 1, workgroups: int = 1) -> float:
        code = _WORK.format(besides=besides, work=work, turns=_TURNS, workgroup=self.workgroup)
        return self.seconds(self.step(code, workgroups))

    def turn(self, besides: str) -> float:
        """Nanoseconds that something besides adds to a turn."""
        return max(0.0, self.work(besides) - self.work()) / _TURNS * 1e9

    def reads(self, buffer: Any) -> dict[str, dict[str, float]]:
        most = 4 << 20 if self.clock.software else self.device.limits["max-storage-buffer-binding-size"]
        size = min(buffer.size, most) // 256 * 256
        counts = [1 << n for n in (range(0, 7) if self.clock.software else range(3, 15))]
        found: dict[str, dict[str, float]] = {}
        for unroll in (1, 4, 8):
            reading = timing.reads(self.device, buffer, size, unroll)
            found[str(unroll)] = {str(n): size / max(self.clock.seconds(reading(n), _BUDGET), 1e-9) for n in counts}
        return found

    def at_once(self) -> int:
        """Workgroups of arithmetic that take no longer than one."""
        alone = self.work(work=256, workgroups=1)
        count = 1
        while count < 1 << 14 and self.work(work=256, workgroups=2 * count) < 1.5 * alone:
            count *= 2
        return count

    def subgroups(self) -> tuple[int, ...]:
        if not self.device.machine.subgroups:
            return ()
        step = self.step(_SUBGROUPS, 32)
        self.clock.submit([partial(record_steps, steps=[step])])
        words = np.frombuffer(self.device.gpu_device.queue.read_buffer(self.sink, 0, 32 << 10), np.uint32)
        return tuple(int(n) for n in np.unique(words))


def measure(clock: timing.Clock, buffer: Any, told: Callable[[str], None]) -> Facts:
    """Facts of the clock's device. ``buffer``: what is read, more than caches hold."""
    bench = _Bench(clock)
    told("reads")
    reads = bench.reads(buffer)
    told("dispatches")
    empty = bench.seconds(bench.step(_NEXT))
    many = bench.seconds(*[bench.step(_NEXT)] * 17)
    told("workgroups")
    return Facts(
        reads=reads,
        empty_dispatch_us=empty * 1e6,
        dependent_dispatch_us=(many - empty) / 16 * 1e6,
        barrier_ns=bench.turn("workgroupBarrier();"),
        atomic_ns=bench.turn("atomicAdd(&counter, 1u);"),
        workgroups_at_once=bench.at_once(),
        subgroup_sizes=bench.subgroups(),
    )
