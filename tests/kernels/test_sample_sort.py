"""Sorts between the splitters of a sample: every type, lists of every size, parts without room."""

import data
import numpy as np
import oracle
import pytest
from checks import check, check_ragged
from planning import params_of, planned_device

from wgdml.plan.algorithms import sample_sort

N = 9001  # Rows begin within loads.


@pytest.fixture
def sorter(device):
    def make(algorithm="sample_sort", processors=32, **limits):
        counting = {"max_length": 16, "max_work": 1}
        return planned_device(device, algorithm, limits=limits, occupancy={"processors": processors}, row_sort_rank=counting)

    return make


def parts_of(planned):
    """The parts of every sample sort that was planned, and whether devices alone knew lengths."""
    found = [d for plan in planned.plans for d in plan.dispatches if d.kernel == "sample_sort/parts"]
    return {params_of(d)["parts"] for d in found}, {dict(d.constants)["COUNTED"] for d in found if "COUNTED" in dict(d.constants)}


@pytest.mark.parametrize("name", ["float32", "float16", "uint8", "int64", "float64"])
def test_keys_of_every_width(sorter, name):
    device, planned = sorter()
    for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        direction = ("top_k-largest", "top_k-smallest")[seed % 2]
        x = data.make(kind, name, (2, N // 2 if name.endswith("64") else N), seed)
        check(direction, x, k=x.shape[1], device=device, case=kind)
    assert min(parts_of(planned)[0]) > 4


def test_one_part_and_many(sorter):
    for processors, parts in ((1, 1), (2, 2), (40, 3)):
        device, planned = sorter(processors=processors)
        for kind in ("random", "sorted", "constant"):
            check("top_k-largest", data.make(kind, "int32", (1, 800 * parts), 1), k=800 * parts, device=device, case=kind)
        assert max(parts_of(planned)[0]) >= parts


@pytest.mark.parametrize(
    "limits", [{"max_compute_workgroup_storage_size": 16 << 10}, {"max_compute_invocations_per_workgroup": 128}]
)
def test_small_workgroups(sorter, limits):
    device, _ = sorter(processors=128, **limits)
    for kind in ("random", "reversed", "few_distinct"):
        check("top_k-smallest", data.make(kind, "float32", (2, N), 3), k=N, device=device, case=kind)


def test_less_than_all(sorter):
    """Parts behind the last rank end early, or amid their list."""
    device, planned = sorter()
    for k in (1, 7, 129, 1024, 4999, N - 1):
        check("top_k-largest", data.make("eight_values", "float32", (2, N), k), k=k, device=device, case=k)
    assert parts_of(planned)[0] == {16}


def test_lists_of_pairs(sorter):
    device, planned = sorter("radix_select", processors=128)
    for kind in ("random", "constant"):
        check("top_k-largest", data.make(kind, "float32", (1, 70_000), 1), k=17_000, device=device, case=kind)
    assert parts_of(planned)[0]


def test_lists_at_the_edges_of_parts(sorter):
    """The first step finds k pairs of each of two rows, and leaves them in no order."""
    device, planned = sorter("radix_select", processors=128)
    for number, k in enumerate((256, 257, 511, 512, 513, 1023, 1025, 2049, 4097)):
        x = data.make(("random", "eight_values", "constant")[number % 3], "float32", (2, 9000), k)
        check("top_k-largest", x, k=k, device=device)
    assert parts_of(planned)[0] >= {1, 2, 3, 4, 5, 9, 17}


@pytest.mark.parametrize("name", ["uint8", "float16", "int64", "float64"])
def test_lists_of_every_width(sorter, name):
    device, planned = sorter("radix_select", max_compute_workgroup_storage_size=16 << 10)
    for kind in ("random", "few_distinct"):
        check("top_k-smallest", data.make(kind, name, (3, 3000), 1), k=700, device=device, case=kind)
    assert parts_of(planned)[0]


def test_lists_of_delegates(sorter):
    """Of these only the device knows how many pairs there are."""
    device, planned = sorter("delegates")
    for kind in ("random", "sorted", "reversed", "few_distinct", "constant"):
        check("top_k-largest", data.make(kind, "uint8", (1, 70_000), 1), k=300, device=device, case=kind)
    assert parts_of(planned)[1] == {1}


def test_lists_whose_length_only_the_device_knows(device):
    device, planned = planned_device(
        device, "radix_select", occupancy={"processors": 128}, radix_select={"sample_length": 4096, "sample_work": 1}
    )
    for kind in ("random", "sorted", "few_distinct"):
        check("top_k-largest", data.make(kind, "float32", (1, 300_000), 1), k=17_000, device=device, case=kind)
    assert parts_of(planned)[1] == {1}


def test_parts_that_outgrow_their_room(sorter, monkeypatch):
    """They are taken in pieces. Less room stands for samples that mislead."""
    monkeypatch.setattr(sample_sort, "_ROOM", 0.25)
    monkeypatch.setattr(sample_sort, "_PART", 4096)
    device, planned = sorter()
    for kind in ("random", "eight_values", "constant", "sorted", "reversed"):
        for k in (130, 2500, N):
            check("top_k-largest", data.make(kind, "float32", (2, N), 1), k=k, device=device, case=kind)
    (dispatch,) = planned.plans[-1].dispatches
    assert 2 * dict(dispatch.constants)["PLACES"] < N / params_of(dispatch)["parts"]


def test_pieces_end_before_the_pair_at_their_own_end(sorter):
    """A list is in order up to k alone: of the pairs behind, the middle one may be its last."""
    device, planned = sorter(processors=16)
    k, number = 130, np.arange(128)  # of the sample, which has nothing of what comes first
    sampled = number * (N // 128) + ((number * 0x9E3779B1 & 0xFFFFFFFF) >> 16) % (N // 128)
    early = np.setdiff1d(np.arange(N)[np.arange(N) % 2048 < 240], sampled)  # listed first
    x = np.ones((1, N), np.int32)
    x[:, sampled] = -1
    x[:, sampled[:8]] = 0
    for seed in range(50):
        best = np.random.default_rng(seed).choice(early, k, replace=False)
        given = x.copy()
        given[:, best] = (1 << 30) + np.arange(k)
        check("top_k-largest", given, k=k, device=device, case=seed)
    (dispatch,) = planned.plans[-1].dispatches
    assert 8 * params_of(dispatch)["parts"] == len(number) and dict(dispatch.constants)["PLACES"] > 2 * k


def test_columns_and_results_that_lie_apart(sorter):
    device, _ = sorter()
    x = data.make("eight_values", "float16", (3000, 3), 5)
    check("top_k-largest", x, axis=0, k=3000, device=device)


def test_what_is_not_served(sorter):
    device, _ = sorter()
    for shape, k, why in (
        ((1, (1 << 17) + 1), 20_000, "up to 131072"),
        ((17, N), N, "fewer or shorter"),
    ):
        with pytest.raises(ValueError, match=f"sample_sort takes.*{why}"):
            check("top_k-largest", np.zeros(shape, np.float32), k=k, device=device)


def test_spans(sorter):
    """What a span lacks comes after all of it: the sample has some, and so do parts."""
    device, planned = sorter()
    x = data.make("eight_values", "float32", (4, N // 2), 3)
    check_ragged(x, 3000, np.array([N // 2, 3001, 17, 0]), device)
    assert parts_of(planned)[0]


def test_spans_with_fewer_pairs_than_the_sample(sorter):
    device, planned = sorter(processors=132)
    x = data.make("random", "uint64", (5, 5003), 3)
    check_ragged(x, 100, np.array([0, 5003, 17, 0, 101]), device)
    assert max(parts_of(planned)[0]) > 100 // 8


@pytest.mark.parametrize("name", ["float32", "uint8"])
def test_spans_of_fewer_items_than_the_sample(sorter, name):
    """No item is sampled twice: alike ones would be dealt out without end."""
    device, planned = sorter(processors=128)
    x = data.make("eight_values", name, (4, N // 2), 3)
    for k in (2, 9):
        check_ragged(x, k, np.array([N // 2, 140, 3, 0]), device)
    assert parts_of(planned)[0] == {18}


def test_rows_of_a_few_items(sorter):
    device, _ = sorter()
    for n in (2, 7, 8, 9):
        check("top_k-largest", data.make("eight_values", "float32", (2, n), n), k=n - 1, device=device)
