"""After: the best detections of a YOLO head with wgdml. detect.cpp is the DirectML program.

The steps have the same numbers. What a step of the other has and this one lacks, wgdml does or does
not need. Then the same once more in three calls of wgdml's functions, and both are compared with
NumPy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import wgpu

import wgdml
from wgdml import AxisDirection, DataType, FeatureLevel, ReduceFunction, TensorDesc

N, C, K, ROW = 10647, 80, 100, 88


class Detections(NamedTuple):
    values: np.ndarray
    rows: np.ndarray
    classes: np.ndarray


def detect(gpu: wgpu.GPUDevice, head: wgpu.GPUBuffer) -> Detections:
    # 1. The device.
    device = wgdml.Device(gpu)
    assert device.feature_level >= FeatureLevel.LEVEL_3_0

    # 2. The tensors. The scores lie 8 floats into each row of the head.
    scores = TensorDesc(DataType.FLOAT32, (1, 1, N, C), (0, 0, ROW, 1))
    best = TensorDesc(DataType.FLOAT32, (1, 1, N, 1))
    classes = TensorDesc(DataType.UINT32, (1, 1, N, 1))
    values = TensorDesc(DataType.FLOAT32, (1, 1, K, 1))
    rows = TensorDesc(DataType.UINT32, (1, 1, K, 1))
    given = wgdml.Tensor.from_buffer(head, scores.data_type, scores.sizes, scores.strides, offset=8 * 4, device=device)
    best_, classes_, values_, rows_ = (wgdml.empty(desc, device=device) for desc in (best, classes, values, rows))

    # 3. The operators.
    descs = [
        wgdml.ReduceOperatorDesc(ReduceFunction.MAX, scores, best, axes=[3]),
        wgdml.ReduceOperatorDesc(ReduceFunction.ARGMAX, scores, classes, axes=[3]),
        wgdml.TopK1OperatorDesc(best, values, rows, axis=2, k=K, axis_direction=AxisDirection.DECREASING),
    ]

    # 4. Compiled. Nothing is to be initialised.
    maximum, argmax, top_k = (device.compile_operator(device.create_operator(desc)) for desc in descs)

    # 5. Descriptors, temporary and persistent memory are the device's.

    # 6. Recorded. A dispatch sees what those before it wrote, without barriers.
    encoder = gpu.create_command_encoder()
    maximum.record(encoder, input_tensor=given, output_tensor=best_)
    argmax.record(encoder, input_tensor=given, output_tensor=classes_)
    top_k.record(encoder, input_tensor=best_, output_value_tensor=values_, output_index_tensor=rows_)

    # 7. Run, waited for and read.
    gpu.queue.submit([encoder.finish()])
    found, where, classes_of = (array.ravel() for array in wgdml.to_numpy(values_, rows_, classes_))

    # 8. The classes of the best rows.
    return Detections(found, where, classes_of[where])


def detect_in_three_calls(gpu: wgpu.GPUDevice, head: wgpu.GPUBuffer) -> Detections:
    """The scores are read once, and only the K best come back."""
    device = wgdml.Device(gpu)
    scores = wgdml.Tensor.from_buffer(head, "float32", (N, C), (ROW, 1), 8 * 4, device=device)
    best, classes = wgdml.max(scores, axis=1, return_indices=True, index_dtype="uint32")
    values, rows = wgdml.top_k(best, K, index_dtype="uint32")
    return Detections(*wgdml.to_numpy(values, rows, wgdml.take_along_axis(classes, rows)))


def main() -> None:
    rng = np.random.default_rng(0)
    head = rng.integers(0, 1000, (N, ROW)).astype(np.float32) / 1000  # few scores, so ties decide
    device = wgdml.default_device()
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
    buffer = device.gpu_device.create_buffer_with_data(data=head, usage=usage)

    scores = head[:, 8:]
    rows = np.argsort(-scores.max(1), kind="stable")[:K]
    expected = Detections(scores.max(1)[rows], rows, scores.argmax(1)[rows])
    for way in (detect, detect_in_three_calls):
        found = way(device.gpu_device, buffer)
        for got, want in zip(found, expected, strict=True):
            assert np.array_equal(got, want), way.__name__
        print(f"{way.__name__}: the {K} best of {N} rows, the first three are rows {found.rows[:3]} of classes {found.classes[:3]}")


if __name__ == "__main__":
    main()
