"""Where results go: standard output, or a file that could be written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import IO

import click

from wgdml.files import write_stream
from wgdml.terminal import check_writable, write_file


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


def write_output(output: str | None, save: Callable[[IO[bytes]], None]) -> None:
    if output == "-":
        write_stream(sys.stdout.buffer, save)
    elif output is not None:
        write_file(output, save)
