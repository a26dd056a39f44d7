"""What every algorithm is: a name, a policy, what it serves, and the dispatches it appends."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar, get_args

from ..machine import Machine
from ..policy import OccupancyPolicy, Profile
from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Sink, Source, View
from .parts import parts_for_loads

P = TypeVar("P")
S = TypeVar("S", bound="Step[Any]")


class Step(Generic[P]):
    """Dispatches for one machine, by the numbers of a policy.

    A class states ``name``, and in brackets the class of its numbers, or None where it has none.
    """

    name: ClassVar[str]
    Policy: ClassVar[Any] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in cls.__dict__.get("__orig_bases__", ()):
            cls.Policy = next(filter(is_dataclass, get_args(base)), None)

    def __init__(self, machine: Machine, policies: Profile) -> None:
        self.machine = machine
        self.memory = machine.max_compute_workgroup_storage_size  #: Bytes of workgroup memory.
        self.policies = policies
        self.policy: P = policies[self.name] if self.Policy else None  # type: ignore[assignment]
        self.occupancy: OccupancyPolicy = policies["occupancy"]

    def require(self, holds: bool, what: str) -> None:
        """For ``check``: raises ``Unserved``, which says what the step takes, unless that holds."""
        if not holds:
            raise Unserved(f"{self.name} {what}")

    def parts_of_rows(self, source: Source, sequences: int) -> int:
        """Ordinary workgroups that read a sequence together: with 4 loads an invocation or more."""
        return parts_for_loads(self.machine, self.occupancy, source.loads, sequences)


def uses(kind: type[S]) -> cached_property[S]:
    """Another step, on the same machine and by the same numbers."""
    return cached_property(lambda step: kind(step.machine, step.policies))


class Algorithm(Step[P]):
    """Finds the first k pairs of every sequence of a source, in order, by one or more dispatches.

    A class states ``summary`` too, one line for people.
    """

    summary: ClassVar[str]
    #: Takes spans where items without a part are nothing, not pairs after all others.
    takes_nothing: ClassVar[bool] = False
    #: Takes lists whose lengths only the device knows.
    takes_counts: ClassVar[bool] = False

    def serves(self, problem: Problem) -> str | None:
        """Why the algorithm does not serve a problem; None where it does."""
        try:
            if problem.ragged and not self.takes_nothing:
                first = problem.one_axis and not problem.last_index
                self.require(first, "takes spans along one axis, of which the first of equal items wins")
            self.require(self.takes_counts or not problem.counted, f"takes lists whose {problem.length} pairs are all there")
            self.check(problem)
        except Unserved as refusal:
            return str(refusal)
        return None

    def check(self, problem: Problem) -> Any:
        """Raises ``Unserved``, with the reason, or returns what ``build`` needs, if anything."""
        raise NotImplementedError

    def check_first(self, problem: Problem) -> None:
        """For ``check``: the first of equal items must win."""
        self.require(not problem.last_index, "takes the first of equal items, not the last")

    def check_one_axis(self, problem: Problem) -> View:
        """For ``check``: the first of equal items must win, of elements along one axis."""
        self.require(problem.view.one_axis, "takes elements along one axis")
        self.check_first(problem)
        return problem.view

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        """Appends the dispatches for a problem that is served."""
        raise NotImplementedError
