"""Top-k of short rows by bisection: exact whatever bits of keys agree, wherever ties are cut."""

from __future__ import annotations

from functools import partial
from itertools import product

import data
import numpy as np
import oracle
import pytest
from checks import check, strided_tensor

#: The tests take them in turn.
DIRECTIONS = ("top_k-largest", "top_k-smallest")


@pytest.fixture(params=[True, False], ids=["subgroups", "no-subgroups"])
def forced(forced, request):
    """A device that bisects as a GPU would."""
    return partial(forced, "select_bisect", subgroups=request.param)


@pytest.mark.parametrize(
    ("forced", "name"),
    data.in_turn(product((True, False), ("uint8", "float16", "float32", "int64", "float64"))),
    indirect=["forced"],
)
def test_every_width_and_kind_of_data(forced, name):
    device, plans = forced()
    for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        check(DIRECTIONS[seed % 2], data.make(kind, name, (70, 235), seed), k=45, device=device, case=kind)
    assert [dispatch.kernel for dispatch in plans[-1].dispatches] == ["select/bisect"]


# Each k's kernel takes seconds to compile. Without subgroups exchanges alone differ.
@pytest.mark.parametrize(
    ("forced", "k"),
    [(True, k) for k in (2, 32, 33, 64, 129, 512)] + data.in_turn([(False, k) for k in (2, 31, 33, 65, 512, 128, 129, 257)], 1),
    indirect=["forced"],
)
def test_every_k_and_where_rows_begin(forced, k):
    device, _ = forced()
    # Rows of 101 to 103 items differ in where they begin within a load.
    for n in (k, k + 1, max(k, 101 + k % 3), 1017 + k % 4 if k % 2 else k + 2):
        for kind in ("random", "sorted", "few_distinct", "constant", "nan_payloads"):
            check("top_k-largest", data.make(kind, "float32", (7, n), n), k=k, device=device, case=kind)


def test_keys_that_differ_in_one_bit_each(forced):
    """The k-th key is found at the first bit and at the last, and where no key has it."""
    device, _ = forced()
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    x = np.stack([bits, ~bits, np.repeat(bits[:4], 8), np.repeat(~bits[-4:], 8), np.where(bits > 99, bits, 7)])
    for k in (2, 5, 8, 31, 32):
        check("top_k-largest", x, k=k, device=device)
        check("top_k-smallest", x, k=k, device=device)


@pytest.mark.parametrize(
    ("forced", "name"), data.in_turn(product((True, False), ("float32", "int16", "int64"))), indirect=["forced"]
)
def test_numbers_of_few_digits(forced, name):
    """The k-th is one of many equal ones: all ones or zeros behind some bits, or anything else."""
    device, _ = forced()
    dtype, rng = oracle.DTYPES[name], np.random.default_rng(1)
    ends = [-np.inf, np.inf, 0.1, -0.3] if name == "float32" else [np.iinfo(dtype).min, np.iinfo(dtype).max, 12345, -321]
    for value in [0, 1, -1, 256, -0.0, *ends]:
        x = data.make("random", name, (33, 190), 2)
        some = rng.integers(0, 190, (33, 190)) < np.arange(33)[:, None] * 3
        x = np.where(some, x, np.array(value).astype(dtype))
        for direction in DIRECTIONS:
            check(direction, x, k=45, device=device, case=value)


def test_ties_are_cut_at_every_place(forced):
    device, _ = forced()
    rng = np.random.default_rng(1)
    for k in range(2, 64, 7):
        x = rng.integers(0, 3, (5, 300)).astype(np.int16)
        x[0] = 1
        x[1, : k - 1] = 5  # one more of many
        x[2, -k:] = 5
        check("top_k-largest", x, k=k, device=device)


def test_strided_elements(forced):
    device, _ = forced()
    tensor, x = strided_tensor(device, "few_distinct", "float32", (9, 140), (400, 2), 3)
    check("top_k-largest", x, given=tensor, k=33, device=device)


@pytest.mark.parametrize(("n", "k"), [(600, 513), (3000, 40), (300, 1)])
def test_what_it_does_not_serve(forced, n, k):
    import wgdml

    device, _ = forced()
    with pytest.raises(ValueError, match="select_bisect takes"):
        wgdml.top_k(np.zeros((2, n), np.float32), k, device=device)
