"""Run an ONNX model of TopK and ArgMax by ONNX's own backend interface, on any WebGPU adapter."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import wgdml.onnx as backend


def main() -> None:
    graph = helper.make_graph(
        [
            helper.make_node("TopK", ["logits", "k"], ["values", "indices"], axis=-1),
            helper.make_node("ArgMax", ["logits"], ["best"], axis=-1, keepdims=0),
        ],
        "selection",
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["rows", "classes"])],
        [
            helper.make_tensor_value_info("values", TensorProto.FLOAT, ["rows", "chosen"]),
            helper.make_tensor_value_info("indices", TensorProto.INT64, ["rows", "chosen"]),
            helper.make_tensor_value_info("best", TensorProto.INT64, ["rows"]),
        ],
        [numpy_helper.from_array(np.array([3]), "k")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    logits = np.random.default_rng(0).standard_normal((4, 1000)).astype(np.float32)
    outputs = backend.prepare(model).run([logits])
    print(outputs.indices)
    assert np.array_equal(outputs.best, logits.argmax(1)) and np.array_equal(outputs.indices[:, 0], outputs.best)

    graph.node.append(helper.make_node("Softmax", ["logits"], ["other"]))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    try:
        backend.prepare(model)
    except ValueError as refusal:
        print("refused:", refusal)


if __name__ == "__main__":
    main()
