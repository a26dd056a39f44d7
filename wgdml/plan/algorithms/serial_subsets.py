"""Subsets of a sequence's loads, each read by one invocation (``lib/io/subsets.wgsl``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..machine import ceil_div
from ..program import Program
from ..regions import Region, Sink, Source, View

_WORKGROUP, WIDE_WORKGROUP = 16, 64  # invocations of long loops, and of short ones
_COALESCED = 8  # invocations that run together
_APART = 64  # pages in which items of a subset may lie
_PAGE = 4096  # bytes
_LONGEST = 1 << 14  # loads of a subset; lavapipe ends loops after 65,535 iterations
_UNROLL = 4  # loads of a turn of the loop that finds the best


@dataclass(frozen=True)
class Subsets:
    """How a sequence is cut: ``lanes`` neighbouring subsets of ``members`` loads share a run."""

    count: int
    members: int
    lanes: int
    per_load: int  #: Items of a load: several where the sequence is a row.

    @staticmethod
    def of(source: Source, count: int, *, apart: bool = True, lanes: int = _COALESCED) -> Subsets:
        """So many subsets or fewer.

        They are more where an item's neighbours lie ``apart``, in many pages.
        """
        if apart and isinstance(source, View) and not source.rows:
            step = min(_PAGE, max(a.stride for a in source.selection.axes) * source.selection.format.bytes)
            count = max(count, ceil_div(source.length * step, _APART * _PAGE))
        loads = source.most_loads
        count = max(count, ceil_div(loads, _LONGEST))
        lanes = min(lanes, count)
        members = ceil_div(loads, ceil_div(count, lanes) * lanes)
        runs = ceil_div(loads, lanes * members)
        # The last run may be short.
        last = min(lanes, loads - (runs - 1) * lanes * members)
        return Subsets((runs - 1) * lanes + last, members, lanes, source.per_load)

    def constants(self, source: Source) -> dict[str, int]:
        """Those of ``lib/io/source.wgsl``. Rows come by loads of several items."""
        if not isinstance(source, View):
            return {}
        if self.per_load > 1:
            return {"SOURCE_ROWS": 1, "INPUT_WORDS": 4 if source.vectors else 1}
        return {"SOURCE_ROWS": 0, "PER_LOAD": 1}

    def params(self, source: Source, sequences: int) -> dict[str, int]:
        """How invocations share the subsets of all sequences."""
        neighbours = sequences if source.columns else 1
        return {"subsets": self.count, "members": self.members, "lanes": self.lanes, "neighbours": neighbours}


def words_of(source: Source) -> dict[str, int]:
    """Constants for loads of one word: several items of a narrow type's rows, else one."""
    if isinstance(source, View) and source.rows and source.selection.format.bytes < 4:
        return {"SOURCE_ROWS": 1, "LOAD_WORDS": 1, "PER_LOAD": 4 // source.selection.format.bytes}
    return {"SOURCE_ROWS": 0, "PER_LOAD": 1}


def dispatch_invocations(
    program: Program,
    kernel: str,
    invocations: int,
    *,
    source: Source | None = None,
    params: Mapping[str, int],
    sink: Sink | None = None,
    bind: Mapping[str, Region] | None = None,
    constants: Mapping[str, int] | None = None,
    workgroup: int = _WORKGROUP,
) -> None:
    """A dispatch of so many invocations, by as few variants of its kernel as can be."""
    size = min(workgroup, program.machine.widest_workgroup)
    few = {"WORKGROUP": size, "INPUT_WORDS": 1}
    if isinstance(source, View) and source.selection.ragged:
        params = {"least": source.length} | dict(params)  # No subset may be empty.
    program.dispatch(
        kernel,
        ceil_div(invocations, size),
        source=source,
        sink=sink,
        bind=bind,
        constants=few | dict(constants or {}),
        params=params,
    )


def reduce_subsets(
    program: Program, source: Source, sequences: int, sink: Sink, subsets: Subsets, params: Mapping[str, int] | None = None
) -> None:
    dispatch_invocations(
        program,
        "serial/reduce",
        sequences * subsets.count,
        source=source,
        sink=sink,
        constants=subsets.constants(source)
        | {
            "IN_ORDER": int(program.in_order(source)),
            "UNROLL": _UNROLL,
            "EXTREMES": int(subsets.per_load > 1 and program.has_extremes(source)),
        },
        params=subsets.params(source, sequences) | dict(params or {}),
        workgroup=WIDE_WORKGROUP,
    )
