"""``wgdml argmax``."""

from __future__ import annotations

import click

from .reduction import extreme, extreme_options

__all__ = ["argmax_command"]


@click.command(
    "argmax",
    epilog="""\b
Examples:
  wgdml argmax scores.npy
  wgdml argmax scores.npy --axis 1 --last
  wgdml argmax volume.npy --axis 1 --axis 2 --keepdims -o best.npy

Over several axes the index is flattened, row by row, over those axes in ascending order.
The first NaN wins.""",
)
@extreme_options
def argmax_command(file: str, axes: tuple[int, ...], keepdims: bool, last: bool, output: str | None, as_json: bool) -> None:
    """The index of the largest element, over all axes or the ones given."""
    extreme("argmax", file, axes, keepdims, last, output, as_json)
