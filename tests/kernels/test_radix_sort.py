"""The radix sort of long sequences: sizes about its tile, keys of each width, k < n, windows."""

import data
import numpy as np
import oracle
import pytest
from planning import params_of, planned_device

import wgdml
from wgdml import shaders


@pytest.fixture(params=[True, False], ids=["subgroups", "no-subgroups"])
def sorter(request, device):
    """A device that sorts by radix only, as a GPU or as a software adapter does, in large tiles."""
    made = []

    def make(software, items=4, tiles=1, base=device, **limits):
        if software:
            return planned_device(base, "serial_radix_sort", True, limits=limits)[0]
        numbers = {"radix_sort": {"items_per_thread": items}, "occupancy": {"processors": tiles}}
        own, planned = planned_device(base, "radix_sort", subgroups=request.param, limits=limits, **numbers)
        made.append(planned)
        return own

    make.subgroups = request.param
    make.dispatches = lambda: [plan.dispatches for planned in made for plan in planned.plans]
    return make


def groups(sorter):
    """Tiles of a group of each plan, and whether a dispatch of its own sums groups up."""
    plans = sorter.dispatches()
    return [(params_of(d[0])["group"], any(one.kernel == "radix_sort/scan" for one in d)) for d in plans]


def items(sorter):
    """Items of an invocation of each plan."""
    return [dict(d[0].constants)["ITEMS_PER_THREAD"] for d in sorter.dispatches()]


def check(device, x, k, mode="smallest"):
    values, indices = wgdml.top_k(x, k, mode=mode, device=device)
    expected_values, expected_indices = oracle.top_k(x, k, largest=mode == "largest")
    oracle.assert_same(values, expected_values, f"{x.dtype} {x.shape} k={k} {mode}")
    oracle.assert_same(indices, expected_indices, f"{x.dtype} {x.shape} k={k} {mode}")


#: Kinds of data, types and directions: kernels of their own.
KEYS = (
    ("nan_payloads", "float32", "largest"),
    ("signed_zeros", "float16", "smallest"),
    ("random", "int8", "largest"),
    ("extremes", "uint64", "smallest"),
    ("nan_payloads", "float64", "largest"),
)
#: A GPU's kernels with subgroups and without, and a software adapter's.
WAYS = {"subgroups": (True, False), "no-subgroups": (False, False), "software": (True, True)}


@pytest.mark.parametrize(("sorter", "software"), WAYS.values(), ids=WAYS, indirect=["sorter"])
def test_sizes_around_the_tile(sorter, software):
    device = sorter(software)
    for n in (2, 255, 1023, 1024, 1025, 3 * 1024 + 5):
        for rows in (1, 3):
            check(device, data.make("few_distinct", "float32", (rows, n), n), n)


@pytest.mark.parametrize(
    ("sorter", "software", "kind", "dtype", "mode"),
    [
        *((True, False, *key) for key in data.in_turn(KEYS)),
        *((False, False, *key) for key in data.in_turn(KEYS, 1)),
        *((True, True, *key) for key in KEYS),
    ],
    indirect=["sorter"],
)
def test_keys_of_every_width(sorter, software, kind, dtype, mode):
    device = sorter(software)
    # Each direction is kernels of its own.
    mode = mode if software or sorter.subgroups else {"largest": "smallest", "smallest": "largest"}[mode]
    x = data.make(kind, dtype, (2, 2500), 7)
    check(device, x, 2500, mode)
    check(device, x, 1700, mode)


def test_more_than_a_binding_goes_by_windows(sorter):
    device = sorter(False, max_storage_buffer_binding_size=32 << 10)
    check(device, data.make("eight_values", "float32", (1, 20_000), 1), 20_000)
    check(device, data.make("random", "uint8", (1, 20_000), 2), 15_000, "largest")


def test_groups_of_tiles(sorter):
    """Tiles that are groups, groups of more than one look, and so many that a dispatch sums up."""
    for rows, n, tiles in (
        (2, 3_000, 1),
        (1, 8_000, 40),
        (1, 40_000, 160),
        (3, 30_000, 80),
        (1, 70_000, 8),
        (4, 300_000, 1),
        (1, 140_000, 60),
        (1, 140_000, 300),
    ):
        device = sorter(False, tiles=tiles)
        check(device, np.random.default_rng(5).integers(0, 1000, (rows, n)).astype(np.float32), n)
    met = set(groups(sorter))
    assert {group for group, scanned in met if scanned} >= {1, 8}
    assert {group for group, scanned in met if not scanned} >= {1, 2, 8}


def test_few_pairs_go_in_smaller_tiles(sorter):
    device = sorter(False, items=8, tiles=32)
    for n in (255, 256, 257, 20_000, 40_000, 70_000):
        check(device, data.make("eight_values", "float32", (1, n), n), n)
    check(device, data.make("random", "float64", (3, 30_000), 3), 20_000)
    assert items(sorter) == [1, 1, 1, 1, 4, 8, 8]


def test_windows_that_take_a_group_more_than_the_input(sorter):
    device = sorter(False, max_storage_buffer_binding_size=66 << 10)
    check(device, data.make("random", "float16", (1, 32_700), 1), 32_700)


def test_windows_of_many_groups(sorter):
    device = sorter(False, tiles=200, max_storage_buffer_binding_size=1 << 20)
    check(device, data.make("few_distinct", "float16", (1, 600_000), 1), 600_000)
    assert groups(sorter)[0][1]


def test_several_sequences_are_no_windows(sorter):
    """Their keys fill a binding to the last byte, where a window has to be a little less."""
    device = sorter(False, items=12, max_storage_buffer_binding_size=65_776)
    check(device, data.make("random", "float16", (5, 3277), 1), 3277)


def test_tiles_of_twelve_items_an_invocation(sorter):
    device = sorter(False, items=12)
    for n in (4096, 6144, 20_000):
        check(device, data.make("eight_values", "float32", (2, n), n), n)
        check(device, data.make("random", "int64", (1, n), n), n, "largest")
    by_ballots = device.planner.planner.machine.subgroups
    assert set(items(sorter)) == ({12, 8} if by_ballots else {8})  # 64-bit keys take more registers


def test_subgroups_beyond_a_word_of_a_ballot(device, sorter, monkeypatch):
    """What such subgroups take, taken by those that fit into one."""
    changed = []
    assembled = shaders.assemble

    def assemble(kernel, constants):
        text = assembled(kernel, constants)
        if "atomicStore(&any_wide, 0u);" in text:
            changed.append(kernel)
        return text.replace("atomicStore(&any_wide, 0u);", "atomicStore(&any_wide, 1u);")

    device = sorter(False, base=wgdml.Device(device.gpu_device))  # keeps its own compiled kernels
    monkeypatch.setattr(shaders, "assemble", assemble)
    check(device, data.make("random", "float32", (2, 5000), 7), 5000)
    check(device, data.make("eight_values", "int64", (1, 5000), 7), 5000)
    assert set(changed) == ({"radix_sort/scatter_subgroups"} if device.planner.planner.machine.subgroups else set())
