"""``wgdml selftest``: this adapter's answers beside NumPy's, in less than ten seconds."""

from __future__ import annotations

import json
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from . import functions
from ._version import __version__
from .runtime.adapter import NoAdapterError
from .runtime.device import Device, default_device
from .runtime.errors import VariableError

#: No check begins after this many seconds, so that a slow machine is through in ten too.
_LAST_START = 7.0


@dataclass(frozen=True)
class Check:
    """A call on the device and what NumPy answers."""

    name: str
    call: Callable[..., Any]  #: Takes the device.
    expected: Callable[[], Any]


#: A check and what went wrong, if anything.
Failure = dict[str, str]


def _stable_order(x: NDArray[Any], axis: int, descending: bool) -> NDArray[Any]:
    """NaN last, or first when descending; equal elements in ascending order of index both ways."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    backwards: NDArray[Any] = np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    order: NDArray[Any] = x.shape[axis] - 1 - backwards
    return order


def _data(dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Few values, so that many tie; among floats NaN, infinities, signed zeros and denormals."""
    random = np.random.default_rng(len(shape) * 1000 + shape[-1])
    x = random.integers(0, 60, shape).astype(dtype)
    if x.dtype.kind == "f":
        x = ((x - 30) / 7).astype(dtype)
        special = [np.nan, -np.inf, np.inf, -0.0, 0.0, np.finfo(dtype).smallest_subnormal]
        for i, value in enumerate(special):
            x.reshape(-1)[i::97] = value
    return x


def _top_k(x: NDArray[Any], k: int, axis: int, mode: str) -> tuple[NDArray[Any], NDArray[Any]]:
    indices = _stable_order(x, axis, mode == "largest").take(np.arange(k), axis)
    return np.take_along_axis(x, indices, axis), indices


def _checks_of(dtype: str, shape: tuple[int, ...], axis: int, k: int) -> Iterator[Check]:
    x = _data(dtype, shape)
    where = f"{dtype} {shape}, axis {axis}"
    for mode in ("largest", "smallest"):
        call: Any = partial(functions.top_k, x, k, axis=axis, mode=mode)
        yield Check(f"top_k {mode} of {where}, k {k}", call, partial(_top_k, x, k, axis, mode))
    for name in ("argmax", "argmin"):
        yield Check(f"{name} of {where}", partial(getattr(functions, name), x, axis=axis), partial(getattr(np, name), x, axis=axis))


def checks() -> list[Check]:
    """All checks, the most telling first."""
    found = list(_checks_of("float32", (16, 1000), 1, 5))
    found += _checks_of("float32", (200_003,), 0, 100)
    found += _checks_of("float32", (1000, 64), 0, 3)
    # Compiling shaders takes the time, and each size of element has its own: one direction each.
    for dtype in ("int32", "uint8", "int64", "float16", "float64", "int16", "uint32", "int8", "uint16", "uint64"):
        found += list(_checks_of(dtype, (3, 130), 1, 4))[::2]
    found += list(_checks_of("float32", (100_003,), 0, 5000))[:1]
    x = _data("float32", (4, 600))
    for descending in (False, True):
        name = f"argsort of float32 (4, 600), {'descending' if descending else 'ascending'}"
        found.append(Check(name, partial(functions.argsort, x, descending=descending), partial(_stable_order, x, -1, descending)))
    return found


def difference(got: Any, expected: NDArray[Any]) -> str:
    """What the first difference of two arrays is, bit for bit; empty if there is none."""
    a, b = np.asarray(got), np.asarray(expected)
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype} {a.shape}, expected {b.dtype} {b.shape}"
    bits = f"u{a.dtype.itemsize}"
    wrong = np.flatnonzero(np.ascontiguousarray(a).view(bits) != np.ascontiguousarray(b).view(bits))
    if not wrong.size:
        return ""
    at = int(wrong[0])
    return f"{wrong.size} of {a.size} elements differ, the first at {at}: {a.flat[at]!r}, expected {b.flat[at]!r}"


def _first_difference(got: Any, expected: Any) -> str:
    pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
    found = ((number, difference(ours, theirs)) for number, (ours, theirs) in enumerate(pairs))
    return next((f"result {number}: {what}" for number, what in found if what), "")


def run(device: Device) -> Iterator[Failure]:
    """The checks that there is time for, one after the other: what went wrong, or nothing."""
    start = time.monotonic()
    for check in checks():
        if time.monotonic() - start > _LAST_START:
            break
        try:
            what = _first_difference(check.call(device=device), check.expected())
        except Exception:
            what = traceback.format_exc()
        yield {"check": check.name, "what": what}


def versions() -> dict[str, str]:
    return {
        "wgdml": __version__,
        "wgpu": metadata.version("wgpu"),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def _adapter(device: Device) -> dict[str, str]:
    return {name: str(value) for name, value in device.adapter_info.items()}


def facts_of(device: Device) -> dict[str, Any]:
    """What a document of measurements begins with."""
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"schema": 1, "when": when, "versions": versions(), "adapter": _adapter(device)}


def report(device: Device | None, failures: list[Failure]) -> dict[str, Any]:
    facts: dict[str, Any] = {**versions()}
    if device is not None:
        limits = {name: value for name, value in sorted(device.limits.items()) if "compute" in name or "buffer" in name}
        facts |= {"adapter": _adapter(device), "chosen": device.adapter_reason}
        facts |= {"features": sorted(device.features), "limits": limits}
    return facts | {"failures": failures}


@click.command(
    "selftest",
    epilog="""\b
Examples:
  wgdml selftest
  WGDML_ADAPTER=1 wgdml selftest --json

Exit status: 0 all answers are right, 1 some are wrong or there is no adapter.""",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as one JSON object, failures or none.")
def command(as_json: bool) -> None:
    """Check this copy on this machine's adapter against NumPy, in less than ten seconds."""
    start = time.monotonic()
    device: Device | None = None
    outcomes: list[Failure] = []
    try:
        device = default_device()
        if not as_json:
            click.echo(f"checking wgdml {__version__} on {device!r}")
        for outcome in run(device):
            outcomes.append(outcome)
            if outcome["what"] and not as_json:
                click.echo(f"WRONG  {outcome['check']}")
    except VariableError:
        raise
    except NoAdapterError as problem:
        if as_json:
            click.echo(json.dumps(report(None, [{"check": "adapter", "what": str(problem)}])))
        raise
    except Exception:
        outcomes.append({"check": "adapter", "what": traceback.format_exc()})
    failures = [outcome for outcome in outcomes if outcome["what"]]
    done, total = len(outcomes), len(checks())
    seconds = time.monotonic() - start
    facts = report(device, failures) | {"checks": done, "of": total, "seconds": round(seconds, 2)}
    if as_json:
        click.echo(json.dumps(facts))
    elif failures:
        click.echo(json.dumps(facts, indent=2))
        click.echo(f"{len(failures)} of {done} checks failed. Please report it, with all of the above, to the project's issues.")
    else:
        rest = f"; {total - done} more were left out for lack of time" if done < total else ""
        click.echo(f"all {done} checks passed in {seconds:.1f} s{rest}")
    sys.exit(1 if failures else 0)
