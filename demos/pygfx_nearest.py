"""A cloud of a million points in pygfx, and in every frame the k nearest to the mouse.

They are found, coloured and named. A shader measures how far each point is from the mouse, wgdml
selects the k nearest, and a second shader copies them into the buffer of yellow points that pygfx
draws. It is one submission, in pygfx's own buffers. Only the k come to the host, for the title, and
nobody waits for them.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click
import numpy as np
import pygfx as gfx
import wgpu
from pygfx.renderers.wgpu.engine.update import ensure_wgpu_object
from rendercanvas.offscreen import RenderCanvas as OffscreenCanvas
from rendercanvas.utils.asyncs import sleep

import wgdml
from wgdml import AxisDirection, DataType, TensorDesc
from wgdml.demo.window import NoDisplayError, open_window

SIZE = (960, 640)
STORAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST


def galaxy(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in two spiral arms and their colours, float32 [count, 3]."""
    rng = np.random.default_rng(0)
    radius = rng.gamma(2.0, 0.5, count)
    angle = 2.5 * np.log(radius + 0.3) + np.pi * rng.integers(0, 2, count) + rng.normal(0, 0.35, count)
    height = rng.normal(0, 0.15, count) * np.exp(-radius)
    positions = np.stack([radius * np.cos(angle), height, radius * np.sin(angle)], 1)
    warm, cold = np.array([1.0, 0.72, 0.5]), np.array([0.25, 0.4, 0.8])
    near = np.exp(-radius)[:, None]
    colors = (near * warm + (1 - near) * cold) * rng.uniform(0.35, 0.9, (count, 1))
    return positions.astype(np.float32), colors.astype(np.float32)


def points(positions: np.ndarray, material: gfx.PointsMaterial, **more: gfx.Buffer) -> tuple[gfx.Points, wgpu.GPUBuffer]:
    """Points of pygfx, and the buffer that their positions lie in."""
    found = gfx.Points(gfx.Geometry(positions=gfx.Buffer(positions, usage=STORAGE), **more), material)
    return found, ensure_wgpu_object(found.geometry.positions)


class Nearest:
    """The scene, and what finds and marks the points nearest to the mouse."""

    def __init__(self, canvas: Any, count: int, k: int) -> None:
        self.canvas = canvas
        self.mouse = np.array(SIZE) / 2  # pixels
        # wgpu's shared device is in use from now on.
        self.renderer = gfx.renderers.WgpuRenderer(canvas)
        self.renderer.add_event_handler(self.move, "pointer_move")
        self.camera = gfx.PerspectiveCamera(50, SIZE[0] / SIZE[1])
        self.camera.local.position = (0, 2.2, 3.6)
        self.camera.look_at((0, -0.2, 0))
        gfx.OrbitController(self.camera, target=(0, -0.2, 0), register_events=self.renderer)
        self.positions, colors = galaxy(count)
        cloud = gfx.PointsMaterial(size=1.5, color_mode="vertex", aa=False)
        stars, source = points(self.positions, cloud, colors=gfx.Buffer(colors))
        yellow = gfx.PointsMaterial(size=4, color="#ffe000", depth_test=False)
        marked, marks = points(np.zeros((k, 3), np.float32), yellow)
        self.scene = gfx.Scene().add(gfx.Background.from_color("#05060c"), stars, marked)

        device = wgdml.default_device()
        self.gpu = gfx.renderers.wgpu.get_shared().device
        if device.gpu_device is not self.gpu:
            raise click.ClickException(f"this demo needs pygfx's device; wgdml's is {device.gpu_device_reason}")
        # Squared distances, indices.
        self.best = wgdml.empty(k, np.float32), wgdml.empty(k, np.uint32)
        self.distances = wgdml.empty(count, np.float32)
        desc = wgdml.TopK1OperatorDesc(
            TensorDesc(DataType.FLOAT32, (count,)),
            TensorDesc(DataType.FLOAT32, (k,)),
            TensorDesc(DataType.UINT32, (k,)),
            axis=0,
            k=k,
            axis_direction=AxisDirection.INCREASING,
        )
        self.operator = device.compile_operator(device.create_operator(desc))
        self.view = self.gpu.create_buffer(size=80, usage=wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)
        code = Path(__file__).with_suffix(".wgsl").read_text(encoding="utf-8")
        self.module = self.gpu.create_shader_module(label="pygfx_nearest", code=code)
        distances = (self.distances.buffer, 4 * count)
        indices = (self.best[1].buffer, 4 * k)
        self.measure = self.step("measure", {0: (self.view, 80), 1: (source, 12 * count), 2: distances})
        self.mark = self.step("mark", {1: (source, 12 * count), 3: indices, 4: (marks, 12 * k)})
        self.groups = -(-count // 256), -(-k // 64)
        canvas.request_draw(self.draw)

    def step(self, name: str, buffers: dict[int, tuple[wgpu.GPUBuffer, int]]) -> tuple[Any, Any]:
        """Pipeline and bind group of an entry point; ``buffers``: with their bytes, by binding."""
        pipeline = self.gpu.create_compute_pipeline(layout="auto", compute={"module": self.module, "entry_point": name})
        entries = [
            {"binding": slot, "resource": {"buffer": buffer, "offset": 0, "size": size}} for slot, (buffer, size) in buffers.items()
        ]
        return pipeline, self.gpu.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)

    def move(self, event: Any) -> None:
        self.mouse = np.array([event.x, event.y])

    def seen_from(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The camera's matrix, the mouse from -1 to 1, and half of the screen in pixels."""
        half = np.array(self.canvas.get_logical_size()) / 2
        return self.camera.camera_matrix, (self.mouse / half - 1) * (1, -1), half

    def draw(self) -> None:
        matrix, mouse, half = self.seen_from()
        self.gpu.queue.write_buffer(self.view, 0, np.concatenate([matrix.T.ravel(), mouse, half]).astype(np.float32))
        encoder = self.gpu.create_command_encoder()
        compute = encoder.begin_compute_pass()
        values, indices = self.best
        for (pipeline, group), groups in zip((self.measure, self.mark), self.groups, strict=True):
            if pipeline is self.mark[0]:
                self.operator.record(compute, input_tensor=self.distances, output_value_tensor=values, output_index_tensor=indices)
            compute.set_pipeline(pipeline)
            compute.set_bind_group(0, group)
            compute.dispatch_workgroups(groups)
        compute.end()
        self.gpu.queue.submit([encoder.finish()])
        self.renderer.render(self.scene, self.camera)

    async def found(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices of the nearest, nearest first, and their distances in pixels."""
        values, indices = await wgdml.to_numpy_async(*self.best)
        return indices, np.sqrt(values)

    def check(self, indices: np.ndarray) -> None:
        """Fails where NumPy finds nearer ones."""
        matrix, mouse, half = self.seen_from()
        seen = np.c_[self.positions, np.ones(len(self.positions))] @ matrix.T
        away = np.hypot(*((seen[:, :2] / seen[:, 3:] - mouse) * half).T)
        away[seen[:, 3] <= 0] = np.inf
        assert len(set(indices.tolist())) == len(indices)
        assert np.allclose(away[indices], np.sort(away)[: len(indices)], rtol=1e-3, atol=1e-2)


def show(count: int, k: int) -> None:
    """In a window, until it is closed."""
    canvas = open_window(SIZE, "wgdml and pygfx")
    from rendercanvas.glfw import loop

    scene = Nearest(canvas, count, k)

    async def name_them() -> None:
        while not canvas.get_closed():
            indices, pixels = await scene.found()
            canvas.set_title(f"nearest: point {indices[0]} at {pixels[0]:.1f} pixels; {k} within {pixels[-1]:.1f}")
            await sleep(0.1)

    loop.add_task(name_them)
    loop.run()


async def picture(count: int, k: int, frames: int, path: Path | None) -> None:
    """Without a window: the mouse goes from the middle to the right; every answer is checked."""
    scene = Nearest(OffscreenCanvas(size=SIZE), count, k)
    for frame in range(frames):
        scene.mouse = np.array(SIZE) * (0.5 + 0.2 * frame / max(frames - 1, 1), 0.55)
        scene.canvas.draw()
        if frame:  # pygfx uploads the points when it first draws
            indices, pixels = await scene.found()
            scene.check(indices)
    image = np.asarray(scene.canvas.draw())
    yellow = int(((image[..., 0] > 200) & (image[..., 1] > 180) & (image[..., 2] < 80)).sum())
    click.echo(f"{k} of {count:,} points within {pixels[-1]:.1f} pixels, as NumPy finds; {yellow} yellow pixels")
    assert yellow
    if path is not None:
        from PIL import Image

        Image.fromarray(image[..., :3]).save(path)
        click.echo(f"wrote {path}")


@click.command()
@click.option("--points", "count", type=click.IntRange(1, 1 << 24), default=1_000_000, show_default=True, help="How many.")
@click.option("-k", type=click.IntRange(1, 4096), default=2000, show_default=True, help="How many are marked.")
@click.option("--offscreen", is_flag=True, help="Draw without a window, and check every answer.")
@click.option("--frames", type=click.IntRange(2), default=5, show_default=True, help="How many (with --offscreen).")
@click.option("--picture", "path", type=click.Path(dir_okay=False, path_type=Path), help="Save the last frame (with --offscreen).")
def main(count: int, k: int, offscreen: bool, frames: int, path: Path | None) -> None:
    """The k points of a cloud nearest to the mouse, found in every frame in pygfx's buffers."""
    if k > count:
        raise click.UsageError(f"-k {k} is more than the {count} points")
    if offscreen:
        asyncio.run(picture(count, k, frames, path))
    else:
        try:
            show(count, k)
        except NoDisplayError as problem:
            raise click.ClickException(f"{problem}; --offscreen --picture OUT.png draws without one") from None


if __name__ == "__main__":
    main()
