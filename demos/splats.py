"""A million soft, transparent discs, sorted by depth in every frame and drawn from the farthest on.

A shader measures the depth of each disc, and counts those that are seen. wgdml sorts the depths,
and the discs are drawn in that order: as many as were counted, by an indirect draw. It is one
submission. Neither the discs, nor their order, nor their number leaves the GPU.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
import numpy as np
import wgpu
from rendercanvas.offscreen import RenderCanvas as OffscreenCanvas

import wgdml
from wgdml import AxisDirection, DataType, TensorDesc
from wgdml.demo.window import NoDisplayError, open_window

SIZE = (960, 640)
_SHADERS = wgpu.ShaderStage
_USES = wgpu.BufferUsage


def rings(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Three rings that pass through each other: positions, float32 [count, 3], and colours."""
    rng = np.random.default_rng(0)
    ring = np.arange(count) % 3
    angle = rng.uniform(0, 2 * np.pi, count)
    around = rng.uniform(0, 2 * np.pi, count)
    thick = 0.16 * np.sqrt(rng.random(count))
    radius = 1 + thick * np.cos(around)
    flat = np.stack([radius * np.cos(angle), thick * np.sin(around), radius * np.sin(angle)], 1)
    turned = np.stack([np.roll(flat, k, 1) for k in range(3)])[ring, np.arange(count)]
    base = np.array([[235, 80, 60], [70, 190, 110], [80, 120, 245]])[ring]
    color = np.clip(base * rng.uniform(0.6, 1.1, (count, 1)), 0, 255)
    alpha = np.full((count, 1), 200.0)
    return turned.astype(np.float32), np.concatenate([color, alpha], 1).astype(np.uint8).view(np.uint32)[:, 0]


def camera(angle: float) -> np.ndarray:
    """The matrix of a camera that goes around the origin and looks at it, float32 [4, 4]."""
    eye = 1.9 * np.array([np.cos(angle), 0.45, np.sin(angle)])
    back = eye / np.linalg.norm(eye)
    right = np.cross([0, 1, 0], back)
    right /= np.linalg.norm(right)
    turn = np.eye(4)
    turn[:3, :3] = right, np.cross(back, right), back
    turn[:3, 3] = -turn[:3, :3] @ eye
    near, far, zoom = 0.1, 10.0, 1.6
    lens = np.array(
        [
            [zoom * SIZE[1] / SIZE[0], 0, 0, 0],
            [0, zoom, 0, 0],
            [0, 0, -far / (far - near), -near * far / (far - near)],
            [0, 0, -1, 0],
        ]
    )
    return (lens @ turn).astype(np.float32)


class Splats:
    """The discs on the GPU, and a frame of them."""

    def __init__(self, canvas: Any, count: int) -> None:
        self.canvas, self.count, self.angle = canvas, count, 0.0
        device = wgdml.default_device()
        self.gpu = device.gpu_device
        self.positions, colors = rings(count)
        stored = wgdml.asarray(self.positions), wgdml.asarray(colors)
        self.depths = wgdml.empty(count, np.float32)
        # Sorted depths, and the order of the discs: what follows the keys is each disc's number.
        self.sorted = wgdml.empty(count, np.float32), wgdml.empty(count, np.uint32)
        whole = TensorDesc(DataType.FLOAT32, (count,))
        order = TensorDesc(DataType.UINT32, (count,))
        desc = wgdml.TopK1OperatorDesc(whole, whole, order, axis=0, k=count, axis_direction=AxisDirection.DECREASING)
        self.sort = device.compile_operator(device.create_operator(desc))
        self.view = self.gpu.create_buffer(size=80, usage=_USES.UNIFORM | _USES.COPY_DST)
        usage = _USES.STORAGE | _USES.INDIRECT | _USES.COPY_DST | _USES.COPY_SRC
        self.draw_arguments = self.gpu.create_buffer(size=16, usage=usage)
        code = Path(__file__).with_suffix(".wgsl").read_text(encoding="utf-8")
        self.module = self.gpu.create_shader_module(label="splats", code=code)
        cull = {1: stored[0].buffer, 3: self.depths.buffer, 4: self.draw_arguments}
        draw = {1: stored[0].buffer, 2: stored[1].buffer, 5: self.sorted[1].buffer}
        self.cull, self.draw = self._cull(cull), self._draw(draw)
        canvas.request_draw(self.frame)

    def _group(self, pipeline: Any, buffers: dict[int, Any]) -> Any:
        sizes = {1: 12 * self.count, 4: 16} | dict.fromkeys((2, 3, 5), 4 * self.count)
        entries = [{"binding": 0, "resource": {"buffer": self.view, "offset": 0, "size": 80}}]
        entries += [{"binding": n, "resource": {"buffer": b, "offset": 0, "size": sizes[n]}} for n, b in buffers.items()]
        return self.gpu.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)

    def _cull(self, buffers: dict[int, Any]) -> tuple[Any, Any]:
        pipeline = self.gpu.create_compute_pipeline(layout="auto", compute={"module": self.module, "entry_point": "cull"})
        return pipeline, self._group(pipeline, buffers)

    def _draw(self, buffers: dict[int, Any]) -> tuple[Any, Any]:
        self.context = self.canvas.get_context("wgpu")
        form = self.context.get_preferred_format(self.gpu.adapter).removesuffix("-srgb")
        self.context.configure(device=self.gpu, format=form)
        over = {"src_factor": "one", "dst_factor": "one-minus-src-alpha", "operation": "add"}
        pipeline = self.gpu.create_render_pipeline(
            layout="auto",
            vertex={"module": self.module, "entry_point": "corner"},
            primitive={"topology": "triangle-strip"},
            fragment={
                "module": self.module,
                "entry_point": "disc",
                "targets": [{"format": form, "blend": {"color": over, "alpha": over}}],
            },
        )
        return pipeline, self._group(pipeline, buffers)

    def frame(self) -> None:
        queue, size = self.gpu.queue, 8 / np.sqrt(self.count)
        half = np.array([size * SIZE[1] / SIZE[0], size, 0, 0], np.float32)
        queue.write_buffer(self.view, 0, np.concatenate([camera(self.angle).T.ravel(), half]).astype(np.float32))
        queue.write_buffer(self.draw_arguments, 0, np.array([4, 0, 0, 0], np.uint32))
        encoder = self.gpu.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(self.cull[0])
        compute.set_bind_group(0, self.cull[1])
        compute.dispatch_workgroups(-(-self.count // 256))
        values, order = self.sorted
        self.sort.record(compute, input_tensor=self.depths, output_value_tensor=values, output_index_tensor=order)
        compute.end()
        target = self.context.get_current_texture().create_view()
        attachment = {"view": target, "load_op": "clear", "store_op": "store", "clear_value": (0.02, 0.02, 0.04, 1)}
        render = encoder.begin_render_pass(color_attachments=[attachment])
        render.set_pipeline(self.draw[0])
        render.set_bind_group(0, self.draw[1])
        render.draw_indirect(self.draw_arguments, 0)
        render.end()
        queue.submit([encoder.finish()])

    def check(self) -> int:
        """Fails where NumPy sorts another way. The number of discs that are drawn."""
        depths, order = wgdml.to_numpy(self.depths, self.sorted[1])
        assert np.array_equal(order, np.argsort(-depths, kind="stable"))
        drawn = int(np.frombuffer(self.gpu.queue.read_buffer(self.draw_arguments), np.uint32)[1])
        assert drawn == int((depths > 0).sum())
        return drawn


def show(count: int) -> None:
    """In a window, until it is closed."""
    canvas = open_window(SIZE, f"wgdml: {count:,} discs in order")
    from rendercanvas.glfw import loop

    splats = Splats(canvas, count)
    started = time.perf_counter()

    def turn() -> None:
        splats.angle = 0.4 * (time.perf_counter() - started)
        splats.frame()

    canvas.request_draw(turn)
    loop.run()


def picture(count: int, frames: int, path: Path | None) -> None:
    """Without a window: the camera goes around, and the order of every frame is checked."""
    splats = Splats(OffscreenCanvas(size=SIZE), count)
    for frame in range(frames):
        splats.angle = 0.6 + 0.3 * frame
        image = np.asarray(splats.canvas.draw())
        drawn = splats.check()
    bright = int((image[..., :3].max(-1) > 60).sum())
    click.echo(f"{drawn:,} of {count:,} discs drawn in the order that NumPy finds; {bright:,} bright pixels")
    assert bright > 1000
    if path is not None:
        from PIL import Image

        Image.fromarray(image[..., :3]).save(path)
        click.echo(f"wrote {path}")


@click.command()
@click.option("--discs", "count", type=click.IntRange(1, 1 << 24), default=1_000_000, show_default=True, help="How many.")
@click.option("--offscreen", is_flag=True, help="Draw without a window, and check every order.")
@click.option("--frames", type=click.IntRange(1), default=3, show_default=True, help="How many (with --offscreen).")
@click.option("--picture", "path", type=click.Path(dir_okay=False, path_type=Path), help="Save the last frame (with --offscreen).")
def main(count: int, offscreen: bool, frames: int, path: Path | None) -> None:
    """Transparent discs, sorted by depth on the GPU in every frame."""
    if offscreen:
        picture(count, frames, path)
    else:
        try:
            show(count)
        except NoDisplayError as problem:
            raise click.ClickException(f"{problem}; --offscreen --picture OUT.png draws without one") from None


if __name__ == "__main__":
    main()
