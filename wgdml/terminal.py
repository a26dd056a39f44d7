"""What commands print: tables, and how far they are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, NoReturn

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
from rich.table import Table

from .files import is_special, save_json, target_of, write_whole


class _Output(Console):
    """Tells that who read the output has gone. Rich itself ends the process with status 1."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def output_of(width: int, **options: Any) -> Console:
    """Standard output: as wide as the terminal or ``COLUMNS`` says, else ``width``."""
    return _Output(width=shutil.get_terminal_size((width, 0)).columns or width, highlight=False, **options)


def progress(width: int, *columns: ProgressColumn) -> Progress:
    """A bar behind what is done, on a terminal's standard error, that leaves nothing behind."""
    errors = Console(stderr=True)
    text = TextColumn(f"{{task.description:{width}}}")
    return Progress(text, BarColumn(), *columns, console=errors, transient=True, disable=not errors.is_terminal)


def table_of(columns: Sequence[str], left: Sequence[str], folded: Sequence[str] = (), title: str | None = None) -> Table:
    """``left``: the columns of words. ``folded``: those that may take several lines."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column in left else "right", no_wrap=column not in folded)
    return table


def check_writable(file: str) -> None:
    """Refuses an output that could not be written, before any work is done for it."""
    try:
        target = target_of(file)
        if file == "-":
            reason = "standard output has what is printed: name a file"
        elif target.is_dir() or not os.path.basename(file):
            reason = "it is a directory"
        elif not target.parent.is_dir():
            given = Path(file).parent  # which a link may be in, to another one
            reason = f"there is no directory {target.parent if given.is_dir() else given}"
        elif not os.access(target if is_special(target) else target.parent, os.W_OK):
            reason = "permission denied"
        else:
            return
    except (OSError, ValueError, RuntimeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
    raise click.UsageError(f"cannot write {file}: {reason}")


def write_file(file: str, save: Callable[[IO[bytes]], None]) -> None:
    """Writes a file whole, as the user asked for it."""
    try:
        write_whole(file, save)
    except OSError as problem:
        raise click.UsageError(f"cannot write {file}: {problem.strerror or problem}") from None


def write_document(file: str | None, document: dict[str, Any]) -> None:
    """What a command measured, as JSON."""
    if file is not None:
        write_file(file, partial(save_json, document))
