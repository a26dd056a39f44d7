"""``wgdml argmin``."""

from __future__ import annotations

import click

from .reduction import extreme, extreme_options

__all__ = ["argmin_command"]


@click.command(
    "argmin",
    epilog="""\b
Examples:
  wgdml argmin distances.npy
  wgdml argmin distances.npy --axis 1 --json

Over several axes the index is flattened, row by row, over those axes in ascending order.
The first NaN wins.""",
)
@extreme_options
def argmin_command(file: str, axes: tuple[int, ...], keepdims: bool, last: bool, output: str | None, as_json: bool) -> None:
    """The index of the smallest element, over all axes or the ones given."""
    extreme("argmin", file, axes, keepdims, last, output, as_json)
