"""Opens the stage and puts a show on it: what ``wgdml demo`` calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .live import Live
from .scene import Settings
from .stage import Stage

__all__ = ["Report", "live_picture", "live_window"]

WINDOW = (840, 544)  # the panel, and maps of 512 x 512 pixel for pixel
MAPS = (512, 512)


@dataclass(frozen=True)
class Report:
    """What was drawn without a window."""

    image: npt.NDArray[np.uint8]
    frames: int
    adapter: dict[str, Any]
    milliseconds: dict[str, float] = field(default_factory=dict)  # of each pass; empty where the adapter measures none


def live_window(window: tuple[int, int], maps: tuple[int, int], settings: Settings, panel: bool, frames: int | None) -> None:
    """The live demo in a window, until it is closed or for some frames."""
    stage = Stage(window, "wgdml demo", offscreen=False)
    try:
        stage.run(Live(stage, maps, settings, panel=panel), frames)
    finally:
        stage.close()


def live_picture(
    window: tuple[int, int],
    maps: tuple[int, int],
    settings: Settings,
    panel: bool,
    frames: int,
    progress: Callable[[int], None] | None = None,
) -> Report:
    """The same scene without a display: the last of some frames, a thirtieth of a second apart."""
    stage = Stage(window, "wgdml demo", offscreen=True)
    try:
        image = stage.pictures(Live(stage, maps, settings, panel=panel), frames, progress=progress)
        return Report(image, frames, stage.device.adapter_info, stage.times.milliseconds)
    finally:
        stage.close()
