"""Kernels that use subgroups are right on subgroups of any size and members, by emulation.

The default run has a few shapes of each kernel on each emulation; ``WGDML_EDGES=all`` has every
edge of every algorithm that uses them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import data
import numpy as np
import oracle
import pytest
from emulation import EMULATIONS, Emulation
from planning import KEPT, Planned, answer, planner
from test_every_algorithm import chosen, kinds_of, served

import wgdml
from wgdml import shaders
from wgdml.plan import Machine

#: Algorithms with kernels that have a way for subgroups.
ALGORITHMS = ("reduce", "select_bisect", "row_sort_bitonic", "radix_sort")
_MEMORY = 24 << 10  # what emulations leave of the workgroup memory of an adapter that has 32 KiB


def emulated(base: wgdml.Device, algorithm: str, **numbers: Any) -> tuple[wgdml.Device, Planned]:
    """A device that plans as a GPU with subgroups would, with kernels of its own."""

    def make(own: Machine) -> Planned:
        memory = min(_MEMORY, own.max_compute_workgroup_storage_size // 2)
        machine = replace(own, kind="discrete", subgroups=True, max_compute_workgroup_storage_size=memory)
        return Planned(planner(machine, numbers), algorithm)

    device = wgdml.Device(base.gpu_device, planner=make, kept=KEPT)
    assert isinstance(device.planner, Planned)
    return device, device.planner


@pytest.fixture(params=data.in_turn(EMULATIONS, 1, 3), ids=str)
def emulation(request, monkeypatch) -> Emulation:
    """In the place of the built-ins of every kernel that is compiled."""
    assemble, found = shaders.assemble, request.param
    monkeypatch.setattr(shaders, "assemble", lambda name, constants: found.apply(assemble(name, constants)))
    return found


def kernels_with(planned: Planned) -> set[str]:
    """The kernels of all plans whose texts have emulated built-ins."""
    every = [dispatch for plan in planned.plans for dispatch in plan.dispatches]
    return {d.kernel for d in every if "emulated_" in shaders.assemble(d.kernel, dict(d.constants))}


def check(device: wgdml.Device, element: str, shape: tuple[int, int], k: int) -> None:
    for kind in ("random", "few_distinct", "constant"):
        x = data.make(kind, element, shape, 1)
        values, indices = wgdml.top_k(x, k, device=device)
        want_values, want_indices = oracle.top_k(x, k, 1)
        oracle.assert_same(values, want_values, (kind, element, shape, k))
        assert np.array_equal(indices, want_indices), (kind, element, shape, k)


@pytest.mark.parametrize(
    ("algorithm", "kernel", "problems"),
    [
        ("reduce", "reduce/rows", [("float32", (3, 9001), 1), ("int64", (5, 4001), 1)]),
        ("select_bisect", "select/bisect", [("float32", (5, 301), 33), ("int64", (4, 203), 9)]),
        (
            "row_sort_bitonic",
            "row_sort/bitonic",
            [("float32", (3, 150), 150), ("uint8", (2, 600), 600), ("int64", (3, 70), 70)],
        ),
        ("radix_sort", "radix_sort/scatter_subgroups", [("uint8", (2, 700), 700)]),
    ],
)
def test_a_kernel_on_every_subgroup(device, emulation, algorithm, kernel, problems):
    """Each emulation compiles everything anew, so it takes one of the problems, in turn."""
    own, planned = emulated(device, algorithm)
    turn = EMULATIONS.index(emulation) // 3
    for element, shape, k in problems if data.EVERYTHING else [problems[turn % len(problems)]]:
        check(own, element, shape, k)
    assert kernels_with(planned) == {kernel}


def test_the_last_block_on_every_subgroup(device, emulation):
    own, planned = emulated(device, "reduce", reduce={"held_workgroup": 128}, occupancy={"loads_each": 4})
    check(own, "float32", (2, 30_011), 1)
    assert kernels_with(planned) == {"reduce/last_block"}


def test_bisected_ranks_on_every_subgroup(device, emulation):
    """Of short rows many teams share a workgroup; of long ones one is several subgroups."""
    own, planned = emulated(device, "select_ranks")
    turn = EMULATIONS.index(emulation) // 3
    rows = [("float32", 100), ("uint8", 700), ("float32", 3000), ("int64", 500)]
    for element, n in rows if data.EVERYTHING else [rows[turn % len(rows)]]:
        for kind in ("random", "few_distinct"):
            x = data.make(kind, element, (5, n), 1)
            values, indices = wgdml.kth_value(x, n // 2, device=own)
            want = oracle.argsort(x)[:, [n // 2 - 1]]
            oracle.assert_same(indices, want[:, 0])
            oracle.assert_same(values, oracle.take(x, want, 1)[:, 0])
    assert kernels_with(planned) == {"ranks/bisect"}


if data.EVERYTHING:

    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_every_edge_on_every_subgroup(device, emulation, algorithm):
        own, planned = emulated(device, algorithm)
        for number, one in enumerate(chosen(served(algorithm, planned.planner), 0)):
            case = one.case
            for kind in kinds_of(number, case):
                storage = case.storage(kind, number)
                values, indices = answer(own, case.selection(), storage, case.result, case.index_dtype)
                want_values, want_indices = case.expected(storage)
                if case.values:
                    oracle.assert_same(values, want_values, (kind, case))
                if case.indices:
                    oracle.assert_same(indices, want_indices.astype(case.index_dtype), (kind, case))


def test_every_algorithm_that_uses_them_is_here():
    kernels = {
        name for name in shaders.names() if any(word.startswith("subgroup") and word[8:9].isupper() for word in shaders.words(name))
    }
    assert kernels == {
        "reduce/rows",
        "reduce/last_block",
        "select/bisect",
        "ranks/bisect",
        "row_sort/bitonic",
        "radix_sort/scatter_subgroups",
    }
