"""One whole run: every case on every kind of data, timed and checked, whatever fails."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

import wgdml
from wgdml.runtime.executor import PreparedPlan, record_steps
from wgdml.selection import Layout, Order, Selection, make_selection

from . import oracle, timing
from .cases import DATA_KINDS, DTYPES, Case
from .data import make
from .peers import Peer

Result = dict[str, Any]


@dataclass
class Options:
    """What a run does beside timing and checking on the device."""

    data: tuple[str, ...] = ()  #: Kinds for every case; empty: as the case says.
    peers: tuple[Peer, ...] = ()
    end_to_end: bool = True  #: Also Tensor to NumPy and NumPy to NumPy, by the host's clock.
    explain: bool = False  #: Also every dispatch by itself.
    peer_elements: int = 1 << 24  #: The most for peers that are not meant for large inputs.
    algorithms: tuple[str, ...] = ()  #: Forced one after the other, beside the one that is chosen.


def kinds_of(case: Case, options: Options) -> tuple[str, ...]:
    return options.data or (DATA_KINDS if case.all_data else ("random",))


def _read(results: Sequence[Any]) -> tuple[Any, Any]:
    """Values, or None where there are only indices, and indices as arrays."""
    *values, indices = wgdml.to_numpy(*results)
    return (values[0] if values else None), indices


@dataclass
class Prepared:
    """A case bound to buffers: ready to be recorded any number of times."""

    plan: PreparedPlan
    resources: dict[str, tuple[Any, int]]
    results: list[wgdml.Tensor]  #: Values, but of argmax, and indices.

    def record(self, compute_pass: Any) -> None:
        record_steps(compute_pass, self.plan.steps(self.resources))

    def answer(self) -> tuple[NDArray[Any] | None, NDArray[np.uint32]]:
        return _read(self.results)


def selection_of(case: Case) -> Selection:
    """The case with packed inputs and outputs and uint32 indices."""
    packed = Layout.packed(case.result_shape)
    argmax = case.operator == "argmax"
    return make_selection(
        case.dtype,
        Layout.packed(case.shape),
        (case.axis,),
        case.k,
        Order.MAXIMUM if argmax else Order.DESCENDING,
        values=None if argmax else packed,
        indices=packed,
    )


def prepare(device: wgdml.Device, case: Case, x: wgdml.Tensor, **options: Any) -> Prepared:
    """The case's plan on this input. Outputs start as what no answer is."""
    shape, argmax = case.result_shape, case.operator == "argmax"
    plan = device.prepare(selection_of(case), vectors=True, **options)
    resources = {"input": (x.buffer, 0)}
    results = []
    for name, dtype in {"indices": "uint32"}.items() if argmax else {"values": case.dtype, "indices": "uint32"}.items():
        nothing = np.full(prod(shape) * DTYPES[dtype], 0xFF, np.uint8).view(dtype).reshape(shape)
        results.append(wgdml.asarray(nothing, device=device))
        resources[name] = results[-1].buffer, 0
    return Prepared(plan, resources, results)


def _by_host(case: Case, x: Any, device: wgdml.Device, want: Any) -> tuple[float, str]:
    """Median microseconds of the host from ``x`` to NumPy results; and what is wrong with them."""

    def whole() -> tuple[Any, Any]:
        if case.operator == "argmax":
            return _read([wgdml.argmax(x, axis=case.axis, keepdims=True, device=device)])
        return _read(wgdml.top_k(x, case.k, axis=case.axis, device=device))

    values, indices = whole()
    problem = oracle.differences(want, (values, indices.astype(np.uint32)))
    return statistics.median(timing.by_host(whole)) * 1e6, problem


def _measured(clock: timing.Clock, case: Case, prepared: Prepared, want: Any) -> Result:
    """Device times of a plan, what it is made of, and what is wrong with its answer."""
    seconds, times = clock.median(prepared.record)
    plan = prepared.plan.plan
    return {
        "device_us": max(seconds, 1e-9) * 1e6,  # a coarse clock may tick not once
        "device_us_best": min(times) * 1e6,
        "device_us_worst": max(times) * 1e6,
        "passes": len(times),
        "scratch_bytes": plan.scratch_size,
        "scratch_share": plan.scratch_size / case.bytes,
        "algorithms": list(plan.algorithms),
        "dispatches": [d.kernel for d in plan.dispatches],
        "problem": oracle.differences(want, prepared.answer()),
    }


def run_case(clock: timing.Clock, case: Case, kind: str, options: Options) -> Result:
    device = clock.device
    host = make(kind, case)
    x = wgdml.asarray(host, device=device)
    prepared = prepare(device, case, x)
    want = oracle.answer(case, host)
    result = _facts(case, kind) | _measured(clock, case, prepared, want)
    us, problem = result["device_us"], result["problem"]
    result["read_bytes_per_second"] = case.bytes / us * 1e6
    if options.end_to_end and kind == "random":
        for key, given in (("tensor_to_numpy_us", x), ("numpy_to_numpy_us", host)):
            result[key], wrong = _by_host(case, given, device, want)
            problem = problem or (wrong and f"{key[:-3]}: {wrong}")
    if options.explain:
        result["steps"] = _explain(clock, prepared)
    if options.algorithms:
        result["forced"] = {a: _forced(clock, case, x, want, a) for a in options.algorithms}
        wrong = next((f"{name}: {f['problem']}" for name, f in result["forced"].items() if f.get("problem")), "")
        problem = problem or wrong
    result["peers"] |= _peers(case, kind, host, want, options)
    return result | {"exact": not problem, "problem": problem}


def _peers(case: Case, kind: str, host: NDArray[Any], want: Any, options: Options) -> dict[str, Any]:
    """What each peer that takes the case makes of it."""
    measured: dict[str, Any] = {}
    for peer in options.peers:
        if not (peer.on_gpu or (kind == "random" and case.elements <= options.peer_elements)):
            continue
        try:
            measured[peer.name] = peer.measure(case, host, want)
        except Exception as error:  # another library's trouble must not end the run
            measured[peer.name] = {"error": _one_line(error)}
    return measured


def _forced(clock: timing.Clock, case: Case, x: wgdml.Tensor, want: Any, algorithm: str) -> Result:
    """The case by another algorithm than the one that would be chosen."""
    try:
        return _measured(clock, case, prepare(clock.device, case, x, algorithm=algorithm), want)
    except (ValueError, MemoryError) as error:
        return {"error": _one_line(error)}


def _explain(clock: timing.Clock, prepared: Prepared) -> list[Result]:
    """Time of each dispatch: in a pass of its own, less an empty one; and what it adds."""
    steps = prepared.plan.steps(prepared.resources)
    empty = timing.empty_dispatch(clock.device, prepared.resources["input"][0])
    # In order and whole rounds: a dispatch finds what those before it left.
    rounds = min(20, timing.MOST_PASSES // (len(steps) + 1))
    alone = clock.time([empty, *(partial(record_steps, steps=[step]) for step in steps)], rounds)
    prefixes = clock.time([partial(record_steps, steps=steps[: i + 1]) for i in range(len(steps))], rounds)
    own = np.median(alone, axis=0)
    until = np.diff(np.median(prefixes, axis=0), prepend=0)
    return [
        {
            "kernel": d.kernel,
            "constants": dict(d.constants),
            "workgroups": list(d.grid),
            "alone_us": float(own[i + 1] - own[0]) * 1e6,
            "adds_us": float(until[i]) * 1e6,
        }
        for i, d in enumerate(prepared.plan.plan.dispatches)
    ]


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]


def _facts(case: Case, kind: str) -> Result:
    facts: Result = {"case": case.name, "operator": case.operator, "shape": list(case.shape), "axis": case.axis, "k": case.k}
    return facts | {"dtype": case.dtype, "data": kind, "peers": {}}


def try_case(clock: timing.Clock, case: Case, kind: str, options: Options) -> Result:
    """``run_case``, whose failure is a result too: the other cases still run."""
    try:
        return run_case(clock, case, kind, options)
    except Exception as error:
        return _facts(case, kind) | {"exact": False, "problem": "", "error": _one_line(error)}
    finally:
        gc.collect()


def hold_against(results: list[Result], ceiling: timing.Ceiling, empty_us: float) -> None:
    """Adds what reading the input takes at the ceiling, the share of it that was reached, and how
    many times the floor a case takes: its input and its results at the ceiling, and an empty pass.
    """
    for result in results:
        if "read_bytes_per_second" in result:
            a_us = ceiling.bytes_per_second / 1e6
            elements, size = prod(result["shape"]), DTYPES[result["dtype"]]
            chosen = elements // result["shape"][result["axis"]] * result["k"]
            written = chosen * (4 if result["operator"] == "argmax" else 4 + size)
            result["floor_us"] = elements * size / a_us
            result["share_of_ceiling"] = result["read_bytes_per_second"] / ceiling.bytes_per_second
            result["times_floor"] = result["device_us"] / (empty_us + (elements * size + written) / a_us)
