"""No kernel relies on zeros in workgroup memory: Mesa 22.3's lavapipe does not write them."""

import data
import numpy as np
import oracle
import pytest
import wgpu
from planning import ALGORITHMS, SERIAL, planned_device

import wgdml
from wgdml.runtime import executor

_POISON = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> words: array<u32, 4096>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3<u32>) {
  for (var i = local; i < 4096u; i += 64u) { words[i] = 0xffffffffu; }
  workgroupBarrier();
  out[group.x] = words[(local * 61u) % 4096u];
}
"""


@pytest.fixture
def filled():
    """The dispatches of every plan before which workgroup memory was filled."""
    return []


@pytest.fixture
def poisoned(device, monkeypatch, filled):
    """A device on which a kernel fills workgroup memory with ones before every dispatch of ours."""
    gpu = device.gpu_device
    module = gpu.create_shader_module(code=_POISON)
    pipeline = gpu.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    out = gpu.create_buffer(size=256, usage=wgpu.BufferUsage.STORAGE)
    group = gpu.create_bind_group(
        layout=pipeline.get_bind_group_layout(0),
        entries=[{"binding": 0, "resource": {"buffer": out, "offset": 0, "size": 256}}],
    )

    def record(compute_pass, steps):
        filled.append(len(steps))
        for kernel, bindings, grid in steps:
            compute_pass.set_pipeline(pipeline)
            compute_pass.set_bind_group(0, group)
            compute_pass.dispatch_workgroups(64)
            compute_pass.set_pipeline(kernel)
            compute_pass.set_bind_group(0, bindings)
            compute_pass.dispatch_workgroups(*grid)

    # Operators that are recorded by the caller have a reference of their own; nothing here records
    # one.
    monkeypatch.setattr(executor, "record_steps", record)
    return device


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_sets_its_own(poisoned, filled, algorithm):
    own, _ = planned_device(poisoned, algorithm, algorithm in SERIAL, fallback=True)
    # The largest all lie in one strided subset of select's, so that its list overflows and has to
    # be trimmed.
    row = np.arange(60_000, dtype=np.float32)
    row[np.arange(60_000) // 4 % 32 != 0] = -1
    values, indices = wgdml.top_k(row, 3, device=own)
    oracle.assert_same(indices, oracle.top_k(row, 3)[1], algorithm)
    for kind, shape, axis, k in (
        ("sorted", (1, 60_000), 1, 100),
        ("few_distinct", (40, 900), 1, 20),
        ("random", (700, 30), 0, 7),
        ("eight_values", (2, 5_000), 1, 1),
        ("random", (3, 1_500), 1, 1_500),
    ):
        x = data.make(kind, "float32", shape, 3)
        values, indices = wgdml.top_k(x, k, axis=axis, device=own)
        expected_values, expected_indices = oracle.top_k(x, k, axis)
        oracle.assert_same(values, expected_values, (kind, algorithm))
        oracle.assert_same(indices, expected_indices, (kind, algorithm))
    assert len(filled) == 6 and all(filled), "a call whose kernels found memory as it was"
