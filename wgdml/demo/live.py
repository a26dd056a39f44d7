"""The live demo: argmax colours a map and top-k marks its strongest points, every frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from imgui_bundle import imgui

from .colours import ACCENT, MUTED, palette
from .scene import MAX_CLASSES, MAX_K, PASSES, Scene, Settings
from .stage import Stage

PANEL = 296  # logical pixels
_MARGIN = 16


class Live:
    """The scene with its panel, keys and mouse."""

    passes = PASSES

    def __init__(self, stage: Stage, size: tuple[int, int], settings: Settings, *, panel: bool = True) -> None:
        self.stage = stage
        self.size = size
        self.first = settings
        self.panel = panel
        self.paused = False
        self.dragged: int | None = None
        self._start(settings)

    def _start(self, settings: Settings) -> None:
        self.scene = Scene(self.stage.device, *self.size, settings, self.stage.format)
        self._retitle()

    @property
    def title(self) -> str:
        return f"wgdml demo: {self.scene.settings}{', paused' if self.paused else ''}"

    def _retitle(self) -> None:
        self.stage.canvas.set_title(self.title)

    def _change(self, **changes: Any) -> None:
        settings = self.scene.settings.changed(**changes)
        if settings.classes > self.scene.most_classes:
            return
        if settings != self.scene.settings:
            self.scene.apply(settings)
            self._retitle()

    def _pause(self) -> None:
        self.paused = not self.paused
        self._retitle()

    def area(self, size: tuple[int, int], ratio: float) -> tuple[int, int, int, int]:
        """The largest rectangle for the map beside the panel: x, y, width, height in pixels."""
        left = min(round(PANEL * ratio), size[0] // 2) if self.panel else 0
        margin = round(_MARGIN * ratio) if self.panel else 0
        width, height = max(size[0] - left - 2 * margin, 1), max(size[1] - 2 * margin, 1)
        scale = min(width / self.size[0], height / self.size[1])
        drawn = max(round(self.size[0] * scale), 1), max(round(self.size[1] * scale), 1)
        x, y = left + margin + (width - drawn[0]) // 2, margin + (height - drawn[1]) // 2
        return min(x, size[0] - 1), min(y, size[1] - 1), min(drawn[0], width), min(drawn[1], height)

    def _area(self) -> tuple[tuple[int, int, int, int], float]:
        ratio = self.stage.canvas.get_pixel_ratio()
        return self.area(self.stage.size, ratio), ratio

    # What the stage calls.

    def record(self, encoder: Any, target: Any, size: tuple[int, int], seconds: float, stamps: Any) -> None:
        if not self.paused:
            self.scene.time += seconds
        self.scene.record(encoder, target, self.area(size, self.stage.canvas.get_pixel_ratio()), stamps)

    def key(self, name: str) -> None:
        settings = self.scene.settings
        match name:
            case "ArrowUp":
                self._change(k=settings.k * 2)
            case "ArrowDown":
                self._change(k=settings.k // 2)
            case "ArrowRight":
                self._change(classes=settings.classes + 1)
            case "ArrowLeft":
                self._change(classes=settings.classes - 1)
            case "l" | "L":
                self._change(largest=not settings.largest)
            case "t" | "T":
                self._change(last_index=not settings.last_index)
            case " ":
                self._pause()
            case "p" | "P":
                self.panel = not self.panel
            case "r" | "R":
                self._start(self.first)

    def pointer(self, kind: str, x: float, y: float) -> None:
        (left, top, width, _), ratio = self._area()
        scale = width / self.size[0]
        at = (x * ratio - left) / scale, (y * ratio - top) / scale
        inside = 0 <= at[0] < self.size[0] and 0 <= at[1] < self.size[1]
        if kind == "down" and inside:
            self.dragged = int(np.argmin(((self.scene.positions() - at) ** 2).sum(1)))
        elif kind == "up":
            self.dragged = None
        if self.dragged is not None and self.dragged < self.scene.settings.classes:
            x, y = (min(max(a, 0.0), n - 1.0) for a, n in zip(at, self.size, strict=True))
            self.scene.move_source(self.dragged, x, y)

    def overlay(self) -> None:
        if not self.panel:
            return
        self._draw_sources()
        imgui.set_next_window_pos(imgui.ImVec2(0, 0))
        imgui.set_next_window_size(imgui.ImVec2(PANEL, imgui.get_io().display_size.y))
        flags = imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.no_move | imgui.WindowFlags_.no_saved_settings
        imgui.begin("wgdml", None, flags)
        try:
            self._draw_panel()
        finally:
            imgui.end()

    def _draw_sources(self) -> None:
        """A handle for each source, in its class's colour and with its number."""
        (left, top, width, _), ratio = self._area()
        scale = width / self.size[0]
        colours = palette(MAX_CLASSES)
        canvas = imgui.get_background_draw_list()
        for number, (x, y) in enumerate(self.scene.positions()):
            centre = imgui.ImVec2((left + x * scale) / ratio, (top + y * scale) / ratio)
            radius = 12.0 if number == self.dragged else 9.5
            canvas.add_circle_filled(centre, radius + 1.5, _colour((0.04, 0.04, 0.05), 0.85))
            canvas.add_circle_filled(centre, radius, _colour(tuple(colours[number] * 0.55)))
            text = str(number)
            size = imgui.calc_text_size(text)
            at = imgui.ImVec2(round(centre.x - size.x * 0.43), round(centre.y - size.y * 0.43))
            canvas.add_text(imgui.get_font(), imgui.get_font_size() * 0.86, at, _colour((1, 1, 1)), text)

    def _draw_panel(self) -> None:
        stage, settings = self.stage, self.scene.settings
        imgui.push_text_wrap_pos(0)
        imgui.text_colored(imgui.ImVec4(*ACCENT, 1), "wgdml")
        imgui.text(f"argmax of {settings.classes} score maps colours the pixels, top-k of a saliency map rings the points.")
        imgui.pop_text_wrap_pos()
        _gap()

        info = stage.device.adapter_info
        _fact("adapter", info["device"].split(" (")[0] + f", {info['backend_type']}")
        _fact("scores", f"{settings.classes} x {self.size[1]} x {self.size[0]} float32")
        width, height = stage.size
        rate = "no display" if stage.offscreen else f"{stage.frames_a_second:.0f} frames a second"
        _fact("window", f"{width} x {height}, {rate}")
        _gap()
        self._draw_times()
        _gap()
        self._draw_controls(settings)

    def _draw_times(self) -> None:
        times = self.stage.times.milliseconds
        imgui.text_disabled("GPU milliseconds a frame" if times else "GPU times: none yet, or not measured here")
        most = max([*times.values(), 1e-6])
        for name in self.passes if times else ():
            colour = ACCENT if name in ("argmax", "top-k") else MUTED
            imgui.text_colored(imgui.ImVec4(*colour, 1), name)
            imgui.same_line(80)
            at = imgui.get_cursor_screen_pos()
            corner = imgui.ImVec2(at.x + max(2.0, 120 * times[name] / most), at.y + 12)
            imgui.get_window_draw_list().add_rect_filled(imgui.ImVec2(at.x, at.y + 5), corner, _colour(colour, 0.85), 2)
            text = f"{times[name]:.2f}"
            imgui.same_line(PANEL - 16 - imgui.calc_text_size(text).x)
            imgui.text(text)

    def _draw_controls(self, settings: Settings) -> None:
        keys = PANEL - 78  # where the keys are named
        imgui.push_item_width(keys - 26)
        changed, classes = imgui.slider_int("##classes", settings.classes, 1, self.scene.most_classes, "%d classes")
        if changed:
            self._change(classes=classes)
        _hint(keys, "Left, Right")
        changed, k = imgui.slider_int("##k", settings.k, 1, MAX_K, "%d points", imgui.SliderFlags_.logarithmic)
        if changed:
            self._change(k=k)
        _hint(keys, "Up, Down")
        imgui.pop_item_width()
        for label, largest in (("largest", True), ("smallest", False)):
            if imgui.radio_button(label, settings.largest == largest):
                self._change(largest=largest)
            imgui.same_line(104)
        _hint(keys, "L")
        for label, last in (("first tie", False), ("last tie", True)):
            if imgui.radio_button(label, settings.last_index == last):
                self._change(last_index=last)
            imgui.same_line(104)
        _hint(keys, "T")
        if imgui.button("go on" if self.paused else "pause", imgui.ImVec2(keys - 26, 0)):
            self._pause()
        _hint(keys, "Space")
        imgui.text_disabled("drag a number;  P panel,  R restart,  Q quit")


def _hint(x: float, keys: str) -> None:
    imgui.same_line(x)
    imgui.text_disabled(keys)


def _gap() -> None:
    imgui.dummy(imgui.ImVec2(0, 1))
    imgui.separator()
    imgui.dummy(imgui.ImVec2(0, 1))


def _fact(name: str, value: str) -> None:
    imgui.text_disabled(name)
    imgui.same_line(80)
    imgui.text(value)


def _colour(rgb: Any, alpha: float = 1.0) -> int:
    red, green, blue = (float(c) for c in rgb)
    return imgui.color_convert_float4_to_u32(imgui.ImVec4(red, green, blue, alpha))
