"""Ranks of short sequences by bisection: exact at every edge of teams and of intervals."""

from itertools import product

import data
import numpy as np
import oracle
import pytest
from planning import planned_device
from test_select_ranks import check

import wgdml


@pytest.fixture
def gpu(device):
    """A device that plans as for a GPU; the kernels of the plans since."""
    return planned_device(device, subgroups=True)


def kernels(planned):
    found = {dispatch.kernel for plan in planned.plans for dispatch in plan.dispatches}
    planned.plans.clear()
    return found


#: Of other types than the first, kernels differ in how keys are made.
ROWS = [
    *product(["float32"], data.in_turn([1, 2, 31, 48, 49, 100, 257, 1000], 1)),
    ("float16", 100),
    ("uint8", 700),
    ("int64", 49),
    ("int64", 300),
]


@pytest.mark.parametrize(("name", "n"), ROWS)
def test_rows(gpu, name, n):
    device, planned = gpu
    for kind in ("random", "few_distinct", "constant"):
        x = data.make(kind, name, (5, n), n)
        check(device, x, sorted({0, n // 2, min(n - 1, n // 2 + 1), n - 1}))
    assert "ranks/bisect" in kernels(planned)


def test_rows_without_subgroups(device):
    """Small teams add up by workgroup memory, as larger ones than a subgroup do in any case."""
    plain, planned = planned_device(device, subgroups=False)
    for name, n in (("float32", 100), ("int64", 300), ("uint8", 49)):
        check(plain, data.make("few_distinct", name, (5, n), n), (0, n // 2, n - 1))
    assert "ranks/bisect" in kernels(planned)


@pytest.mark.parametrize(("turn", "name"), list(enumerate(["float32", "uint8", "float64"])))
def test_long_rows(gpu, turn, name):
    """By a workgroup each; of few bits, positions are bisected too."""
    device, planned = gpu
    rows = ((8191, "random"), (8192, "eight_values"), (5000, "nan_payloads"))
    for n, kind in data.in_turn(rows, turn, 3) if turn else rows:
        if kind in data.kinds(oracle.DTYPES[name]):
            check(device, data.make(kind, name, (2, n), n), (0, n // 3, n - 1))
    assert "ranks/bisect" in kernels(planned)


@pytest.mark.parametrize(
    ("name", "shape"), data.in_turn(product(("float32", "uint8", "int64"), ((20, 7, 33), (100, 130), (1000, 9), (700, 1))), step=3)
)
def test_columns(gpu, name, shape):
    device, planned = gpu
    for kind in ("random", "few_distinct"):
        x = data.make(kind, name, shape, 3)
        n = shape[0]
        check(device, x, (0, n // 2, n - 1), 0)
    assert "ranks/bisect" in kernels(planned)


@pytest.mark.parametrize("mode", ["smallest", "largest"])
@pytest.mark.parametrize("nan", ["greatest", "last"])
def test_orders(gpu, mode, nan):
    for kind in ("signed_zeros", "nan_payloads", "mostly_infinity"):
        x = data.make(kind, "float32", (3, 300), 3)
        order = oracle.argsort(x, descending=mode == "largest", nan_last=nan == "last")
        for rank in (0, 100, 299):
            values, index = wgdml.kth_value(x, rank + 1, mode=mode, nan=nan, device=gpu[0])
            assert np.array_equal(index, order[:, rank])
            oracle.assert_same(values, np.take_along_axis(x, order, 1)[:, rank])


def test_nan_takes_the_place_of_all_in_some_rows(gpu):
    """Rows of one workgroup differ; so do the ranks of rows whose NaNs are left out."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 90)).astype(np.float32)
    x[::3, 17] = np.nan
    x[4, :50] = np.nan
    x[7] = np.nan
    device, planned = gpu
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        for axis in (0, 1):
            y = x if axis else np.ascontiguousarray(x.T)
            q = [0.0, 0.3, 1.0]
            assert np.array_equal(wgdml.quantile(y, q, axis, device=device), np.quantile(y, q, axis), equal_nan=True)
            assert np.array_equal(wgdml.median(y, axis, device=device), np.median(y, axis), equal_nan=True)
            found = wgdml.median(y, axis, nan="omit", device=device)
            assert np.array_equal(found, np.nanmedian(y, axis), equal_nan=True)
    assert {"ranks/bisect", "ranks/numbers"} <= kernels(planned)


@pytest.mark.parametrize("count", [2, 5, 30])
def test_many_ranks(gpu, count):
    """Neighbours are in one interval; of many ranks of short rows, all are put in order."""
    device, planned = gpu
    for n in (300, 2000):
        x = data.make("random", "float32", (3, n), n)
        order = oracle.argsort(x, -1)
        for ranks in (list(range(n // 2, n // 2 + count)), [n * r // count for r in range(count)]):
            oracle.assert_same(wgdml.argpartition(x, ranks, device=device)[:, ranks], order[:, ranks])
        assert ("ranks/bisect" in kernels(planned)) == (count < 5 or (n == 2000 and count < 17))


def test_several_axes_and_skewed_rows(gpu):
    device, planned = gpu
    x = np.random.default_rng(1).normal(size=(6, 4, 50, 3)).astype(np.float32)
    for axes in ((0, 2), (1, 3), (0, 1, 2)):
        assert np.array_equal(wgdml.median(x, axes, device=device), np.median(x, axes))
    assert "util/pack" not in kernels(planned)
    for name in data.in_turn(("uint8", "float16", "float32", "int64"), 1):
        # Of more items than teams hold of other layouts than rows.
        y = data.make("few_distinct", name, (70, 4, 45), 1)
        found = wgdml.quantile(y, [0.25, 0.5], (0, 2), method="lower", device=device)
        assert np.array_equal(found, np.quantile(y, [0.25, 0.5], (0, 2), method="lower"))
    assert {"util/pack", "ranks/bisect"} <= kernels(planned)
    tensor = wgdml.asarray(np.pad(x.reshape(9, 400), ((0, 0), (1, 2))), device=device)
    skewed = wgdml.Tensor.from_buffer(tensor.buffer, "float32", (9, 400), (403, 1), 4, device=device)
    assert np.array_equal(wgdml.median(skewed, 1).numpy(), np.median(x.reshape(9, 400), 1))
    assert "ranks/bisect" in kernels(planned)


def test_omitted_nan_of_sequences_with_as_many_numbers_take_one_row_of_ranks(gpu):
    device, planned = gpu
    x = np.random.default_rng(1).normal(size=(5, 20_000)).astype(np.float32)
    x[:, 7::13] = np.nan
    assert np.array_equal(wgdml.median(x, 1, nan="omit", device=device), np.nanmedian(x, 1))
    assert np.array_equal(wgdml.quantile(x, 0.3, nan="omit", device=device), np.nanquantile(x, 0.3))
    assert "ranks/between" in kernels(planned)
