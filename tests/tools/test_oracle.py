"""The oracle and the data against plain NumPy and against answers written out by hand."""

from __future__ import annotations

import data
import numpy as np
import oracle
import pytest

#: NumPy knows the order of these by itself (of bfloat16 too, through ml_dtypes, but without a
#: NaN-last sort).
NATIVE = [name for name in oracle.DTYPES if name != "bfloat16"]
FLOATS = [name for name, dtype in oracle.DTYPES.items() if oracle.is_float(dtype)]


def cases(names):
    return [(name, kind) for name in names for kind in data.kinds(oracle.DTYPES[name])]


@pytest.mark.parametrize(("name", "kind"), cases(NATIVE))
def test_ascending_order_is_numpy_s_stable_sort(name, kind):
    x = data.make(kind, name, (4, 97))
    for axis in (0, 1, -1):
        expected = np.argsort(x, axis=axis, kind="stable")
        oracle.assert_same(oracle.argsort(x, axis), expected)
        oracle.assert_same(oracle.sort(x, axis), np.take_along_axis(x, expected, axis))


@pytest.mark.parametrize(("name", "kind"), cases(NATIVE))
def test_descending_order_is_numpy_s_stable_sort_of_the_mirrored_row(name, kind):
    # A stable ascending sort of the reversed row, read backwards, is descending with ties by
    # ascending index.
    x = data.make(kind, name, (4, 97))
    expected = 96 - np.argsort(x[:, ::-1], axis=1, kind="stable")[:, ::-1]
    oracle.assert_same(oracle.argsort(x, 1, descending=True), expected)


@pytest.mark.parametrize(("name", "kind"), cases(oracle.DTYPES))
def test_argmax_and_argmin_are_numpy_s(name, kind):
    dtype = oracle.DTYPES[name]
    x = data.make(kind, dtype, (4, 97))
    if name == "bfloat16":
        x = widen(x)
    for axis in (None, 0, 1):
        for keepdims in (False, True):
            oracle.assert_same(oracle.argmax(x, axis, keepdims), np.argmax(x, axis, keepdims=keepdims))
            oracle.assert_same(oracle.argmin(x, axis, keepdims), np.argmin(x, axis, keepdims=keepdims))
    flipped = x[:, ::-1]
    oracle.assert_same(oracle.argmax(x, 1, select_last=True), 96 - np.argmax(flipped, 1))
    oracle.assert_same(oracle.argmin(x, 1, select_last=True), 96 - np.argmin(flipped, 1))


def widen(x):
    """bfloat16 to the float32 with the same value: the same bits and sixteen zeros."""
    return (oracle.bits(x).astype(np.uint32) << np.uint32(16)).view(np.float32)


@pytest.mark.parametrize("kind", data.kinds(oracle.BFLOAT16))
def test_bfloat16_orders_as_its_float32(kind):
    x = data.make(kind, oracle.BFLOAT16, (4, 97))
    wide = widen(x)
    for descending in (False, True):
        oracle.assert_same(oracle.argsort(x, 1, descending), oracle.argsort(wide, 1, descending))
        oracle.assert_same(widen(oracle.sort(x, 1, descending)), oracle.sort(wide, 1, descending))


def test_several_axes_are_flattened_in_ascending_order():
    x = data.make("eight_values", "int32", (3, 4, 5, 2))
    expected = np.argmax(x.transpose(0, 2, 1, 3).reshape(3, 5, 8), axis=2)
    for axes in ((1, 3), (3, 1), (-1, 1), (-3, 3)):
        oracle.assert_same(oracle.argmax(x, axes), expected)
        oracle.assert_same(oracle.argmax(x, axes, keepdims=True), expected.reshape(3, 1, 5, 1))
    oracle.assert_same(oracle.argmax(x, (2, 0, 1, 3)), np.asarray(np.argmax(x)))


def test_rules_that_numpy_does_not_show():
    nan, inf = np.nan, np.inf
    x = np.array([nan, 1, -inf, nan, -0.0, 0.0, inf], np.float32)
    assert oracle.argsort(x).tolist() == [2, 4, 5, 1, 6, 0, 3]
    assert oracle.argsort(x, descending=True).tolist() == [0, 3, 6, 1, 4, 5, 2]
    values, indices = oracle.top_k(x, 3, largest=False)
    assert indices.tolist() == [2, 4, 5] and np.signbit(values).tolist() == [True, True, False]
    assert int(oracle.argmax(x)) == 0 and int(oracle.argmax(x, select_last=True)) == 3
    assert int(oracle.argmin(x)) == 0 and int(oracle.argmin(x, select_last=True)) == 3
    assert int(oracle.argmax(np.array([3, 2, 1, 2, 3]), select_last=True)) == 4
    assert int(oracle.argmin(np.array([1, 2, 3, 2, 1]), select_last=True)) == 4
    assert oracle.argsort(np.array([0, 2**64 - 1, 2**63, 2**63 - 1], np.uint64)).tolist() == [0, 3, 2, 1]


def test_documents_examples():
    rows = np.array([[0, 1, 10, 11], [3, 2, 9, 8], [4, 5, 6, 7]], np.float32)
    values, indices = oracle.top_k(rows, 2, axis=1)
    assert values.tolist() == [[11, 10], [9, 8], [7, 6]] and indices.tolist() == [[3, 2], [2, 3], [3, 2]]
    values, indices = oracle.top_k(rows, 2, axis=0)
    assert values.tolist() == [[4, 5, 10, 11], [3, 2, 9, 8]]
    assert indices.tolist() == [[2, 2, 0, 0], [1, 1, 1, 1]]


@pytest.mark.parametrize(("name", "kind"), cases(oracle.DTYPES))
def test_top_k_of_one_long_row_is_the_same_by_partition(monkeypatch, name, kind):
    x = data.make(kind, name, 1000)
    for k in (1, 2, 31, 500, 1000):
        for largest in (True, False):
            values, indices = oracle.top_k(x, k, largest=largest)
            for block in (1 << 22, 300):
                monkeypatch.setattr(oracle, "BLOCK", block)
                fast_values, fast_indices = oracle.top_k_long(x, k, largest)
                oracle.assert_same(fast_indices, indices, block)
                oracle.assert_same(fast_values, values, block)


def test_comparison_sees_what_equality_does_not():
    one = np.array([1.0, 2.0], np.float32)
    oracle.assert_same(one, one.copy())
    nan = np.array([0x7FC00001, 0x7FC00002], np.uint32).view(np.float32)
    oracle.assert_same(nan, nan.copy())
    for actual, expected in [
        (np.array([-0.0], np.float32), np.array([0.0], np.float32)),
        (nan[:1], nan[1:]),
        (np.array([1e-45], np.float32), np.array([0.0], np.float32)),
        (one, one.astype(np.float64)),
        (one, one[:, None]),
        (one, one[::-1]),
        (np.array([], np.float32), np.array([], np.float64)),
    ]:
        with pytest.raises(AssertionError):
            oracle.assert_same(actual, expected)


@pytest.mark.parametrize(("name", "kind"), cases(oracle.DTYPES))
def test_data_is_the_same_for_the_same_seed(name, kind):
    x = data.make(kind, name, (3, 50))
    oracle.assert_same(x, data.make(kind, name, (3, 50)))
    if kind != "constant":
        assert not np.array_equal(oracle.bits(x), oracle.bits(data.make(kind, name, (3, 50), seed=1)))
    for shape in ((), (0,), (2, 0, 3), (1,)):
        assert data.make(kind, name, shape).shape == shape


@pytest.mark.parametrize("name", FLOATS)
def test_data_is_as_hostile_as_its_name(name):
    dtype = oracle.DTYPES[name]
    many = 4000
    pattern = {kind: oracle.bits(data.make(kind, dtype, many)) for kind in data.kinds(dtype)}
    sign = 1 << (8 * dtype.itemsize - 1)
    infinity = int(oracle.bits(np.array(np.inf).astype(dtype)))
    magnitude = {kind: p & p.dtype.type(sign - 1) for kind, p in pattern.items()}
    assert (magnitude["nan_payloads"] > infinity).sum() > many // 5
    assert len(np.unique(pattern["nan_payloads"][magnitude["nan_payloads"] > infinity])) > 100
    assert (magnitude["denormals"] < 1 << oracle.mantissa_bits(dtype)).all()
    assert len(np.unique(pattern["denormals"])) > 100
    zeros = pattern["signed_zeros"][magnitude["signed_zeros"] == 0]
    assert set(zeros.tolist()) == {0, sign} and len(zeros) > many // 2
    assert 0.99 < (pattern["mostly_infinity"] == infinity | sign).mean() < 1
    assert 0.99 < (pattern["mostly_plus_infinity"] == infinity).mean() < 1
    assert {0, sign, 1, infinity, infinity | sign} <= set(pattern["extremes"].tolist())
    assert len(np.unique(pattern["eight_values"])) == 8
    assert len(np.unique(pattern["constant"])) == 1
    leading = pattern["shared_leading_bits"] >> (2 * dtype.itemsize)
    assert len(np.unique(leading)) == 1 and len(np.unique(pattern["shared_leading_bits"])) > 10
