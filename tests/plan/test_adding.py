"""An algorithm added from outside, as CONTRIBUTING says: class, kernel, rule; then taken away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import oracle
import pytest

import wgdml
from wgdml import shaders
from wgdml.plan import ALGORITHMS, GPU_RULES, Algorithm, Machine, Planner, Rule, Unserved, register, unregister
from wgdml.plan.machine import ceil_div


class ToySelectionSort(Algorithm):
    """Takes the least item that is left, k times."""

    name = "toy_selection_sort"
    summary = "the least of what is left, k times; k reads"

    def check(self, problem):
        if problem.k > 64:
            raise Unserved(f"toy_selection_sort takes k up to 64, not k={problem.k}")

    def build(self, program, problem, sink):
        program.dispatch(
            "toy/selection_sort",
            ceil_div(problem.sequences, self.machine.workgroup),
            source=problem.source,
            sink=sink,
            params={"k": problem.k},
        )


@pytest.fixture
def toy():
    folder = Path(__file__).parent / "kernels"
    shaders.add_folder(folder)
    register(ToySelectionSort)
    yield ToySelectionSort.name
    unregister(ToySelectionSort.name)
    shaders.remove_folder(folder)


def planner(machine: Machine) -> Planner:
    return Planner(machine, rules=(Rule("toy_selection_sort", lambda p, a: p.k > 1, "k > 1", "to be tried"), *GPU_RULES))


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "uint8"])
@pytest.mark.parametrize(("shape", "axis", "k"), [((5, 33), 1, 9), ((40, 7), 0, 3), ((3, 20, 4), 1, 20), ((2, 300), 1, 65)])
def test_an_algorithm_from_outside_answers_as_the_others(toy, dtype, shape, axis, k):
    with wgdml.Device(planner=planner) as device:
        x = np.random.default_rng(0).integers(0, 9, shape).astype(dtype)
        for largest in (True, False):
            values, indices = wgdml.top_k(x, k, axis=axis, mode="largest" if largest else "smallest", device=device)
            want_values, want_indices = oracle.top_k(x, k, axis, largest)
            oracle.assert_same(values, want_values)
            assert np.array_equal(indices, want_indices)
        plan = device.planner.plan(last_selection(x, axis, k))
        # It refuses k over 64; then the next rule that holds is taken.
        assert (plan.algorithms[0] == toy) == (k <= 64)


def last_selection(x: np.ndarray, axis: int, k: int):
    from variants import selection

    from wgdml.selection import Order

    return selection(x.dtype.name, x.shape, (axis,), k, Order.DESCENDING, "both")


def test_it_is_gone_afterwards():
    assert "toy_selection_sort" not in ALGORITHMS
    with pytest.raises(shaders.ShaderError, match="no WGSL file"):
        shaders.source("toy/none")


def test_a_name_is_taken_once(toy):
    with pytest.raises(ValueError, match="toy_selection_sort"):
        register(ToySelectionSort)


def test_names_that_a_kernel_lacks_are_errors(toy):
    class Misspelt(ToySelectionSort):
        def build(self, program, problem, sink):
            program.dispatch("toy/selection_sort", 1, source=problem.source, sink=sink, **self.wrong)

    selection = last_selection(np.zeros((2, 9), np.float32), 1, 3)
    for wrong, what in (
        ({"params": {"subsets": 3}}, "subsets"),
        ({"constants": {"TEAM": 3}}, "TEAM"),
        ({"bind": {"histogram": None}}, "histogram"),
    ):
        Misspelt.wrong = wrong
        made = planner(Machine())
        made.algorithms[toy].__class__ = Misspelt
        with pytest.raises(shaders.ShaderError, match=what):
            made.plan(selection)
