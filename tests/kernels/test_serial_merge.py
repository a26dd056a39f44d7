"""Runs in registers and merges of software adapters: exact for all data and layouts."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import oracle
import pytest
from checks import check, check_ragged, strided_tensor
from planning import planned_device

#: Around runs of 64 and sixteen of them: (length, k).
SIZES = ((2, 1), (63, 20), (64, 64), (65, 65), (129, 8), (1024, 1024), (1025, 700), (2100, 9), (16_500, 300))


@pytest.fixture
def merge(forced):
    return partial(forced, "serial_merge")


@pytest.mark.parametrize(("turn", "name"), list(enumerate(["bool", "uint8", "float16", "float32", "int64", "float64"])))
def test_every_width_and_kind_of_data(merge, turn, name):
    device, _ = merge(True)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        length, k = SIZES[(number + turn) % len(SIZES)]
        direction = ("largest", "smallest")[(number + turn) % 2]
        x = data.make(kind, name, (3, length), number)
        check(f"top_k-{direction}", x, k=k, device=device, case=(kind, length))


@pytest.mark.parametrize("length_and_k", SIZES)
def test_sizes(merge, length_and_k):
    length, k = length_and_k
    device, plans = merge(True)
    for name, shape, axis in (("float32", (5, length), 1), ("float16", (2, length, 3), 1), ("uint8", (length,), 0)):
        for kind in ("random", "few_distinct"):
            check("top_k-largest", data.make(kind, name, shape, k), axis=axis, k=k, device=device, case=(name, kind))
    levels = [dispatch.kernel for dispatch in plans[0].dispatches].count("serial/merge")
    assert levels == (1 if length <= 1024 else 2 if length <= 16_384 else 3)


def test_layouts(merge):
    device, _ = merge(True)
    for offset in (1, 2, 3):
        for n, k in ((63, 10), (403, 100)):
            for name in ("float16", "uint8"):
                tensor, x = strided_tensor(device, "few_distinct", name, (3, n), (n + 1, 1), offset)
                check("top_k-largest", x, given=tensor, k=k, device=device, case=(offset, n, name))
    tensor, x = strided_tensor(device, "few_distinct", "float32", (3, 403), (901, 2), 1)
    check("top_k-smallest", x, given=tensor, k=10, device=device)
    for shape, axis in (((2000, 9), 0), ((5, 700, 11), 1)):
        for kind in ("sorted", "constant", "nan_payloads"):
            check("top_k-largest", data.make(kind, "float32", shape, 1), axis=axis, k=100, device=device, case=kind)


@pytest.mark.parametrize(("name", "value"), [("float32", np.nan), ("float16", np.nan), ("uint32", 2**32 - 1), ("int64", 2**63 - 1)])
@pytest.mark.parametrize("share", [0.3, 0.97, 1.0])
def test_many_of_the_first_key(merge, name, value, share):
    """More items than are wanted have the key of zeros: only the index tells which."""
    device, _ = merge(True)
    x = data.make("random", name, (9, 700), 4)
    x[np.random.default_rng(4).random(x.shape) < share] = value
    check("top_k-largest", x, k=100, device=device)


@pytest.mark.parametrize(("name", "value"), [("float32", np.nan), ("uint32", 2**32 - 1), ("int64", 2**63 - 1)])
def test_items_of_the_last_key(merge, name, value):
    """Only the index tells such an item from nothing."""
    device, _ = merge(True)
    x = np.full((9, 1200), value, name)
    x[::2, 5] = 1
    check("top_k-smallest", x, k=700, device=device)


@pytest.mark.parametrize(("name", "k"), [("float32", 8), ("int64", 110), ("uint8", 1500)])
def test_ragged_rows(merge, name, k):
    device, _ = merge(True)
    rng = np.random.default_rng(k)
    x = rng.integers(0, 50, (120, max(110, k))).astype(name)
    lengths = rng.integers(0, x.shape[1] + 1, 120)
    lengths[:3] = 0, 1, k
    check_ragged(x, k, lengths, device)


def test_lists_of_pairs_that_are_all_wanted(device):
    """What windows have found, by no kernel of GPUs."""
    own, planned = planned_device(device, software=True, limits={"max_storage_buffer_binding_size": 1 << 16})
    for length, count in ((20, 2000), (257, 100), (600, 40), (601, 40), (1500, 16)):
        for kind in ("random", "few_distinct"):
            check("argsort-ascending", data.make(kind, "float32", (length, count), 3), axis=0, device=own, case=kind)
    assert not {k for plan in planned.plans for k in (d.kernel for d in plan.dispatches) if k.startswith("row_sort/")}
