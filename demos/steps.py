"""The learning demo: the bitonic network and the delegates, drawn step by step."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
from diagrams import Delegates, NetworkStep, Pair, delegates, network
from imgui_bundle import imgui
from PIL import Image

import wgdml
from wgdml.demo.colours import ACCENT, INK, MARK, MUTED, PAPER, ramp
from wgdml.demo.stage import Stage, save_picture
from wgdml.demo.window import NoDisplayError

WINDOW = (1060, 736)
_LINE = (0.27, 0.29, 0.34)
_QUIET = (0.5, 0.53, 0.6)
_LANE = 5.0  # pixels between the comparators of one step
_SECONDS = 1.3  # a step, when it plays


def values_of(diagram: str) -> list[int]:
    """The values shown: random, with ties."""
    count, most = (32, 40) if diagram == "network" else (64, 90)
    values: list[int] = np.random.default_rng(11).integers(0, most, count).tolist()
    return values


class Pen:
    """imgui's draw list in a fixed drawing of ``WINDOW`` size, scaled to the window."""

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self.list = imgui.get_background_draw_list()

    def at(self, x: float, y: float) -> imgui.ImVec2:
        return imgui.ImVec2(x * self.scale, y * self.scale)

    @staticmethod
    def colour(rgb: tuple[float, float, float], alpha: float = 1.0) -> int:
        return imgui.color_convert_float4_to_u32(imgui.ImVec4(*rgb, alpha))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        colour: tuple[float, float, float] = INK,
        size: float = 15,
        align: float = 0.0,
        alpha: float = 1.0,
    ) -> None:
        """``align``: 0 left of the place, 0.5 centred, 1 right; y is the middle of the line."""
        points = size * self.scale
        width = imgui.calc_text_size(text).x * points / imgui.get_font_size()
        place = imgui.ImVec2(round(x * self.scale - align * width), round(y * self.scale - points / 2))
        self.list.add_text(imgui.get_font(), points, place, self.colour(colour, alpha), text)

    def line(self, x0: float, y0: float, x1: float, y1: float, colour: Any, width: float = 1.0, alpha: float = 1.0) -> None:
        self.list.add_line(self.at(x0, y0), self.at(x1, y1), self.colour(colour, alpha), width * self.scale)

    def dot(self, x: float, y: float, radius: float, colour: Any, alpha: float = 1.0) -> None:
        self.list.add_circle_filled(self.at(x, y), radius * self.scale, self.colour(colour, alpha))

    def box(self, x: float, y: float, width: float, height: float, colour: Any, alpha: float = 1.0) -> None:
        corner = self.at(x + width, y + height)
        self.list.add_rect_filled(self.at(x, y), corner, self.colour(colour, alpha), 3 * self.scale)

    def frame(self, x: float, y: float, width: float, height: float, colour: Any, thick: float = 2) -> None:
        corner = self.at(x + width, y + height)
        self.list.add_rect(self.at(x, y), corner, self.colour(colour), 3 * self.scale, thick * self.scale)

    def cell(self, x: float, y: float, width: float, height: float, value: int, share: float, alpha: float = 1.0) -> None:
        """A value in the colour of its size, centred on (x, y)."""
        self.box(x - width / 2, y - height / 2, width, height, tuple(ramp(share).tolist()), alpha)
        faint = alpha < 0.6
        ink = (0.05, 0.06, 0.08) if share > 0.55 and not faint else (1.0, 1.0, 1.0)
        self.text(x, y, str(value), ink, min(height * 0.78, 17), 0.5, 0.5 if faint else 1.0)


_PITCH = 44.0, 60.0  # from cell to cell of the delegates' grids
_CELL = 39.0, 46.0


class NetworkDiagram:
    """The bitonic sorting network: one column a step, one wire a position."""

    name = "Bitonic network"

    def __init__(self, values: list[int]) -> None:
        self.first: tuple[Pair, ...] = tuple((v, i) for i, v in enumerate(values))
        self.steps = network(values)
        self.most = max(values)
        self.last = len(self.steps)

    def caption(self, step: int) -> tuple[str, str]:
        if step == 0:
            return (
                f"{len(self.first)} values in workgroup memory, each with its index.",
                "A comparator swaps two positions that are out of order: the larger value first, the lower index among equals.",
            )
        now = self.steps[step - 1]
        swaps = sum(swapped for _, _, swapped in now.comparators)
        how = "mirrored, the first with the last" if now.mirrored else f"{now.reach} apart"
        first = f"Step {step} of {self.last}, towards sorted runs of {now.run}: compare positions {how}."
        first += f" {swaps} of {len(now.comparators)} swap."
        if step == self.last:
            return first, "All in order, after the same steps for any values. The first k rows are top-k; all of them are a sort."
        return first, "All comparators of a step touch different positions, so they run at once; a barrier parts the steps."

    def draw(self, pen: Pen, step: int) -> None:
        rows = len(self.first)
        top, pitch, cell = 96.0, 17.6, 22.0
        y = [top + pitch * i for i in range(rows)]
        x = 74.0

        def column(pairs: tuple[Pair, ...], at: float, alpha: float) -> None:
            for i, (value, _) in enumerate(pairs):
                pen.cell(at, y[i], cell, 15, value, value / self.most, alpha)

        widths = [13.0 + _LANE * s.reach for s in self.steps]
        end = x + sum(widths) + (cell + 4) * self.last
        for i in range(rows):
            pen.line(x, y[i], end, y[i], _LINE, 1, 0.55)
            pen.text(x - 22, y[i], str(i), MUTED, 12, 1.0)
        pen.text(x - 22, top - 26, "index", MUTED, 12, 1.0)
        column(self.first, x, 1.0)
        for number, (now, width) in enumerate(zip(self.steps, widths, strict=True), 1):
            left = x + cell / 2 + 3
            if now.mirrored:
                # A band over each merge names it.
                merge = [w for s, w in zip(self.steps, widths, strict=True) if s.run == now.run]
                whole = sum(merge) + (cell + 4) * len(merge)
                pen.box(left - 1, top - 36, whole - 3, 20, (0.13, 0.14, 0.175))
                pen.text(left + whole / 2 - 2, top - 26, f"runs of {now.run}" if now.run > 2 else "2", MUTED, 12, 0.5)
            self._comparators(pen, now, left + 5, y, number - step)
            x += width + cell + 4
            if number <= step:
                column(now.pairs, x, 1.0 if number == step else 0.5)
        if step == self.last:
            for i, (_, index) in enumerate(self.steps[-1].pairs):
                pen.text(x + 20, y[i], str(index), MUTED, 12, 0.0)
            pen.text(x + 20, top - 26, "index", MUTED, 12, 0.0)
        pen.dot(224, 31, 4, ACCENT)
        pen.text(234, 31, "swapped", MUTED, 13)
        pen.dot(304, 31, 4, _QUIET)
        pen.text(314, 31, "in order already", MUTED, 13)

    @staticmethod
    def _comparators(pen: Pen, now: NetworkStep, left: float, y: list[float], ahead: int) -> None:
        """Those of one step, so many ``ahead`` of the one that is shown; negative ones are done."""
        strong = 1.0 if ahead == 0 else 0.75 if ahead < 0 else 0.5
        for low, high, swapped in now.comparators:
            lane = min(low % (2 * now.reach), 2 * now.reach - 1 - low % (2 * now.reach)) if now.mirrored else low % now.reach
            at = left + _LANE * lane
            colour = _LINE if ahead > 0 else ACCENT if swapped else _QUIET
            pen.line(at, y[low], at, y[high], colour, 1.2 if ahead else 1.8, strong)
            pen.dot(at, y[low], 2.6, colour, strong)
            pen.dot(at, y[high], 2.6, colour, strong)


class DelegateDiagram:
    """Top-k by delegates: trees, a ranking, and a second look at few."""

    name = "Delegates"
    k = 4
    subsets = 8

    def __init__(self, values: list[int]) -> None:
        self.data: Delegates = delegates(values, self.subsets, self.k)
        self.most = max(values)
        self.last = len(self.data.tree) + 3

    def caption(self, step: int) -> tuple[str, str]:
        d, levels, total = self.data, len(self.data.tree), len(self.data.rows) * self.subsets
        if step == 0:
            return (
                f"The {self.k} largest of {total} values. Each column is a subset: every {self.subsets}th value.",
                "Reading all of the input once is the least that any method can do; what follows touches little more.",
            )
        if step <= levels:
            done = "The top row now holds the best of each column: its delegate. Its own best would be argmax."
            return (
                f"Tree, level {step} of {levels}: each cell takes the better of itself and the one {d.tree[step - 1].reach} below."
                " Framed ones moved up.",
                done if step == levels else "Half of the cells are done with after each level.",
            )
        if step == levels + 1:
            return (
                f"Rank the {self.subsets} delegates. Only the columns of the first {self.k} can hold anything of the answer:",
                f"every value of another column comes after its own delegate, and so after {self.k} better ones.",
            )
        if step == levels + 2:
            return (
                f"Look again at those {self.k} columns; keep what does not come after the last winning delegate, {d.threshold[0]}.",
                f"{len(d.candidates)} of {total} values are left: always at least {self.k}, and seldom many more.",
            )
        return (
            f"Sort those {len(d.candidates)}: the first {self.k} are the answer, with their indices, equal values by index.",
            "No two (value, index) pairs are equal, so the answer cannot depend on how the work was cut.",
        )

    def draw(self, pen: Pen, step: int) -> None:
        d, levels, top = self.data, len(self.data.tree), 162.0
        self._input(pen, 66.0, top, step)
        self._trees(pen, 452.0, top, step)
        left = 856.0
        self._list(pen, left, top, "Delegates", "in order", d.ranked if step > levels else (), self.subsets, marked=self.k)
        last = step == self.last
        found = sorted(d.candidates, key=lambda p: p[1]) if step == levels + 2 else ()
        if last:
            found = sorted(d.candidates, key=lambda p: (-p[0], p[1]))
        subtitle = "in order" if last else "as found"
        self._list(pen, left + 112, top, "Candidates", subtitle, found, len(d.candidates), marked=self.k if last else 0)

    def _grid(self, pen: Pen, left: float, top: float, rows: Any, alpha: Callable[[int, int, Pair], float]) -> None:
        for m, row in enumerate(rows):
            for s, pair in enumerate(row):
                x, y = left + _PITCH[0] * s, top + _PITCH[1] * m
                pen.cell(x, y, *_CELL, pair[0], pair[0] / self.most, alpha(m, s, pair))

    def _frame(self, pen: Pen, left: float, top: float, m: int, s: int, *how: Any) -> None:
        width, height = _CELL
        pen.frame(left + _PITCH[0] * s - width / 2, top + _PITCH[1] * m - height / 2, width, height, *how)

    def _input(self, pen: Pen, left: float, top: float, step: int) -> None:
        d, levels = self.data, len(self.data.tree)
        pen.text(left - 18, top - 66, "Input", INK, 17)
        pen.text(left - 18, top - 44, "index = 8 x row + column", MUTED, 13)

        def alpha(m: int, s: int, pair: Pair) -> float:
            if step <= levels:
                return 1.0
            if s not in d.winners:
                return 0.16
            return 1.0 if step == levels + 1 or pair in d.candidates else 0.3

        self._grid(pen, left, top, d.rows, alpha)
        for s in sorted(d.winners) if step > levels else ():
            pen.frame(left + _PITCH[0] * s - 22, top - _PITCH[1] / 2, 44, _PITCH[1] * len(d.rows), MARK, 1.5)
        for _, index in d.result if step == self.last else ():
            self._frame(pen, left, top, index // self.subsets, index % self.subsets, (1, 1, 1), 2.5)

    def _trees(self, pen: Pen, left: float, top: float, step: int) -> None:
        d, levels = self.data, len(self.data.tree)
        pen.text(left - 18, top - 66, "Workgroup memory", INK, 17)
        pen.text(left - 18, top - 44, "a tree in every column", MUTED, 13)
        if step == 0:
            for m, s in product(range(len(d.rows)), range(self.subsets)):
                self._frame(pen, left, top, m, s, _LINE, 1)
            return
        level = min(step, levels)
        rows = list(d.rows)
        for now in d.tree[:level]:
            rows[: now.reach] = now.rows
        kept = d.tree[level - 1].reach
        self._grid(pen, left, top, rows, lambda m, s, pair: 1.0 if m < kept else 0.13)
        framed = sorted(d.tree[step - 1].moved) if step <= levels else [(0, s) for s in sorted(d.winners)]
        for m, s in framed:
            self._frame(pen, left, top, m, s, MARK)

    def _list(self, pen: Pen, x: float, top: float, title: str, subtitle: str, pairs: Any, places: int, marked: int) -> None:
        pen.text(x - 18, top - 66, title, INK, 17)
        pen.text(x - 18, top - 44, subtitle, MUTED, 13)
        for i in range(places):
            y = top + 60.0 * i
            if i >= len(pairs):
                pen.frame(x - 19.5, y - 23, 39, 46, _LINE, 1)
                continue
            value, index = pairs[i]
            strong = i < marked or not marked
            pen.cell(x, y, 39, 46, value, value / self.most, 1.0 if strong else 0.3)
            pen.text(x + 26, y, f"[{index}]", MUTED, 13, 0.0, 1.0 if strong else 0.5)
            if i < marked:
                pen.frame(x - 19.5, y - 23, 39, 46, MARK)


DIAGRAMS: dict[str, Callable[[list[int]], NetworkDiagram | DelegateDiagram]] = {
    "network": NetworkDiagram,
    "delegates": DelegateDiagram,
}


class Steps:
    """The show: one diagram at one step, with keys to go on."""

    passes = ()

    def __init__(self, stage: Stage, diagram: str, *, playing: bool = True) -> None:
        self.stage = stage
        self.playing = playing
        self.choose(diagram)

    def choose(self, diagram: str) -> None:
        self.which = diagram
        self.diagram = DIAGRAMS[diagram](values_of(diagram))
        self.go_to(0)

    def go_to(self, step: int) -> None:
        self.step = min(max(step, 0), self.diagram.last)
        self.waited = 0.0
        self.stage.canvas.set_title(f"wgdml: {self.diagram.name}, step {self.step} of {self.diagram.last}")

    def record(self, encoder: Any, target: Any, size: tuple[int, int], seconds: float, stamps: Any) -> None:
        if self.playing:
            self.waited += seconds
            if self.waited > _SECONDS * (3 if self.step == self.diagram.last else 1):
                self.go_to((self.step + 1) % (self.diagram.last + 1))
        attachment = {"view": target, "load_op": "clear", "store_op": "store", "clear_value": (*PAPER, 1)}
        encoder.begin_render_pass(color_attachments=[attachment]).end()

    def key(self, name: str) -> None:
        match name:
            case "ArrowRight" | "ArrowLeft":
                self.playing = False
                self.go_to(self.step + (1 if name == "ArrowRight" else -1))
            case "Home" | "End":
                self.playing = False
                self.go_to(0 if name == "Home" else self.diagram.last)
            case " ":
                self.playing = not self.playing
            case "Tab" | "n" | "N":
                names = list(DIAGRAMS)
                self.choose(names[(names.index(self.which) + 1) % len(names)])

    def pointer(self, kind: str, x: float, y: float) -> None:
        if kind == "down":
            self.key("ArrowRight")

    def overlay(self) -> None:
        size = imgui.get_io().display_size
        pen = Pen(min(size.x / WINDOW[0], size.y / WINDOW[1]))
        pen.text(44, 30, self.diagram.name, ACCENT, 22)
        if not self.stage.offscreen:
            keys = "Left, Right step    Space plays    Tab other diagram    Q quits"
            pen.text(WINDOW[0] - 30, 30, keys, MUTED, 13, 1.0)
        self.diagram.draw(pen, self.step)
        first, second = self.diagram.caption(self.step)
        pen.text(44, WINDOW[1] - 50, first, INK, 16)
        pen.text(44, WINDOW[1] - 25, second, MUTED, 15)


def draw_steps(diagram: str) -> list[npt.NDArray[np.uint8]]:
    """A picture of every step, drawn without a window."""
    with closing(Stage(WINDOW, "wgdml", offscreen=True)) as stage:
        show = Steps(stage, diagram, playing=False)
        images = []
        for step in range(show.diagram.last + 1):
            show.go_to(step)
            images.append(stage.pictures(show, 1))
        return images


def save_animation(images: list[npt.NDArray[np.uint8]], path: Path) -> None:
    """An animated WebP or GIF, by the file's ending; the last picture stays longer."""
    frames = [Image.fromarray(image) for image in images]
    times = [round(1000 * _SECONDS)] * (len(frames) - 1) + [round(4000 * _SECONDS)]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True, lossless=True, method=6)


@click.command(epilog="Without an option a window plays the steps; Tab changes the diagram.")
@click.argument("diagram", type=click.Choice([*DIAGRAMS]), default="network")
@click.option("--picture", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write one step as a PNG.")
@click.option("--step", type=click.IntRange(min=0), help="The step of --picture.  [default: the last]")
@click.option("--animation", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write all steps: a WebP or GIF.")
@click.option("--frames", type=click.IntRange(min=1), metavar="N", help="Close the window after N frames.")
def main(diagram: str, picture: Path | None, step: int | None, animation: Path | None, frames: int | None) -> None:
    """The bitonic network and top-k by delegates, drawn step by step."""
    try:
        if picture is None and animation is None:
            with closing(Stage(WINDOW, "wgdml", offscreen=False)) as stage:
                stage.run(Steps(stage, diagram), frames)
            return
        images = draw_steps(diagram)
        if step is not None and step >= len(images):
            raise click.UsageError(f"--step {step}: the last step of {diagram} is {len(images) - 1}")
        if picture is not None:
            save_picture(images[-1 if step is None else step], picture)
            click.echo(f"wrote {picture}")
        if animation is not None:
            save_animation(images, animation)
            click.echo(f"wrote {animation}")
    except NoDisplayError as problem:
        raise click.ClickException(f"{problem}; --picture OUT.png draws without one") from None
    except wgdml.NoAdapterError as problem:
        raise click.ClickException(str(problem)) from None
    except OSError as problem:
        raise click.UsageError(f"cannot write {problem.filename}: {problem.strerror}") from None


if __name__ == "__main__":
    sys.exit(main())
