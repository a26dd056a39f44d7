"""Rows whose threshold histograms of their digits tell: every digit, and lists in scratch."""

from dataclasses import replace

import data
import numpy as np
import oracle
import pytest
from checks import check, check_ragged
from planning import DEFAULT, GPU, Planned, make_plan, params_of, planned_device, planner
from test_select_spans import check as check_segments
from test_select_spans import edges, segments
from variants import selection

import wgdml
from wgdml import shaders
from wgdml.selection import Order


@pytest.fixture
def digits(device):
    def make(processors=128, **limits):
        return planned_device(device, "select_digits", limits=limits, occupancy={"processors": processors})

    return make


@pytest.mark.parametrize(
    ("name", "ks"),
    [
        ("float32", (2, 250, 999)),
        ("float16", (2,)),
        ("uint8", (999,)),
        ("int16", (250,)),
        ("int64", (999,)),
        ("float64", (250,)),
    ],
)
def test_a_threshold_at_every_digit(digits, name, ks):
    """Keys that differ in their last bits alone, or not at all, take digits of the index too."""
    device, _ = digits()
    for kind in data.kinds(oracle.DTYPES[name]):
        for k in ks:
            check("top_k-largest", data.make(kind, name, (2, 1000), k), k=k, device=device, case=kind)


@pytest.mark.parametrize("name", data.in_turn(["uint8", "float16", "float32", "int64"], 1))
def test_more_wanted_than_stands_out(digits, name):
    """Lists of hundreds of equal keys beside few others: indices alone tell those apart."""
    device, _ = digits()
    rng = np.random.default_rng(3)
    x = np.where(rng.random((3, 5000)) < 0.02, rng.integers(60, 100, (3, 5000)), 50)
    x[1] = np.where(rng.random(5000) < 0.02, 60, 50)
    for direction in ("top_k-largest", "top_k-smallest"):
        check(direction, x.astype(name), k=900, device=device)


def test_lists_in_scratch(digits):
    """Where workgroup memory has no room, exactly k pairs are listed, and sorted apart."""
    # As if the lists were many: by their own order, not by several workgroups each.
    device, planned = digits(1, max_compute_workgroup_storage_size=16 << 10)
    for kind in ("random", "eight_values", "constant", "shared_leading_bits"):
        check("top_k-smallest", data.make(kind, "float32", (3, 5000), 1), k=2500, device=device, case=kind)
    for name in ("float16", "int64", "uint8"):
        check("top_k-largest", data.make("eight_values", name, (3, 5000), 2), k=3000, device=device, case=name)
    assert all(plan.algorithms == ("select_digits", "row_sort_radix") for plan in planned.plans)


def test_lists_in_scratch_of_spans(digits):
    """Items without a part fill a list up to k, behind all others and by their places."""
    device, planned = digits(1, max_compute_workgroup_storage_size=16 << 10)
    x, lengths = data.make("eight_values", "float32", (4, 5000), 3), np.array([5000, 2501, 17, 0])
    check_ragged(x, 2500, lengths, device)
    assert planned.plans[-1].algorithms == ("select_digits", "row_sort_radix")


SAMPLED = 20_000  # items of a row that is sampled, whatever its type


@pytest.mark.parametrize("name", ["float32", "float16", "uint8", "int64"])
def test_a_threshold_from_a_sample(digits, name):
    device, planned = digits()
    for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        check("top_k-largest", data.make(kind, name, (2, SAMPLED), seed), k=300, device=device, case=kind)
    assert params_of(planned.plans[-1].dispatches[0])["every"] > 1


#: Lists of 1800 pairs, of as many words, have no room in this workgroup memory.
SPILLED = {"max_compute_workgroup_storage_size": 16 << 10}


@pytest.mark.parametrize("name", ["float32", "float16", "int64"])
def test_a_threshold_from_a_sample_for_a_list_in_scratch(digits, name):
    device, planned = digits(1, **SPILLED)
    for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        # So many that a float16 and an index take two words.
        check("top_k-largest", data.make(kind, name, (2, 70_001), seed), k=1800, device=device, case=kind)
    plan = planned.plans[-1]
    assert params_of(plan.dispatches[0])["every"] > 1
    assert dict(plan.dispatches[0].constants)["SPILLED"]


@pytest.mark.parametrize("spilled", [False, True])
@pytest.mark.parametrize("best_in_sample", [False, True])
def test_a_sample_that_misleads(digits, best_in_sample, spilled):
    """Where its loads alone hold what is best, or none of that, too few or too many are listed."""
    device, planned = digits(1, **SPILLED) if spilled else digits()
    k = 1800 if spilled else 900
    x = np.random.default_rng(7).standard_normal((2, 3 * SAMPLED), np.float32)
    check("top_k-largest", x, k=k, device=device)
    dispatch = planned.plans[-1].dispatches[0]
    assert dict(dispatch.constants)["SPILLED"] == spilled
    stride, items = params_of(dispatch)["stride"], dict(dispatch.constants)["SAMPLED_ITEMS"]
    assert stride > 1
    load, item = np.divmod(np.arange(3 * SAMPLED), 4)
    # Neighbours' samples have the first and the second halves of loads by turns.
    half = (load // stride % 2 == item // items) | (items == 4)
    sampled = (load % stride == 0) & half
    x[:, sampled == best_in_sample] += np.float32(100)
    check("top_k-largest", x, k=k, device=device)


@pytest.mark.parametrize(
    ("shape", "k", "name"),
    [((64, 50_257), 1000, "float32"), ((128, 32_000), 700, "float32"), ((200, 9000), 900, "int32"), ((30, 5000), 800, "float16")],
)
def test_few_rows_are_hardly_misled(shape, k, name):
    """All of them wait for one whose sample misleads: it is read again."""
    plan = make_plan(selection(name, shape, (1,), k, Order.DESCENDING, "both"), GPU, algorithm="select_digits", numbers=DEFAULT)
    made = params_of(plan.dispatches[0]) | dict(plan.dispatches[0].constants)
    earliest, latest, every = made["sample_rank"], made["sample_rank"] + made["sample_slack"], made["every"]
    assert k / every + 3.2 * (k / every) ** 0.5 <= earliest  # items of the sample, in the mean
    assert latest <= made["PLACES"] / every - 3 * (made["PLACES"] / every) ** 0.5


@pytest.mark.parametrize(
    ("shape", "k", "name", "kib"),
    [((5, 11_523), 150, "float32", 16), ((6, 35_535), 4245, "float16", 32), ((1, 16_024), 1800, "int64", 48)],
)
def test_lists_of_few_rows_stay_in_memory(shape, k, name, kib):
    """More invocations leave less room for the list: in scratch it takes another dispatch."""
    limits = replace(GPU, max_compute_workgroup_storage_size=kib << 10)
    plan = make_plan(selection(name, shape, (1,), k, Order.DESCENDING, "both"), limits, algorithm="select_digits", numbers=DEFAULT)
    assert [dict(dispatch.constants)["SPILLED"] for dispatch in plan.dispatches] == [0]


def test_samples_with_less_room_than_few_rows_want():
    """They tell a threshold as of more rows: without one all digits are counted."""
    limits = replace(GPU, max_compute_workgroup_storage_size=16 << 10)
    wanted = selection("float32", (210, 13_858), (1,), 483, Order.DESCENDING, "both")
    plan = make_plan(wanted, limits, algorithm="select_digits", numbers=DEFAULT)
    assert params_of(plan.dispatches[0])["every"] > 1


def test_many_invocations_with_the_least_memory():
    limits = replace(GPU, max_compute_workgroup_storage_size=16 << 10)
    wanted = selection("int64", (4, 602_371), (1,), 6336, Order.DESCENDING, "both")
    made = dict(make_plan(wanted, limits, algorithm="select_digits", numbers=DEFAULT).dispatches[0].constants)
    assert (4 << made["KTH_DIGIT"]) + 8 * made["WORKGROUP"] <= (16 << 10) - 256


def test_a_sample_hardly_misleads_twice(device, monkeypatch):
    """Histograms of a row find its threshold then, and the call waits."""
    assemble, whole = shaders.assemble, "kth_of_row(row, local, params.k, params.slack)"

    def without_histograms(name, constants):
        text = assemble(name, constants)
        assert (name == "select/digits") == (whole in text)
        return text.replace(whole, "Pair()")

    monkeypatch.setattr(shaders, "assemble", without_histograms)
    own = wgdml.Device(
        device.gpu_device, planner=lambda machine: Planned(planner(replace(machine, kind="discrete"), DEFAULT), "select_digits")
    )
    x = np.random.default_rng(1).standard_normal((4000, 1394), np.float32).astype(np.float16)
    check("top_k-largest", x, k=79, device=own)
    assert params_of(own.planner.plans[-1].dispatches[0])["sample_rank"] < 30


def test_a_list_in_scratch_in_no_order(digits):
    """With some more than k it is no answer yet, also where any order will do."""
    device, planned = digits(1, **SPILLED)
    x = data.make("eight_values", "float32", (2, 3 * SAMPLED), 5)
    values, indices = (found.numpy() for found in wgdml.top_k(wgdml.asarray(x, device=device), 1800, sorted=False))
    order = np.argsort(-x, axis=-1, kind="stable")[:, :1800]
    assert np.array_equal(np.sort(indices, axis=-1), np.sort(order, axis=-1))
    assert np.array_equal(values, np.take_along_axis(x, indices.astype(np.int64), axis=-1))
    assert planned.plans[-1].algorithms[0] == "select_digits"


def test_samples_of_spans(digits):
    """Of a short span a sample may have fewer items than the rank that is asked of it."""
    device, planned = digits()
    x, lengths = data.make("eight_values", "float32", (5, SAMPLED), 3), np.array([SAMPLED, 901, 899, 17, 0])
    check_ragged(x, 900, lengths, device)
    assert params_of(planned.plans[-1].dispatches[-1])["every"] > 1


def test_a_list_that_is_full(digits):
    """What is listed may end within a load, whose later items take no room."""
    device, planned = digits()
    # Rows begin within loads. Of 17 bits of an index the first digit leaves bins of 128 items.
    x = data.make("constant", "uint8", (3, 98_001))
    for k in (100, 102):
        check("top_k-largest", x, k=k, device=device, case=k)
        (dispatch,) = planned.plans[-1].dispatches
        made = dict(dispatch.constants)
        # An adapter that runs invocations in order would drop the last ones, and show nothing.
        assert k + params_of(dispatch)["slack"] <= made["PLACES"]


@pytest.mark.parametrize(("name", "k", "longest"), [("float32", 300, 3000), ("uint8", 700, 4000), ("int64", 257, 2100)])
def test_segments_as_software_adapters_plan_them(device, name, k, longest):
    software, planned = planned_device(device, None, software=True)
    rng = np.random.default_rng(k)
    for seed, kind in enumerate(("random", "eight_values", "constant")):
        x = data.make(kind, name, 9001, seed)
        wanted = segments(name, 60, x.size, k, seed % 2 == 0, longest, offset=seed)
        check_segments(software, wanted, x, *edges(rng, 60, x.size, k, longest), kind)
    assert planned.plans[-1].algorithms == ("select_digits",)
