"""A selection inside another wgpu program: its device, its buffers, its encoder; no copies.

A shader of the program's own writes scores, wgdml takes the best ones, and a second shader reads
their indices: three steps in one submission, and the scores never leave the device.
"""

from __future__ import annotations

import numpy as np
import wgpu

import wgdml
from wgdml import AxisDirection, DataType, TensorDesc

COUNT, K = 100_000, 5

SCORES = """
@group(0) @binding(0) var<storage, read_write> scores: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < arrayLength(&scores)) { scores[id.x] = f32((id.x * 7919u) % 10007u); }
}
"""
READER = """
@group(0) @binding(0) var<storage, read> indices: array<u32>;
@group(0) @binding(1) var<storage, read_write> squares: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  squares[id.x] = indices[id.x] * indices[id.x];
}
"""


def step(gpu: wgpu.GPUDevice, encoder: wgpu.GPUCommandEncoder, code: str, buffers: list[wgpu.GPUBuffer], groups: int) -> None:
    """Records a compute pass of the program's own."""
    module = gpu.create_shader_module(code=code)
    pipeline = gpu.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    entries = [{"binding": i, "resource": {"buffer": b, "offset": 0, "size": b.size}} for i, b in enumerate(buffers)]
    group = gpu.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
    compute_pass = encoder.begin_compute_pass()
    compute_pass.set_pipeline(pipeline)
    compute_pass.set_bind_group(0, group)
    compute_pass.dispatch_workgroups(groups)
    compute_pass.end()


def main() -> None:
    gpu = wgpu.gpu.request_adapter_sync().request_device_sync()
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
    scores = gpu.create_buffer(size=4 * COUNT, usage=usage)
    values, indices, squares = (gpu.create_buffer(size=4 * K, usage=usage) for _ in range(3))

    device = wgdml.Device(gpu)
    desc = wgdml.TopK1OperatorDesc(
        input_tensor=TensorDesc(DataType.FLOAT32, (COUNT,)),
        output_value_tensor=TensorDesc(DataType.FLOAT32, (K,)),
        output_index_tensor=TensorDesc(DataType.UINT32, (K,)),
        axis=0,
        k=K,
        axis_direction=AxisDirection.DECREASING,
    )
    operator = device.compile_operator(device.create_operator(desc))

    encoder = gpu.create_command_encoder()
    step(gpu, encoder, SCORES, [scores], -(-COUNT // 64))
    operator.record(encoder, input_tensor=scores, output_value_tensor=values, output_index_tensor=indices)
    step(gpu, encoder, READER, [indices, squares], K)
    gpu.queue.submit([encoder.finish()])

    best = np.frombuffer(gpu.queue.read_buffer(indices), np.uint32)
    expected = np.argsort(-((np.arange(COUNT, dtype=np.uint32) * 7919 % 10007).astype(np.int64)), kind="stable")[:K]
    assert best.tolist() == expected.tolist()
    assert (np.frombuffer(gpu.queue.read_buffer(squares), np.uint32) == best * best).all()
    # The same buffer as an array, still without a copy: every second score, then the functions.
    every_second = wgdml.Tensor.from_buffer(scores, "float32", (COUNT // 2,), (2,), device=device)
    print("best scores at", best, "and the best of every second at", 2 * int(wgdml.argmax(every_second).numpy()))


if __name__ == "__main__":
    main()
