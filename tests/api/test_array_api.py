"""What the array API standard asks of the functions here: properties that array-api-tests checks.

That suite itself is run from a checkout of it where ``WGDML_ARRAY_API_TESTS`` names one
(docs/interop.md).
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import array_api_namespace as xp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

import wgdml

REAL = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
SHAPES = hn.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=12)


@st.composite
def arrays(draw: st.DrawFn, shapes: Any = SHAPES, nan: bool = False) -> np.ndarray:
    """Real arrays with ties and signed zeros; the standard leaves NaN open."""
    dtype = draw(st.sampled_from(REAL))
    # allow_subnormal: whether the processor flushes them is not the question here
    options = {"allow_nan": nan, "width": 8 * np.dtype(dtype).itemsize} if dtype.startswith("float") else {}
    scalars = hn.from_dtype(np.dtype(dtype), **options) if not options else st.floats(allow_subnormal=False, **options)
    elements = st.one_of(scalars, st.sampled_from([0, 1, 2]).map(np.dtype(dtype).type))
    return draw(hn.arrays(dtype, draw(shapes), elements=elements))


@st.composite
def with_axis(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    x = draw(arrays())
    return x, draw(st.integers(-x.ndim, x.ndim - 1))


def lines(x: np.ndarray, axis: int) -> np.ndarray:
    return np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis])


@given(arrays(hn.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=9)), st.data())
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_searching(device, name, x, data):
    """test_argmax and test_argmin: index type, shape, first extreme, every axis and keepdims."""
    axis = data.draw(st.one_of(st.none(), st.integers(-x.ndim, x.ndim - 1)) if x.ndim else st.none())
    keepdims = data.draw(st.booleans())
    out = getattr(xp, name)(x, axis=axis, keepdims=keepdims)
    assert out.dtype == xp.__array_namespace_info__().default_dtypes()["indexing"]
    kept = tuple(1 if axis is None or d == axis % x.ndim else n for d, n in enumerate(x.shape))
    reduced = tuple(n for d, n in enumerate(x.shape) if axis is not None and d != axis % x.ndim)
    assert out.shape == (kept if keepdims else reduced)
    pick = max if name == "argmax" else min
    for line, index in zip(x.reshape(1, -1) if axis is None else lines(x, axis), np.asarray(out).reshape(-1), strict=True):
        assert index == line.tolist().index(pick(line.tolist()))


@settings(max_examples=30)
@given(with_axis(), st.booleans(), st.sampled_from([True, False, None]))
def test_sorting(device, x_axis, descending, stable):
    """test_sort and test_argsort: shape, index type, ordered, a permutation, stable both ways."""
    x, axis = x_axis
    options: dict[str, Any] = {"axis": axis, "descending": descending} | ({} if stable is None else {"stable": stable})
    out, indices = xp.sort(x, **options), xp.argsort(x, **options)
    assert out.shape == indices.shape == x.shape and out.dtype == x.dtype
    assert indices.dtype == xp.__array_namespace_info__().default_dtypes()["indexing"]
    for line, values, places in zip(lines(x, axis), lines(out, axis), lines(indices, axis), strict=True):
        # sorted() keeps ties in order when it reverses, as the standard asks
        expected = sorted(range(len(line)), key=line.tolist().__getitem__, reverse=descending)
        assert places.tolist() == expected
        assert np.array_equal(values, line[expected])


@settings(max_examples=30)
@given(with_axis(), st.data(), st.sampled_from(["largest", "smallest"]))
def test_top_k(device, x_axis, data, mode):
    """test_top_k: shapes, types, values found at their indices, and no better ones left out."""
    x, axis = x_axis
    k = data.draw(st.integers(0, x.shape[axis]))
    out = xp.top_k(x, k, axis=axis, mode=mode)
    assert tuple(out) == (out.values, out.indices) or out.values is out[0]
    shape = tuple(k if d == axis % x.ndim else n for d, n in enumerate(x.shape))
    assert out.values.shape == out.indices.shape == shape and out.values.dtype == x.dtype
    assert np.array_equal(np.take_along_axis(x, out.indices, axis), out.values)
    if not k:
        return
    for line, values, places in zip(lines(x, axis), lines(out.values, axis), lines(out.indices, axis), strict=True):
        assert len(set(places.tolist())) == k
        assert sorted(line.tolist(), reverse=mode == "largest")[:k] == values.tolist()


def test_signatures():
    """test_signatures: names, kinds and defaults of the standard; further ones by keyword alone.

    A payload is the second operand of ``sort``, and no keyword.
    """
    standard = {
        "argmax": "x, /, *, axis=None, keepdims=False",
        "argmin": "x, /, *, axis=None, keepdims=False",
        "sort": "x, /, *, axis=-1, descending=False, stable=True",
        "argsort": "x, /, *, axis=-1, descending=False, stable=True",
        "top_k": "x, k, /, *, axis=-1, mode='largest'",
        "max": "x, /, *, axis=None, keepdims=False",
        "min": "x, /, *, axis=None, keepdims=False",
    }
    for name, text in standard.items():
        ours = inspect.signature(getattr(wgdml, name)).parameters
        theirs = inspect.signature(eval(f"lambda {text}: 0")).parameters
        for parameter in theirs.values():
            assert (ours[parameter.name].kind, ours[parameter.name].default) == (parameter.kind, parameter.default)
        further = {n: p for n, p in ours.items() if n not in theirs}
        assert all(p.default is not p.empty for p in further.values())
        assert {n for n, p in further.items() if p.kind is not p.KEYWORD_ONLY} <= {"payload"}


@settings(max_examples=30)
@given(with_axis(), st.booleans())
def test_max_min_and_take_along_axis(device, x_axis, keepdims):
    """test_max, test_min, test_take_along_axis: type, shape, each extreme, elements at indices."""
    x, axis = x_axis
    for name, pick in (("max", max), ("min", min)):
        out = getattr(xp, name)(x, axis=axis, keepdims=keepdims)
        assert out.dtype == x.dtype and out.shape == getattr(np, name)(x, axis=axis, keepdims=keepdims).shape
        for line, value in zip(lines(x, axis), np.asarray(out).reshape(-1), strict=True):
            assert value == pick(line.tolist())
    order = np.argsort(x, axis=axis)
    assert np.array_equal(xp.take_along_axis(x, order, axis=axis), np.take_along_axis(x, order, axis))


def test_the_suite_itself():
    """Runs where a checkout of array-api-tests is named; elsewhere the tests above stand for it."""
    checkout = os.environ.get("WGDML_ARRAY_API_TESTS")
    if checkout is None:
        return
    folders = Path(__file__).resolve().parents
    path = os.pathsep.join([*map(str, folders[1:3]), os.environ.get("PYTHONPATH", "")])
    parts = "searching argmax", "searching argmin", "sorting sort", "sorting argsort", "statistical max", "statistical min"
    functions = [part.split() for part in (*parts, "indexing take_along_axis")]  # none of top_k yet
    tests = [f"test_{part}_functions.py::test_{name}" for part, name in functions]
    tests += [f"test_signatures.py::test_func_signature[{name}]" for _, name in functions]
    tests += [f"test_special_cases.py::test_nan_propagation[{name}]" for name in ("max", "min")]
    run = subprocess.run(
        # A first call compiles a kernel, which takes longer than the suite's deadline of 0.8 s.
        [sys.executable, "-m", "pytest", "-q", "--disable-deadline", *(f"array_api_tests/{test}" for test in tests)],
        cwd=checkout,
        env=os.environ | {"ARRAY_API_TESTS_MODULE": "array_api_namespace", "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
