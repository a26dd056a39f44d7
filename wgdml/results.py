"""What functions return."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["TopKResult"]


class TopKResult(NamedTuple):
    """The result of ``top_k``: both of the input's shape, with k along the axis."""

    values: Any
    indices: Any
