"""Random problems: shapes, layouts, types, axes, k and data by Hypothesis, beside the oracle.

The search is the same at every run. ``HYPOTHESIS_PROFILE=long`` searches further, and differently
each time.
"""

from __future__ import annotations

import math
from typing import Any

import data
import numpy as np
import oracle
from checks import OPERATORS, check, packed, strided_tensor
from hypothesis import given, note, settings
from hypothesis import strategies as st
from test_fuzz import strides_of

import wgdml

MAX_ELEMENTS = 20_000

seeds = st.integers(0, 2**32 - 1)


@st.composite
def typed(draw: st.DrawFn) -> tuple[np.dtype[Any], str]:
    dtype = oracle.DTYPES[draw(st.sampled_from(sorted(oracle.DTYPES)))]
    return dtype, draw(st.sampled_from(data.kinds(dtype)))


@st.composite
def shapes(draw: st.DrawFn, least: int = 1) -> tuple[int, ...]:
    """One to eight sizes, mostly small, one of them now and then long."""
    rank = draw(st.integers(1, 8))
    sizes = draw(st.lists(st.integers(least, 5), min_size=rank, max_size=rank))
    rest = math.prod(size for size in sizes[1:]) or 1
    longest = max(5, MAX_ELEMENTS // rest)
    sizes[0] = draw(st.one_of(st.integers(least, min(70, longest)), st.integers(least, longest)))
    position = draw(st.integers(0, rank - 1))
    sizes[0], sizes[position] = sizes[position], sizes[0]
    return tuple(sizes)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """A shape, strides of any kind, and an offset."""
    shape = draw(shapes())
    strides = draw(strides_of(shape, output=False)) or packed(shape)
    return shape, strides, draw(st.sampled_from([0, 0, 1, 2, 3, 7, 64, 255, 256]))


@st.composite
def axes_of(draw: st.DrawFn, operator: str, rank: int) -> Any:
    if not operator.startswith("arg") or operator.startswith("argsort"):
        return draw(st.integers(-rank, rank - 1))
    several = st.lists(st.integers(0, rank - 1), min_size=1, max_size=rank, unique=True).map(tuple)
    return draw(st.one_of(st.none(), st.integers(-rank, rank - 1), several))


def choose_k(draw: Any, size: int) -> int:
    near = [k for k in (1, 2, 31, 32, 33, 64, 128, 256, 257, 1024, 1025, size - 1, size) if 1 <= k <= size]
    return draw(st.one_of(st.sampled_from(near), st.integers(1, size)))


@given(st.data())
def test_arrays(device, source):
    draw = source.draw
    dtype, kind = draw(typed())
    shape = draw(shapes())
    operator = draw(st.sampled_from(OPERATORS))
    axis = draw(axes_of(operator, len(shape)))
    k = choose_k(draw, shape[axis]) if operator.startswith("top_k") else 1
    x = data.make(kind, dtype, shape, draw(seeds))
    check(operator, x, axis=axis, k=k, keepdims=draw(st.booleans()), device=device, case=kind)


@given(st.data())
def test_tensors(device, source):
    draw = source.draw
    dtype, kind = draw(typed())
    shape, strides, offset = draw(layouts())
    operator = draw(st.sampled_from(OPERATORS))
    axis = draw(axes_of(operator, len(shape)))
    k = choose_k(draw, shape[axis]) if operator.startswith("top_k") else 1
    tensor, x = strided_tensor(device, kind, dtype, shape, strides, offset, draw(seeds))
    case = f"{kind}, strides {strides}, offset {offset}"
    check(operator, x, axis=axis, k=k, keepdims=draw(st.booleans()), given=tensor, device=device, case=case)
    oracle.assert_same(tensor.numpy(), x, case)


@given(st.data())
def test_empty_shapes_do_as_numpy(device, source):
    draw = source.draw
    shape = draw(shapes(least=0))
    dtype = draw(st.sampled_from([np.dtype("float32"), np.dtype("uint8")]))
    x = data.make("eight_values", dtype, shape, draw(seeds))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    for call, reference in ((wgdml.argmax, np.argmax), (wgdml.argmin, np.argmin)):
        try:
            expected = reference(x, axis)
        except ValueError:
            note(f"NumPy refuses {shape} along {axis}")
            try:
                call(x, axis=axis, device=device)
            except ValueError:
                continue
            raise AssertionError(f"{call.__name__} of {shape} along {axis} should be refused") from None
        oracle.assert_same(call(x, axis=axis, device=device), expected)
    oracle.assert_same(wgdml.sort(x, axis=axis, device=device), np.sort(x, axis, kind="stable"))


@settings(max_examples=max(20, settings().max_examples // 3))
@given(st.data())
def test_sort_argsort_and_top_k_agree(device, source):
    """Laws between the functions, with no oracle: they hold whatever the order is."""
    draw = source.draw
    dtype, kind = draw(typed())
    x = data.make(kind, dtype, (draw(st.integers(1, 3)), draw(st.integers(1, 3_000))), draw(seeds))
    descending = draw(st.booleans())
    k = choose_k(draw, x.shape[1])
    mode = "largest" if descending else "smallest"
    indices = wgdml.argsort(x, descending=descending, device=device)
    assert np.array_equal(np.sort(indices, axis=1), np.broadcast_to(np.arange(x.shape[1]), x.shape))
    values = oracle.take(x, indices, 1)
    oracle.assert_same(wgdml.sort(x, descending=descending, device=device), values)
    some = wgdml.top_k(x, k, mode=mode, device=device)
    oracle.assert_same(some.indices, indices[:, :k])
    oracle.assert_same(some.values, values[:, :k])
    if descending or not oracle.is_nan(x).any():
        call = wgdml.argmax if descending else wgdml.argmin
        oracle.assert_same(call(x, axis=1, device=device), indices[:, 0])
