"""Lists sorted between the splitters of a sample: lists of every size, and parts without room."""

import data
import pytest
from checks import check
from planning import params_of, planned_device

from wgdml.plan.algorithms import row_sort_sample


@pytest.fixture
def sorter(device):
    """Makes a device that finds the first k and has a sample sort order them, and its planner."""

    def make(algorithm="radix_select", **limits):
        return planned_device(device, algorithm, limits=limits, row_sort_rank={"max_length": 16, "max_work": 1})

    return make


def sampled(planned):
    """What the sample sort was asked for: counts known on the device alone, and how many parts."""
    found = [d for plan in planned.plans for d in plan.dispatches if d.kernel == "row_sort/sample"]
    return {dict(d.constants)["COUNTED"] for d in found}, {params_of(d)["parts"] for d in found}


def test_counts_at_the_edges_of_parts(sorter):
    device, planned = sorter()
    ks = (256, 257, 511, 512, 513, 1023, 1025, 2049, 4097)
    for number, k in enumerate(ks):
        x = data.make(("random", "eight_values", "constant")[number % 3], "float32", (2, 9000), k)
        check("top_k-largest", x, k=k, device=device)
    counted, samples = sampled(planned)
    assert counted == {0} and len(samples) > 2


@pytest.mark.parametrize("name", ["uint8", "float16", "int64", "float64"])
def test_keys_of_every_width(sorter, name):
    device, planned = sorter(max_compute_workgroup_storage_size=16 << 10)
    for kind in ("random", "few_distinct"):
        check("top_k-smallest", data.make(kind, name, (3, 3000), 1), k=700, device=device, case=kind)
    assert sampled(planned)[1]


def test_lists_whose_length_only_the_device_knows(sorter):
    device, planned = sorter("delegates")
    for kind in ("random", "sorted", "reversed", "few_distinct", "constant"):
        check("top_k-largest", data.make(kind, "uint8", (1, 70_000), 1), k=300, device=device, case=kind)
    assert sampled(planned)[0] == {1}


def test_parts_that_outgrow_their_room(sorter, monkeypatch):
    """They are taken in pieces. Less room stands for samples that mislead."""
    monkeypatch.setattr(row_sort_sample, "_ROOM", 64)
    monkeypatch.setattr(row_sort_sample, "_WORKGROUP", 64)
    monkeypatch.setattr(row_sort_sample, "_EACH", 512)
    device, planned = sorter()
    for kind in ("random", "eight_values", "constant", "sorted", "reversed"):
        check("top_k-largest", data.make(kind, "float32", (2, 6000), 1), k=1500, device=device, case=kind)
    assert sampled(planned)[1]
