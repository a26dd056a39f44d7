"""Operators on the host: hostile contents, the oracle's answers, and guards around all."""

from __future__ import annotations

import math
from typing import Any

import data
import numpy as np
import oracle
from checks import STORAGE, extent, operator_of, read, strided

import wgdml
from wgdml import AxisDirection, SelectOperatorDesc, TensorDesc

GUARD = 0xA5
NUMBERS = ("lengths_tensor", "starts_tensor", "counts_tensor")
OUTPUTS = ("output_value_tensor", "output_index_tensor", "output_tensor")
TENSORS = ("input_tensor", *OUTPUTS, *NUMBERS, "payload_tensor")


class Memory:
    """A tensor's bytes on the host, between guards."""

    def __init__(self, desc: TensorDesc, before: int, after: int) -> None:
        self.desc = desc
        self.dtype = desc.data_type.numpy_dtype
        self.start = before * desc.data_type.itemsize
        end = self.start + desc.total_tensor_size_in_bytes
        self.bytes = np.full(-(-(end + after) // 4) * 4, GUARD, np.uint8)

    @property
    def flat(self) -> np.ndarray:
        """All elements from the first to the last, those between the tensor's own too."""
        count = extent(self.desc.sizes, self.desc.element_strides)
        return self.bytes[self.start :][: count * self.dtype.itemsize].view(self.dtype)

    @property
    def elements(self) -> np.ndarray:
        """The tensor's own, as a view of the bytes."""
        return strided(self.flat, self.desc.sizes, self.desc.element_strides)

    def check(self, got: np.ndarray, answer: np.ndarray | None = None, case: object = "") -> None:
        """The elements are the answer's, or as they were, and every other byte is as it was."""
        before = self.bytes.copy()
        if answer is not None:
            self.bytes[:] = got
            oracle.assert_same(self.elements, answer.astype(self.dtype), case)
            self.bytes[:] = before
            self.elements[...] = answer.astype(self.dtype)
        assert np.array_equal(got, self.bytes), f"a byte that is no element's was written, {case}"
        self.bytes[:] = before


def hostile(rng: np.random.Generator, dtype: np.dtype[Any], count: int, size: int, k: int) -> np.ndarray:
    """Numbers about the edges of a sequence and of k, beyond both, and evenly spread ones."""
    edges = [0, 1, 2, k - 1, k, k + 1, size // 2, size - 1, size, size + 1, -1, 2**31, 2**32 - 1, 2**32 + 1, -(2**63)]
    picked = np.array(edges, object)[rng.integers(0, len(edges), count)]
    even = rng.integers(0, size + 1, count).astype(object)
    numbers = np.where(rng.integers(0, 3, count) == 0, picked, even)
    mask = (1 << 8 * dtype.itemsize) - 1
    return np.array([int(n) & mask for n in numbers], np.uint64).astype(f"u{dtype.itemsize}").view(dtype)


def expected(desc: Any, memory: dict[str, Memory]) -> dict[str, np.ndarray]:
    """The oracle's answer to each output."""
    if isinstance(desc, SelectOperatorDesc):
        return expected_of_spans(desc, memory)
    x = memory["input_tensor"].elements
    if isinstance(desc, wgdml.TopKOperatorDesc | wgdml.TopK1OperatorDesc):
        direction = getattr(desc, "axis_direction", AxisDirection.DECREASING)
        values, indices = oracle.top_k(x, desc.k, desc.axis, direction == AxisDirection.DECREASING)
        return {"output_value_tensor": values, "output_index_tensor": indices}
    if isinstance(desc, wgdml.ReduceOperatorDesc):
        largest, last = desc.function == wgdml.ReduceFunction.ARGMAX, False
    else:
        largest, last = isinstance(desc, wgdml.ArgmaxOperatorDesc), desc.axis_direction == AxisDirection.DECREASING
    return {"output_tensor": oracle.arg_reduce(x, desc.axes, True, last, largest)}


def expected_of_spans(desc: SelectOperatorDesc, memory: dict[str, Memory]) -> dict[str, np.ndarray]:
    sizes, axes = desc.sizes, desc.axes
    kept = [d for d in range(len(sizes)) if d not in axes]
    order = (*kept, *sorted(axes))
    n = math.prod(sizes[a] for a in axes)

    def lines(name: str) -> np.ndarray:
        return np.ascontiguousarray(np.broadcast_to(memory[name].elements, sizes).transpose(order)).reshape(-1, n)

    spans = {}
    for name in NUMBERS:
        if name in memory:
            one = tuple(1 if d in axes else size for d, size in enumerate(sizes))
            spans[name.partition("_")[0]] = np.broadcast_to(memory[name].elements, one).reshape(-1)
    x = lines("input_tensor")
    if desc.longest is not None:
        given = spans.get("lengths", np.full(len(x), n)).astype(object)
        spans["lengths"] = np.minimum(given, desc.longest)
    largest = desc.axis_direction == AxisDirection.DECREASING
    nan_last = desc.nan == "last" or (desc.nan == "greatest" and not largest)
    if desc.select_last_index:  # the first of the lines turned about
        starts = np.clip(np.broadcast_to(spans.get("starts", 0), len(x)).astype(object), 0, n)
        lengths = np.clip(np.broadcast_to(spans.get("lengths", n), len(x)).astype(object), 0, n - starts)
        turned = spans | {"starts": n - starts - lengths, "lengths": lengths}
        values, indices = ranked(x[:, ::-1], desc, largest, nan_last, turned)
        indices = np.where(indices < 0, -1, n - 1 - indices)
    else:
        values, indices = ranked(x, desc, largest, nan_last, spans)
    shape = (*(sizes[d] for d in kept), *(1 for _ in axes[1:]), desc.k)
    back = np.argsort((*kept, *sorted(axes)))
    found = {"output_value_tensor": values, "output_index_tensor": indices}
    if "payload_tensor" in memory:
        ids = lines("payload_tensor")
        taken = oracle.bits(oracle.take(ids, np.maximum(indices, 0), 1))
        found["output_index_tensor"] = oracle.from_bits(np.where(indices < 0, ~taken.dtype.type(0), taken), ids.dtype)
    return {name: part.reshape(shape).transpose(back) for name, part in found.items() if name in memory}


def ranked(x: np.ndarray, desc: SelectOperatorDesc, largest: bool, nan_last: bool, spans: Any) -> tuple[np.ndarray, np.ndarray]:
    """The oracle's first k; with NaNs first in either direction too."""
    if largest or nan_last:
        return oracle.ragged_top_k(x, desc.k, largest, nan_last=nan_last, **spans)
    # The smallest with NaNs first: as integers in that order.
    keys = oracle.ranks(x, "lowest")
    _, indices = oracle.ragged_top_k(keys, desc.k, False, **spans)
    values = np.full(indices.shape, oracle.nothing(x.dtype, False))
    own = oracle.take(np.ascontiguousarray(x), np.maximum(indices, 0), 1)
    return oracle.from_bits(np.where(indices < 0, oracle.bits(values), oracle.bits(own)), x.dtype), indices


class Bench:
    """An operator recorded once for each run, its tensors in buffers of their own or in one."""

    def __init__(self, device: wgdml.Device, desc: Any, before: int, after: int, together: bool) -> None:
        self.device, self.desc = device, desc
        self.memory = {n: Memory(t, before, after) for n in TENSORS if (t := getattr(desc, n, None)) is not None}
        self.starts, total = {}, 0
        for name, m in self.memory.items():
            self.starts[name] = total if together else 0
            total += -(-m.bytes.size // 256) * 256
        gpu = device.gpu_device
        sizes = {name: total if together else m.bytes.size for name, m in self.memory.items()}
        shared = gpu.create_buffer(size=total, usage=STORAGE) if together else None
        self.buffers = {n: shared or gpu.create_buffer(size=sizes[n], usage=STORAGE) for n in self.memory}
        self.bound = {
            n: wgdml.Tensor.from_buffer(
                self.buffers[n], m.dtype, m.desc.sizes, m.desc.element_strides, self.starts[n] + m.start, device=device
            )
            for n, m in self.memory.items()
        }
        self.compiled = operator_of(device, desc)

    def fill(self, kind: str, seed: int) -> None:
        """New contents for what is read, and guards for what is written."""
        rng = np.random.default_rng(seed)
        for name, m in self.memory.items():
            m.bytes[:] = GUARD
            if name in NUMBERS:
                n = math.prod(self.desc.sizes[a] for a in self.desc.axes)
                m.flat[:] = hostile(rng, m.dtype, m.flat.size, n, self.desc.k)
            elif name not in OUTPUTS:
                m.flat[:] = data.make(kind if name == "input_tensor" else "random", m.dtype, m.flat.size, seed)
            self.device.gpu_device.queue.write_buffer(self.buffers[name], self.starts[name], m.bytes)

    def run(self) -> None:
        encoder = self.device.gpu_device.create_command_encoder()
        self.compiled.record(encoder, **self.bound)
        self.device.gpu_device.queue.submit([encoder.finish()])

    def check(self, case: object = "") -> None:
        """Every byte of every tensor is what it should be."""
        wanted = expected(self.desc, self.memory)
        for name, m in self.memory.items():
            got = read(self.device, self.buffers[name])[self.starts[name] :][: m.bytes.size]
            m.check(got, wanted.get(name), (name, case))
