"""What the compilers of GPUs that are not here make of the kernels: Mesa's, for AMD and others.

Mesa's drivers open a GPU that only has a name, and compile for it. A layer of Vulkan (layer.c)
makes up what else a device needs, so that wgpu and the library run as they would there, except that
nothing is computed. Each kernel of the grid (tests/variants.py) is compiled in a few forms, and so
is all that random problems take. Prints how long that takes, and which kernels hold more than there
are registers for, which goes to memory ("spills").

Mesa has AMD's null hardware built in. Intel's and Qualcomm's GPUs come from a build of Mesa's
sources with `-Dtools=drm-shim,intel -Dvulkan-drivers=intel,freedreno`, by `--mesa FOLDER`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_BUILD = HERE / "build"
_LAYER = "VK_LAYER_wgdml_nothing_runs"
_SLOWEST = 20.0  # seconds of a kernel
_SEED, _PROBLEMS, _BYTES = 5, 200, 1 << 27  # of the random problems
#: What compilers call words that have no register, as they are written.
_SPILLS = ("Spilled VGPRs", "Spill Count", "STP Count")


@dataclass(frozen=True)
class Gpu:
    """How a driver is told of a GPU."""

    name: str
    driver: str  #: The library, relative to a build, or as the loader finds it.
    variables: dict[str, str] = field(default_factory=dict)
    shim: str = ""  #: What stands in for the kernel's driver, relative to a build.


AMD = tuple(
    Gpu(f"AMD {name}", "libvulkan_radeon.so", {"RADV_FORCE_FAMILY": name.lower(), "AMD_FORCE_FAMILY": name.lower()})
    for name in ("NAVI21", "VEGA10", "POLARIS10")
)
_INTEL, _QUALCOMM = "src/intel/tools/libintel_noop_drm_shim.so", "src/freedreno/drm-shim/libfreedreno_noop_drm_shim.so"
BUILT = (
    *(
        Gpu(f"Intel {name}", "src/intel/vulkan/libvulkan_intel.so", {"INTEL_STUB_GPU_PLATFORM": name}, _INTEL)
        for name in ("tgl", "dg2")
    ),
    Gpu("Qualcomm Adreno 660", "src/freedreno/vulkan/libvulkan_freedreno.so", {"FD_GPU_ID": "660"}, _QUALCOMM),
)


def build() -> None:
    """The layer, beside what tells the loader of it."""
    _BUILD.mkdir(exist_ok=True)
    library = _BUILD / "liblayer.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(HERE / "layer.c")], check=True)
    about = {"name": _LAYER, "type": "GLOBAL", "library_path": str(library), "api_version": "1.3.0", "implementation_version": "1"}
    layer = {"file_format_version": "1.1.2", "layer": about | {"description": "a device that only compiles"}}
    (_BUILD / "layer.json").write_text(json.dumps(layer))


def environment(gpu: Gpu, mesa: Path | None) -> dict[str, str]:
    icd = _BUILD / f"{gpu.name.replace(' ', '-')}.icd.json"
    library = str(mesa / gpu.driver) if gpu.shim and mesa else gpu.driver
    icd.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": {"library_path": library, "api_version": "1.3.0"}}))
    return {
        **os.environ,
        **gpu.variables,
        **({"LD_PRELOAD": str(mesa / gpu.shim)} if gpu.shim and mesa else {}),
        "VK_ICD_FILENAMES": str(icd),
        "VK_DRIVER_FILES": str(icd),
        "VK_LAYER_PATH": str(_BUILD),
        "VK_INSTANCE_LAYERS": _LAYER,
        "WGPU_BACKEND_TYPE": "Vulkan",
        "WGDML_STATISTICS": str(_BUILD / "statistics.txt"),
        "MESA_SHADER_CACHE_DISABLE": "true",
    }


def compile_all(each: int) -> None:
    """Of the process that has such a GPU: a line of JSON for each text, and one before it."""
    sys.path.insert(0, str(HERE.parent))
    import variants

    import wgdml
    from wgdml.bench.cases import draw
    from wgdml.bench.run import selection_of

    device = wgdml.Device()
    statistics = Path(os.environ["WGDML_STATISTICS"])
    variants.plan_for({"here": device.machine})
    distinct = {(d.kernel, d.constants): d for _, _, plan in variants.plans(quick=True) for d in plan.dispatches}
    grid = variants.some_of_each(distinct.values(), each)
    drawn = [d for case in draw(_SEED, _PROBLEMS, _BYTES) for d in device.planner.plan(selection_of(case)).dispatches]
    seen: dict[Any, dict[str, Any]] = {}
    for number, dispatch in enumerate(grid + drawn):
        key = dispatch.kernel, dispatch.constants
        if key not in seen:
            print(json.dumps({"kernel": dispatch.kernel, "constants": dict(dispatch.constants)}), flush=True)
            statistics.write_text("")
            started = time.perf_counter()
            device.pipelines.get(dispatch)
            seconds = time.perf_counter() - started
            said = json.loads(statistics.read_text())
            spills = max((one.get(name, 0) for one in said for name in _SPILLS), default=0)
            seen[key] = {"kernel": dispatch.kernel, "seconds": seconds, "spills": spills}
        print(json.dumps(seen[key] | {"drawn": number >= len(grid)}), flush=True)
    print(json.dumps({"device": repr(device), "driver": device.adapter_info.get("description", "")}))


def report(gpu: Gpu, lines: list[dict[str, Any]]) -> bool:
    """Prints what a compiler made of all; whether nothing is too slow."""
    device, texts = lines[-1], [line for line in lines if "seconds" in line]
    drawn = [text for text in texts if text["drawn"]]
    spilled = [text for text in drawn if text["spills"]]
    slowest = max(texts, key=lambda text: text["seconds"])
    kernels = {text["kernel"] for text in texts}
    print(f"{gpu.name}: {device['driver']}")
    print(f"  {len(texts)} texts of {len(kernels)} kernels; {slowest['kernel']} took {slowest['seconds']:.1f} s")
    print(f"  of random problems' {len(drawn)} dispatches {len(spilled)} spill")
    for kernel in sorted({text["kernel"] for text in texts if text["spills"]}):
        own = [text for text in texts if text["kernel"] == kernel]
        many = sum(text["spills"] > 0 for text in own)
        print(f"    {kernel:30} {many:3} of {len(own):3}, up to {max(text['spills'] for text in own):.0f}")
    return bool(slowest["seconds"] <= _SLOWEST)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=4, help="forms of each kernel of the grid (default: 4)")
    parser.add_argument("--mesa", type=Path, help="a build of Mesa with its shims")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        compile_all(given.each)
        return 0
    build()
    fine = True
    for gpu in (*AMD, *(BUILT if given.mesa else ())):
        command = [sys.executable, __file__, "--here", "--each", str(given.each)]
        with (_BUILD / "messages.txt").open("w") as messages:
            run = subprocess.run(command, env=environment(gpu, given.mesa), stdout=subprocess.PIPE, stderr=messages, text=True)
        lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
        if run.returncode != 0:
            last = lines[-1] if lines else "nothing"
            print(f"{gpu.name}: ended with {run.returncode} after {last}: see {_BUILD / 'messages.txt'}", file=sys.stderr)
            fine = False
        else:
            fine &= report(gpu, lines)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
