"""Profiles' numbers: their ranges, families of machines, and plans at any numbers of the ranges."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from random import Random

import pytest
import variants
from planning import GPU
from test_plan import assert_sound

from wgdml.plan import Machine, Planner, Unserved, adjusted, family_of, numbers_of, profile_of, ranges
from wgdml.plan.policy import Range, number
from wgdml.plan.profiles import FAMILIES

POLICIES = Planner(GPU).policies
RANGES = ranges(POLICIES)
#: Profiles that are drawn.
COUNT = 2000 if os.environ.get("WGDML_EDGES") == "all" else 60


def drawn(rng: Random) -> dict[str, float]:
    """A number in its range for every name."""
    return {name: own.drawn(rng) for name, own in RANGES.items()}


def test_every_number_has_a_range_and_no_policy_has_many():
    assert set(RANGES) == set(numbers_of(POLICIES))
    for policy in POLICIES.values():
        assert len(fields(policy)) <= 9, policy
    for family in FAMILIES:
        for name, value in numbers_of(family.profile).items():
            assert value in RANGES[name], (family.name, name)


def test_a_range_has_what_it_says():
    assert [n in Range(2, 8) for n in (1, 2, 8, 9, 2.5, True, "3", float("nan"))] == [False, True, True] + [False] * 5
    assert [n in Range(2, 64, powers=True) for n in (2, 3, 64, 128)] == [True, False, True, False]
    assert 2.5 in Range(1, 4, whole=False)
    assert str(Range(2, 64, powers=True)) == "a power of two from 2 to 64"
    with pytest.raises(ValueError, match="default must be a whole number from 1 to 4, not 9"):
        number(9, 1, 4)


def test_numbers_move_and_are_drawn_within_their_range():
    rng = Random(0)
    for name, own in RANGES.items():
        for _ in range(50):
            value = own.drawn(rng)
            assert value in own, (name, value)
            for octaves in (-9, -2, -1, 1, 2, 9):
                assert own.moved(value, octaves) in own, (name, value, octaves)
    assert Range(0, 64).moved(0, 1) == 2 and Range(0, 64).moved(1, -1) == 0


@pytest.mark.parametrize("wrong", [0, 10**9, 2.5, True, "8", None, float("nan"), float("inf")])
def test_a_number_out_of_its_range_is_refused(wrong):
    with pytest.raises(ValueError, match=r"select_radix\.min_k must be a whole number from 2 to 2048, not"):
        adjusted(POLICIES, {"select_radix.min_k": wrong})


def test_families():
    names = {
        Machine(kind="software", vendor="llvmpipe"): "software adapters",
        Machine(kind="software", vendor="swiftshader driver"): "SwiftShader",
        GPU: "large GPUs",
        replace(GPU, vendor="nvidia"): "large GPUs",
        replace(GPU, kind="unknown"): "large GPUs",
        replace(GPU, kind="integrated", vendor="intel"): "integrated GPUs",
        replace(GPU, kind="integrated", vendor="apple"): "Apple's GPUs",
        replace(GPU, kind="unknown", vendor="qualcomm"): "phones' GPUs",
    }
    for machine, name in names.items():
        assert family_of(machine).name == name
    assert profile_of(GPU) == {}
    small, large = (Planner(m).policies["occupancy"] for m in (replace(GPU, kind="integrated"), GPU))
    assert small.workgroups < large.workgroups and small.invocations < large.invocations


def test_plans_at_any_numbers_keep_to_the_limits():
    """Every problem has a plan; a forced algorithm serves or says why not."""
    rng, problems = Random(25), list(variants.problems())
    for _ in range(COUNT):
        machine = rng.choice(list(variants.LIMITS.values()))
        own = Planner(machine, adjusted(POLICIES, drawn(rng)))
        for asked in rng.sample(problems, 12):
            algorithm = rng.choice([None, *own.algorithms])
            try:
                plan = own.plan(asked.problem, algorithm=algorithm, **asked.options)
            except MemoryError:
                continue
            except Unserved:
                assert algorithm is not None
                continue
            if asked.problem.ragged or asked.problem.payload:
                continue  # these bind more than the input and the outputs
            assert_sound(plan, asked.problem, machine)
