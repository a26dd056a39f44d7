"""``wgdml tune``."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import click
from rich.progress import TaskProgressColumn, TimeElapsedColumn

import wgdml
from wgdml import Device
from wgdml.bench import timing
from wgdml.plan import Machine, Planner, numbers_of, ranges
from wgdml.plan.profiles import FAMILIES, changes, smaller
from wgdml.runtime import profile
from wgdml.selftest import facts_of
from wgdml.terminal import check_writable, output_of, progress, table_of, write_document

from .machine import Facts, measure
from .meter import DeviceMeter, problems
from .search import Numbers, Search

_EPILOG = """\b
Examples:
  wgdml tune
  wgdml tune --quick --dry-run
  wgdml tune --json tune.json
  wgdml tune --reset

What is faster here becomes this adapter's profile, a small file, which every later Device finds. wgdml info names it.
WGDML_PROFILE=off plans without it. Exit status: 0 done, 1 no adapter or a wrong answer, 130 interrupted (nothing is
written then)."""

_FULL_LARGE = 256  # workgroups by which a GPU of 132 processors reads at its full rate
_SMALLEST = 64  # the smallest share of it that a GPU is taken for


@dataclass(frozen=True)
class Effort:
    """How long a run may take, and on how many problems."""

    seconds: float
    problems: int
    unseen: int  #: Problems that judge at the end.
    most: int  #: Bytes of most of them. Some have up to 16 times as many.

    @staticmethod
    def of(software: bool, quick: bool) -> Effort:
        most = 1 << 20 if software or quick else 1 << 23
        seconds = 20.0 if quick else 300.0 if software else 120.0
        return Effort(seconds, *((50, 30) if quick else (200, 120)), most)


@click.command("tune", epilog=_EPILOG)
@click.option("--quick", is_flag=True, help="20 seconds in place of two minutes (five on a software adapter).")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help="Write it all to FILE.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and write no profile.")
@click.option("--reset", is_flag=True, help="Remove this adapter's profiles, and measure nothing.")
def tune_command(quick: bool, json_file: str | None, dry_run: bool, reset: bool) -> int:
    """Measure this adapter, and plan by what is faster on it from now on."""
    if reset and (quick or json_file or dry_run):
        raise click.UsageError("--reset measures nothing: give it alone")
    if json_file:
        check_writable(json_file)
    # First calls are timed as they are where nobody has compiled before.
    os.environ.setdefault("MESA_SHADER_CACHE_DISABLE", "true")
    device = wgdml.Device(planner=Planner, kept=256)
    if reset:
        return _reset(device)
    if not dry_run:
        with _said("write"):
            check_writable(str(profile.place_of(device.adapter_info)))
    with progress(32, TaskProgressColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task("the adapter", total=1.0)
        effort = Effort.of(device.machine.software, quick)
        document = tuned(device, effort, lambda doing, share: bar.update(task, description=doing, completed=share))
    write_document(json_file, document)
    written = ""
    try:
        if not dry_run and not document["wrong"]:
            with _said("write"):
                written = f"wrote {profile.write(device.adapter_info, document['when'], document['numbers'])}"
    finally:
        _print(document, written)
    return 1 if document["wrong"] else 0


@contextmanager
def _said(doing: str) -> Iterator[None]:
    """An error of what is done to the profile, as the command says it."""
    try:
        yield
    except (ImportError, OSError, RuntimeError) as problem:  # no module, right, room or home
        raise click.ClickException(f"cannot {doing} the profile: {problem}") from None


def _reset(device: Device) -> int:
    with _said("remove"):
        found = profile.files_of(device.adapter_info)
        for path in found:
            path.unlink(missing_ok=True)
            click.echo(f"removed {path}")
    if not found:
        click.echo("this adapter has no profile")
    return 0


def tuned(
    device: Device, effort: Effort, told: Callable[[str, float], None], start: Numbers | None = None, alone: bool = False
) -> dict[str, Any]:
    """Measures, searches and judges; what was found, as ``--json`` writes it.

    ``start``: numbers to start from in place of the machine's own. ``alone``: tries no table that
    ships with the library.
    """
    began = time.perf_counter()
    clock = timing.Clock(device, warm_seconds=0.0 if device.machine.software else 0.1)
    policies = Planner(device.machine).policies
    default = numbers_of(policies)
    meter = DeviceMeter(clock, problems(1, effort.problems, effort.most))
    if clock.warm_seconds:
        timing.measure_ceiling(clock, meter.buffer)  # and what keeps the device warm
    facts = measure(clock, meter.buffer, lambda doing: told(doing, 0.0))
    search = Search(
        meter,
        ranges(policies),
        dict(start or default),
        began + 0.85 * effort.seconds - time.perf_counter(),
        time.perf_counter,
        told=lambda doing, done: told(doing, 0.85 * done),
        leaps=_leaps(device.machine, facts, alone),
        first_calls=device.machine.software,
    )
    before = dict(search.numbers)
    after = search.run()
    told("problems not seen before", 0.85)
    unseen = DeviceMeter(clock, problems(2, effort.unseen, effort.most), meter.costs)
    judged = _judge(unseen, before, after, began + effort.seconds)
    # The more all gain, the more one may lose: from bad numbers most gain, and a few lose.
    if judged["gain"] < 1.0 or judged["gain"] * judged["worst"] < 0.5:
        after, judged = before, {"problems": 0, "gain": 1.0, "worst": 1.0, "first_calls": 1.0, "ratios": {}}
    return facts_of(device) | {
        "command": "tune",
        "timer": clock.method,
        "facts": asdict(facts),
        "numbers": changes(default, after),
        "changes": [asdict(change) for change in search.changes if after[change.name] != before[change.name]],
        "default": {name: default[name] for name in changes(default, after)},
        "judged": judged,
        "comparisons": search.compared,
        "wrong": meter.wrong + unseen.wrong,
        "seconds": time.perf_counter() - began,
    }


def _leaps(machine: Machine, facts: Facts, alone: bool) -> list[Numbers]:
    """Whole tables to try: a large GPU's, one by what reads, those of families of its kind."""
    # Profiles name what differs from a large GPU's numbers, which are the policies' own.
    large = numbers_of({name: type(policy)() for name, policy in Planner(machine).policies.items()})
    share = min(_SMALLEST, max(1, round(_FULL_LARGE / facts.full_workgroups)))
    tables = [] if machine.software else [smaller(n) for n in sorted({1, share})]
    if not alone:
        tables += [family.profile for family in FAMILIES if family.software == machine.software]
    return [large | numbers_of(table) for table in tables]


def _judge(meter: DeviceMeter, before: Numbers, after: Numbers, deadline: float) -> dict[str, Any]:
    """Old and new numbers beside each other, on problems that no number was chosen by."""
    plans = [(case, meter.plan(before, case), meter.plan(after, case)) for case in meter.problems]
    pairs = [(case, a, b) for case, a, b in plans if a is not None and b is not None and a != b]
    gains: list[float] = []
    slower: list[float] = []
    for pair in pairs:
        if gains and time.perf_counter() > deadline:
            break
        gains.append(meter.compare([pair], 3).gain)
        slower.append(meter.first_calls([pair]))
    mean = sum(gains) / len(gains) if gains else 0.0
    return {
        "problems": len(gains),
        "gain": math.exp(mean),
        "worst": math.exp(min(gains, default=0.0)),
        "first_calls": math.exp(-sum(slower) / len(slower)) if slower else 1.0,
        "ratios": {case.name: round(math.exp(gain), 3) for (case, *_), gain in zip(pairs, gains, strict=False)},
    }


def _print(document: dict[str, Any], written: str) -> None:
    output = output_of(120)
    info = document["adapter"]
    output.print(f"{info['device']} ({info['adapter_type']}, {info['backend_type']}): {document['timer']}", markup=False)
    for line in _facts(document["facts"]):
        output.print(line, markup=False, soft_wrap=True)
    gains: dict[str, float] = {}
    for change in document["changes"]:
        gains[change["name"]] = gains.get(change["name"], 0.0) + change["gain"]
    if document["numbers"]:
        table = table_of(("number", "default", "here", "faster where it matters"), ("number",))
        for name, value in document["numbers"].items():
            gain = f"{math.exp(gains[name]):.2f} times" if name in gains else ""
            table.add_row(name, f"{document['default'][name]:,.15g}", f"{value:,.15g}", gain)
        output.print(table)
    judged = document["judged"]
    count = len(document["numbers"])
    output.print(
        f"{count} numbers differ from the default, after {document['comparisons']} comparisons in {document['seconds']:.0f} s"
    )
    if judged["problems"]:
        many = f"{judged['problems']} problems that it was not tuned by"
        speed = f"{judged['gain']:.2f} times as fast (geometric mean; the worst {judged['worst']:.2f})"
        output.print(f"{many} are {speed}, their first calls {judged['first_calls']:.2f} times", soft_wrap=True)
    for name in document["wrong"]:
        output.print(f"{name}: two plans have two answers, which is a defect: nothing is written", style="bold red", markup=False)
    if written:
        output.print(written, markup=False, soft_wrap=True)


def _facts(facts: dict[str, Any]) -> list[str]:
    """What was measured, a line each."""
    own = Facts(**facts)
    seen = ", ".join(map(str, own.subgroup_sizes)) or "none"
    return [
        f"reads {own.bytes_per_second / 1e9:,.1f} GB/s, nearly that from {own.full_workgroups} workgroups on",
        f"a dispatch takes {own.empty_dispatch_us:.1f} us, and {own.dependent_dispatch_us:.1f} us after one that it depends on",
        f"a barrier takes {own.barrier_ns:.0f} ns, an atomic addition by a whole workgroup {own.atomic_ns:.0f} ns",
        f"{own.workgroups_at_once} workgroups run at once; subgroup sizes: {seen}",
    ]
