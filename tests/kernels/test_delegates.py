"""Top-k by delegates in their own dispatches, and radix select with a sample; odd data too."""

from __future__ import annotations

import data
import numpy as np
import oracle
import pytest
from checks import check, strided_tensor
from planning import DEFAULT, numbers_of, params_of

import wgdml
from wgdml.plan import Plan

#: Workgroups so narrow that few delegates are more than one of them looks through.
NARROW = {"limits": {"max_compute_invocations_per_workgroup": 64}}


def kernels(plans: list[Plan]) -> list[str]:
    return [d.kernel for d in plans[-1].dispatches]


@pytest.mark.parametrize(("name", "software"), [("uint8", False), ("float16", True), ("float32", False), ("int64", True)])
def test_every_width_and_kind_of_data(forced, name, software):
    device, plans = forced("delegates", software)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        direction = ("largest", "smallest")[(number + software) % 2]
        check(f"top_k-{direction}", data.make(kind, name, (2, 9001), number), k=40, device=device, case=kind)
    assert kernels(plans)[0] == "delegates/delegates"


@pytest.mark.parametrize(("n", "k"), [(8, 1), (100, 6), (1000, 62), (4096, 256), (70_001, 1000), (300_007, 2048)])
def test_small_and_large_k(forced, n, k):
    device, _ = forced("delegates")
    # Four for each invocation that looks for a threshold.
    k = min(k, 4 * device.machine.max_compute_invocations_per_workgroup)
    for kind in ("random", "sorted", "reversed", "constant", "eight_values"):
        check("top_k-largest", data.make(kind, "float32", (1, n), n), k=k, device=device, case=kind)


def test_lists_of_several_sequences(forced):
    """Ranked in the dispatch that trims them while that is cheap, else in one of their own."""
    device, plans = forced("delegates", **DEFAULT)
    for sequences in (2, 9):
        for kind in ("random", "sorted", "constant"):
            check("top_k-largest", data.make(kind, "float32", (sequences, 20_000), 1), k=300, device=device, case=kind)
    assert {kernels([p])[-1] for p in plans} == {"delegates/rank", "row_sort/rank"}


def test_the_most_k_is_said(forced):
    device, _ = forced("delegates")
    with pytest.raises(ValueError, match="delegates takes k up to 512 of 1024 loads here, not k=1000"):
        wgdml.top_k(np.zeros(4096, np.float32), 1000, device=device)


def test_several_delegates_in_a_group(forced):
    """No classes: the delegates themselves fall into groups."""
    device, plans = forced("delegates", **NARROW, delegates={"total": 1 << 10, "loads": 1, "lean": 1 << 10})
    for name in data.in_turn(("uint8", "float32", "int64")):
        for kind in ("random", "sorted", "reversed", "constant", "eight_values"):
            check("top_k-largest", data.make(kind, name, (1, 70_001), 1), k=5, device=device, case=kind)
    second = numbers_of(plans[-1].dispatches[1])
    assert not second["CLASSES"] and second["BESTS"] > second["TEAM_BESTS"]


def test_classes_of_delegates(forced):
    """More delegates than a workgroup looks through: a first dispatch cuts them class by class."""
    device, plans = forced("delegates", **NARROW, delegates={"total": 1 << 14, "loads": 4})
    for kind in ("random", "sorted", "reversed", "constant"):
        check("top_k-largest", data.make(kind, "float32", (1, 300_001), 1), k=30, device=device, case=kind)
    (first,) = (d for d in plans[-1].dispatches if d.kernel == "delegates/delegates")
    assert numbers_of(first)["CLASSES"] and numbers_of(first)["BESTS"] < numbers_of(first)["SUBSETS"]


@pytest.mark.parametrize(
    ("name", "k", "software"),
    data.in_turn(
        [
            ("uint8", 3, False),
            ("float16", 60, False),
            ("float32", 60, False),
            ("float32", 3, False),
            ("float32", 60, True),
            ("float64", 60, False),
            ("float64", 3, True),
        ]
    ),
)
def test_all_that_counts_in_few_subsets(forced, name, k, software):
    """More candidates than the list has places: it is filled again in steps, and trimmed."""
    device, plans = forced("delegates", software, **NARROW, delegates={"total": 1024, "loads": 4})
    n = 400_000
    x = data.make("random", name, (2, n), 1)
    check("top_k-largest", x, k=k, device=device)
    (first,) = (d for d in plans[-1].dispatches if d.kernel == "delegates/delegates")
    (gather,) = (d for d in plans[-1].dispatches if d.kernel == "delegates/filter")
    per_load, capacity = numbers_of(first)["PER_LOAD"], numbers_of(gather)["PLACES"]
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


def test_more_than_a_workgroup_collects(forced):
    """Nearly all candidates in one workgroup's subsets: those beyond its room ask one by one."""
    device, plans = forced("delegates", delegates={"append_length": 1})
    n, k = 300_000, 1000
    rng = np.random.default_rng(3)
    x = rng.random((1, n), np.float32)
    check("top_k-largest", x, k=k, device=device)
    first, gather = (numbers_of(d) for d in plans[-1].dispatches[:2])
    subset = np.arange(n) // first["PER_LOAD"] % params_of(plans[-1].dispatches[0])["subsets"]
    mine = np.flatnonzero(subset // 8 % gather["PARTS"] == 0)
    many = gather["COLLECTED"] + 500
    assert 500 < many < min(len(mine), gather["PLACES"])
    x[0, rng.permutation(mine)[:many]] += 10
    check("top_k-largest", x, k=k, device=device)


def test_rows_that_start_amid_a_load(forced):
    device, plans = forced("delegates")
    for offset in (1, 2, 3):
        tensor, x = strided_tensor(device, "few_distinct", "float32", (3, 4003), (4007, 1), offset)
        check("top_k-largest", x, given=tensor, k=30, device=device, case=offset)
    tensor, x = strided_tensor(device, "few_distinct", "float32", (3, 4003), (9001, 2), 1)
    check("top_k-smallest", x, given=tensor, k=30, device=device)
    assert kernels(plans)[0] == "delegates/delegates"


def check_columns(device, name, n, k):
    """Columns of all, and of the middle axis, in both directions."""
    for kind in ("random", "sorted", "reversed", "constant", "eight_values"):
        check("top_k-largest", data.make(kind, name, (n, 67), n), axis=0, k=k, device=device, case=kind)
        check("top_k-smallest", data.make(kind, name, (3, n, 20), n), axis=1, k=k, device=device, case=kind)


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize(("n", "k"), [(7, 2), (64, 10), (1000, 10), (5000, 60)])
def test_down_columns(forced, n, k, software):
    device, plans = forced("delegates", software)
    for kind in ("random", "sorted", "constant", "eight_values", "nan_payloads"):
        check("top_k-largest", data.make(kind, "float32", (n, 67), n), axis=0, k=k, device=device, case=kind)
        check("top_k-largest", data.make(kind, "float32", (3, n, 20), n), axis=1, k=k, device=device, case=kind)
    assert kernels(plans)[0] == "delegates/columns"


@pytest.mark.parametrize(
    ("name", "own", "n", "k"),
    [
        ("float32", 1, 700, 10),
        ("float32", 4, 300, 12),
        ("float32", 4, 777, 10),
        ("float32", 16, 5000, 17),
        ("float16", 4, 777, 10),
        ("int64", 16, 5000, 17),
    ],
)
def test_several_delegates_an_invocation_down_columns(forced, name, own, n, k):
    """An invocation makes several, some of one position more than others, and looks at several."""
    device, plans = forced(
        "delegates", occupancy={"workgroups": 4, "invocations": 1}, select_from_delegates={"delegates": own}, columns={"unroll": 2}
    )
    check_columns(device, name, n, k)
    first, second = (numbers_of(d) for d in plans[-1].dispatches)
    assert first["SPANS"] > 1
    assert second["OWN"] > 1 or own == 1


@pytest.mark.parametrize(
    ("name", "n", "k", "workgroups"),
    [
        ("float32", 100, 4, 4),
        ("float32", 100, 4, 2112),
        ("float32", 1000, 10, 4),
        ("float32", 1000, 10, 2112),
        ("float32", 5000, 17, 4),
        ("float32", 5000, 17, 2112),
        ("uint8", 100, 4, 4),
        ("uint8", 5000, 17, 2112),
        ("float16", 1000, 10, 2112),
        ("int64", 1000, 10, 4),
    ],
)
def test_a_team_shares_a_subset_down_columns(forced, name, n, k, workgroups):
    device, plans = forced("delegates", occupancy={"workgroups": workgroups}, columns={"unroll": 2})
    check_columns(device, name, n, k)
    first, _ = (numbers_of(d) for d in plans[-1].dispatches)
    assert first["SHARED"] and first["TEAM"] > 1
    assert (first["SPANS"] > 1) == (workgroups == 4)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", ["float32", "int64"])
def test_subsets_of_one_or_of_all_down_columns(forced, name, shared):
    """Subsets with none of the first k, with one (the delegate), with two, and with too many."""
    k, n, columns = 10, 4096, 8
    device, plans = forced("delegates", **({} if shared else {"occupancy": {"invocations": 1}}))
    check("top_k-largest", np.zeros((n, columns), name), axis=0, k=k, device=device)
    first, second = (numbers_of(d) for d in plans[-1].dispatches)
    assert first["SHARED"] == shared and first["SPANS"] == 1
    subsets = params_of(plans[-1].dispatches[1])["subsets"]
    members = -(-n // subsets)
    assert subsets < n and 4 * members > second["PLACES"] > k
    subset, member = np.arange(n) % subsets, np.arange(n) // subsets
    rng = np.random.default_rng(3)

    def column(alone: int, twins: int, whole: int) -> np.ndarray:
        """So many subsets, from anywhere, with one large value, with two, and with nothing else."""
        order = rng.permutation(subsets)[subset]
        x = rng.integers(0, 100, n)
        x[(order < alone) & (member == rng.integers(members - 1))] += 10_000
        twin = (order >= alone) & (order < alone + twins)
        x[twin & ((member == 3) | (member == members - 2))] += 10_000
        return x + np.where((order >= alone + twins) & (order < alone + twins + whole), 1000 * (order + 1), 0)

    cases = [(10, 0, 0), (9, 1, 0), (0, 5, 0), (0, 10, 0), (0, 0, 1), (5, 0, 5), (9, 0, 1), (3, 3, 4), (12, 12, 0), (1, 1, 8)]
    for number, case in enumerate(cases):
        x = np.stack([column(*case) for _ in range(columns)], axis=1).astype(name)
        check("top_k-largest", x, axis=0, k=k, device=device, case=case)
        check("top_k-smallest", -x, axis=0, k=k, device=device, case=case)
        # And with equal values, of which the first one wins.
        check("top_k-largest", x // 1000 * 1000, axis=0, k=k, device=device, case=(number, "equal"))
    # The best of a subset late in it, and earlier items that are equal to the k-th.
    x = np.zeros((n, columns), name)
    x[(subset < k - 3) & (member == members - 2)] = 1
    check("top_k-largest", x, axis=0, k=k, device=device, case="late")


# The sample of a radix select --------------------------------------------------------------------

SAMPLED = {"radix_select": {"sample_length": 2048, "sample_work": 0}}


@pytest.mark.parametrize(
    ("name", "software"), [("uint8", False), ("float16", True), ("float32", False), ("float32", True), ("float64", False)]
)
def test_a_sample_of_every_kind_of_data(forced, name, software):
    device, plans = forced("radix_select", software, **SAMPLED)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        check("top_k-largest", data.make(kind, name, (1, 50_003), number), k=5000, device=device, case=kind)
    assert kernels(plans).count("radix_select/filter") == 2


@pytest.mark.parametrize("seen", [-50.0, 50.0])
def test_a_sample_that_misleads(forced, seen):
    """What the sample sees is unlike the rest: too much or too little is listed."""
    device, _ = forced("radix_select", **SAMPLED)
    x = data.make("random", "float32", (1, 100_000), 3)
    x = np.nan_to_num(x, posinf=9.0, neginf=-9.0).clip(-10, 10)
    x[0, np.arange(x.size) % 2048 < 8] = seen
    for k in (5000, 20_000):
        check("top_k-largest", x, k=k, device=device)


def test_few_rows_of_many_are_not_sampled(forced):
    device, plans = forced("radix_select", **SAMPLED)
    check("top_k-largest", data.make("random", "float32", (3, 20_000), 1), k=5000, device=device)
    assert kernels(plans).count("radix_select/filter") == 1


def test_a_list_that_collects_more_than_a_workgroup_holds(forced):
    """All that is kept lies in one workgroup's part."""
    device, _ = forced("radix_select", occupancy={"workgroups": 8})
    x = np.zeros((1, 64_000), np.float32)
    part = np.arange(64_000) // 1024 % 8 == 3
    x[0, part] = np.arange(1, 1 + part.sum())
    check("top_k-largest", x, k=6000, device=device)
