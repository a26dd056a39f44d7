"""Argmax over two axes, one after the other: exact, whichever comes first."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import pytest
from checks import check, strided_tensor

DIRECTIONS = ("argmax", "argmin", "argmax-last", "argmin-last")
#: The longer axis outside and inside, contiguous or not; the other one between the batch's.
SHAPES = [
    ((40, 3, 5), (0, 2)),
    ((5, 3, 40), (0, 2)),
    ((33, 3, 4, 7), (0, 2)),
    ((4, 3, 33, 7), (0, 2)),
    ((9, 2, 5, 3, 2), (0, 3)),
    ((2, 9, 5, 6, 3), (1, 3)),
    ((300, 2, 9), (0, 2)),
    ((8, 1, 2, 8, 1), (0, 3)),
]


@pytest.fixture
def forced(forced):
    return partial(forced, "reduce_axes")


@pytest.mark.parametrize(("turn", "shape", "axes"), [(turn, *problem) for turn, problem in enumerate(SHAPES)])
def test_every_order_of_axes(forced, turn, shape, axes):
    device, plans = forced()
    for number, kind in enumerate(("random", "few_distinct", "constant", "nan_payloads")):
        x = data.make(kind, "float32", shape, number)
        check(DIRECTIONS[(number + turn) % 4], x, axis=axes, device=device, case=kind)
    assert plans[-1].algorithms[0] == "reduce_axes"


@pytest.mark.parametrize("name", ["uint8", "float16", "int64", "float64"])
def test_every_width(forced, name):
    device, _ = forced()
    for direction in DIRECTIONS:
        check(direction, data.make("few_distinct", name, (3, 21, 2, 9, 5), 1), axis=(1, 3), device=device)


def test_strided_elements(forced):
    device, _ = forced()
    tensor, x = strided_tensor(device, "few_distinct", "float32", (9, 4, 12, 3), (1000, 70, 5, 2), 3)
    for direction in DIRECTIONS:
        check(direction, x, given=tensor, axis=(0, 2), device=device)


def test_the_rules_take_it(device):
    """And values are those of the elements, where they are wanted too."""
    import wgdml

    x = data.make("few_distinct", "float32", (50, 6, 20, 7), 2)
    values, indices = wgdml.max(x, axis=(0, 2), return_indices=True, device=device)
    flat = x.transpose(1, 3, 0, 2).reshape(6, 7, -1)
    np.testing.assert_array_equal(indices, flat.argmax(-1))
    np.testing.assert_array_equal(values, flat.max(-1))
