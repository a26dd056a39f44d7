"""What functions return."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["TopKResult"]


class TopKResult(NamedTuple):
    """Elements and where they are, of one shape: what ``top_k`` returns, and ``max`` and ``min`` with ``return_indices``."""

    values: Any
    indices: Any
