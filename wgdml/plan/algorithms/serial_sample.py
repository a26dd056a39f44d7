"""The first k of long sequences on software adapters: bounds of a sample, and a list in order."""

from __future__ import annotations

import math
from dataclasses import replace

from ..machine import ceil_div
from ..problem import Problem
from ..program import Program
from ..regions import Region, Sink, View
from .base import Algorithm, uses
from .serial_merge import SerialMerge
from .serial_radix_sort import SerialRadixSort
from .serial_subsets import dispatch_invocations, words_of

_BOUNDS = 17  # as lib/io/bounds.wgsl has them
_PIVOTS = 8  # items of a sample that those are
_APART = 0.75  # standard deviations from one of them to the next
_SAMPLED = 16  # items for each one of a sample, at least
_SMALLEST, _LARGEST = 64, 1024  # items of a sample
_TILE = 1024  # items of an invocation, at least
_LONGEST_TILE = 1 << 14  # lavapipe ends an invocation's loops after 65,535 turns in all
_TILES = 256  # of a sequence, about: each adds up the counts of those before
_SPARE = 3  # steps from pivot to pivot by which a list may be too long


class SerialSample(Algorithm[None]):
    """A sample gives keys, one of which k items or a few more are up to. Their list is sorted."""

    name = "serial_sample"
    summary = "bounds of a sample, counts of the items up to each, and a list in order of index, sorted; two reads"
    merge = uses(SerialMerge)
    radix_sort = uses(SerialRadixSort)

    def check(self, problem: Problem) -> tuple[View | None, dict[str, int]]:
        self.check_one_axis(problem)
        k, sequences = problem.k, problem.sequences
        self.require(k < problem.length <= 1 << 28, f"takes some of up to 2^28 items, not k={k} of {problem.length}")
        sample, bounds = self._bounds(problem)
        fits = 4 * problem.key_words * sequences * bounds["places"] <= self.machine.max_storage_buffer_binding_size
        self.require(fits, f"takes lists that fit a binding, not k={k} of {sequences} sequences")
        return sample, bounds

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        (sample, bounds), sequences = self.check(problem), problem.sequences
        pivots = program.keys(1)
        if sample is not None:
            ordered = program.pairs(sequences, bounds["ranks"])
            self.merge.build(program, replace(problem, source=sample, k=bounds["ranks"]), ordered)
            pivots = ordered.keys
        listed = program.pairs(sequences, bounds["places"])
        counts = program.words(sequences)
        self._search(program, problem, pivots, bounds, listed, counts)
        ordering = replace(problem, source=replace(listed, counts=counts, in_order=True))
        (self.radix_sort if self.merge.serves(ordering) else self.merge).build(program, ordering, sink)

    def _bounds(self, problem: Problem) -> tuple[View | None, dict[str, int]]:
        """A sample, and the parameters that say which of its keys in order are bounds."""
        view, k = problem.view, problem.k
        if view.selection.ragged:
            # Nothing is known of where spans lie. All of such a list may be wanted.
            return None, {"places": k}
        sample = self._sample(view)
        share = sample.length / view.length
        deviation = math.sqrt(k * share * (1 - k / view.length)) + 1
        step = max(1, round(_APART * deviation))
        first = max(0, min(math.floor(k * share - deviation), sample.length - (_PIVOTS + 1) * step))
        ranked = min(sample.length, first + _PIVOTS * step + 1)
        # Mostly one of the pivots is the next that comes after the k-th.
        places = min(view.length, k + math.ceil(_SPARE * step / share))
        return sample, {"sample_rank": first, "sample_slack": step, "ranks": ranked, "places": places}

    @staticmethod
    def _sample(view: View) -> View:
        """One item in so many."""
        wanted = min(_LARGEST, max(_SMALLEST, view.length // _SAMPLED), view.length)
        every = view.length // wanted
        (axis,) = view.selection.axes
        return view.sample([replace(axis, size=view.length // every, stride=axis.stride * every)], [every])

    def _search(
        self, program: Program, problem: Problem, pivots: Region, bounds: dict[str, int], sink: Sink, counts: Region
    ) -> None:
        """Counts, level by level, until a bound serves; and the items up to it."""
        view, sequences = problem.view, problem.sequences
        by_words = words_of(view)
        tile = ceil_div(max(_TILE, min(_LONGEST_TILE, ceil_div(view.length, _TILES))), by_words["PER_LOAD"])
        # Rows may begin and end amid a load.
        tiles = ceil_div(view.length // by_words["PER_LOAD"] + 2, tile)
        levels = 1 + ceil_div(8 * problem.format.bytes, 4)
        # Of each level the counts, and the words of a state.
        totals = program.words(levels * sequences * (_BOUNDS + 4))
        program.clear(totals)
        bind = {"pivots": pivots, "totals": totals, "tile_counts": program.words(sequences * _BOUNDS * tiles)}
        constants = by_words | {"BOUNDS": _BOUNDS, "ONE_BATCH_DIM": int(len(view.selection.batch) <= 1)}
        params = bounds | {"k": problem.k, "tiles": tiles, "tile": tile}
        for level in range(int(view.selection.ragged), levels):
            dispatch_invocations(
                program,
                "serial/counts",
                sequences * tiles,
                source=view,
                bind=bind,
                constants=constants,
                params=params | {"level": level},
            )
        dispatch_invocations(
            program,
            "serial/passing",
            sequences * tiles,
            source=view,
            sink=sink,
            bind=bind | {"list_counts": counts},
            constants=constants,
            params=params | {"level": levels},
        )
