"""Device-resident arrays: a buffer with a data type, a shape, strides and an offset."""

from __future__ import annotations

import operator as op
import sys
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, SupportsIndex, cast

import numpy as np
import wgpu
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ..selection import FORMATS
from .device import Device, device_of
from .memory import Memory

__all__ = ["Tensor", "asarray", "element_name", "packed_strides", "to_numpy"]

_BYTES = np.dtype(np.uint8)
_DLPACK_CPU = (1, 0)
_DLPACK_HOST = (1, 3, 11, 13)  # memory that the CPU can read: its own, pinned by CUDA or by ROCm, managed by CUDA


@lru_cache(maxsize=256)
def element_name(dtype: np.dtype[Any], name: str = "x") -> str:
    """The element format of a NumPy data type. ``TypeError`` for those that have no order here (complex, object, strings, ...)."""
    element = dtype.name
    if element not in FORMATS or dtype.byteorder == ">":
        kinds = "bool, int8 to int64, uint8 to uint64, float16, bfloat16 (ml_dtypes), float32 and float64"
        order = " in big-endian byte order" if element in FORMATS else ""
        raise TypeError(f"{name} has data type {element}{order}; supported are {kinds}, in native byte order")
    return element


def packed_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _int(name: str, value: SupportsIndex) -> int:
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, not the bool {value!r}")
    try:
        return op.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None


def _ints(name: str, values: SupportsIndex | Sequence[SupportsIndex]) -> tuple[int, ...]:
    if isinstance(values, str | bytes):
        raise TypeError(f"{name} must be integers, not {values!r}")
    try:
        items = list(values)  # type: ignore[arg-type]
    except TypeError:
        items = [values]  # type: ignore[list-item]
    return tuple(_int(name, v) for v in items)


class Tensor:
    """An array in a device's memory. Made by ``asarray``, by ``Tensor.from_buffer`` and by the functions.

    ``shape`` is a tuple; ``strides`` are in elements, as DirectML's; ``offset`` is in bytes from the buffer's start.
    Views (``T``, ``transpose``, ``broadcast_to``) share the buffer.
    """

    __slots__ = ("__weakref__", "_bound", "_buffer", "_memory", "device", "dtype", "offset", "shape", "strides")

    device: Device
    _buffer: Any
    _memory: Memory | None  # None for a buffer of the caller's
    _bound: tuple[Any, ...] | None  # how the functions bind it, once they did
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def __init__(self) -> None:
        raise TypeError("make a Tensor with wgdml.asarray or Tensor.from_buffer")

    @classmethod
    def _make(
        cls,
        device: Device,
        buffer: Any,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int = 0,
        memory: Memory | None = None,
    ) -> Tensor:
        self = object.__new__(cls)
        self.device = device
        self._buffer = buffer
        self.dtype = dtype
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self._memory = memory
        self._bound = None
        return self

    @classmethod
    def _empty(cls, device: Device, dtype: np.dtype[Any], shape: tuple[int, ...], name: str = "a tensor") -> Tensor:
        """A new packed tensor. ``MemoryError``, naming ``name``, where it does not fit."""
        memory = device.allocate(name, prod(shape) * dtype.itemsize)
        return cls._make(device, memory.buffer, dtype, shape, packed_strides(shape), memory=memory)

    @classmethod
    def from_buffer(
        cls,
        buffer: Any,
        dtype: DTypeLike,
        shape: SupportsIndex | Sequence[SupportsIndex],
        strides: Sequence[SupportsIndex] | None = None,
        offset: SupportsIndex = 0,
        *,
        device: Device | None = None,
    ) -> Tensor:
        """Wraps a ``wgpu.GPUBuffer`` without copying.

        ``strides`` are in elements (0 broadcasts; default row-major), ``offset`` in bytes, a multiple of the element size. The
        buffer needs usage STORAGE, and COPY_SRC for ``numpy()``. ``device`` defaults to the default device, which must own the
        buffer. Raises ``TypeError`` for other objects and data types, ``ValueError`` for a buffer that is too small, of another
        device, destroyed or without STORAGE usage, and for negative sizes and strides.
        """
        device = device_of(device)
        if not isinstance(buffer, wgpu.GPUBuffer):
            raise TypeError(f"buffer must be a wgpu.GPUBuffer, not {type(buffer).__name__}")
        if dtype is None:
            raise TypeError("dtype must be a data type, not None")
        try:
            dtype = np.dtype(dtype)
        except (TypeError, ValueError, SyntaxError) as error:  # NumPy parses strings
            raise TypeError(f"dtype must be a data type, not {dtype!r}: {error}") from None
        element_name(dtype, "dtype")
        shape = _ints("shape", shape)
        if any(n < 0 for n in shape):
            raise ValueError(f"shape must have no negative size, not {shape}")
        steps = packed_strides(shape) if strides is None else _ints("strides", strides)
        if len(steps) != len(shape):
            raise ValueError(
                f"strides must have one entry a dimension: shape {shape} has {len(shape)}, strides {steps} has {len(steps)}"
            )
        if any(s < 0 for s in steps):
            raise ValueError(f"strides must not be negative, not {steps}")
        start = _int("offset", offset)
        if start < 0 or start % dtype.itemsize:
            raise ValueError(f"offset must be a multiple of the element size of {dtype.itemsize} bytes, at least 0, not {start}")
        check_buffer("buffer", buffer, device)
        device.check_alive(buffer=buffer)
        if prod(shape):
            end = start + (1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True))) * dtype.itemsize
            whole = -(-end // 4) * 4  # shaders read whole words
            if whole > buffer.size:
                raise ValueError(
                    f"buffer of {buffer.size} bytes is too small: shape {shape}, strides {steps} and offset {start} of "
                    f"{dtype.name} reach byte {end}" + f", in words of four {whole}" * (whole > end)
                )
        return cls._make(device, buffer, dtype, shape, steps, start)

    # -- properties --

    @property
    def buffer(self) -> Any:
        """The ``wgpu.GPUBuffer``. It may be kept: once it was asked for, its memory is not used again for other tensors."""
        if self._memory is not None:
            self._memory.shared = True
        return self._buffer

    def _check_alive(self, name: str) -> None:
        """``ValueError`` for a buffer that the caller has destroyed, or holds mapped."""
        if self._memory is None or self._memory.shared:
            self.device.check_unmapped(**{name: self._buffer})
            self.device.check_alive(**{name: self._buffer})

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a tensor without dimensions")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<wgdml.Tensor {self.dtype.name}{list(self.shape)} on {self.device.adapter_info['device']}>"

    # -- views --

    def _view(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
        return Tensor._make(self.device, self._buffer, self.dtype, shape, strides, self.offset, self._memory)

    @property
    def T(self) -> Tensor:
        """The dimensions in reverse order, without a copy."""
        return self._view(self.shape[::-1], self.strides[::-1])

    def transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex]) -> Tensor:
        """The dimensions in another order, without a copy; no axes: reversed."""
        if not axes:
            return self.T
        order = _ints("axes", axes[0] if len(axes) == 1 else axes)  # type: ignore[arg-type]
        wrapped = tuple(a + self.ndim if a < 0 else a for a in order)
        if sorted(wrapped) != list(range(self.ndim)):
            raise ValueError(f"axes must name each of the {self.ndim} dimensions once, not {order}")
        return self._view(tuple(self.shape[a] for a in wrapped), tuple(self.strides[a] for a in wrapped))

    def broadcast_to(self, shape: SupportsIndex | Sequence[SupportsIndex]) -> Tensor:
        """The tensor repeated along new dimensions and those of size 1, without a copy. ``ValueError`` where that cannot be."""
        target = _ints("shape", shape)
        if any(n < 0 for n in target):
            raise ValueError(f"shape must have no negative size, not {target}")
        extra = len(target) - self.ndim
        if extra < 0 or any(n not in (1, t) for n, t in zip(self.shape, target[extra:], strict=True)):
            raise ValueError(f"shape {self.shape} cannot be broadcast to {target}")
        strides = tuple(s if n == t else 0 for n, s, t in zip(self.shape, self.strides, target[extra:], strict=True))
        return self._view(target, (0,) * extra + strides)

    # -- out of the device --

    def numpy(self) -> NDArray[Any]:
        """The elements as a new NumPy array, after all submitted work; ``to_numpy`` reads several tensors at once."""
        return to_numpy(self)[0]

    def _span(self) -> tuple[Any, int, tuple[int, ...], np.dtype[Any]]:
        """What ``Device.read`` takes for all elements: the buffer, a byte offset in whole words, and how many bytes from there."""
        if not self._buffer.usage & wgpu.BufferUsage.COPY_SRC:
            raise ValueError("numpy() needs a buffer with usage COPY_SRC")
        self._check_alive("the tensor")
        count = 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        start = self.offset // 4 * 4
        return self._buffer, start, (self.offset + count * self.dtype.itemsize - start,), _BYTES

    def _elements(self, span: NDArray[np.uint8]) -> NDArray[Any]:
        """The array that the bytes of ``_span`` are."""
        elements = span[self.offset % 4 :].view(self.dtype)
        if self.strides == packed_strides(self.shape):
            return elements.reshape(self.shape)
        steps = tuple(s * self.dtype.itemsize for s in self.strides)
        return np.lib.stride_tricks.as_strided(elements, self.shape, steps).copy()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a tensor in device memory has no NumPy array without a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The CPU, where ``__dlpack__`` puts its copy: a WebGPU buffer has no address that another library could take over."""
        return _DLPACK_CPU

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of a new copy in host memory. ``BufferError`` where a copy or the CPU is not wanted."""
        if stream is not None:
            raise ValueError(f"stream must be None for memory of the CPU, not {stream!r}")
        if copy is False:
            raise BufferError("a tensor in device memory cannot be exported without a copy")
        if dl_device is not None and tuple(dl_device) != _DLPACK_CPU:
            raise BufferError(f"a tensor is exported to the CPU, device {_DLPACK_CPU}, not to {dl_device!r}")
        array = self.numpy()
        try:
            return array.__dlpack__(max_version=max_version)
        except TypeError:  # NumPy before 2.1 knows no versions
            return array.__dlpack__()


def check_buffer(name: str, buffer: Any, device: Device) -> None:
    """``ValueError`` unless the buffer is the device's own, usable as storage and large enough to be bound."""
    if buffer._device is not device.gpu_device:
        raise ValueError(f"{name} belongs to another device than {device!r}")
    if not buffer.usage & wgpu.BufferUsage.STORAGE:
        raise ValueError(f"{name} needs a buffer with usage STORAGE; it has usage {buffer.usage:#x}")
    if buffer.size < 4:
        raise ValueError(f"{name} needs a buffer of at least 4 bytes, not {buffer.size}")


def asarray(x: ArrayLike | Tensor, /, *, device: Device | None = None) -> Tensor:
    """Uploads anything that NumPy takes as an array; a Tensor is returned as it is.

    Raises ``TypeError`` for data types without an order here (complex, object, strings) and for ragged nested sequences.
    """
    if isinstance(x, Tensor):
        if device is not None and x.device is not device_of(device):
            raise ValueError(f"x is on {x.device!r}, not on {device!r}")
        return x
    device = device_of(device)
    array = as_numpy(x)
    tensor = Tensor._empty(device, array.dtype, array.shape, "x")
    device.write(np.ascontiguousarray(array), tensor._buffer)
    return tensor


def to_numpy(*tensors: Tensor | NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The elements of tensors as new NumPy arrays, after all submitted work.

    ``values, indices = wgdml.to_numpy(*wgdml.top_k(x, k))``. Tensors of a device that have up to 16 MiB in all take one wait,
    where ``numpy()`` waits for each. NumPy arrays among them are returned as they are. Raises ``TypeError`` for anything else,
    ``ValueError`` for a tensor whose buffer is destroyed, mapped or without usage COPY_SRC.
    """
    arrays: list[Any] = [None] * len(tensors)
    places: dict[Device, list[int]] = {}
    for place, tensor in enumerate(tensors):
        if isinstance(tensor, np.ndarray):
            arrays[place] = tensor
        elif not isinstance(tensor, Tensor):
            raise TypeError(f"tensors must be wgdml.Tensors or NumPy arrays, not {type(tensor).__name__}")
        elif tensor.size:
            places.setdefault(tensor.device, []).append(place)
        else:
            arrays[place] = np.empty(tensor.shape, tensor.dtype)
    spans = {device: [tensors[place]._span() for place in wanted] for device, wanted in places.items()}  # type: ignore[union-attr]
    for device, wanted in places.items():
        for place, data in zip(wanted, device.read(spans[device]), strict=True):
            arrays[place] = tensors[place]._elements(data)  # type: ignore[union-attr]
    return tuple(arrays)


def as_numpy(x: ArrayLike) -> NDArray[Any]:
    """``x`` as a NumPy array of a supported data type, without a copy where its library allows that."""
    try:
        array = _host_array(x)
    except (ValueError, BufferError, RuntimeError) as error:
        raise TypeError(f"x cannot become an array: {error}") from None
    if array.dtype.byteorder == ">" and array.dtype.newbyteorder("=").name in FORMATS:
        array = array.astype(array.dtype.newbyteorder("="))
    element_name(array.dtype)
    return array


def _host_array(x: Any) -> NDArray[Any]:
    kind = type(x)
    if kind is np.ndarray:
        return cast("NDArray[Any]", x)
    if hasattr(kind, "__dlpack_device__") and not isinstance(x, np.ndarray):
        device = x.__dlpack_device__()
        if device[0] not in _DLPACK_HOST:
            raise TypeError(f"x is on DLPack device {tuple(map(int, device))}, not in the CPU's memory: copy it there first")
        if not hasattr(kind, "__array__"):
            return np.from_dlpack(x)
        if str(getattr(x, "dtype", "")) == "torch.bfloat16":  # which PyTorch itself cannot give to NumPy
            from ml_dtypes import bfloat16

            return np.asarray(x.detach().view(sys.modules["torch"].int16)).view(bfloat16)
        if getattr(x, "requires_grad", False):
            x = x.detach()
    elif isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise TypeError("x has masked elements, which have no place in an order: fill them first")
    return np.asarray(x)
