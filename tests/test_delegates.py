"""Top-k by delegates in dispatches of their own, and the radix select with a sample: also the paths that only odd data takes."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import oracle
import pytest
from checks import check, planning, strided_tensor

import wgdml
from wgdml.plan import Algorithm, Plan


@pytest.fixture
def forced(device, monkeypatch):
    """A device that takes one algorithm, as a GPU would or as a software adapter does, and what it planned."""
    return partial(planning, monkeypatch, device.gpu_device)


def kernels(plans: list[Plan]) -> list[str]:
    return [d.kernel for d in plans[-1].dispatches]


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize("name", list(oracle.DTYPES))
def test_every_type_and_kind_of_data(forced, name, software):
    device, plans = forced(Algorithm.DELEGATES, software)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        direction = ("largest", "smallest")[(number + software) % 2]
        check(f"top_k-{direction}", data.make(kind, name, (2, 9001), number), k=40, device=device, case=kind)
    assert kernels(plans)[0] == "delegates"


@pytest.mark.parametrize(("n", "k"), [(8, 1), (100, 6), (1000, 62), (4096, 256), (70_001, 1000), (300_007, 2048)])
def test_small_and_large_k(forced, n, k):
    device, _ = forced(Algorithm.DELEGATES)
    # Four for each invocation that looks for a threshold.
    k = min(k, 4 * device.plan_limits.max_compute_invocations_per_workgroup)
    for kind in ("random", "sorted", "reversed", "constant", "eight_values"):
        check("top_k-largest", data.make(kind, "float32", (1, n), n), k=k, device=device, case=kind)


def test_the_most_k_is_said(forced):
    device, _ = forced(Algorithm.DELEGATES)
    with pytest.raises(ValueError, match="delegates takes k up to 512 of 1024 loads here, not k=1000"):
        wgdml.top_k(np.zeros(4096, np.float32), 1000, device=device)


def test_classes_of_delegates(forced):
    """More delegates than one workgroup looks through: a first dispatch brings them together class by class."""
    device, plans = forced(Algorithm.DELEGATES, kth_workgroup=64, delegates=1 << 14, delegate_loads=4)
    for kind in ("random", "sorted", "reversed", "constant"):
        check("top_k-largest", data.make(kind, "float32", (1, 300_001), 1), k=30, device=device, case=kind)
    (first,) = (d for d in plans[-1].dispatches if d.kernel == "delegates")
    assert dict(first.constants)["CLASSES"] >= 8 and dict(first.constants)["WIDE"] > 1


@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("k", [3, 60])
def test_all_that_counts_in_few_subsets(forced, name, k):
    """More candidates than the list has places: it is filled again in steps, and trimmed."""
    device, plans = forced(Algorithm.DELEGATES, kth_workgroup=64, delegates=1024, delegate_loads=4)
    n = 400_000
    x = data.make("random", name, (2, n), 1)
    check("top_k-largest", x, k=k, device=device)
    (first,) = (d for d in plans[-1].dispatches if d.kernel == "delegates")
    (gather,) = (d for d in plans[-1].dispatches if d.kernel == "gather")
    per_load, capacity = dict(first.constants)["PER_LOAD"], dict(gather.constants)["CAPACITY"]
    subsets = 512
    rng = np.random.default_rng(2)
    dtype = x.dtype
    for chosen in ([0], [subsets - 1], [5, 6, 7, 300]):
        x = rng.integers(0, 5, (2, n)).astype(dtype)
        mine = np.isin(np.arange(n) // per_load % subsets, chosen)
        # All alike, so that the first of them win; and all different, the best ones at the end.
        x[0, mine] = 100
        x[1, mine] = (100 + np.arange(mine.sum()) * 27 // mine.sum()).astype(dtype)
        assert mine.sum() > min(capacity, 700)
        check("top_k-largest", x, k=k, device=device, case=f"subsets {chosen}")


def test_rows_that_start_amid_a_load(forced):
    device, plans = forced(Algorithm.DELEGATES)
    for offset in (1, 2, 3):
        tensor, x = strided_tensor(device, "few_distinct", "float32", (3, 4003), (4007, 1), offset)
        check("top_k-largest", x, given=tensor, k=30, device=device, case=offset)
    tensor, x = strided_tensor(device, "few_distinct", "float32", (3, 4003), (9001, 2), 1)
    check("top_k-smallest", x, given=tensor, k=30, device=device)
    assert kernels(plans)[0] == "delegates"


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize(("n", "k"), [(7, 2), (64, 10), (1000, 10), (5000, 60)])
def test_down_columns(forced, n, k, software):
    device, plans = forced(Algorithm.DELEGATES, software)
    for kind in ("random", "sorted", "constant", "eight_values", "nan_payloads"):
        check("top_k-largest", data.make(kind, "float32", (n, 67), n), axis=0, k=k, device=device, case=kind)
        check("top_k-largest", data.make(kind, "float32", (3, n, 20), n), axis=1, k=k, device=device, case=kind)
    assert kernels(plans) == ["reduce_columns", "select"]


@pytest.mark.parametrize("name", ["float16", "float32", "int64"])
@pytest.mark.parametrize(("own", "n", "k"), [(1, 700, 10), (4, 300, 12), (4, 777, 10), (16, 5000, 17)])
def test_several_delegates_an_invocation_down_columns(forced, name, own, n, k):
    """An invocation makes one of each of several runs of positions, the last ones short or empty, and looks at several."""
    device, plans = forced(Algorithm.DELEGATES, workgroups=4, select_delegates=own, columns_unroll=2)
    for kind in ("random", "sorted", "reversed", "constant", "eight_values"):
        check("top_k-largest", data.make(kind, name, (n, 67), n), axis=0, k=k, device=device, case=kind)
        check("top_k-smallest", data.make(kind, name, (3, n, 20), n), axis=1, k=k, device=device, case=kind)
    first, second = (dict(d.constants) for d in plans[-1].dispatches)
    assert first["SPANS"] == second["SPANS"] > 1
    assert second["OWN"] > 1 or own == 1


# The sample of a radix select --------------------------------------------------------------------


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "float64"])
def test_a_sample_of_every_kind_of_data(forced, name, software):
    device, plans = forced(Algorithm.RADIX_SELECT, software, sample_k=1, sample_length=1)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        check("top_k-largest", data.make(kind, name, (1, 50_003), number), k=5000, device=device, case=kind)
    assert kernels(plans).count("select_keep") == 2


@pytest.mark.parametrize("seen", [-50.0, 50.0])
def test_a_sample_that_misleads(forced, seen):
    """What the sample sees is unlike the rest: too much is listed, or too little, and the whole row is done."""
    device, _ = forced(Algorithm.RADIX_SELECT, sample_k=1, sample_length=1)
    x = data.make("random", "float32", (1, 100_000), 3)
    x = np.nan_to_num(x, posinf=9.0, neginf=-9.0).clip(-10, 10)
    x[0, np.arange(x.size) % 2048 < 8] = seen
    for k in (500, 20_000):
        check("top_k-largest", x, k=k, device=device)


def test_few_rows_of_many_are_not_sampled(forced):
    device, plans = forced(Algorithm.RADIX_SELECT, sample_k=1, sample_length=1)
    check("top_k-largest", data.make("random", "float32", (3, 20_000), 1), k=5000, device=device)
    assert kernels(plans).count("select_keep") == 1


def test_a_list_that_collects_more_than_a_workgroup_holds(forced):
    """All that is kept lies in one workgroup's part."""
    device, _ = forced(Algorithm.RADIX_SELECT, workgroups=8)
    x = np.zeros((1, 64_000), np.float32)
    part = np.arange(64_000) // 1024 % 8 == 3
    x[0, part] = np.arange(1, 1 + part.sum())
    check("top_k-largest", x, k=6000, device=device)
