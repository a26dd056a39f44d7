"""A device: pipelines, plans, buffers and scratch, each made once and kept."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
import wgpu
from numpy.typing import NDArray

from .. import contract, shaders
from ..plan import Dispatch, Limits, make_plan
from ..selection import Selection
from .adapter import NoAdapterError, choose_adapter, describe
from .errors import DeviceLostError, out_of_memory, translated
from .fork import FORKED, use_gpu
from .interrupts import interruptible, uninterrupted
from .memory import Memory, Pool
from .prepared import BindGroups, PreparedPlan
from .transfer import CHUNK, Staging

if TYPE_CHECKING:
    from types import TracebackType

    from .operator import CompiledOperator, Operator

__all__ = ["Device", "PreparedPlan", "default_device", "device_of"]

_WANTED_FEATURES = ("subgroup", "timestamp-query", "timestamp-query-inside-passes")
#: The least that WebGPU's specification promises of any adapter, as far as computing is concerned.
_MINIMUM_LIMITS = {
    "max-bind-groups": 4,
    "max-bindings-per-bind-group": 1000,
    "max-buffer-size": 256 << 20,
    "max-compute-invocations-per-workgroup": 256,
    "max-compute-workgroup-size-x": 256,
    "max-compute-workgroup-size-y": 256,
    "max-compute-workgroup-size-z": 64,
    "max-compute-workgroup-storage-size": 16 << 10,
    "max-compute-workgroups-per-dimension": 65535,
    "max-storage-buffer-binding-size": 128 << 20,
    "max-storage-buffers-per-shader-stage": 8,
    "max-uniform-buffer-binding-size": 64 << 10,
    "max-uniform-buffers-per-shader-stage": 12,
    "min-storage-buffer-offset-alignment": 256,
    "min-uniform-buffer-offset-alignment": 256,
}
_STORAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
_PLANS_KEPT = 1024
_PIPELINES_KEPT = 1024
_POOLED_BYTES = 1 << 30
_SMALLEST_BUFFER = 256

_Kept = TypeVar("_Kept")


class Device:
    """A WebGPU device and everything that wgdml keeps on it.

    ``gpu_device``: a ``wgpu.GPUDevice`` that the caller has, so that buffers are shared; without one an adapter is chosen (hardware
    first, then software; ``WGPUPY_WGPU_ADAPTER_NAME`` and ``WGPU_BACKEND_TYPE`` are honoured) or ``adapter`` is used.
    ``feature_level``: the highest level whose operators this device takes (DirectML's ``DML_FEATURE_LEVEL``).

    May be used from several threads, and as a context manager that closes it. Processes that are forked from one with a Device
    cannot use the GPU: start them by "spawn", or make the first call in the child.

    Raises ``NoAdapterError`` where there is no adapter, ``TypeError`` for objects of other kinds. Its methods raise
    ``DeviceLostError`` when the GPU device is gone, ``MemoryError`` when it has no room.
    """

    def __init__(
        self,
        gpu_device: Any = None,
        *,
        adapter: Any = None,
        feature_level: contract.FeatureLevel = contract.HIGHEST_FEATURE_LEVEL,
    ) -> None:
        try:
            self.feature_level = contract.FeatureLevel(feature_level)
        except ValueError:
            levels = ", ".join(level.name for level in contract.FeatureLevel)
            raise ValueError(f"feature_level must be one of {levels}, not {feature_level!r}") from None
        if gpu_device is not None and not isinstance(gpu_device, wgpu.GPUDevice):
            raise TypeError(f"gpu_device must be a wgpu.GPUDevice, not {type(gpu_device).__name__}")
        if adapter is not None and not isinstance(adapter, wgpu.GPUAdapter):
            raise TypeError(f"adapter must be a wgpu.GPUAdapter, not {type(adapter).__name__}")
        self.adapter_reason = "given by the caller"
        if gpu_device is None:
            if adapter is None:
                adapter, self.adapter_reason = choose_adapter()
            use_gpu()
            wanted = os.environ.get("WGDML_LIMITS", "")
            if wanted not in ("", "minimum"):
                raise ValueError(f'WGDML_LIMITS must be "minimum" or unset, not {wanted!r}')
            # "minimum" is for tests: the device that any adapter would give at least, without optional features.
            limits = _MINIMUM_LIMITS if wanted else None
            subgroups = os.environ.get("WGDML_SUBGROUPS", "")
            if subgroups not in ("", "off"):
                raise ValueError(f'WGDML_SUBGROUPS must be "off" or unset, not {subgroups!r}')
            features = [] if wanted else [f for f in _WANTED_FEATURES if f in adapter.features]
            if subgroups and "subgroup" in features:
                features.remove("subgroup")
            request = partial(adapter.request_device_sync, label="wgdml", required_features=features, required_limits=limits)
            try:
                gpu_device = uninterrupted(request)  # an exception in wgpu-py's callback would be lost, and the device with it
            except (RuntimeError, wgpu.GPUError) as error:
                # Some drivers list an adapter, OpenGL's for one, that cannot compute.
                reason = " ".join(str(error).split())
                raise NoAdapterError(f"{describe(adapter)} gives no device that can compute: {reason}") from error
        self.gpu_device = gpu_device
        self.adapter_info: dict[str, Any] = dict(gpu_device.adapter.info)
        self.limits: dict[str, int] = dict(gpu_device.limits)
        self.features: frozenset[str] = frozenset(gpu_device.features)
        self.counters: dict[str, int] = {
            "pipelines": 0,
            "plans": 0,
            "bind_groups": 0,
            "buffers": 0,
            "scratch_bytes": 0,
        }
        self.lock = threading.RLock()
        self.plan_limits = self._plan_limits()
        self._gone: tuple[type[RuntimeError], str] | None = None  # why nothing works any more
        self._pipelines: OrderedDict[Hashable, tuple[Any, Any]] = OrderedDict()
        self._layouts: dict[Hashable, tuple[Any, Any]] = {}
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._groups = BindGroups()
        self._scratch_buffer: Any = None
        self._pool = Pool(_POOLED_BYTES)
        self._staging = Staging(self)
        use_gpu(self)

    def __repr__(self) -> str:
        return f"<wgdml.Device {describe(self.gpu_device.adapter)}, {self.feature_level.name}>"

    def _plan_limits(self) -> Limits:
        get = self.limits.__getitem__
        return Limits(
            max_storage_buffer_binding_size=min(get("max-storage-buffer-binding-size"), 0xFFFFFFF0),
            max_buffer_size=get("max-buffer-size"),
            max_compute_invocations_per_workgroup=min(
                get("max-compute-invocations-per-workgroup"), get("max-compute-workgroup-size-x")
            ),
            max_compute_workgroup_storage_size=get("max-compute-workgroup-storage-size"),
            max_compute_workgroups_per_dimension=get("max-compute-workgroups-per-dimension"),
            software=self.adapter_info["adapter_type"] == "CPU",
            subgroups="subgroup" in self.features,
        )

    # -- DirectML's device --

    @property
    def feature_levels(self) -> tuple[contract.FeatureLevel, ...]:
        """The levels that exist up to this device's (DirectML's ``DML_FEATURE_QUERY_FEATURE_LEVELS``)."""
        return tuple(level for level in contract.FeatureLevel if level <= self.feature_level)

    def check_feature_support(self, data_type: contract.DataType) -> bool:
        """Whether tensors may have this data type at the device's level (``DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT``)."""
        return contract.supports_data_type(contract.DataType(data_type), self.feature_level)

    def create_operator(self, desc: Any) -> Operator:
        """Checks an operator desc against the device's feature level (``IDMLDevice::CreateOperator``).

        Raises ``TypeError`` for other objects and ``ValueError``, naming the level that would take it, for a desc over the level.
        """
        from .operator import Operator

        return Operator(self, desc)

    def compile_operator(self, operator: Operator) -> CompiledOperator:
        """Chooses kernels and makes their pipelines (``IDMLDevice::CompileOperator``)."""
        from .operator import CompiledOperator, Operator

        if isinstance(operator, Operator) and operator.device is not self:
            raise ValueError(f"operator was created by another device, {operator.device!r}, than {self!r}")
        return CompiledOperator(operator)

    # -- kept things --

    def prepare(self, selection: Selection, **options: Any) -> PreparedPlan:
        """The plan of a selection on this device, with its pipelines; made once. ``options``: those of ``make_plan``."""

        def make() -> PreparedPlan:
            self.counters["plans"] += 1
            return PreparedPlan(self, make_plan(selection, self.plan_limits, **options))

        return self.kept((selection, tuple(sorted(options.items()))), make)

    def kept(self, key: Hashable, make: Callable[[], _Kept]) -> _Kept:
        """The value kept under ``key``, made at the first call; the least recently used leave."""
        if self._gone:
            self._refuse()
        value: _Kept | None = self._kept.get(key)
        if value is not None and len(self._kept) <= _PLANS_KEPT // 2:
            return value  # nothing will have to leave soon, so its turn does not matter
        with self.lock:
            value = self._kept.get(key)
            if value is None:
                try:
                    value = make()
                except wgpu.GPUError as error:
                    self._raise(error, "preparing a plan")
                self._kept[key] = value
                while len(self._kept) > _PLANS_KEPT:
                    self._kept.popitem(last=False)
            else:
                self._kept.move_to_end(key)
            return value

    def _layout(self, slots: tuple[int, ...], shared_input: bool) -> tuple[Any, Any]:
        """Bind group layout and pipeline layout of a kernel with these slots: 0 parameters, 1 the input, the rest writable."""
        layouts = self._layouts.get((slots, shared_input))
        if layouts is None:
            kinds = {0: "uniform", 1: "storage" if shared_input else "read-only-storage"}
            group = self.gpu_device.create_bind_group_layout(
                entries=[
                    {
                        "binding": slot,
                        "visibility": wgpu.ShaderStage.COMPUTE,
                        "buffer": {"type": kinds.get(slot, "storage")},
                    }
                    for slot in slots
                ]
            )
            layouts = group, self.gpu_device.create_pipeline_layout(bind_group_layouts=[group])
            self._layouts[slots, shared_input] = layouts
        return layouts

    def _pipeline(self, dispatch: Dispatch) -> tuple[Any, Any]:
        """Pipeline and bind group layout of a dispatch, compiled at first sight."""
        slots = (0, *(b.slot for b in dispatch.bindings))
        # Different constants may well assemble to one text.
        constants = dict(dispatch.constants)
        text = shaders.assemble(dispatch.kernel, constants)
        found = self._pipelines.get((text, slots))
        if found is None:
            group, layout = self._layout(slots, constants["INPUT_SHARED"] == 1)
            try:
                module = self.gpu_device.create_shader_module(label=dispatch.kernel, code=text)
                pipeline = self.gpu_device.create_compute_pipeline(
                    label=dispatch.kernel, layout=layout, compute={"module": module, "entry_point": "main"}
                )
            except wgpu.GPUError as error:
                if isinstance(translated(error, ""), DeviceLostError | MemoryError):
                    raise
                numbered = "\n".join(f"{i:4}  {line}" for i, line in enumerate(text.splitlines(), 1))
                raise shaders.ShaderError(f"{dispatch.kernel}.wgsl does not compile: {error}\n{numbered}") from error
            found = self._pipelines[text, slots] = pipeline, group
            self.counters["pipelines"] += 1
            while len(self._pipelines) > _PIPELINES_KEPT:
                self._pipelines.popitem(last=False)
        else:
            self._pipelines.move_to_end((text, slots))
        return found

    # -- memory --

    def check_size(self, name: str, size: int) -> None:
        """``MemoryError`` for more bytes than the largest buffer."""
        largest = self.limits["max-buffer-size"]
        if size > largest:
            raise MemoryError(f"{name} of {size} bytes is over this device's largest buffer of {largest} bytes")

    def _create_buffer(self, size: int, usage: int) -> Any:
        self.check_size("a buffer", size)
        for attempt in range(2):
            try:
                buffer = self.gpu_device.create_buffer(size=size, usage=usage)
                break
            except wgpu.GPUError as error:
                if attempt or not out_of_memory(error):
                    self._raise(error, f"making a buffer of {size} bytes")
                self._make_room()
        self.counters["buffers"] += 1
        return buffer

    def _make_room(self) -> None:
        """Frees the buffers that no tensor and no transfer uses."""
        self._pool.clear()
        self._staging.clear()
        # wgpu keeps a destroyed buffer until the work that was submitted with it is done, so wait for that.
        with suppress(wgpu.GPUError, RuntimeError, AttributeError):
            last = self.gpu_device.create_buffer(size=4, usage=wgpu.BufferUsage.COPY_SRC)
            interruptible(self.gpu_device.queue.read_buffer, last)

    def _scratch(self, size: int) -> Any:
        """The scratch that all plans share: work on a queue is in order, and none needs it longer than its own dispatches."""
        scratch = self._scratch_buffer
        if scratch is None or scratch.size < size:
            with self.lock:
                rounded = min(1 << max(16, (size - 1).bit_length()), self.limits["max-buffer-size"])
                if size > 1 << 26:
                    rounded = size
                scratch = self._scratch_buffer = self._create_buffer(rounded, _STORAGE)
                self.counters["scratch_bytes"] = rounded
        return scratch

    @staticmethod
    def size_class(size: int) -> int:
        """The size of the buffers that serve tensors of ``size`` bytes: few sizes, so that they are found again."""
        if size <= 1 << 20:
            return 1 << (max(size, _SMALLEST_BUFFER) - 1).bit_length()
        return -(-size // (1 << 18)) * (1 << 18)

    def allocate(self, name: str, size: int) -> Memory:
        """Memory for a tensor of ``size`` bytes, from the pool where it has some. ``MemoryError``, naming ``name``."""
        return self.allocate_class(self.class_of(name, size))

    def class_of(self, name: str, size: int) -> int:
        """The size of the buffer that ``allocate`` would give."""
        self.check_size(name, size)
        return min(self.size_class(size), self.limits["max-buffer-size"] // 4 * 4)

    def allocate_class(self, rounded: int) -> Memory:
        """Memory of a size that ``class_of`` gave."""
        if self._gone:
            self._refuse()
        buffer = self._pool.take(rounded)
        if buffer is None:
            buffer = self._create_buffer(rounded, _STORAGE)
        return Memory(self._pool, rounded, buffer)

    def trim(self) -> None:
        """Gives back all memory that no tensor uses: pooled buffers, scratch and staging."""
        with self.lock:
            self._pool.clear()
            self._staging.clear()
            self._groups.clear()
            self._scratch_buffer = None
            self.counters["scratch_bytes"] = 0

    def close(self) -> None:
        """Gives back everything that is kept here; tensors keep their buffers. Every later use raises ``RuntimeError``.

        The ``wgpu.GPUDevice`` itself lives for as long as anything refers to it.
        """
        self._gone = self._gone or (RuntimeError, f"{self!r} is closed")
        with self.lock:
            self.trim()
            self._kept.clear()
            self._pipelines.clear()
            self._layouts.clear()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    # -- when things go wrong --

    def _forked(self) -> None:
        self._gone = RuntimeError, FORKED

    def _refuse(self) -> NoReturn:
        assert self._gone
        kind, why = self._gone
        raise kind(why)

    def _raise(self, error: Exception, doing: str) -> NoReturn:
        """Raises what an error of wgpu's means."""
        known: Exception = error
        if isinstance(error, wgpu.GPUError):
            known = translated(error, doing)
        elif not isinstance(error, DeviceLostError | MemoryError):
            # wgpu-py itself reports a failed map in its own ways: see whether the device is why.
            try:
                self.gpu_device.create_command_encoder().finish()
            except wgpu.GPUError as reason:
                known = translated(reason, doing)
        if isinstance(known, DeviceLostError):
            self._gone = self._gone or (DeviceLostError, str(known))
        raise known from error

    def check_alive(self, **buffers: Any) -> None:
        """``ValueError``, naming them, for buffers that were destroyed: submitting one would end the process."""
        if self._gone:
            self._refuse()
        for name, buffer in buffers.items():
            layout, _ = self._layouts.get("alive") or self._alive_layout()
            try:
                # The cheapest question that wgpu answers with an exception.
                self.gpu_device.create_bind_group(
                    layout=layout, entries=[{"binding": 0, "resource": {"buffer": buffer, "offset": 0, "size": 4}}]
                )
            except wgpu.GPUError as error:
                known = translated(error, "")
                if isinstance(known, ValueError):
                    raise ValueError(f"{name} is over a buffer that has been destroyed") from None
                self._raise(error, f"looking at {name}")

    @staticmethod
    def check_unmapped(**buffers: Any) -> None:
        """``ValueError``, naming them, for buffers that the host has mapped, or asked for: submitting one would end the process."""
        for name, buffer in buffers.items():
            if buffer.map_state != "unmapped":
                raise ValueError(f"{name} is over a buffer that the host has mapped ({buffer.map_state}): unmap it first")

    def _alive_layout(self) -> tuple[Any, Any]:
        binding = {"binding": 0, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": "read-only-storage"}}
        try:
            layout = self.gpu_device.create_bind_group_layout(entries=[binding])
        except wgpu.GPUError as error:
            self._raise(error, "making a layout")
        return self._layouts.setdefault("alive", (layout, None))

    # -- submitting and moving --

    def run(self, prepared: PreparedPlan, resources: Mapping[str, tuple[Any, int]]) -> None:
        """Records and submits one plan; does not wait."""
        if self._gone:
            self._refuse()
        try:
            encoder = self.gpu_device.create_command_encoder()
            self._record(encoder, prepared, resources)
            self.gpu_device.queue.submit([encoder.finish()])
        except wgpu.GPUError as error:
            self._raise(error, "running a plan")

    @staticmethod
    def _record(encoder: Any, prepared: PreparedPlan, resources: Mapping[str, tuple[Any, int]]) -> None:
        compute_pass = encoder.begin_compute_pass()
        prepared.record(compute_pass, resources)
        compute_pass.end()

    def read(
        self,
        wanted: Sequence[tuple[Any, int, tuple[int, ...], np.dtype[Any]]],
        plan: tuple[PreparedPlan, Mapping[str, tuple[Any, int]]] | None = None,
    ) -> list[NDArray[Any]]:
        """Packed arrays of buffers, (buffer, offset in bytes, shape, data type) each, as new arrays; offsets are multiples of four.

        They are read after all submitted work and, if given, a plan with its resources: with one submission and one wait where a
        staging buffer holds them all.
        """
        if self._gone:
            self._refuse()
        sizes = [prod(shape) * dtype.itemsize for _, _, shape, dtype in wanted]
        total = sum(-(-size // 8) * 8 for size in sizes)  # wgpu-py maps at multiples of eight
        doing = "reading from the device" if plan is None else "running a plan"
        if total > CHUNK:
            if plan is not None:
                self.run(*plan)
            try:
                return [
                    self._staging.download(buffer, offset, -(-size // 4) * 4)[:size].view(dtype).reshape(shape)
                    for (buffer, offset, shape, dtype), size in zip(wanted, sizes, strict=True)
                ]
            except (wgpu.GPUError, RuntimeError, AttributeError) as error:
                self._raise(error, doing)
        staging = self._staging.take(total)
        try:
            encoder = self.gpu_device.create_command_encoder()
            if plan is not None:
                self._record(encoder, *plan)
            start = 0
            for (buffer, offset, _, _), size in zip(wanted, sizes, strict=True):
                encoder.copy_buffer_to_buffer(buffer, offset, staging, start, -(-size // 4) * 4)
                start += -(-size // 8) * 8
            self.gpu_device.queue.submit([encoder.finish()])
            mapped = self._staging.map(staging, total)
            results: list[NDArray[Any]] = []
            start = 0
            for (_, _, shape, dtype), size in zip(wanted, sizes, strict=True):
                results.append(np.ndarray(shape, dtype, mapped, start).copy())
                start += -(-size // 8) * 8
            staging.unmap()
        except BaseException as error:
            staging.destroy()  # it may be mapped, or about to be
            if isinstance(error, wgpu.GPUError | RuntimeError | AttributeError):
                self._raise(error, doing)
            raise
        self._staging.give(staging)
        return results

    def write(self, data: NDArray[Any], buffer: Any) -> None:
        """A contiguous array to a buffer's start, before all work that is submitted later."""
        if self._gone:
            self._refuse()
        try:
            self._staging.upload(data, buffer)
        except (wgpu.GPUError, RuntimeError, AttributeError) as error:
            self._raise(error, "writing to the device")


_default: Device | None = None
_default_lock = threading.Lock()


def default_device() -> Device:
    """The device that functions use when none is named: made at the first call, and again when it was lost or closed."""
    global _default
    device = _default
    if device is None or device._gone:
        with _default_lock:
            device = _default
            if device is None or device._gone:
                device = _default = Device()
    return device


def device_of(device: Device | None) -> Device:
    """The ``device`` argument of a function. ``TypeError`` for other objects."""
    if device is None:
        return default_device()
    if not isinstance(device, Device):
        raise TypeError(f"device must be a wgdml.Device, not {device!r}")
    return device
