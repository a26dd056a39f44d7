"""The command line, ``wgdml`` and ``python -m wgdml``.

Every command works in the same order: see that the output can be written, read the array, check every option
against it, and only then open the GPU. Bad input is one line on standard error and exit status 2.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import platform
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import click
import numpy as np
import numpy.typing as npt
from rich import box
from rich.console import Console
from rich.table import Table

from wgdml._version import __version__
from wgdml.bench.command import bench_command
from wgdml.demo.command import demo_command
from wgdml.selftest import command as selftest_command

Array = npt.NDArray[Any]

TABLE_ROWS = 20
_MAPPED_BYTES = 256 << 20  # files larger than this are not read into memory
EXIT_FAILURE = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE: what a shell reports for a tool that the signal ended

_SUPPORTED = "float16, float32, float64, bool and the signed and unsigned integers of 8 to 64 bits"


class BadInput(click.ClickException):
    """Something that the person can put right: the file, an option, the output path."""

    exit_code = EXIT_BAD_INPUT


class Failure(click.ClickException):
    """Something that is wrong with the machine: no adapter, no memory."""

    exit_code = EXIT_FAILURE


def _printable(text: str) -> str:
    """``text`` on one line, without control characters or undecodable bytes."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(text.split()))


class _ReaderGone(Exception):
    """Whoever read standard output has had enough (``| head``)."""


class _Program(click.Group):
    """A group with this program's exit statuses in place of click's own."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderGone from None  # click would turn the original into exit status 1

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        run = partial(super().main, args, prog_name, complete_var, standalone_mode=False, **extra)
        if not standalone_mode:
            return run()
        sys.exit(self._status_of(run))

    def _status_of(self, run: Callable[[], Any]) -> int:
        try:
            status = run()
            if sys.stdout is not None:
                sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as problem:
            click.echo(problem.format_message(), err=True)
            return EXIT_BAD_INPUT
        except click.ClickException as problem:
            return _complain(problem.format_message(), problem.exit_code)
        except (KeyboardInterrupt, click.Abort):
            return EXIT_INTERRUPTED
        except MemoryError:
            return _complain("not enough memory for this array", EXIT_FAILURE)
        except _ReaderGone:
            _silence_stdout()
            return EXIT_BROKEN_PIPE
        except OSError as problem:
            # Files are handled where they are named: this is standard output, on a full disk for example.
            if problem.filename is not None or problem.errno not in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
                raise
            _silence_stdout()
            return _complain(f"cannot write to standard output: {problem.strerror}", EXIT_FAILURE)
        return status if isinstance(status, int) else 0


def _complain(message: str, status: int) -> int:
    # Standard error may be closed too; the exit status still says what happened.
    with contextlib.suppress(OSError):
        click.echo(f"wgdml: error: {_printable(message)}", err=True)
    return status


def _silence_stdout() -> None:
    """Send what is still buffered to nowhere, so that the interpreter's last flush cannot fail aloud."""
    with contextlib.suppress(OSError, ValueError):
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
        os.close(sink)


# --- Reading ------------------------------------------------------------------------------------------------


class _Pipe:
    """A stream that NumPy reads in chunks: with a real file it would seek, which a pipe cannot."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        return self._stream.read(size)


class _Replay(_Pipe):
    """A pipe whose first bytes have been looked at already."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        super().__init__(stream)
        self._head = head

    def read(self, size: int = -1) -> bytes:
        if not self._head:
            return super().read(size)
        if size < 0:
            data, self._head = self._head + super().read(), b""
        else:
            data, self._head = self._head[:size], self._head[size:]
        return data


def _read_array(file: str) -> Array:
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            if sys.stdin is None:
                raise BadInput("FILE is - but standard input is closed")
            stream = sys.stdin.buffer
            if stream.isatty():
                raise BadInput("FILE is - but standard input is a terminal: pipe a .npy file in")
            head = stream.read(len(np.lib.format.MAGIC_PREFIX))
            return _parse(name, head, _Replay(head, stream))
        with open(file, "rb") as opened:
            head = opened.read(len(np.lib.format.MAGIC_PREFIX))
            if stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                opened.seek(0)
                mapped = os.fstat(opened.fileno()).st_size > _MAPPED_BYTES
                return _parse(name, head, opened, mapped=file if mapped else None)
            return _parse(name, head, _Replay(head, opened))
    except (OSError, ValueError) as problem:
        # ValueError: a path with a null byte in it.
        reason = problem.strerror if isinstance(problem, OSError) else None
        raise BadInput(f"cannot read {name}: {reason or problem}") from None


def _parse(name: str, head: bytes, stream: Any, mapped: str | None = None) -> Array:
    """The array in the stream, or, of a ``mapped`` file, a memory map that the library reads block by block."""
    if not head:
        raise BadInput(f"{name} is empty, not a .npy file")
    if head.startswith(b"PK"):
        raise BadInput(f"{name} is a .npz archive of several arrays: save the one you want with numpy.save")
    if head != np.lib.format.MAGIC_PREFIX:
        raise BadInput(f"{name} is not a .npy file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array: Array
            if mapped is not None:
                array = np.load(mapped, mmap_mode="r", allow_pickle=False)
            else:
                array = np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, TypeError, OverflowError, RecursionError, TokenError) as problem:
        if "allow_pickle" in str(problem):
            raise BadInput(f"{name} holds Python objects; only plain numbers are read (no pickles)") from None
        raise BadInput(f"{name} is not a valid .npy file: {problem}") from None
    except MemoryError:
        raise BadInput(f"{name} says that it holds more than fits in memory") from None
    dtype = array.dtype
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise BadInput(f"{name} has data type {dtype}, which is not supported; supported are {_SUPPORTED}")
    if dtype.isnative or mapped is not None:  # the library turns the bytes of a mapped file, part by part
        return array
    return array.astype(dtype.newbyteorder("="))


# --- Checking -----------------------------------------------------------------------------------------------


def _check_axis(axis: int, array: Array) -> int:
    if array.ndim == 0:
        raise BadInput(f"--axis {axis}: the array is a single number, without axes")
    if not -array.ndim <= axis < array.ndim:
        lowest, highest = -array.ndim, array.ndim - 1
        raise BadInput(f"--axis {axis} is out of range for shape {array.shape}: use [{lowest}, {highest}]")
    return axis % array.ndim


def _check_output(output: str | None, suffix: str, as_json: bool) -> None:
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


def _compute(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call the library; what it refuses about the input is bad input here too."""
    import wgdml

    try:
        return function(*args, **options)
    except (ValueError, TypeError) as problem:
        raise BadInput(str(problem)) from problem
    except (wgdml.NoAdapterError, wgdml.DeviceLostError) as problem:
        raise Failure(str(problem)) from None


# --- Writing ------------------------------------------------------------------------------------------------


def _is_special(path: Path) -> bool:
    """True for a device or a pipe, which is written to and never replaced."""
    return path.exists() and not path.is_file()


def _target(output: str) -> Path:
    """Where the output goes: through links, so that the link stays and the file that it names is replaced."""
    path = Path(output)
    # A pipe's own link (/dev/fd/63) resolves to a name that cannot be opened.
    return path if _is_special(path) else path.resolve()


def _write_output(output: str | None, save: Callable[[IO[bytes]], None]) -> None:
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


def _write_all(stream: IO[bytes], data: bytes | memoryview) -> None:
    """Write to a stream that may be unbuffered (PYTHONUNBUFFERED), and so may take a part only."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) :]
    stream.flush()


def _write_stream(stream: IO[bytes], save: Callable[[IO[bytes]], None]) -> None:
    """Write to a pipe: through memory, since NumPy and zipfile want to seek."""
    content = io.BytesIO()
    save(content)
    _write_all(stream, content.getbuffer())


def _mode_for(target: Path) -> int:
    """The permissions that plain ``open`` would give: those of the file replaced, or the umask's."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _emit(text: str) -> None:
    stream = sys.stdout
    if stream is None:  # closed by whoever started the program
        return
    stream.flush()
    _write_all(stream.buffer, text.encode(stream.encoding or "utf-8", "backslashreplace"))


def _emit_json(document: dict[str, Any]) -> None:
    _emit(json.dumps(document, allow_nan=False) + "\n")


def _jsonable(array: Array) -> Any:
    """Nested lists; NaN and the infinities as strings, since JSON has no numbers for them."""
    if array.dtype.kind != "f" or bool(np.isfinite(array).all()):
        return array.tolist()
    objects = array.astype(object)
    objects[np.isnan(array)] = "NaN"
    objects[np.isposinf(array)] = "Infinity"
    objects[np.isneginf(array)] = "-Infinity"
    return objects.tolist()


def _console() -> Console:
    to_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = None if to_terminal or "COLUMNS" in os.environ else 120
    return Console(width=width, markup=False, highlight=False, emoji=False)


def _emit_table(heading: str, columns: Sequence[str], rows: Iterable[Sequence[str]], total: int, footer: str | None = None) -> None:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="left" if column == "row" else "right", no_wrap=True)
    shown = 0
    for row in rows:
        table.add_row(*row)
        shown += 1
    console = _console()
    # Captured first and written in one go: rich would end the process itself on a closed pipe.
    with console.capture() as captured:
        console.print(_printable(heading), soft_wrap=True)
        if shown:
            console.print(table)
        if total > shown:
            more = f"... and {total - shown:,} more rows; --json or -o gives all of them"
            console.print(more, soft_wrap=True)
        if footer is not None:
            console.print(_printable(footer), soft_wrap=True)
    _emit(captured.get())


def _row_name(position: Sequence[int], axes: Sequence[int], ndim: int) -> str:
    """The sequence at ``position`` in NumPy's index notation, ``[3, :, 0]``."""
    rest = iter(position)
    return "[" + ", ".join(":" if axis in axes else str(next(rest)) for axis in range(ndim)) + "]"


def _sequence_rows(shape: Sequence[int], axis: int) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """(name, index into the array, place in the sequence) of the first elements, sequence by sequence."""
    batch = [size for number, size in enumerate(shape) if number != axis]
    length = shape[axis]
    total = length * int(np.prod(batch, dtype=object))
    for flat in range(min(total, TABLE_ROWS)):
        sequence, place = divmod(flat, length)
        position = [int(i) for i in np.unravel_index(sequence, batch)] if batch else []
        yield _row_name(position, [axis], len(shape)), (*position[:axis], place, *position[axis:]), place


def _wrote(output: str | None, **arrays: Array) -> str | None:
    if output is None:
        return None
    return f"wrote {output}: " + ", ".join(f"{name} {a.dtype} {a.shape}" for name, a in arrays.items())


# --- Commands -----------------------------------------------------------------------------------------------

_EPILOG = """\b
Examples:
  wgdml info
  wgdml top-k scores.npy -k 5
  wgdml argmax image.npy --axis 0 --axis 1
  wgdml sort scores.npy --descending -o sorted.npy

FILE is one array as numpy.save writes it, or - for standard input.
Exit status: 0 done, 1 no adapter, no memory or a wrong answer, 2 bad input, 130 interrupted."""


@click.group(
    cls=_Program,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, "-V", "--version", prog_name="wgdml", message="%(prog)s %(version)s")
def main() -> None:
    """DirectML's selection operators - top-k, argmax, argmin, sort - on any WebGPU adapter."""


_file_argument = click.argument("file", metavar="FILE")
_json_option = click.option("--json", "as_json", is_flag=True, help="Print all of it as one JSON object.")


def _output_option(suffix: str, content: str) -> Callable[[Any], Any]:
    text = f"Write {content} to this file (- for standard output)."
    return click.option("-o", "--output", metavar=f"OUT{suffix}", help=text)


def _report(
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
        _write_output(output, lambda stream: np.savez(stream, **results))  # type: ignore[arg-type]
    else:
        (only,) = results.values()
        _write_output(output, lambda stream: np.lib.format.write_array(stream, only, allow_pickle=False))
    if as_json:
        document = {"command": command, "file": file, "shape": list(array.shape), "dtype": str(array.dtype)}
        document |= facts
        document |= {"output": output} if output is not None else {}
        document |= {name: _jsonable(result) for name, result in results.items()}
        _emit_json(document)
    elif output != "-":
        table(_wrote(output, **results))


# The limits that decide what fits, in the order in which one runs into them.
_SHOWN_LIMITS = (
    "max-buffer-size",
    "max-storage-buffer-binding-size",
    "max-compute-workgroup-storage-size",
    "max-compute-invocations-per-workgroup",
    "max-compute-workgroups-per-dimension",
    "max-storage-buffers-per-shader-stage",
)


def _versions() -> dict[str, str]:
    return {
        "wgdml": __version__,
        "wgpu": metadata.version("wgpu"),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def _is_chosen(adapter: Mapping[str, Any], info: Mapping[str, Any]) -> bool:
    names = {"name": "device", "type": "adapter_type", "backend": "backend_type", "driver": "description"}
    return all(adapter[ours] == info[theirs] for ours, theirs in names.items())


@main.command(
    "info",
    epilog="""\b
Examples:
  wgdml info
  wgdml info --json
  WGPU_BACKEND_TYPE=Vulkan wgdml info

WGDML_ADAPTER (a number in this list, from 0, or a part of the name) chooses the adapter.""",
)
@_json_option
def info_command(as_json: bool) -> None:
    """Adapters, the one chosen and why, its limits and features, versions."""
    import wgdml

    adapters = [
        {key: adapter[key] for key in ("name", "type", "backend", "driver")} | {"chosen": False} for adapter in wgdml.adapters()
    ]
    document: dict[str, Any] = {"versions": _versions(), "adapters": adapters}
    problem: wgdml.NoAdapterError | None = None
    try:
        device = wgdml.default_device()
    except wgdml.NoAdapterError as caught:
        problem = caught
        document["error"] = str(problem)
    else:
        # Adapters of one kind tell apart by nothing but their order; the first is the one taken.
        for adapter in adapters:
            if _is_chosen(adapter, device.adapter_info):
                adapter["chosen"] = True
                break
        document |= {
            "reason": device.adapter_reason,
            "feature_level": device.feature_level.name,
            "limits": {key.replace("-", "_"): value for key, value in sorted(device.limits.items())},
            "features": sorted(device.features),
        }
    if as_json:
        _emit_json(document)
    else:
        lines = [f"{name:9} {version}" for name, version in document["versions"].items()]
        if adapters:
            lines += ["", "adapters"]
        for adapter in adapters:
            mark = "*" if adapter["chosen"] else " "
            lines.append("  {} {name} ({type}, {backend})  {driver}".format(mark, **adapter))
        if problem is None:
            lines += [f"  * chosen: {device.adapter_reason}", ""]
            lines += [f"feature level  {device.feature_level.name}", "limits"]
            for key in _SHOWN_LIMITS:
                lines.append(f"  {key:40} {device.limits[key]:>15,}")
            lines += ["features", "  " + ", ".join(document["features"])]
        _emit("\n".join(lines) + "\n")
    if problem is not None:
        raise Failure(str(problem))


@main.command(
    "top-k",
    epilog="""\b
Examples:
  wgdml top-k scores.npy -k 5
  wgdml top-k distances.npy -k 3 --smallest --axis 0 -o nearest.npz
  wgdml top-k - -k 10 --json < scores.npy

Equal elements come in ascending order of index. NaN counts as greater than every number.""",
)
@_file_argument
@click.option("-k", type=int, required=True, metavar="K", help="How many elements of each sequence.")
@click.option("--axis", type=int, default=-1, show_default=True, help="The axis to select along.")
@click.option("--smallest", is_flag=True, help="Take the smallest elements, ascending, not the largest.")
@_output_option(".npz", "arrays 'values' and 'indices'")
@_json_option
def top_k_command(file: str, k: int, axis: int, smallest: bool, output: str | None, as_json: bool) -> None:
    """The K largest (or smallest) elements of every sequence, with their indices."""
    if k < 0:
        raise BadInput(f"-k {k} is negative: K must lie in [0, the length of the axis]")
    _check_output(output, ".npz", as_json)
    array = _read_array(file)
    axis = _check_axis(axis, array)
    if k > array.shape[axis]:
        length = array.shape[axis]
        raise BadInput(f"-k {k} is more than the {length} elements of axis {axis} (shape {array.shape})")

    import wgdml

    mode = "smallest" if smallest else "largest"
    values, indices = _compute(wgdml.top_k, array, k, axis=axis, mode=mode)

    def table(footer: str | None) -> None:
        rows = []
        for name, at, place in _sequence_rows(values.shape, axis):
            row = [str(place + 1), str(indices[at]), str(values[at])]
            rows.append(row if array.ndim == 1 else [name, *row])
        columns = ["rank", "index", "value"]
        heading = f"{k} {mode} of {file} {array.shape} {array.dtype}, axis {axis}"
        _emit_table(heading, columns if array.ndim == 1 else ["row", *columns], rows, values.size, footer)

    facts = {"axis": axis, "k": k, "mode": mode}
    _report("top-k", file, array, facts, {"values": values, "indices": indices}, output, as_json, table)


def _extreme_options(command: Callable[..., None]) -> Callable[..., None]:
    for decorate in (
        _json_option,
        _output_option(".npy", "the indices"),
        click.option("--last", is_flag=True, help="Of equal elements take the last, not the first."),
        click.option("--keepdims", is_flag=True, help="Keep the axes reduced over, with length 1."),
        click.option(
            "--axis",
            "axes",
            type=int,
            multiple=True,
            help="Reduce over this axis; repeatable.  [default: all axes]",
        ),
        _file_argument,
    ):
        command = decorate(command)
    return command


def _extreme(name: str, file: str, axes: tuple[int, ...], keepdims: bool, last: bool, output: str | None, as_json: bool) -> None:
    _check_output(output, ".npy", as_json)
    array = _read_array(file)
    checked = [_check_axis(axis, array) for axis in axes]
    for number, axis in enumerate(checked):
        if axis in checked[:number]:
            raise BadInput(f"--axis {axes[number]} names axis {axis} a second time (shape {array.shape})")
    reduced = sorted(checked) if axes else list(range(array.ndim))
    if any(array.shape[axis] == 0 for axis in reduced):
        raise BadInput(f"{name} of nothing: shape {array.shape} has a zero length along a reduced axis")

    import wgdml

    function = wgdml.argmax if name == "argmax" else wgdml.argmin
    axis_argument = None if not axes else reduced[0] if len(reduced) == 1 else tuple(reduced)
    indices = np.asarray(_compute(function, array, axis=axis_argument, keepdims=keepdims, select_last_index=last))

    def table(footer: str | None) -> None:
        batch = [size for axis, size in enumerate(array.shape) if axis not in reduced]
        flat = indices.reshape(-1)
        several = len(reduced) > 1
        rows = []
        for number in range(min(flat.size, TABLE_ROWS)):
            position = [int(i) for i in np.unravel_index(number, batch)] if batch else []
            rest = iter(position)
            part = array[tuple(slice(None) if a in reduced else next(rest) for a in range(array.ndim))]
            within = tuple(int(i) for i in np.unravel_index(int(flat[number]), part.shape))
            row = [_row_name(position, reduced, array.ndim)] if batch else []
            row += [str(flat[number]), *([str(within)] if several else []), str(part[within])]
            rows.append(row)
        columns = [*(["row"] if batch else []), "index", *(["position"] if several else []), "value"]
        over = "all axes" if not axes else f"axis {', '.join(map(str, reduced))}"
        heading = f"{name} of {file} {array.shape} {array.dtype}, over {over}"
        _emit_table(heading, columns, rows, flat.size, footer)

    facts = {"axis": reduced if axes else None, "keepdims": keepdims, "last": last}
    _report(name, file, array, facts, {"indices": indices}, output, as_json, table)


@main.command(
    "argmax",
    epilog="""\b
Examples:
  wgdml argmax scores.npy
  wgdml argmax scores.npy --axis 1 --last
  wgdml argmax volume.npy --axis 1 --axis 2 --keepdims -o best.npy

Over several axes the index is flattened, row by row, over those axes in ascending order.
The first NaN wins.""",
)
@_extreme_options
def argmax_command(file: str, axes: tuple[int, ...], keepdims: bool, last: bool, output: str | None, as_json: bool) -> None:
    """The index of the largest element, over all axes or the ones given."""
    _extreme("argmax", file, axes, keepdims, last, output, as_json)


@main.command(
    "argmin",
    epilog="""\b
Examples:
  wgdml argmin distances.npy
  wgdml argmin distances.npy --axis 1 --json

Over several axes the index is flattened, row by row, over those axes in ascending order.
The first NaN wins.""",
)
@_extreme_options
def argmin_command(file: str, axes: tuple[int, ...], keepdims: bool, last: bool, output: str | None, as_json: bool) -> None:
    """The index of the smallest element, over all axes or the ones given."""
    _extreme("argmin", file, axes, keepdims, last, output, as_json)


@main.command(
    "sort",
    epilog="""\b
Examples:
  wgdml sort scores.npy -o sorted.npy
  wgdml sort scores.npy --descending --indices --axis 0

The sort is stable: equal elements keep their order. NaN counts as greater than every number.""",
)
@_file_argument
@click.option("--axis", type=int, default=-1, show_default=True, help="The axis to sort along.")
@click.option("--descending", is_flag=True, help="Largest first.")
@click.option("--indices", "as_indices", is_flag=True, help="Give the indices that sort (argsort), not the values.")
@_output_option(".npy", "the result")
@_json_option
def sort_command(file: str, axis: int, descending: bool, as_indices: bool, output: str | None, as_json: bool) -> None:
    """Every sequence in order, or the indices that would put it in order."""
    _check_output(output, ".npy", as_json)
    array = _read_array(file)
    axis = _check_axis(axis, array)

    import wgdml

    function = wgdml.argsort if as_indices else wgdml.sort
    result = _compute(function, array, axis=axis, descending=descending)

    def table(footer: str | None) -> None:
        rows = []
        for name, at, place in _sequence_rows(result.shape, axis):
            row = [str(place + 1), str(result[at])]
            if as_indices:
                row.append(str(array[(*at[:axis], int(result[at]), *at[axis + 1 :])]))
            rows.append(row if array.ndim == 1 else [name, *row])
        columns = ["rank", *(["index"] if as_indices else []), "value"]
        order = "descending" if descending else "ascending"
        heading = f"{file} {array.shape} {array.dtype} sorted along axis {axis}, {order}"
        _emit_table(heading, columns if array.ndim == 1 else ["row", *columns], rows, result.size, footer)

    facts = {"axis": axis, "descending": descending}
    results = {"indices" if as_indices else "values": result}
    _report("sort", file, array, facts, results, output, as_json, table)


main.add_command(bench_command)
main.add_command(demo_command)
main.add_command(selftest_command)
