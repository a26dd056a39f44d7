"""The life of an operator after DirectML's: create, compile, ask for its bindings, record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import wgpu

from .. import contract
from ..selection import OperatorDesc, Selection, lower
from .device import Device
from .prepared import PreparedPlan, record_steps
from .tensor import Tensor, check_buffer

__all__ = ["BindingProperties", "CompiledOperator", "Operator", "bind_offsets"]

_ALIGNMENT = 256
_VARIANTS_KEPT = 64
_ROLES = {
    "input_tensor": "input",
    "output_value_tensor": "values",
    "output_index_tensor": "indices",
    "output_tensor": "indices",
}


@dataclass(frozen=True)
class BindingProperties:
    """Bytes that an operator needs beside its tensors (``DML_BINDING_PROPERTIES``); the device provides them."""

    temporary_size: int
    persistent_size: int = 0


class Operator:
    """A desc that the device's feature level takes (``IDMLOperator``)."""

    def __init__(self, device: Device, desc: OperatorDesc) -> None:
        contract.check_feature_level(desc, device.feature_level)
        self.device = device
        self.desc = desc
        self.selection = lower(desc)


def bind_offsets(offset: int, element_bytes: int) -> tuple[int, int]:
    """A byte offset as an aligned one for the binding and the elements that are left over for the kernel."""
    aligned = offset // _ALIGNMENT * _ALIGNMENT
    return aligned, (offset - aligned) // element_bytes


class CompiledOperator:
    """An operator whose kernels are chosen and compiled (``IDMLCompiledOperator``)."""

    def __init__(self, operator: Operator) -> None:
        if not isinstance(operator, Operator):
            raise TypeError(f"operator must be a wgdml.Operator, not {type(operator).__name__}")
        self.device = operator.device
        self.desc = operator.desc
        self.selection = operator.selection
        names = ("input_tensor", "output_value_tensor", "output_index_tensor", "output_tensor")
        #: The desc's tensors by field name, the input first.
        self.tensors: dict[str, contract.TensorDesc] = {n: getattr(self.desc, n) for n in names if hasattr(self.desc, n)}
        self._variants: dict[tuple[Any, ...], PreparedPlan] = {}
        size = self.desc.input_tensor.total_tensor_size_in_bytes
        self._prepared = self._variant(size % 16 == 0, False, (0,) * len(self.tensors))

    def _variant(self, vectors: bool, shared: bool, left: tuple[int, ...]) -> PreparedPlan:
        """The plan for tensors that begin ``left`` elements after an aligned offset; kept here, as few ever occur."""
        key = vectors, shared, left
        prepared = self._variants.get(key)
        if prepared is None:
            selection = with_offsets(self.selection, **{_ROLES[n]: rest for n, rest in zip(self.tensors, left, strict=True)})
            prepared = self.device.prepare(selection, vectors=vectors, shared_input=shared)
            if len(self._variants) < _VARIANTS_KEPT:
                self._variants[key] = prepared
        return prepared

    @property
    def binding_properties(self) -> BindingProperties:
        return BindingProperties(self._prepared.plan.scratch_size)

    def record(self, encoder: Any, /, **tensors: Any) -> None:
        """Records the operator into a ``wgpu.GPUCommandEncoder`` (a compute pass of its own) or ``wgpu.GPUComputePassEncoder``.

        One keyword for each tensor of the desc (``input_tensor``, ``output_value_tensor`` and so on): a Tensor, or a
        ``wgpu.GPUBuffer`` bound from its start. Neither submits nor waits; may be called any number of times. Raises ``TypeError``
        and ``ValueError``, before anything is recorded, for missing tensors, buffers that are too small, destroyed or not usable as
        storage, and an output that shares its buffer range with another tensor.
        """
        if not isinstance(encoder, wgpu.GPUCommandEncoder | wgpu.GPUComputePassEncoder):
            raise TypeError(f"encoder must be a wgpu.GPUCommandEncoder or GPUComputePassEncoder, not {type(encoder).__name__}")
        if encoder._device is not self.device.gpu_device:
            raise ValueError(f"encoder belongs to another GPU device than that of {self.device!r}")
        prepared, resources = self._bind(tensors)
        for tensor in tensors.values():
            if isinstance(tensor, Tensor) and tensor._memory is not None:
                tensor._memory.shared = True  # nobody knows when the encoder will be submitted
        try:
            steps = prepared.steps(resources)
        except wgpu.GPUError as error:
            self.device._raise(error, "binding tensors")
        try:
            if isinstance(encoder, wgpu.GPUComputePassEncoder):
                record_steps(encoder, steps)
                return
            compute_pass = encoder.begin_compute_pass()
            record_steps(compute_pass, steps)
            compute_pass.end()
        except wgpu.GPUValidationError as error:
            raise ValueError(f"encoder cannot be recorded into: {' '.join(str(error).split())}") from error

    def __call__(self, input_tensor: Any, /) -> dict[str, Tensor]:
        """Runs the operator into new tensors, by the desc's field names; submits and does not wait."""
        outputs = {name: self._new(name, desc) for name, desc in self.tensors.items() if name != "input_tensor"}
        prepared, resources = self._bind({"input_tensor": input_tensor, **outputs})
        self.device.check_unmapped(input_tensor=resources["input"][0])
        self.device.run(prepared, resources)
        return outputs

    def _new(self, name: str, desc: contract.TensorDesc) -> Tensor:
        memory = self.device.allocate(name, desc.total_tensor_size_in_bytes)
        dtype = desc.data_type.numpy_dtype
        return Tensor._make(self.device, memory.buffer, dtype, desc.sizes, desc.element_strides, memory=memory)

    def _bind(self, tensors: dict[str, Any]) -> tuple[PreparedPlan, dict[str, tuple[Any, int]]]:
        wanted = self.tensors
        missing = [name for name in wanted if name not in tensors]
        unknown = [name for name in tensors if name not in wanted]
        if missing or unknown:
            what = f"is missing {', '.join(missing)}" if missing else f"has no {', '.join(unknown)}"
            raise TypeError(f"{type(self.desc).__name__} {what}; its tensors are {', '.join(wanted)}")
        ranges: dict[str, tuple[Any, int, int]] = {}
        foreign: dict[str, Any] = {}
        for name, desc in wanted.items():
            tensor = tensors[name]
            buffer, start = self._buffer_of(name, tensor, desc)
            if not isinstance(tensor, Tensor) or tensor._memory is None or tensor._memory.shared:
                foreign[name] = buffer
                check_buffer(name, buffer, self.device)
            end = start + desc.total_tensor_size_in_bytes
            if end > buffer.size // 4 * 4:
                raise ValueError(
                    f"{name} needs bytes {start} to {end} of its buffer (total_tensor_size_in_bytes = "
                    f"{desc.total_tensor_size_in_bytes}), which has {buffer.size}"
                )
            for other, (other_buffer, other_start, other_end) in ranges.items():
                if buffer is other_buffer and start < other_end and other_start < end:
                    raise ValueError(
                        f"{name} must not share memory with {other}: bytes {start} to {end} overlap {other_start} to {other_end}"
                    )
            ranges[name] = buffer, start, end
        self.device.check_alive(**foreign)
        resources: dict[str, tuple[Any, int]] = {}
        left: list[int] = []
        for name, (buffer, start, _) in ranges.items():
            aligned, rest = bind_offsets(start, wanted[name].data_type.itemsize)
            resources[_ROLES[name]] = buffer, aligned
            left.append(rest)
        source, *outputs = ranges.values()
        shared = any(buffer is source[0] for buffer, _, _ in outputs)
        return self._variant(fits_vectors(source[0], source[2]), shared, tuple(left)), resources

    def _buffer_of(self, name: str, tensor: Any, desc: contract.TensorDesc) -> tuple[Any, int]:
        if isinstance(tensor, wgpu.GPUBuffer):
            return tensor, 0
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} must be a wgdml.Tensor or a wgpu.GPUBuffer, not {type(tensor).__name__}")
        if tensor.device is not self.device:
            raise ValueError(f"{name} belongs to another device than {self.device!r}")
        dtype = np.dtype(desc.data_type.numpy_dtype)
        if tensor.dtype != dtype or tensor.shape != desc.sizes:
            raise ValueError(f"{name} is {tensor.dtype.name}{list(tensor.shape)}, but the desc has {dtype.name}{list(desc.sizes)}")
        if any(n > 1 and a != b for n, a, b in zip(desc.sizes, tensor.strides, desc.element_strides, strict=True)):
            raise ValueError(f"{name} has strides {tensor.strides}, but the desc has {desc.element_strides}")
        return tensor._buffer, tensor.offset


def fits_vectors(buffer: Any, end: int) -> bool:
    """Can the elements that end at this byte be read as 16-byte vectors?"""
    return bool(-(-end // 16) * 16 <= buffer.size)


def with_offsets(selection: Selection, input: int = 0, values: int = 0, indices: int = 0) -> Selection:
    """The selection with the elements left over by aligned bindings."""
    if not (input or values or indices):
        return selection
    return replace(selection, input_offset=input, value_offset=values, index_offset=indices)
