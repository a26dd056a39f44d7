"""A run held against the goals: pure functions of its results."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import geometric_mean, median
from typing import Any

Result = dict[str, Any]
Check = dict[str, Any]

_LARGE = 1 << 26  # elements from which on an argmax is a matter of reading alone


def checks(document: dict[str, Any]) -> list[Check]:
    """What was asked for, what came out, and whether it does; only of what was measured."""
    results = [r for r in document["cases"] if "device_us" in r]
    table = [r for r in results if not r["curve"]]
    random = [r for r in table if r["data"] == "random"]
    figures_hold = document["figures_hold"]
    if document["preset"] == "any":
        return [*_any_shape(random, document["adapter"]["adapter_type"] == "CPU"), *_spread(table), *_host(document)]
    goals = [(f"{r['case']} {r['data']}", r["ratio_to_goal"]) for r in table if r.get("ratio_to_goal")]
    large = [r for r in random if r["operator"] == "argmax" and math.prod(r["shape"]) >= _LARGE]
    reading = [(r["case"], r["share_of_ceiling"]) for r in large]
    return [
        *_worst("device time to the goal", goals if figures_hold else [], "<=", 1.0),
        *_peers(random, document["preset"], figures_hold),
        *_worst("share of the read ceiling, large argmax", reading, ">=", 0.97),
        *_spread(table),
        *_growth(results),
        *_memory(random),
        *_host(document),
    ]


def _check(name: str, value: float, sign: str, bound: float, detail: str = "") -> Check:
    met = value <= bound if sign == "<=" else value >= bound
    return {"name": name, "value": value, "sign": sign, "bound": bound, "met": bool(met), "detail": detail}


def _worst(name: str, values: list[tuple[str, float]], sign: str, bound: float) -> Iterable[Check]:
    """One check for all cases: the worst value, where it is, and how many keep the bound."""
    if not values:
        return
    case, value = (max if sign == "<=" else min)(values, key=lambda v: v[1])
    met = sum(v <= bound if sign == "<=" else v >= bound for _, v in values)
    yield _check(name, value, sign, bound, f"{met} of {len(values)}; worst {case}")


def peer_us(result: Result, name: str) -> float | None:
    peer = result.get("peers", {}).get(name, {})
    return peer.get("us") if peer.get("correct", True) else None


def _peers(random: list[Result], preset: str, figures_hold: bool) -> Iterable[Check]:
    """Peers of this run, else their figures from another on an adapter of the same name."""
    if preset == "software":
        yield from _software_peers(random)

    for name, smallest in (("torch", 0), ("RAFT", 0), ("CUB", 1 << 22)) if preset in ("gpu", "large-k") else ():
        # CUB's figure settles no order; below 2^22 elements it is not asked for.
        others = [(r, _other_us(r, name, figures_hold)) for r in random if math.prod(r["shape"]) >= smallest]
        yield from _worst(f"device time to {name}'s", [(r["case"], r["device_us"] / o) for r, o in others if o], "<=", 1.0)
    if preset != "gpu":
        return
    tops = [(_other_us(r, "torch", figures_hold), r["device_us"]) for r in random if r["operator"] == "topk"]
    speedups = [other / ours for other, ours in tops if other]
    if speedups:
        yield _check("times as fast as torch, geometric mean of the top-k rows", geometric_mean(speedups), ">=", 10.0)


def _other_us(result: Result, name: str, figures_hold: bool) -> float | None:
    return peer_us(result, name) or (result["figures"].get(name.lower()) if figures_hold else None)


def _software_peers(random: list[Result]) -> Iterable[Check]:
    """By the host's clock where it was used, results read back, as these peers are timed."""
    for r in random:
        elements, length = math.prod(r["shape"]), r["shape"][r["axis"]]
        resident: float = r["tensor_to_numpy_us" if "tensor_to_numpy_us" in r else "device_us"]
        other = peer_us(r, "ort-webgpu")
        if other:
            # A dozen elements cost a submission and a read-back, whoever does it.
            wanted = 50.0 if r["operator"] == "topk" and elements > 1000 else 1.0
            yield _check(f"times as fast as ONNX Runtime's WebGPU, {r['case']}", other / resident, ">=", wanted)
        other = peer_us(r, "numpy")
        if other and r["operator"] == "topk" and (length >= 1 << 20 or (length, r["k"]) == (50257, 50)):
            yield _check(f"times as fast as NumPy's argpartition, {r['case']}", other / resident, ">=", 3.0)
        if other and r["operator"] == "argmax" and r["axis"] == 0 and elements > length:
            yield _check(f"times as fast as NumPy, {r['case']}", other / resident, ">=", 1.0)


def _spread(table: list[Result]) -> Iterable[Check]:
    times: dict[str, dict[str, float]] = {}
    for r in table:
        if r["data"] != "shared_leading_bits":  # timed, but no part of the goal
            times.setdefault(r["case"], {})[r["data"]] = r["device_us"]
    spreads = [
        (f"{case}, slowest {max(t, key=lambda kind: t[kind])}", max(t.values()) / min(t.values()))
        for case, t in times.items()
        if len(t) > 1
    ]
    yield from _worst("slowest to fastest kind of data", spreads, "<=", 1.3)


def curves(results: list[Result]) -> dict[str, list[tuple[float, float]]]:
    """(x, microseconds) of each growth curve's points, by what grows."""
    points: dict[str, list[tuple[float, float]]] = {}
    for r in results:
        if r["curve"] and "device_us" in r:
            length = r["shape"][r["axis"]]
            by = r["k"] if r["curve"].endswith("by k") else math.prod(r["shape"]) // (1 if r["shape"][0] == 1 else length)
            points.setdefault(r["curve"], []).append((by, r["device_us"]))
    return {name: sorted(p) for name, p in points.items()}


def _growth(results: list[Result]) -> Iterable[Check]:
    for name, points in curves(results).items():
        if len(points) < 2:
            continue
        if name.endswith("by k"):
            grown = points[-1][1] / points[0][1]
            yield _check(f"{name}: k = {points[-1][0]} to k = {points[0][0]}", grown, "<=", 1.25)
        else:
            each = [time / count for count, time in points]
            yield _check(f"{name}: largest to smallest time an element or row", max(each) / min(each), "<=", 1.15)


def _memory(random: list[Result]) -> Iterable[Check]:
    few = [(r["case"], r["scratch_share"]) for r in random if r["k"] * 32 <= r["shape"][r["axis"]]]
    yield from _worst("scratch to input, k << n", few, "<=", 0.02)
    sorts = [(r["case"], r["scratch_share"]) for r in random if r["operator"] == "sort"]
    yield from _worst("scratch to input, sort", sorts, "<=", 2.0)


def _any_shape(random: list[Result], software: bool) -> Iterable[Check]:
    """What random problems take beside the floor, and beside torch."""
    far = [r["times_floor"] for r in random]
    if not far:
        return
    mean, most, worst = (3.0, 10.0, 25.0) if software else (1.7, 4.0, 8.0)
    yield _check("times the floor, geometric mean", geometric_mean(far), "<=", mean, f"median {median(far):.2f}")
    yield _check(f"share of the cases within {most:g} times the floor", sum(f <= most for f in far) / len(far), ">=", 0.9)
    yield from _worst("times the floor, each case", [(r["case"], r["times_floor"]) for r in random], "<=", worst)
    pairs = [(peer_us(r, "torch"), r["device_us"]) for r in random]
    large = [other / ours for other, ours in pairs if other and ours > 25]
    if large:
        yield _check("times as fast as torch, geometric mean of the cases over 25 us", geometric_mean(large), ">=", 5.0)
    few = [(r["case"], r["scratch_share"]) for r in random if r["k"] * 16 <= r["shape"][r["axis"]]]
    yield from _worst("scratch to input, k up to a sixteenth of the axis", few, "<=", 0.3)


def _host(document: dict[str, Any]) -> Iterable[Check]:
    calls = document.get("calls")
    if calls and "error" not in calls:
        for name, ratio in calls["tensor_to_tensor_ratio"].items():
            yield _check(f"cached {name}, Tensor to Tensor, to a bare submit", ratio, "<=", calls["tensor_to_tensor_goal"])
        for name, ratio in calls["numpy_to_numpy_ratio"].items():
            yield _check(f"{name} of 1024, NumPy to NumPy, to a bare round trip", ratio, "<=", calls["numpy_to_numpy_goal"])
    transfers = document.get("transfers")
    if transfers and "error" not in transfers:
        for way, share in transfers["share_of_best"].items():
            rate = transfers["bytes_per_second"][way] / 1e9
            yield _check(f"bulk {way}, share of the best bare one", share, ">=", 0.9, f"{rate:.1f} GB/s")
