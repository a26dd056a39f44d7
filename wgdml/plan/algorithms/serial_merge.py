"""The first k of short sequences on software adapters: runs in order in registers, and merges."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from ..machine import ceil_div
from ..problem import Problem
from ..program import Program
from ..regions import Outputs, Region, Sink
from .base import Algorithm
from .parts import network
from .serial_subsets import dispatch_invocations, words_of

#: Items that an invocation sorts: elements, and pairs, whose lists are shorter, or elements of 64
#: bits, which take more registers. Twice as many take twice as long to compile.
_ELEMENTS, _PAIRS = 64, 32
_BATCH = 8  # of them that a turn of a loop loads, sorts and puts
_WAYS = 16  # lists that an invocation merges
_MOST_K = 60_000  # lavapipe ends an invocation's loops after 65,535 turns in all


class _Lists(NamedTuple):
    """The lists of each sequence, and of how many one is made next."""

    number: int
    places: int  # Of each. The last place has nothing.
    ways: int


def _levels(items: int, run: int, k: int) -> list[_Lists]:
    """The lists of runs of so many items, and those that come of them, until one would be left."""
    count, places, levels = ceil_div(items, run), min(run, ceil_div(k, _BATCH) * _BATCH) + 1, []
    while True:
        groups = ceil_div(count, _WAYS)
        levels.append(_Lists(count, places, ceil_div(count, groups)))
        if groups == 1:
            return levels
        count, places = groups, min(k, (places - 1) * levels[-1].ways) + 1


class SerialMerge(Algorithm[None]):
    """A load or a store takes as long as tens of comparisons in registers, so there are few.

    An invocation sorts a run, and one merges sixteen lists: a load and a store an item each. No
    barrier, and the same work whatever the data are
    (benchmarks/LOG.md#runs-and-merges-on-software-adapters-2026-11-29-258952a).
    """

    name = "serial_merge"
    summary = "runs in order in registers, and merges of sixteen lists until one is left; one read"
    takes_counts = True

    def check(self, problem: Problem) -> list[_Lists]:
        self.check_first(problem)
        source, run = problem.source, self._run(problem)
        # A row may begin amid a load.
        return self.check_lists(problem, source.length + words_of(source)["PER_LOAD"] - 1, run)

    def check_lists(self, problem: Problem, items: int, run: int = _PAIRS) -> list[_Lists]:
        """``Unserved`` where lists of so many items, or pairs, a sequence are not put in order."""
        self.require(problem.k <= _MOST_K, f"takes k up to {_MOST_K}, not k={problem.k}")
        levels = _levels(items, run, problem.k)
        places = max(lists.number * lists.places for lists in levels)
        fits = 4 * problem.sequences * places * self._words(problem) <= self.machine.max_storage_buffer_binding_size
        self.require(fits, f"takes lists that fit a binding, not {places} places of {problem.sequences} sequences")
        return levels

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        levels, sequences, k = self.check(problem), problem.sequences, problem.k
        if isinstance(sink, Outputs) and (problem.format.bytes < 4 or len(program.selection.axes) > 1):
            # Invocations would share a word of narrow values. Several axes are a loop for each.
            ordered = program.pairs(sequences, k)
            self.build(program, problem, ordered)
            program.emit(ordered, sequences, k, [sink], k)
            return
        regions = [program.words(sequences * lists.number * lists.places * self._words(problem)) for lists in levels]
        self._sort_runs(program, problem, levels[0], regions[0])
        for level, (before, after) in enumerate(pairwise(levels)):
            bind = {"lists": regions[level], "merged": regions[level + 1]}
            self._merge(program, sequences, before, after.number, after.places - 1, bind)
        self._merge(program, sequences, levels[-1], 1, k, {"lists": regions[-1]}, sink)

    def _sort_runs(self, program: Program, problem: Problem, lists: _Lists, region: Region) -> None:
        source, sequences, run = problem.source, problem.sequences, self._run(problem)
        by_words = words_of(source)
        dispatch_invocations(
            program,
            "serial/runs",
            sequences * lists.number,
            source=source,
            bind={"lists": region},
            constants=by_words
            | network(_BATCH)
            | {"LOADS": _BATCH // by_words["PER_LOAD"]}
            | {"RUN": run, "RUN_BITS": run.bit_length() - 1, "RUN_HALF": run // 2},
            params={"k": problem.k, "least": problem.k, "runs": lists.number, "places": lists.places},
        )

    def _merge(
        self,
        program: Program,
        sequences: int,
        lists: _Lists,
        merges: int,
        kept: int,
        bind: dict[str, Region],
        sink: Sink | None = None,
    ) -> None:
        dispatch_invocations(
            program,
            "serial/merge",
            sequences * merges,
            sink=sink,
            bind=bind,
            constants={"WAYS": _WAYS, "WAY_BITS": _WAYS.bit_length() - 1, "LAST": int(sink is not None)},
            params={"runs": lists.number, "places": lists.places, "ways": lists.ways, "merges": merges, "kept": kept},
        )

    @staticmethod
    def _run(problem: Problem) -> int:
        return _PAIRS if problem.pairs or problem.key_words > 1 else _ELEMENTS

    @staticmethod
    def _words(problem: Problem) -> int:
        """Words of a pair of a list; three are padded to four."""
        return 1 if problem.packed else 2 * problem.key_words
