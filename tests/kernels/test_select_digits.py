"""Rows whose threshold histograms of their digits tell: every digit, and lists in scratch."""

import data
import oracle
import pytest
from checks import check
from planning import planned_device


@pytest.fixture
def digits(device):
    def make(**limits):
        return planned_device(device, "select_digits", limits=limits)

    return make


@pytest.mark.parametrize(
    ("name", "ks"),
    [
        ("float32", (2, 250, 999)),
        ("float16", (2,)),
        ("uint8", (999,)),
        ("int16", (250,)),
        ("int64", (2, 250, 999)),
        ("float64", (250,)),
    ],
)
def test_a_threshold_at_every_digit(digits, name, ks):
    """Keys that differ in their last bits alone, or not at all, take digits of the index too."""
    device, _ = digits()
    for kind in data.kinds(oracle.DTYPES[name]):
        for k in ks:
            check("top_k-largest", data.make(kind, name, (2, 1000), k), k=k, device=device, case=kind)


def test_lists_in_scratch(digits):
    """Where workgroup memory has no room, exactly k pairs are listed, and sorted apart."""
    device, planned = digits(max_compute_workgroup_storage_size=16 << 10)
    for kind in ("random", "eight_values", "constant", "shared_leading_bits"):
        check("top_k-smallest", data.make(kind, "float32", (3, 5000), 1), k=2500, device=device, case=kind)
    assert all(len(plan.dispatches) == 2 for plan in planned.plans)
