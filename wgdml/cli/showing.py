"""Where results go: tables, JSON, files; and the options that all commands of arrays have."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import IO, Any

import click
import numpy as np

from wgdml.files import write_all, write_stream
from wgdml.terminal import check_writable, output_of, table_of, write_file

from .program import printable
from .reading import Array

_TABLE_ROWS = 20

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


@dataclass(frozen=True)
class Table:
    """The first of a result's elements, sequence by sequence; ``cells``: what a column shows."""

    heading: str
    shape: tuple[int, ...]  #: Of the result, with the axes of its sequences.
    axes: Sequence[int]
    cells: dict[str, Callable[[Any], Any]]
    ranked: bool = True

    def emit(self, footer: str | None) -> None:
        batch = [axis for axis in range(len(self.shape)) if axis not in self.axes]
        order = [*batch, *self.axes]
        columns = ["row"] * bool(batch) + ["rank"] * self.ranked + [*self.cells]
        table, total = table_of(columns, ("row",)), prod(self.shape)
        for number in range(min(total, _TABLE_ROWS)):
            places = np.unravel_index(number, [self.shape[axis] for axis in order])
            at = tuple(int(place) for _, place in sorted(zip(order, places, strict=True)))
            # NumPy's index notation: [3, :, 0].
            row = "[" + ", ".join(":" if axis in self.axes else str(place) for axis, place in enumerate(at)) + "]"
            names = [row] * bool(batch) + ([str(int(places[-1]) + 1)] if self.ranked else [])
            table.add_row(*names, *(str(cell(at)) for cell in self.cells.values()))
        console = output_of(120, markup=False, emoji=False)
        # Captured first and written in one go: rich would end the process itself on a closed pipe.
        with console.capture() as captured:
            console.print(printable(self.heading), soft_wrap=True)
            if total:
                console.print(table)
            if total > _TABLE_ROWS:
                more = f"... and {total - _TABLE_ROWS:,} more rows; --json or -o gives all of them"
                console.print(more, soft_wrap=True)
            if footer is not None:
                console.print(printable(footer), soft_wrap=True)
        emit(captured.get())


def check_output(output: str | None, suffix: str, as_json: bool) -> None:
    """Refuse an output that could not be written, before any work is done for it."""
    if output is None:
        return
    if output == "-":
        if as_json:
            raise click.UsageError("-o - and --json both write to standard output: give one of them")
        if sys.stdout is None:
            raise click.UsageError("-o - but standard output is closed")
        if sys.stdout.isatty():
            raise click.UsageError("-o - would write binary data to the terminal: redirect standard output")
        return
    other = {".npy": ".npz", ".npz": ".npy"}[suffix]
    if output.endswith(other):
        what = "one array" if suffix == ".npy" else "two arrays"
        raise click.UsageError(f"-o {output}: this command writes {what}, so the name must end in {suffix}")
    check_writable(output)


def report(
    command: str,
    file: str,
    array: Array,
    facts: dict[str, Any],
    results: dict[str, Array],
    output: str | None,
    as_json: bool,
    table: Table,
) -> None:
    """Hand the results over: to the output file, and as JSON or as a table."""
    if output is not None:
        save: Callable[[IO[bytes]], None]
        if len(results) > 1:
            # savez's signature does not know that these are arrays by name.
            save = partial(np.savez, **results)  # type: ignore[arg-type]
        else:
            (only,) = results.values()
            save = partial(np.lib.format.write_array, array=only, allow_pickle=False)
        if output == "-":
            write_stream(sys.stdout.buffer, save)
        else:
            write_file(output, save)
    if as_json:
        document = {"command": command, "file": file, "shape": list(array.shape), "dtype": array.dtype.name}
        document |= facts
        document |= {"output": output} if output is not None else {}
        document |= {name: _jsonable(result) for name, result in results.items()}
        emit_json(document)
    elif output != "-":
        shapes = ", ".join(f"{name} {a.dtype} {a.shape}" for name, a in results.items())
        table.emit(None if output is None else f"wrote {output}: {shapes}")
