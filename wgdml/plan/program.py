"""Dispatches as data, and the one place where they are put together: by their kernels' names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import shaders
from ..selection import SPANS, BatchDim, Beside, Selection, extent
from .machine import Machine, ceil_div
from .problem import Problem, Rejected, Unserved
from .regions import ALIGNMENT, Arena, Outputs, Pairs, Region, Sink, Source, TooLargeError, View, loads_again

if TYPE_CHECKING:
    from .algorithms import Algorithm

#: Results down columns take tiles where so many columns are neighbours (64 bytes of indices).
_FEWEST_BESIDE = 16
_TILE_RANKS = 32  # of a tile: pairs are read by lines
_TILE_EACH = 4  # pairs of an invocation
#: Software adapters put results by runs, so that an invocation divides once for many: workgroups of
#: so many invocations, results of a run at most, and runs where there are fewer results.
_SERIAL, _RUN, _RUNS = 64, 16, 1 << 10

#: Constants that are 0 where nothing else is said: of what is read, and of what is written.
_READ = ("ONE_BATCH_DIM", "MANY_AXIS_DIMS", "SOURCE_ROWS", "SOURCE_PAIRS", "SPREAD", "COUNTED", "EXTREMES", "RAGGED", "PAYLOAD")
_WRITTEN = ("SINK_PAIRS", "MANY_BOXES", "NARROW", "SIDE_BY_SIDE")
_PLAIN = dict.fromkeys((*_READ, *_WRITTEN), 0) | {"INPUT_WORDS": 1, "PER_LOAD": 1, "LOAD_WORDS": 1}


@dataclass(frozen=True)
class Binding:
    """A range of bytes of a resource, bound to a variable of the kernel: its name and number."""

    name: str
    slot: int
    resource: str  #: "scratch", "input", "values", "indices", or a name of BESIDES
    offset: int
    size: int


@dataclass(frozen=True)
class Dispatch:
    """A kernel, the constants that its text uses, its parameter block, what it binds, its grid."""

    kernel: str
    constants: tuple[tuple[str, int], ...]
    params: bytes
    bindings: tuple[Binding, ...]
    grid: tuple[int, int, int]


@dataclass(frozen=True)
class Plan:
    """Dispatches in order, each seeing what those before it wrote, and their scratch."""

    dispatches: tuple[Dispatch, ...]
    scratch_size: int
    algorithms: tuple[str, ...]  #: Those used, in order, for people and tests.


class Program:
    """Collects the dispatches of one plan, and hands out the scratch that they share."""

    def __init__(
        self,
        selection: Selection,
        machine: Machine,
        choose: Callable[..., Algorithm[Any]],
        rejected: Collection[str] = (),
        *,
        vectors: bool,
        shared_input: bool,
    ) -> None:
        self.selection = selection
        self.machine = machine
        self.choose = choose
        self.rejected = rejected  #: Kernels that no dispatch may have.
        self.vectors = vectors
        self.sequences = selection.sequences  #: Of the part being built.
        self.spans: Region | None = None  #: What of each of them takes part, where they are ragged.
        self.arena = Arena(machine.max_storage_buffer_binding_size, machine.max_buffer_size)
        self.dispatches: list[Dispatch] = []
        self.algorithms: list[str] = []
        self._shared = _format_constants(selection) | {
            "WORKGROUP": machine.workgroup,
            "SUBGROUPS": int(machine.subgroups),
            "INPUT_SHARED": int(shared_input),
        }
        self._order = _order_values(selection)

    # -- composing --

    def run(self, source: Source, sequences: int, k: int, sink: Sink, algorithm: Algorithm[Any] | None = None) -> None:
        """Appends the dispatches for the first k of every sequence, in order, to the sink.

        ``algorithm`` forces the choice. Raises ``Unserved`` where it cannot serve, and ``Rejected``
        where what serves has a kernel of ``rejected``.
        """
        whole = isinstance(source, Pairs) and source.length == k and source.counts is None
        if whole and not self.selection.sorted and isinstance(source, Pairs) and isinstance(sink, Outputs):
            self.emit(source, sequences, k, [sink], k)
            return
        s = self.selection
        problem = Problem(source, sequences, k, s.format, s.last_index, s.packed)
        if algorithm is not None:
            if (refusal := algorithm.serves(problem)) is not None:
                raise Unserved(refusal)
            self._build(algorithm, problem, sink)
            return
        without: dict[str, Rejected] = {}
        while True:
            try:
                chosen = self.choose(problem, without) if without else self.choose(problem)
            except Unserved:
                if without:
                    raise next(iter(without.values())) from None
                raise
            try:
                self._build(chosen, problem, sink)
                return
            except Rejected as rejected:
                without[chosen.name] = rejected

    def _build(self, algorithm: Algorithm[Any], problem: Problem, sink: Sink) -> None:
        """An algorithm's dispatches; none where it raises ``Rejected``."""
        built, used = (len(self.dispatches), len(self.algorithms)), self.arena.used
        part = self.sequences, self.spans
        self.algorithms.append(algorithm.name)
        try:
            algorithm.build(self, problem, sink)
        except Rejected:
            del self.dispatches[built[0] :], self.algorithms[built[1] :]
            self.arena.used = used
            self.sequences, self.spans = part
            raise

    def enter(self, part: Selection) -> None:
        """Begins the dispatches for a part of the selection; finds its sequences' spans."""
        self.sequences, self.spans = part.sequences, None
        if not part.ragged:
            return
        self.spans = self.arena.take(16 * part.sequences)
        bound = {"spans": self.spans}
        values = {"sequences": part.sequences, "length": part.length, "k": part.k, "longest": part.longest or part.length}
        names = zip(SPANS, ("input_base", "value_base", "index_base"), ("length_form", "start_form", "count_form"), strict=True)
        for number, (name, base, form) in enumerate(names):
            beside: Beside | None = getattr(part, name)
            if beside is not None:
                size, signed = beside.format.bytes, 128 * (beside.format.sign_bit > 0)
                dims = [(d.size, d.besides[number]) for d in part.batch]
                bound[name], values[base] = _placed(name, beside.offset, dims, size)
                values[form] = 8 * size + signed
        batch = [BatchDim(d.size, d.besides[0], d.besides[1], d.besides[2]) for d in part.batch]
        constants = {name.upper(): int(name in bound) for name in SPANS}
        constants |= {"WORKGROUP": self.machine.workgroup, "ONE_BATCH_DIM": 0}
        block = pack(values | {"batch_dims": max(1, len(batch))}, batch)
        workgroups = ceil_div(part.sequences, self.machine.workgroup)
        self.dispatches.append(make_dispatch(self.machine, "util/spans", workgroups, bound, constants, block))

    def pairs(self, sequences: int, length: int, *, side_by_side: bool = False, windows: bool = False) -> Pairs:
        """Room for pairs; ``side_by_side`` puts the same item of all sequences together.

        ``windows``: those of a single sequence are bound by windows, and may exceed a binding.
        """
        count = sequences * length
        windows = windows and sequences == 1
        keys = self.arena.take(count * 4 * self.selection.format.key_words, windows=windows)
        step, item_step = (1, sequences) if side_by_side else (length, 1)
        return Pairs(keys, self.arena.take(count * 4, windows=windows), 0, step, length, item_step)

    def firsts(self, views: Sequence[View], sequences: int, k: int, forced: Algorithm[Any] | None = None) -> Pairs:
        """The first k pairs of each view, or all that it has, side by side."""
        lengths = [min(k, view.length) for view in views]
        pairs = self.pairs(sequences, sum(lengths))
        for i, (view, length) in enumerate(zip(views, lengths, strict=True)):
            sink = replace(pairs, base=sum(lengths[:i]), length=length)
            self.run(view, sequences, length, sink, forced if i == 0 else None)
        return pairs

    def keys(self, count: int) -> Region:
        return self.arena.take(count * 4 * self.selection.format.key_words)

    def words(self, count: int) -> Region:
        return self.arena.take(count * 4)

    def beside(self, resource: str, offset: int, dims: Iterable[tuple[int, int]], size: int) -> tuple[Region, int]:
        """``_placed``, of a part's elements. ``TooLargeError`` where they exceed a binding."""
        region, first = _placed(resource, offset, dims, size)
        if region.size > self.machine.max_storage_buffer_binding_size:
            raise TooLargeError(region.size)
        return region, first

    def clear(self, region: Region) -> None:
        most = self.machine.max_storage_buffer_binding_size // ALIGNMENT * ALIGNMENT
        for part in range(region.offset, region.offset + region.size, most):
            size = min(most, region.offset + region.size - part)
            self.dispatch(
                "util/clear",
                ceil_div(size // 4, self.machine.workgroup),
                bind={"words": region._replace(offset=part, size=size)},
                params={"length": size // 4},
            )

    # -- one dispatch --

    def dispatch(
        self,
        kernel: str,
        workgroups: int,
        *,
        source: Source | None = None,
        sink: Sink | None = None,
        bind: Mapping[str, Region] | None = None,
        constants: Mapping[str, int] | None = None,
        params: Mapping[str, int] | None = None,
        ranks: int | None = None,
    ) -> None:
        """Appends one dispatch that writes ``ranks`` ranks of each sequence, k where it is None.

        ``bind``, ``constants`` and ``params`` go by the names in the kernel's text. A name without
        use is not sent. ``ShaderError`` for one that the text lacks, and for a missing resource.
        """
        if kernel in self.rejected:
            raise Rejected(f"this adapter's driver does not compile {kernel}.wgsl, which there is nothing in place of")
        bind, constants, params = bind or {}, constants or {}, params or {}
        _check_names(kernel, bind, constants, params)
        bound: dict[str, Region] = {}
        values = {"sequences": self.sequences, "k": self.selection.k, "parts": 1}
        values |= self._order
        view = source if isinstance(source, View) else sink.view if isinstance(sink, Outputs) else None
        used = _PLAIN | self._shared
        used |= self._source(source, view, bound, values) | self._sink(sink, ranks or self.selection.k, bound, values)
        values |= params
        if self.spans is not None and (isinstance(source, View) or isinstance(sink, Outputs)):
            bound["spans"] = self.spans
            used["RAGGED"] = 1
            # Fewer could leave ranks without a pair.
            values["least"] = min(max(values["k"], params.get("least", 0)), values.get("length", 0))
        block = pack(values, view.selection.batch if view else (), view)
        bound |= bind
        if view is not None and view.region is not None:
            used["INPUT_SHARED"] = self._shares(view.region, bound)
        used |= constants
        used.setdefault("TEAM", used["WORKGROUP"])
        used.setdefault("AGAIN", loads_again(used["PER_LOAD"]))
        self.dispatches.append(make_dispatch(self.machine, kernel, workgroups, bound, used, block))

    def _shares(self, copy: Region, bound: Mapping[str, Region]) -> int:
        """Is a copy in scratch bound as writable: beside others, or with a payload that must be?"""
        beside = any(at.resource == copy.resource for name, at in bound.items() if name != "input")
        return int(beside or ("payload" in bound and self._shared["INPUT_SHARED"] > 0))

    def _source(self, source: Source | None, view: View | None, bound: dict[str, Region], values: dict[str, int]) -> dict[str, int]:
        """Binds what is read; returns the constants of ``lib/io/source.wgsl``."""
        constants = {} if view is None else self._view(view, bound, values)
        if isinstance(source, View):
            values["length"] = source.length
            if source.rows:
                constants |= {"SOURCE_ROWS": 1, "LOAD_WORDS": source.load_words, "PER_LOAD": source.per_load}
                # Single elements are read by words.
                constants["INPUT_WORDS"] = 4 if source.vectors else 1
                constants["EXTREMES"] = int(self.has_extremes(source))
        elif source is not None:
            bound |= {"source_keys": source.keys, "source_indices": source.indices}
            constants["SOURCE_PAIRS"] = 1
            constants["SPREAD"] = int(source.spread is not None)
            if source.counts is not None:
                bound["source_counts"] = source.counts
                constants["COUNTED"] = 1
            if source.spread is not None:
                inner, scale, step, first = source.spread
                values |= {"spread_inner": inner, "spread_scale": scale, "spread_step": step, "first_index": first}
            values |= {
                "length": source.length,
                "source_base": source.base,
                "source_step": source.step,
                "source_item_step": source.item_step,
            }
        return constants

    def _view(self, view: View, bound: dict[str, Region], values: dict[str, int]) -> dict[str, int]:
        """Binds the elements, in the input tensor or in scratch; returns their constants."""
        size, shape = self.selection.format.bytes, view.selection
        window = view.region or _window(view.offset, view.span, size, 16 if view.vectors else 4, "input")
        bound["input"] = window
        before = 0 if view.region else window.offset // size
        values |= {"input_base": view.offset - before, "first_index": view.first_index}
        values |= {"batch_dims": max(1, len(shape.batch)), "axis_dims": len(shape.axes)}
        return {"MANY_AXIS_DIMS": int(len(shape.axes) > 1)}

    def _sink(self, sink: Sink | None, ranks: int, bound: dict[str, Region], values: dict[str, int]) -> dict[str, int]:
        """Binds what is written; returns the constants of ``lib/io/sink.wgsl``."""
        s = self.selection
        if isinstance(sink, Pairs):
            bound |= {"sink_keys": sink.keys, "sink_indices": sink.indices}
            values |= {"sink_base": sink.base, "sink_step": sink.step, "sink_item_step": sink.item_step}
            return {"SINK_PAIRS": 1}
        if sink is None:
            return {}
        shape = sink.view.selection
        if s.has_values:
            offset = shape.value_offset + sink.first_rank * s.value_step
            dims = [(ranks, s.value_step), *((d.size, d.value_stride) for d in shape.batch)]
            bound["values"], values["value_base"] = _placed("values", offset, dims, s.format.bytes)
            values["value_step"] = s.value_step
        if s.has_indices:
            offset = shape.index_offset + sink.first_rank * s.index_step
            dims = [(ranks, s.index_step), *((d.size, d.index_stride) for d in shape.batch)]
            bound["indices"], values["index_base"] = _placed("indices", offset, dims, s.index_bytes)
            values |= {"index_step": s.index_step, "index_words": s.index_bytes // 4}
        else:
            bound["indices"] = self.arena.take(4)  # bound, and left alone
        values["first_rank"] = values["earlier_ranks"] = sink.first_rank
        payload = shape.payload if s.has_indices else None
        if payload is not None:
            dims = [(shape.length, payload.step), *((d.size, d.besides[3]) for d in shape.batch)]
            bound["payload"], values["payload_base"] = _placed("payload", payload.offset, dims, payload.format.bytes)
            values["payload_step"] = payload.step
        boxes, narrow = sink.view.covered < shape.length, s.has_values and s.format.bytes < 4
        return {"MANY_BOXES": int(boxes), "NARROW": int(narrow and not boxes), "PAYLOAD": int(payload is not None)}

    def in_order(self, source: Source) -> bool:
        """Are a source's items met in ascending order of index?"""
        if isinstance(source, Pairs):
            return source.in_order
        if self.selection.last_index:
            return False
        # The items of spans of several axes begin amid their box.
        return source.one_axis or not source.selection.ragged

    def has_extremes(self, source: Source) -> bool:
        """Do the extremes of elements' bits tell their first key? In rows of floats, NaNs first."""
        form = self.selection.format
        floats = form.key_words == 1 and form.minus > 0 and self.selection.order.nan_first
        return floats and source.rows

    # -- sinks by windows --

    def pairs_a_binding(self) -> int:
        """The most pairs whose keys one binding holds, in whole windows."""
        limit = self.machine.max_storage_buffer_binding_size
        return max(ALIGNMENT, limit // (4 * self.selection.format.key_words) // ALIGNMENT * ALIGNMENT)

    def cuts(self, n: int, sequences: int) -> list[tuple[int, int]]:
        """(first, length) of a sequence's pieces that fit a binding; one for several sequences."""
        most = self.pairs_a_binding()
        if sequences * n <= most:
            return [(0, n)]
        return [(first, min(most, n - first)) for first in range(0, n, most)]

    def windows(self, sink: Sink, n: int, sequences: int) -> list[tuple[Sink, int, int]]:
        """A sink for n items a sequence, in pieces for bindings: (piece, first rank, ranks)."""
        cuts = self.cuts(n, sequences)
        if not isinstance(sink, Pairs) or len(cuts) == 1:
            return [(sink, 0, n)]
        key_words = self.selection.format.key_words
        return [(sink.window(first, length, key_words), first, length) for first, length in cuts]

    def emit(self, found: Pairs, sequences: int, k: int, sinks: Sequence[Sink], ranks: int) -> None:
        """The first k pairs of each sequence to the sinks, at most ``ranks`` at a time."""
        if sequences == 1:
            ranks = min(ranks, self.pairs_a_binding())
            ranks = ranks // ALIGNMENT * ALIGNMENT if ALIGNMENT <= ranks < k else ranks
        for first in range(0, k, ranks):
            count = min(ranks, k - first)
            source, start = found, first
            if sequences == 1:
                start = first % ALIGNMENT  # Windows start where bindings may.
                source = found.window(first - start, start + count, self.selection.format.key_words)
            for sink in sinks:
                self._emit(source, sequences, replace(sink, first_rank=first) if isinstance(sink, Outputs) else sink, start, count)

    def turns(self, sink: Sink) -> bool:
        """Are pairs put to a sink by tiles, as neighbours in memory are results of one rank?"""
        return sink.beside >= _FEWEST_BESIDE and not self.machine.software

    def _emit(self, source: Pairs, sequences: int, sink: Sink, first: int, ranks: int) -> None:
        """Some ranks of each sequence."""
        kernel, size, results = "util/emit", self.machine.workgroup, sequences * ranks
        workgroups, beside = ceil_div(results, size), sink.beside
        params, constants = {"length": ranks, "first_rank": first}, {}
        if self.machine.software:
            kernel, size = "serial/emit", min(size, _SERIAL)
            line = sink.line(sequences, ranks)
            run = max(1, min(_RUN, results // _RUNS, line))
            params |= {"line": line, "run": run, "neighbours": beside}
            constants = {"WORKGROUP": size}
            workgroups = ceil_div(results // line * ceil_div(line, run), size)
        elif self.turns(sink) and not source.columns:
            kernel, constants = "util/turn", {"TILE_RANKS": _TILE_RANKS, "EACH": _TILE_EACH}
            params["tiles"] = ceil_div(ranks, _TILE_RANKS)
            workgroups = sequences // beside * ceil_div(beside, _TILE_EACH * size // _TILE_RANKS) * params["tiles"]
        self.dispatch(kernel, workgroups, source=source, sink=sink, constants=constants, params=params, ranks=ranks)


def make_dispatch(
    machine: Machine,
    kernel: str,
    workgroups: int,
    bound: Mapping[str, Region],
    constants: Mapping[str, int],
    params: bytes,
) -> Dispatch:
    """A dispatch of what the kernel's text binds and uses; the other names are left away.

    Raises ``ShaderError`` for a constant or a resource that the text has and that is not given.
    """
    text = shaders.specialised(kernel, constants)
    missing = text.resources.keys() - bound.keys() - {"params"}
    if missing:
        raise shaders.ShaderError(f"{kernel}.wgsl binds {', '.join(sorted(missing))}, which the plan does not give")
    bindings = (
        Binding(name, resource.slot, bound[name].resource, bound[name].offset, bound[name].size)
        for name, resource in text.resources.items()
        if name != "params"
    )
    grid = _grid(workgroups, machine.max_compute_workgroups_per_dimension)
    return Dispatch(kernel, text.constants, params, tuple(sorted(bindings, key=lambda b: b.slot)), grid)


def _format_constants(s: Selection) -> dict[str, int]:
    """The constants of ``lib/order`` and of the outputs' types."""
    f = s.format
    return {
        "KEY_WORDS": f.key_words,
        "PAIR_WORDS": f.key_words + 1,
        "MINUS": f.minus,
        "ELEMENT_BYTES": f.bytes,
        "WORD_RANKS": max(1, 4 // f.bytes),
        "HAS_VALUES": int(s.has_values),
        "PACKED": int(s.packed),
        "HELD_WORDS": 1 if s.packed else f.key_words + 1,
    }


def _order_values(s: Selection) -> dict[str, int]:
    """The parameters that tell of elements: their order, their last number, bits of keys."""
    f = s.format
    direction = f.key_mask if s.order.largest_first else 0
    nothing_high, nothing_low = f.last(s.order.largest_first)
    return {
        "flip_high": f.sign_bit ^ direction,
        "flip_low": direction if f.key_words > 1 else 0,
        "largest": f.largest,
        "nan_key": 0 if s.order.nan_first else f.key_mask,
        "index_flip": 0xFFFFFFFF if s.last_index else 0,
        "nothing_high": nothing_high,
        "nothing_low": nothing_low,
        "key_bits": 8 * f.bytes,
        "index_bits": s.index_bits,
    }


def _check_names(kernel: str, bind: Mapping[str, object], constants: Mapping[str, object], params: Mapping[str, object]) -> None:
    """``ShaderError`` for a name that the kernel's text does not have."""
    words, known = shaders.words(kernel), shaders.fields(kernel)
    unknown = [name for name in (*bind, *constants) if name not in words] + [name for name in params if name not in known]
    if unknown:
        raise shaders.ShaderError(f"{kernel}.wgsl has no {', '.join(unknown)}")


def _window(offset: int, span: int, element_bytes: int, unit: int, resource: str) -> Region:
    """The aligned range of ``span`` elements from ``offset`` on, in whole units of bytes."""
    start = offset * element_bytes // ALIGNMENT * ALIGNMENT
    end = (offset + span) * element_bytes
    return Region(start, ceil_div(end - start, unit) * unit, resource)


def _placed(resource: str, offset: int, dims: Iterable[tuple[int, int]], element_bytes: int) -> tuple[Region, int]:
    """Where elements along dimensions (size, stride) are bound, and the place of the first."""
    region = _window(offset, extent(dims), element_bytes, 4, resource)
    return region, offset - region.offset // element_bytes


def _grid(workgroups: int, limit: int) -> tuple[int, int, int]:
    """``workgroups`` in three dimensions, each within the limit. A few too many return at once."""
    z = ceil_div(workgroups, limit**2)
    y = ceil_div(workgroups, limit * z)
    return ceil_div(workgroups, y * z), y, z


def pack(values: Mapping[str, int], dims: Sequence[BatchDim] = (), view: View | None = None) -> bytes:
    """The parameter block of ``lib/io/params.wgsl``, by the names of its fields."""
    words = list(map(values.get, shaders.layout(), repeat(0)))
    words += [0] * (-len(words) % 4)
    batch = list(reversed(dims))
    words += [w for d in batch for w in (d.size, d.input_stride, d.value_stride, d.index_stride)]
    words += [0] * (4 * (8 - len(batch)))
    axes = list(zip(view.sizes, view.selection.axes, view.axis_steps, strict=True))[::-1] if view else []
    words += [w for size, axis, step in axes for w in (size, axis.stride, step, axis.size)]
    words += [0] * (4 * (8 - len(axes)))
    words += [d.besides[3] for d in batch] + [0] * (8 - len(batch))
    return np.array(words, np.int64).astype("<u4").tobytes()
