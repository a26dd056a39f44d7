"""What stable radix sorts share, least significant digit first: segments, windows, buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...selection import extent
from ..problem import Problem
from ..program import Program
from ..regions import Outputs, Pairs, Region, Sink, Source, View
from .base import Algorithm, P
from .parts import digits_of

#: Values of a digit.
BINS = 256
#: Of the search for a pair's place among those that sequences are parted at: each is a kernel.
_PART_STEPS = (1, 3, 7)


@dataclass(frozen=True)
class Pass:
    """One digit of one sort: what its dispatches read and where the counts of digits lie."""

    segments: Sequence[Source]  #: What lies one behind the other.
    sequences: int
    word: int  #: Of the pair, as ``digits_of`` counts them.
    params: dict[str, int]
    constants: dict[str, int]
    bind: dict[str, Region]

    def bind_digits(self, segment: Source, key_words: int) -> tuple[dict[str, Region], dict[str, int]]:
        """What a segment's histogram binds, and its parameters: of pairs, keys or indices alone."""
        if isinstance(segment, View):
            return self.bind, self.params
        if self.word < key_words:
            return self.bind | {"digit_words": segment.keys}, self.params | {"digit_step": key_words}
        return self.bind | {"digit_words": segment.indices}, self.params | {"digit_step": 1, "digit_word": 0}


#: Items are looked at one by one: a vector would bring more than are asked for.
ONE_BY_ONE = {"SOURCE_ROWS": 0, "PER_LOAD": 1, "LOAD_WORDS": 1, "INPUT_WORDS": 1}


class RadixPasses(Algorithm[P]):
    """Sequences of any length that lie in one or more segments, of which the first k are kept."""

    takes_counts = True

    def check(self, problem: Problem) -> None:
        self.check_first(problem)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        self.sort(program, [problem.source], problem.sequences, problem.k, sink)

    def sort(
        self,
        program: Program,
        segments: Sequence[Source],
        sequences: int,
        k: int,
        sink: Sink,
    ) -> None:
        """Sorts what lies in the segments, one behind the other.

        Elements come in order of index, and so may pairs: only keys need sorting then. Where a
        single sequence is longer than a binding, a step runs for each window of what it reads and,
        to scatter, of what it writes.
        """
        if isinstance(sink, Outputs) and program.spans is not None and program.selection.payload is not None:
            # A scatter that looks both up would have a binding too many.
            ordered = program.pairs(sequences, k, windows=True)
            self._sort(program, segments, sequences, k, ordered)
            program.emit(ordered, sequences, k, [sink], k)
            return
        self._sort(program, segments, sequences, k, sink)

    def _sort(self, program: Program, segments: Sequence[Source], sequences: int, k: int, sink: Sink) -> None:
        n = sum(segment.length for segment in segments)
        form = program.selection.format
        in_order = isinstance(segments[0], View) or (len(segments) == 1 and segments[0].in_order)
        words = form.key_words if in_order else form.key_words + 1
        digits = [d for d in digits_of(form, program.selection.index_bits, 8) if d[0] < words][::-1]
        # Segments, and the windows of later passes, each end in a group of their own.
        later = [length for _, length in program.cuts(n, sequences)]
        bind = self.prepare(program, [[segment.length for segment in segments], later], sequences)
        buffers = self._buffers(program, segments, sequences, n, len(digits) - 1, sink if k == n else None)
        for number, (word, shift, bits) in enumerate(digits):
            last = number == len(digits) - 1
            target = sink if last else buffers[(len(digits) - number) % 2]
            kept = k if last else n
            params = {"k": k, "digit_word": word, "digit_shift": shift, "digit_bits": bits}
            here = Pass(segments, sequences, word, params, {"PARTED": 0}, bind)
            self.dispatch_pass(program, here, target, kept)
            segments = [piece for piece, _, _ in program.windows(target, kept, sequences) if isinstance(piece, Pairs)]

    def part(self, program: Program, views: Sequence[View], sequences: int, n: int, at: Pairs, sink: Sink) -> None:
        """Parts what lies in the views at pairs of it, by one pass."""
        bind = self.prepare(program, [[view.length for view in views]], sequences)
        bind |= {"part_keys": at.keys, "part_indices": at.indices}
        params = {"k": n, "parted": at.length, "digit_bits": 8}
        steps = next(steps for steps in _PART_STEPS if at.length < 1 << steps)
        self.dispatch_pass(program, Pass(views, sequences, 0, params, {"PARTED": 1, "PART_STEPS": steps}, bind), sink, n)

    def prepare(self, program: Program, lengths: Sequence[Sequence[int]], sequences: int) -> dict[str, Region]:
        """Scratch for counts, by the kernels' names. ``lengths``: of first and later segments."""
        raise NotImplementedError

    def dispatch_pass(self, program: Program, here: Pass, target: Sink, kept: int) -> None:
        """Every item to its place by one digit; what ranks up to ``kept`` is written."""
        raise NotImplementedError

    @staticmethod
    def _buffers(
        program: Program, sources: Sequence[Source], sequences: int, n: int, passes: int, sink: Sink | None
    ) -> list[Pairs]:
        """The two buffers that the passes before the last go between; the last one reads the first.

        One may be the source itself, once the first pass has read it. Or the second may lie in
        outputs that are one run each: they are written again at the end.
        """
        if not passes:
            return []
        first = program.pairs(sequences, n, windows=True)
        if passes == 1:
            return [first, first]
        source, fits = sources[0], sequences * n <= program.pairs_a_binding()
        if fits and isinstance(source, Pairs) and source == replace(source, base=0, step=n, length=n, item_step=1):
            # The first pass writes the new one.
            source = replace(source, counts=None)
            return [first, source] if passes % 2 else [source, first]
        in_values, in_indices = _runs_of_outputs(sink, sequences, n)
        keys, indices = first.keys.size, first.indices.size
        windows = sequences == 1
        second = replace(
            first,
            keys=Region(0, keys, "values") if in_values else program.arena.take(keys, windows=windows),
            indices=Region(0, indices, "indices") if in_indices else program.arena.take(indices, windows=windows),
        )
        return [first, second]


def _runs_of_outputs(sink: Sink | None, sequences: int, n: int) -> tuple[bool, bool]:
    """Are values, and indices, one run from their tensors' beginning, of whole words?"""
    if not isinstance(sink, Outputs):
        return False, False
    sel = sink.view.selection
    values = extent([(n, sel.value_step), *((d.size, d.value_stride) for d in sel.batch)])
    indices = extent([(n, sel.index_step), *((d.size, d.index_stride) for d in sel.batch)])
    return (
        sel.has_values and sel.format.bytes >= 4 and not sel.value_offset and values == sequences * n,
        sel.has_indices and not sel.index_offset and indices == sequences * n,
    )
