"""K-th values, partitions, medians and quantiles against NumPy and the oracle, bit for bit."""

import tracemalloc
import warnings

import data
import ml_dtypes
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planning import planned_device

import wgdml
from wgdml.quantiles import METHODS

RNG = np.random.default_rng(24)
PICKS = [name for name, method in METHODS.items() if method.weight is None]


@pytest.fixture(scope="module", params=["adapter", "gpu"])
def planned(request, device):
    """A device that plans as for what it is, and one that plans as for a GPU."""
    return device if request.param == "adapter" else planned_device(device, occupancy={"workgroups": 64})[0]


def expected_kth(x, k, axis, largest, nan_last):
    order = oracle.argsort(x, axis, largest, nan_last)
    index = np.take(order, [k - 1], axis)
    return np.squeeze(oracle.take(x, index, axis), axis), np.squeeze(index, axis)


def check_kth(x, k, axis=-1, mode="smallest", nan="greatest", given=None, **options):
    values, indices = wgdml.kth_value(x if given is None else given, k, axis=axis, mode=mode, nan=nan, **options)
    want = expected_kth(x, k, axis, mode == "largest", nan == "last")
    oracle.assert_same(indices, want[1])
    oracle.assert_same(values, want[0])


def same(found, want, case=""):
    """Equal but for the bits of NaN and the signs of zeros, which NumPy does not settle."""
    found, want = np.asarray(found), np.asarray(want)
    assert (found.dtype, found.shape) == (want.dtype, want.shape), (case, found.dtype, found.shape, want.dtype, want.shape)
    assert np.array_equal(found, want, equal_nan=found.dtype.kind == "f"), (case, found, want)


def of_numpy(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


# The k-th ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", oracle.DTYPES)
def test_kth_of_every_type_and_hostile_data(device, name):
    for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        x = data.make(kind, name, (3, 501), seed)
        check_kth(x, 1 + 100 * seed % 501, mode=("smallest", "largest")[seed % 2], nan=("greatest", "last")[seed // 2 % 2])


@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "float64", "uint64"])
def test_kth_by_many_workgroups(planned, name):
    for kind in ("random", "sorted", "constant", "eight_values", "nan_payloads"):
        if kind in data.kinds(oracle.DTYPES[name]):
            x = data.make(kind, name, (2, 20_011), 1)
            for k in (1, 9_000, 20_011):
                check_kth(x, k, device=planned)


def test_kth_along_every_axis_and_of_views(planned):
    x = data.make("eight_values", "int16", (5, 300, 7), 1)
    for axis in (0, 1, -1):
        check_kth(x, x.shape[axis] // 2, axis, device=planned)
    tensor = wgdml.asarray(x, device=planned).transpose(1, 2, 0)
    check_kth(x.transpose(1, 2, 0), 41, 0, given=tensor)
    kept = wgdml.kth_value(tensor, 2, axis=0, keepdims=True, index_dtype="uint32")
    assert isinstance(kept.values, wgdml.Tensor) and kept.values.shape == kept.indices.shape == (1, 7, 5)
    assert kept.indices.dtype == np.uint32


# Partitions --------------------------------------------------------------------------------------


def check_partition(x, kth, axis=-1, **options):
    order = oracle.argsort(x, axis)
    where = sorted({k % x.shape[axis] for k in np.atleast_1d(kth)})
    want = np.moveaxis(order, axis, -1).copy()
    begins = [0, *[k + 1 for k in where]]
    for begin, end in zip(begins, [*where, want.shape[-1]], strict=True):
        want[..., begin:end].sort(-1)  # in order of index
    want = np.moveaxis(want, -1, axis)
    oracle.assert_same(wgdml.argpartition(x, kth, axis, **options), want)
    oracle.assert_same(wgdml.partition(x, kth, axis, **options), oracle.take(x, want, axis))


# A GPU's sorts are long to compile, and another test partitions float32 by them.
@pytest.mark.parametrize(
    ("planned", "name"),
    [("adapter", name) for name in ("bool", "int8", "bfloat16", "float32", "int64", "float64")] + [("gpu", "float64")],
    indirect=["planned"],
)
def test_partitions(planned, name):
    for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])[:: 1 if name == "float32" else 4]):
        x = data.make(kind, name, (3, 700), seed)
        check_partition(x, [5, -1, 300, 301], device=planned)
    check_partition(data.make("random", name, (9, 40, 3), 1), 7, 1, device=planned)


def test_partitions_at_the_edges(device):
    x = data.make("random", "float32", (2, 300), 1)
    check_partition(x, 0)
    check_partition(x, -300)
    check_partition(x, list(range(127)))
    np.testing.assert_array_equal(wgdml.partition(x, range(300)), oracle.sort(x))
    np.testing.assert_array_equal(wgdml.argpartition(x, range(128)), oracle.argsort(x))
    flat = wgdml.partition(x, 10, axis=None)
    assert flat.shape == (600,) and oracle.bits(flat)[10] == oracle.bits(oracle.sort(x.reshape(-1)))[10]
    assert wgdml.partition(x[:0], 3).shape == (0, 300)
    assert wgdml.argpartition(wgdml.empty((0, 1 << 40), "float32", device=device), ()).shape == (0, 1 << 40)
    np.testing.assert_array_equal(oracle.bits(wgdml.partition(x, ())), oracle.bits(x))
    np.testing.assert_array_equal(wgdml.argpartition(x, ()), np.broadcast_to(np.arange(300), (2, 300)))
    tensor = wgdml.argpartition(wgdml.asarray(x), 4, index_dtype="int32")
    assert isinstance(tensor, wgdml.Tensor) and tensor.dtype == np.int32


@pytest.mark.parametrize(("length", "count"), [(1024, 62), (512, 127), (1 << 20, 30), ((1 << 22) + 4, 2)])
def test_many_places_of_long_sequences(planned, length, count):
    """Each of many items is compared with many pairs, and lavapipe ends long loops."""
    rng = np.random.default_rng(length)
    x = rng.integers(0, 1000, length).astype("float32")
    places = np.unique(np.append(rng.integers(0, length, count - 1), length - 1))
    order, expected = np.argsort(x, kind="stable"), np.empty(length, np.int64)
    # What lies between two places comes in order of index.
    for first, end in zip(np.append(0, places[:-1] + 1), places, strict=True):
        expected[first:end], expected[end] = np.sort(order[first:end]), order[end]
    np.testing.assert_array_equal(wgdml.argpartition(x, places.tolist(), device=planned), expected)


# Medians and quantiles ---------------------------------------------------------------------------

NUMBERS = [name for name in oracle.DTYPES if name not in ("bool", "bfloat16")]


@pytest.mark.parametrize("name", [*NUMBERS, "bool"])
def test_medians(planned, name):
    for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])[:: 1 if name == "float32" else 3]):
        for n in (99, 1000):
            x = data.make(kind, name, (4, n), seed)
            same(wgdml.median(x, -1, device=planned), of_numpy(np.median, x, -1), kind)
            if oracle.is_float(x.dtype):
                same(wgdml.median(x, -1, nan="omit", device=planned), of_numpy(np.nanmedian, x, -1), kind)


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_of_every_method(device, method):
    q = np.array([[0, 0.1, 0.5], [0.25, 1, 1 / 3]])
    for name in ("float32", "int8", "uint64", "float16", "float64"):
        x = data.make("random", name, (3, 50), 1) if name != "float64" else RNG.normal(size=(3, 50))
        for n in (1, 2, 49, 50):
            want = of_numpy(np.quantile, x[:, :n], q, -1, method=method)
            same(wgdml.quantile(x[:, :n], q, -1, method=method), want, (name, n))
            for one in (0.3, 0, 1, np.float32(0.7)):
                want = of_numpy(np.quantile, x[:, :n], one, -1, method=method)
                same(wgdml.quantile(x[:, :n], one, -1, method=method), want, (name, n, one))
    y = np.where(RNG.random((6, 40)) < 0.3, np.nan, RNG.normal(size=(6, 40))).astype(np.float32)
    y[2] = np.nan
    for q in (0.4, [0.1, 0.9]):
        same(wgdml.quantile(y, q, -1, method=method), of_numpy(np.quantile, y, q, -1, method=method))
        same(wgdml.quantile(y, q, -1, method=method, nan="omit"), of_numpy(np.nanquantile, y, q, -1, method=method))


@pytest.mark.parametrize(
    ("length", "q"),
    [
        (2051, np.float16([0, 0.5, 1])),
        (70_000, np.float16([0, 1])),
        (300, np.uint8([0, 1])),
        ((1 << 24) + 3, np.float32([0, 1])),
        ((1 << 24) + 4, np.float32(1)),
    ],
)
def test_quantiles_of_few_bits_are_ranks_that_there_are(device, length, q):
    x = np.arange(length, dtype="float32")
    for method in ("linear", "nearest", "weibull"):
        found = wgdml.quantile(x, q, method=method, device=device)
        expected = np.quantile(x, q.astype("int64" if q.dtype.kind == "u" else "float64"), method=method)
        np.testing.assert_allclose(found, expected, rtol=1e-3)
        assert np.ravel(found)[-1] == x[-1]


@pytest.mark.parametrize("name", ["float16", "float32", "int32"])
def test_the_type_of_quantiles_does_not_depend_on_the_length(device, name):
    """NumPy gives NaN, or fails, where float16 does not hold the number of elements."""
    x = (np.arange(70_000) % 60_000).astype(name)
    for method in ("linear", "hazen", "midpoint", "lower"):
        for q in (np.float16(0.25), np.float16([0, 0.5, 1])):
            found = wgdml.quantile(x, q, method=method, device=device)
            assert found.dtype == np.quantile(x[:9], q, method=method).dtype
            np.testing.assert_allclose(found, np.quantile(x.astype(float), q.astype(float), method=method), rtol=1e-3)


@pytest.mark.parametrize("name", ["float16", "float32", "int16", "uint8"])
def test_the_type_of_quantiles_at_narrow_integers(device, name):
    x = np.array([5, 1, 4], name)
    for method in METHODS:
        for q in (np.int8(1), np.array([0, 1], np.int16)):
            found, expected = wgdml.quantile(x, q, method=method, device=device), np.quantile(x, q, method=method)
            assert found.dtype == expected.dtype and np.array_equal(found, expected)
    assert wgdml.quantile(np.arange(300.0), np.int8([0, 1]), method="weibull", device=device).tolist() == [0, 299]


@pytest.mark.parametrize(("name", "sizes"), [("float32", (2, 8, 8, 8, 8, 8, 8, 4)), ("uint8", (1, 8, 8, 8, 8, 8, 8, 18))])
def test_medians_over_many_axes(device, name, sizes):
    """To find an element takes a loop for each axis: lavapipe ends loops that are long.

    Two workgroups in all give a sequence one or two, as many sequences would.
    """
    few, _ = planned_device(device, software=None, occupancy={"workgroups": 2})
    x = np.random.default_rng(1).integers(0, 250, sizes, np.uint8).astype(name)
    axes = tuple(range(1, len(sizes)))
    tensor = wgdml.asarray(x, device=few).transpose(0, *axes[::-1])
    found = wgdml.median(tensor, axis=axes).numpy()
    np.testing.assert_array_equal(found, np.median(x.reshape(sizes[0], -1), axis=1))


def test_shapes_of_quantiles(planned):
    x = RNG.normal(size=(4, 60, 5)).astype(np.float32)
    for axis in (None, 0, 1, -1, (0, 2), (2, 0, 1)):
        for keepdims in (False, True):
            for q in (0.5, [0.9, 0.1, 0.9], np.full((2, 2), 0.25), []):
                for method in ("linear", "lower") if np.size(q) else ("lower",):
                    want = np.quantile(x, np.asarray(q), axis, method=method, keepdims=keepdims)
                    if method == "linear" and isinstance(q, float):
                        want = np.quantile(x, q, axis, method=method, keepdims=keepdims)
                    same(wgdml.quantile(x, q, axis, method=method, keepdims=keepdims, device=planned), want, (axis, q))
                    tensor = wgdml.quantile(wgdml.asarray(x, device=planned), q, axis, method=method, keepdims=keepdims)
                    assert isinstance(tensor, wgdml.Tensor)
                    same(tensor.numpy(), want, (axis, q))
            same(wgdml.median(x, axis, keepdims=keepdims, device=planned), np.median(x, axis, keepdims=keepdims))


def test_many_quantiles_of_long_data(planned):
    q = np.linspace(0, 1, 41)
    for kind in ("random", "sorted", "few_distinct", "constant"):
        x = data.make(kind, "float32", 40_009, 2)
        x[np.isnan(x)] = 0
        same(wgdml.quantile(x, q, device=planned), np.quantile(x, q))
        x[-1] = np.nan
        assert np.isnan(wgdml.quantile(x, q, device=planned)).all()
        tensor = wgdml.quantile(wgdml.asarray(x, device=planned), q, method="nearest")
        assert np.isnan(tensor.numpy()).all()
        same(wgdml.quantile(x, q, nan="omit", device=planned), np.nanquantile(x, q))


def test_bfloat16_is_computed_in_float32(device):
    x = RNG.normal(size=(3, 20)).astype(oracle.BFLOAT16)
    want = np.median(x.astype(np.float32), -1).astype(oracle.BFLOAT16)
    oracle.assert_same(wgdml.median(x, -1), want)
    oracle.assert_same(wgdml.quantile(x, 0.3, -1), np.quantile(x.astype(np.float32), 0.3, -1).astype(oracle.BFLOAT16))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int8"])
def test_a_q_of_bfloat16_is_one_of_float32(device, name):
    x, q = np.arange(40).astype(oracle.DTYPES[name]), np.float32([0.1, 0.75]).astype(oracle.BFLOAT16)
    for method in ("linear", "lower"):
        for own in (x, wgdml.asarray(x, device=device)):
            found, want = (wgdml.quantile(own, p, method=method) for p in (q, q.astype(np.float32)))
            oracle.assert_same(np.asarray(found), np.asarray(want))


def test_results_do_not_depend_on_numpy_s_error_state(device):
    x = np.float16([6e-8, 1e-7, 65504, 65504, np.inf, np.nan])
    with np.errstate(all="raise"):
        found = [function(x[:3]) for function in (wgdml.median, lambda part: wgdml.quantile(part, 0.3))]
        found += [wgdml.quantile(x[:3], np.float16(6e-8), method="median_unbiased")]
        found += [wgdml.median(x[2:4]), wgdml.median(x, nan="omit"), wgdml.quantile(x, [0.1, 0.9], nan="omit")]
    assert np.isfinite(found[0]) and found[1] < 1e-6


def test_nan_payloads_come_through(device):
    x = np.arange(100, dtype=np.float32)
    x[3] = np.uint32(0x7FC12345).view(np.float32)
    assert oracle.bits(wgdml.quantile(x, 0.5, method="lower")) == 0x7FC12345
    assert oracle.bits(wgdml.kth_value(x, 100).values) == 0x7FC12345


# Bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda x: wgdml.kth_value(x, 0), ValueError, r"k must lie in \[1, 5\], the axis's size, not 0"),
        (lambda x: wgdml.kth_value(x, 6), ValueError, r"k must lie in \[1, 5\]"),
        (lambda x: wgdml.kth_value(x, True), TypeError, "k must be an integer"),
        (lambda x: wgdml.kth_value(x, 1, axis=2), ValueError, "axis must lie in"),
        (lambda x: wgdml.kth_value(x, 1, mode="least"), ValueError, "mode must be"),
        (lambda x: wgdml.kth_value(x, 1, index_dtype="int8"), TypeError, "index_dtype must be"),
        (lambda x: wgdml.kth_value(x.astype(complex), 1), TypeError, "x has data type complex128"),
        (lambda x: wgdml.partition(x, 5), ValueError, r"kth must lie in \[-5, 4\] for an axis of 5, not 5"),
        (lambda x: wgdml.partition(x, [0, -6]), ValueError, "kth must lie in"),
        (lambda x: wgdml.partition(x, 1.5), TypeError, "kth must be an integer"),
        (lambda x: wgdml.argpartition(x, 1, kind="quick"), ValueError, 'kind must be "introselect"'),
        (lambda x: wgdml.partition(x, 1, kind=np.array(["a", "b"])), ValueError, 'kind must be "introselect"'),
        (lambda x: wgdml.partition(x[:, :0], 0), ValueError, "x must have elements along its axis, of which kth names one"),
        (lambda x: wgdml.quantile(x, 1.5), ValueError, r"q must lie in \[0, 1\], not 1.5"),
        (lambda x: wgdml.quantile(x, [0.5, np.nan]), ValueError, r"q must lie in \[0, 1\], not nan"),
        (lambda x: wgdml.quantile(x, -1), ValueError, "q must lie in"),
        (lambda x: wgdml.quantile(x, "half"), TypeError, "q must be numbers"),
        (lambda x: wgdml.quantile(x, True), TypeError, "q must be numbers"),
        (lambda x: wgdml.quantile(x, [[0.1], [0.2, 0.3]]), TypeError, "q cannot become an array"),
        (lambda x: wgdml.quantile(x, np.ma.array([0.1, 0.5], mask=[0, 1])), TypeError, "q has masked elements"),
        (lambda x: wgdml.quantile(x, np.ma.masked), TypeError, "q has masked elements"),
        (lambda x: wgdml.quantile(x, np.zeros(1, ml_dtypes.float8_e5m2)), TypeError, "q must be numbers of NumPy's own"),
        (lambda x: wgdml.quantile(x, 0.5, method="median"), ValueError, "method must be one of inverted_cdf, .*not 'median'"),
        (lambda x: wgdml.quantile(x, 0.5, nan="last"), ValueError, 'nan must be "propagate" or "omit"'),
        (lambda x: wgdml.quantile(x > 0, 0.5), TypeError, "x must not be bool for method 'linear'"),
        (lambda x: wgdml.median(x, 3), ValueError, "axis must lie in"),
        (lambda x: wgdml.median(x, (0, 0)), ValueError, "axis must name each axis once"),
        (lambda x: wgdml.median(x[:0], 0), ValueError, "nothing to reduce"),
        (lambda x: wgdml.median(x, keepdims=1), TypeError, "keepdims must be True or False"),
    ],
)
def test_bad_input_is_refused_before_a_device_is_opened(no_device, call, kind, words):
    with pytest.raises(kind, match=words):
        call(np.zeros((2, 5), np.float32))


def test_least_limits_cut_what_does_not_fit(device):
    limits = {"max_storage_buffer_binding_size": 128 << 10, "max_buffer_size": 2 << 20}
    small, _ = planned_device(device, software=True, limits=limits)
    x = data.make("random", "float32", (3, 40_000), 5)
    check_kth(x, 14_000, device=small)
    check_partition(x[0], [8, 30_000], device=small)
    same(wgdml.median(x, -1, nan="omit", device=small), of_numpy(np.nanmedian, x, -1))


@pytest.mark.parametrize("software", [True, False])
def test_numbers_and_ranks_of_more_sequences_than_a_binding_holds(device, software):
    most = 64 << 10
    small, planned = planned_device(device, None, software, limits={"max_storage_buffer_binding_size": most})
    x = RNG.normal(size=(2, 9000, 3)).astype(np.float16)
    x[RNG.random(x.shape) < 0.3] = np.nan
    for source in (x, wgdml.asarray(x, device=small)):
        same(np.asarray(wgdml.median(source, -1, nan="omit", device=small)), of_numpy(np.nanmedian, x, -1))
        found = wgdml.quantile(source, [0.1, 0.5, 0.8], -1, nan="omit", device=small)
        same(np.asarray(found), of_numpy(np.nanquantile, x, [0.1, 0.5, 0.8], -1))
    assert max(binding.size for plan in planned.plans for step in plan.dispatches for binding in step.bindings) <= most


# Anything ----------------------------------------------------------------------------------------


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.sampled_from(sorted(oracle.DTYPES)),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
def test_any_problem(device, shape, name, seed, largest):
    rng = np.random.default_rng(seed)
    kinds = data.kinds(oracle.DTYPES[name])
    x = data.make(kinds[seed % len(kinds)], name, tuple(shape), seed)
    order = rng.permutation(x.ndim)
    tensor, x = wgdml.asarray(x).transpose(*order.tolist()), x.transpose(order)
    axis = int(rng.integers(-x.ndim, x.ndim))
    check_kth(x, int(rng.integers(1, x.shape[axis] + 1)), axis, ("smallest", "largest")[largest], given=tensor)
    check_partition(x, int(rng.integers(-x.shape[axis], x.shape[axis])), axis)
    if name not in ("bool", "bfloat16"):
        axes = tuple(sorted(rng.choice(x.ndim, rng.integers(1, x.ndim + 1), replace=False).tolist()))
        q, method = rng.random(3), list(METHODS)[seed % len(METHODS)]
        same(wgdml.quantile(tensor, q, axes, method=method).numpy(), of_numpy(np.quantile, x, q, axes, method=method))
        same(wgdml.median(x, axes, nan="omit"), of_numpy(np.nanmedian, x, axes))


def test_all_elements_of_a_tensor_that_needs_a_copy(device):
    with pytest.raises(ValueError, match="needs a copy"):
        wgdml.partition(wgdml.asarray(np.zeros((2, 3)), device=device).T, 1, axis=None)


def test_quantiles_of_more_bits_than_a_tensor_has(device):
    x, q = np.arange(6.0), np.longdouble(0.3)
    assert wgdml.quantile(x, q, device=device) == np.quantile(x, q)
    with pytest.raises(TypeError, match="q must have at most 64 bits with a Tensor"):
        wgdml.quantile(wgdml.asarray(x, device=device), q)


def test_statistics_of_as_many_dimensions_as_numpy_has(device):
    x = np.random.default_rng(1).random((1,) * 61 + (2, 2, 5), np.float32)
    x[..., 0, 1, 2] = np.nan
    for axis in (63, None):
        for nan, oracle_of in (("propagate", np.median), ("omit", np.nanmedian)):
            want = oracle_of(x.reshape(4, 5), axis=None if axis is None else 1)
            got = wgdml.median(x, axis=axis, nan=nan, device=device)
            assert got.shape == (() if axis is None else x.shape[:63])
            assert np.array_equal(got.reshape(want.shape), want, equal_nan=True)
    got = wgdml.quantile(x, [0.2, 0.7], axis=62, nan="omit", device=device)
    assert np.array_equal(got.reshape(2, 2, 5), np.nanquantile(x.reshape(2, 2, 5), [0.2, 0.7], axis=1))


def test_other_ranks_in_every_call_take_no_more_memory(device):
    """A short row of ranks is kept for the next call. Long ones would fill the memory."""
    n, used = 5000, []
    tracemalloc.start()
    try:
        for _ in range(40):
            q = RNG.choice(n, 3000, replace=False) / (n - 1)
            wgdml.quantile(np.arange(n, dtype=np.float32), q, method="nearest", device=device)
            used.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert used[-1] - used[10] < 1 << 20
