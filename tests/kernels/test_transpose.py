"""Columns copied to rows: every width, layout and slice of them gives the columns' own answers."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import pytest
from checks import check, check_ragged, strided_tensor

import wgdml
from wgdml.plan.algorithms import transpose


@pytest.fixture
def forced(forced):
    """A device that copies as a GPU would."""
    return partial(forced, "transpose")


def copies(plans) -> int:
    return sum(dispatch.kernel == "util/transpose" for dispatch in plans[-1].dispatches)


@pytest.mark.parametrize("name", ["uint8", "bool", "float16", "int32", "float64"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((37, 5), 0), ((3, 64, 2), 1), ((2, 33, 7, 3), 1), ((2, 3, 31, 66), 2), ((2, 150, 301), 1)]
)
def test_every_width(forced, name, shape, axis):
    device, plans = forced()
    for seed, kind in enumerate(("random", "few_distinct")):
        check("top_k-largest", data.make(kind, name, shape, seed), k=9, axis=axis, device=device, case=kind)
    assert copies(plans) == 1


@pytest.mark.parametrize("kind", ["nan_payloads", "signed_zeros"])
def test_bits_of_values_come_from_the_copy(forced, kind):
    """NaNs and zeros share a key: their own bits are read again."""
    device, _ = forced()
    for k in (3, 40, 90):
        check("top_k-smallest", data.make(kind, "float32", (90, 12), k), k=k, axis=0, device=device)


def test_views(forced):
    """Columns of every second row, amid others, from an odd element on."""
    device, plans = forced()
    tensor, x = strided_tensor(device, "few_distinct", "float16", (3, 50, 9), (2001, 40, 1), 3)
    check("top_k-largest", x, given=tensor, k=20, axis=1, device=device)
    tensor, x = strided_tensor(device, "random", "uint8", (50, 4, 9), (400, 17, 1), 1)
    check("argsort-descending", x, given=tensor, axis=0, device=device)
    assert copies(plans) == 1


@pytest.mark.parametrize("strides", [(50, 3, 1), (1, 4, 1), (50, 0, 1)])
def test_views_that_overlap(forced, strides):
    """An item's columns reach into the next item's, or all items are one."""
    device, _ = forced(limits={"max_compute_invocations_per_workgroup": 64})
    for name in ("uint8", "float16", "int64"):
        tensor, x = strided_tensor(device, "few_distinct", name, (3, 40, 9), strides, 1)
        check("top_k-largest", x, given=tensor, k=20, axis=1, device=device, case=name)


@pytest.mark.parametrize("shape", [(4, 60, 9), (1, 60, 30), (9, 60, 3), (1, 60, 3)])
def test_slices(forced, monkeypatch, shape):
    """A large input's scratch is a quarter of it: slices along the batch's longest dimension."""
    monkeypatch.setattr(transpose, "_SLICE", 64)
    device, plans = forced()
    x = data.make("few_distinct", "int64", shape, 5)
    check("top_k-largest", x, k=20, axis=1, device=device)
    assert copies(plans) > 1
    rows = [b.size for d in plans[-1].dispatches for b in d.bindings if b.name == "rows"]
    assert sum(rows) == x.nbytes and max(rows) <= x.nbytes // 3


def turns(plans) -> int:
    return sum(dispatch.kernel == "util/turn" for dispatch in plans[-1].dispatches)


@pytest.fixture
def turned(forced, monkeypatch):
    """A device that puts results down columns by tiles, however few they are."""
    monkeypatch.setattr(transpose, "_FEWEST_RESULTS", 1)
    device, plans = forced()

    def checked(*args, **named):
        check(*args, device=device, **named)
        assert turns(plans)

    return device, checked


@pytest.mark.parametrize("name", ["uint8", "float16", "int32", "float64"])
@pytest.mark.parametrize(
    ("shape", "axis", "k"), [((66, 40), 0, 65), ((3, 65, 31), 1, 65), ((2, 97, 33), 1, 96), ((2, 2, 129, 2, 67), 2, 70)]
)
def test_results_by_tiles(turned, name, shape, axis, k):
    """Fewer and more columns and ranks than a tile, values that share words with other columns'."""
    for mode in ("largest", "smallest"):
        turned[1](f"top_k-{mode}", data.make("few_distinct", name, shape, k), k=k, axis=axis)


@pytest.mark.parametrize("kind", ["nan_payloads", "signed_zeros"])
def test_results_by_tiles_have_their_own_bits(turned, kind):
    turned[1]("top_k-smallest", data.make(kind, "float16", (90, 50), 5), k=80, axis=0)


def test_results_by_tiles_amid_others(turned):
    """Outputs with gaps between items, from odd elements on: what lies between is left alone."""
    device, _ = turned
    x = data.make("few_distinct", "uint8", (90, 37), 7)
    tensor = wgdml.asarray(x, device=device)
    held = wgdml.asarray(np.full(90 * 50 + 11, 7, np.uint8), device=device)
    index = wgdml.asarray(np.full(90 * 41 + 5, 7, np.int64), device=device)
    values = wgdml.Tensor.from_buffer(held.buffer, "uint8", (80, 37), (50, 1), 3, device=device)
    indices = wgdml.Tensor.from_buffer(index.buffer, "int64", (80, 37), (41, 1), 8 * 2, device=device)
    wgdml.top_k(tensor, 80, axis=0, out=(values, indices))
    order = np.argsort(~x, axis=0, kind="stable")[:80]
    wanted, places = held.numpy(), index.numpy()
    assert np.array_equal(indices.numpy(), order)
    assert np.array_equal(values.numpy(), np.take_along_axis(x, order, 0))
    for memory, first, step in ((wanted, 3, 50), (places, 2, 41)):
        between = np.ones(len(memory), bool)
        between[(first + step * np.arange(80)[:, None] + np.arange(37)).ravel()] = False
        assert (memory[between] == 7).all()


def test_results_by_tiles_of_spans(turned):
    """Ranks without an item have index -1."""
    x = data.make("few_distinct", "float32", (2, 100, 18), 8)
    lengths = np.random.default_rng(8).integers(0, 101, (2, 18))
    check_ragged(x, 90, lengths, turned[0], axis=1)


def test_results_by_tiles_take_no_more_scratch_than_pairs(forced):
    device, plans = forced()
    for name, pair, shape in (("uint8", 8, (1, 600, 1100)), ("float32", 8, (1, 600, 1100)), ("int64", 12, (3, 600, 400))):
        x = data.make("random", name, shape, 9)
        check("argsort-ascending", x, axis=1, device=device, case=name)
        assert turns(plans)
        assert plans[-1].scratch_size <= 1.03 * pair * x.size


def test_slices_keep_neighbours_together(turned, monkeypatch):
    monkeypatch.setattr(transpose, "_SLICE", 24 << 10)  # three slices of four tables
    turned[1]("top_k-largest", data.make("random", "int64", (4, 100, 20), 10), k=80, axis=1)


def test_more_than_a_binding(forced):
    """Pieces of the axis are copied and merged."""
    device, plans = forced(limits={"max_storage_buffer_binding_size": 1 << 16})
    x = data.make("few_distinct", "float32", (3000, 30), 6)
    check("top_k-largest", x, k=12, axis=0, device=device)
    assert copies(plans) >= 1


def test_the_rules_take_it(device):
    planner = wgdml.plan.Planner(wgdml.plan.Machine(subgroups=True))
    from wgdml.selection import Layout, Order, make_selection

    source, out = Layout((900, 40), (40, 1)), Layout((1, 40), (40, 1))
    selection = make_selection("float32", source, (0,), 80, Order.DESCENDING, values=out, indices=out)
    assert planner.plan(selection).algorithms[0] == "transpose"


def test_rows_are_refused(forced):
    device, _ = forced()
    with pytest.raises(ValueError, match="transpose takes neighbouring columns"):
        wgdml.top_k(np.zeros((2, 30), np.float32), 3, device=device)
