"""Device-resident arrays: a buffer with a data type, a shape, strides and an offset."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, SupportsIndex, cast

import numpy as np
import wgpu
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ..arguments import as_dtype, as_int, as_ints, as_sizes, broadcasts, own_dtype
from ..contract import DataType, TensorDesc, overlaps_itself
from ..selection import Layout, extent, packed_strides, reshaped_strides
from .bindings import Range, Resources, aligned, check_overlap, fits_vectors
from .buffers import Memory
from .default import as_device
from .executor import Executor
from .promises import promised
from .transfers import Span

if TYPE_CHECKING:
    from .device import Device

_BYTES = np.dtype(np.uint8)
_DLPACK_CPU = (1, 0)
#: Memory that the CPU can read: its own, pinned by CUDA or by ROCm, managed by CUDA.
_DLPACK_HOST = (1, 3, 11, 13)


_LONGEST_STEP = 1 << 59  # elements: of 8 bytes, a number of bytes in 63 bits


class Elements(NamedTuple):
    """All of a tensor or an array that a plan depends on."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None  #: None for an array, which is uploaded row-major.
    rest: int = 0  #: Elements from where the binding begins to the first.
    vectors: bool = True  #: Does the buffer hold whole 16-byte vectors to the last?

    @property
    def layout(self) -> Layout:
        return Layout(self.shape, packed_strides(self.shape) if self.strides is None else self.strides, self.rest)


class Bound(NamedTuple):
    """An operand: its buffer, where the binding begins, the byte behind its last element."""

    buffer: Any
    start: int
    end: int
    elements: Elements


class _Slots:
    """A Tensor while it is made, when its attributes are set at once: a call makes several."""

    __slots__ = ("__weakref__", "_bound", "_buffer", "_memory", "device", "dtype", "offset", "shape", "strides")


class Tensor(_Slots):
    """An array in a device's memory. Made by ``asarray``, by ``empty``, by ``Tensor.from_buffer``
    and by the functions.

    Views (``T``, ``transpose``, ``reshape``, ``broadcast_to``) share the buffer. Attributes cannot
    be set.
    """

    __slots__ = ()

    device: Device
    """The ``Device`` that it is on."""
    dtype: np.dtype[Any]
    """The data type of its elements, NumPy's."""
    shape: tuple[int, ...]
    """The sizes of its dimensions."""
    strides: tuple[int, ...]
    """Elements from one position of a dimension to the next, as DirectML's; 0 repeats."""
    offset: int
    """Bytes from the buffer's start to the first element."""
    _buffer: Any
    _memory: Memory | None  # None for a buffer of the caller's
    _bound: Bound | None  # made when it is first an operand

    def __init__(self) -> None:
        raise TypeError("make a Tensor with wgdml.asarray, wgdml.empty or Tensor.from_buffer")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of a wgdml.Tensor cannot be set: reshape and the other views make new Tensors")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} of a wgdml.Tensor cannot be deleted")

    @classmethod
    def from_buffer(
        cls,
        buffer: Any,
        dtype: DTypeLike | DataType,
        shape: SupportsIndex | Sequence[SupportsIndex],
        strides: Sequence[SupportsIndex] | None = None,
        offset: SupportsIndex = 0,
        *,
        device: Executor | None = None,
    ) -> Tensor:
        """Wraps a ``wgpu.GPUBuffer`` without copying.

        ``dtype`` is a ``DataType`` or what NumPy takes as one. ``strides`` are in elements (0
        broadcasts; default row-major), ``offset`` in bytes, a multiple of the element size. The
        buffer needs usage STORAGE, and COPY_SRC for ``numpy()``. ``device`` defaults to the default
        device, which must own the buffer. Raises ``TypeError`` for other objects and data types,
        ``ValueError`` for a buffer that is too small, of another device, destroyed or without
        STORAGE usage, and for negative sizes and strides.
        """
        if not isinstance(buffer, wgpu.GPUBuffer):
            raise TypeError(f"buffer must be a wgpu.GPUBuffer, not {type(buffer).__name__}")
        dtype = as_dtype(dtype)
        shape = as_sizes(shape)
        steps = packed_strides(shape) if strides is None else as_ints("strides", strides)
        if len(steps) != len(shape):
            raise ValueError(
                f"strides must have one entry a dimension: shape {shape} has {len(shape)}, strides {steps} has {len(steps)}"
            )
        if any(s < 0 for s in steps):
            raise ValueError(f"strides must not be negative, not {steps}")
        start = as_int("offset", offset)
        if start < 0 or start % dtype.itemsize:
            raise ValueError(f"offset must be a multiple of the element size of {dtype.itemsize} bytes, at least 0, not {start}")
        device = as_device(device)
        check_buffer("buffer", buffer, device)
        device.context.check_alive(buffer=buffer)
        if prod(shape):
            end = start + extent(zip(shape, steps, strict=True)) * dtype.itemsize
            whole = -(-end // 4) * 4  # shaders read whole words
            if whole > buffer.size:
                raise ValueError(
                    f"buffer of {buffer.size} bytes is too small: shape {shape}, strides {steps} and offset {start} of "
                    f"{dtype.name} reach byte {end}" + f", in words of four {whole}" * (whole > end)
                )
        # No step is made along a dimension of size 1, and none where there are no elements. So they
        # may have more bits than NumPy takes.
        made = prod(shape) > 0
        steps = tuple(s if made and n > 1 else min(s, _LONGEST_STEP) for n, s in zip(shape, steps, strict=True))
        return new_tensor(device, buffer, dtype, shape, steps, start)

    # -- properties --

    @property
    def buffer(self) -> Any:
        """The ``wgpu.GPUBuffer``.

        It may be kept: once it was asked for, its memory is not used again for other tensors.
        """
        if self._memory is not None:
            self._memory.shared = True
        return self._buffer

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes that its elements would take, packed."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a tensor without dimensions")
        return self.shape[0]

    # Python's numbers, as the array API's standard asks for.

    def __bool__(self) -> bool:
        return bool(self._number("bool"))

    def __int__(self) -> int:
        return int(self._number("int"))

    def __float__(self) -> float:
        return float(self._number("float"))

    def _number(self, wanted: str) -> Any:
        """The element of a tensor without dimensions, read back."""
        if self.shape:
            raise TypeError(f"{wanted}() takes a wgdml.Tensor without dimensions, not of shape {self.shape}; see numpy()")
        return self.numpy()[()]

    def __repr__(self) -> str:
        return f"<wgdml.Tensor {self.dtype.name}{list(self.shape)} on {self.device.context.adapter_info['device']}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a wgdml.Tensor cannot be copied or pickled: its elements are on a device; take those of numpy()")

    # -- views --

    def _view(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
        return new_tensor(self.device, self._buffer, self.dtype, shape, strides, self.offset, self._memory)

    @property
    def T(self) -> Tensor:
        """The dimensions in reverse order, without a copy."""
        return self._view(self.shape[::-1], self.strides[::-1])

    def transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex]) -> Tensor:
        """The dimensions in another order, without a copy; no axes: reversed."""
        if not axes:
            return self.T
        order = as_ints("axes", axes[0] if len(axes) == 1 else axes)  # type: ignore[arg-type]
        wrapped = tuple(a + self.ndim if a < 0 else a for a in order)
        if sorted(wrapped) != list(range(self.ndim)):
            raise ValueError(f"axes must name each of the {self.ndim} dimensions once, not {order}")
        return self._view(tuple(self.shape[a] for a in wrapped), tuple(self.strides[a] for a in wrapped))

    def reshape(self, *shape: SupportsIndex | Sequence[SupportsIndex]) -> Tensor:
        """The elements in row-major order under another shape, without a copy. One size may be -1:
        what is left for it.

        Raises ``TypeError`` for sizes that are no integers; ``ValueError`` for another number of
        elements, and where the strides allow the shape only with a copy.
        """
        sizes = as_ints("shape", shape[0] if len(shape) == 1 else shape)  # type: ignore[arg-type]
        if sizes.count(-1) > 1:
            raise ValueError(f"shape must have -1 at most once, not {sizes}")
        known = prod(n for n in sizes if n != -1)
        target = as_sizes(tuple(self.size // known if n == -1 and known else n for n in sizes) if -1 in sizes else sizes)
        if prod(target) != self.size:
            raise ValueError(f"shape must have the tensor's {self.size} elements, as {self.shape} has, not {sizes}")
        strides = reshaped_strides(self.shape, self.strides, target)
        if strides is None:
            raise ValueError(f"shape {target} of a tensor of shape {self.shape} with strides {self.strides} needs a copy")
        return self._view(target, strides)

    def broadcast_to(self, shape: SupportsIndex | Sequence[SupportsIndex]) -> Tensor:
        """The tensor repeated along new dimensions and those of size 1, without a copy.

        ``ValueError`` where that cannot be.
        """
        target = as_sizes(shape)
        if not broadcasts(self.shape, target):
            raise ValueError(f"shape {self.shape} cannot be broadcast to {target}")
        extra = len(target) - self.ndim
        strides = tuple(s if n == t else 0 for n, s, t in zip(self.shape, self.strides, target[extra:], strict=True))
        return self._view(target, (0,) * extra + strides)

    # -- out of the device --

    def numpy(self) -> NDArray[Any]:
        """The elements as a new NumPy array, after all submitted work.

        ``to_numpy`` reads several tensors at once.
        """
        return to_numpy(self)[0]

    def numpy_async(self) -> wgpu.GPUPromise[NDArray[Any]]:
        """A promise of the elements as a new NumPy array, as they are after all submitted work.

        ``await tensor.numpy_async()`` on asyncio, trio or rendercanvas, whose other tasks go on
        meanwhile. ``to_numpy_async`` says the rest.
        """
        return _promise("Tensor.numpy_async", (self,), itemgetter(0))

    def _span(self) -> Span:
        """The bytes of all elements, from a whole word on."""
        if not self._buffer.usage & wgpu.BufferUsage.COPY_SRC:
            raise ValueError("numpy() needs a buffer with usage COPY_SRC")
        check_alive("the tensor", self)
        start = self.offset // 4 * 4
        return Span(self._buffer, start, (bound(self).end - start,), _BYTES)

    def _elements(self, span: NDArray[np.uint8]) -> NDArray[Any]:
        """The array of the bytes of ``_span``. ``ValueError`` for shapes that NumPy has none of."""
        elements = span[self.offset % 4 :].view(self.dtype)
        try:
            if self.strides == packed_strides(self.shape):
                return elements.reshape(self.shape)
            steps = tuple(s * self.dtype.itemsize for s in self.strides)
            return np.lib.stride_tricks.as_strided(elements, self.shape, steps).copy()
        except (ValueError, OverflowError) as error:
            raise ValueError(f"NumPy has no array of shape {self.shape}, which the tensor has: {error}") from None

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a tensor in device memory has no NumPy array without a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The CPU, where ``__dlpack__`` puts its copy: a WebGPU buffer has no address."""
        return _DLPACK_CPU

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of a new copy in host memory.

        ``BufferError`` where a copy or the CPU is not wanted.
        """
        if stream is not None:
            raise ValueError(f"stream must be None for memory of the CPU, not {stream!r}")
        if copy is False:
            raise BufferError("a tensor in device memory cannot be exported without a copy")
        if dl_device is not None and as_ints("dl_device", dl_device) != _DLPACK_CPU:
            raise BufferError(f"a tensor is exported to the CPU, device {_DLPACK_CPU}, not to {dl_device!r}")
        # What comes after the first version is for NumPy to say.
        version = (1, 0) if max_version is not None and as_ints("max_version", max_version) >= (1, 0) else None
        array = self.numpy()
        try:
            return array.__dlpack__(max_version=version)
        except TypeError:  # NumPy before 2.1 knows no versions
            return array.__dlpack__()


def new_tensor(
    device: Executor,
    buffer: Any,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int = 0,
    memory: Memory | None = None,
) -> Tensor:
    """A tensor over a buffer, unchecked; ``memory``: where the buffer is the library's."""
    self = cast(Tensor, object.__new__(_Slots))
    self.device = device  # type: ignore[assignment]  # users have no other Executor
    self._buffer = buffer
    self.dtype = dtype
    self.shape = shape
    self.strides = strides
    self.offset = offset
    self._memory = memory
    self._bound = None
    self.__class__ = Tensor
    return self


def packed_tensor(device: Executor, dtype: np.dtype[Any], shape: tuple[int, ...], name: str = "a tensor") -> Tensor:
    """A new packed tensor. ``MemoryError``, naming ``name``, where it does not fit."""
    memory = device.buffers.allocate(name, prod(shape) * dtype.itemsize)
    return new_tensor(device, memory.buffer, dtype, shape, packed_strides(shape), memory=memory)


def tensor_of(device: Executor, desc: TensorDesc, name: str = "a tensor") -> Tensor:
    """A new tensor as a desc describes it.

    ``MemoryError``, naming ``name``, where it does not fit.
    """
    memory = device.buffers.allocate(name, desc.total_tensor_size_in_bytes)
    return new_tensor(device, memory.buffer, desc.data_type.numpy_dtype, desc.sizes, desc.element_strides, memory=memory)


def empty(
    shape: SupportsIndex | Sequence[SupportsIndex] | TensorDesc,
    dtype: DTypeLike | DataType | None = None,
    *,
    device: Executor | None = None,
) -> Tensor:
    """A new Tensor whose elements are whatever its memory holds: an output for ``record``, or for
    ``out=``.

    ``shape`` and ``dtype`` (a ``DataType``, or what NumPy takes as one), packed row-major; or a
    ``TensorDesc`` alone, whose strides and total size the tensor then has. It is NumPy's ``empty``
    but for ``dtype``, which has no default.

    Raises ``TypeError`` for data types without an order here and for a desc with a ``dtype``,
    ``ValueError`` for negative sizes, ``MemoryError`` where the tensor does not fit.
    """
    if isinstance(shape, TensorDesc):
        if dtype is not None:
            raise TypeError(f"dtype must not be given beside a TensorDesc, which has one, not {dtype!r}")
        return tensor_of(as_device(device), shape)
    sizes, kind = as_sizes(shape), as_dtype(cast(DTypeLike, dtype))
    return packed_tensor(as_device(device), kind, sizes)


def bound(tensor: Tensor) -> Bound:
    """The tensor as an operand; kept with it."""
    found = tensor._bound
    if found is None:
        item = tensor.dtype.itemsize
        start, rest = aligned(tensor.offset, item)
        end = tensor.offset + extent(zip(tensor.shape, tensor.strides, strict=True)) * item
        vectors = fits_vectors(tensor._buffer, end)
        elements = Elements(tensor.dtype, tensor.shape, tensor.strides, rest, vectors)
        found = Bound(tensor._buffer, start, end, elements)
        object.__setattr__(tensor, "_bound", found)
    return found


def resources_of(tensors: Mapping[str, Tensor]) -> Resources:
    """What a plan binds, of tensors by its names of them."""
    return {name: bound(tensor)[:2] for name, tensor in tensors.items()}


def sliced(tensor: Tensor, first: int, end: int) -> Tensor:
    """The last dimension's positions from ``first`` to before ``end``, without a copy."""
    shape, offset = (*tensor.shape[:-1], end - first), tensor.offset + first * tensor.strides[-1] * tensor.dtype.itemsize
    return new_tensor(tensor.device, tensor._buffer, tensor.dtype, shape, tensor.strides, offset, tensor._memory)


def is_foreign(tensor: Any) -> bool:
    """May the caller destroy or map the buffer? Those of the library alone it never saw."""
    return not isinstance(tensor, Tensor) or tensor._memory is None or tensor._memory.shared


def keep_memory(tensor: Tensor) -> None:
    """Never uses the tensor's memory for others: an encoder that has it may be submitted."""
    if tensor._memory is not None:
        tensor._memory.shared = True


def check_alive(name: str, tensor: Tensor) -> None:
    """``ValueError`` for a buffer that the caller has destroyed, or holds mapped."""
    if is_foreign(tensor):
        tensor.device.context.check_unmapped(**{name: tensor._buffer})
        tensor.device.context.check_alive(**{name: tensor._buffer})


def check_buffer(name: str, buffer: Any, device: Executor) -> None:
    """``ValueError`` unless the buffer is the device's, usable as storage and large enough."""
    if buffer._device is not device.context.gpu_device:
        raise ValueError(
            f"{name} belongs to another wgpu.GPUDevice than that of {device!r}; wgdml.Device(gpu_device) of that one takes it"
        )
    if not buffer.usage & wgpu.BufferUsage.STORAGE:
        usages = " | ".join(usage for usage, flag in wgpu.BufferUsage.__members__.items() if buffer.usage & flag)
        raise ValueError(f"{name} must have usage STORAGE, not {usages or 'none'} alone")
    if buffer.size < 4:
        raise ValueError(f"{name} must have at least 4 bytes, not {buffer.size}")


def check_gpu_device(name: str, tensor: Tensor, device: Executor) -> None:
    """``ValueError`` unless the tensor is on the device's GPU device."""
    if tensor.device.context.gpu_device is not device.context.gpu_device:
        raise ValueError(
            f"{name} is on another GPU device, that of {tensor.device!r}, than {device!r}: only Devices of one wgpu.GPUDevice "
            f"share tensors"
        )


def check_out(out: Any, wanted: Sequence[tuple[np.dtype[Any], tuple[int, ...]]]) -> list[Tensor]:
    """The tensors for results of these types and shapes: ``out``, or its items."""
    tensors = [out] if len(wanted) == 1 else list(out) if isinstance(out, Sequence) else []
    if len(tensors) != len(wanted) or not all(isinstance(t, Tensor) for t in tensors):
        what = "a wgdml.Tensor" if len(wanted) == 1 else f"{len(wanted)} wgdml.Tensors, for values and for indices"
        kinds = ", ".join(type(t).__name__ for t in tensors[:3]) or type(out).__name__
        raise TypeError(f"out must be {what}, not {kinds}")
    for tensor, (dtype, shape) in zip(tensors, wanted, strict=True):
        if tensor.dtype != dtype:
            raise TypeError(f"out must have data type {dtype.name} for this result, not {tensor.dtype.name}")
        if tensor.shape != shape:
            raise ValueError(f"out must have the result's shape {shape}, not {tensor.shape}")
        if overlaps_itself(tensor.shape, tensor.strides):
            raise ValueError(
                f"out of shape {shape} must have an address for every element, which strides {tensor.strides} give not"
            )
    return tensors


def check_apart(tensors: Mapping[str, Tensor]) -> None:
    """``ValueError`` where a tensor shares bytes with one before it.

    Without elements it shares none.
    """
    ranges: dict[str, Range] = {}
    for name, tensor in tensors.items():
        if tensor.size:
            ranges[name] = Range(tensor._buffer, tensor.offset, bound(tensor).end)
            check_overlap(name, ranges)


def asarray(x: ArrayLike | Tensor, /, *, device: Executor | None = None) -> Tensor:
    """Uploads anything that NumPy takes as an array; a Tensor is returned as it is.

    A Tensor of another ``Device`` on the same GPU device is returned as one of ``device``'s, over
    the same buffer.

    Raises ``ValueError`` for a Tensor on another GPU device, ``TypeError`` for data types without
    an order here (complex, object, strings) and for ragged nested sequences.
    """
    if isinstance(x, Tensor):
        return x if device is None else moved("x", x, as_device(device))
    return on_device("x", as_numpy(x), as_device(device))


def on_device(name: str, x: Tensor | NDArray[Any], device: Executor) -> Tensor:
    """A Tensor, or an array of a supported type, as a Tensor of the device's; errors name ``name``.

    Raises ``ValueError`` for a Tensor on another GPU device, ``MemoryError`` where there is no room
    for an array.
    """
    if isinstance(x, Tensor):
        return moved(name, x, device)
    tensor = packed_tensor(device, x.dtype, x.shape, name)
    device.transfers.write(np.ascontiguousarray(x), tensor._buffer)
    return tensor


def moved(name: str, tensor: Tensor, device: Executor) -> Tensor:
    """The tensor as one of another device on the same GPU device, over the same buffer.

    ``ValueError`` on another GPU device.
    """
    if tensor.device is device:
        return tensor
    check_gpu_device(name, tensor, device)
    return new_tensor(device, tensor._buffer, tensor.dtype, tensor.shape, tensor.strides, tensor.offset, tensor._memory)


def to_numpy(*tensors: Tensor | NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The elements of tensors as new NumPy arrays, after all submitted work.

    ``values, indices = wgdml.to_numpy(*wgdml.top_k(x, k))``. Tensors of a device that have up to 16
    MiB in all take one wait, where ``numpy()`` waits for each. NumPy arrays among them are returned
    as they are. Raises ``TypeError`` for anything else, ``ValueError`` for a tensor whose buffer is
    destroyed, mapped or without usage COPY_SRC.
    """
    wanted = _Wanted(tensors)
    for device, spans in wanted.spans.items():
        wanted.put(device, device.transfers.read(spans))
    return tuple(wanted.arrays)


def to_numpy_async(*tensors: Tensor | NDArray[Any]) -> wgpu.GPUPromise[tuple[NDArray[Any], ...]]:
    """A promise of what ``to_numpy`` returns, as it is after all work submitted so far.

    ``values, indices = await wgdml.to_numpy_async(*wgdml.top_k(x, k))`` on asyncio, trio or
    rendercanvas. The loop's other tasks go on meanwhile, and any number of reads may be under way.
    Who stops waiting loses the arrays and nothing else. Where one cannot await,
    ``.then(callback)`` calls back.

    Raises what ``to_numpy`` raises, and ``RuntimeError`` where no event loop runs, before anything
    is submitted. Awaiting raises ``DeviceLostError`` where the device is lost meanwhile, and
    ``MemoryError`` where it has no room for the copies.
    """
    return _promise("to_numpy_async", tensors, tuple)


class _Wanted:
    """Arrays that are to come from tensors; those of one device come together."""

    def __init__(self, tensors: Sequence[Tensor | NDArray[Any]]) -> None:
        self._tensors: Any = tensors
        self._places: dict[Executor, list[int]] = {}
        self.arrays: list[Any] = [None] * len(tensors)
        for place, tensor in enumerate(tensors):
            if isinstance(tensor, np.ndarray):
                self.arrays[place] = tensor
            elif not isinstance(tensor, Tensor):
                hint = ", whose items are given one by one: *tensors" if isinstance(tensor, (tuple, list)) else ""
                raise TypeError(f"tensors must be wgdml.Tensors or NumPy arrays, not {type(tensor).__name__}{hint}")
            elif tensor.size:
                self._places.setdefault(tensor.device, []).append(place)
            else:
                self.arrays[place] = tensor._elements(np.empty(0, np.uint8))
        #: What is to be read of each device.
        self.spans = {device: [tensors[place]._span() for place in places] for device, places in self._places.items()}  # type: ignore[union-attr]

    def put(self, device: Executor, read: Sequence[NDArray[Any]]) -> bool:
        """Takes what was read of a device; True where that was the last."""
        for place, data in zip(self._places.pop(device), read, strict=True):
            self.arrays[place] = self._tensors[place]._elements(data)
        return not self._places


def _promise(title: str, tensors: Sequence[Tensor | NDArray[Any]], result: Callable[[list[Any]], Any]) -> Any:
    """A promise of what ``result`` makes of the tensors' arrays."""
    wanted = _Wanted(tensors)
    for device in wanted.spans:
        device.context.check()
    promise = promised(title, result)

    def arrived(device: Executor, read: list[NDArray[Any]]) -> None:
        if wanted.put(device, read):
            promise._wgpu_set_input(wanted.arrays)

    for device, spans in wanted.spans.items():
        device.transfers.read_async(spans, partial(arrived, device), promise._wgpu_set_error)
    if not wanted.spans:
        promise._wgpu_set_input(wanted.arrays)
    return promise


def as_numpy(x: ArrayLike, name: str = "x") -> NDArray[Any]:
    """``x`` as a NumPy array of a supported type, without a copy where its library allows that."""
    array = native_array(x, name)
    dtype = own_dtype(array.dtype, name)
    return array if array.dtype is dtype else array.view(dtype)


def integers_as_numpy(x: ArrayLike, name: str) -> NDArray[Any]:
    """``as_numpy`` of what is to be integers: NumPy takes an empty list for float64."""
    array = as_numpy(x, name)
    return array if array.size or not isinstance(x, list | tuple) else array.astype(np.int64)


def native_array(x: ArrayLike, name: str = "x") -> NDArray[Any]:
    """``x`` as a NumPy array of any type in this machine's byte order."""
    try:
        array = _host_array(x, name)
    except (ValueError, BufferError, RuntimeError) as error:
        raise TypeError(f"{name} cannot become an array: {error}") from None
    # An int of over 64 bits is an object to NumPy too.
    if array.dtype.kind == "O" and not array.ndim and not isinstance(x, np.ndarray | int):
        hint = ": Tensor.from_buffer makes a Tensor of it" if isinstance(x, wgpu.GPUBuffer) else ""
        raise TypeError(f"{name} must be an array or a Tensor, not {type(x).__name__}{hint}")
    return array.astype(array.dtype.newbyteorder("=")) if array.dtype.byteorder == ">" else array


def _host_array(x: Any, name: str) -> NDArray[Any]:
    kind = type(x)
    if kind is np.ndarray:
        return cast("NDArray[Any]", x)
    if callable(getattr(kind, "__dlpack_device__", None)) and not isinstance(x, np.ndarray):
        device = x.__dlpack_device__()
        if device[0] not in _DLPACK_HOST:
            raise TypeError(f"{name} is on DLPack device {tuple(map(int, device))}, not in the CPU's memory: copy it there first")
        if not hasattr(kind, "__array__"):
            return np.from_dlpack(x)
        # PyTorch itself cannot give it to NumPy.
        if str(getattr(x, "dtype", "")) == "torch.bfloat16":
            from ml_dtypes import bfloat16

            return np.asarray(x.detach().view(sys.modules["torch"].int16)).view(bfloat16)
        if getattr(x, "requires_grad", False):
            x = x.detach()
    elif isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise TypeError(f"{name} has masked elements, which have no place in an order: fill them first")
    return np.asarray(x)
