"""A device: pipelines, plans, buffers and scratch, each made once and kept."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any

import wgpu

from .. import contract, shaders
from ..plan import Dispatch, Limits, Plan, make_plan
from ..selection import Selection
from .adapter import choose_adapter, describe
from .transfer import Staging

if TYPE_CHECKING:
    from .operator import CompiledOperator, Operator

__all__ = ["Device", "PreparedPlan", "default_device"]

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
_POOLED_BYTES = 256 << 20
_SMALLEST_BUFFER = 256


class _Pool:
    """Buffers that tensors gave back, by size; the oldest leave when they take too much room."""

    def __init__(self) -> None:
        self.free: OrderedDict[int, list[Any]] = OrderedDict()
        self.bytes = 0

    def take(self, size: int) -> Any | None:
        buffers = self.free.get(size)
        if not buffers:
            return None
        self.bytes -= size
        return buffers.pop()

    def give(self, size: int, buffer: Any) -> None:
        self.free.setdefault(size, []).append(buffer)
        self.free.move_to_end(size)
        self.bytes += size
        while self.bytes > _POOLED_BYTES:
            oldest = next(iter(self.free))
            if not self.free[oldest]:
                del self.free[oldest]
                continue
            self.free[oldest].pop().destroy()
            self.bytes -= oldest

    def clear(self) -> None:
        for buffers in self.free.values():
            for buffer in buffers:
                buffer.destroy()
        self.free.clear()
        self.bytes = 0


class PreparedPlan:
    """A plan with its pipelines and parameter buffer on the device; ``steps`` binds it to buffers, once for each set of them."""

    def __init__(self, device: Device, plan: Plan) -> None:
        self.device = device
        self.plan = plan
        self.pipelines = [device._pipeline(d) for d in plan.dispatches]
        slot = 512
        params = bytearray(slot * max(1, len(plan.dispatches)))
        for i, d in enumerate(plan.dispatches):
            params[i * slot : i * slot + len(d.params)] = d.params
        self.slot = slot
        self.params = device._create_buffer(len(params), wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)
        device.gpu_device.queue.write_buffer(self.params, 0, params)
        self.groups: dict[tuple[Hashable, ...], list[tuple[Any, Any, tuple[int, int, int]]]] = {}

    def steps(self, resources: Mapping[str, tuple[Any, int]]) -> list[tuple[Any, Any, tuple[int, int, int]]]:
        """(pipeline, bind group, grid) of each dispatch; ``resources`` gives each its buffer and byte offset."""
        scratch = self.device._scratch(self.plan.scratch_size) if self.plan.scratch_size else None
        key = (id(scratch), *((name, id(buffer), offset) for name, (buffer, offset) in resources.items()))
        steps = self.groups.get(key)
        if steps is None:
            steps = self._bind(dict(resources), scratch)
            self.groups[key] = steps
            for buffer in {id(b): b for b in (scratch, *(b for b, _ in resources.values())) if b is not None}.values():
                # A cached bind group must not keep a buffer alive that nobody else wants.
                weakref.finalize(buffer, self.groups.pop, key, None)
        return steps

    def _bind(self, resources: dict[str, tuple[Any, int]], scratch: Any) -> list[tuple[Any, Any, tuple[int, int, int]]]:
        steps = []
        for i, (d, (pipeline, layout)) in enumerate(zip(self.plan.dispatches, self.pipelines, strict=True)):
            entries = [
                {
                    "binding": 0,
                    "resource": {"buffer": self.params, "offset": i * self.slot, "size": len(d.params)},
                }
            ]
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
        current = None
        for pipeline, group, grid in self.steps(resources):
            if pipeline is not current:
                compute_pass.set_pipeline(pipeline)
                current = pipeline
            compute_pass.set_bind_group(0, group)
            compute_pass.dispatch_workgroups(*grid)


class Device:
    """A WebGPU device and everything that wgdml keeps on it.

    ``gpu_device``: a ``wgpu.GPUDevice`` that the caller has, so that buffers are shared; without one an adapter is chosen (hardware first,
    then software; ``WGPUPY_WGPU_ADAPTER_NAME`` and ``WGPU_BACKEND_TYPE`` are honoured) or ``adapter`` is used.
    ``feature_level``: the highest level whose operators this device takes (DirectML's ``DML_FEATURE_LEVEL``).

    May be used from several threads. Raises ``NoAdapterError`` where there is no adapter, ``TypeError`` for objects of other kinds.
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
            wanted = os.environ.get("WGDML_LIMITS", "")
            if wanted not in ("", "minimum"):
                raise ValueError(f'WGDML_LIMITS must be "minimum" or unset, not {wanted!r}')
            # "minimum" is for tests: the device that any adapter would give at least, without optional features.
            limits = _MINIMUM_LIMITS if wanted else None
            features = [] if wanted else [f for f in _WANTED_FEATURES if f in adapter.features]
            gpu_device = adapter.request_device_sync(label="wgdml", required_features=features, required_limits=limits)
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
        self._pipelines: dict[Hashable, tuple[Any, Any]] = {}
        self._layouts: dict[Hashable, tuple[Any, Any]] = {}
        self._plans: OrderedDict[Hashable, PreparedPlan] = OrderedDict()
        self._scratch_buffer: Any = None
        self._pool = _Pool()
        self._staging = Staging(self)

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
        from .operator import CompiledOperator

        return CompiledOperator(operator)

    # -- kept things --

    def prepare(self, selection: Selection, **options: Any) -> PreparedPlan:
        """The plan of a selection on this device, with its pipelines; made once. ``options``: those of ``make_plan``."""

        def make() -> PreparedPlan:
            self.counters["plans"] += 1
            return PreparedPlan(self, make_plan(selection, self.plan_limits, **options))

        return self.kept((selection, tuple(sorted(options.items()))), make)

    def kept(self, key: Hashable, make: Callable[[], PreparedPlan]) -> PreparedPlan:
        """The value kept under ``key``, made at the first call; the least recently used leave."""
        with self.lock:
            value = self._plans.get(key)
            if value is None:
                value = self._plans[key] = make()
                if len(self._plans) > _PLANS_KEPT:
                    self._plans.popitem(last=False)
            else:
                self._plans.move_to_end(key)
            return value

    def _layout(self, slots: tuple[int, ...], shared_input: bool) -> tuple[Any, Any]:
        """Bind group layout and pipeline layout of a kernel that binds these slots: 0 parameters, 1 the input, the rest writable."""
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
                numbered = "\n".join(f"{i:4}  {line}" for i, line in enumerate(text.splitlines(), 1))
                raise shaders.ShaderError(f"{dispatch.kernel}.wgsl does not compile: {error}\n{numbered}") from error
            found = self._pipelines[text, slots] = pipeline, group
            self.counters["pipelines"] += 1
        return found

    # -- memory --

    def _create_buffer(self, size: int, usage: int) -> Any:
        largest = self.limits["max-buffer-size"]
        if size > largest:
            raise MemoryError(f"a buffer of {size} bytes is over this device's largest of {largest} bytes")
        try:
            buffer = self.gpu_device.create_buffer(size=size, usage=usage)
        except wgpu.GPUOutOfMemoryError as error:
            raise MemoryError(f"the device has no room for a buffer of {size} bytes") from error
        self.counters["buffers"] += 1
        return buffer

    def _scratch(self, size: int) -> Any:
        """The scratch that all plans share: work on a queue is in order, and none needs it longer than its own dispatches."""
        if self._scratch_buffer is None or self._scratch_buffer.size < size:
            rounded = min(1 << max(16, (size - 1).bit_length()), self.limits["max-buffer-size"])
            if size > 1 << 26:
                rounded = size
            self._scratch_buffer = self._create_buffer(rounded, _STORAGE)
            self.counters["scratch_bytes"] = rounded
        return self._scratch_buffer

    def _take_buffer(self, size: int) -> tuple[Any, int]:
        """A storage buffer of at least ``size`` bytes, from the pool where it has one, and its size class."""
        size = max(_SMALLEST_BUFFER, -(-size // 16) * 16)
        if size <= 1 << 20:
            size = 1 << (size - 1).bit_length()
        else:
            size = -(-size // (1 << 18)) * (1 << 18)
            largest = self.limits["max-buffer-size"] // 4 * 4
            size = max(min(size, largest), 1)
        with self.lock:
            buffer = self._pool.take(size)
        return (buffer if buffer is not None else self._create_buffer(size, _STORAGE)), size

    def _give_buffer(self, buffer: Any, size: int) -> None:
        with self.lock:
            self._pool.give(size, buffer)

    def trim(self) -> None:
        """Gives back all memory that no tensor uses: pooled buffers, scratch and staging."""
        with self.lock:
            self._pool.clear()
            self._scratch_buffer = None
            self._staging = Staging(self)
            self.counters["scratch_bytes"] = 0

    # -- submitting --

    def run(self, prepared: PreparedPlan, resources: Mapping[str, tuple[Any, int]]) -> None:
        """Records and submits one plan; does not wait."""
        with self.lock:
            encoder = self.gpu_device.create_command_encoder()
            compute_pass = encoder.begin_compute_pass()
            prepared.record(compute_pass, resources)
            compute_pass.end()
            self.gpu_device.queue.submit([encoder.finish()])


_default: Device | None = None
_default_lock = threading.Lock()


def default_device() -> Device:
    """The device that functions use when none is named; made at the first call."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Device()
        return _default
