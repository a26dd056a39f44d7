"""Files that are written whole or not at all: nobody ever sees half of one."""

from __future__ import annotations

import io
import json
import os
import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any


def is_special(path: Path) -> bool:
    """True for a device or a pipe, which is written to and never replaced."""
    return path.exists() and not path.is_file()


def target_of(output: str | Path) -> Path:
    """Where the output goes: a link stays, and the file that it names is replaced."""
    path = Path(output)
    # A pipe's own link (/dev/fd/63) resolves to a name that cannot be opened.
    return path if is_special(path) else path.resolve()


def write_whole(output: str | Path, save: Callable[[IO[bytes]], None]) -> None:
    """Write the whole file beside its place, then rename."""
    target = target_of(output)
    if is_special(target):
        with open(target, "wb") as special:
            write_stream(special, save)
        return
    # The name is known before the file is there: Ctrl-C may come between the two.
    temporary = target.with_name(f".{target.name[:32]}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            # First, as what replaces a private file is private from the beginning.
            with suppress(FileNotFoundError):
                shutil.copymode(target, temporary)
            save(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def write_json(output: str | Path, document: dict[str, Any]) -> None:
    write_whole(output, partial(save_json, document))


def save_json(document: dict[str, Any], stream: IO[bytes]) -> None:
    write_all(stream, (json.dumps(document, indent=1, allow_nan=False) + "\n").encode())


def write_all(stream: IO[bytes], data: bytes | memoryview) -> None:
    """Write to a stream that may be unbuffered (PYTHONUNBUFFERED), and so may take a part only."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) :]
    stream.flush()


def write_stream(stream: IO[bytes], save: Callable[[IO[bytes]], None]) -> None:
    """Write to a pipe: through memory, since NumPy and zipfile want to seek."""
    content = io.BytesIO()
    save(content)
    write_all(stream, content.getbuffer())
