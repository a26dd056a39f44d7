"""Ranks by brackets of a sample: exact whatever the sample tells, and where it tells nothing."""

import data
import numpy as np
import oracle
import pytest
from planning import planned_device

import wgdml

N = 1 << 20


@pytest.fixture(scope="module", params=["software", "gpu"])
def sampler(request, device):
    """A device that takes samples of long rows."""
    software = request.param == "software"
    return planned_device(device, software=software, select_ranks={"sample_length": N // 2}, occupancy={"workgroups": 64})


def check(device, x, ranks, axis=-1):
    """Each rank by itself, and all at once by a partition."""
    order = oracle.argsort(x, axis)
    for rank in ranks:
        values, indices = wgdml.kth_value(x, rank + 1, axis=axis, device=device)
        want = np.take(order, [rank], axis)
        oracle.assert_same(indices, np.squeeze(want, axis))
        oracle.assert_same(values, np.squeeze(oracle.take(x, want, axis), axis))


def misleading(n):
    """What a sample sees tells nothing of the rest."""
    x = np.arange(n, dtype=np.float32)
    x[np.arange(n) // 8 % 256 == 0] = -1
    return x


def crowded(n):
    """Hardly anything of the sample, and nearly all of the rest, is one value."""
    x = np.zeros(n, np.float32)
    sampled = np.arange(n) // 8 % 256 == 0
    x[sampled] = np.random.default_rng(1).permutation(int(sampled.sum())) - 1000
    return x


@pytest.mark.parametrize("make", [misleading, crowded])
def test_samples_that_mislead(sampler, make):
    check(sampler[0], make(N), (0, 5, N // 3, N // 2, N - 1))


@pytest.mark.parametrize("name", ["float32", "uint8", "float64"])
@pytest.mark.parametrize("kind", ["random", "sorted", "constant", "few_distinct", "nan_payloads"])
def test_brackets(sampler, name, kind):
    if kind in data.kinds(oracle.DTYPES[name]):
        check(sampler[0], data.make(kind, name, N + 1234, 3), (0, 77, N // 2, N + 1233))


def test_brackets_of_several_rows_and_of_views(sampler):
    device, planned = sampler
    x = data.make("random", "int32", (2, N + 7), 1)
    check(device, x, (10, N // 2))
    tensor = wgdml.asarray(x, device=device)
    found = wgdml.quantile(tensor, [0.25, 0.75], -1, method="lower")
    assert np.array_equal(found.numpy(), np.quantile(x, [0.25, 0.75], -1, method="lower"))
    kernels = {dispatch.kernel for plan in planned.plans for dispatch in plan.dispatches}
    assert {"ranks/between", "ranks/lists", "ranks/brackets"} <= kernels


def test_quantiles_by_brackets_and_nan(sampler):
    device, _ = sampler
    n = 1 << 22
    x = np.random.default_rng(1).normal(size=n).astype(np.float32)
    q = [0.1, 0.5, 0.9]
    assert np.array_equal(wgdml.quantile(x, q, device=device), np.quantile(x, q))
    assert wgdml.median(x, device=device) == np.median(x)
    x[12345] = np.nan
    assert np.isnan(wgdml.quantile(x, q, device=device)).all()
    assert wgdml.median(x, nan="omit", device=device) == np.nanmedian(x)
