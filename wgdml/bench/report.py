"""A run's results as a table for people, and as charts."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.table import Table

__all__ = ["case_table", "steps_table"]

Result = dict[str, Any]


def us(value: float | None) -> str:
    """Microseconds to three figures."""
    if value is None:
        return ""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _state(result: Result) -> str:
    return "failed" if "error" in result else "yes" if result["exact"] else "WRONG"


def _runs(names: list[str]) -> str:
    """Names in order, each followed by how often it comes one after the other."""
    out: list[list[Any]] = []
    for name in names:
        if out and out[-1][0] == name:
            out[-1][1] += 1
        else:
            out.append([name, 1])
    return " ".join(name if count == 1 else f"{name}*{count}" for name, count in out)


def case_table(results: list[Result]) -> Table:
    peers = list(dict.fromkeys(name for r in results for name in r.get("peers", {})))
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    columns = ["case", "data", "device us", "floor us", "of ceiling", "goal us", "to goal", *(f"{p} us" for p in peers)]
    end_to_end = any("numpy_to_numpy_us" in r for r in results)
    columns += [*(["NumPy-NumPy us"] if end_to_end else []), "scratch", "exact", "algorithms", "dispatches"]
    left = {"case", "data", "exact", "algorithms"}
    for column in columns:
        table.add_column(column, justify="left" if column in left else "right", no_wrap=column != "algorithms")
    for r in results:
        row = [r["case"], r["data"], us(r.get("device_us")), us(r.get("floor_us"))]
        row += [f"{r['share_of_ceiling']:.0%}" if "share_of_ceiling" in r else "", us(r["goal_us"]), _ratio(r.get("ratio_to_goal"))]
        for name in peers:
            peer = r.get("peers", {}).get(name, {})
            mark = "" if peer.get("correct", True) else "!"
            row.append("failed" if "error" in peer else mark + us(peer.get("us")))
        if end_to_end:
            row.append(us(r.get("numpy_to_numpy_us")))
        row.append(f"{r['scratch_share']:.1%}" if "scratch_share" in r else "")
        row += [_state(r), _runs(r.get("algorithms", [])), str(len(r["dispatches"])) if "dispatches" in r else ""]
        table.add_row(*row, style=None if r["exact"] else "bold red")
    return table


def steps_table(result: Result) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, title_justify="left")
    table.title = f"{result['case']} {result['data']}: {us(result['device_us'])} us in one pass"
    for column in ("dispatch", "workgroups", "alone us", "adds us", "constants"):
        table.add_column(column, justify="left" if column in ("dispatch", "constants") else "right", no_wrap=column != "constants")
    shown = ("WORKGROUP", "TEAM", "GROUPS", "CAPACITY", "PER_LOAD", "UNROLL", "BINS", "TILE", "ITEMS", "TEAMS", "SUBGROUPS")
    for step in result["steps"]:
        grid = "x".join(str(n) for n in step["workgroups"] if n > 1) or "1"
        constants = " ".join(f"{name}={step['constants'][name]}" for name in shown if name in step["constants"])
        table.add_row(step["kernel"], grid, us(step["alone_us"]), us(step["adds_us"]), constants)
    return table
