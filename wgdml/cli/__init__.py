"""The command line, ``wgdml`` and ``python -m wgdml``.

Every command sees that the output can be written, reads the array, checks every option against it,
and only then opens the GPU. Bad input is one line on standard error and exit status 2.
"""

from __future__ import annotations

import click

from wgdml._version import __version__
from wgdml.bench.command import bench_command
from wgdml.demo.command import demo_command
from wgdml.selftest import command as selftest_command
from wgdml.tune.command import tune_command

from .info import info_command
from .program import Program
from .reduction import extreme_commands
from .sort import sort_command
from .top_k import top_k_command

__all__ = ["main"]

_EPILOG = """\b
Examples:
  wgdml info
  wgdml top-k scores.npy -k 5
  wgdml argmax image.npy --axis 0 --axis 1
  wgdml sort scores.npy --descending -o sorted.npy

FILE is one array as numpy.save writes it, or - for standard input.
Exit status: 0 done, 1 no adapter, no memory or a wrong answer, 2 bad input, 130 interrupted."""


@click.group(
    cls=Program,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, "-V", "--version", prog_name="wgdml", message="%(prog)s %(version)s")
def main() -> None:
    """DirectML's selection operators, of .npy files, on any WebGPU adapter."""


for _command in (
    info_command,
    top_k_command,
    *extreme_commands,
    sort_command,
    tune_command,
    bench_command,
    demo_command,
    selftest_command,
):
    main.add_command(_command)
