"""The same input gives the same bits: every run, adapter and algorithm, any number of threads."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import data
import numpy as np
import oracle
import pytest
from planning import ALGORITHMS, SERIAL, SPANS, STEPS, planned_device

import wgdml
from wgdml.runtime.adapter import wgpu

#: Data full of ties: only the rule about indices tells their orders apart.
CASES = {
    "row": data.make("few_distinct", "float32", (1, 20_000), 1),
    "rows": data.make("signed_zeros", "float16", (50, 700), 2),
    "columns": data.make("nan_payloads", "float64", (500, 40), 3),
    "bytes": data.make("eight_values", "uint8", (3, 4_000), 4),
}
AXES = {"columns": 0}
K = 37


def in_tens(x: np.ndarray) -> np.ndarray:
    """With a third dimension, of ten elements."""
    return x.reshape(len(x), -1, 10)


Answers = dict[str, tuple[np.ndarray, ...]]
Call = Callable[[np.ndarray, int, wgdml.Device], tuple[np.ndarray, ...]]

CALLS: dict[str, Call] = {
    "top_k": lambda x, axis, device: tuple(wgdml.top_k(x, K, axis=axis, device=device)),
    "few": lambda x, axis, device: tuple(wgdml.top_k(x, 9, axis=axis, device=device)),
    "smallest": lambda x, axis, device: tuple(wgdml.top_k(x, K, axis=axis, mode="smallest", device=device)),
    "argsort": lambda x, axis, device: (wgdml.argsort(x, axis=axis, device=device),),
    "argmax": lambda x, axis, device: (wgdml.argmax(x, axis=axis, device=device),),
    "argmin": lambda x, axis, device: (wgdml.argmin(x, axis=axis, select_last_index=True, device=device),),
    "two axes": lambda x, axis, device: (wgdml.argmax(in_tens(x), axis=(0, 2), device=device),),
}
#: What every algorithm answers of each case. Each call is kernels of its own, so the cases take
#: them in turn.
FORCED = {
    "row": ("top_k", "argsort", "argmax"),
    "rows": ("few", "argsort", "argmin"),
    "columns": ("smallest", "argmax"),
    "bytes": ("smallest", "argmin", "two axes"),
}


def answers(device: wgdml.Device, name: str, calls: Iterable[str] = CALLS) -> Answers:
    return {call: CALLS[call](CASES[name], AXES.get(name, 1), device) for call in calls}


def digest(results: Answers) -> str:
    total = hashlib.sha256()
    for name in sorted(results):
        for array in results[name]:
            total.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return total.hexdigest()


def reference(name: str) -> Answers:
    x, axis = CASES[name], AXES.get(name, 1)
    return {
        "top_k": oracle.top_k(x, K, axis),
        "few": oracle.top_k(x, 9, axis),
        "smallest": oracle.top_k(x, K, axis, largest=False),
        "argsort": (oracle.argsort(x, axis),),
        "argmax": (oracle.argmax(x, axis),),
        "argmin": (oracle.argmin(x, axis, select_last=True),),
        "two axes": (oracle.argmax(in_tens(x), (0, 2)),),
    }


@pytest.fixture(scope="module")
def expected() -> dict[str, Answers]:
    return {name: reference(name) for name in CASES}


def test_runs_adapters_and_threads_agree(device, expected):
    """One digest of each case, whoever computes it."""
    digests = {name: digest(results) for name, results in expected.items()}
    devices = [device, wgdml.Device()]
    for adapter in wgpu.gpu.enumerate_adapters_sync():
        try:
            devices.append(wgdml.Device(adapter=adapter))
        except wgdml.NoAdapterError as error:  # a driver may list an adapter that cannot compute
            assert "gives no device that can compute" in str(error)
    for each in devices:
        for name in CASES:
            assert digest(answers(each, name)) == digests[name], (name, each)
    for threads in (1, 8):
        with ThreadPoolExecutor(threads) as pool:
            jobs = [(name, pool.submit(answers, device, name)) for _ in range(2) for name in CASES]
            for name, job in jobs:
                assert digest(job.result()) == digests[name], (name, threads)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_algorithms_agree(device, expected, algorithm):
    own, planned = planned_device(device, algorithm, algorithm in SERIAL, fallback=True)
    for name, calls in FORCED.items():
        wanted = {call: expected[name][call] for call in calls}
        assert digest(answers(own, name, calls)) == digest(wanted), (name, algorithm)
    assert planned.served or algorithm in STEPS | SPANS, "the other algorithms answered in its place"
