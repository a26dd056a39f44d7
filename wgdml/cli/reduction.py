"""``wgdml argmax``, ``argmin``, ``max`` and ``min``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import numpy as np

import wgdml
from wgdml.arguments import as_axes

from .program import compute
from .reading import Array, read_array
from .showing import Table, check_output, file_argument, json_option, nan_option, output_option, report


def _extreme_command(name: str, which: str, examples: str) -> click.Command:
    """``name``: that of the function. ``max`` and ``min`` give values and indices."""
    has_values = not name.startswith("arg")
    rules = "Over several axes the index is flattened, row by row, over those axes in ascending order."
    epilog = f"\b\nExamples:\n{examples}\n\n{rules}"
    what = f"The {which} element and its index" if has_values else f"The index of the {which} element"
    suffix, content = (".npz", "arrays 'values' and 'indices'") if has_values else (".npy", "the indices")

    def extreme(
        file: str, axes: tuple[int, ...], keepdims: bool, nan: str, output: str | None, as_json: bool, last: bool = False
    ) -> None:
        check_output(output, suffix, as_json)
        array = read_array(file)
        reduced = list(compute(as_axes, axes or None, array.shape))

        options: dict[str, Any] = {"return_indices": True} if has_values else {"select_last_index": last}
        found = compute(getattr(wgdml, name), array, axis=axes or None, keepdims=keepdims, nan=nan, **options)
        results = dict(zip(("values", "indices"), found, strict=True)) if has_values else {"indices": found}
        kept = np.asarray(results["indices"]).reshape([1 if a in reduced else n for a, n in enumerate(array.shape)])
        over = "all axes" if not axes else f"axis {', '.join(map(str, reduced))}"
        heading = f"{name} of {file} {array.shape} {array.dtype.name}, over {over}"
        facts = {"axis": reduced if axes else None, "keepdims": keepdims, "nan": nan} | ({} if has_values else {"last": last})
        table = Table(heading, kept.shape, reduced, _cells(array, reduced, kept), ranked=False)
        report(name, file, array, facts, results, output, as_json, table)

    options = [
        file_argument,
        click.option("--axis", "axes", type=int, multiple=True, help="Reduce over this axis; repeatable.  [default: all axes]"),
        click.option("--keepdims", is_flag=True, help="Keep the axes reduced over, with length 1."),
        *([] if has_values else [click.option("--last", is_flag=True, help="Of equal elements take the last, not the first.")]),
        nan_option,
        output_option(suffix, content),
        json_option,
    ]
    for option in reversed(options):
        extreme = option(extreme)
    return click.command(name, help=f"{what}, over all axes or the ones given.", epilog=epilog)(extreme)


def _cells(array: Array, reduced: list[int], indices: Array) -> dict[str, Callable[[Any], Any]]:
    """What a row shows of a result: the index, its position in several axes, the element."""

    def position(at: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(i) for i in np.unravel_index(indices[at], [array.shape[a] for a in reduced]))

    def value(at: tuple[int, ...]) -> Any:
        within = dict(zip(reduced, position(at), strict=True))
        return array[tuple(within.get(axis, place) for axis, place in enumerate(at))]

    several = {"position": position} if len(reduced) > 1 else {}
    return {"index": indices.__getitem__, **several, "value": value}


#: Each with what it finds and its examples.
extreme_commands = [
    _extreme_command(
        "argmax",
        "largest",
        """  wgdml argmax scores.npy
  wgdml argmax scores.npy --axis 1 --last
  wgdml argmax volume.npy --axis 1 --axis 2 --keepdims -o best.npy""",
    ),
    _extreme_command(
        "argmin",
        "smallest",
        """  wgdml argmin distances.npy
  wgdml argmin distances.npy --axis 1 --json""",
    ),
    _extreme_command(
        "max",
        "largest",
        """  wgdml max scores.npy
  wgdml max scores.npy --axis 1 --nan last -o best.npz""",
    ),
    _extreme_command(
        "min",
        "smallest",
        """  wgdml min distances.npy
  wgdml min distances.npy --axis 1 --nan last -o best.npz""",
    ),
]
