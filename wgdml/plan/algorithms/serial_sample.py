"""The first k of long sequences on software adapters: bounds of a sample, and a list in order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..machine import Machine, ceil_div
from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Region, Sink, View
from .base import Algorithm
from .serial_radix_sort import SerialRadixSort
from .serial_subsets import dispatch_invocations, place_by_counting, words_of

_BOUNDS = 17  # as lib/io/bounds.wgsl has them
_PIVOTS = 8  # items of a sample that those are
_APART = 0.75  # standard deviations from one of them to the next
_COMPARISONS = 1 << 20  # of all samples, whose items are placed by counting
_SMALLEST, _LARGEST = 64, 1024  # items of a sample
_TILE = 1024  # items of an invocation, at least
_LONGEST_TILE = 1 << 14  # lavapipe ends an invocation's loops after 65,535 turns in all
_TILES = 256  # of a sequence, about: each adds up the counts of those before
_SPARE = 3  # steps from pivot to pivot by which a list may be too long
#: A list of up to so many items for each byte of an element is placed by counting, not by passes.
_RANKED = 250


class SerialSample(Algorithm):
    """A sample gives keys, one of which k items or a few more are up to. Their list is sorted."""

    name = "serial_sample"
    summary = "bounds of a sample, counts of the items up to each, and a list in order of index, sorted; two reads"

    def __init__(self, machine: Machine, policies: Mapping[str, Any]) -> None:
        super().__init__(machine, policies)
        self.radix_sort = SerialRadixSort(machine, policies)

    def check(self, problem: Problem) -> None:
        self.check_first(problem)
        if not problem.one_axis:
            raise Unserved("serial_sample takes elements along one axis")
        if not problem.k < problem.length <= 1 << 28:
            raise Unserved(f"serial_sample takes some of up to 2^28 items, not k={problem.k} of {problem.length}")
        # The sample of a single sequence tells its k-th within a sixteenth of all.
        if 4 * problem.key_words * (problem.k + problem.length // 16) > self.machine.max_storage_buffer_binding_size:
            raise Unserved(f"serial_sample takes k whose list fits a binding, not k={problem.k}")

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        self.check(problem)
        view, sequences, k = problem.view, problem.sequences, problem.k
        pivots, found = self._pivots(program, view, sequences, k)
        listed = program.pairs(sequences, min(view.length, found["places"]))
        counts = program.words(sequences)
        self._search(program, problem, pivots, found, listed, counts)
        listed = replace(listed, counts=counts, in_order=True)
        if k <= _RANKED * min(4, problem.format.bytes):
            place_by_counting(program, listed, sequences, k, sink)
        else:
            self.radix_sort.build(program, replace(problem, source=listed), sink)

    def _pivots(self, program: Program, view: View, sequences: int, k: int) -> tuple[Region, dict[str, int]]:
        """Keys of a sample in order, and the parameters that say which of them are bounds."""
        if view.selection.ragged:
            # Nothing is known of where spans lie. All of such a list may be wanted.
            return program.keys(1), {"places": k}
        sample = self._sample(view, sequences)
        share = sample.length / view.length
        deviation = math.sqrt(k * share * (1 - k / view.length)) + 1
        step = max(1, round(_APART * deviation))
        first = max(0, min(math.floor(k * share - deviation), sample.length - (_PIVOTS + 1) * step))
        ranked = min(sample.length, first + _PIVOTS * step + 1)
        pivots = program.pairs(sequences, ranked)
        place_by_counting(program, sample, sequences, ranked, pivots)
        # Mostly one of the pivots is the next that comes after the k-th.
        places = k + math.ceil(_SPARE * step / share)
        return pivots.keys, {"sample_rank": first, "sample_slack": step, "ranks": ranked, "places": places}

    @staticmethod
    def _sample(view: View, sequences: int) -> View:
        """One item in so many."""
        wanted = min(_LARGEST, max(_SMALLEST, math.isqrt(_COMPARISONS // sequences)), view.length)
        every = view.length // wanted
        (axis,) = view.selection.axes
        return view.sample([replace(axis, size=view.length // every, stride=axis.stride * every)], [every])

    def _search(
        self, program: Program, problem: Problem, pivots: Region, found: dict[str, int], sink: Sink, counts: Region
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
        params = found | {"k": problem.k, "tiles": tiles, "tile": tile}
        for level in range(int(view.selection.ragged), levels):
            dispatch_invocations(
                program,
                "serial/counts",
                sequences * tiles,
                source=view,
                bind=bind,
                constants=constants,
                params=params | {"level": level},
                workgroup=16,
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
            workgroup=16,
        )
