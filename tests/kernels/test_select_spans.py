"""Spans in registers and in parts: exact wherever lengths lie, whatever shares a workgroup."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import data
import numpy as np
import oracle
import pytest
from checks import packed
from planning import GPU, answer, make_plan, numbers_of, params_of
from test_select_networks import near

import wgdml
from wgdml.plan import Machine, Plan
from wgdml.selection import Layout, Order, Selection, make_selection

NAMES = ("uint8", "float16", "float32", "int32")


def segments(
    name: str, count: int, n: int, k: int, largest: bool = True, longest: int = 0, payload: str = "", offset: int = 0
) -> Selection:
    """The first k of each of so many segments of one array of n elements."""
    out, numbers = Layout((count, k), packed((count, k))), Layout((count, 1), (1, 0))
    besides = {"starts": ("int32", numbers), "lengths": ("uint32", numbers)}
    if payload:
        besides["payload"] = payload, Layout((count, n), (0, 1))
    order = Order.DESCENDING if largest else Order.ASCENDING
    made = make_selection(
        name, Layout((count, n), (0, 1)), [1], k, order, values=out, indices=out, index_bytes=4, besides=besides, longest=longest
    )
    return replace(made, input_offset=offset)


def edges(rng: np.random.Generator, count: int, n: int, k: int, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts and lengths: at the edges of k and of what is held, and past the end of the array."""
    near_k = [0, 1, k - 1, k, k + 1]
    held = [length for size in (16, 32, 64, 128, 256, 4096) for length in range(size - 4, size + 5)]
    picked = np.array([*near_k, *near_k, *held, n, 2**31 - 1])[rng.integers(0, 2 * len(near_k) + len(held) + 2, count)]
    even = rng.integers(0, min(longest, n) + 1, count)
    return rng.integers(0, n + 1, count), np.where(rng.integers(0, 2, count) > 0, picked, even)


def check(device: wgdml.Device, wanted: Selection, x: np.ndarray, starts: np.ndarray, lengths: np.ndarray, case: Any = "") -> None:
    count, n, k = wanted.sequences, wanted.length, wanted.k
    own = {"starts": starts.astype(np.int32), "lengths": lengths.astype(np.uint32)}
    storage = np.concatenate([np.zeros(wanted.input_offset, x.dtype), x, np.zeros(16, x.dtype)])
    values, indices = answer(device, wanted, storage, (count, k), **own)
    most = np.minimum(lengths, wanted.longest) if wanted.longest else lengths
    largest = wanted.order.largest_first
    want = oracle.ragged_top_k(np.broadcast_to(x, (count, n)), k, largest, starts=starts, lengths=most)
    oracle.assert_same(indices, want[1].astype(np.uint32), case)
    oracle.assert_same(values, want[0], case)


def kernels(plan: Plan) -> list[str]:
    return [d.kernel for d in plan.dispatches]


#: How long spans are held, and k: all for float32, and in turn for the others.
HELD = ((9, 8), (64, 3), (200, 8), (200, 31), (400, 2), (500, 13), (1000, 20))


@pytest.mark.parametrize(
    ("number", "name", "longest", "k"),
    [
        (number, name, *held)
        for number, name in enumerate(NAMES)
        for turn, held in enumerate(HELD)
        if name == "float32" or turn % 4 == number
    ],
)
def test_short_spans(forced, number, name, longest, k):
    """Several sequences share a workgroup, or one has it."""
    for workgroups in (1, 2112):
        device, plans = forced("select_spans", occupancy={"workgroups": workgroups})
        rng = np.random.default_rng(number)
        for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])[:: 1 + workgroups // 1000]):
            x = data.make(kind, name, 5003, seed)
            wanted = segments(name, 150, x.size, k, (number + k) % 2 == 0, longest, offset=seed % 4)
            check(device, wanted, x, *edges(rng, 150, x.size, k, longest), (kind, workgroups))
        assert kernels(plans[-1]) == ["util/spans", "select/spans"]
        assert params_of(plans[-1].dispatches[-1])["neighbours"] == (32 if workgroups == 1 else 1)


@pytest.mark.parametrize(("longest", "k"), [(100, 10), (1000, 5), (4000, 31)])
def test_keys_that_agree_in_all_that_words_hold(forced, longest, k):
    """Numbers that differ in their last bits beside all magnitudes: no word tells them apart."""
    device, _ = forced("select_spans", occupancy={"workgroups": 4})
    rng = np.random.default_rng(longest)
    for spread, others in ((1, 0.0), (3, 0.2), (40, 0.5), (3000, 0.9), (200, 0.99)):
        x = near(spread, (1, 9001), spread)[0]
        mask = rng.random(x.size) < others
        x[mask] = -np.abs(rng.standard_normal(int(mask.sum()))).astype(np.float32)
        x[rng.integers(0, x.size, 9)] = 100.0
        for sign, largest in ((1, True), (-1, False)):
            wanted = segments("float32", 100, x.size, k, largest, longest)
            check(device, wanted, sign * x, *edges(rng, 100, x.size, k, longest), (spread, others))


def test_the_last_key_in_the_last_place(forced):
    device, _ = forced("select_spans", occupancy={"workgroups": 1})
    for name, fill in (("uint32", 0), ("uint32", 2**32 - 1), ("uint8", 255), ("uint8", 0)):
        x = np.full(700, fill, name)
        x[::13] ^= 1
        lengths = np.arange(300)
        for largest in (False, True):
            wanted = segments(name, 300, x.size, 7, largest, 300)
            check(device, wanted, x, np.arange(300) % 50, lengths, (name, fill))


SMALL = {"select_spans": {"items": 16, "part_loads": 1}, "occupancy": {"workgroups": 3}}


@pytest.mark.parametrize(
    ("turn", "name", "k"),
    [
        (0, "float32", 2),
        (None, "float32", 8),
        (0, "float32", 31),
        (1, "float32", 100),
        (1, "uint8", 2),
        (0, "float16", 8),
        (1, "int64", 2),
        (0, "int64", 100),
    ],
)
def test_long_spans(forced, turn, name, k):
    """Few and many parts; more than there is room for, as all spans overlap."""
    ways: tuple[dict[str, Any], ...] = ({}, SMALL)
    for numbers in ways if turn is None else data.in_turn(ways, turn):
        device, plans = forced("select_spans", **numbers)
        rng = np.random.default_rng(k)
        kinds = data.kinds(oracle.DTYPES[name])
        for seed, kind in enumerate(data.in_turn(kinds, step=2 if numbers else 4)):
            x = data.make(kind, name, 30_011, seed)
            starts, lengths = edges(rng, 40, x.size, k, x.size)
            lengths[::7] = np.exp(rng.uniform(0, np.log(x.size), lengths[::7].size)).astype(int)
            starts[:9], lengths[:9] = np.arange(9), x.size
            wanted = segments(name, 40, x.size, k, seed % 2 == 0, (0, 20_000)[seed % 3 // 2], offset=seed % 4)
            check(device, wanted, x, starts, lengths, (kind, numbers))
        short = ["select/spans"] if name != "int64" and k < 32 else []
        assert kernels(plans[-1]) == ["util/spans", *short, "util/clear", "util/parts", "select/parts", "select/parts"]


def test_replayed_with_other_spans(forced):
    """One recording: none are long, all are, and spans that ask for more parts than there are."""
    device, plans = forced("select_spans", **SMALL)
    x = data.make("eight_values", "float32", 20_000)
    rng = np.random.default_rng(5)
    wanted = segments("float32", 70, x.size, 9)
    for longest in (0, 20, 20_000, 300, 20_000, 5):
        lengths = rng.integers(0, longest + 1, 70)
        starts = rng.integers(0, x.size - lengths + 1)
        check(device, wanted, x, starts, lengths, longest)
        check(device, wanted, x, starts * 0, lengths * 0 + longest, longest)
    made = params_of(plans[-1].dispatches[3])
    assert made["tiles"] < 70 * (20_000 // made["tile"])


def test_the_room_for_parts():
    """Spans that share no items have the parts that they ask for; counts fit 32 bits."""
    for count, n, longest in ((10**6, 10**8, 10**6), (1000, 87 * 10**6, 10**6), (3, 10**8, 0), (10**6, 10**9, 0)):
        plan = make_plan(segments("float32", count, n, 8, longest=longest), GPU)
        made = next(params_of(d) for d in plan.dispatches if d.kernel == "util/parts")
        most = -(-(longest or n) // made["tile"])
        assert most <= 1024 and count * most < 1 << 32
        assert made["tiles"] == count * most or made["tiles"] >= n // made["tile"] + min(count, n // made["longest"])
        assert plan.scratch_size < 2 * 4 * n


def test_workgroups_that_fit_little_memory():
    wanted = segments("float32", 10**6, 10**8, 31, longest=5000)
    for machine in (Machine(), GPU):
        (short, *_) = (d for d in make_plan(wanted, machine).dispatches if d.kernel == "select/spans")
        numbers = numbers_of(short)
        assert numbers["CLASSES"] == numbers["WORKGROUP"].bit_length()
        assert numbers["LONGEST"] == numbers["WORKGROUP"] * 4 * numbers["LOADS"] - 3


def test_folded_grids():
    machine = Machine(max_compute_workgroups_per_dimension=70)
    for longest in (40, 9000):
        plan = make_plan(segments("float32", 50_000, 10**6, 3, longest=longest), machine, algorithm="select_spans")
        assert all(1 <= count <= 70 for dispatch in plan.dispatches for count in dispatch.grid)


def test_what_it_does_not_take_is_said(forced):
    device, _ = forced("select_spans")
    x = np.zeros((3, 300), np.float32)
    for k, axis, spans in ((1, 1, {"lengths": 3}), (200, 1, {"lengths": 3}), (2, 0, {"lengths": 3}), (2, 1, {})):
        with pytest.raises(ValueError, match="select_spans takes"):
            wgdml.top_k(x, k, axis=axis, device=device, **spans)
