"""Top-k by networks of packed words: exact wherever words leave bits of the keys out."""

from __future__ import annotations

from functools import partial
from itertools import product

import data
import numpy as np
import oracle
import pytest
from checks import check, strided_tensor
from planning import numbers_of

import wgdml

#: The tests take them in turn.
DIRECTIONS = ("top_k-largest", "top_k-smallest")


MANY = 1 << 17  #: Invocations for which a row has a team.


@pytest.fixture
def forced(forced):
    """A device that takes the networks as a GPU would, and what it planned."""
    return partial(forced, "select_networks")


def team_of(plans) -> int:
    (dispatch,) = plans[-1].dispatches
    assert dispatch.kernel == "select/networks"
    return numbers_of(dispatch)["TEAM"]


def near(seed: int, shape: tuple[int, int], spread: int, shift: int = 0) -> np.ndarray:
    """Rows of floats around one number each, a few units of the last place but ``shift`` apart."""
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((shape[0], 1)).astype(np.float32).view(np.int32)
    return (base + (rng.integers(-spread, spread + 1, shape, np.int32) << shift)).view(np.float32)


@pytest.mark.parametrize(("numbered", "team"), data.in_turn(product(enumerate(["uint8", "float16", "float32"]), (1, 2, 8))))
def test_every_width_and_kind_of_data(forced, numbered, team):
    number, name = numbered
    device, plans = forced(select_networks={"items": 256 // team, "narrow_items": 256 // team}, occupancy={"invocations": 1})
    direction = DIRECTIONS[(number + team) % 2]
    for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        check(direction, data.make(kind, name, (70, 235), seed), k=10, device=device, case=kind)
    assert team_of(plans) == team


# Either kind of team has networks of its own: the smallest, the largest, and in turn those between.
@pytest.mark.parametrize(
    ("k", "invocations"),
    [(2, 1), (2, MANY), (3, 1), (4, MANY), (7, MANY), (8, 1), (15, 1), (16, MANY), (31, 1), (31, MANY)],
)
def test_every_size_of_network(forced, k, invocations):
    device, plans = forced(select_networks={"items": 128}, occupancy={"invocations": invocations})
    # Rows of 101 to 103 items differ in where they begin within a load.
    for n in (k + 1, (33, 100)[k % 2], 101 + k % 3):
        if n > k:
            for kind in ("random", "sorted", "few_distinct", "nan_payloads"):
                check("top_k-largest", data.make(kind, "float32", (67, n), n), k=k, device=device, case=kind)
    assert team_of(plans) == (1 if invocations == 1 else 4)


@pytest.mark.parametrize(("shape", "invocations"), data.paired([(100, 10), (128, 2), (1000, 5), (4096, 7), (4093, 31)], (1, MANY)))
def test_keys_that_agree_in_all_that_words_hold(forced, shape, invocations):
    """Numbers that differ in their last bits beside all magnitudes: no word tells them apart."""
    n, k = shape
    device, plans = forced(select_networks={"items": 128}, occupancy={"invocations": invocations})
    rng = np.random.default_rng(n)
    rows = 41
    direction, sign = (DIRECTIONS[0], 1) if (n + (invocations > 1)) % 2 else (DIRECTIONS[1], -1)
    for spread, others in ((1, 0.0), (3, 0.2), (40, 0.5), (3000, 0.9), (200, 0.99)):
        x = near(spread, (rows, n), spread)
        # Most of what comes before the k-th of a row is alike, in every fourth row all.
        mask = rng.random((rows, n)) < others
        mask[::4] = False
        x[mask] = -np.abs(rng.standard_normal(int(mask.sum()))).astype(np.float32)
        x[:, rng.integers(n)] = -100.0
        x[1::4, rng.integers(n)] = 100.0
        check(direction, sign * x, k=k, device=device, case=(spread, others))
    for step in (np.float32(0.1), np.float32(1 / 3)):
        check(direction, rng.integers(-9, 9, (rows, n)).astype(np.float32) * step, k=k, device=device, case=step)
    assert plans[-1].dispatches[0].kernel == "select/networks"


def test_words_that_are_all_ones(forced):
    """The last key of all, in the last place."""
    device, _ = forced()
    for number, n in enumerate((63, 64, 127, 128, 255, 256)):
        direction = (number + number // 2) % 2
        for turn, x in enumerate((np.zeros((5, n), np.uint32), np.zeros((5, n), np.uint8), np.full((5, n), 255, np.uint8))):
            x[1::2, ::7] ^= 1
            check(DIRECTIONS[(direction + (turn > 0)) % 2], x, k=7, device=device)


def test_rows_that_start_amid_a_load(forced):
    device, plans = forced()
    for offset in (1, 2, 3):
        for kind in ("few_distinct", "random"):
            # The buffer ends with a whole load.
            tensor, x = strided_tensor(device, kind, "float32", (70, 105 - offset), (107, 1), offset)
            check("top_k-largest", x, given=tensor, k=9, device=device, case=offset)
            tensor, x = strided_tensor(device, kind, "float16", (70, 101), (105, 1), offset)
            check("top_k-largest", x, given=tensor, k=9, device=device, case=offset)
    tensor, x = strided_tensor(device, "few_distinct", "float32", (70, 101), (203, 2), 1)
    check("top_k-smallest", x, given=tensor, k=9, device=device)
    first = numbers_of(plans[0].dispatches[0])
    assert first["SKEWED"] == 1 and first["PER_LOAD"] == 4


def test_down_columns_and_several_axes(forced):
    device, plans = forced()
    for kind in ("random", "sorted", "constant", "eight_values", "nan_payloads"):
        check("top_k-largest", data.make(kind, "float32", (100, 67), 1), axis=0, k=10, device=device, case=kind)
        check("top_k-largest", data.make(kind, "float32", (5, 40, 7), 1), axis=1, k=10, device=device, case=kind)
    assert plans[-1].dispatches[0].kernel == "select/networks"


def test_what_it_does_not_take_is_said(forced):
    device, _ = forced()
    for n, k, name in ((100, 32, "float32"), (5000, 5, "float32"), (10, 10, "float32"), (100, 5, "int64")):
        with pytest.raises(ValueError, match="networks takes"):
            wgdml.top_k(np.zeros((3, n), name), k, device=device)
