"""The same input gives the same bits: every run and adapter, any number of threads.

Every algorithm gives the oracle's bits: tests/kernels/test_every_algorithm.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import data
import numpy as np
import oracle
from planning import KEPT

import wgdml
from wgdml.plan import Planner
from wgdml.runtime.adapter import _all

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


def answers(device: wgdml.Device, name: str) -> Answers:
    return {call: CALLS[call](CASES[name], AXES.get(name, 1), device) for call in CALLS}


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


def test_runs_adapters_and_threads_agree(device):
    """One digest of each case, whoever computes it."""
    digests = {name: digest(reference(name)) for name in CASES}
    for adapter in (None, *_all()):
        try:
            own = wgdml.Device(adapter=adapter, planner=Planner, kept=KEPT)
        except wgdml.NoAdapterError as error:  # a driver may list an adapter that cannot compute
            assert "gives no device that can compute" in str(error)
            continue
        with own:  # each closes before the next opens: a software adapter's kernels are large
            for name in CASES:
                assert digest(answers(own, name)) == digests[name], (name, own)
    for threads in (1, 8):
        with ThreadPoolExecutor(threads) as pool:
            jobs = [(name, pool.submit(answers, device, name)) for _ in range(2) for name in CASES]
            for name, job in jobs:
                assert digest(job.result()) == digests[name], (name, threads)
