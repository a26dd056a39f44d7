"""What Metal's compiler would make of the kernels, as far as that can be told without a Mac.

Naga writes each kernel for Metal (naga-wasm, a later Naga than wgpu's). Metal's language is C++,
and its compiler is made of LLVM, as clang is. clang with a few lines for Metal's library
(include/metal_stdlib) checks the types, and optimises each kernel as Metal does, for which a
barrier changes no argument of the kernel. wgdml/runtime/fences.py is to keep loads and stores from
moving across a barrier, so none may stand between a barrier and its fences. What a workgroup
shares in a buffer has no fence: there the kernel must be the one that is made where a barrier may
change every buffer. Nothing is run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import variants  # noqa: E402
from planning import GPU  # noqa: E402

from wgdml.runtime.fences import FENCE_BYTES, fenced  # noqa: E402

_BUILD = HERE / "build"
#: As `machine_of` has an Apple GPU.
MACHINE = replace(
    GPU,
    kind="integrated",
    vendor="apple",
    max_compute_invocations_per_workgroup=256,
    max_compute_workgroup_storage_size=(32 << 10) - FENCE_BYTES,
)
_SWIZZLE = re.compile(r"\.([xyzw]{2,4})\b")
#: Zeros for workgroup memory, which wgpu-native does not have Naga write.
_ZEROS = re.compile(r"    if \(local == 0u\) \{\n(?:        .*\n)*    \}\n    metal::threadgroup_barrier\(.*\);\n")
_ARGUMENT = re.compile(r"(threadgroup|device|constant) ([\w:]+)( const)?& (\w+)")


def texts(each: int) -> dict[str, str]:
    """Up to so many texts of each kernel, spread over the grid, by name."""
    variants.plan_for({"metal": MACHINE})
    found = variants.some_of_each(variants.variants(quick=True), each)
    return {f"{variant.kernel.replace('/', '.')}-{number}": variant.text for number, variant in enumerate(found)}


def write(named: Mapping[str, str]) -> None:
    """Metal's kernels in the folder of builds."""
    shutil.rmtree(_BUILD, ignore_errors=True)
    _BUILD.mkdir()
    for name, text in named.items():
        (_BUILD / f"{name}.wgsl").write_text(text)
    subprocess.run(["node", HERE / "write.mjs", *(_BUILD / f"{name}.wgsl" for name in named)], check=True)


def cpp(metal: str) -> str:
    """A kernel as C++, whose arguments do not alias each other, as Metal takes it."""
    metal = _SWIZZLE.sub(lambda found: f".get_{found[1]}()", metal)
    begin = metal.index("kernel void main_(")
    end = metal.index(") {", begin)
    functions = re.sub(r"\[\[max_total_threads_per_threadgroup\(\d+\)\]\]", "", metal[:begin])
    arguments = _ARGUMENT.sub(r"\1 \2\3& __restrict \4", metal[begin:end]).replace("kernel void", 'extern "C" void')
    return functions + arguments + _ZEROS.sub("", metal[end:], count=1)


def moved(main: str) -> list[str]:
    """What stands between barriers of an optimised kernel and their fences."""
    lines = [line.strip() for line in main.splitlines() if re.search(r"= load |^  store |@\w+\(", line)]
    beside = (at for n, line in enumerate(lines) if "@barrier(" in line for at in (n - 1, n + 1))
    return [lines[at] for at in beside if "@atomic_stored(" not in lines[at]]


def optimised(name: str, text: str) -> str:
    """What clang makes of the main function. Raises ValueError where it does not compile."""
    path = _BUILD / f"{name}.cpp"
    path.write_text(text)
    flags = "-std=c++17 -O2 -S -emit-llvm -w -fno-vectorize -fno-slp-vectorize -fno-exceptions -mllvm -inline-threshold=1000000"
    command = ["clang++", *flags.split(), f"-I{HERE / 'include'}", "-o", "-", str(path)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise ValueError(run.stderr.splitlines()[0])
    begin = run.stdout.index(" @main_(")
    return run.stdout[begin : run.stdout.index("\n}", begin)]


def escaping(text: str) -> str:
    """A kernel in C++ whose buffers any function may change."""
    begin = text.index('extern "C" void main_(')
    end = text.index(") {", begin) + len(") {")
    buffers = re.findall(r"device [\w:]+& __restrict (\w+)", text[begin:end])
    return f"{text[:end]}{''.join(f' escape(&{name});' for name in buffers)}{text[end:]}"


def accesses(main: str) -> list[str]:
    """Loads, stores and calls of an optimised kernel in their order, without values."""
    found = re.findall(r"= load [^%@]*|^  store [^%@]*|@\w+\(", main, re.MULTILINE)
    return [access for access in found if access not in ("@escape(", "@main_(")]


def judged(name: str) -> str:
    """What is wrong with a kernel, or nothing."""
    text = cpp((_BUILD / f"{name}.metal").read_text())
    try:
        main = optimised(name, text)
        found = moved(main)
        if found:
            return f"beside a barrier there is {found[0]}"
        if "mem_device" in text and accesses(main) != accesses(optimised(f"{name}-escaping", escaping(text))):
            return "loads or stores of a buffer move across a barrier"
    except ValueError as error:
        return str(error)
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=2, help="texts of each kernel (default: 2)")
    given = parser.parse_args()
    named = texts(given.each)
    write({name: fenced(text) for name, text in named.items()})
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(named, pool.map(judged, named), strict=True))
    wrong = {name: why for name, why in found.items() if why}
    for name, why in wrong.items():
        print(f"{name}: {why}")
    print(f"{len(named)} texts of {len({name.rpartition('-')[0] for name in named})} kernels, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
