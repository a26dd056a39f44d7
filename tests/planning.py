"""How tests have a device plan: by one algorithm, as another machine would, by other numbers.

Answers are what tests pin. Which algorithm is chosen, and with which numbers, is the planner's
business, so this is the only file of tests that knows how the planner is asked. Algorithms go by
their names.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

import wgdml
import wgdml.plan
from wgdml import shaders
from wgdml.plan import Dispatch, Machine, Plan, Planner, adjusted
from wgdml.plan.choose import SOFTWARE_RULES
from wgdml.runtime.transfers import Span
from wgdml.selection import Selection

#: Every algorithm that is registered.
ALGORITHMS = tuple(wgdml.plan.ALGORITHMS)
#: Those that serve steps of others and never a whole selection.
STEPS = frozenset({"row_sort_rank"})
#: Those that serve spans alone.
SPANS = frozenset({"select_spans"})
#: Those that serve neighbouring columns alone.
COLUMNS = frozenset({"select_lists", "transpose"})
#: Those that software adapters choose from. The others that they take are GPUs', too.
SERIAL = frozenset(rule.algorithm for rule in SOFTWARE_RULES) - {
    "reduce",
    "row_sort_bitonic",
    "row_sort_rank",
    "select_digits",
    "select_teams",
}

#: Kernels that a device of the tests keeps.
KEPT = 128
#: Plans that it keeps. A plan keeps its kernels, also those that the device does not keep any more.
PLANS = 48

MAX_STORAGE_BUFFERS = 8  #: The least that a device may allow.

#: A large GPU.
GPU = Machine(
    max_storage_buffer_binding_size=(2 << 30) - 4,
    max_buffer_size=4 << 30,
    max_compute_invocations_per_workgroup=1024,
    max_compute_workgroup_storage_size=48 << 10,
    kind="discrete",
    subgroups=True,
)
#: Other numbers of policies: ``{"occupancy": {"workgroups": 4}}``.
Numbers = Mapping[str, Mapping[str, float]]
#: The default's numbers, whatever the profile: for tests of a mechanism that count on them.
DEFAULT: Numbers = {"occupancy": {}}


@cache
def of_profile() -> Mapping[str, float]:
    """The numbers of the file that ``WGDML_PROFILE`` names: the suite plans by them then."""
    path = os.environ.get("WGDML_PROFILE", "off")
    return {} if path == "off" else json.loads(Path(path).read_text())["numbers"]


def planner(machine: Machine, numbers: Numbers | None = None) -> Planner:
    """The machine's planner, or its default one with other numbers."""
    own = Planner(machine)
    given = {f"{policy}.{name}": number for policy, changed in (numbers or {}).items() for name, number in changed.items()}
    found = given if numbers else of_profile()
    return Planner(machine, adjusted(own.policies, found)) if found else own


def make_plan(
    selection: Selection, machine: Machine, *, algorithm: str | None = None, numbers: Numbers | None = None, **options: Any
) -> Plan:
    """The planner's plan; ``ValueError`` where the forced algorithm does not serve."""
    return planner(machine, numbers).plan(selection, algorithm=algorithm, **options)


# Devices -----------------------------------------------------------------------------------------


@dataclass
class Planned:
    """Plans as it is told, and keeps what it planned."""

    planner: Planner
    algorithm: str | None = None
    fallback: bool = False  #: the planner's own choice where the algorithm does not serve
    plans: list[Plan] = field(default_factory=list)  #: all, in order
    served: int = 0  #: how many the algorithm made

    @property
    def machine(self) -> Machine:
        return self.planner.machine

    @property
    def policies(self) -> Mapping[str, Any]:
        return self.planner.policies

    def compose(self, selection: Selection, build: Any, **options: Any) -> Plan:
        self.plans.append(self.planner.compose(selection, build, **options))
        return self.plans[-1]

    def plan(self, selection: Selection, *, algorithm: Any = None, **options: Any) -> Plan:
        try:
            made = self.planner.plan(selection, algorithm=algorithm or self.algorithm, **options)
            self.served += self.algorithm is not None
        except (ValueError, MemoryError):
            if not self.fallback:
                raise
            made = self.planner.plan(selection, **options)
        self.plans.append(made)
        return made


def planned_device(
    base: wgdml.Device,
    algorithm: str | None = None,
    software: bool | None = False,
    *,
    subgroups: bool | None = None,
    limits: Mapping[str, int] | None = None,
    fallback: bool = False,
    **numbers: Mapping[str, float],
) -> tuple[wgdml.Device, Planned]:
    """A device that plans as for a GPU, a software adapter, or what it is (None); its planner.

    It stands on the GPU device of ``base`` and uses its pipelines, so that no kernel is compiled
    for each test anew. ``subgroups=False`` plans without them. ``limits`` and ``numbers`` (by
    policy) replace some of the planner's.
    """

    def make(own: Machine) -> Planned:
        kind = own.kind if software is None else "software" if software else "discrete"
        machine = replace(own, kind=kind, subgroups=own.subgroups and subgroups is not False, **(limits or {}))
        return Planned(planner(machine, numbers), algorithm, fallback)

    device = wgdml.Device(base.gpu_device, planner=make, kept=PLANS)
    device.pipelines = base.pipelines
    planned = device.planner
    assert isinstance(planned, Planned)
    return device, planned


def answer(
    device: wgdml.Device,
    selection: Selection,
    storage: np.ndarray,
    shape: tuple[int, ...],
    index_dtype: Any = np.uint32,
    **besides: np.ndarray,
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Runs a selection from a flat array; values and indices in this shape, None if it has none.

    ``besides``: lengths, starts, counts and payload, as they lie in memory.
    """
    memories, resources, spans = [], {}, []  # memories are kept until the results return
    for name, array in {"input": storage, **besides}.items():
        memories.append(device.buffers.allocate(name, array.nbytes))
        device.transfers.write(array, memories[-1].buffer)
        resources[name] = memories[-1].buffer, 0
    for name, has, dtype in (
        ("values", selection.has_values, storage.dtype),
        ("indices", selection.has_indices, np.dtype(index_dtype)),
    ):
        if has:
            memories.append(device.buffers.allocate(name, prod(shape) * dtype.itemsize))
            resources[name] = memories[-1].buffer, 0
            spans.append(Span(memories[-1].buffer, 0, shape, dtype))
    found = iter(device.run_and_read(device.prepare(selection), resources, spans))
    return next(found) if selection.has_values else None, next(found) if selection.has_indices else None


# What plans hold ---------------------------------------------------------------------------------


def params_of(dispatch: Dispatch) -> dict[str, int]:
    """The scalars of a dispatch's parameter block."""
    names = shaders.layout()
    return dict(zip(names, struct.unpack_from(f"<{len(names)}I", dispatch.params), strict=True))


def numbers_of(dispatch: Dispatch) -> dict[str, int]:
    """Parameters, in capitals, and constants: one becomes the other from version to version."""
    return {name.upper(): value for name, value in params_of(dispatch).items()} | dict(dispatch.constants)


def meets(dispatch: Dispatch) -> bool:
    """Whether workgroups of one sequence meet in it."""
    return any(binding.name == "meeting" for binding in dispatch.bindings)


def kernels_of(plan: Plan) -> frozenset[tuple[Any, ...]]:
    """What has to be compiled for a plan: kernels, each with the constants that its text uses."""
    return frozenset((dispatch.kernel, *dispatch.constants) for dispatch in plan.dispatches)


def check_plan(plan: Plan, limits: Machine, origin: str = "") -> None:
    """A plan keeps to the limits that it is made for."""
    assert plan.scratch_size <= limits.max_buffer_size, origin
    for dispatch in plan.dispatches:
        where = f"{dispatch.kernel} ({origin})"
        slots = {binding.slot for binding in dispatch.bindings}
        assert len(slots) == len(dispatch.bindings) <= MAX_STORAGE_BUFFERS, where
        assert all(1 <= n <= limits.max_compute_workgroups_per_dimension for n in dispatch.grid), f"{where}: {dispatch.grid}"
        for binding in dispatch.bindings:
            assert binding.offset % 256 == 0 and binding.size % 4 == 0 and binding.size > 0, f"{where}: {binding}"
            assert binding.size <= limits.max_storage_buffer_binding_size, f"{where}: {binding}"
            if binding.resource == "scratch":
                assert binding.offset + binding.size <= plan.scratch_size, f"{where}: {binding}"
