"""The same input gives the same bits: at every run, on every adapter here, by every algorithm, from any number of threads."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor

import data
import numpy as np
import oracle
import pytest
from planning import ALGORITHMS, STEPS, planned_device

import wgdml
from wgdml.runtime.adapter import wgpu

#: Data full of ties: only the rule about indices tells their orders apart.
CASES = {
    "row": data.make("few_distinct", "float32", (1, 20_000), 1),
    "rows": data.make("signed_zeros", "float16", (50, 700), 2),
    "columns": data.make("nan_payloads", "float64", (900, 40), 3),
    "bytes": data.make("eight_values", "uint8", (3, 4_000), 4),
}
AXES = {"columns": 0}


def answers(device: wgdml.Device, name: str) -> dict[str, tuple[np.ndarray, ...]]:
    x, axis = CASES[name], AXES.get(name, 1)
    k = min(37, x.shape[axis])
    return {
        "top_k": tuple(wgdml.top_k(x, k, axis=axis, device=device)),
        "few": tuple(wgdml.top_k(x, 9, axis=axis, device=device)),
        "smallest": tuple(wgdml.top_k(x, k, axis=axis, mode="smallest", device=device)),
        "argsort": (wgdml.argsort(x, axis=axis, device=device),),
        "argmax": (wgdml.argmax(x, axis=axis, device=device),),
        "argmin": (wgdml.argmin(x, axis=axis, select_last_index=True, device=device),),
    }


def digest(results: dict[str, tuple[np.ndarray, ...]]) -> str:
    total = hashlib.sha256()
    for name in sorted(results):
        for array in results[name]:
            total.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return total.hexdigest()


def reference(name: str) -> dict[str, tuple[np.ndarray, ...]]:
    x, axis = CASES[name], AXES.get(name, 1)
    k = min(37, x.shape[axis])
    return {
        "top_k": oracle.top_k(x, k, axis),
        "few": oracle.top_k(x, 9, axis),
        "smallest": oracle.top_k(x, k, axis, largest=False),
        "argsort": (oracle.argsort(x, axis),),
        "argmax": (oracle.argmax(x, axis),),
        "argmin": (oracle.argmin(x, axis, select_last=True),),
    }


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    return {name: digest(reference(name)) for name in CASES}


def test_runs_adapters_and_threads_agree(device, expected):
    """One digest of each case, whoever computes it."""
    devices = [device, wgdml.Device()]
    for adapter in wgpu.gpu.enumerate_adapters_sync():
        try:
            devices.append(wgdml.Device(adapter=adapter))
        except wgdml.NoAdapterError as error:  # a driver may list an adapter that cannot compute
            assert "gives no device that can compute" in str(error)
    for each in devices:
        for name in CASES:
            assert digest(answers(each, name)) == expected[name], (name, each)
    for threads in (1, 8):
        with ThreadPoolExecutor(threads) as pool:
            jobs = [(name, pool.submit(answers, device, name)) for _ in range(2) for name in CASES]
            for name, job in jobs:
                assert digest(job.result()) == expected[name], (name, threads)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_algorithms_agree(device, expected, algorithm):
    own, planned = planned_device(device, algorithm, None, fallback=True)
    for name in CASES:
        assert digest(answers(own, name)) == expected[name], (name, algorithm)
    assert planned.served or algorithm in STEPS, "the other algorithms answered in its place"
