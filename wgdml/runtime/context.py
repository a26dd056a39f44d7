"""A GPU device: what it is, what was made on it, and whether it still works."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import wgpu

from ..plan import Machine, of_phones
from .errors import DeviceLostError, translated
from .fences import FENCE_BYTES
from .process import FORKED, before_callbacks, locked

#: Makers by their PCI numbers: what Vulkan says of a maker is the name of its driver.
_VENDORS = {0x1002: "amd", 0x106B: "apple", 0x10DE: "nvidia", 0x1010: "img-tec", 0x13B5: "arm", 0x5143: "qualcomm", 0x8086: "intel"}


#: Invocations of a workgroup that have registers for what a kernel holds, on any GPU. Of more Metal
#: leaves a dispatch out (docs/driver-bugs.md#metal-a-dispatch-without-registers-is-left-out), and
#: others put the rest into memory
#: (benchmarks/LOG.md#registers-of-other-makers-2026-12-01-e53e708).
_WITH_REGISTERS = 256


def machine_of(info: Mapping[str, Any], limits: Mapping[str, int], features: Collection[str]) -> Machine:
    """A device as plans see it, by what wgpu says of its adapter, its limits and its features."""
    metal = info["backend_type"] == "Metal"
    # Metal names no maker. Its adapters are Apple's own, but for those of older Macs.
    own = "apple" if metal and info["device"].startswith("Apple") else ""
    vendor = _VENDORS.get(info.get("vendor_id", 0)) or own or str(info.get("vendor", "")).lower()
    kinds = {"CPU": "software", "DiscreteGPU": "discrete", "IntegratedGPU": "integrated"}
    memory = limits["max-compute-workgroup-storage-size"] - (FENCE_BYTES if metal else 0)
    invocations = min(limits["max-compute-invocations-per-workgroup"], limits["max-compute-workgroup-size-x"])
    if metal or vendor == "apple" or of_phones(vendor):
        invocations = min(invocations, _WITH_REGISTERS)
    return Machine(
        max_storage_buffer_binding_size=min(limits["max-storage-buffer-binding-size"], 0xFFFFFFF0),
        max_buffer_size=limits["max-buffer-size"],
        max_compute_invocations_per_workgroup=invocations,
        max_compute_workgroup_storage_size=memory,
        max_compute_workgroups_per_dimension=limits["max-compute-workgroups-per-dimension"],
        kind=kinds.get(info["adapter_type"], "unknown"),
        vendor=vendor,
        subgroups="subgroup" in features,
    )


def nanoseconds_a_tick(gpu_device: Any) -> float:
    """The length of a tick of timestamp queries, which wgpu-py has no public call for."""
    try:
        from wgpu.backends.wgpu_native import lib

        return float(lib.wgpuQueueGetTimestampPeriod(gpu_device.queue._internal)) or 1.0
    except (ImportError, AttributeError):
        return 1.0


class Kept:
    """Values by what they depend on. The least recently used of more than ``most`` leave."""

    def __init__(self, lock: threading.RLock, most: int) -> None:
        self._lock = lock
        self._most = most
        self._values: OrderedDict[Hashable, Any] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> Any:
        """The value kept under ``key``, or None."""
        value = self._values.get(key)
        if value is not None and len(self._values) > self._most // 2:  # else nothing leaves soon
            locked(self._lock, self._touch, key)
        return value

    def _touch(self, key: Hashable) -> None:
        if key in self._values:
            self._values.move_to_end(key)

    def put(self, key: Hashable, value: Any) -> None:
        locked(self._lock, self._put, key, value)

    def _put(self, key: Hashable, value: Any) -> None:
        self._values[key] = value
        while len(self._values) > self._most:
            self._values.popitem(last=False)

    def clear(self) -> None:
        self._values.clear()


class Context:
    """What every part of a device's runtime stands on."""

    def __init__(self, gpu_device: Any) -> None:
        # wgpu-py's thread of the device stops when that is destroyed. Else it ended in a fork.
        if gpu_device._poller is not None and not gpu_device._poller.is_alive():
            raise RuntimeError(FORKED)
        self.gpu_device = gpu_device
        self.adapter_info: dict[str, Any] = dict(gpu_device.adapter.info)
        self.limits: dict[str, int] = dict(gpu_device.limits)
        self.features: frozenset[str] = frozenset(gpu_device.features)
        self.counters: dict[str, int] = {"pipelines": 0, "plans": 0, "bind_groups": 0, "buffers": 0, "scratch_bytes": 0}
        #: Kernels have fences there (``fences``).
        self.fenced: bool = self.adapter_info["backend_type"] == "Metal"
        self.lock = threading.RLock()
        #: Why nothing works any more: the error to raise and its text.
        self.gone: tuple[type[RuntimeError], str] | None = None
        self._probe: Any = None

    def machine(self) -> Machine:
        """The device as plans see it."""
        return machine_of(self.adapter_info, self.limits, self.features)

    def submit(self, encoder: Any) -> None:
        """Submits an encoder's commands. ``wgpu.GPUError`` as it comes."""
        before_callbacks()
        self.gpu_device.queue.submit([encoder.finish()])

    def idle(self) -> bool:
        """Has all submitted work ended? That of a GPU device that is gone has."""
        # wgpu-native ends the process where a device is polled that the driver has lost.
        if self.end == "forked" or self.probe("ending") is not None:
            return True
        try:
            from wgpu.backends.wgpu_native import ffi, lib

            # Declared with four bytes, of which wgpu-native sets the first.
            return bool(lib.wgpuDevicePoll(self.gpu_device._internal, False, ffi.NULL) & 0xFF)
        except (ImportError, AttributeError):
            return True

    # -- when things go wrong --

    def check(self) -> None:
        """Raises why the device is gone, if it is."""
        if self.gone is not None:
            kind, why = self.gone
            raise kind(why)

    @property
    def over(self) -> bool:
        """Whether nothing works here any more, as far as is known without asking the GPU device."""
        # wgpu-py has no other sign of a device that was destroyed.
        return self.gone is not None or self.gpu_device._poller is None

    @property
    def end(self) -> str:
        """What became of the device, as far as is known; empty while it works."""
        if self.gone is None:
            return "destroyed" if self.over else ""
        kind, why = self.gone
        return "lost" if kind is DeviceLostError else "forked" if why is FORKED else "closed"

    def leave(self, kind: type[RuntimeError], why: str) -> None:
        """From now on ``check`` raises this. The first reason stays."""
        self.gone = self.gone or (kind, why)

    def forked(self) -> None:
        self.gone = RuntimeError, FORKED

    def fail(self, error: Exception, doing: str) -> NoReturn:
        """Raises what an error of wgpu's means."""
        known: Exception = error
        if isinstance(error, wgpu.GPUError):
            known = translated(error, doing)
        elif not isinstance(error, DeviceLostError | MemoryError):
            # wgpu-py itself reports a failed map in its own ways: see whether the device is why.
            known = self.probe(doing) or error
        if isinstance(known, DeviceLostError):
            self.leave(DeviceLostError, str(known))
        raise known from error

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """What is done here fails in wgpu's errors, and in wgpu-py's own: raises what they mean."""
        try:
            yield
        except (wgpu.GPUError, RuntimeError, AttributeError) as error:
            self.fail(error, what)

    def probe(self, doing: str) -> Exception | None:
        """What is wrong with the device now, if anything is."""
        try:
            # An empty layout is one object in wgpu. A command buffer that is not submitted stays.
            self.gpu_device.create_bind_group_layout(entries=[])
        except wgpu.GPUError as reason:
            return translated(reason, doing)
        return None

    @property
    def lost(self) -> bool:
        """Whether the GPU device is lost."""
        if self.gone is None and isinstance(known := self.probe("looking at the device"), DeviceLostError):
            self.leave(DeviceLostError, str(known))
        return self.gone is not None and self.gone[0] is DeviceLostError

    def check_alive(self, **buffers: Any) -> None:
        """``ValueError`` for buffers that were destroyed: submitting one would end the process."""
        self.check()
        for name, buffer in buffers.items():
            gpu = self.gpu_device
            try:
                if self._probe is None:
                    binding = {"binding": 0, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": "read-only-storage"}}
                    self._probe = gpu.create_bind_group_layout(entries=[binding])
                # The cheapest question that wgpu answers with an exception.
                entry = {"binding": 0, "resource": {"buffer": buffer, "offset": 0, "size": 4}}
                gpu.create_bind_group(layout=self._probe, entries=[entry])
            except wgpu.GPUError as error:
                if isinstance(translated(error, ""), ValueError):
                    raise ValueError(f"{name} is over a buffer that has been destroyed") from None
                self.fail(error, f"looking at {name}")

    @staticmethod
    def check_unmapped(**buffers: Any) -> None:
        """``ValueError`` for mapped buffers: submitting one would end the process."""
        for name, buffer in buffers.items():
            if buffer.map_state != "unmapped":
                raise ValueError(f"{name} is over a buffer that the host has mapped ({buffer.map_state}): unmap it first")
