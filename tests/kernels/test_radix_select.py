"""Radix select by force: keys of each width, thresholds amid ties, samples that mislead."""

import data
import numpy as np
import oracle
import pytest
from checks import check, strided_tensor
from planning import planned_device


@pytest.fixture
def selector(device):
    """Makes a device that selects by radix; and what it planned."""

    def make(software=False, limits=None, **numbers):
        return planned_device(device, "radix_select", software, limits=limits, **numbers)

    return make


@pytest.mark.parametrize(
    ("name", "software"),
    [
        ("uint8", False),
        ("int8", True),
        ("float16", True),
        ("float32", False),
        ("int32", True),
        ("uint64", True),
        ("float64", False),
    ],
)
def test_every_order_of_keys(selector, name, software):
    device, _ = selector(software)
    kinds = data.kinds(oracle.DTYPES[name])
    for number, kind in enumerate(kinds[:3] if software else kinds):
        x = data.make(kind, name, (2, 7001), number)
        check("top_k-largest", x, k=1700, device=device, case=kind)
        check("top_k-smallest", x, k=5, device=device, case=kind)


def test_lengths_at_the_edges_of_parts(selector):
    device, _ = selector(occupancy={"workgroups": 8})
    for n in (2, 255, 256, 1023, 1025, 4095, 4097, 20_001):
        check("top_k-largest", data.make("eight_values", "float32", (3, n), n), k=max(1, n // 3), device=device)


def test_layouts(selector):
    device, _ = selector()
    check("top_k-largest", data.make("random", "float32", (5000, 7), 1), axis=0, k=400, device=device)
    tensor, x = strided_tensor(device, "eight_values", "float16", (2, 3001), (6007, 2), 1)
    check("top_k-smallest", x, given=tensor, k=300, device=device)


def test_lists_that_overflow_a_workgroups_collection(selector):
    device, _ = selector(occupancy={"workgroups": 1})
    for name in ("float32", "int64"):
        check("top_k-largest", data.make("random", name, (1, 9000), 1), k=4000, device=device)


@pytest.mark.parametrize("software", [False, True])
def test_samples(selector, software):
    numbers = {"sample_length": 1 << 16, "sample_work": 0}
    device, planned = selector(software, radix_select=numbers)
    n, k = 1 << 17, 5000
    random = np.random.default_rng(1).permutation(n).astype(np.float32)
    misleading = np.arange(n, dtype=np.float32)
    misleading[np.arange(n) // 8 % 256 == 0] = -1  # what is sampled tells nothing of the rest
    crowded = np.where(np.arange(n) // 8 % 256 == 0, np.float32(n), random)
    for x in (random, misleading, crowded, np.zeros(n, np.float32)):
        check("top_k-largest", x[None], k=k, device=device)
    kernels = [d.kernel for d in planned.plans[0].dispatches]
    assert kernels.count("util/clear") == 1
    gates = [dict(d.constants)["GATE"] for d in planned.plans[0].dispatches if d.kernel == "radix_select/filter"]
    assert gates == [0, 2]
