"""Plans of a running top-k: rows of pairs in the resource "state", and what arrives there."""

from __future__ import annotations

from ..selection import FORMATS, AxisDim, BatchDim, ElementFormat, Order, Selection
from .cut import Pieces, views_of
from .machine import ceil_div
from .program import Plan, Program
from .ranks import Composes
from .regions import Outputs, Pairs, Region, View

__all__ = ["begin_plan", "merge_plan", "result_plan", "row_bytes", "update_plan"]

_HEAD = 4  # words


def row_bytes(form: ElementFormat, k: int) -> int:
    """Bytes of a sequence's row (``shaders/lib/io/running.wgsl``)."""
    return 4 * (_HEAD + k * (form.key_words + 2))


def _fill(element: str, order: Order) -> dict[str, int]:
    """The bits of the type's last number in the order, which stand for no pair."""
    form = FORMATS[element]
    high, low = (form.sign_bit, 0) if order.largest_first else (~form.sign_bit & form.key_mask, 0xFFFFFFFF)
    if form.minus:
        high, low = form.largest | (form.minus if order.largest_first else 0), 0
    if element == "bool":
        high = min(high, 1 << 24)
    return {"FILL_HIGH": high, "FILL_LOW": low}


def _rows(element: str, order: Order, sequences: int, k: int, last_index: bool, index_bytes: int = 4) -> Selection:
    """The rows of a running top-k by themselves."""
    batch = (BatchDim(sequences, 0, 0, 1),)
    axes = (AxisDim(1, 1),)
    return Selection(element, batch, axes, k, order, last_index, has_values=False, has_indices=False, index_bytes=index_bytes)


def _state(selection: Selection, sequences: int, k: int, name: str = "state") -> Region:
    return Region(0, sequences * row_bytes(selection.format, k), name)


def begin_plan(planner: Composes, element: str, order: Order, sequences: int, k: int) -> Plan:
    """Rows without pairs, to "state"."""
    selection = _rows(element, order, sequences, k, False)
    state = _state(selection, sequences, k)

    def build(program: Program, part: Selection, pieces: Pieces) -> None:
        program.dispatch(
            "running/begin",
            ceil_div(state.size // 4, program.machine.workgroup),
            bind={"state": state},
            constants=_fill(element, order),
        )

    return planner.compose(selection, build, vectors=False, shared_input=False)


def update_plan(
    planner: Composes, selection: Selection, sequences: int, k: int, ids: int, *, vectors: bool, shared_input: bool
) -> Plan:
    """The selection's pairs into rows of k pairs, of which "state" has one a sequence.

    The indices' strides tell a sequence's row. ``ids``: 0 where positions go on; else what the
    resource "ids" has, as ``shaders/lib/io/arriving_pairs.wgsl`` says. They lie as values.
    """
    region = Region(0, planner.machine.max_storage_buffer_binding_size // 4 * 4, "ids")
    bind = {"state": _state(selection, sequences, k)} | ({"ids": region} if ids else {})

    def build(program: Program, part: Selection, pieces: Pieces) -> None:
        start, views = program.arena.used, views_of(part, pieces, program.vectors)
        for number, view in enumerate(views):
            program.arena.used = start
            found = program.pairs(part.sequences, min(part.k, view.length))
            program.run(view, part.sequences, found.length, found)
            advance = part.length if number == len(views) - 1 else 0
            _merge(
                program, view, found, k, bind, {"FROM_STATE": 0, "IDS": ids}, {"advance": advance, "value_step": part.value_step}
            )

    return planner.compose(selection, build, vectors=vectors, shared_input=shared_input)


def merge_plan(planner: Composes, element: str, order: Order, sequences: int, k: int, last_index: bool, own_ids: bool) -> Plan:
    """The pairs of "other" into "state", as if its items came now. ``own_ids``: the caller's."""
    selection = _rows(element, order, sequences, k, last_index)
    bind = {"state": _state(selection, sequences, k), "other": _state(selection, sequences, k, "other")}

    def build(program: Program, part: Selection, pieces: Pieces) -> None:
        (view,) = views_of(part, pieces, program.vectors)
        _merge(program, view, None, k, bind, {"FROM_STATE": 1, "IDS": int(own_ids)}, {})

    return planner.compose(selection, build, vectors=False, shared_input=False)


def _merge(
    program: Program,
    view: View,
    arriving: Pairs | None,
    k: int,
    bind: dict[str, Region],
    constants: dict[str, int],
    params: dict[str, int],
) -> None:
    """Pairs in order, or another's rows, into the rows of the view's sequences."""
    part, workgroup = view.selection, program.machine.workgroup
    sequences, places = part.sequences, k + (k if arriving is None else arriving.length)
    bases = {"k": k, "index_base": part.index_offset, "value_base": part.value_offset}
    following = program.words(sequences * row_bytes(part.format, k) // 4)
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
        params={"k": k, "index_base": part.index_offset},
    )


def result_plan(planner: Composes, element: str, order: Order, sequences: int, k: int, index_bytes: int) -> Plan:
    """The pairs of "state" to "values" and "indices", packed."""
    selection = _rows(element, order, sequences, k, False)
    count, size = sequences * k, selection.format.bytes
    bind = {
        "state": _state(selection, sequences, k),
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

    return planner.compose(selection, build, vectors=False, shared_input=False)
