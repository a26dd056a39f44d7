"""The plan that merges partial results of several chunks of one array."""

from __future__ import annotations

from .machine import Machine, ceil_div
from .program import Plan, make_dispatch, pack
from .regions import Region

_WORKGROUP = 64


def merge_plan(machine: Machine, rows: int, k: int, chunks: int, chunk_step: int) -> Plan:
    """From positions among the results of ``chunks`` chunks to indices of the whole, k a row.

    Its resources are "positions", "partial" (the indices of each chunk, ``chunk_step`` apart),
    "first_indices" (one a chunk) and "result".
    """
    count = rows * k
    bound = {
        "positions": Region(0, 4 * count, "positions"),
        "partial": Region(0, 8 * chunks * chunk_step, "partial"),
        "first_indices": Region(0, 8 * chunks, "first_indices"),
        "result": Region(0, 8 * count, "result"),
    }
    params = pack({"length": count, "k": k, "source_step": chunk_step})
    workgroups = ceil_div(count, _WORKGROUP)
    constants = {"WORKGROUP": _WORKGROUP, "MANY_BATCH_DIMS": 0}
    dispatch = make_dispatch(machine, "util/merge_indices", workgroups, bound, constants, params)
    return Plan((dispatch,), 0, ("merge",))
