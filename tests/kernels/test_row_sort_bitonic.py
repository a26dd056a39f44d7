"""The bitonic sort of short sequences by force: each capacity's edge, each width, split pairs."""

import data
import numpy as np
import pytest
from checks import check
from planning import planned_device


@pytest.fixture
def sorter(device):
    """Makes a device that sorts by this kernel alone, as within these limits, and its plans."""

    def make(software=False, **limits):
        return planned_device(device, "row_sort_bitonic", software, limits=limits)

    return make


def dispatches(planned):
    return [dispatch for plan in planned.plans for dispatch in plan.dispatches if dispatch.kernel == "row_sort/bitonic"]


@pytest.mark.parametrize("software", [False, True])
def test_every_capacity(sorter, software):
    device, planned = sorter(software)
    for bits in range(2, 13, 3 if software else 1):  # the same kernels, planned by other numbers
        for n in (2**bits - 1, 2**bits, 2**bits + 1):
            if n > 4096:
                continue
            x = data.make(("random", "eight_values", "reversed")[n % 3], "float32", (5 if n > 500 else 70, n), n)
            check("top_k-largest" if bits % 2 else "top_k-smallest", x, k=max(1, n - bits % 3 * n // 3), device=device)
    assert all(plan.algorithms == ("row_sort_bitonic",) for plan in planned.plans)


@pytest.mark.parametrize("name", ["float32", "int64"])
def test_pairs_move_word_by_word(sorter, name):
    device, planned = sorter(max_compute_workgroup_storage_size=16 << 10, max_compute_invocations_per_workgroup=256)
    for n in (1025, 2000, 2048) if name == "float32" else (1025, 2048):
        check("top_k-smallest", data.make("few_distinct", name, (3, n), n), k=n - 7, device=device)
    assert {dict(d.constants)["HELD_WORDS"] for d in dispatches(planned)} == {2 if name == "float32" else 3}


def test_every_number_of_items_an_invocation(sorter):
    device, planned = sorter(max_compute_invocations_per_workgroup=256)
    for n in (20, 40, 100, 200, 2049, 4096):
        check("top_k-largest", data.make("eight_values", "float32", (3, n), n), k=n, device=device)
    assert {dict(d.constants)["ITEMS_PER_THREAD"] for d in dispatches(planned)} == {1, 2, 4, 8, 16}


@pytest.mark.parametrize(
    ("name", "direction"),
    [("float16", "largest"), ("bfloat16", "smallest"), ("float16", "smallest"), ("int8", "largest"), ("bool", "smallest")],
)
def test_pairs_in_one_word(sorter, name, direction):
    """Indices lie below narrow keys, while they find room there; last keys and last places too."""
    device, planned = sorter()
    for n, kind in ((255, "extremes"), (256, "constant"), (4096, "few_distinct"), (4000, "random")):
        check(f"top_k-{direction}", data.make(kind, name, (2, n), n), k=n, device=device, case=kind)
    assert {dict(d.constants)["PACKED"] for d in dispatches(planned)} == {1}


@pytest.mark.parametrize("subgroups", [True, False])
def test_exchanges_by_shuffles_and_through_memory(device, subgroups):
    own, _ = planned_device(device, "row_sort_bitonic", False, subgroups=subgroups)
    for name, n in (("float32", 33), ("uint8", 300), ("int64", 700), ("float32", 1025)):
        for kind in ("random", "sorted", "reversed", "constant"):
            check("top_k-smallest", data.make(kind, name, (5, n), n), k=n, device=own, case=kind)


@pytest.mark.parametrize("subgroups", [True, False])
def test_small_teams_of_many_sequences(device, subgroups):
    own, planned = planned_device(device, "row_sort_bitonic", False, subgroups=subgroups, occupancy={"invocations": 1})
    sizes = (("float32", 5), ("float16", 32), ("uint8", 33), ("int64", 100), ("float16", 256))
    for name, n in sizes if subgroups else data.in_turn(sizes, 1):
        for k in (1, n // 2, n):
            check("top_k-largest", data.make("eight_values", name, (67, n), k), k=k, device=own)
            check("top_k-smallest", data.make("random", name, (3, n, 23), k), axis=1, k=k, device=own)
    assert {dict(d.constants)["TEAM"] for d in dispatches(planned)} >= ({1, 4, 8, 16} if subgroups else {4, 16})


def test_columns_and_single_outputs(sorter):
    device, _ = sorter()
    for name in ("uint8", "float64"):
        x = data.make("random", name, (101, 67), 3)
        check("sort-descending", x, axis=0, device=device)
        check("argsort-ascending", x, axis=0, device=device)


def test_refusals(sorter):
    device, _ = sorter()
    with pytest.raises(ValueError, match=r"row_sort_bitonic takes sequences of up to (4096|8192), not 9000"):
        check("sort-ascending", data.make("random", "float32", (2, 9000), 1), device=device)


def alike_but_for_last_bits(rows, n, rng):
    """Keys of one far range whose words lack bits: many alike, out of order, and equal ones too."""
    near = np.uint32(0x3F800000) + rng.integers(0, 200, (rows, n)).astype(np.uint32)  # 1.0 and on
    x = near.view(np.float32)
    x[0] = np.sort(x[0])
    x[1] = np.sort(x[1])[::-1]
    x[2] = 1.0
    x[3, n // 2 :] = rng.standard_normal(n - n // 2)
    x[4, ::2] = 0.0
    x[5] = np.where(np.arange(n) % 7 > 1, rng.standard_normal(n), x[5])  # mostly pairs of them
    x[6] = np.float32(1) + np.arange(n)[::-1] // 3 * np.float32(2**-23)  # threes, descending
    x[:, n // 3] = -np.inf  # so far off that words lack bits
    x[:, n // 5] = 3e38
    return x


def alike_in_words(rows, n, rng):
    """Keys of 64 bits that differ in bits which only the second, third or fourth words have."""
    digits = rng.integers(0, [2, 3, 2, 4], (rows, n, 4)) << np.array([38, 25, 12, 0])
    x = digits.sum(-1)
    x[0] = np.sort(x[0])
    x[1] = np.sort(x[1])[::-1]
    x[2] = 1
    x[3, n // 2 :] = rng.integers(-(2**63), 2**63, n - n // 2)
    x[5] = digits[5, :, 3] + (1 << 40)
    x[6] = np.arange(n)[::-1] // 3  # threes, descending
    x[7] = rng.integers(-(2**63), 2**63, n)
    x[:, n // 3] = -(2**63)
    x[:, n // 5] = 2**63 - 1
    return x


def words_lack_bits(device, subgroups, algorithm, lengths, seed, given):
    """``given(n, rng)``: mode, array and axis of each problem with sequences of n items."""
    own, planned = planned_device(device, algorithm, False, subgroups=subgroups, occupancy={"invocations": 1})
    rng = np.random.default_rng(seed)
    for n in data.in_turn(lengths, 0 if subgroups else 1):
        problems = given(n, rng)
        for k in {2, n // 2 - 1, n // 3} if algorithm == "select_bisect" else {2, n // 2 - 1, n}:
            for mode, x, axis in problems:
                check(mode, x, axis=axis, k=k, device=own)
    assert {dict(d.constants)["PLACED"] for plan in planned.plans for d in plan.dispatches} == {1}


@pytest.mark.parametrize("subgroups", [True, False])
@pytest.mark.parametrize("algorithm", ["row_sort_bitonic", "select_bisect"])
def test_words_that_lack_bits_of_keys_of_64_bits(device, subgroups, algorithm):
    def given(n, rng):
        x = alike_in_words(37, n, rng)
        return [(mode, each, 1) for each in (x, (x >> 1).view(np.float64)) for mode in ("top_k-largest", "top_k-smallest")]

    words_lack_bits(device, subgroups, algorithm, (40, 150, 400), 5, given)


@pytest.mark.parametrize("subgroups", [True, False])
@pytest.mark.parametrize("algorithm", ["row_sort_bitonic", "select_bisect"])
def test_words_that_lack_bits_of_keys(device, subgroups, algorithm):
    def given(n, rng):
        x = alike_but_for_last_bits(37, n, rng)
        rows = [("top_k-largest", x, 1), ("top_k-smallest", -x, 1)]
        # Of columns pairs are sorted whole by the other.
        return [*rows, ("top_k-smallest", x[..., None].repeat(3, -1), 1)] if algorithm == "select_bisect" else rows

    words_lack_bits(device, subgroups, algorithm, (40, 250, 500), 3, given)
