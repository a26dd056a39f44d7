"""Kernels for Metal, where no load or store of what invocations share moves across a barrier."""

from __future__ import annotations

import re

import numpy as np
import pytest
from variants import variants

import wgdml
from wgdml.runtime.fences import fenced


@pytest.fixture
def fenced_device(device):
    own = wgdml.Device(device.gpu_device)
    own.context.fenced = True
    return own


def test_a_kernel_without_workgroup_memory_stays_as_it_is():
    text = "@compute @workgroup_size(64) fn main() { }\n"
    assert fenced(text) == text


def test_every_barrier_stands_between_fences():
    """All memory is one variable's, and what is shared by all is read between two barriers."""
    seen = set()
    for variant in variants(quick=True):
        text = fenced(variant.text)
        if variant.kernel in seen or text == variant.text:
            continue
        seen.add(variant.kernel)
        assert re.findall(r"^var<workgroup> (\w+)", text, re.MULTILINE) == ["workgroup_memory"]
        assert text.count("workgroupBarrier();") == text.count("fence(); workgroupBarrier(); fence();") == 1
        assert text.count("storageBarrier();") == text.count("fence(); storageBarrier(); fence();")
        assert "workgroupUniformLoad" not in text
    assert len(seen) > 30


def test_what_a_workgroup_shares_in_a_buffer_is_atomic():
    """One that is read and written around a storageBarrier, whatever the elements and the index."""
    text = """
alias Key = vec2<u32>;
@group(0) @binding(0) var<storage, read_write> keys: array<Key>;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;
@group(0) @binding(2) var<storage, read_write> written: array<u32>;
@group(0) @binding(3) var<storage, read> given: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) local: u32) {
  let key = keys[state[local + 1u]];
  storageBarrier();
  keys[given[local]] = key;
  state[state[local] * 2u] = state[given[local]] + key.x;
  written[local] = 1u;
}
"""
    found = fenced(text)
    for line in (
        "var<storage, read_write> keys: array<array<atomic<u32>, 2>>;",
        "var<storage, read_write> state: array<atomic<u32>>;",
        "var<storage, read_write> written: array<u32>;",
        "  let key = load_keys(load_state(local + 1u));",
        "  store_keys(given[local], key);",
        "  store_state(load_state(local) * 2u, load_state(given[local]) + key.x);",
        "  written[local] = 1u;",
    ):
        assert line in found, line


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_a_running_top_k_is_the_same_with_fences(fenced_device, dtype):
    """Few pairs arrive, or too many for the list of a workgroup."""
    x = np.random.default_rng(3).integers(-500, 500, (3, 6000)).astype(dtype)
    x.sort(axis=1)
    running = wgdml.RunningTopK(70, dtype, (3,), device=fenced_device)
    for begin in range(0, 6000, 2000):
        running.update(x[:, begin : begin + 2000])
    order = np.argsort(-x, axis=1, kind="stable")[:, :70]
    assert np.array_equal(running.result().indices, order)


@pytest.mark.parametrize("k", [1, 5, 100, 3000])
def test_answers_are_the_same_with_fences(fenced_device, k):
    x = np.random.default_rng(k).integers(-500, 500, (7, 5000)).astype(np.float32)
    found = wgdml.top_k(x, k, device=fenced_device)
    order = np.argsort(-x, axis=1, kind="stable")[:, :k]
    assert np.array_equal(found.indices, order)
    assert np.array_equal(found.values, np.take_along_axis(x, order, axis=1))
