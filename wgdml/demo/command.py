"""``wgdml demo``."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import click
from rich.progress import MofNCompleteColumn

from wgdml.runtime.errors import VariableError
from wgdml.terminal import check_writable, progress, write_file

if TYPE_CHECKING:
    from .stage import Stage

_EXTRA = 'the demo needs packages of its own: python -m pip install "wgdml[demo]"'


def _size(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, int]:
    width, cross, height = value.lower().partition("x")
    if not (cross and width.isdecimal() and height.isdecimal()):
        raise click.BadParameter(f"{value!r} is not a size like 512x512")
    if not all(64 <= int(n) <= 4096 for n in (width, height)):
        raise click.BadParameter(f"{value} must be 64 to 4096 pixels each way")
    return int(width), int(height)


@click.command(
    "demo",
    epilog="""\b
Examples:
  wgdml demo
  wgdml demo --classes 24 -k 200 --map 768x512
  wgdml demo --offscreen --frames 60 --screenshot demo.png

In the window: Up and Down change k, Left and Right the number of classes, L largest or smallest,
T which index wins ties, Space pauses, P hides the panel, R restarts, Q quits; the mouse drags sources.
It needs the demo extra: python -m pip install "wgdml[demo]".""",
)
@click.option("--offscreen", is_flag=True, help="Draw without a display, and say what each pass took.")
@click.option("--frames", type=click.IntRange(min=1), metavar="N", help="Stop after N frames.  [default offscreen: 60]")
@click.option("--screenshot", metavar="OUT.png", help="Write the last frame to this file (with --offscreen).")
@click.option("--classes", type=click.IntRange(1, 32), default=16, show_default=True, help="How many score maps.")
@click.option("-k", type=click.IntRange(1, 512), default=64, show_default=True, help="How many points top-k marks.")
@click.option("--smallest", is_flag=True, help="Mark the smallest points, not the largest.")
@click.option("--last", is_flag=True, help="Among equal scores the last class wins, not the first.")
@click.option("--map", "maps", metavar="WxH", callback=_size, default="512x512", show_default=True, help="Size of the maps.")
@click.option(
    "--window", metavar="WxH", callback=_size, default="840x544", show_default=True, help="Size of the window or picture."
)
@click.option("--panel/--no-panel", default=True, help="Show the panel and the sources' handles.")
def demo_command(
    offscreen: bool,
    frames: int | None,
    screenshot: str | None,
    classes: int,
    k: int,
    smallest: bool,
    last: bool,
    maps: tuple[int, int],
    window: tuple[int, int],
    panel: bool,
) -> None:
    """See argmax and top-k work every frame, in a window.

    A shader makes a score map for each class; argmax over the classes colours every pixel, and
    top-k of a saliency map marks the points that stand out most. The results stay on the GPU: the
    buffers go from operator to render pass.
    """
    _check_paths(offscreen, screenshot, maps)
    try:
        from .live import Live
        from .scene import Settings
        from .stage import Stage, save_picture
        from .window import NoDisplayError
    except ImportError as problem:
        raise click.ClickException(f"{_EXTRA} ({problem})") from None

    try:
        with closing(Stage(window, "wgdml demo", offscreen=offscreen)) as stage:
            show = Live(stage, maps, Settings(classes, k, not smallest, last), panel=panel)
            if not offscreen:
                stage.run(show, frames)
                return
            frames = frames or 60
            with progress(6, MofNCompleteColumn()) as bar:
                task = bar.add_task("frames", total=frames)
                image = stage.pictures(show, frames, progress=lambda done: bar.update(task, completed=done))
            _say(stage, f"{frames} frames of {classes} x {maps[1]} x {maps[0]} scores, {k} points")
    except NoDisplayError as problem:
        raise click.ClickException(f"{problem}; --offscreen --screenshot OUT.png draws without one") from None
    except VariableError:
        raise
    except ValueError as problem:  # too much for this adapter
        raise click.UsageError(f"--map {maps[0]}x{maps[1]}: {problem}") from None
    if screenshot is not None:
        write_file(screenshot, partial(save_picture, image))
        click.echo(f"wrote {screenshot}")


def _check_paths(offscreen: bool, screenshot: str | None, maps: tuple[int, int]) -> None:
    if screenshot is not None:
        if not offscreen:
            raise click.UsageError("--screenshot needs --offscreen")
        if not screenshot.lower().endswith(".png"):
            raise click.UsageError(f"--screenshot {screenshot}: the name must end in .png")
        check_writable(screenshot)
    if maps[0] % 4:
        raise click.UsageError(f"--map {maps[0]}x{maps[1]}: the width must be a multiple of 4")


def _say(stage: Stage, what: str) -> None:
    adapter, times = stage.device.adapter_info, stage.times.milliseconds
    click.echo(f"{adapter['device']} ({adapter['adapter_type']}) via {adapter['backend_type']}")
    click.echo(what)
    if times:
        operators = times["argmax"] + times["top-k"]
        click.echo("GPU milliseconds a frame: " + ", ".join(f"{name} {time:.2f}" for name, time in times.items()))
        click.echo(f"argmax and top-k: {operators:.2f}, enough for {1000 / max(operators, 1e-6):.0f} frames a second")
