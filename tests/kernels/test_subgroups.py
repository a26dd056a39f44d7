"""Kernels with and without subgroup operations give the oracle's answers on one machine."""

from __future__ import annotations

from typing import Any

import data
import numpy as np
import oracle
import pytest
from checks import check, strided_tensor
from planning import KEPT, numbers_of, planned_device

import wgdml
from wgdml.plan import Plan
from wgdml.runtime.adapter import wgpu

DIRECTIONS = ("argmax-first", "argmax-last", "argmin-first", "argmin-last")


def opened(monkeypatch: pytest.MonkeyPatch, subgroups: bool) -> wgdml.Device:
    with monkeypatch.context() as patch:
        patch.setenv("WGDML_SUBGROUPS", "" if subgroups else "off")
        return wgdml.Device(kept=KEPT)


@pytest.fixture(scope="module", params=[True, False], ids=["subgroups", "no-subgroups"])
def wanted(request) -> bool:
    return request.param


@pytest.fixture(scope="module")
def plain(wanted) -> wgdml.Device:
    """A device as the environment makes it: both the same where there are no subgroups."""
    with pytest.MonkeyPatch.context() as patch:
        device = opened(patch, wanted)
    assert device.machine.subgroups == (wanted and "subgroup" in device.gpu_device.adapter.features)
    return device


@pytest.fixture
def forced(plain):
    """A device that plans as for a GPU, with other numbers if need be, and what it planned."""

    def make(**numbers: Any) -> tuple[wgdml.Device, list[Plan]]:
        own, planned = planned_device(plain, **numbers)
        return own, planned.plans

    return make


def whole_workgroups(plans: list[Plan]) -> list[int]:
    """SUBGROUPS of each dispatch that reduces with a whole workgroup."""
    found = []
    for dispatch in (dispatch for plan in plans for dispatch in plan.dispatches):
        c = numbers_of(dispatch)
        whole = dispatch.kernel == "reduce/rows" and c["TEAM"] == c["WORKGROUP"] > 1
        if whole or dispatch.kernel == "reduce/last_block":
            found.append(c["SUBGROUPS"])
    return found


def assert_planned(plans: list[Plan], plain: wgdml.Device) -> None:
    """Without subgroups a small team shares its workgroup with others."""
    subgroups = int(plain.machine.subgroups)
    assert set(whole_workgroups(plans)) in ([{1}] if subgroups else [{0}, set()])


@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "int64"])
def test_reduce_of_every_width(forced, plain, wanted, name):
    device, plans = forced(reduce={"held_loads": 0})
    for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        x = data.make(kind, name, (3, 9001 if oracle.DTYPES[name].itemsize > 1 else 36_001), seed)
        for direction in DIRECTIONS:
            check(direction, x, device=device, case=kind)
    assert_planned(plans, plain)


@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "float64"])
def test_rows_of_few_loads(forced, wanted, name):
    """All of an invocation's loads under way at once: lengths about whole loads, skewed rows."""
    device, plans = forced()
    for number, n in enumerate((2, 3, 17, 64, 255, 256, 257, 1000, 1003, 4099)):
        for kind in ("random", "few_distinct", "constant"):
            check(DIRECTIONS[number % 4], data.make(kind, name, (37, n), n), device=device, case=kind)
    for offset in range(1, 4):
        # The buffer ends with a whole load.
        stride, n = 1008 + offset, 1008 - 37 * offset
        tensor, x = strided_tensor(device, "few_distinct", name, (37, n), (stride, 1), offset)
        for direction in DIRECTIONS:
            check(direction, x, given=tensor, device=device, case=offset)
    tensor, x = strided_tensor(device, "few_distinct", name, (37, 500), (1003, 2), 1)
    for direction in DIRECTIONS:
        check(direction, x, given=tensor, device=device, case="strided")
    constants = [numbers_of(d) for plan in plans for d in plan.dispatches]
    assert {c["LOADS"] > 0 for c in constants} == {True}
    # All loads are tested, and only the first and the last.
    assert {c["LOADS"] > 3 for c in constants if c["PER_LOAD"] > 1} == {False, True}


@pytest.mark.parametrize("name", ["uint8", "int32", "float32", "uint64", "float64"])
def test_the_winner_alone_at_every_kind_of_place(forced, wanted, name):
    """Among them index 0, which the order of last ties turns into the index that means none."""
    device, _ = forced()
    dtype = oracle.DTYPES[name]
    low, high = (-np.inf, np.inf) if oracle.is_float(dtype) else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    places = [0, 1, 3, 7, 8, 31, 32, 255, 256, 4095, 8999, 9000]
    x = np.full((len(places), 9001), low, dtype)
    x[range(len(places)), places] = np.array(1).astype(dtype)
    for each in (x, np.full_like(x, low), np.full_like(x, high)):
        for direction in DIRECTIONS:
            check(direction, each, device=device)


# From one subgroup that is not full to many.
@pytest.mark.parametrize(("workgroup", "name"), data.paired([2, 4, 16, 64, 256, 1024], ("float32", "int64")))
def test_workgroups_of_every_size(forced, plain, workgroup, name):
    if workgroup > plain.machine.max_compute_invocations_per_workgroup:
        workgroup = plain.machine.max_compute_invocations_per_workgroup
    device, plans = forced(
        limits={"max_compute_invocations_per_workgroup": workgroup}, occupancy={"workgroups": 2112 * 256 // workgroup}
    )
    for n, direction in ((8 * workgroup, "argmax-first"), (20_011, "argmin-last")):
        for kind in ("eight_values", "random"):
            check(direction, data.make(kind, name, (5, n), n), device=device, case=kind)
    assert whole_workgroups(plans)


@pytest.mark.parametrize("name", ["uint8", "float32", "float64"])
def test_reduce_of_pairs_and_of_strided_elements(forced, plain, wanted, name):
    device, plans = forced()
    columns = data.make("few_distinct", name, (100_003, 3), 1)
    for direction in DIRECTIONS:
        check(direction, columns, axis=0, device=device)
    assert_planned(plans, plain)
    plans.clear()
    tensor, x = strided_tensor(device, "eight_values", name, (2, 30, 150), (13_000, 405, 2), 5)
    for direction in DIRECTIONS:
        check(direction, x, given=tensor, axis=(1, 2), device=device)
    assert_planned(plans, plain)


# Who plans them ----------------------------------------------------------------------------------


def test_they_are_used_where_the_device_has_them(device, monkeypatch):
    has = "subgroup" in device.gpu_device.adapter.features
    for subgroups in (True, False):
        own = opened(monkeypatch, subgroups)
        assert ("subgroup" in own.features) == own.machine.subgroups == (has and subgroups)
    for features in ([], ["subgroup"] if has else []):
        given = wgdml.Device(device.gpu_device.adapter.request_device_sync(required_features=features))
        assert given.machine.subgroups == bool(features)


def test_the_least_device_has_none(monkeypatch):
    monkeypatch.setenv("WGDML_LIMITS", "minimum")
    least = wgdml.Device()
    assert not least.machine.subgroups and not least.features & {"subgroup"}


@pytest.mark.parametrize("wrong", ["on", "OFF", "0"])
def test_other_values_are_refused(monkeypatch, wrong):
    monkeypatch.setenv("WGDML_SUBGROUPS", wrong)
    with pytest.raises(ValueError, match=f"WGDML_SUBGROUPS must be \"off\" or unset, not '{wrong}'"):
        wgdml.Device()


def test_a_device_without_them_refuses_their_shaders(device):
    """So a plan that had them by mistake would not go unnoticed."""
    bare = device.gpu_device.adapter.request_device_sync(required_features=[])
    code = "@compute @workgroup_size(1) fn main() { _ = subgroupMin(1u); }"
    with pytest.raises(wgpu.GPUError):
        bare.create_shader_module(code=code)
