"""Does ``wgdml tune`` find a machine's numbers from tables that are wrong on purpose?

It tunes from (a) this machine's default, twice, (b) the table of the most different machine and
(c) numbers drawn from the policies' ranges, without the tables that ship. Then problems come that
no tuning saw, each by all four tables, by the default and by every algorithm forced.

    python scripts/blind_test.py --seed 7 --count 200 --json blind.json
    python scripts/blind_test.py --count 40 --seconds 40
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import wgdml
from wgdml.bench import oracle, run, timing
from wgdml.bench.cases import Case, draw
from wgdml.bench.data import make
from wgdml.plan import Planner, numbers_of, ranges
from wgdml.plan.profiles import FAMILIES
from wgdml.runtime.profile import policies_of
from wgdml.tune.command import Effort, tuned
from wgdml.tune.meter import DeviceMeter

Numbers = dict[str, float]
_UNSEEN = 1000  # added to the seed: tuning draws by 1 and 2
_ROUNDS = 11


def starts(device: wgdml.Device, seed: int) -> dict[str, Numbers]:
    """The tables to start from, by letters."""
    policies = Planner(device.machine).policies
    default, allowed = numbers_of(policies), ranges(policies)
    # Profiles name what differs from a large GPU's numbers, which are the policies' own.
    large = {name: type(policy)() for name, policy in policies.items()}
    software = next(family.profile for family in FAMILIES if family.name == "software adapters")
    other = numbers_of(large | ({} if device.machine.software else dict(software)))
    rng = random.Random(seed)
    drawn = {name: own.drawn(rng) for name, own in allowed.items()}
    return {"a": default, "a again": default, "b": other, "c": drawn}


def tables(device: wgdml.Device, effort: Effort, seed: int) -> dict[str, dict[str, Any]]:
    """What tuning makes of each start."""
    default, found = numbers_of(Planner(device.machine).policies), {}
    for letter, start in starts(device, seed).items():
        print(f"tuning from {letter} ...", file=sys.stderr, flush=True)
        document = tuned(device, effort, lambda doing, share: None, start=start, alone=True)
        found[letter] = {"start": start, "numbers": default | document["numbers"], "judged": document["judged"]}
    return found


def measured(meter: DeviceMeter, case: Case, by: Mapping[str, Numbers]) -> dict[str, Any]:
    """Times by every table and by every algorithm forced; which algorithms were chosen."""
    plans = {name: meter.plan(numbers, case) for name, numbers in by.items()}
    own, selection = Planner(meter.device.machine), run.selection_of(case)
    for algorithm in dict.fromkeys(rule.algorithm for rule in own.rules):
        try:
            plans[f"forced {algorithm}"] = own.plan(selection, algorithm=algorithm)
        except (ValueError, MemoryError):
            continue
    served = {name: plan for name, plan in plans.items() if plan is not None}
    different = list(dict.fromkeys(served.values()))  # the same plan has one time
    seconds = dict(zip(different, meter.times(case, different, _ROUNDS), strict=True))
    chosen = {name: list(served[name].algorithms) for name in by if name in served}
    return {"case": case.name, "us": {name: seconds[plan] * 1e6 for name, plan in served.items()}, "algorithms": chosen}


def is_exact(device: wgdml.Device, case: Case, numbers: Numbers) -> bool:
    planned = wgdml.Device(device.gpu_device, planner=lambda machine: Planner(machine, policies_of(machine, numbers)))
    planned.pipelines = device.pipelines
    x = make("random", case)
    prepared = run.prepare(planned, case, wgdml.asarray(x, device=planned))
    planned.run(prepared.plan, prepared.resources)
    return not oracle.differences(oracle.answer(case, x), prepared.answer())


def table(rows: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """(what, goal, found) of each line."""

    def ratios(first: str, second: Callable[[dict[str, float]], float]) -> np.ndarray:
        return np.array([row["us"][first] / second(row["us"]) for row in rows])

    def mean(name: str, other: str) -> str:
        return f"{float(np.exp(np.log(ratios(name, lambda us: us[other])).mean())):.3f}"

    far = ratios("a", lambda us: min(us.values()))
    same = np.mean([row["algorithms"]["a"] == row["algorithms"]["a again"] for row in rows])
    exact = sum(row["exact"] for row in rows)
    quantiles = " / ".join(f"{np.quantile(far, q):.2f}" for q in (0.5, 0.9, 1))
    return [
        ("tuned, against the best of all: median / 90% / worst", "1.05 / 1.12 / 1.25", quantiles),
        ("tuned from (b), against from (a): geometric mean", "0.97 to 1.03", mean("b", "a")),
        ("tuned from (c), against from (a): geometric mean", "0.97 to 1.03", mean("c", "a")),
        ("default, against tuned: geometric mean", "up to 1.15", mean("default", "a")),
        ("start (b), untuned, against tuned: geometric mean", "", mean("start b", "a")),
        ("start (c), untuned, against tuned: geometric mean", "", mean("start c", "a")),
        ("two runs choose the same algorithms", "90%", f"{same:.0%}"),
        ("exact, tuned and by drawn numbers", "all", f"{exact} of {len(rows)}"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--count", type=int, default=200, help="problems")
    parser.add_argument("--seconds", type=float, help="of each tuning, in place of the command's own")
    parser.add_argument("--most", type=int, help="bytes of the largest problem")
    parser.add_argument("--json", metavar="FILE", help="write it all to FILE")
    options = parser.parse_args()
    device = wgdml.Device(planner=Planner, kept=256)
    own = Effort.of(device.machine.software, quick=False)
    effort = Effort(options.seconds or own.seconds, own.problems, own.unseen, own.most)
    most = 1 << 20 if device.machine.software else 1 << 28
    began = time.perf_counter()
    found = tables(device, effort, options.seed)
    by = {letter: table["numbers"] for letter, table in found.items()}
    by |= {"default": found["a"]["start"], "start b": found["b"]["start"], "start c": found["c"]["start"]}
    clock = timing.Clock(device, warm_seconds=0.0 if device.machine.software else 0.1)
    meter = DeviceMeter(clock, draw(_UNSEEN + options.seed, options.count, options.most or most))
    timing.measure_ceiling(clock, meter.buffer)
    rows = []
    # Ctrl-C ends the problems, and keeps what there is.
    with contextlib.suppress(KeyboardInterrupt):
        for number, case in enumerate(meter.problems):
            print(f"\r{number + 1} of {options.count}", end="", file=sys.stderr, flush=True)
            row = measured(meter, case, by)
            row["exact"] = all(is_exact(device, case, by[name]) for name in ("a", "start c"))
            rows.append(row)
    print(file=sys.stderr)
    if not rows:
        print("interrupted before the first problem was measured", file=sys.stderr)
        return 1
    lines = table(rows)
    print(f"{device.adapter_info['device']}: {len(rows)} problems, seed {options.seed}, {time.perf_counter() - began:.0f} s")
    print("| | goal | found |\n|---|---|---|")
    print("\n".join(f"| {what} | {goal} | {value} |" for what, goal, value in lines))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"tables": found, "rows": rows, "lines": lines, "wrong": meter.wrong}, file, indent=1)
    return int(bool(meter.wrong) or not all(row["exact"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
