"""Results on standard output: tables, JSON; and the options that all commands of arrays have."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click
import numpy as np

from wgdml.files import write_all
from wgdml.terminal import output_of, table_of

from .program import printable
from .reading import Array
from .writing import write_output

TABLE_ROWS = 20

file_argument = click.argument("file", metavar="FILE")
json_option = click.option("--json", "as_json", is_flag=True, help="Print all of it as one JSON object.")
nan_option = click.option(
    "--nan",
    type=click.Choice(["greatest", "last"]),
    default="greatest",
    show_default=True,
    help="What NaN is: greater than every number (and found by argmin and min too), or after every number.",
)


def output_option(suffix: str, content: str) -> Callable[[Any], Any]:
    text = f"Write {content} to this file (- for standard output)."
    return click.option("-o", "--output", metavar=f"OUT{suffix}", help=text)


def emit(text: str) -> None:
    stream = sys.stdout
    if stream is None:  # closed by whoever started the program
        return
    stream.flush()
    write_all(stream.buffer, text.encode(stream.encoding or "utf-8", "backslashreplace"))


def emit_json(document: dict[str, Any]) -> None:
    emit(json.dumps(document, allow_nan=False) + "\n")


def _jsonable(array: Array) -> Any:
    """Nested lists; NaN and the infinities as strings, since JSON has no numbers for them."""
    if array.dtype.kind != "f" or bool(np.isfinite(array).all()):
        return array.tolist()
    objects = array.astype(object)
    objects[np.isnan(array)] = "NaN"
    objects[np.isposinf(array)] = "Infinity"
    objects[np.isneginf(array)] = "-Infinity"
    return objects.tolist()


def emit_table(heading: str, columns: Sequence[str], rows: Sequence[Sequence[str]], total: int, footer: str | None) -> None:
    table = table_of(columns, ("row",))
    for row in rows:
        table.add_row(*row)
    console = output_of(120, markup=False, emoji=False)
    # Captured first and written in one go: rich would end the process itself on a closed pipe.
    with console.capture() as captured:
        console.print(printable(heading), soft_wrap=True)
        if rows:
            console.print(table)
        if total > len(rows):
            more = f"... and {total - len(rows):,} more rows; --json or -o gives all of them"
            console.print(more, soft_wrap=True)
        if footer is not None:
            console.print(printable(footer), soft_wrap=True)
    emit(captured.get())


def row_name(position: Sequence[int], axes: Sequence[int], ndim: int) -> str:
    """The sequence at ``position`` in NumPy's index notation, ``[3, :, 0]``."""
    rest = iter(position)
    return "[" + ", ".join(":" if axis in axes else str(next(rest)) for axis in range(ndim)) + "]"


def emit_sequences(heading: str, result: Array, axis: int, cells: dict[str, Callable[[Any], Any]], footer: str | None) -> None:
    """A table of a result's first elements along an axis; ``cells``: what a column shows."""
    batch = [size for number, size in enumerate(result.shape) if number != axis]
    rows = []
    for flat in range(min(result.size, TABLE_ROWS)):
        sequence, place = divmod(flat, result.shape[axis])
        position = [int(i) for i in np.unravel_index(sequence, batch)] if batch else []
        at = (*position[:axis], place, *position[axis:])
        name = [row_name(position, [axis], result.ndim)] if batch else []
        rows.append([*name, str(place + 1), *(str(cell(at)) for cell in cells.values())])
    columns = ["row"] * bool(batch) + ["rank", *cells]
    emit_table(heading, columns, rows, result.size, footer)


def report(
    command: str,
    file: str,
    array: Array,
    facts: dict[str, Any],
    results: dict[str, Array],
    output: str | None,
    as_json: bool,
    table: Callable[[str | None], None],
) -> None:
    """Hand the results over: to the output file, and as JSON or as a table."""
    if len(results) > 1:
        # savez's signature does not know that these are arrays by name.
        write_output(output, lambda stream: np.savez(stream, **results))  # type: ignore[arg-type]
    else:
        (only,) = results.values()
        write_output(output, lambda stream: np.lib.format.write_array(stream, only, allow_pickle=False))
    if as_json:
        document = {"command": command, "file": file, "shape": list(array.shape), "dtype": str(array.dtype)}
        document |= facts
        document |= {"output": output} if output is not None else {}
        document |= {name: _jsonable(result) for name, result in results.items()}
        emit_json(document)
    elif output != "-":
        shapes = ", ".join(f"{name} {a.dtype} {a.shape}" for name, a in results.items())
        table(None if output is None else f"wrote {output}: {shapes}")
