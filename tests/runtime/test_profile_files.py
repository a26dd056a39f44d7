"""Files of profiles: found, checked, left aside with one warning; answers are right with any."""

from __future__ import annotations

import json
import os
import warnings
from random import Random

import data
import numpy as np
import oracle
import pytest
from planning import planned_device

import wgdml
from wgdml.plan import Planner, ranges
from wgdml.runtime import profile

NUMBERS = {"serial_select.slices": 16, "occupancy.loads_each": 128, "serial_select.reach": 0.75}


@pytest.fixture
def info(device, monkeypatch, tmp_path):
    """What wgpu says of the adapter, whose profiles are in an empty folder."""
    monkeypatch.delenv("WGDML_PROFILE", raising=False)
    monkeypatch.setattr(profile, "_folder", lambda: tmp_path / "profiles")
    monkeypatch.setattr(profile, "_warned", set())
    return device.adapter_info


def put(info, path=None, **changes):
    path = path or profile.path_of(info)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(profile.document(info, "2026-11-24", NUMBERS) | changes))
    return path


def opened(device):
    """A device on the same GPU device, and the warnings of two that are opened."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wgdml.Device(device.gpu_device)
        own = wgdml.Device(device.gpu_device)
    return own, [str(w.message) for w in caught if w.category is profile.ProfileWarning]


def test_the_warning_is_of_who_opens_the_device(device, info):
    put(info, numbers={"serial_select.slices": -1})
    with pytest.warns(profile.ProfileWarning) as caught:
        wgdml.Device(device.gpu_device)
    assert [w.filename for w in caught] == [__file__]


def test_none(device, info):
    own, warned = opened(device)
    assert not own.profile and not warned
    assert own.profile_reason == "the default of software adapters; wgdml tune makes a profile"
    assert own.planner.policies == Planner(own.machine).policies


def test_it_is_found_by_itself(device, info):
    path = put(info)
    own, warned = opened(device)
    assert own.profile == NUMBERS and not warned
    assert own.profile_reason == str(path)
    assert own.planner.policies["serial_select"].slices == 16
    x = data.make("random", "float32", (40, 300), 1)
    oracle.assert_same(wgdml.top_k(x, 30, device=own)[1], oracle.top_k(x, 30, 1)[1])


def test_another_run_that_ends_at_once_does_no_harm(info, monkeypatch):
    """It removes the files of older drivers first."""
    gone = profile.path_of(info).with_name("gone.json")
    monkeypatch.setattr(profile, "files_of", lambda info: [gone, profile.path_of(info)])
    path = profile.write(info, "2026-11-24", NUMBERS)
    assert json.loads(path.read_text())["numbers"] == NUMBERS


def test_the_environment_overrides(device, info, monkeypatch, tmp_path):
    put(info)
    monkeypatch.setenv("WGDML_PROFILE", "off")
    own, warned = opened(device)
    assert not own.profile and not warned and own.profile_reason.endswith("as WGDML_PROFILE=off")
    other = put(info, tmp_path / "other.json", numbers={"serial_select.slices": 2})
    monkeypatch.setenv("WGDML_PROFILE", str(other))
    own, warned = opened(device)
    assert own.profile == {"serial_select.slices": 2} and own.profile_reason == f"{other}, as WGDML_PROFILE says" and not warned


def test_a_planner_of_the_callers_has_no_profile(device, info):
    put(info)
    own = wgdml.Device(device.gpu_device, planner=Planner)
    assert not own.profile and own.profile_reason == "that of the planner that the caller gave"


def test_without_platformdirs_there_is_none(device, monkeypatch):
    monkeypatch.delenv("WGDML_PROFILE", raising=False)
    monkeypatch.setitem(__import__("sys").modules, "platformdirs", None)
    own, warned = opened(device)
    assert not own.profile and not warned and "configuration cannot be read" in own.profile_reason


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"wgdml": "0.0.1"}, "its wgdml is '0.0.1', not "),
        ({"adapter": "NVIDIA H200"}, "its adapter is 'NVIDIA H200', not "),
        ({"backend": None}, "its backend is None, not "),
        ({"driver": "of last year"}, "its driver is 'of last year', not "),
        ({"numbers": [1]}, "it is damaged: it must be an object with an object of numbers"),
        ({"numbers": {"occupancy.workgroups": 0}}, "occupancy.workgroups must be a whole number from 1 to 1048576, not 0"),
        ({"numbers": {"occupancy.workgroups": 1e300}}, "occupancy.workgroups must be a whole number"),
        ({"numbers": {"occupancy.workgroups": "8"}}, "occupancy.workgroups must be a whole number"),
        ({"numbers": {"occupancy.workgroups": True}}, "occupancy.workgroups must be a whole number"),
        ({"numbers": {"serial_select.reach": float("nan")}}, "serial_select.reach must be from 0.1 to 4, not nan"),
        ({"numbers": {"occupancy": 8}}, "there is no number named 'occupancy'"),
        ({"numbers": {"occupancy.": {}}}, "there is no number named 'occupancy.'"),
    ],
)
def test_one_that_does_not_serve_is_left_with_one_warning(device, info, changes, why):
    path = put(info, **changes)
    own, warned = opened(device)
    assert len(warned) == 1 and warned[0].startswith(f"the profile {path} is not used: {why}")
    assert not own.profile and why in own.profile_reason
    assert own.planner.policies == Planner(own.machine).policies


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"{", b"null", b"7", b"[" * 200_000, b"1" * 10_000, b" " * (2 << 20) + b"{}"]
)
def test_a_damaged_file_is_left_with_one_warning(device, info, content):
    put(info).write_bytes(content)
    own, warned = opened(device)
    assert len(warned) == 1 and "it is damaged" in warned[0] and not own.profile


def test_what_cannot_be_read_is_left_with_one_warning(device, info, monkeypatch, tmp_path):
    profile.path_of(info).mkdir(parents=True)
    assert [len(warned) for _, warned in (opened(device), opened(device))] == [1, 0]
    monkeypatch.setenv("WGDML_PROFILE", str(tmp_path / "none.json"))
    own, warned = opened(device)
    assert len(warned) == 1 and "cannot be read: No such file" in warned[0] and not own.profile


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(device, info, monkeypatch, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setenv("WGDML_PROFILE", str(tmp_path / "pipe"))
    own, warned = opened(device)
    assert len(warned) == 1 and "cannot be read: it is no regular file" in warned[0] and not own.profile


def test_one_of_another_driver_is_named(device, info):
    """An update of the driver or of the library has another file, and says so."""
    newer = dict(info) | {"description": "another driver"}
    path = put(newer)
    own, warned = opened(device)
    assert len(warned) == 1 and str(path) in warned[0] and "its driver is" in warned[0] and not own.profile
    put(info)
    assert opened(device)[0].profile == NUMBERS


# Answers with any numbers ------------------------------------------------------------------------

#: Each leads to other kernels: element, shape, axis, k.
PROBLEMS = (
    ("float32", (3, 20_001), 1, 1),
    ("int64", (900, 70), 0, 1),
    ("float32", (700, 90), 1, 5),
    ("float16", (3, 5003), 1, 40),
    ("uint8", (90, 300), 1, 70),
    ("float32", (2, 40_000), 1, 300),
    ("int64", (2, 9000), 1, 1500),
    ("float32", (500, 67), 0, 9),
    ("float32", (4, 1500), 1, 1500),
)


@pytest.mark.parametrize("software", [True, False], ids=["software", "gpu"])
@pytest.mark.parametrize("seed", range(200 if data.EVERYTHING else 6))
def test_answers_are_right_with_any_numbers(device, software, seed):
    rng = Random(seed)
    numbers: dict[str, dict[str, float]] = {}
    for name, own in ranges(Planner(device.machine).policies).items():
        policy, _, field = name.partition(".")
        numbers.setdefault(policy, {})[field] = own.drawn(rng)
    given, planned = planned_device(device, None, software, **numbers)
    # A third of the problems each: to compile is what takes time.
    for number, (element, shape, axis, k) in enumerate(PROBLEMS if data.EVERYTHING else PROBLEMS[seed % 3 :: 3]):
        for kind in ("random", "few_distinct", "sorted"):
            x = data.make(kind, element, shape, number)
            values, indices = wgdml.top_k(x, k, axis=axis, device=given)
            want_values, want_indices = oracle.top_k(x, k, axis)
            oracle.assert_same(values, want_values, (kind, element, shape, numbers))
            assert np.array_equal(indices, want_indices), (kind, element, shape, numbers)
    assert planned.plans
