"""The radix sort of whole rows in workgroup memory, chosen by force: the same bits as the oracle's, whatever the row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import data
import oracle
import pytest
from checks import check
from variants import GPU, selection

import wgdml
import wgdml.runtime.device as runtime
from wgdml.plan import Algorithm, Limits, Plan, choose_algorithm, make_plan, tuning_for
from wgdml.selection import Order, Selection


def planned(problem: Selection, limits: Limits, *, each: int = 16, digit: int = 4, **options: Any) -> Plan:
    tuning = replace(tuning_for(limits, problem.format.key_words), radix_row_each=each, radix_row_digit=digit)
    return make_plan(problem, limits, tuning=tuning, algorithm=Algorithm.SORT_ROWS_RADIX, **options)


@pytest.fixture
def sorter(monkeypatch):
    """Makes a device that sorts by this kernel alone, with these numbers, as if within these limits."""

    def make(each: int = 16, digit: int = 4, **limits: int) -> wgdml.Device:
        def plan(problem: Selection, own: Limits, **options: Any) -> Plan:
            made = planned(problem, replace(own, **limits), each=each, digit=digit, **options)
            assert made.dispatches[0].kernel == "sort_rows_radix"
            return made

        monkeypatch.setattr(runtime, "make_plan", plan)
        return wgdml.Device()

    return make


# Keys of one to four parts, signed and not, with and without NaNs; between them every width of an element.
@pytest.mark.parametrize("name", ["uint8", "int8", "float16", "bfloat16", "int32", "float32", "uint64", "float64"])
def test_every_order_of_keys(sorter, name):
    device = sorter()
    dtype = oracle.DTYPES[name]
    floats = ("nan_payloads", "signed_zeros") if oracle.is_float(dtype) else ()
    for number, generator in enumerate(("random", "few_distinct", "constant", "reversed", *floats)):
        x = data.make(generator, name, (7, 301), number)
        check("top_k-largest", x, k=301, device=device, case=generator)
        check("top_k-smallest", x, k=301, device=device, case=generator)


def test_every_short_length(sorter):
    # One text serves them all. Rows that start amid a load, k below n, and more rows than a workgroup takes at once.
    device = sorter()
    for n in [*range(2, 40), *range(40, 300, 17), 511, 512]:
        x = data.make("eight_values" if n % 2 else "random", "float32", (37, n), n)
        check("top_k-smallest", x, k=max(2, n - n % 5 * n // 7), device=device)


@pytest.mark.parametrize(("n", "k"), [(513, 513), (1025, 700), (1537, 1537), (2049, 2049), (4096, 3000)])
def test_teams_of_every_size(sorter, n, k):
    check("top_k-largest", data.make("random", "float32", (3, n), n), k=k, device=sorter())


@pytest.mark.parametrize(("each", "digit"), [(8, 3), (8, 4), (8, 5), (16, 3), (16, 5)])
def test_other_numbers_of_items_and_bits(sorter, each, digit):
    # Digits that do not divide the bits of a key, in teams of 64 and 96.
    device = sorter(each, digit)
    for name in ("float32", "int64"):
        check("top_k-largest", data.make("random", name, (5, 64 * each), 1), k=64 * each, device=device)
    check("top_k-smallest", data.make("few_distinct", "uint8", (5, 64 * each + 1), 1), k=64 * each, device=device)


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


# The planner ---------------------------------------------------------------------------------------


def test_when_it_is_chosen():
    tuning = tuning_for(GPU, 1)
    for length in (tuning.radix_row_length, 2048, 8192):
        assert choose_algorithm(length, 1000, length, False, True, length // 4, tuning) is Algorithm.SORT_ROWS_RADIX
        assert (
            choose_algorithm(length, 1000, length, False, False, length, tuning) is Algorithm.SORT_ROWS
        )  # pairs come in any order
    assert choose_algorithm(tuning.radix_row_length - 1, 1000, 500, False, True, 128, tuning) is Algorithm.SORT_ROWS


@pytest.mark.parametrize("element", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("storage", [16 << 10, 17500, 32 << 10, 35000, 48 << 10, 64 << 10])
def test_what_is_chosen_fits(element, storage):
    limits = replace(GPU, max_compute_workgroup_storage_size=storage)
    for invocations in (128, 256, 512, 1024):
        limits = replace(limits, max_compute_invocations_per_workgroup=invocations)
        for n in range(512, 8193, 512):
            make_plan(selection(element, (1000, n), (1,), n, Order.ASCENDING, "both"), limits)


def test_refusals():
    with pytest.raises(ValueError, match="does not fit sort_rows_radix"):
        planned(selection("float32", (5, 8192), (1,), 8192, Order.ASCENDING, "both"), Limits())
    with pytest.raises(ValueError, match="first of equal items"):
        planned(selection("float32", (5, 99), (1,), 1, Order.MAXIMUM, "indices", last_index=True), GPU)


@pytest.mark.parametrize(
    ("element", "n", "digit", "parts", "passes"),
    [
        ("uint8", 2048, 4, 1, 2),
        ("float16", 8192, 4, 1, 4),
        ("float32", 2048, 4, 2, 8),
        ("float32", 8192, 5, 2, 7),
        ("int64", 2048, 4, 4, 16),
    ],
)
def test_no_more_passes_than_needed(element, n, digit, parts, passes):
    problem = selection(element, (5, n), (1,), n, Order.ASCENDING, "both")
    constants = dict(planned(problem, GPU, digit=digit).dispatches[0].constants)
    bits, part = 8 * problem.format.bytes, constants["PART"]
    assert constants["PARTS"] == parts
    assert part + constants["INDEX_BITS"] <= 32
    assert sum(-(-min(part, bits - low) // digit) for low in range(0, bits, part)) == passes
