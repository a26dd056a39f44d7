"""The radix sort of whole rows in workgroup memory, by force: the oracle's bits for any row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import data
import pytest
from checks import check
from planning import GPU, make_plan, planned_device
from variants import selection

import wgdml
from wgdml.plan import Machine, Plan
from wgdml.selection import Order, Selection


def planned(problem: Selection, limits: Machine, **options: Any) -> Plan:
    return make_plan(problem, limits, algorithm="row_sort_radix", **options)


@pytest.fixture
def sorter(device):
    """Makes a device that sorts by this kernel alone, as if within these limits."""
    made = []

    def make(**limits: int) -> wgdml.Device:
        own, planned = planned_device(device, "row_sort_radix", None, limits=limits)
        made.append(planned)
        return own

    yield make
    assert all(plan.dispatches[0].kernel == "row_sort/radix" for planned in made for plan in planned.plans)


def test_every_short_length(sorter):
    # One text serves them all. Rows that start amid a load, k below n, and more rows than a
    # workgroup takes at once.
    device = sorter()
    for n in [*range(2, 40), *range(40, 300, 17), 511, 512]:
        x = data.make("eight_values" if n % 2 else "random", "float32", (37, n), n)
        check("top_k-smallest", x, k=max(2, n - n % 5 * n // 7), device=device)


@pytest.mark.parametrize(("n", "k"), [(513, 513), (598, 598), (1025, 700), (1537, 1537), (2049, 2049), (2241, 2241), (4096, 3000)])
def test_teams_of_every_size(sorter, n, k):
    check("top_k-largest", data.make("random", "float32", (3, n), n), k=k, device=sorter())


def served(machine: Machine, n: int) -> bool:
    try:
        planned(selection("float16", (3, n), (1,), n, Order.DESCENDING, "both"), machine)
    except ValueError:
        return False
    return True


def test_the_longest_rows(sorter):
    device = sorter()
    n = max(n for n in range(512, 16385, 512) if served(device.machine, n))
    check("top_k-largest", data.make("eight_values", "float16", (3, n), n), k=n, device=device)


@pytest.mark.parametrize("name", ["uint8", "float64"])
def test_columns_and_single_outputs(sorter, name):
    device = sorter()
    x = data.make("random", name, (301, 19), 3)
    check("sort-descending", x, axis=0, device=device)
    check("argsort-ascending", x, axis=0, device=device)


def test_rows_in_pieces(sorter):
    # Each binding holds part of a row: pairs from every part meet in another sort.
    device = sorter(max_storage_buffer_binding_size=8 << 10)
    x = data.make("eight_values", "float32", (2, 3000), 4)
    check("top_k-largest", x, k=900, device=device)


# The planner --------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("storage", [16 << 10, 17500, 32 << 10, 35000, 48 << 10, 64 << 10])
def test_what_is_chosen_fits(element, storage):
    limits = replace(GPU, max_compute_workgroup_storage_size=storage)
    for invocations in (128, 256, 512, 1024):
        limits = replace(limits, max_compute_invocations_per_workgroup=invocations)
        for n in range(512, 16385, 512):
            make_plan(selection(element, (1000, n), (1,), n, Order.ASCENDING, "both"), limits)


def test_refusals():
    with pytest.raises(ValueError, match="rows that fit this adapter's workgroup memory, not 8192 items"):
        planned(selection("float32", (5, 8192), (1,), 8192, Order.ASCENDING, "both"), Machine())
    with pytest.raises(ValueError, match="up to 16384 items, not 16385"):
        planned(selection("float32", (5, 16385), (1,), 16385, Order.ASCENDING, "both"), GPU)
    with pytest.raises(ValueError, match="first of equal items"):
        planned(selection("float32", (5, 99), (1,), 1, Order.MAXIMUM, "indices", last_index=True), GPU)


@pytest.mark.parametrize(
    ("element", "n", "parts"),
    [("uint8", 2048, 1), ("float16", 8192, 1), ("float32", 2048, 2), ("float32", 8192, 2), ("int64", 2048, 4)],
)
def test_keys_are_cut_in_few_parts(element, n, parts):
    constants = dict(planned(selection(element, (5, n), (1,), n, Order.ASCENDING, "both"), GPU).dispatches[0].constants)
    assert constants["PARTS"] == parts
    assert constants["PART"] + 14 <= 32  # as many bits tell a position
