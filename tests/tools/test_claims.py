"""What README.md and docs/from-others.md say of NumPy and ONNX, as far as these can be asked."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import oracle
import pytest
from onnx import defs

import wgdml

ROOT = Path(__file__).resolve().parents[2]
NUMPY = tuple(int(n) for n in np.__version__.split(".")[:2])
X = np.array([[2.0, np.nan, -0.0, 0.0, np.inf, 2.0], [1.0, 1.0, -5.0, 3.0, -np.inf, -5.0]], np.float32)


def test_numpy_has_top_k_from_2_6(device):
    """ "from 2.6": its elements are those of nan="last"; which of equal ones is open there."""
    assert hasattr(np, "top_k") == (NUMPY >= (2, 6))
    if NUMPY >= (2, 6):
        for mode in ("largest", "smallest"):
            for k in range(1, 7):
                ours = wgdml.top_k(X, k, mode=mode, nan="last", device=device)
                theirs = np.top_k(X, k, mode=mode)
                assert np.array_equal(ours.values, theirs[0], equal_nan=True)


def test_numpy_sorts_descending_from_2_5(device):
    """ "both from 2.5", with NaN last: the answer of nan="last"."""
    if NUMPY >= (2, 5):
        assert np.array_equal(np.sort(X, descending=True, stable=True), wgdml.sort(X, descending=True, nan="last"), equal_nan=True)
        assert np.array_equal(np.argsort(X, descending=True, stable=True), wgdml.argsort(X, descending=True, nan="last"))
    else:
        with pytest.raises(TypeError):
            np.sort(X, descending=True)


def test_numpy_s_ascending_sorts_are_ours(device):
    assert np.array_equal(np.sort(X, kind="stable"), wgdml.sort(X, device=device), equal_nan=True)
    assert np.array_equal(np.argsort(X, kind="stable"), wgdml.argsort(X, device=device))


def test_numpy_s_extremes_are_ours(device):
    """Over any set of axes; the first NaN wins argmax and argmin, one axis or all."""
    for axis in (None, 0, 1, (0, 1)):
        for name in ("max", "min"):
            assert np.array_equal(getattr(np, name)(X, axis), getattr(wgdml, name)(X, axis=axis, device=device), equal_nan=True)
    for axis in (None, 0, 1):
        for name in ("argmax", "argmin"):
            assert np.array_equal(getattr(np, name)(X, axis), getattr(wgdml, name)(X, axis=axis, device=device))
    with pytest.raises(TypeError):
        np.argmax(X, axis=(0, 1))
    assert np.array_equal(np.nanargmax(X, 1), wgdml.argmax(X, axis=1, nan="last", device=device))
    numbers = np.where(np.isnan(X), -np.inf, X)
    assert np.array_equal(np.nanmax(X, 1), wgdml.max(X, axis=1, nan="last", device=device))
    oracle.assert_same(wgdml.max(X, axis=1, nan="last", device=device), oracle.extreme(numbers, 1))


def test_numpy_has_out_for_argmax_and_max_only():
    whole = np.empty_like(X)
    np.max(X, axis=1, out=np.empty(2, np.float32))
    np.argmax(X, axis=1, out=np.empty(2, np.intp))
    with pytest.raises(TypeError):
        np.sort(X, out=whole)


def test_the_table_of_onnx_has_every_opset():
    """A newer version of an operator, once the installed package has it, must be in the table."""
    page = (ROOT / "docs/onnx.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (.+?) \| ([\d, ]+) \|", page, re.MULTILINE)
    for name in ("TopK", "ArgMax", "ArgMin"):
        listed = {int(n) for names, opsets in table if f"`{name}`" in names for n in opsets.split(",")}
        assert {s.since_version for s in defs.get_all_schemas_with_history() if s.name == name and not s.domain} == listed
