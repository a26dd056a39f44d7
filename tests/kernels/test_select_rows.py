"""Top-k of short rows by small teams: exact for every kind of data, and where a list overflows."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import pytest
from checks import check, strided_tensor
from planning import numbers_of

import wgdml


@pytest.fixture
def forced(forced):
    return partial(forced, "select_rows")


@pytest.mark.parametrize("loads", [1, 8, 32])
@pytest.mark.parametrize("k", [2, 5, 16, 31])
def test_sizes_of_teams(forced, k, loads):
    device, plans = forced(select_rows={"loads": loads})
    fewest = 4 << (2 * k - 1).bit_length()
    for n in (fewest, fewest + 1, 1000, 1023):
        for kind in ("random", "sorted", "few_distinct", "constant", "nan_payloads"):
            check("top_k-largest", data.make(kind, "float32", (9, n), n), k=k, device=device, case=kind)
    assert numbers_of(plans[-1].dispatches[0])["TEAM"] >= k


def test_lists_that_overflow(forced):
    """All that is first belongs to k invocations, each one's best hardly better than the rest."""
    device, plans = forced(select_rows={"loads": 16})
    rng = np.random.default_rng(1)
    for k, n in ((2, 1000), (5, 1000), (16, 2048)):
        check("top_k-largest", np.zeros((1, n), np.float32), k=k, device=device)
        constants = numbers_of(plans[-1].dispatches[0])
        team = constants["TEAM"]
        x = rng.integers(0, 5, (70, n)).astype(np.float32)
        for row in range(0, 70, 2):
            mine = np.isin(np.arange(n) // 4 % team, rng.permutation(team)[:k])
            assert mine.sum() > team * constants["PLACES_EACH"] or k != 5
            x[row, mine] = 100 + rng.permutation(int(mine.sum())) // (1 + row % 3)
        check("top_k-largest", x, k=k, device=device)


def test_rows_that_start_amid_a_load(forced):
    device, plans = forced()
    for offset in (1, 2, 3):
        for kind in ("few_distinct", "random"):
            # The buffer ends with a whole load.
            tensor, x = strided_tensor(device, kind, "float32", (70, 405 - offset), (407, 1), offset)
            check("top_k-largest", x, given=tensor, k=9, device=device, case=offset)
    tensor, x = strided_tensor(device, "few_distinct", "float32", (70, 401), (803, 2), 1)
    check("top_k-smallest", x, given=tensor, k=9, device=device)
    check("top_k-largest", data.make("few_distinct", "float32", (300, 67), 1), axis=0, k=10, device=device)
    assert numbers_of(plans[0].dispatches[0])["PER_LOAD"] == 4


def test_what_it_does_not_take_is_said(forced):
    device, _ = forced()
    for n, k in ((100, 32), (1 << 20, 5), (10, 10)):
        with pytest.raises(ValueError, match="select_rows takes"):
            wgdml.top_k(np.zeros((3, n), np.float32), k, device=device)
