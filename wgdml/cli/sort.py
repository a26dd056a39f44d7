"""``wgdml sort``."""

from __future__ import annotations

from typing import Any

import click

import wgdml
from wgdml.arguments import as_axis

from .program import compute
from .reading import read_array
from .showing import Table, check_output, file_argument, json_option, nan_option, output_option, report


@click.command(
    "sort",
    epilog="""\b
Examples:
  wgdml sort scores.npy -o sorted.npy
  wgdml sort scores.npy --descending --indices --axis 0

The sort is stable: equal elements keep their order.""",
)
@file_argument
@click.option("--axis", type=int, default=-1, show_default=True, help="The axis to sort along.")
@click.option("--descending", is_flag=True, help="Largest first.")
@click.option("--indices", "as_indices", is_flag=True, help="Give the indices that sort (argsort), not the values.")
@nan_option
@output_option(".npy", "the result")
@json_option
def sort_command(file: str, axis: int, descending: bool, as_indices: bool, nan: str, output: str | None, as_json: bool) -> None:
    """Every sequence in order, or the indices that would put it in order."""
    check_output(output, ".npy", as_json)
    array = read_array(file)
    axis = compute(as_axis, axis, array.ndim)

    function = wgdml.argsort if as_indices else wgdml.sort
    result = compute(function, array, axis=axis, descending=descending, nan=nan)

    def sorted_value(at: tuple[int, ...]) -> Any:
        return array[(*at[:axis], int(result[at]), *at[axis + 1 :])]

    cells = {"index": result.__getitem__, "value": sorted_value} if as_indices else {"value": result.__getitem__}
    order = "descending" if descending else "ascending"
    heading = f"{file} {array.shape} {array.dtype.name} sorted along axis {axis}, {order}"
    facts = {"axis": axis, "descending": descending, "nan": nan}
    results = {"indices" if as_indices else "values": result}
    report("sort", file, array, facts, results, output, as_json, Table(heading, result.shape, [axis], cells))
