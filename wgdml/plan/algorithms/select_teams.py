"""Delegates, threshold, survivors and order in a workgroup, for small k. One read and a little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..machine import Machine, ceil_div, power_of_two_above, power_of_two_below
from ..policy import number
from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Sink, View
from .base import Algorithm
from .parts import pair_bytes, workgroup_with

_BESTS_A_RANK = 2  # groups of delegates for each of the k
_FEWEST_BESTS = 32
_MOST_LISTED = 4096  # places of all lists of a workgroup
_UNROLL = 4  # loads under way at once
_COLUMN_UNROLL = 8  # down columns


@dataclass(frozen=True)
class SelectTeamsPolicy:
    """Teams with a sequence or a part of one each; the threshold and the order by counting."""

    #: This many columns share a workgroup where all are under way at once, so that loads coalesce.
    #: 1 to 64 (benchmarks/LOG.md#columns-side-by-side-in-a-workgroup-2026-11-22-f0f71f6).
    columns: int = number(8, 1, 64, powers=True)
    #: They do so for k up to this (the same figures).
    columns_k: int = number(16, 1, 256)
    #: They do so for up to this many loads of an invocation (the same figures).
    columns_loads: int = number(64, 1, 1 << 16)


def largest_team(machine: Machine, key_words: int) -> int:
    """The most invocations of a sequence, with a delegate, a survivor and two words each."""
    return workgroup_with(machine, 2 * pair_bytes(key_words) + 8, 512)


def bests_of(k: int, largest: int) -> int:
    """Groups of a team's delegates, among whose bests the threshold is looked for."""
    return min(largest, max(_FEWEST_BESTS, power_of_two_above(_BESTS_A_RANK * k)))


def places_of(machine: Machine, problem: Problem, team: int, workgroup: int, own: int) -> int:
    """Survivors that a team's list has room for: in sorted data the items of k loads.

    A workgroup's lists come in two sizes.
    """
    source, k, pair = problem.source, problem.k, pair_bytes(problem.key_words)
    items = min(4, source.per_load)
    teams = workgroup // team
    listed = min(2 * workgroup * items, _MOST_LISTED)
    if max(2 * k, 4 * k * items) * teams <= 2 * workgroup:
        listed = min(2 * workgroup, _MOST_LISTED // 4)
    invocations = workgroup * (pair + 4 + 4 * own) + workgroup // 32 * (pair + 12)
    room = machine.max_compute_workgroup_storage_size - 128 - invocations
    while listed * pair > room and listed // teams > k:
        listed //= 2
    # A list with little room beyond k is trimmed for nearly every candidate. Lavapipe ends an
    # invocation's loops after 65,535 rounds in all, and then gives wrong answers.
    if listed // teams <= k + k // 16:
        raise Unserved(f"select_teams takes fewer than {k} in this adapter's workgroup memory")
    return listed // teams


class _Shape(NamedTuple):
    team: int
    bests: int  # Of groups of delegates: the threshold is looked for among them.
    parts: int
    workgroup: int
    places: int  # Survivors that a team's list has room for.
    side_by_side: bool  # Neighbouring invocations serve neighbouring sequences.


class SelectTeams(Algorithm[SelectTeamsPolicy]):
    """A team a sequence. A long one of few is cut in parts, whose first are selected from."""

    name = "select_teams"
    summary = "delegates, threshold by counting and a small sort in a workgroup; one read and a little"

    def together(self, problem: Problem) -> bool:
        """Are columns so few and short that several neighbours a workgroup read all at once?"""
        p = self.policy
        team = largest_team(self.machine, problem.key_words) // p.columns
        at_once = problem.sequences * team <= self.occupancy.invocations and problem.length <= team * p.columns_loads
        beside = problem.view.selection.batch[-1].size >= p.columns
        return at_once and beside and problem.k <= p.columns_k and problem.length >= 2 * problem.k

    def check(self, problem: Problem) -> _Shape:
        o, p, source = self.occupancy, self.policy, problem.source
        k, loads = problem.k, problem.source.usual_loads
        large = largest_team(self.machine, problem.key_words)
        self.require(k <= large, f"takes k up to {large}, not {k}")
        self.check_first(problem)
        bests = bests_of(k, large)
        each = o.loads_each if loads >= 1024 else max(1, o.loads_each // 4)
        team = max(bests, min(large, power_of_two_below(loads // each)))
        side_by_side = isinstance(source, View) and source.columns and self.together(problem)
        if side_by_side:
            team = max(bests, min(team, large // p.columns))
        if not side_by_side and team > self.machine.workgroup:
            team = large  # Each size of a workgroup is a kernel.
        parts = self._parts(problem, team, team * each) if team == large else 1
        workgroup = min(large, p.columns * team) if side_by_side else max(team, self.machine.workgroup)
        places = places_of(self.machine, problem, team, workgroup, 1)
        return _Shape(team, bests, parts, workgroup, places, side_by_side)

    def _parts(self, problem: Problem, team: int, part_loads: int) -> int:
        """Parts of a sequence, so that few sequences fill the machine."""
        most = max(1, self.occupancy.workgroups * self.machine.workgroup // 4 // (problem.sequences * team))
        loads = problem.source.usual_loads
        return max(1, min(most, loads // part_loads, loads // (4 * problem.k)))

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        shape = self.check(problem)
        k, sequences = problem.k, problem.sequences
        parts = program.pairs(sequences, shape.parts * k) if shape.parts > 1 else None
        unroll = _UNROLL
        if shape.side_by_side:
            unroll = max(1, min(_COLUMN_UNROLL, power_of_two_below(problem.source.loads // shape.team)))
        program.dispatch(
            "select/teams",
            ceil_div(sequences * shape.parts, shape.workgroup // shape.team),
            source=problem.source,
            sink=parts or sink,
            constants={
                "WORKGROUP": shape.workgroup,
                # Smaller workgroups have teams of many sizes: each way to say so is a kernel.
                "WHOLE_TEAM": int(shape.team == shape.workgroup > self.machine.workgroup),
                "SIDE_BY_SIDE": int(shape.side_by_side),
                "UNROLL": unroll,
                "LISTED": shape.places * (shape.workgroup // shape.team),
                "IN_ORDER": int(not problem.pairs),
            },
            params={"parts": shape.parts, "k": k, "team_bests": shape.bests, "team": shape.team, "places": shape.places},
        )
        if parts:
            program.run(parts, sequences, k, sink)
