"""What commands print: tables, and how far they are."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
from rich.table import Table

from .files import write_json


def output_of(width: int, **options: Any) -> Console:
    """Standard output: as wide as the terminal or ``COLUMNS`` says, else ``width``."""
    known = "COLUMNS" in os.environ or (sys.stdout is not None and sys.stdout.isatty())
    return Console(width=None if known else width, highlight=False, **options)


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


def write_document(file: str | None, document: dict[str, Any]) -> None:
    """What a command measured, as JSON."""
    if file is None:
        return
    try:
        write_json(file, document)
    except OSError as problem:
        raise click.UsageError(f"cannot write {file}: {problem.strerror or problem}") from None


def check_folder(file: str | None) -> None:
    """Refuses an output in a folder that there is not, before any work is done for it."""
    if file and not Path(file).absolute().parent.is_dir():
        raise click.UsageError(f"cannot write {file}: there is no directory {Path(file).parent}")
