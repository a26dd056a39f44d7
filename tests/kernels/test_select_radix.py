"""Top-k of rows in a workgroup: delegates, their k-th by histograms, subsets again, buckets."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import oracle
import pytest
from checks import check, check_subsets, strided_tensor
from planning import numbers_of, params_of

import wgdml

#: Most tests take them in turn.
DIRECTIONS = ("top_k-largest", "top_k-smallest")


@pytest.fixture
def forced(forced):
    return partial(forced, "select_radix")


def most(device: wgdml.Device, name: str = "float32") -> int:
    """The largest k that this device's workgroups have room for; narrow pairs take a word."""
    size = oracle.DTYPES[name].itemsize
    return device.planner.planner.algorithms["select_radix"].max_k(2 * size if size > 2 else 4)


@pytest.mark.parametrize(("turn", "name"), list(enumerate(["float16", "int64"])))
def test_lists_that_outgrow_workgroup_memory(forced, turn, name):
    """They lie in scratch, are cut to k pairs, and another dispatch sorts those."""
    device, plans = forced(limits={"max_compute_workgroup_storage_size": 16 << 10})
    k = most(device, name) + 1
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        x = data.make(kind, name, (2, 20_003), number)
        check(DIRECTIONS[turn % 2], x, k=k + number, device=device, case=kind)
    assert {len(plan.dispatches) for plan in plans} == {2}


@pytest.mark.parametrize(("turn", "n"), list(enumerate([8, 33, 1000, 4097, 100_003])))
def test_lengths(forced, turn, n):
    """From one load a subset to hundreds, and all that comes first in few of them."""
    device, _ = forced()
    for kind in ("random", "sorted", "reversed", "eight_values", "constant"):
        x = data.make(kind, "float32", (2, n), n)
        ks = sorted({1, 2, 17, 200, 500, n // 4} & set(range(1, min(n // 4, most(device)) + 1)))
        # Of long rows each is a kernel of its own.
        for k in data.in_turn(ks, turn % 2) if turn > 2 else ks:
            check(DIRECTIONS[n % 2], x, k=k, device=device, case=kind)


@pytest.mark.parametrize(("turn", "name"), data.in_turn(enumerate(["uint8", "int32", "int64", "float32"])))
def test_distances_of_every_size(forced, turn, name):
    """The k-th by digits of a distance: powers of two from the ends and from zero, and beside."""
    device, _ = forced()
    dtype, rng = oracle.DTYPES[name], np.random.default_rng(turn)
    bits = 8 * dtype.itemsize
    steps = [0, 1, *((1 << j) + d for j in range(1, bits) for d in (-1, 0, 1))]
    words = np.array(
        [(end + sign * step) % (1 << bits) for end in (0, 1 << (bits - 1)) for sign in (1, -1) for step in steps], f"u{bits // 8}"
    )
    values = words.view(dtype)
    for number in range(4):
        x = rng.choice(values[:: 1 + 2 * number], (3, 2000))
        x[0] = x[0, 0]  # all alike: the index decides
        x[1, : 2000 - 40] = x[1, 0]  # and a few others
        check(DIRECTIONS[turn % 2], x, k=(250, 333)[number // 2], device=device, case=number)


@pytest.mark.parametrize("subsets", [1, 3, 8])
def test_subsets_of_an_invocation(forced, subsets):
    device, plans = forced(select_radix={"subsets": subsets})
    for number, n in enumerate((100, 1001, 9999)):
        for kind in ("random", "few_distinct"):
            for k in data.in_turn((3, 25), number % 2):
                check("top_k-largest", data.make(kind, "float32", (5, n), n), k=k, device=device, case=kind)
    # Twice as many where half of them would be read again.
    assert {numbers_of(p.dispatches[0])["OWN"] for p in plans} <= set(range(1, subsets + 1)) | {2 * subsets}


@pytest.mark.parametrize(("turn", "name"), data.in_turn(enumerate(["uint8", "float16", "float32", "float64"])))
def test_many_items_a_load_overflow_the_list(forced, turn, name):
    """All that is first in few subsets: far more than 2 k pairs up to the k-th subset's best."""
    device, _ = forced()
    direction = DIRECTIONS[turn % 2]
    # Each length and k is a kernel of its own: all of them for one width, in turn for the others.
    for number, n in enumerate((6000, 50_000)):
        for kind in ("sorted", "constant", "eight_values"):
            x = data.make(kind, name, (2, n), 7)
            for k in (5, 90) if turn == 2 else ((5, 90)[(turn + number) % 2],):
                check(direction, x, k=k, device=device, case=kind)
        first, other = (1, 0) if direction == DIRECTIONS[0] else (0, 1)
        x = np.full((1, n), other, oracle.DTYPES[name])
        x[0, 1000:3000] = first
        check(direction, x, k=100, device=device)


@pytest.mark.parametrize(("turn", "name"), data.in_turn(enumerate(["uint8", "float16", "float32", "int64"]), 1))
def test_more_wanted_than_stands_out(forced, turn, name):
    """Few items of many values among equal ones, of which the first are wanted, too."""
    device, _ = forced()
    direction, rng = DIRECTIONS[turn % 2], np.random.default_rng(turn)
    for n, k in ((4003, 300), (9000, 500)):
        x = np.where(rng.random((3, n)) < 0.02, rng.integers(1, 100, (3, n)), 0)
        x[1:] = np.where(x[1:] > 0, x[1:], 50)  # between them
        check(direction, x.astype(name), k=k, device=device, case=(n, k))


@pytest.mark.parametrize(("turn", "name"), list(enumerate(["float16", "int64"])))
def test_any_number_that_stands_out(forced, turn, name):
    """From none of a row to more than k; the others are equal, and the first of those are found."""
    device, _ = forced()
    n, k = 2000, 64
    places = np.random.default_rng(turn).permuted(np.broadcast_to(np.arange(n), (k + 9, n)), axis=1)
    x = np.where(places < np.arange(k + 9)[:, None], 1 + places, 0)
    for base in (0, -5000):
        check(DIRECTIONS[turn % 2], ((-1) ** turn * (x + base)).astype(name), k=k, device=device, case=base)


@pytest.mark.parametrize(("turn", "name"), data.in_turn(enumerate(["float16", "float32", "float64", "int64"]), 1))
def test_lists_that_fall_into_one_bucket(forced, turn, name):
    """One item far from all others: their first bits say nothing, and they are dealt out again."""
    device, _ = forced()
    # Far in eight bits and more of a key's first word, which are all that a bucket is told by.
    far = {"int64": 0x12345678 << 32, "float64": 1.2345e300}.get(name, np.inf)
    near, step = (1, 1) if name == "int64" else (1.0, np.finfo(name).eps)
    direction, sign = DIRECTIONS[turn % 2], (1, -1)[turn % 2]
    for n in (2000, 4097):
        x = (near + np.random.default_rng(n).integers(0, 50, (2, n)) * step).astype(name)
        for place in (0, n // 2, n - 1):
            y = x.copy()
            y[:, place] = far
            check(direction, sign * y, k=250, device=device, case=place)


def test_half_of_the_subsets_again(forced):
    """As many subsets as the k need, and twice as many where half of them would be read again."""
    device, plans = forced()
    k = most(device)
    for n in (4 * k, 4 * k + 1, 30 * k):
        for kind in ("random", "sorted", "constant"):
            check("top_k-largest", data.make(kind, "float32", (1, n), n), k=k, device=device, case=kind)
    assert all(numbers_of(p.dispatches[0])["PLACES"] > k for p in plans)


def test_as_many_k_as_the_shortest_row_has_loads(forced):
    """Rows of 90 bytes begin at any place of a load, and take six loads or seven of 16 bytes."""
    device, _ = forced()
    for kind in ("random", "eight_values", "constant"):
        x = data.make(kind, "uint8", (41, 90), 1)
        check("top_k-largest", x, k=6, device=device, case=kind)
        with pytest.raises(ValueError, match=r"k up to 6 of 90 items here, not k=7"):
            wgdml.top_k(x, 7, device=device)


def test_one_kernel_for_many_k(forced):
    device, plans = forced()
    x = data.make("random", "float32", (2, 6000), 1)
    for k in range(65, 129, 9):
        check("top_k-largest", x, k=k, device=device)
    assert len({p.dispatches[0].constants for p in plans}) <= 2


@pytest.mark.parametrize(("number", "name"), data.in_turn(enumerate(["uint8", "float32", "int64"])))
def test_strided_elements_and_skewed_rows(forced, number, name):
    device, _ = forced()
    for shape, strides, offset in (((3, 500), (1503, 3), 5), ((4, 501), (503, 1), 1), ((2, 999), (1001, 1), 3)):
        tensor, x = strided_tensor(device, "few_distinct", name, shape, strides, offset)
        check(DIRECTIONS[number % 2], x, given=tensor, k=40, device=device, case=(shape, strides))
    check(DIRECTIONS[number % 2], data.make("random", name, (400, 6), 1), k=37, axis=0, device=device)


@pytest.mark.parametrize("name", data.in_turn(["float16", "float32", "int64"]))
def test_subsets_read_again_only_for_a_second_load(forced, name):
    """Subsets with none of the first k, with one load of them, two, too many; and equal keys."""
    device, plans = forced(select_radix={"second_keys": 1 << 12})
    k, n = 20, 40_000
    per_load = 16 // oracle.DTYPES[name].itemsize
    check("top_k-largest", data.make("random", name, (2, n), 1), k=k, device=device)
    subsets = params_of(plans[-1].dispatches[0])["subsets"]
    loads = np.arange(n) // per_load
    subset, member = loads % subsets, loads // subsets
    check_subsets(device, name, n, k, subsets)
    # The best of a subset late in it, and earlier items that are equal to the k-th.
    x = np.zeros((2, n), name)
    x[:, (subset < k - 3) & (member == member.max() - 1) & (np.arange(n) % per_load == 1)] = [[1], [2]]
    check("top_k-largest", x, k=k, device=device, case="late")
    for kind in data.kinds(oracle.DTYPES[name]):
        for number, shape in data.in_turn(enumerate(((2, 8003), (3, 701), (1, 40_000))), int(name == "int64")):
            x = data.make(kind, name, shape, number)
            check(DIRECTIONS[0], x, k=(33, 20, 100)[number], device=device, case=kind)
    tensor, x = strided_tensor(device, "few_distinct", name, (3, 2500), (7503, 3), 5)  # one a load
    check("top_k-smallest", x, given=tensor, k=40, device=device)


def test_what_it_refuses(forced):
    device, _ = forced()
    with pytest.raises(ValueError, match="select_radix takes k up to 8192, not k=8193"):
        wgdml.top_k(np.zeros((1, 100_000), np.float32), 8193, device=device)
    with pytest.raises(ValueError, match=r"select_radix takes k up to 25 of 100 items here, not k=26"):
        wgdml.top_k(np.zeros((1, 100), np.float32), 26, device=device)


@pytest.mark.parametrize(("turn", "name"), data.in_turn(enumerate(["uint8", "float16", "float32"])))
def test_narrow_loads_where_wide_ones_are_too_few(forced, turn, name):
    device, plans = forced()
    for number, (n, k) in enumerate(((1003, 250), (3001, 750), (803, 180))):
        for kind in ("random", "few_distinct", "sorted", "constant"):
            check(DIRECTIONS[turn % 2], data.make(kind, name, (3, n), number), k=k, device=device, case=kind)
    assert {numbers_of(plan.dispatches[0])["LOAD_WORDS"] for plan in plans} == {1}
