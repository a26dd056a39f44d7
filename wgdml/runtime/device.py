"""A device as its users see it: opened on an adapter, with DirectML's functions."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn, SupportsIndex

import wgpu

from .. import contract
from ..arguments import as_int
from ..plan import Machine, Planner
from . import default
from .adapter import NoAdapterError, choose_adapter, describe, resolved, shared_device, with_one_lock
from .context import Context
from .errors import VariableError
from .executor import KEPT, Executor
from .operator import CompiledOperator, Operator
from .process import locked, uninterrupted, use_gpu
from .profile import Found, find
from .promises import in_thread

_WANTED_FEATURES = ("subgroup", "timestamp-query", "timestamp-query-inside-passes")
#: Variables that ask for a device of wgdml's own.
_OWN = ("WGDML_ADAPTER", "WGDML_LIMITS", "WGDML_SUBGROUPS")
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
#: Those that plans keep to, however small they are.
_PLANNED_LIMITS = ("max-buffer-size", "max-storage-buffer-binding-size")


def _check_limits(gpu_device: Any) -> None:
    """``ValueError`` for a device whose owner asked for less than any adapter gives."""
    own, allowed = gpu_device.limits, gpu_device.adapter.limits
    for name, least in _MINIMUM_LIMITS.items():
        if name.startswith("max-") and name not in _PLANNED_LIMITS and own[name] < min(least, allowed[name]):
            raise ValueError(f"gpu_device has {name} {own[name]}; it must have at least {least}, the least that WebGPU allows")


def _checked_environment(name: str, wanted: str) -> bool:
    """Whether an environment variable that tests set is set."""
    value = os.environ.get(name, "")
    if value not in ("", wanted):
        raise VariableError(f'{name} must be "{wanted}" or unset, not {value!r}')
    return bool(value)


def _open(adapter: Any) -> Any:
    """The GPU device of an adapter, with its limits and the features that kernels use."""
    use_gpu()
    # "minimum" is for tests: what any adapter gives at least, without optional features.
    least = _checked_environment("WGDML_LIMITS", "minimum")
    no_subgroups = _checked_environment("WGDML_SUBGROUPS", "off")
    features = [] if least else [f for f in _WANTED_FEATURES if f in adapter.features]
    if no_subgroups and "subgroup" in features:
        features.remove("subgroup")
    limits = _MINIMUM_LIMITS if least else None

    def request() -> Any:
        return resolved(adapter.request_device_async(label="wgdml", required_features=features, required_limits=limits))

    try:
        # An exception in wgpu-py's callback would be lost, and the device with it.
        return uninterrupted(request)
    except (RuntimeError, wgpu.GPUError) as error:
        # Some drivers list an adapter, OpenGL's for one, that cannot compute.
        reason = " ".join(str(error).split())
        raise NoAdapterError(f"{describe(adapter)} gives no device that can compute: {reason}") from error


class Device(Executor):
    """A WebGPU device and everything that wgdml keeps on it.

    ``gpu_device``: a ``wgpu.GPUDevice`` that the caller has, so that buffers are shared; without
    one an adapter is chosen (hardware first, then software; ``WGPUPY_WGPU_ADAPTER_NAME`` and
    ``WGPU_BACKEND_TYPE`` are honoured) or ``adapter`` is used. ``feature_level``: the highest level
    whose operators this device takes (DirectML's ``DML_FEATURE_LEVEL``). ``planner`` makes what
    chooses the kernels, for the device as plans see it; None is the library's own, with the
    adapter's profile (``wgdml tune``) if it has one. ``kept``: the most plans that are kept, of
    which a shape of a function's takes two places, and the most compiled kernels, each of which
    takes 1.5 MB on lavapipe; the least recently used leave.

    May be used from several threads, and as a context manager that closes it. Processes that are
    forked from one with a Device cannot use the GPU: start them by "spawn", or make the first call
    in the child.

    Raises ``NoAdapterError`` where there is no adapter, ``TypeError`` for objects of other kinds,
    ``ValueError`` for a GPU device with less than WebGPU's least limits or beside an ``adapter``.
    Its methods raise ``DeviceLostError`` when the GPU device is gone, ``MemoryError`` when it has
    no room.
    """

    gpu_device: Any
    """The ``wgpu.GPUDevice``."""
    gpu_device_reason: str
    """Where the GPU device is from: given by the caller, of its own, or wgpu's shared one."""
    adapter_info: dict[str, Any]
    """What wgpu says of the adapter: device, vendor, adapter_type, backend_type and more."""
    adapter_reason: str
    """Why this adapter was chosen."""
    limits: dict[str, int]
    """The GPU device's limits by their names in wgpu-py, as ``max-buffer-size``."""
    features: frozenset[str]
    """The GPU device's optional features."""
    feature_level: contract.FeatureLevel
    """The highest level whose operators it takes. Here it is a ceiling."""
    profile: dict[str, float]
    """The planner's numbers that ``wgdml tune`` found, where they differ from the default."""
    profile_reason: str
    """Where the planner's numbers are from."""
    counters: dict[str, int]
    """What was made so far: pipelines, plans, bind groups, buffers; and the bytes of scratch."""

    def __init__(
        self,
        gpu_device: Any = None,
        *,
        adapter: Any = None,
        feature_level: contract.FeatureLevel = contract.HIGHEST_FEATURE_LEVEL,
        planner: Callable[[Machine], Planner] | None = None,
        kept: SupportsIndex = KEPT,
    ) -> None:
        level = contract.as_enum("feature_level", feature_level, contract.FeatureLevel)
        most = as_int("kept", kept)
        if most < 1:
            raise ValueError(f"kept must be at least 1, not {most}")
        if planner is not None and not callable(planner):
            raise TypeError(f"planner must be a function of a Machine, not {planner!r}")
        if gpu_device is not None and not isinstance(gpu_device, wgpu.GPUDevice):
            raise TypeError(f"gpu_device must be a wgpu.GPUDevice, not {type(gpu_device).__name__}")
        if adapter is not None and not isinstance(adapter, wgpu.GPUAdapter):
            raise TypeError(f"adapter must be a wgpu.GPUAdapter, not {type(adapter).__name__}")
        if adapter is not None and gpu_device is not None:
            raise ValueError("adapter must be None with a gpu_device, which has one")
        self.adapter_reason = self.gpu_device_reason = "given by the caller"
        if gpu_device is None:
            self.gpu_device_reason = "of its own"
            if adapter is None:
                adapter, self.adapter_reason = choose_adapter()
            else:
                adapter = with_one_lock(adapter)
            gpu_device = _open(adapter)
        else:
            _check_limits(gpu_device)
            with_one_lock(gpu_device.adapter)  # later devices share it
        found = Found("that of the planner that the caller gave")
        if planner is None:
            found = find(dict(gpu_device.adapter.info), Context(gpu_device).machine())
            planner = found.planner
        super().__init__(gpu_device, planner, most)
        self.feature_level = level
        self.profile, self.profile_reason = dict(found.numbers), found.reason
        self.gpu_device = gpu_device
        self.adapter_info = self.context.adapter_info
        self.limits = self.context.limits
        self.features = self.context.features
        self.counters = self.context.counters

    @classmethod
    def open_async(cls, *arguments: Any, **options: Any) -> wgpu.GPUPromise[Device]:
        """A promise of a ``Device`` of these arguments, while the event loop's other tasks go on.

        ``device = await wgdml.Device.open_async()`` on asyncio, trio or rendercanvas. Awaiting
        raises what ``Device`` raises. Raises ``RuntimeError`` where no event loop runs.
        """
        return in_thread("Device.open_async", partial(cls, *arguments, **options))

    def __repr__(self) -> str:
        end = f", {self.context.end}" if self.context.end else ""
        about = f"{describe(self.gpu_device.adapter)}, {self.feature_level.name}"
        return f"<wgdml.Device {about}, GPU device {self.gpu_device.uid}, {self.gpu_device_reason}{end}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a wgdml.Device cannot be copied or pickled: each process makes one, wgdml.Device() for example")

    # -- DirectML's device --

    @property
    def feature_levels(self) -> tuple[contract.FeatureLevel, ...]:
        """The levels up to this device's (DirectML's ``DML_FEATURE_QUERY_FEATURE_LEVELS``)."""
        return tuple(level for level in contract.FeatureLevel if level <= self.feature_level)

    def check_feature_support(self, data_type: contract.DataType | int) -> bool:
        """Whether tensors may have this data type at the device's level
        (``DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT``).

        DirectML's types that are not here go by their numbers, 9 (FLOAT64), 12 (UINT4) and 13
        (INT4), and are not supported. Raises ``TypeError`` for anything else.
        """
        self.context.check()
        return contract.supports_data_type(data_type, self.feature_level)

    def create_operator(self, desc: Any) -> Operator:
        """Checks an operator desc against the device's feature level
        (``IDMLDevice::CreateOperator``).

        Raises ``TypeError`` for other objects and ``ValueError``, naming the level that would take
        it, for a desc over the level.
        """
        return Operator(self, desc)

    def compile_operator(self, operator: Operator) -> CompiledOperator:
        """Chooses kernels and makes their pipelines (``IDMLDevice::CompileOperator``).

        Raises ``TypeError`` for other objects, ``ValueError`` for another device's operator and for
        tensors that no buffer of the device can hold, ``MemoryError`` where the scratch would
        exceed the largest buffer.
        """
        self.context.check()
        if isinstance(operator, Operator) and operator.device is not self:
            raise ValueError(
                f"operator must be created by this device, {self!r}, not by another: create_operator(operator.desc) does"
            )
        return CompiledOperator(operator)

    def compile_operator_async(self, operator: Operator) -> wgpu.GPUPromise[CompiledOperator]:
        """A promise of what ``compile_operator`` returns; the event loop's other tasks go on.

        ``compiled = await device.compile_operator_async(operator)`` on asyncio, trio or
        rendercanvas. Awaiting raises what ``compile_operator`` raises. Raises ``RuntimeError``
        where no event loop runs.
        """
        return in_thread("Device.compile_operator_async", partial(self.compile_operator, operator))

    @property
    def lost(self) -> bool:
        """Whether the GPU device is lost, asked now (``IDMLDevice::GetDeviceRemovedReason``). A
        closed device is not.

        Every call on a lost device raises ``DeviceLostError``, which says what was being done when
        it was first found lost.
        """
        return self.context.lost

    # -- the end --

    def trim(self) -> None:
        """Gives back all memory that no tensor uses: pooled buffers, scratch and staging."""
        self._give_back(self._trim)

    def close(self) -> None:
        """Gives back everything that is kept here; tensors keep their buffers as long as they are.

        Every later use raises ``RuntimeError``, but for ``trim`` and ``close``.

        The ``wgpu.GPUDevice`` itself lives for as long as anything refers to it.
        """
        self.context.leave(RuntimeError, f"{self!r} is closed")
        self._give_back(self._drop_all)

    def _give_back(self, work: Callable[[], None]) -> None:
        # In a fork there is nothing to give back, and a thread of the parent may have had the lock.
        if self.context.end != "forked":
            locked(self.context.lock, work)

    def _trim(self) -> None:
        self.buffers.trim()
        self.groups.clear()

    def _drop_all(self) -> None:
        self.buffers.close()
        self.groups.clear()
        self.kept.clear()
        self.pipelines.clear()

    def __enter__(self) -> Device:
        self.context.check()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _shared() -> tuple[Any, str]:
    """wgpu's shared default device where it will do, else None; and the reason."""
    use_gpu()
    gpu_device = shared_device()
    if gpu_device is None:
        return None, "of its own, as nobody had wgpu's shared default device"
    if named := next((name for name in _OWN if os.environ.get(name)), None):
        return None, f"of its own, as {named} is set"
    if Context(gpu_device).lost:
        return None, "of its own, as wgpu's shared default device is lost"
    own, allowed = gpu_device.limits, gpu_device.adapter.limits
    # Some adapters announce more bindings in a group than any device of theirs gets.
    names = [n for n in _MINIMUM_LIMITS if n.startswith("max-") and n != "max-bindings-per-bind-group"]
    if less := next((n for n in names if own[n] < allowed[n]), None):
        return None, f"of its own, as wgpu's shared default device has {less} {own[less]} of the adapter's {allowed[less]}"
    return gpu_device, "wgpu's shared default device"


def open_default(**options: Any) -> Device:
    """The default device: on wgpu's shared one where somebody uses that, else on one of its own."""
    gpu_device, reason = _shared()
    device = Device(gpu_device, **options)
    device.gpu_device_reason = reason
    if gpu_device is not None:
        device.adapter_reason = f"that of {reason}"
    return device


def _before_fork() -> None:
    """Who has opened wgpu's shared device has used the GPU, with wgdml or without."""
    if shared_device() is not None:
        with suppress(RuntimeError):  # in a fork already
            use_gpu()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)
with suppress(RuntimeError):  # of a shared device that is there already, with what it has
    # The limits are the adapter's, as long as nobody asks for less.
    wgpu.preconfigure_default_device("wgdml", preferred_features=set(_WANTED_FEATURES))
default.made_by(open_default)


def default_device() -> Device:
    """The device that functions use when none is named.

    It is made at the first call, and again when it was closed, destroyed or lost. It works on
    wgpu's shared default device (``wgpu.utils.get_default_device()``, which pygfx draws with) where
    somebody uses that already and it offers the limits of its adapter; so buffers are shared. Else
    it opens a GPU device of its own, and where ``WGDML_ADAPTER``, ``WGDML_LIMITS`` or
    ``WGDML_SUBGROUPS`` is set. Its ``gpu_device_reason`` says which and why.
    """
    return default.as_device(None)
