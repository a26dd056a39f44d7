"""Sort the heights of a line that pygfx draws, in pygfx's own buffers: nothing is copied.

``python demos/pygfx_buffer.py picture.png`` draws offscreen: the line as it was (grey) and sorted
(red).
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("RENDERCANVAS_FORCE_OFFSCREEN", "1")

import numpy as np
import pygfx as gfx
import wgpu
from pygfx.renderers.wgpu.engine.update import ensure_wgpu_object
from rendercanvas.offscreen import RenderCanvas

import wgdml
from wgdml import AxisDirection, DataType, TensorDesc

COUNT = 500


def line(positions: np.ndarray, color: str) -> gfx.Line:
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
    return gfx.Line(gfx.Geometry(positions=gfx.Buffer(positions, usage=usage)), gfx.LineMaterial(thickness=2, color=color))


def main(picture: str | None = None) -> None:
    heights = np.random.default_rng(0).normal(size=COUNT).astype(np.float32)
    positions = np.stack([np.linspace(-2, 2, COUNT, dtype=np.float32), heights, np.zeros_like(heights)], 1)
    before, after = line(positions, "#888"), line(positions.copy(), "#d33")

    canvas = RenderCanvas(size=(640, 480))
    renderer = gfx.renderers.WgpuRenderer(canvas)
    camera = gfx.OrthographicCamera(4.2, 7)
    scene = gfx.Scene().add(gfx.Background.from_color("#fff"), before, after)
    canvas.request_draw(lambda: renderer.render(scene, camera))
    canvas.draw()  # pygfx uploads both lines now, and has no reason to do so again

    device = wgdml.Device(gfx.renderers.wgpu.get_shared().device)
    source, target = (ensure_wgpu_object(shape.geometry.positions) for shape in (before, after))
    # The heights are every third float: strides of 3 elements, from the second one on.
    read = wgdml.Tensor.from_buffer(source, "float32", (COUNT,), (3,), 4, device=device)
    write = wgdml.Tensor.from_buffer(target, "float32", (COUNT,), (3,), 4, device=device)
    indices = wgdml.asarray(np.zeros(COUNT, np.uint32), device=device)
    heights_desc = TensorDesc(DataType.FLOAT32, (COUNT,), (3,))
    desc = wgdml.TopK1OperatorDesc(
        heights_desc, heights_desc, TensorDesc(DataType.UINT32, (COUNT,)), 0, COUNT, AxisDirection.INCREASING
    )
    operator = device.compile_operator(device.create_operator(desc))
    encoder = device.gpu_device.create_command_encoder()
    operator.record(encoder, input_tensor=read, output_value_tensor=write, output_index_tensor=indices)
    device.gpu_device.queue.submit([encoder.finish()])

    image = np.asarray(canvas.draw())
    assert np.array_equal(write.numpy(), np.sort(heights)), "pygfx's buffer holds the sorted heights"
    assert np.array_equal(read.numpy(), heights), "and the other one what it held"
    red = (image[..., 0] > 150) & (image[..., 1] < 120)
    print(f"sorted {COUNT} heights in pygfx's buffer; the line has {int(red.sum())} red pixels")
    assert red.any()
    if picture is not None:
        from PIL import Image

        Image.fromarray(image[..., :3]).save(picture)


if __name__ == "__main__":
    main(*sys.argv[1:2])
