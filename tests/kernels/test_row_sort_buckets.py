"""Whole sequences by buckets in workgroup memory, by force: the oracle's bits for any data."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import pytest
from checks import check, check_ragged, strided_tensor
from planning import planned_device

import wgdml

DIRECTIONS = ("top_k-largest", "top_k-smallest")


@pytest.fixture
def forced(forced):
    return partial(forced, "row_sort_buckets")


@pytest.mark.parametrize("n", [2, 63, 64, 65, 129, 255, 257, 513, 1000, 1025, 2048])
def test_lengths(forced, n):
    device, _ = forced()
    if n > 4 * device.machine.widest_workgroup:  # an adapter of few invocations says so
        with pytest.raises(ValueError, match=f"fit this adapter's workgroup memory, not {n} items"):
            check("top_k-largest", data.make("random", "float32", (3, n), n), k=n, device=device)
        return
    for number, kind in enumerate(("random", "constant", "few_distinct", "reversed")):
        x = data.make(kind, "float32", (3, n), n)
        for k in sorted({2, n // 2, n} - {0, 1}):
            check(DIRECTIONS[number % 2], x, k=k, device=device, case=kind)


@pytest.mark.parametrize("name", ["float32", "int64"])
def test_clusters_within_clusters(forced, name):
    """Outliers, and values so near each other that they share a bucket: dealt out several times."""
    device, _ = forced()
    n, rng = min(900, 2 * device.machine.widest_workgroup), np.random.default_rng(7)
    for clustered in (3, 40, 200, n - 2):
        for levels in (1, 2, 3):
            x = rng.integers(0, 50, (3, n))
            for level in range(1, levels + 1):
                x[:, : n - clustered // level] += 10 ** (4 * level)
            x = rng.permuted(x, axis=1)
            x[:, :2] = [[-(1 << 60), 1 << 60]]
            for direction in DIRECTIONS:
                check(direction, x.astype(name), k=n, device=device, case=(clustered, levels))


@pytest.mark.parametrize("name", ["float32", "int64"])
def test_powers_and_runs_of_equal_values(forced, name):
    """Each power of two needs a turn of its own; equal values of one bucket's size meet others'."""
    device, _ = forced()
    n, rng = min(900, 2 * device.machine.widest_workgroup), np.random.default_rng(8)
    for number, bits in enumerate((8, 31, 62)):
        x = 1 << rng.integers(0, bits, (3, n))
        x[1] = x[1] * rng.choice([-1, 1], n)
        x[2] = np.sort(x[2])
        check(DIRECTIONS[number % 2], x.astype(name), k=n, device=device, case=bits)
    for size in (15, 17, 63, 64, 65, 66, 130):
        values = np.cumsum(rng.choice([1, 2, 1 << 20], -(-n // size)))
        x = np.stack([np.repeat(values, size)[:n], rng.permutation(np.repeat(values, size)[:n])])
        check(DIRECTIONS[size % 2], x.astype(name), k=(n, n // 3)[size % 2], device=device, case=size)


@pytest.mark.parametrize("length", [90, 200, 201])
def test_lists_with_nothing_among_their_pairs(device, length):
    """Parts of short spans have fewer pairs than places, and nothing in the others."""
    device, planned = planned_device(device, "select_teams", occupancy={"processors": 1, "workgroups": 8192, "loads_each": 1})
    k, rows = 200, 4
    x = np.tile(np.arange(16384, dtype=np.int32) % 254 * 4096, (rows, 1))
    x[:, 1::20] = (1 << 20) - 1  # many in the last bin
    check_ragged(x, k, np.full(rows, length, np.uint32), device, mode="smallest")
    assert planned.plans[-1].algorithms == ("select_teams", "row_sort_buckets")


def test_rows_that_start_amid_a_load_and_columns(forced):
    device, _ = forced()
    for name in ("int32", "float32"):
        for offset in (1, 2, 3):
            tensor, x = strided_tensor(device, "few_distinct", name, (3, 403), (407, 1), offset)
            check("top_k-largest", x, given=tensor, k=100, device=device, case=(name, offset))
    tensor, x = strided_tensor(device, "few_distinct", "float32", (3, 403), (901, 2), 1)
    check("top_k-smallest", x, given=tensor, k=403, device=device)
    check("top_k-smallest", data.make("random", "float32", (403, 6), 1), axis=0, k=403, device=device)


def test_what_it_refuses(forced):
    device, _ = forced()
    with pytest.raises(
        ValueError, match="row_sort_buckets takes sequences that fit this adapter's workgroup memory, not 9000 items"
    ):
        wgdml.top_k(np.zeros((1, 9000), np.float32), 9000, device=device)
    with pytest.raises(ValueError, match="row_sort_buckets takes elements of 32 bits and more, not 300 narrower ones"):
        wgdml.top_k(np.zeros((1, 300), np.float16), 200, device=device)
