"""What Direct3D 12 makes of the kernels: wgpu's own backend there, and Windows' compiler FXC.

Both run under Wine, on the texts that the planner emits for such a device (tests/variants.py). FXC
is stricter than WebGPU about barriers. A kernel that it rejects is left out by a device, as
`Executor.compiled` says, so every problem needs a plan without those: that is what this checks.
Prints how long each kernel takes to compile, too. Nothing is run: Wine's Direct3D 12 (vkd3d 1.2)
does not bind what wgpu binds.

It takes wgpu's wheel for Windows, and FXC from that of kivy_deps.angle. x86-64 alone.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import variants  # noqa: E402
import wgpu  # noqa: E402

from wgdml.plan import Machine, Planner, Rejected  # noqa: E402

#: A GPU and WARP as wgpu has them by FXC: 32 KiB of workgroup memory, and no subgroups.
MACHINES = {kind: Machine(1 << 31, 1 << 31, 1024, 32 << 10, kind=kind) for kind in ("discrete", "software")}
_BUILD = HERE / "build" / wgpu.__version__  # so that another wgpu is not judged by this one's
_WHEELS = {
    f"wgpu=={wgpu.__version__}": ("wgpu_native-release.dll", "webgpu.h", "wgpu.h"),
    "kivy_deps.angle": ("d3dcompiler_47.dll",),
}


def run(*command: str | Path, **given: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], check=True, text=True, **given)


def build() -> Path:
    """The program, with all that it needs beside it."""
    _BUILD.mkdir(parents=True, exist_ok=True)
    for wheel, names in _WHEELS.items():
        if all((_BUILD / name).exists() for name in names):
            continue
        run(
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"),
            *("--platform", "win_amd64", "--python-version", "3.12", "--dest", _BUILD, wheel),
        )
        found = max(_BUILD.glob(f"{wheel.split('==')[0].replace('.', '?')}*.whl"), key=lambda path: path.stat().st_mtime)
        with ZipFile(found) as archive:
            for member in archive.namelist():
                if Path(member).name in names:
                    (_BUILD / Path(member).name).write_bytes(archive.read(member))
    (_BUILD / "wgpu_native.dll").write_bytes((_BUILD / "wgpu_native-release.dll").read_bytes())
    program, gcc = _BUILD / "compile.exe", "x86_64-w64-mingw32-gcc"
    run(gcc, "-shared", "-o", _BUILD / "bcryptprimitives.dll", HERE / "shim.c", "-ladvapi32")
    run(gcc, "-O1", f"-I{_BUILD}", "-o", program, HERE / "compile.c", _BUILD / "wgpu_native-release.dll")
    return program


def texts(each: int) -> dict[Path, str]:
    """Up to so many texts of each kernel, spread over the grid: their files, and their kernels."""
    variants.plan_for(MACHINES)
    files = {}
    for number, variant in enumerate(variants.some_of_each(variants.variants(quick=True), each)):
        path = _BUILD / f"{variant.kernel.replace('/', '.')}-{number}.wgsl"
        path.write_text(variant.text)
        files[path] = variant.kernel
    return files


def judged(program: Path, files: Iterable[Path]) -> dict[Path, tuple[bool, float]]:
    """Whether FXC takes each text, and seconds."""
    listed = _BUILD / "list.txt"
    listed.write_text("".join(f"Z:{path}\n" for path in files))
    environment = os.environ | {
        "WINEPREFIX": str(_BUILD / "wine"),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "d3dcompiler_47=n",
    }
    with (_BUILD / "messages.txt").open("w") as messages:
        found = run("xvfb-run", "-a", "wine", program, listed, env=environment, stdout=subprocess.PIPE, stderr=messages)
    said = [line.split(maxsplit=2) for line in found.stdout.splitlines() if line.startswith(("ok ", "rejected "))]
    return {Path(path.removeprefix("Z:")): (word == "ok", float(time) / 1e3) for word, time, path in said}


def unserved(machine: Machine, rejected: set[str]) -> list[str]:
    """The problems of the grid that have no plan without these kernels."""
    planner, found = Planner(machine), []
    planner.rejected |= rejected
    for asked in variants.problems(quick=True):
        try:
            planner.plan(asked.problem, **asked.options)
        except Rejected as why:
            found.append(f"{asked.problem.element} {asked.problem.sequences} x {asked.problem.length}, k {asked.problem.k}: {why}")
        except (ValueError, MemoryError):
            continue  # a clean refusal
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=2, help="texts of each kernel (default: 2)")
    given = parser.parse_args()
    program, files = build(), texts(given.each)
    answers = judged(program, files)
    if missing := files.keys() - answers.keys():
        print(f"{len(missing)} texts have no answer, such as {min(missing)}: see {_BUILD / 'messages.txt'}", file=sys.stderr)
        return 1
    rejected = {files[path] for path, (taken, _) in answers.items() if not taken}
    for kernel in sorted(set(files.values())):
        times = [seconds for path, (_, seconds) in answers.items() if files[path] == kernel]
        print(f"{kernel:30}{max(times):7.1f} s{'  rejected' if kernel in rejected else ''}")
    median = statistics.median(seconds for _, seconds in answers.values())
    print(f"{len(files)} texts of {len(set(files.values()))} kernels, {median:.1f} s each (median)")
    print(f"kernels rejected: {', '.join(sorted(rejected)) or 'none'}")
    without = [problem for machine in MACHINES.values() for problem in unserved(machine, rejected)]
    print(f"problems without a plan: {len(without)}", *without[:10], sep="\n")
    return 1 if without else 0


if __name__ == "__main__":
    sys.exit(main())
