"""What Direct3D 12 makes of the kernels: wgpu's own backend there, and Windows' compiler FXC.

Both run under Wine, on the texts that the planner emits for such a device (tests/variants.py). FXC
is stricter than WebGPU about barriers. A kernel that it rejects is left out by a device, as
`Executor.compiled` says, so every problem needs a plan without those: that is what this checks.
FXC also drops barriers that it holds to be needless, and some that are not (docs/driver-bugs.md),
so what it makes is looked through for those. Prints how long each kernel takes to compile, too.

With --answers, plans of random problems run there, and must leave in their buffers what they leave
by Vulkan. That takes Wine 10, as Debian 13 has it: an older Direct3D 12 does not bind what wgpu
binds. The environment's WINE is the command of another Wine.

It takes wgpu's wheel for Windows, and FXC from that of kivy_deps.angle. x86-64 alone.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import variants  # noqa: E402
import wgpu  # noqa: E402
from record import planner_without, recorded  # noqa: E402

from wgdml.plan import Machine, Rejected  # noqa: E402

#: A GPU and WARP as wgpu has them by FXC: 32 KiB of workgroup memory, and no subgroups.
MACHINES = {kind: Machine(1 << 31, 1 << 31, 1024, 32 << 10, kind=kind) for kind in ("discrete", "software")}
_BUILD = HERE / "build" / wgpu.__version__  # so that another wgpu is not judged by this one's
_GIVEN = _BUILD / "given"
_WINE = os.environ.get("WINE", "wine").split()
_SHARED = re.compile(r"\bg\d+\b")
_WHEELS = {
    f"wgpu=={wgpu.__version__}": ("wgpu_native-release.dll", "webgpu.h", "wgpu.h"),
    "kivy_deps.angle": ("d3dcompiler_47.dll",),
}


def run(*command: str | Path, **given: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], check=True, text=True, **given)


def fetch() -> None:
    """What wheels for Windows have, in a folder of its own."""
    _GIVEN.mkdir(parents=True, exist_ok=True)
    for wheel, names in _WHEELS.items():
        if all((_GIVEN / name).exists() for name in names):
            continue
        run(
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"),
            *("--platform", "win_amd64", "--python-version", "3.12", "--dest", _BUILD, wheel),
        )
        found = max(_BUILD.glob(f"{wheel.split('==')[0].replace('.', '?')}*.whl"), key=lambda path: path.stat().st_mtime)
        with ZipFile(found) as archive:
            for member in archive.namelist():
                if Path(member).name in names:
                    (_GIVEN / Path(member).name).write_bytes(archive.read(member))


def build() -> None:
    """The program, with all that it needs beside it."""
    fetch()
    library = _GIVEN / "wgpu_native-release.dll"
    shutil.copy(library, _BUILD / "wgpu_native.dll")
    shutil.copy(_GIVEN / "d3dcompiler_47.dll", _BUILD / "fxc.dll")
    gcc = "x86_64-w64-mingw32-gcc"
    run(gcc, "-shared", "-o", _BUILD / "bcryptprimitives.dll", HERE / "shim.c", "-ladvapi32")
    run(gcc, "-shared", "-o", _BUILD / "d3dcompiler_47.dll", HERE / "listing.c")
    run(gcc, "-O1", f"-I{_GIVEN}", "-o", _BUILD / "direct3d.exe", HERE / "direct3d.c", library)


def texts(each: int) -> dict[Path, str]:
    """Up to so many texts of each kernel, spread over the grid: their files, and their kernels."""
    variants.plan_for(MACHINES)
    files = {}
    for number, variant in enumerate(variants.some_of_each(variants.variants(quick=True), each)):
        path = _BUILD / f"{variant.kernel.replace('/', '.')}-{number}.wgsl"
        path.write_text(variant.text)
        files[path] = variant.kernel
    return files


def judged(files: Iterable[Path]) -> tuple[dict[Path, tuple[bool, float]], dict[Path, str]]:
    """Of texts, whether FXC takes each, and seconds; of plans, what the program says of each."""
    listed = _BUILD / "list.txt"
    listed.write_text("".join(f"Z:{path}\n" for path in files))
    environment = os.environ | {
        "WINEPREFIX": str(_BUILD / f"wine-{wine_version()}"),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "d3dcompiler_47=n",
    }
    with (_BUILD / "messages.txt").open("w") as messages:
        command = ("xvfb-run", "-a", *_WINE, _BUILD / "direct3d.exe", f"Z:{listed}")
        found = run(*command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages)
    compiled, ran = {}, {}
    for line in found.stdout.splitlines():
        if line.startswith(("ok ", "rejected ")):
            word, time, path = line.split(maxsplit=2)
            compiled[Path(path.removeprefix("Z:"))] = (word == "ok", float(time) / 1e3)
        elif line.startswith(("same ", "other ", "left ")):
            word, path = line.split(maxsplit=1)
            ran[Path(path.removeprefix("Z:"))] = word
    return compiled, ran


def wine_version() -> int:
    said = run(*_WINE, "--version", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    found = re.search(r"wine-(\d+)", said)
    return int(found[1]) if found else 0


def race(listing: str) -> str:
    """A variable of a workgroup that is read although a barrier behind a store is gone, or nothing.

    That is one of a single element, stored in a branch and read outside of it. Arrays are not
    looked at: an invocation may read what it has stored itself. Nor are loops followed back.
    """
    scalars = set(re.findall(r"dcl_tgsm_(?:raw (?=g\d+, )|structured (?=g\d+, \d+, 1\b))(g\d+)", listing))
    stored: dict[str, list[int]] = {}
    blocks: list[int] = []
    for number, line in enumerate(map(str.strip, listing.splitlines())):
        if line.startswith(("endif", "endloop", "endswitch")):
            blocks.pop()
        elif line.startswith("else"):
            blocks[-1] = number
        elif line.startswith(("if_", "loop", "switch")):
            blocks.append(number)
        elif line.startswith("sync"):
            stored.clear()
        elif (found := _SHARED.search(line)) and found[0] in scalars:
            name = found[0]
            if line.startswith("store_"):
                stored[name] = blocks.copy()
            elif name in stored and blocks[: len(stored[name])] != stored[name]:
                return name
    return ""


def unserved(machine: Machine, rejected: set[str]) -> list[str]:
    """The problems of the grid that have no plan without these kernels."""
    planner, found = planner_without(machine, rejected), []
    for asked in variants.problems(quick=True):
        try:
            planner.plan(asked.problem, **asked.options)
        except Rejected as why:
            found.append(f"{asked.problem.element} {asked.problem.sequences} x {asked.problem.length}, k {asked.problem.k}: {why}")
        except (ValueError, MemoryError):
            continue  # a clean refusal
    return found


def answers(count: int, rejected: set[str]) -> int:
    """Runs plans of so many problems for each machine. Returns how many leave something else.

    A kernel of theirs may be rejected that was not met before. Then all plans are made without it.
    """
    if wine_version() < 10:
        print(f"answers take Wine 10, and this is Wine {wine_version()}", file=sys.stderr)
        return 1
    while True:
        plans = [plan for kind, machine in MACHINES.items() for plan in recorded(machine, rejected, count, _BUILD / kind)]
        compiled, ran = judged(plans)
        met = {path.name.rpartition("-")[0].replace(".", "/") for path, (taken, _) in compiled.items() if not taken} - rejected
        print(f"kernels rejected in plans: {', '.join(sorted(met)) or 'none'}")
        if not met:
            break
        rejected |= met
    others = [plan for plan in plans if ran.get(plan) != "same"]
    print(f"{len(plans)} plans ran, {len(others)} with another answer", *others, sep="\n")
    return len(others)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=2, help="texts of each kernel (default: 2)")
    parser.add_argument("--answers", type=int, default=0, help="random problems to run for each kind of device (default: 0)")
    given = parser.parse_args()
    build()
    files = texts(given.each)
    compiled, _ = judged(files)
    if missing := files.keys() - compiled.keys():
        print(f"{len(missing)} texts have no answer, such as {min(missing)}: see {_BUILD / 'messages.txt'}", file=sys.stderr)
        return 1
    rejected = {files[path] for path, (taken, _) in compiled.items() if not taken}
    for kernel in sorted(set(files.values())):
        times = [seconds for path, (_, seconds) in compiled.items() if files[path] == kernel]
        print(f"{kernel:30}{max(times):7.1f} s{'  rejected' if kernel in rejected else ''}")
    median = statistics.median(seconds for _, seconds in compiled.values())
    print(f"{len(files)} texts of {len(set(files.values()))} kernels, {median:.1f} s each (median)")
    print(f"kernels rejected: {', '.join(sorted(rejected)) or 'none'}")
    listings = {path: Path(f"{path}.asm") for path, (taken, _) in compiled.items() if taken}
    races = [path for path, listing in listings.items() if race(listing.read_text(errors="replace"))]
    print(f"texts that lack a barrier: {len(races)}", *races, sep="\n")
    without = [problem for machine in MACHINES.values() for problem in unserved(machine, rejected)]
    print(f"problems without a plan: {len(without)}", *without[:10], sep="\n")
    others = answers(given.answers, rejected) if given.answers else 0
    return 1 if without or races or others else 0


if __name__ == "__main__":
    sys.exit(main())
