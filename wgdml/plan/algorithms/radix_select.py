"""The first k of long sequences by histograms of digits, and then those in order."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Pairs, Region, Sink, Source, View
from .base import Algorithm
from .digit_ranks import DigitRanks
from .parts import digits_of

_RUN, _EVERY = 8, 256  # a sample is runs of so many elements, one in so many
#: Keys that a workgroup collects before it asks for places: half of the least workgroup memory.
_COLLECTED = 1024
#: A sample serves k from this on. It has too few of a smaller one
#: (benchmarks/LOG.md#a-threshold-from-a-sample-2026-11-22-fd61e1e).
_SAMPLE_K = 1 << 12


@dataclass(frozen=True)
class RadixSelectPolicy:
    """When a sample of a long row is put into histograms in place of the whole."""

    #: A sample is taken of rows of this many items and more (the same figures).
    sample_length: int = number(1 << 22, 2048, 1 << 32)
    #: A sample pays from this product of k and length on (the same figures).
    sample_work: int = number(1 << 36, 0, 1 << 64)
    #: Histograms serve sequences of this many items and more for each of the k. Else all of them
    #: are sorted (the same figures).
    share: int = number(4, 1, 64)


class RadixSelect(Algorithm[RadixSelectPolicy]):
    """The k-th pair digit by digit, then all up to it, then those in order.

    Of a long row only a sample is put into histograms. A pair of the sample a little later than the
    k-th should be is the threshold. Where too few or too many pairs precede it, the whole row is
    done after all.
    """

    name = "radix_select"
    summary = "a histogram of each digit, or of a sample's, then those that pass, sorted; a read a digit, or one"

    def check(self, problem: Problem) -> None:
        self.check_first(problem)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        p, k, sequences, source = self.policy, problem.k, problem.sequences, problem.source
        large = k >= _SAMPLE_K and k * source.length >= p.sample_work
        sample = self._sample(source, sequences) if large else None
        if sample is None:
            found = program.pairs(sequences, k)
            (state,) = self._states(program, problem, 1)
            self._find(program, problem, found, state)
            program.run(found, sequences, k, sink)
            return
        # The sample's share of the first k and five standard deviations: a threshold late enough.
        # As many again for room.
        expected = k * sample.length / source.length
        rank = min(sample.length, math.ceil(expected + 5 * math.sqrt(expected) + 8))
        room = math.ceil((rank + 5 * math.sqrt(rank)) * source.length / sample.length)
        candidates = program.pairs(sequences, max(k, min(room, source.length)))
        of_sample, of_all = self._states(program, problem, 2)
        self._find(program, replace(problem, k=rank), candidates, of_sample, sample)
        self._find(program, problem, candidates, of_all, missed=of_sample["listed"])
        program.run(replace(candidates, counts=of_sample["listed"]), sequences, k, sink)

    def _sample(self, source: Source, sequences: int) -> View | None:
        """Runs of elements from all over a long contiguous row."""
        long = sequences == 1 and source.length >= self.policy.sample_length
        if not (long and isinstance(source, View) and source.rows) or source.selection.ragged:
            return None
        (axis,) = source.selection.axes
        runs = source.length // (_RUN * _EVERY)
        axes = (replace(axis, size=runs, stride=_RUN * _EVERY), replace(axis, size=_RUN, stride=1))
        return source.sample(axes, (_RUN * _EVERY, 1))

    @property
    def _bins(self) -> int:
        return 2048 if self.memory >= 16384 else 1024

    def _digits(self, program: Program, problem: Problem) -> list[tuple[int, int, int]]:
        return digits_of(problem.format, program.selection.index_bits, self._bins.bit_length() - 1)

    def _states(self, program: Program, problem: Problem, finds: int) -> list[dict[str, Region]]:
        """What finds leave from level to level, by the kernels' names; one dispatch clears it."""
        levels = len(self._digits(program, problem))
        start, sequences = program.arena.used, problem.sequences
        cleared = [(program.words(sequences), program.words(levels * sequences * self._bins)) for _ in range(finds)]
        program.clear(Region(start, program.arena.used - start))
        progress = program.words(4 * (levels + 1) * sequences)
        return [{"listed": listed, "histogram": histogram, "progress": progress} for listed, histogram in cleared]

    def _find(
        self,
        program: Program,
        problem: Problem,
        found: Pairs,
        state: dict[str, Region],
        sample: View | None = None,
        missed: Region | None = None,
    ) -> None:
        """The first k pairs of every sequence, in any order: the k-th by digits, then all up to it.

        ``sample``: the k-th pair of this in place of the source's. ``missed``: how many pairs a
        sample's threshold listed; nothing is done where they are enough, and not too many.
        """
        sequences, source = problem.sequences, problem.source
        digits = self._digits(program, problem)
        workgroup = self.machine.workgroup
        constants = DigitRanks.slots(1, workgroup, self._bins) | {"FIRST_K": 1, "GATE": 0 if missed is None else 2}
        bind = {name: state[name] for name in ("histogram", "progress")}
        if missed is not None:
            bind["missed"] = missed
        params = {"k": problem.k, "places": found.length}
        previous = {"previous_word": 0, "previous_shift": 0}
        read = sample or source
        parts = self.parts_of_rows(read, sequences)
        for level, (word, shift, bits) in enumerate(digits):
            program.dispatch(
                "ranks/histogram",
                sequences * parts,
                source=read,
                bind=bind,
                constants=constants | {"MATCHES": 0},
                params=params
                | previous
                | {"parts": parts, "level": level, "digit_word": word, "digit_shift": shift, "digit_bits": bits},
            )
            previous = {"previous_word": word, "previous_shift": shift}
        parts = self.parts_of_rows(source, sequences)
        program.dispatch(
            "radix_select/filter",
            sequences * parts,
            source=source,
            sink=found,
            bind=bind | {"listed": state["listed"]},
            constants=constants | {"COLLECTED": _COLLECTED // problem.key_words},
            params=params | previous | {"parts": parts, "level": len(digits)},
        )
