"""A driver that does not compile a kernel: other kernels serve, with a warning."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import oracle
import pytest
import wgpu
from planning import GPU

import wgdml
from wgdml.contract import DataType
from wgdml.plan import Planner, Rejected
from wgdml.runtime import pipelines
from wgdml.selection import Layout, Order, make_selection
from wgdml.shaders import ShaderError


@pytest.fixture
def device():
    with wgdml.Device(planner=lambda machine: Planner(replace(machine, kind="discrete"))) as device:
        yield device


@pytest.fixture
def reject(monkeypatch):
    """Has the driver reject kernels. They are told as they are met."""
    compiled, rejected = pipelines.shader_module, set()
    met = []

    def module(gpu, label, code):
        if label in rejected:
            met.append(label)
            raise wgpu.GPUInternalError(f"thread sync operation found in\nvarying flow control of {label}")
        return compiled(gpu, label, code)

    monkeypatch.setattr(pipelines, "shader_module", module)
    return rejected, met


def check(device, x, k):
    values, indices = wgdml.top_k(x, k, device=device)
    want_values, want_indices = oracle.top_k(x, k)
    oracle.assert_same(values, want_values)
    oracle.assert_same(indices, want_indices)


def selection(sequences: int, length: int, k: int, element: str = "float32"):
    out, given = Layout.packed((sequences, k)), Layout.packed((sequences, length))
    return make_selection(element, given, (1,), k, Order.DESCENDING, values=out, indices=out, index_bytes=4)


def test_other_kernels_serve_with_one_warning_each(device, reject):
    rejected, met = reject
    rng = np.random.default_rng(0)
    first = device.planner.plan(selection(7, 5000, 90)).dispatches[0].kernel
    rejected.add(first)
    with pytest.warns(RuntimeWarning, match=f"does not compile {first}.wgsl; other kernels .*in varying flow control") as warned:
        check(device, rng.integers(0, 50, (7, 5000)).astype("f4"), 90)
    assert len(warned) == 1 and met == [first]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(device, rng.integers(0, 50, (7, 5001)).astype("f4"), 90)  # planned anew
        check(device, rng.integers(0, 50, (7, 5000)).astype("f8"), 90)
    assert met == [first]


def test_kernel_after_kernel_may_be_rejected(device, reject):
    rejected, met = reject
    x = np.random.default_rng(1).integers(0, 50, (3, 6000)).astype("i2")
    for _ in range(4):
        rejected |= {d.kernel for d in device.planner.plan(selection(3, 6000, 70, "int16")).dispatches} - {"radix_sort/histogram"}
        try:
            with pytest.warns(RuntimeWarning, match="does not compile"):
                check(device, x, 70)
        except ShaderError:
            break
        device.kept.clear()
        device.pipelines.clear()
    assert len(set(met)) >= 4


def test_nothing_in_place_of_a_kernel(device, reject):
    """The driver's own error comes, with the text; once the driver takes it, all is as before."""
    rejected, met = reject
    rejected |= {"ranks/bisect", "ranks/rows", "ranks/sample", "ranks/histogram"}
    x = np.random.default_rng(2).integers(0, 50, (5, 700)).astype("f4")
    for _ in range(2):
        with pytest.raises(ShaderError, match="does not compile"):
            wgdml.median(x, axis=1, device=device)
    rejected.clear()
    assert np.array_equal(wgdml.median(x, axis=1, device=device), np.median(x, axis=1))
    assert met


def test_a_forced_algorithm_is_not_replaced(device, reject):
    rejected, _ = reject
    rejected.add("select/teams")
    with pytest.raises(ShaderError, match=r"select/teams.wgsl does not compile"):
        device.prepare(selection(7, 5000, 90), algorithm="select_teams")
    assert not device.planner.rejected


def test_a_running_top_k_without_its_filter(device, reject):
    rejected, met = reject
    rejected.add("running/update")
    x = np.random.default_rng(3).integers(0, 99, (4, 30_000)).astype("f4")
    running = wgdml.RunningTopK(60, "float32", (4,), device=device)
    running.update(x[:, :10_000])
    with pytest.warns(RuntimeWarning, match="running/update"):
        running.update(x[:, 10_000:20_000])
    running.update(x[:, 20_000:])
    want = oracle.top_k(x, 60)
    for found, wanted in zip(running.result(), want, strict=True):
        assert np.array_equal(found, wanted)
    assert met == ["running/update"]


@pytest.mark.parametrize("subgroups", [False, True])
def test_plans_do_without_any_one_kernel(subgroups):
    """But for those of the last resort, and those that look at spans or copy results."""
    shapes = [(1, 5000, 9), (1, 1 << 22, 100), (3000, 70, 12), (3000, 700, 40), (300, 5000, 300), (9, 70_000, 4000)]
    last = {"radix_sort/histogram", "radix_sort/scan", "radix_sort/scatter", "radix_sort/scatter_subgroups", "util/emit"}
    machine, needed = replace(GPU, subgroups=subgroups), set()
    for kernel in {d.kernel for shape in shapes for d in Planner(machine).plan(selection(*shape)).dispatches}:
        planner = Planner(machine)
        planner.rejected.add(kernel)
        for shape in shapes:
            try:
                plan = planner.plan(selection(*shape))
            except Rejected:
                needed.add(kernel)
            else:
                assert plan.dispatches and kernel not in {d.kernel for d in plan.dispatches}
    assert needed <= last


@pytest.mark.parametrize("axis", [0, 1])
def test_columns_in_parts_without_their_copy(device, reject, axis):
    """An algorithm that gives up amid its parts leaves nothing of them behind."""
    rejected, met = reject
    rejected.add("util/transpose")
    x = np.random.default_rng(5).standard_normal((5000, 300) if axis == 0 else (2, 5000, 300)).astype("f4")
    lengths = np.random.default_rng(6).integers(0, 5001, 300).astype("i4") if axis == 0 else None
    with pytest.warns(RuntimeWarning, match="util/transpose"):
        values, indices = wgdml.top_k(x, 2600, axis=axis, lengths=lengths, device=device)
    assert met == ["util/transpose"]
    for column in range(0, 300, 7):
        one = (slice(None), column) if axis == 0 else (1, slice(None), column)
        row = x[one][: None if lengths is None else lengths[column]]
        want = np.argsort(-row, kind="stable")[:2600]
        assert np.array_equal(indices[one][: len(want)], want) and np.array_equal(values[one][: len(want)], row[want])


def test_a_text_may_be_rejected_and_another_not(device, reject):
    rejected, _ = reject
    x = np.random.default_rng(7).standard_normal((128, 1024)).astype("f4")
    device.planner.rejected.add("ranks/bisect")  # as if another text of it had been
    assert np.array_equal(wgdml.median(x, axis=1, device=device), np.median(x, axis=1))
    assert device.planner.rejected == {"ranks/bisect"}
    rejected.add("ranks/bisect")
    device.kept.clear()
    device.pipelines.clear()
    with pytest.raises(ShaderError, match="does not compile") as caught:
        wgdml.median(x, axis=1, device=device)
    assert isinstance(caught.value.__cause__, wgpu.GPUError) and device.planner.rejected == {"ranks/bisect"}


def test_another_error_on_the_way(device, reject, monkeypatch):
    """It comes with a note, and the planner is as before."""
    rejected, _ = reject
    first = device.planner.plan(selection(7, 5000, 90)).dispatches[0].kernel
    rejected.add(first)
    plan = device.planner.plan

    def no_room(*given, **options):
        if device.planner.rejected:
            raise MemoryError("no room")
        return plan(*given, **options)

    monkeypatch.setattr(device.planner, "plan", no_room)
    with pytest.raises(MemoryError, match="no room") as caught:
        wgdml.top_k(np.zeros((7, 5000), "f4"), 90, device=device)
    assert any(first in note for note in caught.value.__notes__) and not device.planner.rejected


def test_operators_do_without_a_kernel(device, reject):
    rejected, _ = reject
    tensor = wgdml.TensorDesc(DataType.FLOAT32, (3, 8192))
    desc = wgdml.ArgmaxOperatorDesc(tensor, wgdml.TensorDesc(DataType.UINT32, (3, 1)), (1,))
    rejected.add("reduce/rows")
    rejected.add("reduce/last_block")
    with pytest.warns(RuntimeWarning, match="reduce/"):
        compiled = device.compile_operator(device.create_operator(desc))
    x = np.random.default_rng(4).integers(0, 9, (3, 8192)).astype("f4")
    found = compiled(wgdml.asarray(x, device=device))["output_tensor"]
    assert np.array_equal(found.numpy(), x.argmax(1)[:, None])
