"""Plans that a device ran, as files for direct3d.c: what its buffers held before and after.

A plan is "buffers" and their number; for each its size, how many bytes of it are given and how many
compared, and those bytes; then "dispatches" and their number; for each the path of its text, its
grid, the number of bindings and the size of the parameters, a slot, buffer, offset and size for
each binding, and the parameters. The last buffer is scratch, and the parameters are binding 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import wgdml
from wgdml import shaders
from wgdml.plan import Dispatch, Machine, Planner
from wgdml.runtime.executor import Executor, PreparedPlan

_TYPES = (np.float32, np.float16, np.int32, np.uint8, np.int64, np.float64)


class Recorder:
    """Writes every plan that runs while this is entered."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plans: list[Path] = []
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Recorder:
        self._methods = Executor.run, Executor.run_and_read
        Executor.run, Executor.run_and_read = map(self._recording, self._methods)  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        Executor.run, Executor.run_and_read = self._methods  # type: ignore[method-assign]

    def _recording(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method of Executor that runs a plan, with what is written of it."""

        def recorded(device: Executor, prepared: PreparedPlan, resources: Any, *spans: Any) -> Any:
            before = _held(device, resources)
            found = method(device, prepared, resources, *spans)
            self._write(prepared, resources, before, _held(device, resources))
            return found

        return recorded

    def _write(self, prepared: PreparedPlan, resources: Any, before: dict[int, bytes], after: dict[int, bytes]) -> None:
        plan, number = prepared.plan, {uid: n for n, uid in enumerate(before)}
        path = self.folder / f"{len(self.plans):04}.plan"
        with path.open("wb") as file:
            file.write(b"buffers %d\n" % (len(before) + 1))
            for uid, held in before.items():
                file.write(b"%d %d %d\n" % (len(held), len(held), len(after[uid])) + held + after[uid])
            file.write(b"%d 0 0\ndispatches %d\n" % (max(16, plan.scratch_size), len(plan.dispatches)))
            for dispatch in plan.dispatches:
                file.write(self._dispatch(dispatch, number, resources) + dispatch.params)
        self.plans.append(path)

    def _dispatch(self, dispatch: Dispatch, number: dict[int, int], resources: Any) -> bytes:
        bound = []
        for b in dispatch.bindings:
            if b.resource == "scratch":
                bound.append((b.slot, len(number), b.offset, b.size))
            else:
                buffer, base = resources[b.resource]
                bound.append((b.slot, number[buffer.uid], base + b.offset, min(b.size, (buffer.size - base - b.offset) // 4 * 4)))
        words = (*dispatch.grid, len(bound), len(dispatch.params), *(word for binding in bound for word in binding))
        return f"Z:{self._text(dispatch)}\n{' '.join(map(str, words))}\n".encode()

    def _text(self, dispatch: Dispatch) -> Path:
        text = shaders.assemble(dispatch.kernel, dict(dispatch.constants))
        path = self.folder / f"{dispatch.kernel.replace('/', '.')}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.wgsl"
        path.write_text(text)
        return path


def _held(device: Executor, resources: Any) -> dict[int, bytes]:
    """What the buffers of a plan hold, by their numbers."""
    return {buffer.uid: bytes(device.gpu_device.queue.read_buffer(buffer)) for buffer, _ in resources.values()}


def planner_without(machine: Machine, rejected: Iterable[str]) -> Planner:
    """A planner for a machine that rejects these kernels."""
    planner = Planner(machine)
    planner.rejected |= set(rejected)
    return planner


def recorded(machine: Machine, rejected: Iterable[str], count: int, folder: Path) -> list[Path]:
    """The plans of so many random problems, as this machine has them without these kernels."""
    device = wgdml.Device(planner=lambda _: planner_without(machine, rejected))
    rng = np.random.default_rng(count)
    with Recorder(folder) as recorder:
        for n in range(count):
            dtype = _TYPES[n % len(_TYPES)]
            rows, length = int(2 ** rng.uniform(0, 8)), int(2 ** rng.uniform(1, 15 if n % 3 else 11))
            k = min(length, int(2 ** rng.uniform(0, 13)))
            x = rng.integers(0, 2 ** rng.integers(1, 8), (rows, length)).astype(dtype)
            wgdml.top_k(
                x.T if n % 4 == 1 else x,
                k,
                axis=0 if n % 4 == 1 else 1,
                mode="smallest" if n % 5 == 1 else "largest",
                device=device,
            )
            wgdml.argmax(x, axis=n % 2, device=device)
            if n % 4 == 3:
                wgdml.median(x, axis=1, device=device)
    return recorder.plans
