"""Other libraries on the same data in the same run, where they are installed; each one's answer is checked.

Peers may settle ties as they like, so only this is asked of them: the right values, and indices at which these values are.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cases import Case

__all__ = ["PEERS", "Peer"]

Floats = NDArray[np.float32]


def check(case: Case, x: Floats, want: tuple[Any, Any], values: Any, indices: Any) -> str:
    """What is wrong with a peer's answer, or nothing."""
    indices = np.asarray(indices).astype(np.int64).reshape(case.result_shape)
    right = want[0] if want[0] is not None else np.take_along_axis(x, want[1].astype(np.int64), case.axis)
    if (indices < 0).any() or (indices >= case.length).any():
        return "indices out of range"
    if not np.array_equal(np.take_along_axis(x, indices, case.axis), right):
        return "x at the indices is not the right values"
    if values is not None and not np.array_equal(np.asarray(values).reshape(case.result_shape), right):
        return "wrong values"
    return ""


class Peer:
    """A library. ``start`` imports it and raises where it cannot serve; ``bind`` uploads an input and gives a call and its results."""

    name = ""
    device_resident = False  #: whether the input is in the device's memory beforehand

    def start(self) -> str:
        """Imports the library; returns its version and device."""
        raise NotImplementedError

    def bind(self, case: Case, x: Floats) -> tuple[Callable[[], Any], Callable[[Any], tuple[Any, Any]]]:
        """A call to be timed, and what turns its result to NumPy values (or None) and indices."""
        raise NotImplementedError

    def seconds(self, call: Callable[[], Any]) -> list[float]:
        """Times of many calls, by the host's clock."""
        started = time.perf_counter()
        call()
        first = time.perf_counter() - started
        times = []
        for _ in range(int(min(max(3, 0.3 / max(first, 1e-7)), 50)) if first < 2 else 1):
            started = time.perf_counter()
            call()
            times.append(time.perf_counter() - started)
        return times

    def measure(self, case: Case, x: Floats, want: tuple[Any, Any]) -> dict[str, Any]:
        call, results = self.bind(case, x)
        problem = check(case, x, want, *results(call()))
        times = self.seconds(call)
        return {"us": statistics.median(times) * 1e6, "calls": len(times), "correct": not problem, "problem": problem}


class NumPyPeer(Peer):
    """argmax; or argpartition, then a sort of the k."""

    name = "numpy"

    def start(self) -> str:
        return np.__version__

    def bind(self, case: Case, x: Floats) -> tuple[Callable[[], Any], Callable[[Any], tuple[Any, Any]]]:
        axis, n, k = case.axis, case.length, case.k

        def call() -> Any:
            if case.operator == "argmax":
                return None, np.argmax(x, axis=axis)
            if k == n:
                found = np.flip(np.argsort(x, axis=axis), axis)
                return np.take_along_axis(x, found, axis), found
            last = (slice(None),) * axis + (slice(n - k, None),)
            part = np.argpartition(x, n - k, axis=axis)[last]
            values = np.take_along_axis(x, part, axis)
            order = np.flip(np.argsort(values, axis=axis), axis)
            return np.take_along_axis(values, order, axis), np.take_along_axis(part, order, axis)

        return call, lambda result: result


class TorchPeer(Peer):
    """``torch.argmax``, ``torch.topk``, ``torch.sort``."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.name = "torch" if device == "cuda" else "torch-cpu"
        self.device_resident = device == "cuda"
        self.kept: tuple[Floats, Any] | None = None

    def start(self) -> str:
        import torch

        self.torch = torch
        if self.device == "cuda":
            if not torch.cuda.is_available():
                raise RuntimeError("torch sees no CUDA device")
            return f"{torch.__version__}, {torch.cuda.get_device_name()}"
        return f"{torch.__version__}, {torch.get_num_threads()} threads"

    def bind(self, case: Case, x: Floats) -> tuple[Callable[[], Any], Callable[[Any], tuple[Any, Any]]]:
        torch = self.torch
        data = self._upload(x)

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

    def _upload(self, x: Floats) -> Any:
        """Cases share their arrays' memory: the whole of it is uploaded once."""
        if self.device != "cuda":
            return self.torch.from_numpy(x)
        whole = x.base if isinstance(x.base, np.ndarray) and x.base.ndim == 1 else x.reshape(-1)
        if self.kept is None or self.kept[0] is not whole:
            self.kept = None  # before the next one comes
            self.torch.cuda.empty_cache()
            # Kept with the upload, so that no other array can pass for it.
            self.kept = whole, self.torch.from_numpy(whole).cuda()
        return self.kept[1][: x.size].reshape(x.shape)

    def seconds(self, call: Callable[[], Any]) -> list[float]:
        if self.device != "cuda":
            return super().seconds(call)
        cuda = self.torch.cuda
        started = time.perf_counter()
        call()
        cuda.synchronize()
        first = time.perf_counter() - started
        count = int(min(max(10, 0.15 / first), 100))
        events = [(cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)) for _ in range(count)]
        # The clocks first, as for our own kernels.
        end = time.perf_counter() + 0.4
        while time.perf_counter() < end:
            for _ in range(int(max(1, 0.01 / first))):
                call()
            cuda.synchronize()
        for begin, finish in events:
            begin.record()
            call()
            finish.record()
        cuda.synchronize()
        return [begin.elapsed_time(finish) * 1e-3 for begin, finish in events]


def _all() -> dict[str, Peer]:
    peers: list[Peer] = [NumPyPeer(), TorchPeer("cpu"), TorchPeer("cuda")]
    return {peer.name: peer for peer in peers}


#: By name; none is imported before its ``start``.
PEERS = _all()
