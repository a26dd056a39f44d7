"""What functions return."""

from __future__ import annotations

from typing import Any, NamedTuple


class TopKResult(NamedTuple):
    """Elements and where they are, of one shape. ``max`` and ``min`` give it on request."""

    values: Any
    indices: Any


class SortResult(NamedTuple):
    """Sorted elements and what came with each, of one shape."""

    values: Any
    payload: Any
