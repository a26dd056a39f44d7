"""The best of each strided subset, a threshold from those, and their subsets again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Outputs, Pairs, Region, Sink
from .base import Algorithm, uses
from .columns import Columns
from .parts import KTH_BYTES, bins_of, pair_bytes, threshold_workgroup
from .select_from_delegates import SelectFromDelegates

_RANK = 16  # pairs that a workgroup ranks by counting
_UNROLL = 4  # loads under way at once; twice as many in long subsets
_EACH = (1, 4, 16)  # items that an invocation holds; each is a kernel


def _at_least(items: int) -> int:
    return next(n for n in _EACH if n >= items)


#: The largest workgroup that makes delegates has this many invocations
#: (benchmarks/LOG.md#how-many-delegates-2026-11-22-a8a8ca9).
_WORKGROUP = 1024
#: A sequence has at most this many delegates. A team looks at them in its memory
#: (benchmarks/LOG.md#second-keys-down-columns-2026-11-22-f0f71f6).
_MAX_SUBSETS = 4096
#: As many delegates as fill the machine are made, up to this many of a sequence
#: (benchmarks/LOG.md#second-keys-down-columns-2026-11-22-f0f71f6).
_FEWEST = 256
#: Each of the k has at least this many delegates. The subsets of about k are read again
#: (benchmarks/LOG.md#how-many-delegates-2026-11-22-a8a8ca9).
_PER_RANK = 128


@dataclass(frozen=True)
class DelegatesPolicy:
    """Long rows, by many workgroups together; and adjacent sequences, a team for each one's."""

    #: There are this many delegates in all: as many as invocations that read at full speed
    #: (benchmarks/LOG.md#how-many-delegates-2026-11-22-a8a8ca9).
    total: int = number(1 << 18, 1, 1 << 24)
    #: A sequence has this many delegates even if they take scratch of over 2% of the input
    #: (benchmarks/LOG.md#scratch-under-2-2026-11-22-32fcc6a).
    lean: int = number(1 << 12, 1, 1 << 24)
    #: A delegate stands for at least this many loads, so that writing it takes little time
    #: (benchmarks/LOG.md#how-many-delegates-2026-11-22-a8a8ca9).
    loads: int = number(16, 1, 1 << 12)
    #: In lists of this many survivors and more a workgroup's pairs ask for places together
    #: (benchmarks/LOG.md#places-in-a-list-2026-11-23-6923b4c).
    append_length: int = number(4096, 1, 1 << 24)
    #: Up to 16 rows are few where each has this many items for every one of them. More rows need
    #: more, in proportion to their number over 16, up to four times
    #: (benchmarks/LOG.md#rows-that-are-few-2026-11-26-7d1214f).
    few_length: int = number(1 << 15, 1 << 8, 1 << 24)
    #: Delegates of columns are this often the cube root of length and square of k. Fewer are
    #: written faster, more leave less to read again
    #: (benchmarks/LOG.md#second-keys-down-columns-2026-11-22-f0f71f6).
    reach: float = number(1.4, 0.5, 4.0)


@dataclass
class _Shape:
    """How many delegates there are, and who makes them."""

    threads: int  # Invocations that look for a threshold together, with up to 16 groups each.
    capacity: int  # Survivors that a list has room for.
    subsets: int
    workgroup: int
    workgroups: int = 1
    groups: int = 0
    classes: int = 0
    bests: int = 0


class Delegates(Algorithm[DelegatesPolicy]):
    """The best of a strided subset is its delegate; the subsets of the first are read again."""

    name = "delegates"
    summary = "the best of each strided subset of a long sequence gives a threshold; one read and a little"
    columns = uses(Columns)
    from_delegates = uses(SelectFromDelegates)

    def check(self, problem: Problem) -> None:
        if self.check_one_axis(problem).columns:
            self.from_delegates.shape_from(problem, self._subsets_of_columns(problem))
        else:
            self._shape(problem)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        if not problem.view.columns:
            self._build_rows(program, problem, sink)
            return
        subsets = self._subsets_of_columns(problem)
        delegates = program.pairs(problem.sequences, subsets)
        second_keys = program.keys(problem.sequences * subsets)
        self.columns.delegates(program, problem.view, problem.sequences, delegates, second_keys)
        self.from_delegates.build_from(program, problem, sink, delegates, second_keys)

    # -- adjacent sequences --

    def _subsets_of_columns(self, problem: Problem) -> int:
        source, k, form, p = problem.view, problem.k, problem.format, self.policy
        loads = source.loads
        # Of s subsets, some k^2 / 2 s are read again, as two of the first k lie in them. And s
        # delegates are written and read. Both together are least where s is as this cube root.
        wanted = int(p.reach * math.cbrt(loads * k * k))
        # As many as fill the machine, while a small team can look at them.
        wanted = max(wanted, min(_FEWEST, self.occupancy.invocations // 2 // self.columns.loads(source, problem.sequences)))
        # Scratch of about 2% of the input, where that leaves enough: to read much again takes long.
        lean = source.length * form.bytes // (50 * 4 * (2 * form.key_words + 1))
        subsets = min(wanted, max(lean, 8 * k))
        subsets = max(2 * k, min(subsets, loads // self.columns.policy.unroll))
        step = max(8, power_of_two_below(subsets) // 4)
        most = min(_MAX_SUBSETS, power_of_two_below(self.memory // (2 * pair_bytes(form.key_words))))
        subsets = min(max(step, subsets // step * step), most, loads)
        self.require(subsets >= k, f"takes k up to {subsets} of {loads} positions here, not k={k}")
        return subsets

    # -- rows --

    def _shape(self, problem: Problem) -> _Shape:
        """How many delegates, and in which groups.

        With g groups about g ln(g / (g - k)) pairs precede the k-th of the groups' bests. That is
        few more than k where g is large.
        """
        p, source, form = self.policy, problem.view, problem.format
        k, sequences, loads = problem.k, problem.sequences, problem.view.loads
        most = threshold_workgroup(self.machine, form.key_words)
        threads = min(most, max(512, power_of_two_above(k) // 2))
        # In sorted data the k loads with the first delegates all lie before the threshold.
        capacity = min(max(2 * threads, power_of_two_above(max(2, source.per_load) * k)), 16 * threads)
        # Scratch of about 2% of the input, where that leaves enough of them to fill the machine.
        lean = max(p.lean, source.length * form.bytes // (50 * 4 * (form.key_words + 1)) - capacity)
        subsets = max(p.total // sequences, _PER_RANK * k)
        subsets = power_of_two_below(max(1, min(subsets, loads // p.loads, lean)))
        subsets = min(max(subsets, power_of_two_above(4 * k)), power_of_two_below(loads))
        # Few delegates are spread over the machine in small workgroups.
        total = sequences * subsets
        workgroup = 64 if total <= 1 << 14 else 256 if total <= 1 << 16 else _WORKGROUP
        shape = _Shape(threads, capacity, subsets, min(workgroup, self.machine.widest_workgroup, subsets))
        self._classes(shape, k)
        largest = min(shape.groups, capacity) // 2
        self.require(k <= largest, f"takes k up to {largest} of {loads} loads here, not k={k}")
        return shape

    @staticmethod
    def _classes(shape: _Shape, k: int) -> None:
        """Classes of a workgroup's delegates, whose bests stand for too many to look at all."""
        most = 16 * shape.threads
        shape.workgroups = shape.subsets // shape.workgroup
        shape.groups = min(max(shape.threads, power_of_two_above(3 * k)), most)
        enough = max(4 * shape.threads, shape.groups)
        while shape.subsets > most and (not shape.classes or shape.workgroups * shape.classes < enough):
            shape.classes = 2 * shape.classes or 8
        while shape.classes and shape.workgroups * shape.classes > most:
            shape.subsets, shape.workgroups = shape.subsets // 2, shape.workgroups // 2
        shape.bests = shape.workgroups * shape.classes if shape.classes else shape.subsets
        shape.groups = min(shape.bests, shape.groups)

    @staticmethod
    def _least(problem: Problem, shape: _Shape) -> int:
        """So many items that no subset is empty."""
        return shape.subsets * problem.view.per_load

    def _build_rows(self, program: Program, problem: Problem, sink: Sink) -> None:
        shape = self._shape(problem)
        sequences = problem.sequences
        delegates = program.pairs(sequences, shape.subsets)
        # The bests of classes, where there are any, in one binding.
        words = sequences * shape.bests * pair_bytes(problem.key_words) // 4
        extra = {"bests": program.words(words)} if shape.classes else {}
        # A list of candidates a sequence, then the sequences' thresholds.
        lists = program.pairs(1, sequences * (shape.capacity + 1))
        candidates = replace(lists, step=shape.capacity, length=shape.capacity)
        counts = program.words(sequences)
        self._find(program, problem, shape, delegates, {"counts": counts} | extra)
        looks = {"delegate_keys": delegates.keys, "delegate_indices": delegates.indices, "counts": counts}
        self._filter(program, problem, shape, candidates, looks | extra)
        looks |= {"list_keys": candidates.keys, "list_indices": candidates.indices}
        self._order(program, problem, shape, candidates, looks, sink)

    def _find(self, program: Program, problem: Problem, shape: _Shape, sink: Pairs, bind: dict[str, Region]) -> None:
        constants = {
            "WORKGROUP": shape.workgroup,
            "CLASSES": shape.classes,
            # A long run of loads has time for more of them at once.
            "UNROLL": _UNROLL * (2 if problem.view.loads // shape.subsets >= 64 else 1),
            "EXTREMES": 0,  # They would take the registers of loads under way.
            "IN_ORDER": 1,
        }
        if shape.classes:
            members = shape.workgroup // shape.classes
            fan = power_of_two_below(math.isqrt(members))
            constants |= {"FAN": fan, "WIDE": members // fan}
        program.dispatch(
            "delegates/delegates",
            problem.sequences * shape.workgroups,
            source=problem.source,
            sink=sink,
            bind=bind,
            constants=constants,
            params={"subsets": shape.subsets, "least": self._least(problem, shape)},
        )

    def _filter(self, program: Program, problem: Problem, shape: _Shape, sink: Pairs, bind: dict[str, Region]) -> None:
        p, threads, k = self.policy, shape.threads, problem.k
        # Every workgroup finds the threshold, so no more of them than are at work at once.
        # But what they choose must have room.
        room = self.memory - KTH_BYTES - 8 * threads
        most = room // (4 * threads)
        fewest = ceil_div(shape.subsets, threads * max(n for n in _EACH if n <= most))
        blocks = max(1, min(shape.subsets // 64, self.occupancy.processors // problem.sequences), fewest)
        own = _at_least(ceil_div(shape.subsets, threads * blocks))
        appended = power_of_two_below(min(1024, (room - 4 * threads * own) // pair_bytes(problem.key_words)))
        appends = shape.capacity >= p.append_length and appended >= 256
        each = max(1, shape.groups // threads)
        program.dispatch(
            "delegates/filter",
            problem.sequences * blocks,
            source=problem.source,
            sink=sink,
            bind=bind,
            constants={
                "WORKGROUP": threads,
                "OWN": own,
                "SECONDS": 0,
                "CLASSES": int(shape.classes > 0),
                "EACH": each,
                "MERGED": max(1, shape.bests // (each * threads)),
                "COLLECTED": appended if appends else 0,
                **bins_of(11, threads),
            },
            params={
                "k": k,
                "least": self._least(problem, shape),
                "parts": blocks,
                "members": ceil_div(problem.loads, shape.subsets),
                "subsets": shape.subsets,
                "bests": shape.bests,
                "places": shape.capacity,
                # A little after the k-th will do, where the list has room for whole loads.
                "slack": max(0, min(k // 16, shape.capacity // problem.view.per_load - k)),
            },
        )

    def _order(self, program: Program, problem: Problem, shape: _Shape, lists: Pairs, bind: dict[str, Region], sink: Sink) -> None:
        """Cuts lists that are too long, and puts what is left in order."""
        k, sequences, capacity, threads = problem.k, problem.sequences, shape.capacity, shape.threads
        constants = {"WORKGROUP": threads, "EACH": _at_least(capacity // threads), **bins_of(11, threads)}
        params = {
            "k": k,
            "least": self._least(problem, shape),
            "places": capacity,
            "members": ceil_div(problem.loads, shape.subsets),
            "subsets": shape.subsets,
        }
        # One dispatch does the rest where ranking even a full list takes no longer than cutting it.
        # Spans or a payload would be a binding too many.
        beside = problem.ragged or (isinstance(sink, Outputs) and program.selection.payload is not None)
        if not beside and capacity <= 4096 and sequences * capacity**2 <= 16 * self.policies["row_sort_rank"].max_work:
            program.dispatch(
                "delegates/rank",
                sequences * (capacity // _RANK),
                source=problem.source,
                sink=sink,
                bind=bind,
                constants=constants | {"ITEMS": _RANK},
                params=params | {"longest": capacity, "parts": capacity // _RANK},
            )
            return
        unsorted = not program.selection.sorted and isinstance(sink, Outputs)
        longest = k if unsorted else min(capacity, max(2 * k, min(2 * problem.view.per_load * k, 2048), 256))
        lengths = program.words(sequences)
        program.dispatch(
            "delegates/compact",
            sequences,
            source=problem.source,
            bind=bind | {"lengths": lengths},
            constants=constants,
            params=params | {"longest": longest},
        )
        program.run(replace(lists, length=longest, counts=None if unsorted else lengths), sequences, k, sink)
