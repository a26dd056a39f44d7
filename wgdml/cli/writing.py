"""Results to files, whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

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
        target = _target(output)
        if target.is_dir():
            reason = "it is a directory"
        elif not target.parent.is_dir():
            reason = f"there is no directory {target.parent}"
        elif not os.access(target if _is_special(target) else target.parent, os.W_OK):
            reason = "permission denied"
        else:
            return
    except (OSError, ValueError, RuntimeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
    raise BadInput(f"cannot write {output}: {reason}")


def _is_special(path: Path) -> bool:
    """True for a device or a pipe, which is written to and never replaced."""
    return path.exists() and not path.is_file()


def _target(output: str) -> Path:
    """Where the output goes: a link stays, and the file that it names is replaced."""
    path = Path(output)
    # A pipe's own link (/dev/fd/63) resolves to a name that cannot be opened.
    return path if _is_special(path) else path.resolve()


def write_output(output: str | None, save: Callable[[IO[bytes]], None]) -> None:
    """Write the whole file beside its place, then rename: nobody ever sees half of it."""
    if output is None:
        return
    if output == "-":
        _write_stream(sys.stdout.buffer, save)
        return
    try:
        target = _target(output)
        if _is_special(target):
            with open(target, "wb") as special:
                _write_stream(special, save)
            return
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:64]}.", suffix=".tmp", dir=target.parent)
        try:
            with open(handle, "wb") as file:
                save(file)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, _mode_for(target))
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as problem:
        raise BadInput(f"cannot write {output}: {problem.strerror or problem}") from None


def write_all(stream: IO[bytes], data: bytes | memoryview) -> None:
    """Write to a stream that may be unbuffered (PYTHONUNBUFFERED), and so may take a part only."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) :]
    stream.flush()


def _write_stream(stream: IO[bytes], save: Callable[[IO[bytes]], None]) -> None:
    """Write to a pipe: through memory, since NumPy and zipfile want to seek."""
    content = io.BytesIO()
    save(content)
    write_all(stream, content.getbuffer())


def _mode_for(target: Path) -> int:
    """The permissions that ``open`` would give: those of the file replaced, or the umask's."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
