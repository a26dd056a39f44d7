"""Run one function on the device and compare with the oracle, bit for bit; run programs."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import data
import numpy as np
import oracle
import wgpu

import wgdml

#: Every function in every direction.
OPERATORS = (
    "top_k-largest",
    "top_k-smallest",
    "sort-ascending",
    "sort-descending",
    "argsort-ascending",
    "argsort-descending",
    "argmax-first",
    "argmax-last",
    "argmin-first",
    "argmin-last",
)


def check(
    operator: str,
    x: np.ndarray,
    *,
    device: wgdml.Device,
    axis: Any = -1,
    k: int = 1,
    keepdims: bool = False,
    given: Any = None,
    case: object = "",
) -> None:
    """Apply `operator` to `given` (None: `x` itself); compare with the oracle's answer for `x`."""
    function, _, direction = operator.partition("-")
    case = f"{operator} of {x.dtype} {x.shape}, axis {axis}" + (f", {case}" if case else "")
    source = x if given is None else given
    before = oracle.bits(x).copy()
    result: tuple[Any, ...]
    expected: tuple[np.ndarray, ...]
    if function == "top_k":
        result = wgdml.top_k(source, k, axis=axis, mode=direction, device=device)
        expected = oracle.top_k(x, k, axis, direction == "largest")
        case = f"{case}, k {k}"
    elif function == "sort":
        result = (wgdml.sort(source, axis=axis, descending=direction == "descending", device=device),)
        expected = (oracle.sort(x, axis, direction == "descending"),)
    elif function == "argsort":
        result = (wgdml.argsort(source, axis=axis, descending=direction == "descending", device=device),)
        expected = (oracle.argsort(x, axis, direction == "descending"),)
    else:
        call = {"argmax": wgdml.argmax, "argmin": wgdml.argmin}[function]
        last = direction == "last"
        result = (call(source, axis=axis, keepdims=keepdims, select_last_index=last, device=device),)
        expected = (oracle.arg_reduce(x, axis, keepdims, last, function == "argmax"),)
    for part, want in zip(result, expected, strict=True):
        assert isinstance(part, wgdml.Tensor) == isinstance(source, wgdml.Tensor), f"{case}: {type(part)}"
        oracle.assert_same(np.asarray(part), want, case)
    assert np.array_equal(oracle.bits(x), before), f"{case}: the input was changed"


STORAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST


def buffer_of(device: wgdml.Device, host: np.ndarray, usage: int = STORAGE) -> wgpu.GPUBuffer:
    """A buffer of the caller's own that holds these bytes, padded to whole words."""
    raw = np.ascontiguousarray(host).reshape(-1).view(np.uint8)
    padded = np.zeros(max(4, -(-raw.size // 4) * 4), np.uint8)
    padded[: raw.size] = raw
    return device.gpu_device.create_buffer_with_data(data=padded, usage=usage)


def read(device: wgdml.Device, buffer: wgpu.GPUBuffer) -> np.ndarray:
    return np.frombuffer(device.gpu_device.queue.read_buffer(buffer), np.uint8)


def operator_of(device: wgdml.Device, desc: Any) -> wgdml.CompiledOperator:
    return device.compile_operator(device.create_operator(desc))


def extent(shape: Sequence[int], strides: Sequence[int]) -> int:
    """How many elements lie from the first to the last, both counted."""
    return sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) + 1


def strided(storage: np.ndarray, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> np.ndarray:
    """The view of a flat array that a tensor of these element strides has of its buffer."""
    assert offset + extent(shape, strides) <= storage.size
    return np.lib.stride_tricks.as_strided(storage[offset:], tuple(shape), tuple(s * storage.itemsize for s in strides))


def strided_tensor(
    device: wgdml.Device,
    kind: str,
    dtype: Any,
    shape: Sequence[int],
    strides: Sequence[int],
    offset: int = 0,
    seed: int = 0,
) -> tuple[wgdml.Tensor, np.ndarray]:
    """A Tensor over a buffer of hostile data, and the array it must be read as, from `offset`."""
    storage = data.make(kind, dtype, offset + extent(shape, strides), seed)
    buffer = buffer_of(device, storage)
    start = offset * storage.itemsize
    tensor = wgdml.Tensor.from_buffer(buffer, storage.dtype, tuple(shape), tuple(strides), start, device=device)
    return tensor, strided(storage, shape, strides, offset).copy()


def check_subsets(device: wgdml.Device, name: str, n: int, k: int, subsets: int) -> None:
    """Rows in which so many strided subsets have one of the first k, two or nothing else."""
    rng = np.random.default_rng(5)
    per_load = 16 // np.dtype(name).itemsize
    for case in data.SUBSETS:
        host = np.concatenate([data.in_subsets(case, n, per_load, subsets, rng) for _ in range(3)]).astype(name)
        buffer = buffer_of(device, host)
        for start in (0, 1):
            x = host[start : start + 2 * n].reshape(2, n)
            given = wgdml.Tensor.from_buffer(buffer, name, (2, n), offset=start * host.itemsize, device=device)
            check("top_k-largest", x, given=given, k=k, device=device, case=(case, start))
            check("top_k-largest", x // 25, k=k, device=device, case=(case, "equal"))


def packed(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    return tuple(itertools.accumulate(reversed(tuple(shape)[1:]), lambda a, b: a * b, initial=1))[::-1]


#: Things that hardly any argument is meant to be.
ODD = (object(), "x", "", b"x", 1.5, -7, 99, 2**70, [], [1.5], (0, 0), {}, None, True, np.nan, np.array([1, 2]), 1j, np.int8, ...)


def check_arguments(function: Callable[..., Any], x: Any) -> None:
    """Each argument in turn is each of ``ODD``. What is refused is named, and opens no device.

    The fixture ``no_device`` makes those that pass the checks end with AssertionError.
    """
    parameters = inspect.signature(function).parameters
    good = {"x": x, "k": 0, "indices": np.zeros((3, 1), int)}
    for name in parameters:
        for odd in ODD:
            given = {n: good[n] for n in parameters if n in good} | {name: odd}
            first = [given.pop(n) for n, p in parameters.items() if p.kind is p.POSITIONAL_ONLY and n in given]
            try:
                function(*first, **given)
            except (ValueError, TypeError) as error:
                assert re.search(rf"\b{name}\b", str(error)), (name, odd, error)
            except AssertionError as error:
                assert "a device was opened" in str(error), (name, odd, error)


def check_ragged(x: np.ndarray, k: int, lengths: np.ndarray, device: wgdml.Device, axis: int = -1, mode: str = "largest") -> None:
    """Compare top-k of sequences with lengths of their own with the oracle's answer."""
    found = wgdml.top_k(x, k, axis=axis, mode=mode, lengths=lengths, device=device)
    lines = np.moveaxis(x, axis, -1)
    want = oracle.ragged_top_k(lines.reshape(-1, lines.shape[-1]), k, mode == "largest", lengths=np.ravel(lengths))
    for part, own in zip(found, want, strict=True):
        oracle.assert_same(part, np.moveaxis(own.reshape(*lines.shape[:-1], k), -1, axis))


def python(script: str, timeout: float = 120) -> str:
    """What a script prints in a process of its own, which must end by itself, without a panic."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert run.returncode == 0 and "panicked" not in run.stderr, run.stdout + run.stderr
    return run.stdout


def program(path: str) -> Any:
    """The module of a file of the checkout that no package has."""
    file = Path(__file__).resolve().parents[1] / path
    spec = importlib.util.spec_from_file_location(f"program_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look
    spec.loader.exec_module(module)
    return module
