"""A run's results as tables for people, and as a chart."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import cycle, groupby
from statistics import geometric_mean
from typing import Any

import numpy as np
from rich.table import Table

from wgdml.terminal import table_of

Result = dict[str, Any]


def us(value: float | None) -> str:
    """Microseconds to three figures."""
    if value is None:
        return ""
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:,.0f}"


def _runs(names: list[str]) -> str:
    """Names in order; ``*n`` where one comes n times in a row."""
    counts = [(name, len(list(run))) for name, run in groupby(names)]
    return " ".join(name if count == 1 else f"{name}*{count}" for name, count in counts)


def _cell(key: str, how: str = "{}", of: Callable[[Any], Any] = lambda value: value) -> Callable[[Result], str]:
    """What a column shows of a result: a value of it, if it has one."""
    return lambda r: how.format(of(r[key])) if r.get(key) is not None else ""


def case_table(results: list[Result]) -> Table:
    """One row a result."""
    columns = {"case": _cell("case"), "data": _cell("data")}
    columns |= {"device us": _cell("device_us", of=us), "floor us": _cell("floor_us", of=us)}
    columns["GB/s"] = _cell("read_bytes_per_second", "{:,.1f}", lambda rate: rate / 1e9)
    columns |= {"of ceiling": _cell("share_of_ceiling", "{:.0%}"), "times floor": _cell("times_floor", "{:.1f}")}
    peers = dict.fromkeys(name for r in results for name in r.get("peers", {}))
    columns |= {f"{name} us": partial(_of_peer, name) for name in peers}
    if any("numpy_to_numpy_us" in r for r in results):
        columns["Tensor-NumPy us"] = _cell("tensor_to_numpy_us", of=us)
        columns["NumPy-NumPy us"] = _cell("numpy_to_numpy_us", of=us)
    columns |= {"scratch": _cell("scratch_share", "{:.1%}"), "exact": _state}
    columns |= {"algorithms": _cell("algorithms", of=_runs), "dispatches": _cell("dispatches", of=len)}
    table = table_of([*columns], ("case", "data", "exact", "algorithms"), folded=("algorithms",))
    for r in results:
        table.add_row(*(cell(r) for cell in columns.values()), style=None if r["exact"] else "bold red")
    return table


def _state(result: Result) -> str:
    return "failed" if "error" in result else "yes" if result["exact"] else "WRONG"


def _of_peer(name: str, r: Result) -> str:
    """A peer's time; an exclamation mark where its answer is another."""
    peer = r.get("peers", {}).get(name, {})
    return "failed" if "error" in peer else ("" if peer.get("correct", True) else "!") + us(peer.get("us"))


def steps_table(result: Result) -> Table:
    title = f"{result['case']} {result['data']}: {us(result['device_us'])} us in one pass"
    columns = ("dispatch", "workgroups", "alone us", "adds us", "constants")
    table = table_of(columns, ("dispatch", "constants"), folded=("constants",), title=title)
    hidden = {"KEY_WORDS", "MINUS", "ELEMENT_BYTES", "HAS_VALUES"}
    for step in result["steps"]:
        grid = "x".join(str(n) for n in step["workgroups"] if n > 1) or "1"
        constants = " ".join(f"{name}={n}" for name, n in step["constants"].items() if name not in hidden and n)
        table.add_row(step["kernel"], grid, us(step["alone_us"]), us(step["adds_us"]), constants)
    return table


def forced_table(results: list[Result]) -> Table:
    columns = ("case", "data", "forced", "device us", "to the chosen", "scratch", "dispatches", "")
    table = table_of(columns, ("case", "data", "forced", ""))
    for r in results:
        for name, f in sorted(r.get("forced", {}).items(), key=lambda item: item[1].get("device_us", math.inf)):
            if "error" in f:
                table.add_row(r["case"], r["data"], name, "", "", "", "", f["error"])
                continue
            row = [
                us(f["device_us"]),
                f"{f['device_us'] / r['device_us']:.2f}",
                f"{f['scratch_share']:.1%}",
                str(len(f["dispatches"])),
            ]
            chosen = "chosen" if f["dispatches"] == r["dispatches"] else _runs(f["algorithms"])
            table.add_row(r["case"], r["data"], name, *row, f["problem"] or chosen, style="bold red" if f["problem"] else None)
    return table


def summary(results: list[Result]) -> list[str]:
    """What all say together: how far from the floor they are, and how much kinds of data differ."""
    table = [r for r in results if "times_floor" in r]
    far = sorted(r["times_floor"] for r in table if r["data"] == "random")
    lines = []
    if far:
        mean, most = geometric_mean(far), far[len(far) * 9 // 10]
        lines.append(f"times the floor: {mean:.2f} (geometric mean), 90% within {most:.1f}, the worst {far[-1]:.1f}")
    times: dict[str, dict[str, float]] = {}
    for r in table:
        times.setdefault(r["case"], {})[r["data"]] = r["device_us"]
    spreads = {case: max(t.values()) / min(t.values()) for case, t in times.items() if len(t) > 1}
    if spreads:
        worst = max(spreads, key=lambda case: spreads[case])
        slowest = max(times[worst], key=lambda kind: times[worst][kind])
        lines.append(f"slowest to fastest kind of data: at most {spreads[worst]:.2f}, {worst}, slowest {slowest}")
    return lines


# Validated for colour-blind readers; the measured thing first, others after it.
_COLOURS = ("#2a78d6", "#eb6834", "#1baf7a", "#eda100", "#4a3aa7", "#e34948", "#e87ba4", "#008300")


def draw(document: dict[str, Any], file: str) -> None:
    """The chart: every case's time beside floor and peers."""
    from matplotlib.figure import Figure

    rows = [r for r in document["cases"] if r["data"] == "random" and "device_us" in r]
    rows = rows or [r for r in document["cases"] if "device_us" in r]
    height = max(3.5, 0.42 * len(rows) + 1.6)
    figure = Figure(figsize=(9, height), layout="constrained")
    axes: Any = figure.add_subplot()
    _draw_cases(axes, rows)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12 * 4 / height), ncols=5, frameon=False, fontsize="small")
    dtypes = ", ".join(dict.fromkeys(r["dtype"] for r in document["cases"]))
    figure.suptitle(f"{document['adapter']['device']}, {dtypes}, {document['when'][:10]}", fontsize="medium")
    figure.savefig(file, dpi=130)


def _draw_cases(axes: Any, rows: list[Result]) -> None:
    names = list(dict.fromkeys(name for r in rows for name in r["peers"]))
    places = range(len(rows))
    # Points, not bars: on a log scale a bar's length means nothing.
    axes.scatter(
        [r["device_us"] for r in rows], places, s=60, marker="D", color=_COLOURS[0], label="wgdml", zorder=5, edgecolors="white"
    )
    for colour, name in zip(cycle(_COLOURS[1:]), names, strict=False):
        times = [r["peers"].get(name, {}).get("us", math.nan) for r in rows]
        axes.scatter(times, places, s=28, color=colour, label=name, zorder=4, edgecolors="white")
    x, y = np.array([r.get("floor_us") or math.nan for r in rows]), np.array(places)
    axes.vlines(x, y - 0.4, y + 0.4, "#0b0b0b", linewidth=1.4, label="input read once", zorder=3)
    axes.set_yticks(list(places), [r["case"] for r in rows])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("microseconds (log scale)")
    axes.grid(color="#e1e0d9", linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
