"""Ranks by brackets of a sample: exact whatever the sample tells, and where it tells nothing."""

from dataclasses import replace
from itertools import product
from math import exp, lgamma, log

import data
import numpy as np
import oracle
import pytest
from planning import DEFAULT, GPU, planned_device, planner
from variants import selection

import wgdml
from wgdml.plan.algorithms import between_ranks, select_ranks
from wgdml.plan.ranks import rank_words, ranks_plan
from wgdml.selection import Layout, Order, make_selection

N = 1 << 20


@pytest.fixture(scope="module", autouse=True)
def unordered():
    """Software adapters too look for ranks, where they would put all of few items in order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(select_ranks, "_FEW_ITEMS", 0)
        yield


@pytest.fixture(scope="module", params=["software", "gpu"])
def sampler(request, device):
    """A device that takes samples of long rows."""
    software = request.param == "software"
    return planned_device(device, software=software, between_ranks={"sample_length": N // 2}, occupancy={"workgroups": 64})


def check(device, x, ranks, axis=-1):
    """Each rank by itself, and the values of all together."""
    order = oracle.argsort(x, axis)
    for rank in ranks:
        values, indices = wgdml.kth_value(x, rank + 1, axis=axis, device=device)
        want = np.take(order, [rank], axis)
        oracle.assert_same(indices, np.squeeze(want, axis))
        oracle.assert_same(values, np.squeeze(oracle.take(x, want, axis), axis))
    if x.dtype.kind in "iu":  # their positions do not matter
        n = x.shape[axis]
        q = [(rank + 0.5) / n for rank in ranks]
        found = wgdml.quantile(x, q, axis, method="inverted_cdf", device=device)
        assert np.array_equal(found, np.quantile(x, q, axis, method="inverted_cdf"))


def misleading(n):
    """What a sample sees tells nothing of the rest."""
    x = np.arange(n, dtype=np.float32)
    x[np.arange(n) // 4 % 16 == 0] = -1
    return x


def crowded(n):
    """Hardly anything of the sample, and nearly all of the rest, is one value."""
    x = np.zeros(n, np.float32)
    sampled = np.arange(n) // 4 % 16 == 0
    x[sampled] = np.random.default_rng(1).permutation(int(sampled.sum())) - 1000
    return x


def binomial(most, trials, chance):
    """How likely it is that so many of the trials, or fewer, come out."""
    chosen = (lgamma(trials + 1) - lgamma(n + 1) - lgamma(trials - n + 1) for n in range(most + 1))
    return sum(exp(ways + n * log(chance) + (trials - n) * log(1 - chance)) for n, ways in enumerate(chosen))


def median_bracket(name, length):
    """Of a long row: how it is planned, and its ends as ranks of samples."""
    problem = selection(name, (1, length), (1,), 1, Order.ASCENDING, "both")
    words, ranks = rank_words(planner(GPU, DEFAULT), problem, [length // 2], propagates=False, positions=True, vectors=True)
    brackets = ranks.parts[0].brackets
    return brackets, words[brackets.sampled.offset // 4 :][:2]


LONG = [*product(("float16", "float32", "float64"), (1 << 22, 1 << 24, 1 << 27))]


@pytest.mark.parametrize(("name", "length"), LONG)
def test_hardly_any_bracket_misses(name, length):
    """The larger samples are, the less a few of their items tell."""
    brackets, (low, _) = median_bracket(name, length)
    # How often a sample's item of this rank comes before the median.
    earlier = 1 - binomial(low, brackets.sample.size(length), 0.5)
    assert binomial(between_ranks._LEFT_OUT, brackets.sample.samples, earlier) < 5e-6


@pytest.mark.parametrize(("name", "length"), LONG)
def test_hardly_any_bracket_is_wider_than_its_list(name, length):
    brackets, (low, high) = median_bracket(name, length)
    size, shape = brackets.sample.size(length), (1000, brackets.sample.samples)
    rng, left_out = np.random.default_rng(1), between_ranks._LEFT_OUT
    # Shares of the row that come before each sample's items of these ranks.
    begins = rng.beta(low + 1, size - low, shape)
    ends = begins + (1 - begins) * rng.beta(high - low, size - high, shape)
    widths = np.sort(ends, axis=1)[:, -1 - left_out] - np.sort(begins, axis=1)[:, left_out]
    assert brackets.places > length * (widths.mean() + 5 * widths.std())


@pytest.mark.parametrize(("name", "count"), [("float16", 12), ("float32", 16), ("float64", 20)])
def test_brackets_of_many_ranks_have_room(name, count):
    """Without brackets all items are looked at for each digit."""
    length = 1 << 22
    problem = selection(name, (1, length), (1,), 1, Order.ASCENDING, "both")
    wanted = [length * n // (count + 1) for n in range(1, count + 1)]
    _, ranks = rank_words(planner(GPU, DEFAULT), problem, wanted, propagates=False, positions=True, vectors=True)
    assert all(part.brackets for part in ranks.parts)


@pytest.mark.parametrize("make", [misleading, crowded])
def test_samples_that_mislead(sampler, make):
    check(sampler[0], make(N), (0, 5, N // 3, N // 2, N - 1))


@pytest.mark.parametrize(
    ("sampler", "name"),
    data.in_turn(product(("software", "gpu"), ("float32", "float16", "uint8", "float64", "int64")), 2, 3),
    indirect=["sampler"],
)
@pytest.mark.parametrize("kind", ["random", "sorted", "constant", "few_distinct", "nan_payloads"])
def test_brackets(sampler, name, kind):
    if kind in data.kinds(oracle.DTYPES[name]):
        check(sampler[0], data.make(kind, name, N + 1234, 3), (0, 77, N // 2, N + 1233))


@pytest.mark.parametrize("sampler", ["gpu"], indirect=True)
@pytest.mark.parametrize("mode", ["smallest", "largest"])
@pytest.mark.parametrize("nan", ["greatest", "last"])
def test_brackets_in_every_order(sampler, mode, nan):
    for kind in ("signed_zeros", "nan_payloads", "mostly_infinity"):
        x = data.make(kind, "float32", N, 3)
        order = oracle.argsort(x, descending=mode == "largest", nan_last=nan == "last")
        for rank in (0, N // 3, N - 1):
            values, index = wgdml.kth_value(x, rank + 1, mode=mode, nan=nan, device=sampler[0])
            assert index == order[rank]
            oracle.assert_same(values, x[index])


@pytest.fixture(scope="module")
def rower(device):
    """A device with a workgroup for each row, which samples rows that no team holds."""
    return planned_device(device, occupancy={"workgroups": 2})


@pytest.mark.parametrize("name", ["float32", "uint8", "float64"])
@pytest.mark.parametrize("kind", ["random", "sorted", "reversed", "constant", "few_distinct", "nan_payloads"])
def test_rows_of_a_workgroup(rower, name, kind):
    if kind in data.kinds(oracle.DTYPES[name]):
        for n in (16_385, 20_001):
            check(rower[0], data.make(kind, name, (3, n), n), (0, 77, n // 2, n - 1))


@pytest.mark.parametrize(("software", "name"), data.in_turn(product((False, True), ("float16", "int32", "uint64"))))
def test_rows_digit_by_digit(device, software, name):
    planner = planned_device(device, software=software, occupancy={"workgroups": 2})[0]
    longer = 0 if software else 1 << 14  # than teams hold
    for n, kind in ((1025 + longer, "random"), (3000 + longer, "eight_values"), (5001 + longer, "sorted")):
        x = data.make(kind, name, (3, n), n)
        check(planner, x, (0, n // 2, n - 1))
    check(planner, np.ascontiguousarray(x.T), (n // 3,), 0)


def test_rows_whose_samples_mislead(rower):
    device, planned = rower
    n = 20_000
    sampled = np.arange(n) // 16 % 4 == 0
    ramp = np.arange(n, dtype=np.float32)
    for x in (np.where(sampled, -1, ramp), np.where(sampled, n + ramp, ramp), np.where(sampled, ramp, 0)):
        check(device, np.stack([x, ramp, x[::-1]]).astype(np.float32), (0, 5, n // 3, n // 2, n - 1))
    x = np.random.default_rng(1).normal(size=(40, n)).astype(np.float32)
    assert np.array_equal(wgdml.median(x, 1, device=device), np.median(x, 1))
    tensor = wgdml.asarray(np.pad(x, ((0, 0), (1, 2))), device=device)
    skewed = wgdml.Tensor.from_buffer(tensor.buffer, "float32", (40, n), (n + 3, 1), 4, device=device)
    assert np.array_equal(wgdml.median(skewed, 1).numpy(), np.median(x, 1))
    kernels = {dispatch.kernel for plan in planned.plans for dispatch in plan.dispatches}
    assert {"ranks/between", "ranks/listed", "ranks/rows"} <= kernels


def test_brackets_of_several_rows_and_of_views(sampler):
    device, planned = sampler
    x = data.make("random", "int32", (2, N + 7), 1)
    check(device, x, (10, N // 2))
    tensor = wgdml.asarray(x, device=device)
    found = wgdml.quantile(tensor, [0.25, 0.75], -1, method="lower")
    assert np.array_equal(found.numpy(), np.quantile(x, [0.25, 0.75], -1, method="lower"))
    kernels = {dispatch.kernel for plan in planned.plans for dispatch in plan.dispatches}
    assert {"ranks/sample", "ranks/between", "ranks/narrowed"} <= kernels


def test_quantiles_by_brackets_and_nan(sampler):
    device, _ = sampler
    n = N
    x = np.random.default_rng(1).normal(size=n).astype(np.float32)
    q = [0.1, 0.5, 0.9]
    assert np.array_equal(wgdml.quantile(x, q, device=device), np.quantile(x, q))
    assert wgdml.median(x, device=device) == np.median(x)
    x[12345] = np.nan
    assert np.isnan(wgdml.quantile(x, q, device=device)).all()
    assert wgdml.median(x, nan="omit", device=device) == np.nanmedian(x)


@pytest.mark.parametrize(
    ("sampler", "kind"),
    [
        *product(["software"], data.in_turn(["random", "few_distinct", "sorted", "nan_payloads"])),
        *product(["gpu"], data.in_turn(["random", "few_distinct", "sorted", "nan_payloads"], 1)),
    ],
    indirect=["sampler"],
)
def test_many_brackets(sampler, kind):
    device, _ = sampler
    x = data.make(kind, "float32", N, 7)
    q = np.linspace(0.05, 0.95, 10)
    assert np.array_equal(wgdml.quantile(x, q, method="lower", device=device), np.quantile(x, q, method="lower"), equal_nan=True)
    ranks = [x.size * n // 9 for n in range(9)]
    order = oracle.argsort(x, -1)
    oracle.assert_same(wgdml.argpartition(x, ranks, device=device)[ranks], order[ranks])


@pytest.mark.parametrize("name", ["float32", "float64"])  # narrower, a kernel takes 15 s to compile
def test_several_brackets_of_rows(rower, name):
    x = data.make("random", name, (2, 60_000), 5)
    ranks = [0, 1, 30_000, 59_999]
    order = oracle.argsort(x, -1)
    oracle.assert_same(wgdml.argpartition(x, ranks, device=rower[0])[:, ranks], order[:, ranks])
    x[1] = x[1, 0]
    oracle.assert_same(wgdml.argpartition(x, ranks, device=rower[0])[1, ranks], np.array(ranks))


def test_rows_have_a_workgroup_each(device):
    """A sample misleads many rows, others are too short for one, and lists of long ones are cut."""
    planned, plans = planned_device(device, software=False)
    for rows, n in ((70, 20_000), (1, 17_000), (3, 700_000)):
        x = np.random.default_rng(n).normal(size=(rows, n)).astype(np.float32)
        x[0, np.arange(n) // 16 % 4 == 0] = -1
        check(planned, x, (0, n // 2))
    kernels = {dispatch.kernel for plan in plans.plans for dispatch in plan.dispatches}
    assert {"ranks/listed", "ranks/narrowed", "ranks/rows"} <= kernels


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("software", [False, True])
def test_the_last_rank_of_sequences_over_a_binding(device, software, rows):
    """Several views have no brackets, and so no last pair beside them."""
    limits = {"max_storage_buffer_binding_size": 1 << 18, "max_compute_invocations_per_workgroup": 256}
    planned = planned_device(device, software=software, limits=limits, between_ranks={"sample_length": 1 << 14})[0]
    x = data.make("random", "float32", (rows, 100_000), 1)
    x[-1, 777] = np.nan
    with np.errstate(invalid="ignore"):
        assert np.array_equal(wgdml.median(x, 1, device=planned), np.median(x, 1), equal_nan=True)
    ranks = [*range(50_000, 50_016), 99_999]
    found = wgdml.quantile(x, [r / 99_999 for r in ranks], 1, method="nearest", device=planned)
    assert np.array_equal(found, np.quantile(x, [r / 99_999 for r in ranks], 1, method="nearest"), equal_nan=True)


@pytest.mark.parametrize("element", ["float32", "float64", "uint8", "float16"])
def test_scratch(element):
    """At most a pair an element and 3%, for any rows and ranks, and a little for meetings.

    Many ranks of short columns also take a copy.
    """
    own = planner(GPU)
    lengths = (2, 6, 529, 1025, 9000, 20_000, 50_000, 200_000, (1 << 18) + 1, 1_000_000)
    for rows, n, count, axis in product((1, 10, 63, 64, 1000), lengths, (1, 3, 8, 10, 16, 32), (0, 1)):
        if count > n:
            continue
        wanted = selection(element, (rows, n) if axis else (n, rows), (axis,), count, Order.ASCENDING, "both")
        row = [n * i // (count + 1) for i in range(1, count + 1)]
        known = rank_words(own, wanted, row, propagates=False, positions=True, vectors=True)[1]
        plan = ranks_plan(own, wanted, known, vectors=True)
        pairs = 4 * (2 if element != "float64" else 3) * rows * n
        copy = np.dtype(element).itemsize * rows * n if n <= 1024 and count > 4 and not axis else 0
        assert plan.scratch_size <= 1.03 * (pairs + copy) + (1 << 15), (rows, n, count, axis, plan.scratch_size / pairs)


def test_copies_fit_the_largest_buffer():
    """Where a copy would leave nothing of it, a sequence over two axes is read as it is."""
    own = planner(replace(GPU, max_storage_buffer_binding_size=(1 << 28) - 4, max_buffer_size=1 << 28))
    one = Layout((1, 1), (1, 1))
    wanted = make_selection("float32", Layout((8150, 8200), (8210, 1)), (0, 1), 1, Order.ASCENDING, values=one, indices=None)
    known = rank_words(own, wanted, [8150 * 4100], propagates=False, positions=True, vectors=False)[1]
    assert ranks_plan(own, wanted, known, vectors=False).scratch_size <= 1 << 28


@pytest.mark.parametrize(("turn", "name"), list(enumerate(["float32", "uint8", "float64", "float16"])))
def test_columns_are_copied_to_rows(device, turn, name):
    """One axis and a middle one, few neighbours and many: each shape by a type."""
    planned, plans = planned_device(device)
    shapes = (((9001, 70), 0), ((3, 1500, 5), 1), ((20_000, 2), 0), ((1025, 33), 0))
    for shape, axis in data.in_turn(shapes, turn, 4):
        x = data.make("random", name, shape, 1)
        check(planned, x, (0, shape[axis] // 2, shape[axis] - 1), axis)
        ranks = [1, shape[axis] // 3, shape[axis] - 1]
        found = np.take(wgdml.argpartition(x, ranks, axis, device=planned), ranks, axis)
        assert np.array_equal(found, np.take(oracle.argsort(x, axis), ranks, axis))
        if oracle.is_float(x.dtype):
            x[np.random.default_rng(1).random(shape) < 0.3] = np.nan
            found = wgdml.quantile(x, [0.2, 0.9], axis, method="lower", nan="omit", device=planned)
            assert np.array_equal(found, np.nanquantile(x, [0.2, 0.9], axis, method="lower"), equal_nan=True)
    assert all(any(d.kernel == "util/transpose" for d in plan.dispatches) for plan in plans.plans if len(plan.dispatches) > 4)


@pytest.mark.parametrize("software", [False, True])
def test_short_columns_over_a_binding(device, software):
    """They are put in order piece by piece, and not one after the other by tables of counters."""
    planned, plans = planned_device(device, software=software, limits={"max_storage_buffer_binding_size": 1 << 17})
    x = data.make("few_distinct", "float32", (40, 3000), 1)
    check(planned, x, (0, 20, 39), 0)
    x[5, 77] = np.nan
    with np.errstate(invalid="ignore"):
        assert np.array_equal(wgdml.median(x, 0, device=planned), np.median(x, 0), equal_nan=True)
    assert max(len(plan.dispatches) for plan in plans.plans) < 1000
