"""``wgdml bench``."""

from __future__ import annotations

import json
import platform
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .cases import DATA_KINDS, PRESETS, choose

__all__ = ["bench_command"]


@click.command("bench")
@click.option("--cases", "patterns", metavar="PATTERN", help="Only the cases whose names match; comma-separated, * and ? allowed.")
@click.option("--data", metavar="KINDS", help=f"Kinds of data for every case: {', '.join(DATA_KINDS)}, or all.")
@click.option("--preset", type=click.Choice([*PRESETS]), help="The table of cases.  [default: by the kind of adapter]")
@click.option("--quick", is_flag=True, help="The small table: a few seconds on any adapter.")
@click.option("--peers", default="auto", metavar="NAMES", help="Libraries to time beside it: names, auto, all or none.")
@click.option("--growth/--no-growth", default=None, help="The growth curves.  [default: unless --cases or --quick]")
@click.option("--device-only", is_flag=True, help="Only device time: no NumPy to NumPy, host or transfer times.")
@click.option("--explain", is_flag=True, help="Also every dispatch's own time.")
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help="Write everything to FILE."
)
@click.option("--list", "list_cases", is_flag=True, help="Name the cases and stop.")
def bench_command(
    patterns: str | None,
    data: str | None,
    preset: str | None,
    quick: bool,
    peers: str,
    growth: bool | None,
    device_only: bool,
    explain: bool,
    json_file: str | None,
    list_cases: bool,
) -> int:
    """Time every operator on the device, and check every answer to the bit."""
    import wgdml

    from . import report, run, timing
    from .peers import PEERS

    device = wgdml.default_device()
    software = device.adapter_info["adapter_type"] == "CPU"
    table = PRESETS["quick" if quick else preset or ("software" if software else "gpu")]
    if growth is None:
        growth = not patterns and not quick
    cases = choose([*table.cases, *(table.curves if growth else ())], patterns)
    if not cases:
        raise click.UsageError(f"--cases {patterns} matches none of the cases; --list names them")
    if list_cases:
        for case in cases:
            click.echo(case.name)
        return 0
    kinds = None
    if data:
        kinds = DATA_KINDS if data == "all" else tuple(k.strip() for k in data.split(","))
        for kind in kinds:
            if kind not in DATA_KINDS:
                raise click.UsageError(f"--data {kind} is none of {', '.join(DATA_KINDS)}")

    errors = Console(stderr=True, highlight=False)
    started = time.perf_counter()
    document: dict[str, Any] = {
        "schema": 1,
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "preset": table.name,
        "source_of_figures": table.source,
        "versions": {
            "wgdml": wgdml.__version__,
            "wgpu": metadata.version("wgpu"),
            "numpy": metadata.version("numpy"),
            "python": platform.python_version(),
        },
        "adapter": {key: str(value) for key, value in device.adapter_info.items()},
        "peers": {},
    }
    chosen = []
    wanted = () if peers == "none" else (*PEERS,) if peers in ("all", "auto") else tuple(p.strip() for p in peers.split(","))
    for name in wanted:
        if name not in PEERS:
            raise click.UsageError(f"--peers {name} is none of {', '.join(PEERS)}")
        if peers == "auto" and not software and name != "torch":
            continue
        try:
            document["peers"][name] = PEERS[name].start()
            chosen.append(PEERS[name])
        except Exception as error:  # whatever another library raises when it cannot start
            document["peers"][name] = f"not run: {error}"
    options = run.Options(kinds, tuple(chosen), not device_only, explain)
    clock = timing.Clock(device)
    longest = max(case.elements for case in cases)
    probe = wgdml.asarray(run.make_flat("random", max(1 << 22, min(longest, 1 << 24 if software else 1 << 28))), device=device)
    ceiling = timing.measure_ceiling(clock, probe.buffer)
    document |= {"timer": clock.method, "ceiling": run.ceiling_facts(ceiling)}
    jobs = sum(len(run.kinds_of(case, options)) for case in cases)
    columns = (TextColumn("{task.description:44}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task("", total=jobs)
        first = True

        def progress(name: str) -> None:
            nonlocal first
            bar.update(task, description=name, advance=0 if first else 1)
            first = False

        document["cases"] = run.run_cases(clock, ceiling, cases, options, progress)
    document["seconds"] = time.perf_counter() - started

    output = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    info = device.adapter_info
    output.print(f"{info['device']} ({info['adapter_type']}, {info['backend_type']}): {clock.method}")
    output.print(
        f"reads at most {ceiling.bytes_per_second / 1e9:,.1f} GB/s ({ceiling.bytes >> 20} MiB, {ceiling.workgroups} workgroups, {ceiling.unroll} loads)"
    )
    output.print(report.case_table(document["cases"]))
    if explain:
        for result in document["cases"]:
            if "steps" in result:
                output.print(report.steps_table(result))
    bad = [r for r in document["cases"] if not r["exact"]]
    for result in bad:
        output.print(
            f"{result['case']} {result['data']}: {result.get('error') or result['problem']}", style="bold red", markup=False
        )
    if json_file:
        Path(json_file).write_text(json.dumps(document, indent=1, allow_nan=False) + "\n")
    output.print(f"{len(document['cases']) - len(bad)} of {len(document['cases'])} exact, {document['seconds']:.0f} s")
    return 1 if bad else 0
