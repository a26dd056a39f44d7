"""Kernels for Metal, whose workgroup memory is one variable with fences beside barriers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from variants import variants

import wgdml
from wgdml.runtime.fences import fenced


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


@pytest.mark.parametrize("k", [1, 5, 100, 3000])
def test_answers_are_the_same_with_fences(device, k):
    own = wgdml.Device(device.gpu_device)
    own.context.fenced = True
    x = np.random.default_rng(k).integers(-500, 500, (7, 5000)).astype(np.float32)
    found = wgdml.top_k(x, k, device=own)
    order = np.argsort(-x, axis=1, kind="stable")[:, :k]
    assert np.array_equal(found.indices, order)
    assert np.array_equal(found.values, np.take_along_axis(x, order, axis=1))
