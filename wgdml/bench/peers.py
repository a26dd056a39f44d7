"""Other libraries on the same data in the same run, where they are installed, and checked.

Peers may settle ties as they like: the values must be right, and indices where these values are.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cases import Case
from .timing import by_host

Array = NDArray[Any]
Call = Callable[[], Any]
Results = Callable[[Any], tuple[Any, Any]]


def check(case: Case, x: Array, want: tuple[Any, Any], values: Any, indices: Any) -> str:
    """What is wrong with a peer's answer, or nothing."""
    indices = np.asarray(indices).astype(np.int64).reshape(case.result_shape)
    right = want[0] if want[0] is not None else np.take_along_axis(x, want[1].astype(np.int64), case.axis)
    if (indices < 0).any() or (indices >= case.length).any():
        return "indices out of range"
    if case.k > 1 and (np.diff(np.sort(indices, axis=case.axis), axis=case.axis) == 0).any():
        return "an index comes twice"
    if not np.array_equal(np.take_along_axis(x, indices, case.axis), right):
        return "x at the indices is not the right values"
    if values is not None and not np.array_equal(np.asarray(values).reshape(case.result_shape), right):
        return "wrong values"
    return ""


class Peer:
    """A library, imported by ``start`` and bound to an input by ``bind``."""

    name = ""
    on_gpu = False  #: Takes large inputs and every kind of data; others get small and random ones.

    def start(self) -> str:
        """Imports the library; returns its version and device."""
        raise NotImplementedError

    def bind(self, case: Case, x: Array) -> tuple[Call, Results]:
        """A call to be timed, and what turns its result to NumPy values (or None) and indices."""
        raise NotImplementedError

    def seconds(self, call: Call) -> list[float]:
        return by_host(call)

    def measure(self, case: Case, x: Array, want: tuple[Any, Any]) -> dict[str, Any]:
        call, results = self.bind(case, x)
        problem = check(case, x, want, *results(call()))
        times = self.seconds(call)
        return {"us": statistics.median(times) * 1e6, "calls": len(times), "correct": not problem, "problem": problem}


class ArrayPeer(Peer):
    """NumPy, and CuPy as its like: argmax; argpartition, then a sort of the k; argsort."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.on_gpu = name == "cupy"

    def start(self) -> str:
        self.library = import_module(self.name)
        if self.on_gpu:
            self.library.cuda.runtime.getDeviceCount()
        return str(self.library.__version__)

    def bind(self, case: Case, x: Array) -> tuple[Call, Results]:
        data = self.library.asarray(x)
        read = self.library.asnumpy if self.on_gpu else np.asarray

        def results(result: Any) -> tuple[Any, Any]:
            return None if result[0] is None else read(result[0]), read(result[1])

        return (lambda: _select(self.library, case, data)), results

    def seconds(self, call: Call) -> list[float]:
        if not self.on_gpu:
            return super().seconds(call)
        cuda = self.library.cuda
        return _by_events(call, cuda.Device().synchronize, cuda.Event, cuda.get_elapsed_time)


def _select(library: Any, case: Case, x: Any) -> tuple[Any, Any]:
    """A case by NumPy, or by a library that speaks as NumPy does."""
    axis, n, k = case.axis, case.length, case.k
    if case.operator == "argmax":
        return None, library.argmax(x, axis=axis)
    if k == n:
        found = library.flip(library.argsort(x, axis=axis), axis)
        return library.take_along_axis(x, found, axis), found
    last = (slice(None),) * axis + (slice(n - k, None),)
    part = library.argpartition(x, n - k, axis=axis)[last]
    values = library.take_along_axis(x, part, axis)
    order = library.flip(library.argsort(values, axis=axis), axis)
    return library.take_along_axis(values, order, axis), library.take_along_axis(part, order, axis)


class TorchPeer(Peer):
    """``torch.argmax``, ``torch.topk``, ``torch.sort``."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.name = "torch" if device == "cuda" else "torch-cpu"
        self.on_gpu = device == "cuda"

    def start(self) -> str:
        import torch

        self.torch = torch
        if self.device == "cuda":
            if not torch.cuda.is_available():
                raise RuntimeError("torch sees no CUDA device")
            return f"{torch.__version__}, {torch.cuda.get_device_name()}"
        return f"{torch.__version__}, {torch.get_num_threads()} threads"

    def bind(self, case: Case, x: Array) -> tuple[Call, Results]:
        torch = self.torch
        if self.on_gpu:
            torch.cuda.empty_cache()
        data = torch.from_numpy(x).to(self.device)

        def call() -> Any:
            if case.operator == "argmax":
                return None, torch.argmax(data, dim=case.axis)
            if case.k == case.length:
                return torch.sort(data, dim=case.axis, descending=True)
            return torch.topk(data, case.k, dim=case.axis)

        def results(result: Any) -> tuple[Any, Any]:
            values, indices = result
            return None if values is None else values.cpu().numpy(), indices.cpu().numpy()

        return call, results

    def seconds(self, call: Call) -> list[float]:
        if self.device != "cuda":
            return super().seconds(call)
        cuda = self.torch.cuda
        return _by_events(call, cuda.synchronize, lambda: cuda.Event(enable_timing=True), lambda a, b: a.elapsed_time(b))


def _by_events(call: Call, wait: Call, event: Call, milliseconds: Callable[[Any, Any], float]) -> list[float]:
    """Times of many calls by CUDA events, all under way at once and the clocks warm."""
    started = time.perf_counter()
    call()
    wait()
    first = time.perf_counter() - started
    events = [(event(), event()) for _ in range(int(min(max(10, 0.15 / first), 100)))]
    end = time.perf_counter() + 0.4
    while time.perf_counter() < end:
        for _ in range(int(max(1, 0.01 / first))):
            call()
        wait()
    for begin, finish in events:
        begin.record()
        call()
        finish.record()
    wait()
    return [milliseconds(begin, finish) * 1e-3 for begin, finish in events]


class OnnxRuntimePeer(Peer):
    """ONNX's ArgMax and TopK (also for a sort) by ONNX Runtime.

    Inputs lie on the device, outputs are read back.
    """

    def __init__(self, name: str, provider: str, device: str) -> None:
        self.name = name
        self.provider = provider
        self.device = device
        self.kept: Any = None

    def start(self) -> str:
        import onnxruntime
        from onnx import parser

        if self.provider not in onnxruntime.get_available_providers():
            raise RuntimeError(f"this build of onnxruntime has no {self.provider}")
        self.parser, self.runtime = parser, onnxruntime
        # A provider that is there may still find no adapter.
        self._session(self._model(Case("argmax", (1, 4), 1, 1)))
        return str(onnxruntime.__version__)

    def bind(self, case: Case, x: Array) -> tuple[Call, Results]:
        session = self._session(self._model(case))
        if self.device == "cpu":
            return (lambda: session.run(None, {"x": x})), self._results
        binding = session.io_binding()
        upload, uploader = self._upload(x)
        binding.bind_ortvalue_input("x", upload.get_outputs()[0])
        for output in session.get_outputs():
            binding.bind_output(output.name, "cpu")

        def call() -> Any:
            session.run_with_iobinding(binding)
            return binding.copy_outputs_to_cpu()

        # Let go of in this order: the end of a session is that of its outputs too.
        self.kept = session, binding, upload, uploader
        return call, self._results

    def _upload(self, x: Array) -> tuple[Any, Any]:
        """Binding and session of an output in the provider's memory, where nothing else gets."""
        kind = self._type(x.dtype.name, x.shape)
        session = self._session(self._bytes(f"({kind} x) => ({kind} y) {{ y = Identity (x) }}"))
        binding = session.io_binding()
        binding.bind_cpu_input("x", x)
        binding.bind_output("y", self.device, 0)
        session.run_with_iobinding(binding)
        return binding, session

    def _session(self, model: bytes) -> Any:
        options = self.runtime.SessionOptions()
        options.log_severity_level = 4  # its errors come as exceptions too
        # Without the last, another provider takes over with no more than a printed line.
        return self.runtime.InferenceSession(model, options, providers=[self.provider], enable_fallback=0)

    @staticmethod
    def _results(outputs: Any) -> tuple[Any, Any]:
        return (None, outputs[0]) if len(outputs) == 1 else (outputs[0], outputs[1])

    def _model(self, case: Case) -> bytes:
        x, y = (self._type(case.dtype, shape) for shape in (case.shape, case.result_shape))
        indices = self._type("int64", case.result_shape)
        if case.operator == "argmax":
            return self._bytes(f"({x} x) => ({indices} i) {{ i = ArgMax <axis={case.axis}, keepdims=1> (x) }}")
        found = f"({y} y, {indices} i) <int64[1] k = {{{case.k}}}>"
        return self._bytes(f"({x} x) => {found} {{ y, i = TopK <axis={case.axis}> (x, k) }}")

    @staticmethod
    def _type(dtype: str, shape: tuple[int, ...]) -> str:
        """A tensor's type in ONNX's text form."""
        return {"float32": "float", "float64": "double"}.get(dtype, dtype) + str([*shape])

    def _bytes(self, graph: str) -> bytes:
        """The model of a graph in ONNX's text form."""
        return bytes(self.parser.parse_model(f'<ir_version: 8, opset_import: ["": 13]> graph {graph}').SerializeToString())


class JaxPeer(Peer):
    """``jnp.argmax``, ``jax.lax.top_k``, ``jnp.argsort``, compiled, on JAX's default device."""

    name = "jax"

    def start(self) -> str:
        # It would take three quarters of a GPU's memory when it starts.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        self.jax = jax
        device = jax.devices()[0]
        self.on_gpu = device.platform == "gpu"
        return f"{jax.__version__}, {device.platform}"

    def bind(self, case: Case, x: Array) -> tuple[Call, Results]:
        jax, jnp, axis, k = self.jax, self.jax.numpy, case.axis, case.k

        def selection(data: Any) -> Any:
            if case.operator == "argmax":
                return None, jnp.argmax(data, axis=axis)
            if k == case.length:
                order = jnp.argsort(data, axis=axis, descending=True)
                return jnp.take_along_axis(data, order, axis=axis), order
            values, indices = jax.lax.top_k(jnp.moveaxis(data, axis, -1), k)
            return jnp.moveaxis(values, -1, axis), jnp.moveaxis(indices, -1, axis)

        compiled = jax.jit(selection)
        data = jax.device_put(x)
        if data.dtype != x.dtype:
            raise TypeError(f"JAX, as it is set up, makes {data.dtype} of {x.dtype}")
        return (lambda: jax.block_until_ready(compiled(data))), lambda result: result


#: By name; none is imported before its ``start``.
PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        TorchPeer("cuda"),
        ArrayPeer("cupy"),
        JaxPeer(),
        OnnxRuntimePeer("ort-webgpu", "WebGpuExecutionProvider", "webgpu"),
        ArrayPeer("numpy"),
        OnnxRuntimePeer("ort-cpu", "CPUExecutionProvider", "cpu"),
        TorchPeer("cpu"),
    )
}
