"""The program around the commands: exit statuses, and what is said when something is wrong."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import click

import wgdml
from wgdml.runtime.errors import VariableError

EXIT_FAILURE = 1
EXIT_BAD_INPUT = click.UsageError.exit_code
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE: what a shell reports for a tool that the signal ended


def printable(text: str) -> str:
    """``text`` on one line, without control characters or undecodable bytes."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(text.split()))


class _ReaderGone(Exception):
    """Whoever read standard output has had enough (``| head``)."""


@contextlib.contextmanager
def _without_reader() -> Iterator[None]:
    """Click itself would turn the error into exit status 1."""
    try:
        yield
    except BrokenPipeError:
        raise _ReaderGone from None


class Program(click.Group):
    """A group with this program's exit statuses in place of click's own."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command. An option given twice is refused: click would take the last."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            own = click.Context(command, parent=ctx, info_name=name)
            _, _, given = command.make_parser(own).parse_args([*rest])
            for option in given:
                single = isinstance(option, click.Option) and not option.multiple and not option.is_flag
                if single and given.count(option) > 1:
                    raise click.UsageError(f"{' / '.join(option.opts)} is given twice", own)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The first sentence of each command, whole: click would end it where the line ends."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(1000)) for name, command in sorted(self.commands.items())])

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _without_reader():  # of --help and --version
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _without_reader():
            return super().invoke(ctx)

    def main(self, *arguments: Any, standalone_mode: bool = True, **options: Any) -> Any:
        run = partial(super().main, *arguments, standalone_mode=False, **options)
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
            return complain(problem.format_message(), problem.exit_code)
        except (wgdml.NoAdapterError, wgdml.DeviceLostError) as problem:
            return complain(str(problem), EXIT_FAILURE)
        except VariableError as problem:
            return complain(str(problem), EXIT_BAD_INPUT)
        except (KeyboardInterrupt, click.Abort):
            return EXIT_INTERRUPTED
        except MemoryError:
            return complain("not enough memory for this array", EXIT_FAILURE)
        except _ReaderGone:
            _silence_stdout()
            return EXIT_BROKEN_PIPE
        except OSError as problem:
            # Files are handled where they are named: this is standard output.
            if problem.filename is not None or problem.errno not in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
                raise
            _silence_stdout()
            return complain(f"cannot write to standard output: {problem.strerror}", EXIT_FAILURE)
        return status if isinstance(status, int) else 0


def complain(message: str, status: int) -> int:
    # Standard error may be closed too; the exit status still says what happened.
    with contextlib.suppress(OSError):
        click.echo(f"wgdml: error: {printable(message)}", err=True)
    return status


def _silence_stdout() -> None:
    """Sends what is still buffered to nowhere: the interpreter's last flush must not fail aloud."""
    with contextlib.suppress(OSError, ValueError):
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
        os.close(sink)


def compute(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call the library; what it refuses about the input is bad input here too."""
    try:
        return function(*args, **options)
    except (ValueError, TypeError) as problem:
        raise click.UsageError(str(problem)) from problem
