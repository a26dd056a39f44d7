"""Import, device, first answer: wgdml beside a bare wgpu program with the same kernels.

python benchmarks/start_up.py [--rounds 5]

Each round starts a process for either. The goal is 1.25 of the bare program's time. Processor time
is printed too: it says more where other programs run.
"""

from __future__ import annotations

import argparse
import os
import pickle
import statistics
import subprocess
import sys
import tempfile

_OURS = """
import wgdml, numpy as np
assert wgdml.argmax(np.arange(1024, dtype=np.float32)) == 1023
"""

_BARE = """
import pickle, sys
import numpy as np, wgpu
gpu = wgpu.gpu.request_adapter_sync(power_preference="high-performance").request_device_sync(required_features=FEATURES)
with open(FILE, "rb") as file:
    steps, scratch_size = pickle.load(file)
usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
buffers = {"input": gpu.create_buffer_with_data(data=np.arange(1024, dtype=np.float32), usage=usage)}
buffers["indices"] = gpu.create_buffer(size=256, usage=usage)
buffers["scratch"] = gpu.create_buffer(size=max(256, scratch_size), usage=usage)
encoder = gpu.create_command_encoder()
work = encoder.begin_compute_pass()
for code, params, bindings, grid in steps:
    uniform = gpu.create_buffer_with_data(data=params, usage=wgpu.BufferUsage.UNIFORM)
    kinds = {0: "uniform", 1: "read-only-storage"}
    entries = [{"binding": 0, "resource": {"buffer": uniform, "offset": 0, "size": len(params)}}]
    for slot, name, offset, size in bindings:
        buffer = buffers[name]
        bound = {"buffer": buffer, "offset": offset, "size": min(size, buffer.size - offset)}
        entries.append({"binding": slot, "resource": bound})
    layout = gpu.create_bind_group_layout(entries=[
        {"binding": e["binding"], "visibility": 4, "buffer": {"type": kinds.get(e["binding"], "storage")}} for e in entries
    ])
    module = gpu.create_shader_module(code=code)
    pipeline = gpu.create_compute_pipeline(
        layout=gpu.create_pipeline_layout(bind_group_layouts=[layout]), compute={"module": module, "entry_point": "main"}
    )
    work.set_pipeline(pipeline)
    work.set_bind_group(0, gpu.create_bind_group(layout=layout, entries=entries))
    work.dispatch_workgroups(*grid)
work.end()
gpu.queue.submit([encoder.finish()])
assert np.frombuffer(gpu.queue.read_buffer(buffers["indices"], 0, 8), np.int64)[0] == 1023
"""

_TIMED = """
import resource, time
_started = time.perf_counter()
{program}
_usage = resource.getrusage(resource.RUSAGE_SELF)
print(time.perf_counter() - _started, _usage.ru_utime + _usage.ru_stime)
"""


def _steps(file: str) -> tuple[str, ...]:
    """Writes what wgdml would dispatch to a file; the features that its device has."""
    import wgdml
    from wgdml import shaders
    from wgdml.selection import Layout, Order, make_selection

    one, many = Layout((1,), (1,)), Layout((1024,), (1,))
    selection = make_selection("float32", many, (0,), 1, Order.MAXIMUM, values=None, indices=one, index_bytes=8)
    device = wgdml.Device()
    plan = device.planner.plan(selection)
    steps = [
        (
            shaders.assemble(d.kernel, dict(d.constants)),
            bytes(d.params),
            [(b.slot, b.resource, b.offset, b.size) for b in d.bindings],
            d.grid,
        )
        for d in plan.dispatches
    ]
    with open(file, "wb") as out:
        pickle.dump((steps, plan.scratch_size), out)
    return tuple(sorted(device.features & {"subgroup"}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "steps")
        features = _steps(file)
        bare = _BARE.replace("FILE", repr(file)).replace("FEATURES", repr(list(features)))
        programs = {"bare wgpu": bare, "wgdml": _OURS}
        times: dict[str, list[list[float]]] = {name: [] for name in programs}
        for _ in range(options.rounds):
            for name, program in programs.items():
                run = subprocess.run(
                    [sys.executable, "-c", _TIMED.format(program=program)], check=True, stdout=subprocess.PIPE, text=True
                )
                times[name].append([float(n) for n in run.stdout.split()])
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in times.items()}
    print("import, device, first answer; goal: within 1.25 of the bare program")
    for name, (wall, cpu) in medians.items():
        ratios = wall / medians["bare wgpu"][0], cpu / medians["bare wgpu"][1]
        print(f"  {name:10} {wall:6.3f} s  {ratios[0]:5.2f}   processor {cpu:6.3f} s  {ratios[1]:5.2f}")


if __name__ == "__main__":
    main()
