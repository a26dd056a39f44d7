"""Arithmetic that several algorithms share."""

from __future__ import annotations

from functools import cache

from ..machine import Machine, ceil_div, power_of_two_above
from ..regions import View

__all__ = ["KTH_BYTES", "class_above", "class_tile", "pair_bytes", "register_tile", "threshold_workgroup"]


def pair_bytes(key_words: int) -> int:
    """Bytes of a pair in workgroup memory: three words are padded to four."""
    return 8 * key_words


def register_tile(source: View, team: int, at_a_time: int = 1) -> dict[str, int]:
    """The constants of ``lib/io/register_tile.wgsl`` for a team of so many invocations; LOADS is a multiple of ``at_a_time``."""
    loads = ceil_div(source.most_loads, team * at_a_time) * at_a_time
    return {"LOADS": loads, "WHOLE": source.length // (team * source.per_load), "SKEWED": int(source.skewed)}


def class_above(n: int, steps: int) -> int:
    """The least of few sizes from n on: ``steps`` of them from one power of two to the next."""
    step = max(1, power_of_two_above(n) // (2 * steps))
    return ceil_div(n, step) * step


#: Sizes of register tiles up to this are their own classes: a load too many costs most where loads are few.
_EXACT = 16


def class_tile(source: View, team: int, at_a_time: int, steps: int) -> dict[str, int]:
    """As ``register_tile``, in few sizes.

    Either all loads are whole, or those of the size below, but for one where rows are skewed.
    """
    tile = register_tile(source, team, at_a_time)
    turns = tile["LOADS"] // at_a_time
    size = turns if turns <= _EXACT else class_above(turns, steps)
    below = next((n for n in range(size - 1, 0, -1) if n <= _EXACT or class_above(n, steps) == n), 0)
    loads, ragged = size * at_a_time, max(0, below * at_a_time - tile["SKEWED"])
    whole = next(n for n in (loads, ragged, 0) if n <= tile["WHOLE"])
    return tile | {"LOADS": loads, "WHOLE": whole}


#: Bytes of workgroup memory of ``lib/workgroup/kth.wgsl`` with 2048 counters, besides two words an invocation.
KTH_BYTES = 8448


@cache
def threshold_workgroup(machine: Machine, key_words: int) -> int:
    """The most invocations that look for a threshold together: counters, and three words and a pair each."""
    size = min(1024, machine.widest_workgroup)
    while KTH_BYTES + size * (12 + pair_bytes(key_words)) > machine.max_compute_workgroup_storage_size:
        size //= 2
    return size
