"""A window, or a picture without one, that a show draws on: canvas, device, overlay and GPU times.

rendercanvas, wgdml and the overlay share one device, and each frame is one command encoder.
"""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol

import imgui_bundle
import numpy as np
import numpy.typing as npt
import wgpu
from imgui_bundle import imgui
from PIL import Image
from rendercanvas.offscreen import OffscreenRenderCanvas
from wgpu.utils.imgui import ImguiRenderer

import wgdml

from ..runtime.context import nanoseconds_a_tick
from ..runtime.process import uninterrupted
from .colours import ACCENT, INK, MUTED
from .window import open_window

_FONT_SIZE = 15.0
_RECENT = 31  # frames that the times shown are the median of


class Show(Protocol):
    """What is shown. Sizes are in canvas pixels unless they are called logical."""

    @property
    def passes(self) -> Sequence[str]:
        """The timed parts of a frame, in order."""

    def record(self, encoder: Any, target: Any, size: tuple[int, int], seconds: float, stamps: Any) -> None:
        """Records what lies under the overlay; ``seconds`` have passed since the frame before."""

    def overlay(self) -> None:
        """Calls imgui for what lies above it."""

    def key(self, name: str) -> None:
        """A key went down that the overlay does not want."""

    def pointer(self, kind: str, x: float, y: float) -> None:
        """``down``, ``move`` or ``up`` of the left button, in logical pixels."""


class PassTimes:
    """The GPU time of each pass, by timestamp query: from the end of the one before it to its own.

    Read some frames later, so that no frame waits for another.
    """

    def __init__(self, device: wgdml.Device, passes: Sequence[str]) -> None:
        self.passes = tuple(passes)
        self._recent: dict[str, deque[float]] = {name: deque(maxlen=_RECENT) for name in self.passes}
        self.query_set: Any = None
        self._filled: Any = None
        if "timestamp-query" not in device.features or not passes:
            return
        self._gpu = device.gpu_device
        self._count = 2 * (len(self.passes) + 1)
        self._size = 8 * self._count
        self.query_set = self._gpu.create_query_set(type="timestamp", count=self._count)
        usage = wgpu.BufferUsage
        self._resolved = self._gpu.create_buffer(size=self._size, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)
        self._free = [self._gpu.create_buffer(size=self._size, usage=usage.COPY_DST | usage.MAP_READ) for _ in range(4)]
        self._tick = nanoseconds_a_tick(self._gpu)

    def resolve(self, encoder: Any) -> None:
        """Records the copy of this frame's stamps, if a buffer is free for them."""
        if self.query_set is None or not self._free:
            return
        self._filled = self._free.pop()
        encoder.resolve_query_set(self.query_set, 0, self._count, self._resolved, 0)
        encoder.copy_buffer_to_buffer(self._resolved, 0, self._filled, 0, self._size)

    def submitted(self, wait: bool) -> None:
        """After the frame's submission: take its times now (``wait``), or when they come."""
        if self._filled is None:
            return
        buffer, self._filled = self._filled, None
        if wait:
            buffer.map_sync(wgpu.MapMode.READ)
            self._take(buffer)
        else:
            buffer.map_async(wgpu.MapMode.READ).then(lambda _: self._take(buffer))

    def _take(self, buffer: Any) -> None:
        stamps = np.frombuffer(buffer.read_mapped(), np.uint64)[::2].astype(np.int64)
        buffer.unmap()
        self._free.append(buffer)
        for name, ticks in zip(self.passes, np.diff(stamps), strict=True):
            self._recent[name].append(max(float(ticks), 0.0) * self._tick / 1e6)

    @property
    def milliseconds(self) -> dict[str, float]:
        """The median of the last frames, by pass; empty where nothing was measured."""
        return {name: statistics.median(times) for name, times in self._recent.items() if times}


class Stage:
    """A canvas of ``size`` logical pixels: a window, or memory with ``offscreen``.

    ``NoDisplayError`` where no window can be opened, ``NoAdapterError`` where there is no adapter.
    """

    def __init__(self, size: tuple[int, int], title: str, *, offscreen: bool) -> None:
        self.offscreen = offscreen
        self.canvas = OffscreenRenderCanvas(size=size) if offscreen else open_window(size, title)
        self.device = self._open_device()
        context = self.canvas.get_wgpu_context()
        # Colours are written as they are to be seen, so the plain format and not the sRGB one.
        self.format = context.get_preferred_format(self.device.gpu_device.adapter).removesuffix("-srgb")
        context.configure(device=self.device.gpu_device, format=self.format)
        self._context = context
        self._imgui = ImguiRenderer(self.device.gpu_device, self.canvas)
        _style()
        self.size: tuple[int, int] = self.canvas.get_physical_size()  # of the frame that is drawn
        self.frames = 0
        self.frames_a_second = 0.0
        self.times: PassTimes
        self._last = 0.0
        self._problem: BaseException | None = None

    def _open_device(self) -> wgdml.Device:
        if self.offscreen:
            return wgdml.Device()
        # The adapter has to be one that can draw on this very window.
        try:
            request = partial(wgpu.gpu.request_adapter_sync, canvas=self.canvas, power_preference="high-performance")
            adapter = uninterrupted(request)
        except RuntimeError as problem:
            self.canvas.close()
            raise wgdml.NoAdapterError(f"no adapter can draw on this window: {problem}") from problem
        features = [f for f in ("subgroup", "timestamp-query") if f in adapter.features]
        return wgdml.Device(uninterrupted(partial(adapter.request_device_sync, required_features=features)))

    def run(self, show: Show, frames: int | None = None) -> None:
        """Shows it until the window is closed, or for some frames; what goes wrong is raised."""
        from rendercanvas.glfw import loop

        self.times = PassTimes(self.device, show.passes)

        def draw() -> None:
            now = time.perf_counter()
            seconds = min(now - self._last, 0.1) if self._last else 0.0
            if self._last:
                rate = 1 / max(now - self._last, 1e-6)
                self.frames_a_second = rate if self.frames < 3 else 0.95 * self.frames_a_second + 0.05 * rate
            self._last = now
            self._frame(show, seconds, wait=False)
            if frames is not None and self.frames >= frames:
                self.canvas.close()

        def on_key(event: dict[str, Any]) -> None:
            if event["key"] in ("Escape", "q", "Q"):
                self.canvas.close()
            else:
                show.key(event["key"])

        def on_pointer(event: dict[str, Any]) -> None:
            kind = event["event_type"].removeprefix("pointer_")
            if kind == "move" or event["button"] == 1:
                show.pointer(kind, event["x"], event["y"])

        self.canvas.add_event_handler(self._guard(on_key), "key_down")
        self.canvas.add_event_handler(self._guard(on_pointer), "pointer_down", "pointer_move", "pointer_up")
        self.canvas.request_draw(self._guard(draw))
        loop.run()
        if self._problem is not None:
            raise self._problem

    def _guard(self, function: Callable[..., None]) -> Callable[..., None]:
        """The first problem ends the show: rendercanvas would log it and go on."""

        def guarded(*args: Any) -> None:
            try:
                function(*args)
            except wgpu.DrawCancelled:  # there is no room for it, as when the size just changed
                raise
            except BaseException as problem:
                self._problem = self._problem or problem
                self.canvas.close()

        return guarded

    def pictures(self, show: Show, frames: int, progress: Callable[[int], None] = lambda done: None) -> npt.NDArray[np.uint8]:
        """Draws frames, 30 a second, without a window and returns the last as RGB."""
        self.times = PassTimes(self.device, show.passes)
        # imgui hides a new panel for the frame in which it measures it: that one goes by unseen.
        self._begin_overlay(show)
        image = np.empty((0, 0, 4), np.uint8)

        self.canvas.request_draw(self._guard(partial(self._frame, show, 1 / 30, wait=True)))
        for number in range(frames):
            image = self.canvas.draw()
            if self._problem is not None:
                raise self._problem
            progress(number + 1)
        return np.ascontiguousarray(image[..., :3])

    def close(self) -> None:
        if not self.canvas.get_closed():
            self.canvas.close()

    def _frame(self, show: Show, seconds: float, wait: bool) -> None:
        texture = self._context.get_current_texture()
        # While a window changes its size the texture may lag behind. Nothing may lie outside of it.
        self.size = texture.width, texture.height
        target = texture.create_view()
        encoder = self.device.gpu_device.create_command_encoder()
        show.record(encoder, target, self.size, seconds, self.times.query_set)
        overlay = self._begin_overlay(show)
        attachment = {"view": target, "load_op": "load", "store_op": "store"}
        draw = encoder.begin_render_pass(color_attachments=[attachment])
        self._imgui.backend.render(overlay, draw)
        draw.end()
        self.times.resolve(encoder)
        self.device.gpu_device.queue.submit([encoder.finish()])
        self.times.submitted(wait)
        self.frames += 1

    def _begin_overlay(self, show: Show) -> Any:
        imgui.set_current_context(self._imgui.imgui_context)
        ratio = self.canvas.get_pixel_ratio()
        io = imgui.get_io()
        io.display_size = imgui.ImVec2(self.size[0] / ratio, self.size[1] / ratio)
        io.display_framebuffer_scale = imgui.ImVec2(ratio, ratio)
        imgui.new_frame()
        try:
            show.overlay()
        finally:
            imgui.render()
        return imgui.get_draw_data()


def _style() -> None:
    fonts = Path(imgui_bundle.__file__).parent / "assets" / "fonts" / "Roboto"
    io = imgui.get_io()
    io.fonts.add_font_from_file_ttf(str(fonts / "Roboto-Regular.ttf"), _FONT_SIZE)
    imgui.style_colors_dark()
    style = imgui.get_style()
    style.window_rounding = style.frame_rounding = style.grab_rounding = 4
    style.window_border_size = 0
    style.grab_min_size = 7
    style.window_padding = imgui.ImVec2(16, 14)
    style.item_spacing = imgui.ImVec2(8, 6)
    colour = imgui.Col_
    for name, value in {
        colour.window_bg: (0.075, 0.082, 0.102, 1.0),
        colour.text: (*INK, 1.0),
        colour.text_disabled: (*MUTED, 1.0),
        colour.frame_bg: (0.14, 0.15, 0.18, 1.0),
        colour.frame_bg_hovered: (0.18, 0.2, 0.24, 1.0),
        colour.frame_bg_active: (0.2, 0.22, 0.27, 1.0),
        colour.button: (0.17, 0.19, 0.23, 1.0),
        colour.button_hovered: (0.23, 0.25, 0.31, 1.0),
        colour.button_active: (0.28, 0.3, 0.37, 1.0),
        colour.slider_grab: (*ACCENT, 0.6),
        colour.slider_grab_active: (*ACCENT, 0.8),
        colour.check_mark: (*ACCENT, 1.0),
        colour.plot_histogram: (*ACCENT, 0.9),
        colour.separator: (0.2, 0.21, 0.25, 1.0),
    }.items():
        style.set_color_(name, imgui.ImVec4(*value))


def save_picture(image: npt.NDArray[np.uint8], to: Path | IO[bytes]) -> None:
    Image.fromarray(image).save(to, format="PNG", optimize=True)
