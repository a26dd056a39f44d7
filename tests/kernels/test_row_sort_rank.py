"""Pairs placed by counting: what radix select finds, every workgroup's size, windows' best."""

import data
import pytest
from checks import check
from planning import planned_device


@pytest.fixture
def selector(device):
    """Makes a device that finds the first k and orders them by counting, and what it planned."""

    def make(**limits):
        rank = {"max_length": 8192, "max_work": 1 << 40}
        return planned_device(device, "radix_select", limits=limits, row_sort_rank=rank)

    return make


def ranked(planned):
    return [dict(d.constants)["WORKGROUP"] for plan in planned.plans for d in plan.dispatches if d.kernel == "row_sort/rank"]


def test_counts_at_the_edges_of_blocks_and_tiles(selector):
    device, planned = selector()
    ks = (2, 15, 16, 17, 255, 256, 257, 500, 1023, 1025, 3001)
    for number, k in enumerate(ks):
        x = data.make(("random", "eight_values", "constant")[number % 3], "float32", (2, 5000), k)
        check("top_k-largest", x, k=k, device=device)
    assert len(ranked(planned)) == len(ks)
    assert set(ranked(planned)) >= {256, 512, 1024}


@pytest.mark.parametrize("name", ["uint8", "float16", "int64", "float64"])
def test_keys_of_every_width(selector, name):
    device, planned = selector(max_compute_workgroup_storage_size=16 << 10)
    for kind in ("random", "few_distinct"):
        check("top_k-smallest", data.make(kind, name, (3, 3000), 1), k=700, device=device, case=kind)
    assert ranked(planned)


def test_pairs_of_several_windows(device):
    """The best of each window are placed together."""
    own, planned = planned_device(device, limits={"max_storage_buffer_binding_size": 8 << 10})
    check("top_k-largest", data.make("eight_values", "float32", (2, 3000), 4), k=90, device=own)
    assert ranked(planned)
