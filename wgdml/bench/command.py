"""``wgdml bench``."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import MofNCompleteColumn, TimeElapsedColumn

import wgdml
from wgdml import Device, Tensor
from wgdml.plan import ALGORITHMS, Machine, Planner
from wgdml.runtime.profile import policies_of
from wgdml.selftest import facts_of
from wgdml.terminal import check_writable, output_of, progress, write_document

from . import report, run, timing
from .cases import DATA_KINDS, DTYPES, PRESETS, Case, choose, draw, with_dtypes
from .data import make_flat
from .peers import PEERS, Peer

_EPILOG = """\b
Examples:
  wgdml bench --quick
  wgdml bench --json results.json --plot results.png
  wgdml bench --cases 'topk:1x2^28:*' --data all --peers none --explain
  wgdml bench --cases topk:64x50257:k1000,argmax:500x300:axis0:int64
  wgdml bench --dtype float16,int32 --data all --device-only

Device times are medians of many passes submitted at once, the clocks warm and the data on the device. Every answer
is checked to the bit. Exit status: 0 all exact, 1 a wrong answer or a failed case, 2 bad input."""


@click.command("bench", epilog=_EPILOG)
@click.option(
    "--cases",
    "patterns",
    metavar="PATTERN",
    help="Only the cases whose names match (* and ?), or cases of your own; comma-separated.",
)
@click.option("--data", metavar="KINDS", help=f"Kinds of data for every case: {', '.join(DATA_KINDS)}, or all.")
@click.option("--dtype", metavar="NAMES", default="float32", help="Types for every case: float16, int64, ..., or all.")
@click.option("--preset", type=click.Choice([*PRESETS]), help="The table of cases.  [default: by the kind of adapter]")
@click.option("--seed", type=click.IntRange(0), help="Of the random cases of --preset any.  [default: 1]")
@click.option("--count", type=click.IntRange(1), help="How many random cases --preset any has.  [default: 60]")
@click.option("--quick", is_flag=True, help="A small table: seconds on any adapter.")
@click.option("--peers", default="auto", metavar="NAMES", help="Libraries to time beside it: names, auto, all or none.")
@click.option("--device-only", is_flag=True, help="Only device time: not Tensor to NumPy nor NumPy to NumPy.")
@click.option("--explain", is_flag=True, help="Also the time of every dispatch.")
@click.option("--algorithms", metavar="NAMES", help="Also every case by these algorithms, or all, in place of the chosen one.")
@click.option("--policies", metavar="NAME=N,...", default="", help="Plan with these numbers in place of the policies' own.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help="Write it all to FILE.")
@click.option("--plot", "plot_file", type=click.Path(dir_okay=False, writable=True), metavar="FILE.png", help="Draw a chart.")
@click.option("--list", "list_cases", is_flag=True, help="Name the cases and stop.")
def bench_command(
    patterns: str | None,
    data: str | None,
    dtype: str,
    preset: str | None,
    seed: int | None,
    count: int | None,
    quick: bool,
    peers: str,
    device_only: bool,
    explain: bool,
    algorithms: str | None,
    policies: str,
    json_file: str | None,
    plot_file: str | None,
    list_cases: bool,
) -> int:
    """Time every operator on the device beside other libraries, and check every answer."""
    _check_preset(preset, quick, seed, count)
    kinds = _some("--data", data, DATA_KINDS)
    dtypes = _some("--dtype", dtype, DTYPES)
    names = _some("--peers", {"none": None, "auto": "all"}.get(peers, peers), PEERS, "auto, all, none or some of")
    forced = _some("--algorithms", algorithms, ALGORITHMS)
    numbers = _numbers(policies)
    _check_files(json_file, plot_file)
    device = wgdml.Device(planner=partial(_planner, numbers)) if numbers else wgdml.default_device()
    software = device.machine.software
    name, most = preset or ("quick" if quick else "software" if software else "gpu"), device.machine.max_buffer_size
    seed = 1 if seed is None else seed
    table = draw(seed, count or 60, min(_LARGEST_DRAWN[software], most)) if name == "any" else PRESETS[name]
    cases = _cases(table, patterns, dtypes, device)
    if list_cases:
        click.echo("\n".join(dict.fromkeys(case.name for case in cases)))
        return 0

    # Peers that are asked for by name take whatever comes.
    limit = _PEER_ELEMENTS[software] if peers == "auto" else 1 << 32
    options = run.Options(kinds, (), not device_only, explain, limit, forced)
    document = facts_of(device) | {"complete": False, "preset": name, "seed": seed, "cases": []}
    document |= {"policies": numbers} if numbers else {}
    ceiling = _measure(document, device, cases, options, names, json_file)
    if plot_file:
        report.draw(document, plot_file)
    return _print(document, ceiling, bool(forced))


#: Bytes of the largest case that is drawn: for a GPU, for a software adapter.
_LARGEST_DRAWN = 1 << 28, 2_000_000
#: The most elements for peers not meant for large inputs: beside a GPU, beside a software adapter.
_PEER_ELEMENTS = 1 << 24, 1 << 26


def _check_preset(preset: str | None, quick: bool, seed: int | None, count: int | None) -> None:
    if quick and preset not in (None, "quick"):
        raise click.UsageError(f"--quick and --preset {preset} are two tables of cases: give one of them")
    if preset != "any" and (seed, count) != (None, None):
        raise click.UsageError("--seed and --count are for --preset any, whose cases are drawn at random")


def _check_files(json_file: str | None, plot_file: str | None) -> None:
    if plot_file and Path(plot_file).suffix not in (".png", ".svg", ".pdf"):
        raise click.UsageError(f"--plot {plot_file}: the name must end in .png, .svg or .pdf")
    if plot_file and not find_spec("matplotlib"):
        raise click.UsageError('--plot needs matplotlib: pip install "wgdml[bench]"')
    for file in filter(None, (json_file, plot_file)):
        check_writable(file)


def _cases(table: tuple[Case, ...], patterns: str | None, dtypes: tuple[str, ...], device: Device) -> list[Case]:
    """The cases to run. Those of the table that do not fit the device are left out."""
    try:
        cases = choose(table, patterns)
    except ValueError as problem:
        raise click.UsageError(f"--cases: {problem}; --list has those of the table") from None
    cases = with_dtypes(cases, dtypes)
    if patterns:
        most = device.machine.max_buffer_size
        for case in cases:
            if case.largest > most:
                size = f"{case.largest} bytes are over this device's largest buffer of {most} bytes"
                raise click.UsageError(f"--cases {case.name}: its {size}")
        return cases
    fitting = [case for case in cases if _fits(case, device)]
    large = dict.fromkeys(case.name for case in cases if case not in fitting)
    if large:
        click.echo(f"left out, as this device's buffers are too small: {', '.join(large)}", err=True)
    if not fitting:
        raise click.UsageError("no case of the table fits this device: --cases takes other ones")
    return fitting


def _fits(case: Case, device: Device) -> bool:
    """Whether buffers hold the case's arrays and its plan's scratch."""
    try:
        return case.largest <= device.machine.max_buffer_size and bool(device.planner.plan(run.selection_of(case)))
    except MemoryError:
        return False


def _measure(
    document: dict[str, Any], device: Device, cases: list[Case], options: run.Options, names: tuple[str, ...], file: str | None
) -> timing.Ceiling:
    """Everything beside these peers, into the document and a file that grows; the fastest read."""
    started = time.perf_counter()
    with progress(44, MofNCompleteColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task("starting the other libraries", total=None)
        chosen, document["peers"] = _start(names)
        options = replace(options, peers=tuple(chosen))
        bar.update(task, total=2 + sum(len(run.kinds_of(case, options)) for case in cases))

        def starting(name: str) -> None:
            bar.update(task, description=name)

        starting("the adapter's fastest read")
        clock = timing.Clock(device)
        probe = _probe(cases, device)
        ceiling = timing.measure_ceiling(clock, probe.buffer)
        bar.advance(task)
        empty, _ = clock.median(timing.empty_dispatch(device, probe.buffer))
        document |= {"timer": clock.method, "ceiling": asdict(ceiling), "empty_pass_us": empty * 1e6}
        for case in cases:
            for kind in run.kinds_of(case, options):
                starting(f"{case.name} {kind}")
                document["cases"].append(run.try_case(clock, case, kind, options))
                run.hold_against(document["cases"], ceiling, document["empty_pass_us"])
                write_document(file, document)  # what is done stays, whatever becomes of the rest
                bar.advance(task)
        # A machine may do other things too: the better of the two is nearer to the truth.
        starting("the adapter's fastest read, again")
        ceiling = max(ceiling, timing.measure_ceiling(clock, probe.buffer), key=lambda c: c.bytes_per_second)
    run.hold_against(document["cases"], ceiling, document["empty_pass_us"])
    document |= {"ceiling": asdict(ceiling), "seconds": time.perf_counter() - started, "complete": True}
    write_document(file, document)
    return ceiling


def _print(document: dict[str, Any], ceiling: timing.Ceiling, forced: bool) -> int:
    output = output_of(200)
    info = document["adapter"]
    output.print(f"{info['device']} ({info['adapter_type']}, {info['backend_type']}): {document['timer']}")
    shape = f"{ceiling.bytes >> 20} MiB, {ceiling.workgroups} workgroups, {ceiling.unroll} loads in flight"
    output.print(f"reads at most {ceiling.bytes_per_second / 1e9:,.1f} GB/s ({shape})")
    for name, state in document["peers"].items():
        output.print(f"{name}: {state}", markup=False, soft_wrap=True)
    output.print(report.case_table(document["cases"]))
    for result in document["cases"]:
        if "steps" in result:
            output.print(report.steps_table(result))
    if forced:
        output.print(report.forced_table(document["cases"]))
    for line in report.summary(document["cases"]):
        output.print(line, markup=False, soft_wrap=True)
    return _print_troubles(document, output)


def _print_troubles(document: dict[str, Any], output: Console) -> int:
    """What failed or was wrong, and the last line; the exit status."""
    results = document["cases"]
    bad = [r for r in results if not r["exact"]]
    for r in bad:
        text = f"{r['case']} {r['data']}: {r.get('error') or r['problem']}"
        output.print(text, style="bold red", markup=False, soft_wrap=True)
    for r in results:
        for name, peer in r["peers"].items():
            if trouble := peer.get("error") or peer.get("problem"):
                output.print(f"{name}, {r['case']} {r['data']}: {trouble}", markup=False, soft_wrap=True)
    output.print(f"{len(results) - len(bad)} of {len(results)} exact, {document['seconds']:.0f} s")
    return 1 if bad else 0


def _some(option: str, text: str | None, known: Iterable[str], words: str = "all or some of") -> tuple[str, ...]:
    """The names that an option was given, each once and known; ``all`` is all of them."""
    if text is None:
        return ()
    known = tuple(known)
    names = known if text == "all" else tuple(dict.fromkeys(n.strip() for n in text.split(",")))
    for name in names:
        if name not in known:
            raise click.UsageError(f"{option} {name}: it must be {words} {', '.join(known)}")
    return names


def _planner(numbers: dict[str, float], machine: Machine) -> Planner:
    try:
        return Planner(machine, policies_of(machine, numbers))
    except ValueError as problem:
        raise click.UsageError(f"--policies: {problem}") from None


def _numbers(text: str) -> dict[str, float]:
    numbers = {}
    for part in text.split(",") if text else ():
        name, _, number = part.strip().partition("=")
        if name in numbers:
            raise click.UsageError(f"--policies {name} is given twice")
        try:
            numbers[name] = float(number)
        except ValueError:
            raise click.UsageError(f"--policies {part}: it must be NAME=N, select_radix.min_k=64 for example") from None
    return numbers


def _start(names: tuple[str, ...]) -> tuple[list[Peer], dict[str, str]]:
    """The peers that can serve, and what each said."""
    chosen, states = [], {}
    for name in names:
        try:
            states[name] = PEERS[name].start()
            chosen.append(PEERS[name])
        except Exception as error:  # whatever another library raises when it cannot start
            # Long ones say at their end what is the matter.
            states[name] = "not run: " + (str(error).splitlines() or [type(error).__name__])[0][-120:]
    return chosen, states


def _probe(cases: list[Case], device: Device) -> Tensor:
    """What the ceiling is measured on: as much as the largest case reads, more than caches hold."""
    least, most = (1 << 20, 1 << 24) if device.machine.software else (1 << 26, 1 << 28)
    longest = max(case.bytes for case in cases) // 4
    count = min(max(longest, least), most, device.machine.max_buffer_size // 4)
    return wgdml.asarray(make_flat("random", count), device=device)
