"""Windows to draw in, or the reason why there is none."""

from __future__ import annotations

import warnings
from typing import Any


class NoDisplayError(RuntimeError):
    """There is no display to open a window on."""


def open_window(size: tuple[int, int], title: str) -> Any:
    """A canvas of ``size`` logical pixels that is drawn again and again; ``NoDisplayError``."""
    reason = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # glfw warns of what get_error() tells
        try:
            import glfw
            from rendercanvas.glfw import GlfwRenderCanvas

            if glfw.init():
                return GlfwRenderCanvas(size=size, title=title, update_mode="continuous", max_fps=60)
            description = glfw.get_error()[1]
            reason = description.decode() if isinstance(description, bytes) else str(description or "")
        except (ImportError, RuntimeError) as problem:  # no glfw library for this display server
            reason = str(problem)
    raise NoDisplayError(f"no window can be opened here ({reason or 'is there a display?'})")
