"""The live demo's scene: scores and saliency made on the GPU, argmax and top-k, a picture of both.

A frame is one command encoder, and no result is read back: the render pass reads the buffers that
the operators write.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
import wgpu

import wgdml
from wgdml import AxisDirection, DataType, TensorDesc

from .colours import PAPER, palette

MAX_CLASSES = 32
MAX_K = 512
PASSES = ("scores", "argmax", "top-k", "picture")

_STORAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
_UNIFORM = wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST


@dataclass(frozen=True)
class Settings:
    """What the person chooses. The command refuses what the scene cannot show."""

    classes: int = 16
    k: int = 64
    largest: bool = True
    last_index: bool = False

    def changed(self, **changes: Any) -> Settings:
        """A copy with other values, each brought within its range."""
        if "classes" in changes:
            changes["classes"] = min(max(changes["classes"], 1), MAX_CLASSES)
        if "k" in changes:
            changes["k"] = min(max(changes["k"], 1), MAX_K)
        return replace(self, **changes)

    def __str__(self) -> str:
        which = "largest" if self.largest else "smallest"
        return f"{self.classes} classes, {self.k} {which}, {'last' if self.last_index else 'first'} index wins ties"


class _Sources:
    """Where each class's source is: it circles a home of its own, or hangs on the mouse."""

    def __init__(self, aspect: tuple[float, float]) -> None:
        rng = np.random.default_rng(7)
        n = np.arange(MAX_CLASSES)
        # Evenly spread, without a grid's regularity: the R2 sequence.
        spread = (0.5 + n[:, None] * np.array([0.7548776662, 0.5698402910])) % 1
        self.home: npt.NDArray[np.float64] = (0.1 + 0.8 * spread) * np.array(aspect)
        self.orbit = rng.uniform(0.03, 0.1, MAX_CLASSES)
        self.speed = rng.uniform(0.25, 0.7, MAX_CLASSES) * rng.choice([-1.0, 1.0], MAX_CLASSES)
        self.phase = rng.uniform(0, 2 * math.pi, MAX_CLASSES)
        self.weight = rng.uniform(-0.04, 0.04, MAX_CLASSES)

    def _turn(self, time: float) -> npt.NDArray[np.float64]:
        angle = self.phase + self.speed * time
        turn: npt.NDArray[np.float64] = self.orbit[:, None] * np.stack([np.cos(angle), np.sin(1.3 * angle)], axis=1)
        return turn

    def positions(self, time: float) -> npt.NDArray[np.float64]:
        return self.home + self._turn(time)

    def move(self, source: int, to: tuple[float, float], time: float) -> None:
        """Put a source there now; it goes on circling from there."""
        self.home[source] = np.asarray(to) - self._turn(time)[source]


class Scene:
    """Buffers, operators and pipelines for maps of ``width`` by ``height`` pixels."""

    def __init__(self, device: wgdml.Device, width: int, height: int, settings: Settings, colour_format: str) -> None:
        self.device = device
        self.width = width
        self.height = height
        self.time = 0.0
        short = min(width, height)
        self.sources = _Sources((width / short, height / short))
        pixels = width * height
        fits = min(device.limits["max-storage-buffer-binding-size"], device.limits["max-buffer-size"]) // (4 * pixels)
        self.most_classes = min(MAX_CLASSES, fits)
        if settings.classes > fits:
            raise ValueError(f"this adapter has room for {fits} maps of {width} x {height} pixels, not for {settings.classes}")
        self.scores = self._buffer("scores", 4 * self.most_classes * pixels)
        self.saliency = self._buffer("saliency", 4 * pixels)
        self.labels = self._buffer("labels", 4 * pixels)
        self.values = self._buffer("values", 4 * MAX_K)
        self.indices = self._buffer("indices", 4 * MAX_K)
        self._field = device.gpu_device.create_buffer(size=16 + 16 * MAX_CLASSES, usage=_UNIFORM)
        self._view = device.gpu_device.create_buffer(size=32 + 16 * MAX_CLASSES, usage=_UNIFORM)
        self._make_pipelines(colour_format)
        self.settings = settings
        self.apply(settings)

    def _buffer(self, label: str, size: int) -> Any:
        return self.device.gpu_device.create_buffer(label=label, size=size, usage=_STORAGE)

    def _module(self, name: str) -> Any:
        text = (files(__package__) / f"{name}.wgsl").read_text(encoding="utf-8")
        return self.device.gpu_device.create_shader_module(label=name, code=text)

    def _make_pipelines(self, colour_format: str) -> None:
        gpu = self.device.gpu_device
        self._field_pipeline = gpu.create_compute_pipeline(
            layout="auto", compute={"module": self._module("field"), "entry_point": "main"}
        )
        layout = self._field_pipeline.get_bind_group_layout(0)
        entries = self._entries([self._field, self.scores, self.saliency])
        self._field_group = gpu.create_bind_group(layout=layout, entries=entries)

        # One layout for both, so that one bind group serves them.
        visible = wgpu.ShaderStage.VERTEX | wgpu.ShaderStage.FRAGMENT
        kinds = ["uniform"] + 4 * ["read-only-storage"]
        entries = [{"binding": i, "visibility": visible, "buffer": {"type": kind}} for i, kind in enumerate(kinds)]
        group_layout = gpu.create_bind_group_layout(entries=entries)
        layout = gpu.create_pipeline_layout(bind_group_layouts=[group_layout])
        module = self._module("picture")
        blend = {"src_factor": "one", "dst_factor": "one-minus-src-alpha", "operation": "add"}
        self._map_pipeline, self._mark_pipeline = (
            gpu.create_render_pipeline(
                layout=layout,
                vertex={"module": module, "entry_point": f"{name}_vertex"},
                primitive={"topology": topology},
                fragment={
                    "module": module,
                    "entry_point": f"{name}_fragment",
                    "targets": [{"format": colour_format, "blend": {"color": blend, "alpha": blend}}],
                },
            )
            for name, topology in (("map", "triangle-list"), ("mark", "triangle-strip"))
        )
        buffers = [self._view, self.scores, self.saliency, self.labels, self.indices]
        self._picture_group = gpu.create_bind_group(layout=group_layout, entries=self._entries(buffers))

    @staticmethod
    def _entries(buffers: list[Any]) -> list[dict[str, Any]]:
        return [{"binding": i, "resource": {"buffer": b, "offset": 0, "size": b.size}} for i, b in enumerate(buffers)]

    def apply(self, settings: Settings) -> None:
        """Compiles the operators for these settings; the device keeps what it has seen before."""
        self.settings = settings
        sizes = [settings.classes, self.height, self.width]
        argmax = wgdml.ArgmaxOperatorDesc(
            input_tensor=TensorDesc(DataType.FLOAT32, sizes),
            output_tensor=TensorDesc(DataType.UINT32, [1, self.height, self.width]),
            axes=[0],
            axis_direction=AxisDirection.DECREASING if settings.last_index else AxisDirection.INCREASING,
        )
        top_k = wgdml.TopK1OperatorDesc(
            input_tensor=TensorDesc(DataType.FLOAT32, [self.height * self.width]),
            output_value_tensor=TensorDesc(DataType.FLOAT32, [settings.k]),
            output_index_tensor=TensorDesc(DataType.UINT32, [settings.k]),
            axis=0,
            k=settings.k,
            axis_direction=AxisDirection.DECREASING if settings.largest else AxisDirection.INCREASING,
        )
        self._argmax = self.device.compile_operator(self.device.create_operator(argmax))
        self._top_k = self.device.compile_operator(self.device.create_operator(top_k))

    def positions(self) -> npt.NDArray[np.float64]:
        """The sources of the classes shown, in map pixels."""
        return self.sources.positions(self.time)[: self.settings.classes] * min(self.width, self.height)

    def move_source(self, source: int, x: float, y: float) -> None:
        short = min(self.width, self.height)
        self.sources.move(source, (x / short, y / short), self.time)

    def record(self, encoder: Any, target: Any, area: tuple[int, int, int, int], stamps: Any = None) -> None:
        """Records a whole frame, drawn into ``area`` (x, y, width, height) of the target view.

        ``stamps``: a query set of two entries for the frame's start and two for each of ``PASSES``.
        The even ones become the times of the start and of each pass's end, the odd ones are there
        for the driver's sake.
        """
        self._write_uniforms(area)

        def stamp(entry: int) -> dict[str, Any]:
            writes = {"query_set": stamps, "end_of_pass_write_index": entry}
            return {} if stamps is None else {"timestamp_writes": writes}

        def settle(number: int) -> None:
            # A software driver puts a stamp off until the next: an empty pass brings it.
            if stamps is not None:
                encoder.begin_compute_pass(**stamp(2 * number + 1)).end()

        def compute(number: int, record: Callable[[Any], None]) -> None:
            compute_pass = encoder.begin_compute_pass(**stamp(2 * number))
            record(compute_pass)
            compute_pass.end()
            settle(number)

        def record_field(compute_pass: Any) -> None:
            compute_pass.set_pipeline(self._field_pipeline)
            compute_pass.set_bind_group(0, self._field_group)
            compute_pass.dispatch_workgroups(-(-self.width // 256), self.height)

        found = {"output_value_tensor": self.values, "output_index_tensor": self.indices}
        if stamps is not None:
            compute(0, lambda _: None)
        compute(1, record_field)
        compute(2, partial(self._argmax.record, input_tensor=self.scores, output_tensor=self.labels))
        compute(3, partial(self._top_k.record, input_tensor=self.saliency, **found))

        attachment = {"view": target, "load_op": "clear", "store_op": "store", "clear_value": (*PAPER, 1)}
        draw = encoder.begin_render_pass(color_attachments=[attachment], **stamp(8))
        draw.set_viewport(*area, 0, 1)
        draw.set_bind_group(0, self._picture_group)
        draw.set_pipeline(self._map_pipeline)
        draw.draw(3)
        draw.set_pipeline(self._mark_pipeline)
        draw.draw(4, self.settings.k)
        draw.end()
        settle(4)

    def _write_uniforms(self, area: tuple[int, int, int, int]) -> None:
        sources = np.zeros((MAX_CLASSES, 4), np.float32)
        sources[:, :2] = self.sources.positions(self.time)
        sources[:, 2] = self.sources.weight
        sources[:, 3] = self.sources.phase
        field = np.array([self.width, self.height, self.settings.classes], np.uint32).tobytes()
        field += np.float32(self.time).tobytes() + sources.tobytes()
        self.device.gpu_device.queue.write_buffer(self._field, 0, field)

        colours = np.ones((MAX_CLASSES, 4), np.float32)
        colours[:, :3] = palette(MAX_CLASSES)
        view = np.array([self.width, self.height, self.settings.classes, self.settings.k], np.uint32).tobytes()
        view += np.array([2 / area[2], 2 / area[3], area[2] / self.width], np.float32).tobytes()
        view += np.uint32(self.settings.largest).tobytes() + colours.tobytes()
        self.device.gpu_device.queue.write_buffer(self._view, 0, view)
