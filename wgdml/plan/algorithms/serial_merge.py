"""The first k of short sequences on software adapters: runs in order in registers, and merges."""

from __future__ import annotations

from ..machine import ceil_div
from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Outputs, Pairs, Region, Sink, Source
from .base import Algorithm
from .parts import network
from .serial_subsets import dispatch_invocations, words_of

#: Items that an invocation sorts: of elements, and of lists of pairs, which are shorter. Twice as
#: many take twice as long to compile.
_ELEMENTS, _PAIRS = 64, 32
_BATCH = 8  # of them that a turn of a loop loads, sorts and puts
_WAYS = 16  # lists that an invocation merges
_MOST_K = 60_000  # lavapipe ends an invocation's loops after 65,535 turns in all


def _lists(items: int, run: int, k: int) -> tuple[int, int]:
    """Runs of so many items, and places of the list of each. The last place has nothing."""
    return ceil_div(items, run), min(run, ceil_div(k, _BATCH) * _BATCH) + 1


class SerialMerge(Algorithm):
    """A load or a store takes as long as tens of comparisons in registers, so there are few.

    An invocation sorts a run, and one merges sixteen lists: a load and a store an item each. No
    barrier, and the same work whatever the data are
    (benchmarks/LOG.md#runs-and-merges-on-software-adapters-2026-11-29-258952a).
    """

    name = "serial_merge"
    summary = "runs in order in registers, and merges of sixteen lists until one is left; one read"
    takes_counts = True

    def check(self, problem: Problem) -> None:
        self.check_first(problem)
        self._check_lists(problem, *self._cut(problem.source, problem.k)[1:])

    def check_pairs(self, problem: Problem, length: int) -> None:
        """``Unserved`` where lists of so many pairs of each sequence are not put in order."""
        self._check_lists(problem, *_lists(length, _PAIRS, problem.k))

    def _check_lists(self, problem: Problem, runs: int, places: int) -> None:
        if problem.k > _MOST_K:
            raise Unserved(f"serial_merge takes k up to {_MOST_K}, not k={problem.k}")
        if 4 * problem.sequences * runs * places * self._words(problem) > self.machine.max_storage_buffer_binding_size:
            raise Unserved(f"serial_merge takes lists that fit a binding, not {runs} of {problem.sequences} sequences")

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        self.check(problem)
        sequences, k = problem.sequences, problem.k
        if isinstance(sink, Outputs) and problem.format.bytes < 4:
            # Several invocations would share a word of narrow values.
            ordered = program.pairs(sequences, k)
            self.build(program, problem, ordered)
            program.emit(ordered, sequences, k, [sink], k)
            return
        lists, runs, places = self._sort_runs(program, problem)
        while runs > _WAYS:
            groups, kept = ceil_div(runs, _WAYS), min(k, (places - 1) * _WAYS)
            merged = program.words(sequences * groups * (kept + 1) * self._words(problem))
            self._merge(program, sequences, runs, places, kept, {"lists": lists, "merged": merged})
            lists, runs, places = merged, groups, kept + 1
        self._merge(program, sequences, runs, places, k, {"lists": lists}, sink)

    def _sort_runs(self, program: Program, problem: Problem) -> tuple[Region, int, int]:
        """The lists of all runs, how many each sequence has, and the places of each."""
        source, sequences = problem.source, problem.sequences
        by_words = words_of(source)
        run, runs, places = self._cut(source, problem.k)
        lists = program.words(sequences * runs * places * self._words(problem))
        dispatch_invocations(
            program,
            "serial/runs",
            sequences * runs,
            source=source,
            bind={"lists": lists},
            constants=by_words
            | network(_BATCH)
            | {"LOADS": _BATCH // by_words["PER_LOAD"]}
            | {"RUN": run, "RUN_BITS": run.bit_length() - 1, "RUN_HALF": run // 2},
            params={"k": problem.k, "least": problem.k, "runs": runs, "places": places},
            workgroup=16,
        )
        return lists, runs, places

    def _merge(
        self,
        program: Program,
        sequences: int,
        runs: int,
        places: int,
        kept: int,
        bind: dict[str, Region],
        sink: Sink | None = None,
    ) -> None:
        groups = ceil_div(runs, _WAYS)
        dispatch_invocations(
            program,
            "serial/merge",
            sequences * groups,
            sink=sink,
            bind=bind,
            constants={"WAYS": _WAYS, "WAY_BITS": _WAYS.bit_length() - 1, "LAST": int(sink is not None)},
            params={"runs": runs, "places": places, "kept": kept, "merges": groups},
            workgroup=16,
        )

    @staticmethod
    def _cut(source: Source, k: int) -> tuple[int, int, int]:
        """Items of a run, runs of a sequence, and places of a list. A row may begin amid a load."""
        run = _PAIRS if isinstance(source, Pairs) else _ELEMENTS
        return run, *_lists(source.length + words_of(source)["PER_LOAD"] - 1, run, k)

    @staticmethod
    def _words(problem: Problem) -> int:
        """Words of a pair of a list; three are padded to four."""
        return 1 if problem.packed else 2 * problem.key_words
