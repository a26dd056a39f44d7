"""Buckets between a sample's splitters: right ones, and samples that mislead in every way."""

from dataclasses import replace
from itertools import pairwise
from math import exp, lgamma, log

import data
import numpy as np
import oracle
import pytest
from checks import check, check_ragged, read
from planning import DEFAULT, GPU, Planned, make_plan, params_of, planned_device, planner
from variants import selection

import wgdml
from wgdml import shaders
from wgdml.plan.regions import MEETING_BYTES
from wgdml.selection import Order

N, K = 60_000, 1500


@pytest.fixture
def samples(device):
    def make(processors=24, **limits):
        return planned_device(device, "sample_select", limits=limits, occupancy={"processors": processors})

    return make


def split_of(planned):
    """Parameters and constants of the last plan's first dispatch."""
    dispatch = planned.plans[-1].dispatches[0]
    return params_of(dispatch) | dict(dispatch.constants)


def sampled(made, length):
    """Which items of a row are in its sample, if it begins with a load."""
    number = np.arange(made["WORKGROUP"] * made["SAMPLED"], dtype=np.uint32)
    loads = number * made["every"] + ((number * np.uint32(0x9E3779B1)) >> np.uint32(16)) % made["every"]
    items = loads[:, None] * made["PER_LOAD"] + np.arange(made["TAKEN"]) * made["APART"]
    there = np.zeros(length, bool)
    there[items[items < length]] = True
    return there


@pytest.mark.parametrize("name", ["float32", "float16", "uint8", "int64"])
def test_keys_of_every_width(samples, name):
    device, planned = samples()
    for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        # Rows begin within loads.
        check("top_k-largest", data.make(kind, name, (2, N + 1), seed), k=K, device=device, case=kind)
    assert split_of(planned)["buckets"] > 1


@pytest.mark.parametrize(
    "limits", [{"max_compute_workgroup_storage_size": 16 << 10}, {"max_compute_invocations_per_workgroup": 256}]
)
def test_small_workgroups(samples, limits):
    device, _ = samples(**limits)
    for kind in ("random", "eight_values", "sorted"):
        check("top_k-smallest", data.make(kind, "float32", (3, N), 3), k=700, device=device, case=kind)


@pytest.mark.parametrize("processors", [1, 600])
def test_one_part_and_many(samples, processors):
    device, planned = samples(processors)
    for kind in ("random", "constant", "reversed"):
        check("top_k-largest", data.make(kind, "float32", (1, 300_000), 3), k=5000, device=device, case=kind)
    assert (split_of(planned)["parts"] > 30) == (processors > 1)


def test_more_processors_than_invocations_that_sort(samples):
    """Each of these looks at a part."""
    device, planned = samples(600, max_compute_invocations_per_workgroup=256)
    check("top_k-largest", data.make("random", "int64", (1, 600_000), 3), k=1200, device=device)
    assert split_of(planned)["parts"] == dict(planned.plans[-1].dispatches[1].constants)["WORKGROUP"]


@pytest.mark.parametrize("best_in_sample", [False, True])
def test_a_sample_that_misleads(samples, best_in_sample):
    """Where it alone holds what is best, or none of that, too few or too many are listed."""
    device, planned = samples()
    x = np.random.default_rng(7).standard_normal((2, N), np.float32)
    check("top_k-largest", x, k=K, device=device)
    x[1, sampled(split_of(planned), N) == best_in_sample] += np.float32(100)
    check("top_k-largest", x, k=K, device=device)


def test_a_bucket_without_room(samples):
    """Between two items of the sample may lie more than a workgroup's memory holds."""
    device, planned = samples()
    k = 12_000
    x = np.random.default_rng(7).standard_normal((2, 4 * N), np.float32)
    check("top_k-largest", x, k=k, device=device)
    made, order = split_of(planned), dict(planned.plans[-1].dispatches[1].constants)
    # What is best, and not of the sample, lies between two of the sample's best.
    best = np.argsort(-x[1])[:k]
    best = best[~sampled(made, 4 * N)[best]]
    assert len(best) > order["PLACES"]
    x[1, best] = np.linspace(2.6, 2.600_5, len(best), dtype=np.float32)
    check("top_k-largest", x, k=k, device=device)


def test_spans(samples):
    """Of a short span the sample may have fewer items than the rank that is asked of it."""
    device, planned = samples()
    x = data.make("eight_values", "float32", (6, N), 3)
    check_ragged(x, K, np.array([N, N // 2, K + 1, K - 1, 17, 0]), device)
    assert planned.plans[-1].algorithms == ("sample_select",)


@pytest.mark.parametrize(
    ("shape", "k", "name"),
    [
        ((39, 193_845), 1031, "float16"),
        ((3, 62_775), 841, "float32"),
        ((20, 141_082), 932, "int64"),
        ((2, 1 << 20), 4000, "uint8"),
        ((59, 463_699), 4918, "float16"),
    ],
)
def test_lists_and_parts_have_room(shape, k, name):
    """A sample may tell a late threshold. Without room for that, workgroups read whole rows."""
    plan = make_plan(selection(name, shape, (1,), k, Order.DESCENDING, "both"), GPU, algorithm="sample_select", numbers=DEFAULT)
    made = params_of(plan.dispatches[0]) | dict(plan.dispatches[0].constants)
    sampled = made["places"] / (made["every"] * made["APART"])  # items, in the mean
    assert sampled - 3.9 * sampled**0.5 >= made["sample_rank"]
    share = made["places"] / made["parts"]
    assert made["FOUND"] >= share + 3 * (share * (1 - 1 / made["parts"])) ** 0.5


def fewer(rank, mean):
    """How likely it is that fewer of a sample than a rank are there, by Poisson's distribution."""
    return sum(exp(n * log(mean) - mean - lgamma(n + 1)) for n in range(rank))


@pytest.mark.parametrize(
    ("shape", "k", "name"),
    [
        ((8, 1 << 21), 512, "uint8"),
        ((9, 2_659_207), 1000, "uint8"),
        ((1, 711_549), 16_506, "int64"),
        ((34, 1_044_588), 20_000, "float32"),
    ],
)
def test_hardly_any_sample_misleads(shape, k, name):
    """A call waits for a single row whose sample does: it takes 25 times as long."""
    plan = make_plan(selection(name, shape, (1,), k, Order.DESCENDING, "both"), GPU, algorithm="sample_select", numbers=DEFAULT)
    made, order = params_of(plan.dispatches[0]) | dict(plan.dispatches[0].constants), dict(plan.dispatches[1].constants)
    items, rank, buckets = made["every"] * made["APART"], made["sample_rank"], made["buckets"]
    assert 1 - fewer(rank, k / items) < 5e-5
    ends = [n * rank // buckets for n in range(buckets + 1)]
    assert sum(fewer(end - begin, order["PLACES"] / items) for begin, end in pairwise(ends)) < 1e-4


PERIODS = 8


@pytest.mark.parametrize("k", [2600, 2800, 3000])
def test_rows_with_periods(samples, k):
    """The sample's items that an invocation has, or those of a part, may all be among the best."""
    device, _ = samples(128)
    rng = np.random.default_rng(k)
    x = rng.standard_normal((1, 1 << 18), np.float32)
    phase = np.arange(x.size, dtype=np.float32) * np.float32(2 * np.pi * PERIODS / x.size)
    bright = np.where(np.arange(x.size) % 2048 < 32, np.float32(8), np.float32(0))
    for case, row in {
        "runs up": np.sort(x.reshape(PERIODS, -1), axis=-1),
        "runs down": -np.sort(x.reshape(PERIODS, -1), axis=-1),
        "sine": np.sin(phase) + np.float32(1e-3) * x,
        "columns": x + bright,
    }.items():
        check("top_k-largest", row.reshape(x.shape), k=k, device=device, case=case)


def in_other_orders(text):
    """The kernel's text with workgroups that collect a sample in orders of their own."""
    for was, now in (
        ("var<workgroup> found_count", "var<private> number: u32;\nvar<workgroup> found_count"),
        ("fn run(workgroup: u32, local: u32) {", "fn run(workgroup: u32, local: u32) {\n  number = workgroup;"),
        (
            "if (near != 0u) {\n      var at = atomicAdd(&found_count",
            "for (var turn = 0u; turn < WORKGROUP; turn++) {\n"
            "    if (near != 0u && (local * 37u + number * 101u) % WORKGROUP == turn) {\n      var at = atomicAdd(&found_count",
        ),
        ("}\n    count = found_by_all(local);", "}\n    workgroupBarrier();\n    }\n    count = found_by_all(local);"),
    ):
        assert was in text
        text = text.replace(was, now, 1)
    return text


def test_workgroups_that_collect_in_other_orders(device, monkeypatch):
    """They find the same splitters. Software adapters run atomic operations in one order."""
    assemble = shaders.assemble

    def shuffled(name, constants):
        text = assemble(name, constants)
        return in_other_orders(text) if name == "sample_select/split" else text

    monkeypatch.setattr(shaders, "assemble", shuffled)
    numbers = {"occupancy": {"processors": 128}}
    own = wgdml.Device(
        device.gpu_device, planner=lambda machine: Planned(planner(replace(machine, kind="discrete"), numbers), "sample_select")
    )
    x = np.random.default_rng(1).standard_normal((1, 1 << 19), np.float32)
    for case, row in (("random", x), ("runs", np.sort(x.reshape(4, -1), axis=-1).reshape(x.shape))):
        check("top_k-largest", row, k=2800, device=own, case=case)


def test_nothing_is_left_behind(samples):
    device, planned = samples()
    for kind in ("random", "constant"):
        check("top_k-largest", data.make(kind, "float32", (3, N), 1), k=K, device=device, case=kind)
    x = np.random.default_rng(7).standard_normal((3, N), np.float32)
    x[1, sampled(split_of(planned), N)] += np.float32(100)
    check("top_k-largest", x, k=K, device=device)
    assert split_of(planned)["parts"] > 1
    check_ragged(x, K, np.array([N, K + 1, 17]), device)
    assert not read(device, device.buffers.scratch(1))[:MEETING_BYTES].any()


def test_what_is_not_served(samples):
    device, _ = samples()
    for shape, k, why in (((2049, 3000), 200, "2048 sequences"), ((1, N), 3, "k from"), ((1, 3000), 1500, "rows|k from")):
        with pytest.raises(ValueError, match=f"sample_select takes.*({why})"):
            check("top_k-largest", np.zeros(shape, np.float32), k=k, device=device)


def test_buckets_that_samples_would_overfill_are_not_served():
    """Memory has room for three times what six items of the sample stand for, as some have."""
    with pytest.raises(ValueError, match="sample_select takes fewer than"):
        make_plan(
            selection("float16", (10, 3_765_471), (1,), 22_777, Order.DESCENDING, "both"),
            GPU,
            algorithm="sample_select",
            numbers=DEFAULT,
        )
