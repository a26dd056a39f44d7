"""A planner: the algorithms with one machine's numbers, and the way from a selection to a plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from ..selection import Selection
from .algorithms import ALGORITHMS, Algorithm
from .algorithms.base import Step
from .algorithms.between_ranks import BetweenRanks
from .algorithms.columns import Columns
from .algorithms.radix_sort import radix_sort_of
from .algorithms.select_from_delegates import SelectFromDelegates
from .choose import GPU_RULES, SOFTWARE_RULES, Rule, choose
from .cut import Pieces, outputs_of, parts_of, pieces_of, slices, views_of
from .machine import Machine
from .policy import OccupancyPolicy, Profile
from .problem import Problem
from .profiles import profile_of
from .program import Plan, Program
from .regions import MEETING_BYTES, Outputs, Pairs, Source, TooLargeError, View

#: Appends the dispatches for a part of a selection.
_Build = Callable[[Program, Selection, Pieces], None]


class Planner:
    """Plans selections for one machine.

    ``profile``: the policies that differ from their defaults. ``rules``: the table that chooses.
    Both are the machine's own where they are None.
    """

    def __init__(self, machine: Machine, profile: Profile | None = None, rules: tuple[Rule, ...] | None = None) -> None:
        self.machine = machine
        self.rules = (SOFTWARE_RULES if machine.software else GPU_RULES) if rules is None else rules
        policies: dict[str, Any] = {"occupancy": OccupancyPolicy()}
        steps: list[type[Step[Any]]] = [Columns, SelectFromDelegates, BetweenRanks, *ALGORITHMS.values()]
        policies |= {step.name: step.Policy() for step in steps if step.Policy is not None}
        policies |= profile_of(machine) if profile is None else profile
        #: Every policy that is in use, by the name of what it belongs to.
        self.policies: Profile = policies
        #: Kernels that the device's driver does not compile: plans do without them.
        self.rejected: set[str] = set()
        self.algorithms: Mapping[str, Algorithm[Any]] = {name: kind(machine, policies) for name, kind in ALGORITHMS.items()}

    def choose(self, problem: Problem, without: Collection[str] = ()) -> Algorithm[Any]:
        return choose(problem, self.rules, self.algorithms, without)

    def plan(self, selection: Selection, *, algorithm: str | None = None, vectors: bool = True, shared_input: bool = False) -> Plan:
        """Plans a selection.

        ``vectors``: may the input be bound as 16-byte vectors (does its buffer end with one)?
        ``shared_input``: does an output lie in the input's buffer, so that all is bound writable?
        ``algorithm`` forces the first choice.

        Raises ``Unserved``, a ``ValueError``, where the forced algorithm cannot serve. ``Rejected``
        is one: what serves needs a kernel of ``rejected``. Raises ``ValueError`` for a name that no
        algorithm has, and ``MemoryError`` where the scratch would exceed the largest buffer.
        """
        if algorithm is not None and algorithm not in self.algorithms:
            raise ValueError(f"algorithm must be one of {', '.join(self.algorithms)}, not {algorithm!r}")
        forced = None if algorithm is None else self.algorithms[algorithm]
        return self.compose(selection, partial(self._build, forced), vectors=vectors, shared_input=shared_input)

    def compose(self, selection: Selection, build: _Build, *, vectors: bool = False, shared_input: bool = False) -> Plan:
        """The plan of what ``build`` appends for each part: of the batch, as fits bindings.

        ``MemoryError`` where the scratch for one sequence would exceed the largest buffer.
        """
        program = Program(selection, self.machine, self.choose, self.rejected, vectors=vectors, shared_input=shared_input)
        pieces = pieces_of(selection, self.machine)
        parts = list(parts_of(selection, pieces))[::-1]
        while parts:
            part = parts.pop()
            program.arena.used = MEETING_BYTES
            program.sequences = part.sequences
            built = len(program.dispatches), len(program.algorithms)
            try:
                build(program, part, pieces)
            except TooLargeError as error:
                del program.dispatches[built[0] :], program.algorithms[built[1] :]
                if part.sequences == 1:
                    raise MemoryError(
                        f"selecting k={part.k} of {part.length} elements needs {error} bytes of scratch, over the adapter's "
                        f"largest buffer of {self.machine.max_buffer_size} bytes or binding of "
                        f"{self.machine.max_storage_buffer_binding_size} bytes"
                    ) from None
                parts += slices(part, 2)[::-1]
        return Plan(tuple(program.dispatches), program.arena.peak, tuple(program.algorithms))

    def _build(self, forced: Algorithm[Any] | None, program: Program, part: Selection, pieces: Pieces) -> None:
        """The dispatches for a part whose outputs fit bindings but for their ranks."""
        views = views_of(part, pieces, program.vectors)
        sequences, k = part.sequences, part.k
        program.enter(part)
        if len(views) == 1 and pieces.ranks == k:
            program.run(views[0], sequences, k, Outputs(views[0]), forced)
            return
        if sequences == 1 and sum(min(k, view.length) for view in views) > program.pairs_a_binding():
            ordered = self._sorted(program, part, views)  # they are too many to merge
        else:
            # The first k of the whole are among the first k of each view.
            merged: Source = views[0]
            if len(views) > 1:
                merged, forced = program.firsts(views, sequences, k, forced), None
            if not part.has_values and pieces.ranks == k:
                program.run(merged, sequences, k, Outputs(View.whole(part, program.vectors)), forced)
                return
            ordered = program.pairs(sequences, k)
            program.run(merged, sequences, k, ordered, forced)
        program.emit(ordered, sequences, k, outputs_of(part, views), pieces.ranks)

    def _sorted(self, program: Program, part: Selection, views: list[View]) -> Pairs:
        """All pairs of a single sequence in order."""
        if part.starts is not None and len(views) > 1:
            raise MemoryError(f"with starts, sorting takes sequences that fit a binding, not of {part.length} items")
        length = sum(view.length for view in views)
        ordered = program.pairs(1, length, windows=True)
        everything = radix_sort_of(self.machine, self.policies)
        program.algorithms.append(everything.name)
        everything.sort(program, views, 1, length, ordered)
        return ordered
