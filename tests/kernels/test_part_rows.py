"""Partitions by a team each: every item where NumPy's order of the ranks puts it."""

from itertools import product

import data
import numpy as np
import oracle
import pytest
from planning import planned_device

import wgdml


@pytest.fixture
def gpu(device):
    """A device that plans as for a GPU, and its planner."""
    return planned_device(device, occupancy={"workgroups": 4})


@pytest.fixture
def software(device):
    return planned_device(device, software=True)


def kernels(planned):
    return {dispatch.kernel for plan in planned.plans for dispatch in plan.dispatches}


def parted(x, ranks, axis):
    """The indices: sorted at the ranks, and between them as they come."""
    order = oracle.argsort(x, axis)
    pieces, first = [], 0
    for rank in ranks:
        pieces += [np.sort(np.take(order, range(first, rank), axis), axis), np.take(order, [rank], axis)]
        first = rank + 1
    return np.concatenate([*pieces, np.sort(np.take(order, range(first, x.shape[axis]), axis), axis)], axis)


def check(gpu, x, ranks, axis):
    want = parted(x, ranks, axis)
    oracle.assert_same(wgdml.argpartition(x, ranks, axis, device=gpu[0]), want)
    oracle.assert_same(wgdml.partition(x, ranks, axis, device=gpu[0]), oracle.take(x, want, axis))


@pytest.mark.parametrize(
    ("name", "n"), [*product(["float32"], data.in_turn([1, 2, 17, 257, 1000])), ("float16", 100), ("uint8", 257), ("int64", 17)]
)
def test_rows(gpu, name, n):
    for kind in ("random", "few_distinct", "nan_payloads"):
        if kind in data.kinds(oracle.DTYPES[name]):
            x = data.make(kind, name, (9, n), n)
            check(gpu, x, [n // 2], 1)
            check(gpu, x, sorted({0, n // 3, n // 2, n - 1}), 1)
    assert "ranks/part" in kernels(gpu[1])


@pytest.mark.parametrize("name", data.in_turn(["float32", "uint8", "float64"]))
def test_rows_that_workgroup_memory_does_not_hold(gpu, name):
    for n in (2049, 10_001):
        check(gpu, data.make("few_distinct", name, (3, n), n), [5, n // 2], 1)
    assert "ranks/part" in kernels(gpu[1])


@pytest.mark.parametrize(
    ("name", "shape"), data.in_turn(product(("float32", "uint8", "int64"), ((100, 70), (2500, 9), (20, 3, 33))))
)
def test_columns(gpu, name, shape):
    check(gpu, data.make("few_distinct", name, shape, 3), [0, shape[0] // 2], 0)
    assert {"util/transpose", "ranks/part"} <= kernels(gpu[1])


@pytest.mark.parametrize("name", data.in_turn(["float32", "uint8", "int64"]))
def test_an_invocation_each_on_software_adapters(software, name):
    """Long rows would end its loops if those were more than over the items."""
    for shape, axis in (((9, 17), 1), ((100, 70), 0), ((5, 1000), 1), ((1, 30_000), 1)):
        x = data.make("few_distinct", name, shape, 1)
        n = shape[axis]
        check(software, x, [n // 2], axis)
        check(software, x, sorted({n * r // 8 for r in range(8)}), axis)
    assert "serial/part" in kernels(software[1])


def test_rows_that_begin_inside_loads(gpu):
    x = data.make("random", "float16", (12, 401), 1)
    tensor = wgdml.asarray(np.pad(x, ((0, 0), (1, 2))), device=gpu[0])
    skewed = wgdml.Tensor.from_buffer(tensor.buffer, "float16", (12, 401), (404, 1), 2, device=gpu[0])
    oracle.assert_same(wgdml.argpartition(skewed, [100, 200], 1).numpy(), parted(x, [100, 200], 1))
    assert "ranks/part" in kernels(gpu[1])


def test_many_ranks_and_few_long_rows_take_a_pass_of_a_sort(gpu):
    check(gpu, data.make("random", "float32", (3, 500), 1), list(range(0, 500, 50)), 1)
    check(gpu, data.make("random", "float32", (1, 40_000), 1), [7], 1)
    assert "ranks/part" not in kernels(gpu[1])


@pytest.mark.parametrize("software", [True, False])
def test_batches_in_several_parts(device, software):
    """Results of a later part begin amid the outputs."""
    planned = planned_device(device, software=software, limits={"max_storage_buffer_binding_size": 1 << 16})
    x = data.make("few_distinct", "float32", (300, 100), 1)
    for axis in (0, 1):
        check(planned, x, [50], axis)
