"""Where results go: standard output, or a file that could be written."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import IO

from wgdml.files import is_special, target_of, write_stream, write_whole

from .program import BadInput


def check_output(output: str | None, suffix: str, as_json: bool) -> None:
    """Refuse an output that could not be written, before any work is done for it."""
    if output is None:
        return
    if output == "-":
        if as_json:
            raise BadInput("-o - and --json both write to standard output: give one of them")
        if sys.stdout is None:
            raise BadInput("-o - but standard output is closed")
        if sys.stdout.isatty():
            raise BadInput("-o - would write binary data to the terminal: redirect standard output")
        return
    other = {".npy": ".npz", ".npz": ".npy"}[suffix]
    if output.endswith(other):
        what = "one array" if suffix == ".npy" else "two arrays"
        raise BadInput(f"-o {output}: this command writes {what}, so the name must end in {suffix}")
    try:
        target = target_of(output)
        if target.is_dir():
            reason = "it is a directory"
        elif not target.parent.is_dir():
            reason = f"there is no directory {target.parent}"
        elif not os.access(target if is_special(target) else target.parent, os.W_OK):
            reason = "permission denied"
        else:
            return
    except (OSError, ValueError, RuntimeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
    raise BadInput(f"cannot write {output}: {reason}")


def write_output(output: str | None, save: Callable[[IO[bytes]], None]) -> None:
    if output == "-":
        write_stream(sys.stdout.buffer, save)
    elif output is not None:
        try:
            write_whole(output, save)
        except OSError as problem:
            raise BadInput(f"cannot write {output}: {problem.strerror or problem}") from None
