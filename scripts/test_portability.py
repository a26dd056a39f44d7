#!/usr/bin/env python3
"""Runs the functional tests on every driver that this machine can have, with its limits and with WebGPU's least; prints one table.

Lavapipe runs them without subgroups too. Needs Mesa's Vulkan (lavapipe) and OpenGL drivers, and Chromium's package, which brings
SwiftShader.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
SUITE = ["functions", "operators", "tensors", "properties", "errors", "fuzz", "determinism", "limits", "large"]
SUITE += ["columns", "delegates", "networks", "radix_sort", "select_kth", "select_lists", "select_rows"]
PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
BATCH = 30  # tests of one process
#: Where packages put SwiftShader's description for the Vulkan loader.
SWIFTSHADER = [
    "/usr/lib/chromium/vk_swiftshader_icd.json",
    "/usr/lib64/chromium-browser/vk_swiftshader_icd.json",
    "/usr/lib/chromium-browser/vk_swiftshader_icd.json",
    "/opt/google/chrome/vk_swiftshader_icd.json",
]


@dataclass
class Row:
    """One configuration and what became of it."""

    name: str
    environment: dict[str, str]
    device: str = ""
    passed: int = 0
    failed: int = 0
    seconds: float = 0.0
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
        rows.append(Row(f"{name}-minimum", {**environment, "WGDML_LIMITS": "minimum"}))
        if name == "lavapipe":
            rows.append(Row(f"{name}-no-subgroups", {**environment, "WGDML_SUBGROUPS": "off"}))
    return rows


DESCRIBE = """
import wgdml
d = wgdml.default_device()
print(d.adapter_info["device"], "via", d.adapter_info["backend_type"])
"""


def run(row: Row, suite: list[str], extra: list[str], timeout: float) -> None:
    environment = {**os.environ, **row.environment}
    environment.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    found = subprocess.run([sys.executable, "-c", DESCRIBE], cwd=ROOT, env=environment, capture_output=True, text=True)
    if found.returncode:
        row.problem = (found.stderr.strip().splitlines() or ["no answer"])[-1]
        return
    row.device = found.stdout.strip().splitlines()[-1]
    start = time.perf_counter()
    for name in suite:
        file = f"tests/test_{name}.py"
        command = [*PYTEST, "--collect-only", "-qq", "-o", "addopts=", *extra, file]
        listed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        tests = int((re.search(rf"^{file}: (\d+)", listed.stdout, re.MULTILINE) or [0, 0])[1])
        if not tests:
            row.problem = f"{file}: no tests: {(listed.stdout + listed.stderr).strip()[-300:]}"
        # In processes of their own: SwiftShader takes 10 to 45 MB for each kernel that is kept: two processes
        # of a hundred tests of operators filled 23 GB.
        parts = -(-tests // BATCH)
        for part in range(parts):
            run_batch(row, file, [*extra, f"--part={part + 1}/{parts}", file], environment, timeout)
            so_far = f"{row.passed} passed, {row.failed} failed, {time.perf_counter() - start:.0f} s"
            print(f"    {row.name}: {file} {part + 1}/{parts}: {so_far}", file=sys.stderr, flush=True)
    row.seconds = time.perf_counter() - start


def run_batch(row: Row, file: str, arguments: list[str], environment: dict[str, str], timeout: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [*PYTEST, f"--junitxml={report}", *arguments]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            row.problem = f"{file}: not done after {timeout:.0f} s"
            return
        if not report.is_file():
            row.problem = f"{file}: exit status {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}"
            return
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
        if not cases:
            row.problem = f"{file}: exit status {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}"
        for case in cases:
            bad = case.find("failure") is not None or case.find("error") is not None
            # A test that was skipped has not passed: the suite has no reason to skip any.
            if bad or case.find("skipped") is not None:
                row.failed += 1
                row.failures.append(f"{case.get('classname', '').removeprefix('tests.')}::{case.get('name')}")
            else:
                row.passed += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [row.name for row in configurations()]
    parser.add_argument("--only", action="append", choices=names, help="one configuration (may be repeated)")
    parser.add_argument("--suite", default=",".join(SUITE), help="which tests/test_*.py, by name; default %(default)s")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds for one batch of tests")
    parser.add_argument("--json", type=Path, help="also write the rows there")
    options, extra = parser.parse_known_args()
    suite = [name for name in options.suite.split(",") if (ROOT / f"tests/test_{name}.py").is_file()]
    rows = [row for row in configurations() if not options.only or row.name in options.only]
    for row in rows:
        print(f"{row.name} ...", file=sys.stderr, flush=True)
        run(row, suite, extra, options.timeout)
        print(
            f"{row.name}: {row.passed} passed, {row.failed} failed, {row.seconds:.0f} s {row.problem}", file=sys.stderr, flush=True
        )
        for failure in row.failures:
            print(f"    {failure}", file=sys.stderr)
    table = Table(title="Functional tests: " + ", ".join(suite))
    for column in ("configuration", "device", "passed", "failed", "seconds", ""):
        table.add_column(column, justify="right" if column in ("passed", "failed", "seconds") else "left")
    for row in rows:
        table.add_row(row.name, row.device, str(row.passed), str(row.failed), f"{row.seconds:.0f}", row.problem)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    if options.json:
        options.json.write_text(json.dumps([vars(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    return 1 if any(row.failed or row.problem or not row.passed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
