"""Pictures of queries and their neighbours: one row a query, the best neighbour first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from wgdml.demo.colours import ACCENT, GOOD, INK, MARK, MUTED, PAPER


@dataclass(frozen=True)
class Tile:
    """A small picture (RGB from 0 to 1) with a caption, framed where it is ``good`` or bad."""

    pixels: npt.NDArray[np.float32]
    caption: str
    good: bool | None = None


def _rgb(colour: tuple[float, float, float]) -> tuple[int, int, int]:
    red, green, blue = (round(255 * c) for c in colour)
    return red, green, blue


def gallery(title: str, subtitle: str, rows: list[tuple[Tile, list[Tile]]], *, scale: int) -> Image.Image:
    """Rows of a query and its neighbours, each pixel ``scale`` pixels wide."""
    height, width = (scale * n for n in rows[0][0].pixels.shape[:2])
    most = max(len(tiles) for _, tiles in rows)
    pitch_x, pitch_y, left, top, gap = width + 16, height + 34, 32, 112, 32
    right = left + pitch_x + gap + pitch_x * most
    image = Image.new("RGB", (right + 16, top + pitch_y * len(rows) + 12), _rgb(PAPER))
    draw = ImageDraw.Draw(image)

    def text(x: float, y: float, words: str, colour: Any, size: int) -> None:
        draw.text((x, y), words, fill=_rgb(colour), font=ImageFont.load_default(size))

    text(left, 20, title, ACCENT, 22)
    text(left, 50, subtitle, MUTED, 14)
    text(left, 84, "query", INK, 14)
    text(left + pitch_x + gap, 84, "nearest first", INK, 14)

    def put(tile: Tile, x: int, y: int, frame: tuple[float, float, float] | None) -> None:
        if frame is not None:
            draw.rounded_rectangle((x - 4, y - 4, x + width + 3, y + height + 3), 4, fill=_rgb(frame))
        pixels = Image.fromarray((tile.pixels * 255).round().astype(np.uint8))
        image.paste(pixels.resize((width, height), Image.Resampling.NEAREST), (x, y))
        text(x, y + height + 5, tile.caption, MUTED, 13)

    for number, (query, tiles) in enumerate(rows):
        y = top + pitch_y * number
        put(query, left, y, ACCENT)
        for place, tile in enumerate(tiles):
            frame = None if tile.good is None else GOOD if tile.good else MARK
            put(tile, left + pitch_x + gap + pitch_x * place, y, frame)
    return image
