"""The radix sort of long sequences: sizes around its tile, every width of key, k below n, windows beyond a binding."""

from dataclasses import replace

import data
import numpy as np
import oracle
import pytest

import wgdml
import wgdml.runtime.device as runtime
from wgdml import shaders
from wgdml.plan import Algorithm, make_plan, tuning_for


@pytest.fixture(params=[True, False], ids=["subgroups", "no-subgroups"])
def sorter(request, monkeypatch):
    """A device that sorts by radix only, as a GPU would or as a software adapter does, in small tiles, however few the pairs."""

    planned = []

    def device(software, tile=1024, tiles=1, **limits):
        fresh = wgdml.Device()
        subgroups = fresh.plan_limits.subgroups and request.param
        fresh.plan_limits = replace(fresh.plan_limits, software=software, subgroups=subgroups, **limits)

        def plan(selection, plan_limits, **options):
            tuning = replace(tuning_for(plan_limits, selection.format.key_words), tile=tile, tiles=tiles)
            planned.append(make_plan(selection, plan_limits, **{**options, "algorithm": Algorithm.RADIX_SORT, "tuning": tuning}))
            return planned[-1]

        monkeypatch.setattr(runtime, "make_plan", plan)
        return fresh

    def constants(name):
        return [dict(plan.dispatches[0].constants)[name] for plan in planned]

    device.constants = constants
    return device


def check(device, x, k, mode="smallest"):
    values, indices = wgdml.top_k(x, k, mode=mode, device=device)
    expected_values, expected_indices = oracle.top_k(x, k, largest=mode == "largest")
    oracle.assert_same(values, expected_values, f"{x.dtype} {x.shape} k={k} {mode}")
    oracle.assert_same(indices, expected_indices, f"{x.dtype} {x.shape} k={k} {mode}")


@pytest.mark.parametrize("software", [False, True])
def test_sizes_around_the_tile(sorter, software):
    device = sorter(software)
    for n in (2, 255, 1023, 1024, 1025, 3 * 1024 + 5):
        for rows in (1, 3):
            check(device, data.make("few_distinct", "float32", (rows, n), n), n)


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("nan_payloads", "float32"),
        ("signed_zeros", "float16"),
        ("random", "int8"),
        ("extremes", "uint64"),
        ("nan_payloads", "float64"),
    ],
)
def test_keys_of_every_width(sorter, software, kind, dtype):
    device = sorter(software)
    x = data.make(kind, dtype, (2, 2500), 7)
    check(device, x, 2500, "largest")
    check(device, x, 1700)


def test_more_than_a_binding_goes_by_windows(sorter):
    device = sorter(False, max_storage_buffer_binding_size=32 << 10)
    check(device, data.make("eight_values", "float32", (1, 20_000), 1), 20_000)
    check(device, data.make("random", "uint8", (1, 20_000), 2), 15_000, "largest")


@pytest.mark.parametrize(
    ("rows", "n", "options", "group", "scanned"),
    [
        (2, 3_000, {"tile": 256}, 1, 0),  # a tile is a group
        (1, 8_000, {"tile": 256}, 2, 0),
        (1, 40_000, {"tile": 256}, 8, 0),  # more groups than one look
        (3, 30_000, {"tile": 512}, 4, 0),
        (1, 70_000, {"tile": 2048}, 4, 0),
        (3, 40_000, {"tile": 256}, 8, 1),
        (1, 140_000, {"tile": 256}, 8, 1),
        (1, 140_000, {"tiles": 300}, 1, 1),  # in three rounds
    ],
)
def test_groups_of_tiles(sorter, rows, n, options, group, scanned):
    device = sorter(False, **options)
    x = np.random.default_rng(5).integers(0, 1000, (rows, n)).astype(np.float32)
    check(device, x, n)
    assert sorter.constants("GROUP") == [group] and sorter.constants("SCANNED") == [scanned]


def test_few_pairs_go_in_smaller_tiles(sorter):
    device = sorter(False, tile=2048, tiles=128)
    for n in (255, 256, 257, 20_000, 70_000):
        check(device, data.make("eight_values", "float32", (1, n), n), n)
    check(device, data.make("random", "float64", (3, 30_000), 3), 20_000)
    assert sorter.constants("TILE") == [256, 256, 256, 256, 512, 512]


def test_windows_that_take_a_group_more_than_the_input(sorter):
    device = sorter(False, max_storage_buffer_binding_size=66 << 10)
    check(device, data.make("random", "float16", (1, 32_700), 1), 32_700)


def test_windows_of_many_groups(sorter):
    device = sorter(False, max_storage_buffer_binding_size=1 << 20)
    check(device, data.make("few_distinct", "float16", (1, 600_000), 1), 600_000)
    assert sorter.constants("SCANNED") == [1]


def test_several_sequences_are_no_windows(sorter):
    """Their keys fill a binding to the last byte, where a window has to be a little less."""
    device = sorter(False, tile=3072, max_storage_buffer_binding_size=65_776)
    check(device, data.make("random", "float16", (5, 3277), 1), 3277)


def test_keys_of_two_words_take_smaller_tiles():
    limits = replace(wgdml.plan.Limits(), subgroups=True)
    assert [tuning_for(limits, words).tile // tuning_for(limits, words).workgroup for words in (1, 2)] == [12, 8]


def test_tiles_of_twelve_items_an_invocation(sorter):
    device = sorter(False, tile=3072)
    for n in (4096, 6144, 20_000):
        check(device, data.make("eight_values", "float32", (2, n), n), n)
        check(device, data.make("random", "int64", (1, n), n), n, "largest")
    by_ballots = device.plan_limits.subgroups
    assert set(sorter.constants("TILE")) == {3072 if by_ballots else 2048}  # without them a power of two


def test_subgroups_beyond_a_word_of_a_ballot(sorter, monkeypatch):
    """What such subgroups take, taken by those that fit into one."""
    changed = []
    assembled = shaders.assemble

    def assemble(kernel, constants):
        text = assembled(kernel, constants)
        if "atomicStore(&team_wide, 0u);" in text:
            changed.append(kernel)
        return text.replace("atomicStore(&team_wide, 0u);", "atomicStore(&team_wide, 1u);")

    device = sorter(False)
    monkeypatch.setattr(shaders, "assemble", assemble)
    check(device, data.make("random", "float32", (2, 5000), 7), 5000)
    check(device, data.make("eight_values", "int64", (1, 5000), 7), 5000)
    assert set(changed) == ({"sort_scatter"} if device.plan_limits.subgroups else set())
