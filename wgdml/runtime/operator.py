"""The life of an operator after DirectML's: create, compile, ask for its bindings, record."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import wgpu

from .. import contract
from ..selection import BESIDES, OperatorDesc, lower, moved
from .bindings import Range, aligned, check_overlap, fits_vectors
from .executor import Executor, PreparedPlan
from .tensor import Tensor, bound, check_buffer, check_gpu_device, is_foreign, keep_memory, tensor_of

if TYPE_CHECKING:
    from .device import Device

_VARIANTS_KEPT = 64
_ROLES = {"input_tensor": "input", "output_value_tensor": "values", "output_index_tensor": "indices"}
_ROLES |= {f"{name}_tensor": name for name in BESIDES}


@dataclass(frozen=True)
class BindingProperties:
    """Bytes that an operator needs beside its tensors (``DML_BINDING_PROPERTIES``).

    The device provides them.
    """

    temporary_size: int
    """Bytes of scratch (``TemporaryResourceSize``)."""
    persistent_size: int = 0
    """Always 0 (``PersistentResourceSize``)."""


class Operator:
    """A desc that the device's feature level takes (``IDMLOperator``)."""

    device: Device
    """The ``Device`` that it is of."""
    desc: OperatorDesc
    """The desc that it was created from."""

    def __init__(self, device: Device, desc: OperatorDesc) -> None:
        if not isinstance(device, Executor):
            raise TypeError(f"device must be a wgdml.Device, not {device!r}")
        device.context.check()
        if not isinstance(desc, contract.SelectOperatorDesc):  # which is no part of any level
            contract.check_feature_level(desc, device.feature_level)
        self.device = device
        self.desc = desc
        self.selection = lower(desc)

    def __repr__(self) -> str:
        return f"<wgdml.Operator {_summary(self.desc)}>"


class CompiledOperator:
    """An operator whose kernels are chosen and compiled (``IDMLCompiledOperator``)."""

    device: Device
    """The ``Device`` that it is of."""
    desc: OperatorDesc
    """The desc that it was created from."""
    tensors: dict[str, contract.TensorDesc]
    """The desc's tensors by field name, the input first: ``record``'s keywords."""

    def __init__(self, operator: Operator) -> None:
        if not isinstance(operator, Operator):
            raise TypeError(f"operator must be a wgdml.Operator, not {type(operator).__name__}")
        self.device = operator.device
        self.desc = operator.desc
        self.selection = operator.selection
        names = ("input_tensor", "output_value_tensor", "output_index_tensor", "output_tensor", *_ROLES)
        self.tensors = {n: tensor for n in dict.fromkeys(names) if (tensor := getattr(self.desc, n, None)) is not None}
        self._roles = _ROLES | {"output_tensor": "values" if self.selection.has_values else "indices"}
        largest = self.device.context.limits["max-buffer-size"]
        for name, desc in self.tensors.items():
            if desc.total_tensor_size_in_bytes > largest:
                raise ValueError(
                    f"{name}.total_tensor_size_in_bytes is {desc.total_tensor_size_in_bytes}; it must be at most {largest}, "
                    f"this device's largest buffer"
                )
        self._variants: dict[Hashable, PreparedPlan] = {}
        size = self.desc.input_tensor.total_tensor_size_in_bytes
        self._prepared = self._variant(size % 16 == 0, False, {})

    def __repr__(self) -> str:
        return f"<wgdml.CompiledOperator {_summary(self.desc)}, {', '.join(self._prepared.plan.algorithms)}>"

    def _variant(self, vectors: bool, shared: bool, offsets: dict[str, int]) -> PreparedPlan:
        """The plan for tensors that lie so in their buffers; kept here, as few ever occur.

        ``offsets``: elements from where the binding of each begins to its first.
        """
        key = vectors, shared, *offsets.values()
        prepared = self._variants.get(key)
        if prepared is None:
            prepared = self.device.prepare(moved(self.selection, offsets), vectors=vectors, shared_input=shared)
            if len(self._variants) < _VARIANTS_KEPT:
                self._variants[key] = prepared
        return prepared

    @property
    def binding_properties(self) -> BindingProperties:
        """What it needs beside its tensors (``IDMLDispatchable::GetBindingProperties``)."""
        return BindingProperties(self._prepared.plan.scratch_size)

    def record(self, encoder: Any, /, **tensors: Any) -> None:
        """Records the operator into a ``wgpu.GPUCommandEncoder`` (a compute pass of its own) or
        ``wgpu.GPUComputePassEncoder``.

        One keyword for each tensor of the desc (``input_tensor``, ``output_value_tensor`` and so
        on): a Tensor, or a ``wgpu.GPUBuffer`` bound from its start. Neither submits nor waits; may
        be called any number of times.

        Raises ``TypeError`` and ``ValueError``, before anything is recorded, for missing tensors,
        buffers that are too small, destroyed, mapped or not usable as storage, an offset that
        breaks ``guaranteed_base_offset_alignment``, an output that shares its buffer range with
        another tensor, and an encoder that has ended. Tensors that are read may overlap. A buffer
        that is mapped or destroyed after ``record`` and before the submission cannot be seen here:
        submitting it may end the process.
        """
        self.device.check_encoder(encoder)
        work = self._bind(tensors)
        for tensor in tensors.values():
            if isinstance(tensor, Tensor):
                keep_memory(tensor)
        self.device.record(encoder, [work])

    def __call__(self, input_tensor: Any, **others: Any) -> dict[str, Any]:
        """Runs the operator; submits and does not wait. Returns the outputs by the desc's field
        names.

        Those that are not given as keywords, Tensors or ``wgpu.GPUBuffer``s as ``record`` takes
        them, are new Tensors. Lengths and other tensors that are read are given as keywords. Raises
        as ``record`` does, and ``MemoryError`` where a new output does not fit.
        """
        tensors = {"input_tensor": input_tensor, **others}
        for name, desc in self.tensors.items():
            if name not in tensors and _is_output(name):
                tensors[name] = tensor_of(self.device, desc, name)
        prepared, resources = self._bind(tensors)
        self.device.run(prepared, resources)
        return {name: tensors[name] for name in self.tensors if _is_output(name)}

    def _bind(self, tensors: dict[str, Any]) -> tuple[PreparedPlan, dict[str, tuple[Any, int]]]:
        self._check_names(tensors)
        ranges: dict[str, Range] = {}
        for name in sorted(self.tensors, key=_is_output):
            ranges[name] = self._range_of(name, tensors[name])
            if _is_output(name):
                check_overlap(name, ranges)
        foreign = {name: found.buffer for name, found in ranges.items() if is_foreign(tensors[name])}
        self.device.context.check_unmapped(**foreign)
        self.device.context.check_alive(**foreign)
        resources: dict[str, tuple[Any, int]] = {}
        left: dict[str, int] = {}
        for name, (buffer, start, _) in ranges.items():
            role = self._roles[name]
            begin, left[role] = aligned(start, self.tensors[name].data_type.itemsize)
            resources[role] = buffer, begin
        source = ranges["input_tensor"]
        read = [found.buffer for name, found in ranges.items() if name in ("input_tensor", "payload_tensor")]
        shared = any(found.buffer is buffer for name, found in ranges.items() if _is_output(name) for buffer in read)
        return self._variant(fits_vectors(source.buffer, source.end), shared, left), resources

    def _check_names(self, tensors: dict[str, Any]) -> None:
        wanted = self.tensors
        missing = [name for name in wanted if name not in tensors]
        unknown = [name for name in tensors if name not in wanted]
        if missing or unknown:
            what = f"is missing {', '.join(missing)}" if missing else f"has no {', '.join(unknown)}"
            raise TypeError(f"{type(self.desc).__name__} {what}; its tensors are {', '.join(wanted)}")

    def _range_of(self, name: str, tensor: Any) -> Range:
        """The bytes of a tensor that the desc describes, all of them there."""
        desc = self.tensors[name]
        buffer, start = self._buffer_of(name, tensor, desc)
        if is_foreign(tensor):
            check_buffer(name, buffer, self.device)
        alignment = desc.guaranteed_base_offset_alignment
        if alignment and start % alignment:
            raise ValueError(
                f"{name} begins at byte {start} of its buffer; the desc's guaranteed_base_offset_alignment promises a multiple "
                f"of {alignment}"
            )
        end = start + desc.total_tensor_size_in_bytes
        whole = buffer.size // 4 * 4
        if end > whole:
            raise ValueError(
                f"{name} needs bytes {start} to {end} of its buffer (total_tensor_size_in_bytes = "
                f"{desc.total_tensor_size_in_bytes}), which has {buffer.size}"
                + f", in whole words of four {whole}"
                * (whole < buffer.size)
            )
        return Range(buffer, start, end)

    def _buffer_of(self, name: str, tensor: Any, desc: contract.TensorDesc) -> tuple[Any, int]:
        if isinstance(tensor, wgpu.GPUBuffer):
            return tensor, 0
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} must be a wgdml.Tensor or a wgpu.GPUBuffer, not {type(tensor).__name__}")
        check_gpu_device(name, tensor, self.device)
        dtype = desc.data_type.numpy_dtype
        if tensor.dtype != dtype or tensor.shape != desc.sizes:
            raise ValueError(f"{name} is {tensor.dtype.name}{list(tensor.shape)}, but the desc has {dtype.name}{list(desc.sizes)}")
        if any(n > 1 and a != b for n, a, b in zip(desc.sizes, tensor.strides, desc.element_strides, strict=True)):
            raise ValueError(f"{name} has strides {tensor.strides}, but the desc has {desc.element_strides}")
        return bound(tensor).buffer, tensor.offset


def _summary(desc: OperatorDesc) -> str:
    """What a desc asks for, in a line."""
    source = desc.input_tensor
    how = getattr(desc, "function", getattr(desc, "axis_direction", contract.AxisDirection.DECREASING))
    if isinstance(desc, contract.TopKOperatorDesc | contract.TopK1OperatorDesc):
        wanted = f"k {desc.k} on axis {desc.axis}"
    elif isinstance(desc, contract.SelectOperatorDesc):
        beside = [name for name in BESIDES if getattr(desc, f"{name}_tensor") is not None]
        wanted = f"k {desc.k} on axes {desc.axes}" + (f" with {', '.join(beside)}" if beside else "")
    else:
        wanted = f"axes {desc.axes}"
    return f"{desc.operator_type} {how.name} of {source.data_type.name}{list(source.sizes)}, {wanted}"


def _is_output(name: str) -> bool:
    return name.startswith("output")
