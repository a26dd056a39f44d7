"""Plans of a running top-k: rows of pairs in the resource "state", and what arrives there."""

from __future__ import annotations

from typing import NamedTuple

from ..selection import FORMATS, AxisDim, BatchDim, ElementFormat, Order, Selection
from .algorithms.parts import bins_of, pair_bytes, parts_for_loads
from .cut import Pieces, views_of
from .machine import Machine, ceil_div, power_of_two_above, power_of_two_below
from .planner import Planner
from .program import Plan, Program
from .regions import ALIGNMENT, Outputs, Pairs, Region, View

_UPDATE = "running/update"  # the kernel that filters what arrives
_HEAD = 4  # words of a row before its pairs
_WORKGROUP = 512  # invocations that serve a sequence: barriers cost more with more
_COLLECTED = 1024  # pairs with keys of one word that a workgroup collects
_PUBLISHED = 65536  # such pairs that the workgroups of all sequences may publish
_MOST_PARTS = 0xFFFF  # of a sequence (shaders/lib/workgroup/last_block.wgsl)
_SHARED = 256  # sequences that have several workgroups each, at most


class Rows(NamedTuple):
    """Rows of ``k`` pairs, of which the resource "state" has one a sequence."""

    element: str  #: A name of FORMATS.
    order: Order
    sequences: int
    k: int
    last_index: bool = False  #: The last of equal items wins.

    @property
    def format(self) -> ElementFormat:
        return FORMATS[self.element]

    @property
    def words(self) -> int:
        """Of a row (``shaders/lib/io/running.wgsl``)."""
        return _HEAD + self.k * (self.format.key_words + 2)

    @property
    def selection(self) -> Selection:
        """The rows by themselves."""
        batch, axes = (BatchDim(self.sequences, 0, 0, 1),), (AxisDim(1, 1),)
        return Selection(self.element, batch, axes, self.k, self.order, self.last_index, has_values=False, has_indices=False)

    def at(self, name: str = "state") -> Region:
        """Where the rows are."""
        return Region(0, 4 * self.sequences * self.words, name)

    def meeting_places(self, machine: Machine) -> int:
        """Pairs that the workgroups of a sequence may publish; 0 where one serves each, or none."""
        if not 1 <= self.sequences <= _SHARED or not _has_room(machine, self):
            return 0
        key_words = self.format.key_words
        return min(_longest(machine, key_words), max(self.k, _PUBLISHED // key_words // self.sequences))

    def meeting(self, machine: Machine) -> Region:
        """Where workgroups meet, behind the rows: zeros between updates."""
        places = self.meeting_places(machine)
        words = self.sequences * (2 + (self.format.key_words + 2) * places) if places else 1
        return Region(ceil_div(self.at().size, ALIGNMENT) * ALIGNMENT, 4 * words, "state")

    def state_bytes(self, machine: Machine) -> int:
        """Bytes of the resource "state"."""
        meeting = self.meeting(machine)
        return meeting.offset + meeting.size


def begin_plan(planner: Planner, rows: Rows) -> Plan:
    """Rows without pairs, to "state"."""

    def build(program: Program, part: Selection, pieces: Pieces) -> None:
        state = rows.at()
        program.clear(rows.meeting(program.machine))
        program.dispatch("running/begin", ceil_div(state.size // 4, program.machine.workgroup), bind={"state": state})

    return planner.compose(rows.selection, build)


def update_plan(
    planner: Planner, rows: Rows, selection: Selection, ids: int, full: bool, *, vectors: bool, shared_input: bool
) -> Plan:
    """The selection's pairs into rows.

    The indices' strides tell a sequence's row. ``ids``: 0 where positions go on; else what the
    resource "ids" has, as ``shaders/lib/io/arriving_items.wgsl`` says. They lie as values.
    ``full``: rows have k pairs already, as far as is known, so that few items will be taken.
    """

    def build(program: Program, part: Selection, pieces: Pieces) -> None:
        start, views = program.arena.used, views_of(part, pieces, program.vectors)
        bind, step = {"state": rows.at()}, {}
        if ids:
            dims = [(part.length, part.value_step), *((d.size, d.value_stride) for d in part.batch)]
            bind["ids"], base = program.beside("ids", part.value_offset, dims, 8 if ids == 3 else 4)
            step = {"value_step": part.value_step, "value_base": base}
        filters = _UPDATE not in program.rejected and _filters(program.machine, views[0], rows)
        if full and len(views) == 1 and filters:
            machine, occupancy = program.machine, planner.policies["occupancy"]
            parts, places = 1, rows.meeting_places(machine)
            if places:
                loads = views[0].loads * machine.workgroup // _workgroup(machine)
                parts = min(_MOST_PARTS, parts_for_loads(machine, occupancy, loads, part.sequences))
            step |= {"advance": part.length, "parts": parts, "meeting_places": places}
            _take(program, views[0], rows.k, bind | {"meeting": rows.meeting(machine)}, {"IDS": ids}, step)
            return
        for number, view in enumerate(views):
            program.arena.used = start
            found = program.pairs(part.sequences, min(part.k, view.length))
            program.run(view, part.sequences, found.length, found)
            advance = part.length if number == len(views) - 1 else 0
            _merge(program, view, found, rows, bind, {"FROM_STATE": 0, "IDS": ids}, step | {"advance": advance})

    return planner.compose(selection, build, vectors=vectors, shared_input=shared_input)


def _longest(machine: Machine, key_words: int) -> int:
    """Pairs of a list that one workgroup sorts, with the keys that are kept beside it."""
    return power_of_two_below(machine.max_compute_workgroup_storage_size // (3 * pair_bytes(key_words)))


def _has_room(machine: Machine, rows: Rows) -> bool:
    """Does one workgroup merge k pairs with as many more? Software adapters never do."""
    return not machine.software and 2 * rows.k <= _longest(machine, rows.format.key_words)


def _filters(machine: Machine, view: View, rows: Rows) -> bool:
    """Does a filter take less than a selection of all items and a merge?"""
    long = view.length >= max(4 * rows.k, 2048)
    return long and not view.selection.last_index and not view.columns and _has_room(machine, rows)


def _workgroup(machine: Machine) -> int:
    return min(_WORKGROUP, machine.widest_workgroup)


def _take(program: Program, view: View, k: int, bind: dict[str, Region], constants: dict[str, int], params: dict[str, int]) -> None:
    """Items that come before the last pair kept into rows, by one dispatch."""
    part, machine = view.selection, program.machine
    key_words, sequences, size = part.format.key_words, part.sequences, _workgroup(program.machine)
    longest = _longest(machine, key_words)
    places = max(4 * size, power_of_two_above(2 * longest))
    lists = program.pairs(sequences, places)
    program.dispatch(
        _UPDATE,
        sequences * params["parts"],
        source=view,
        bind=bind | {"list_keys": lists.keys, "list_indices": lists.indices},
        constants=constants
        | {
            "WORKGROUP": size,
            "COLLECTED": min(_COLLECTED // key_words, longest),
            "EACH": ceil_div(places, size),
            **bins_of(max(8, size.bit_length() - 1), size),
            "PLACES": longest,
            "LONGEST": longest,
            "HELD": power_of_two_above(ceil_div(k, size)),
        },
        params=params
        | {
            "k": k,
            "places": places,
            "longest": longest,
            "index_base": part.index_offset,
        },
    )


def merge_plan(planner: Planner, rows: Rows, own_ids: bool) -> Plan:
    """The pairs of "other" into "state", as if its items came now. ``own_ids``: the caller's."""
    bind = {name: rows.at(name) for name in ("state", "other")}

    def build(program: Program, part: Selection, pieces: Pieces) -> None:
        (view,) = views_of(part, pieces, program.vectors)
        _merge(program, view, None, rows, bind, {"FROM_STATE": 1, "IDS": int(own_ids)}, {})

    return planner.compose(rows.selection, build)


def _merge(
    program: Program,
    view: View,
    arriving: Pairs | None,
    rows: Rows,
    bind: dict[str, Region],
    constants: dict[str, int],
    params: dict[str, int],
) -> None:
    """Pairs in order, or another's rows, into the rows of the view's sequences."""
    part, workgroup, k = view.selection, program.machine.workgroup, rows.k
    sequences, places = part.sequences, k + (k if arriving is None else arriving.length)
    bases = {"k": k, "index_base": part.index_offset}
    following = program.words(sequences * rows.words)
    program.dispatch(
        "running/merge",
        ceil_div(sequences * places, workgroup),
        source=arriving,
        sink=Outputs(view),
        bind=bind | {"next": following},
        constants=constants,
        params=bases | params | {"places": places},
    )
    program.dispatch(
        "running/keep",
        ceil_div(following.size // 4, workgroup),
        sink=Outputs(view),
        bind={"state": bind["state"], "next": following},
        params=bases,
    )


def result_plan(planner: Planner, rows: Rows, index_bytes: int) -> Plan:
    """The pairs of "state" to "values" and "indices", packed."""
    count, size = rows.sequences * rows.k, rows.format.bytes
    bind = {
        "state": rows.at(),
        "values": Region(0, ceil_div(count * size, 4) * 4, "values"),
        "indices": Region(0, count * index_bytes, "indices"),
    }

    def build(program: Program, part: Selection, pieces: Pieces) -> None:
        program.dispatch(
            "running/result",
            ceil_div(ceil_div(count, max(1, 4 // size)), program.machine.workgroup),
            bind=bind,
            params={"length": count, "index_words": index_bytes // 4},
        )

    return planner.compose(rows.selection, build)
