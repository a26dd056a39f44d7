"""The algorithms, by name. ``register`` adds one; its rule in ``choose`` says when it is taken."""

from __future__ import annotations

from typing import Any

from .base import Algorithm
from .delegates import Delegates
from .radix_select import RadixSelect
from .radix_sort import RadixSort
from .reduce import Reduce
from .reduce_axes import ReduceAxes
from .row_sort_bitonic import RowSortBitonic
from .row_sort_buckets import RowSortBuckets
from .row_sort_radix import RowSortRadix
from .row_sort_rank import RowSortRank
from .sample_select import SampleSelect
from .sample_sort import SampleSort
from .select_bisect import SelectBisect
from .select_digits import SelectDigits
from .select_lists import SelectLists
from .select_networks import SelectNetworks
from .select_radix import SelectRadix
from .select_rows import SelectRows
from .select_spans import SelectSpans
from .select_teams import SelectTeams
from .serial_lists import SerialLists
from .serial_merge import SerialMerge
from .serial_radix_sort import SerialRadixSort
from .serial_reduce import SerialReduce
from .serial_sample import SerialSample
from .serial_select import SerialSelect
from .transpose import Transpose

__all__ = ["ALGORITHMS", "Algorithm", "register", "unregister"]

#: Every algorithm by its name.
ALGORITHMS: dict[str, type[Algorithm[Any]]] = {}


def register(algorithm: type[Algorithm[Any]]) -> type[Algorithm[Any]]:
    """Adds an algorithm to planners made from now on. ``ValueError`` for a name that is taken."""
    if algorithm.name in ALGORITHMS:
        raise ValueError(f"there is an algorithm named {algorithm.name!r} already")
    ALGORITHMS[algorithm.name] = algorithm
    return algorithm


def unregister(name: str) -> None:
    """Removes an algorithm."""
    del ALGORITHMS[name]


for _algorithm in (
    Reduce,
    ReduceAxes,
    SelectRows,
    SelectNetworks,
    SelectSpans,
    SelectLists,
    SelectTeams,
    SelectRadix,
    SelectBisect,
    SelectDigits,
    Delegates,
    SampleSelect,
    SampleSort,
    Transpose,
    RowSortRank,
    RowSortBitonic,
    RowSortRadix,
    RowSortBuckets,
    RadixSelect,
    RadixSort,
    SerialLists,
    SerialMerge,
    SerialRadixSort,
    SerialReduce,
    SerialSample,
    SerialSelect,
):
    register(_algorithm)
