"""``wgdml top-k``."""

from __future__ import annotations

import click

import wgdml
from wgdml.arguments import as_axis, as_k

from .program import compute
from .reading import read_array
from .showing import Table, check_output, file_argument, json_option, nan_option, output_option, report


@click.command(
    "top-k",
    epilog="""\b
Examples:
  wgdml top-k scores.npy -k 5
  wgdml top-k distances.npy -k 3 --smallest --axis 0 -o nearest.npz
  wgdml top-k - -k 10 --json < scores.npy

Equal elements come in ascending order of index.""",
)
@file_argument
@click.option("-k", type=int, required=True, metavar="K", help="How many elements of each sequence.")
@click.option("--axis", type=int, default=-1, show_default=True, help="The axis to select along.")
@click.option("--smallest", is_flag=True, help="Take the smallest elements, ascending, not the largest.")
@nan_option
@output_option(".npz", "arrays 'values' and 'indices'")
@json_option
def top_k_command(file: str, k: int, axis: int, smallest: bool, nan: str, output: str | None, as_json: bool) -> None:
    """The K largest (or smallest) elements of every sequence, with their indices."""
    check_output(output, ".npz", as_json)
    array = read_array(file)
    axis = compute(as_axis, axis, array.ndim)
    k = compute(as_k, k, array.shape[axis])
    mode = "smallest" if smallest else "largest"
    values, indices = compute(wgdml.top_k, array, k, axis=axis, mode=mode, nan=nan)

    heading = f"{k} {mode} of {file} {array.shape} {array.dtype.name}, axis {axis}"
    table = Table(heading, values.shape, [axis], {"index": indices.__getitem__, "value": values.__getitem__})
    facts = {"axis": axis, "k": k, "mode": mode, "nan": nan}
    report("top-k", file, array, facts, {"values": values, "indices": indices}, output, as_json, table)
