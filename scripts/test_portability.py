#!/usr/bin/env python3
"""Runs the functional tests on every driver here, with its limits and the least; prints a table.

``--write`` puts the table into docs/reliability.md. Lavapipe runs the tests without subgroups too.
Needs Mesa's Vulkan (lavapipe) and OpenGL drivers, and Chromium's package, which brings SwiftShader.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reliability.md"
START, END = "<!-- portability -->", "<!-- /portability -->"  # ``--write`` fills what is between
API = (
    *("functions", "operators", "tensors", "properties", "errors", "fuzz", "determinism", "limits", "large"),
    *("ragged", "order_statistics", "running"),
)
KERNELS = ("every_algorithm", "workgroup_memory", "subgroups")
#: The files of tests, each by its folder and its name.
SUITE = [f"{folder}/{name}" for folder, names in (("api", API), ("kernels", KERNELS)) for name in names]
#: The least device has no subgroups.
WITHOUT_SUBGROUPS = [name for name in SUITE if name != "kernels/subgroups"]
#: What a software adapter runs with subgroup operations at all: kernels by force.
OF_SUBGROUPS = [f"kernels/{name}" for name in KERNELS]
PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
WORKERS = os.cpu_count() or 1  # processes at a time
#: Bytes that a process may have: a driver that takes more for a kernel fails that file alone.
MEMORY = 8 << 30
#: Where packages put SwiftShader's description for the Vulkan loader.
SWIFTSHADER = [
    "/usr/lib/chromium/vk_swiftshader_icd.json",
    "/usr/lib64/chromium-browser/vk_swiftshader_icd.json",
    "/usr/lib/chromium-browser/vk_swiftshader_icd.json",
    "/opt/google/chrome/vk_swiftshader_icd.json",
]


def path_of(name: str) -> str:
    folder, _, name = name.partition("/")
    return f"tests/{folder}/test_{name}.py"


@dataclass
class Row:
    """One configuration and what became of it."""

    name: str
    environment: dict[str, str]
    suite: list[str] = field(default_factory=lambda: SUITE)  #: All that it runs.
    device: str = ""
    passed: int = 0
    failed: int = 0
    suites: dict[str, list[int]] = field(default_factory=dict)  #: passed and failed of each suite
    seconds: float = 0.0  #: of its processes, one after the other
    problem: str = ""
    failures: list[str] = field(default_factory=list)


def configurations() -> list[Row]:
    swiftshader = next((path for path in SWIFTSHADER if Path(path).is_file()), SWIFTSHADER[0])
    drivers = {
        "lavapipe": {"WGPUPY_WGPU_ADAPTER_NAME": "llvmpipe", "WGPU_BACKEND_TYPE": "Vulkan"},
        "swiftshader": {
            "VK_ICD_FILENAMES": swiftshader,
            "VK_DRIVER_FILES": swiftshader,
            "WGPUPY_WGPU_ADAPTER_NAME": "SwiftShader",
            "WGPU_BACKEND_TYPE": "Vulkan",
        },
        "opengl": {"WGPU_BACKEND_TYPE": "OpenGL"},
    }
    rows = []
    for name, environment in drivers.items():
        rows.append(Row(name, environment))
        rows.append(Row(f"{name}-minimum", {**environment, "WGDML_LIMITS": "minimum"}, WITHOUT_SUBGROUPS))
        if name == "lavapipe":
            rows.append(Row(f"{name}-no-subgroups", {**environment, "WGDML_SUBGROUPS": "off"}, OF_SUBGROUPS))
    return rows


DESCRIBE = """
import wgdml
d = wgdml.default_device()
print(d.adapter_info["device"], "via", d.adapter_info["backend_type"] + ",", d.adapter_info["description"])
"""


@dataclass
class Outcome:
    """What became of one file of tests on one row."""

    row: Row
    name: str
    passed: int = 0
    failures: list[str] = field(default_factory=list)
    problem: str = ""
    seconds: float = 0.0


def run(rows: list[Row], suite: list[str], extra: list[str], timeout: float) -> None:
    """Every file of tests on every row, each in a process of its own."""
    start = time.perf_counter()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    for row in rows:
        describe(row)
    jobs = [(row, name) for row in rows if not row.problem for name in suite if name in row.suite]
    with ThreadPoolExecutor(WORKERS) as pool:
        for ended in as_completed([pool.submit(run_file, row, name, extra, timeout) for row, name in jobs]):
            done = ended.result()
            row = done.row
            row.suites[done.name] = [done.passed, len(done.failures)]
            row.passed += done.passed
            row.failed += len(done.failures)
            row.failures += done.failures
            row.seconds += done.seconds
            row.problem = done.problem or row.problem
            text = f"{row.name}: {done.name}: {done.passed} passed, {len(done.failures)} failed, {done.seconds:.0f} s"
            print(f"{time.perf_counter() - start:6.0f} s  {text} {done.problem}", file=sys.stderr, flush=True)


def environment_of(row: Row) -> dict[str, str]:
    return {"XDG_RUNTIME_DIR": tempfile.gettempdir(), **os.environ, **row.environment}


def describe(row: Row) -> None:
    """Says which device the row has, or why it has none."""
    command = [sys.executable, "-c", DESCRIBE]
    found = subprocess.run(command, cwd=ROOT, env=environment_of(row), capture_output=True, text=True)
    if found.returncode:
        row.problem = (found.stderr.strip().splitlines() or ["no answer"])[-1]
    else:
        row.device = found.stdout.strip().splitlines()[-1]


def run_file(row: Row, name: str, extra: list[str], timeout: float) -> Outcome:
    outcome, file, start = Outcome(row, name), path_of(name), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [*PYTEST, f"--junitxml={report}", *extra, file]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment_of(row), capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            outcome.problem = f"{file}: not done after {timeout:.0f} s"
            return outcome
        cases = list(ElementTree.parse(report).getroot().iter("testcase")) if report.is_file() else []
    if not cases:
        why = done.stderr.strip().partition("\n")[0] or done.stdout.strip()[-300:]
        outcome.problem = f"{file}: exit status {done.returncode}: {why}"
    for case in cases:
        # A test that was skipped has not passed: the suite has no reason to skip any.
        bad = next((part for what in ("failure", "error", "skipped") if (part := case.find(what)) is not None), None)
        if bad is None:
            outcome.passed += 1
        else:
            why = bad.get("message", "").partition("\n")[0][:200]
            outcome.failures.append(f"{case.get('classname', '').removeprefix('tests.')}::{case.get('name')}: {why}")
    outcome.seconds = time.perf_counter() - start
    return outcome


def markdown(rows: list[Row], suite: list[str], cost: str) -> str:
    """The result for the documentation: when, of what, with what, and a table of all suites."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=7"], cwd=ROOT, capture_output=True, text=True)
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ("wgpu", "numpy")]
    lines = [
        f"- Date {datetime.date.today()}, commit `{commit.stdout.strip() or 'unknown'}`",
        f"- Python {platform.python_version()}, {', '.join(versions)}",
        f"- {cost}",
        "",
        "| suite | " + " | ".join(row.name for row in rows) + " |",
        "|---|" + "---:|" * len(rows),
    ]
    for name in suite:
        cells = []
        for row in rows:
            passed, failed = row.suites.get(name, [0, 0])
            cells.append((f"{passed:,}" if name in row.suite else "") + (f", **{failed} failed**" if failed else ""))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines.append("| **passed** | " + " | ".join(f"{row.passed:,}" for row in rows) + " |")
    lines.append("| **failed** | " + " | ".join(str(row.failed) for row in rows) + " |")
    lines.append("| **seconds** | " + " | ".join(f"{row.seconds:,.0f}" for row in rows) + " |")
    lines += ["", "| configuration | device | |", "|---|---|---|"]
    lines += [f"| {row.name} | {row.device} | {' '.join(row.problem.split()).replace('|', '/')} |" for row in rows]
    return "\n".join(lines)


def write(text: str, page: Path = PAGE) -> None:
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{page} must have {START} and, after it, {END}")
    page.write_text(f"{before}{START}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [row.name for row in configurations()]
    parser.add_argument("--only", action="append", choices=names, help="one configuration (may be repeated)")
    parser.add_argument("--suite", default=",".join(SUITE), help="which tests, by folder/name; default %(default)s")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds for one file of tests")
    parser.add_argument("--json", type=Path, help="also write the rows there")
    parser.add_argument("--write", action="store_true", help=f"also write the table into {PAGE.relative_to(ROOT)}")
    options, extra = parser.parse_known_args()
    suite = options.suite.split(",")
    missing = [path_of(name) for name in suite if not (ROOT / path_of(name)).is_file()]
    if missing:
        parser.error(f"there is no {', '.join(missing)}")
    rows = [row for row in configurations() if not options.only or row.name in options.only]
    start = time.perf_counter()
    run(rows, suite, extra, options.timeout)
    minutes, used = (time.perf_counter() - start) / 60, resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = f"{minutes:.0f} minutes on {WORKERS} cores, {(used.ru_utime + used.ru_stime) / 60:.0f} of processor time"
    cost += f"; the largest process had {used.ru_maxrss / (1 << 20):.1f} GB"
    table = Table(title="Functional tests: " + ", ".join(suite))
    for column in ("configuration", "device", "passed", "failed", "seconds", ""):
        table.add_column(column, justify="right" if column in ("passed", "failed", "seconds") else "left")
    for row in rows:
        table.add_row(row.name, row.device, str(row.passed), str(row.failed), f"{row.seconds:.0f}", row.problem)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    for failure in (f"{row.name}: {failure}" for row in rows for failure in row.failures):
        print(failure)
    print(cost)
    if options.json:
        options.json.write_text(json.dumps([vars(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    if options.write:
        write(markdown(rows, suite, cost))
    return 1 if any(row.failed or row.problem or not row.passed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
