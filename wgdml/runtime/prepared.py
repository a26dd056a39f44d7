"""Plans that are ready to run: pipelines, parameters, and bind groups that are made once for each set of buffers."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import wgpu

from ..plan import Plan
from .interrupts import locked

if TYPE_CHECKING:
    from .device import Device

__all__ = ["BindGroups", "PreparedPlan", "Steps", "record_steps"]

_BOUND_KEPT = 2048
_SLOT = 512  # bytes of one dispatch's parameters; a multiple of every alignment that WebGPU allows

#: (pipeline, bind group, grid) of each dispatch
Steps = list[tuple[Any, Any, tuple[int, int, int]]]


class BindGroups:
    """The bind groups of all plans. They leave with their plan, with any of their buffers, and when least recently used.

    A bind group keeps its buffers' memory alive, so none may outlive a buffer that nobody else wants. Buffers and plans are known
    by numbers that are never used again, so a late entry is never mistaken for another.
    """

    def __init__(self) -> None:
        self._steps: OrderedDict[tuple[Hashable, ...], Steps] = OrderedDict()
        self._keys_of: dict[int, set[tuple[Hashable, ...]]] = {}
        self._watched: dict[int, weakref.ref[Any]] = {}
        self._gone: deque[int] = deque()  # appended to by finalizers, see memory.py
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._steps)

    def get(self, key: tuple[Hashable, ...]) -> Steps | None:
        if not self._gone and len(self._steps) <= _BOUND_KEPT // 2:
            return self._steps.get(key)  # nothing will have to leave soon, so its turn does not matter
        return locked(self._lock, self._get, key)

    def put(self, key: tuple[Hashable, ...], steps: Steps, owners: dict[int, Any]) -> None:
        """Keeps the steps for as long as every owner lives; ``owners``: by their numbers."""
        locked(self._lock, self._put, key, steps, owners)

    def forget(self, number: int) -> None:
        """Drops every bind group of a buffer or plan."""
        self._gone.append(number)
        locked(self._lock, self._tidy, wait=False)

    def clear(self) -> None:
        locked(self._lock, self._clear)

    def _watch(self, number: int) -> Any:
        me = weakref.ref(self)

        def gone(_: object) -> None:
            groups = me()
            if groups is not None:
                groups.forget(number)

        return gone

    # What follows runs under the lock.

    def _get(self, key: tuple[Hashable, ...]) -> Steps | None:
        self._tidy()
        steps = self._steps.get(key)
        if steps is not None:
            self._steps.move_to_end(key)
        return steps

    def _put(self, key: tuple[Hashable, ...], steps: Steps, owners: dict[int, Any]) -> None:
        self._tidy()
        # Watched before kept: interrupted, it keeps nothing that nobody watches.
        for number, owner in owners.items():
            self._keys_of.setdefault(number, set()).add(key)
            if number not in self._watched:
                self._watched[number] = weakref.ref(owner, self._watch(number))
        self._steps[key] = steps
        while len(self._steps) > _BOUND_KEPT:
            self._forget(next(iter(self._steps)))

    def _clear(self) -> None:
        self._steps.clear()
        self._keys_of.clear()
        self._watched.clear()

    def _tidy(self) -> None:
        while self._gone:
            number = self._gone.popleft()
            self._watched.pop(number, None)
            for key in self._keys_of.pop(number, ()):
                self._forget(key)

    def _forget(self, key: tuple[Hashable, ...]) -> None:
        self._steps.pop(key, None)
        for number in key[0::2]:
            keys = self._keys_of.get(number)  # type: ignore[call-overload]
            if keys is not None:
                keys.discard(key)
                if not keys:
                    del self._keys_of[number]  # type: ignore[arg-type]
                    self._watched.pop(number, None)  # type: ignore[call-overload]


_numbers = itertools.count(1)


class PreparedPlan:
    """A plan with its pipelines and parameter buffer on the device; ``steps`` binds it to buffers, once for each set of them."""

    def __init__(self, device: Device, plan: Plan) -> None:
        self.device = device
        self.plan = plan
        self.scratch_size = plan.scratch_size
        self.number = -next(_numbers)  # buffers have positive ones
        self.pipelines = [device._pipeline(d) for d in plan.dispatches]
        params = bytearray(_SLOT * max(1, len(plan.dispatches)))
        for i, d in enumerate(plan.dispatches):
            params[i * _SLOT : i * _SLOT + len(d.params)] = d.params
        self.params = device._create_buffer(len(params), wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)
        device.gpu_device.queue.write_buffer(self.params, 0, params)

    def steps(self, resources: Mapping[str, tuple[Any, int]]) -> Steps:
        """(pipeline, bind group, grid) of each dispatch; ``resources`` gives each its buffer and byte offset."""
        scratch = self.device._scratch(self.scratch_size) if self.scratch_size else None
        # Numbers at even places, see BindGroups._forget.
        parts: list[Hashable] = [self.number, 0] if scratch is None else [self.number, 0, scratch.uid, 0]
        for name, (buffer, offset) in resources.items():
            parts += buffer.uid, (name, offset)
        key = tuple(parts)
        groups = self.device._groups
        steps = groups.get(key)
        if steps is None:
            steps = self._bind(resources, scratch)
            owners = {buffer.uid: buffer for buffer, _ in resources.values()}
            if scratch is not None:
                owners[scratch.uid] = scratch
            owners[self.number] = self
            groups.put(key, steps, owners)
        return steps

    def _bind(self, resources: Mapping[str, tuple[Any, int]], scratch: Any) -> Steps:
        steps = []
        for i, (d, (pipeline, layout)) in enumerate(zip(self.plan.dispatches, self.pipelines, strict=True)):
            entries = [{"binding": 0, "resource": {"buffer": self.params, "offset": i * _SLOT, "size": len(d.params)}}]
            for b in d.bindings:
                buffer, base = (scratch, 0) if b.resource == "scratch" else resources[b.resource]
                offset = base + b.offset
                size = min(b.size, (buffer.size - offset) // 4 * 4)
                entries.append({"binding": b.slot, "resource": {"buffer": buffer, "offset": offset, "size": size}})
            group = self.device.gpu_device.create_bind_group(layout=layout, entries=entries)
            self.device.counters["bind_groups"] += 1
            steps.append((pipeline, group, d.grid))
        return steps

    def record(self, compute_pass: Any, resources: Mapping[str, tuple[Any, int]]) -> None:
        """Records every dispatch into a compute pass."""
        record_steps(compute_pass, self.steps(resources))


def record_steps(compute_pass: Any, steps: Steps) -> None:
    """Records every dispatch into a compute pass."""
    current = None
    for pipeline, group, grid in steps:
        if pipeline is not current:
            compute_pass.set_pipeline(pipeline)
            current = pipeline
        compute_pass.set_bind_group(0, group)
        compute_pass.dispatch_workgroups(*grid)
