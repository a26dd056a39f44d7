"""The ONNX backend: ONNX's own node tests, every opset and type, and what is refused."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import onnx
import oracle
import pytest
from onnx import TensorProto, defs, helper

import wgdml
import wgdml.onnx as backend

with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
    # ONNX computes the cases of operators, overflows included, when they are loaded. Those of all
    # take seconds.
    warnings.simplefilter("ignore")
    from onnx.backend.test import BackendTest, loader
    from onnx.backend.test.case.node import argmax, argmin, topk  # noqa: F401

    patch.setattr(loader, "import_recursive", lambda package: None)
    CASES = {"nodes": BackendTest(backend, __name__).test_cases["OnnxBackendNodeModelTest"]}

NODE_TESTS = [name for name in dir(CASES["nodes"]) if re.fullmatch(r"test_(top_k|argmax|argmin)(_.*)?_cpu", name)]

X = np.array([[3, 7, 7, 1], [2, 9, 2, 9]])
INTEGERS = [f"{s}int{w}" for s in ("", "u") for w in (8, 16, 32, 64)]
FLOATS = ["float16", "float32", "float64"]


def test_onnx_has_the_node_tests_that_are_meant():
    assert len(NODE_TESTS) >= 39, NODE_TESTS


@pytest.mark.parametrize("name", NODE_TESTS)
def test_node(device, name):
    """ONNX's own test of this name."""
    getattr(CASES["nodes"](name), name)()


def model_of(nodes: list[Any], opset: int, *outputs: str, **constants: Any) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
        [helper.make_tensor_value_info(name, TensorProto.INT64, [None] * 2 if name == "second" else [None]) for name in outputs],
        [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def top_k_types(opset: int) -> list[str]:
    return FLOATS + (INTEGERS if opset >= 11 else []) + (["bfloat16"] if opset >= 24 else [])


@pytest.mark.parametrize("opset", [1, 9, 10, 11, 23, 24])
def test_top_k_at_every_opset_and_type(device, opset):
    allowed = top_k_types(opset)
    for name, dtype in oracle.DTYPES.items():
        x = X.astype(dtype)
        for largest in (1, 0) if opset >= 11 else (1,):
            attributes: dict[str, int] = {"axis": 1}
            inputs = [x]
            if opset >= 10:
                inputs.append(np.array([3]))
            else:
                attributes["k"] = 3
            if opset >= 11:
                attributes |= {"largest": largest, "sorted": 0}
            node = helper.make_node("TopK", ["x", "k"][: len(inputs)], ["values", "indices"], **attributes)
            if name not in allowed:
                with pytest.raises(TypeError, match=rf"TopK of opset {opset} takes no tensor"):
                    backend.run_node(node, inputs, opset_version=opset)
                continue
            result = backend.run_node(node, inputs, opset_version=opset)
            values, indices = oracle.top_k(x, 3, 1, bool(largest))
            oracle.assert_same(result[0], values)
            oracle.assert_same(result["indices"], indices)


@pytest.mark.parametrize("opset", [1, 11, 12, 13])
@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
def test_arg_reductions_at_every_opset_and_type(device, operator, opset):
    for name, dtype in oracle.DTYPES.items():
        x = X.astype(dtype)
        for last in (0, 1) if opset >= 12 else (0,):
            attributes = {"axis": 1, "keepdims": last} | ({"select_last_index": last} if opset >= 12 else {})
            node = helper.make_node(operator, ["x"], ["y"], **attributes)
            if name == "bool" or (name == "bfloat16" and opset < 13):
                with pytest.raises(TypeError, match="takes no tensor"):
                    backend.run_node(node, [x], opset_version=opset)
                continue
            (result,) = backend.run_node(node, [x], opset_version=opset)
            oracle.assert_same(result, oracle.arg_reduce(x, 1, bool(last), bool(last), operator == "ArgMax"))


@pytest.mark.parametrize(
    ("operator", "inputs", "error", "word"),
    [
        ("ArgMax", [X > 2], TypeError, "takes no tensor"),
        ("ArgMin", ["text"], TypeError, "x"),
        ("TopK", [X, np.array([1, 2])], ValueError, "K must be one number"),
        ("TopK", [X, [[1], [2, 3]]], TypeError, "K cannot become an array"),
        ("TopK", [X, np.array([1.0])], TypeError, "K must be an integer, not float64"),
    ],
)
def test_bad_input_opens_no_device(no_device, operator, inputs, error, word):
    outputs = ["values", "indices"] if operator == "TopK" else ["y"]
    with pytest.raises(error, match=word):
        backend.run_node(helper.make_node(operator, ["x", "k"][: len(inputs)], outputs), inputs)


@pytest.mark.parametrize(
    ("node", "opset", "words"),
    [
        (helper.make_node("ArgMax", ["x"], ["y"], bogus=3), 13, "attribute: bogus for operator ArgMax"),
        (helper.make_node("ArgMax", ["x"], ["y"], select_last_index=1), 11, "attribute: select_last_index"),
        (helper.make_node("TopK", ["x"], ["values", "indices"]), 1, "Required attribute 'k' is missing"),
        (helper.make_node("TopK", ["x"], ["values", "indices"]), 11, "TopK:11\\) has input size 1 not in range"),
        (helper.make_node("ArgMax", ["x", "x"], ["y"]), 13, "ArgMax:13\\) has input size 2 not in range"),
    ],
)
def test_a_node_that_its_opset_does_not_have(no_device, node, opset, words):
    with pytest.raises(onnx.checker.ValidationError, match=words):
        backend.run_node(node, [X] * len(node.input), opset_version=opset)


def test_a_node_with_too_few_inputs(no_device):
    node = helper.make_node("TopK", ["x", "k"], ["values", "indices"])
    with pytest.raises(ValueError, match=r"inputs must be 2 arrays \(x, k\), not 1"):
        backend.run_node(node, [X])


@pytest.mark.parametrize("model", [None, "model.onnx", b""], ids=repr)
def test_what_is_no_model(model):
    with pytest.raises(TypeError, match=r"model must be an onnx\.ModelProto, as onnx\.load returns"):
        backend.prepare(model)


def test_what_is_no_device():
    graph = helper.make_graph(
        [helper.make_node("ArgMax", ["x"], ["y"])],
        "best",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.INT64, [1])],
    )
    with pytest.raises(TypeError, match=r"wgdml_device must be a wgdml\.Device, not 'cuda'"):
        backend.prepare(helper.make_model(graph), wgdml_device="cuda")


def test_a_model_of_several_nodes(device):
    nodes = [
        helper.make_node("TopK", ["x", "k"], ["values", "indices"], largest=0),
        helper.make_node("TopK", ["indices", "one"], ["unused", "second"], axis=0),
        helper.make_node("ArgMax", ["values"], ["best"], axis=-1, keepdims=0, select_last_index=1),
    ]
    prepared = backend.prepare(model_of(nodes, 13, "best", "second", k=[3], one=[1]), wgdml_device=device)
    for _ in range(2):
        best, second = prepared.run([X.astype(np.float32)])
        assert best.tolist() == [2, 2] and second.tolist() == [[0, 1, 0]]
    assert prepared.run({"x": X.astype(np.float32)}).best.tolist() == [2, 2]
    assert prepared.run(X.astype(np.float32)).best.tolist() == [2, 2]
    with pytest.raises(ValueError, match=r"inputs must be 1 array \(x\), not 2"):
        prepared.run([X, X])
    with pytest.raises(ValueError, match="lack x"):
        prepared.run({"y": X})


def test_inputs_are_those_that_the_model_declares(device):
    """Another data type was taken, and came out where the model declares its own."""

    def prepared(shape: list[Any], kind: int = TensorProto.FLOAT) -> backend.BackendRep:
        graph = helper.make_graph(
            [helper.make_node("ArgMax", ["x"], ["y"], keepdims=0)],
            "best",
            [helper.make_tensor_value_info("x", kind, shape)],
            [helper.make_tensor_value_info("y", TensorProto.INT64, [None])],
        )
        return backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), wgdml_device=device)

    x = X.astype(np.float32)
    for wrong in (X, X.astype(np.float64), x.tolist(), {"x": X}, wgdml.asarray(X, device=device)):
        with pytest.raises(TypeError, match=r"x must have data type float32, as the model declares it, not (int|float)64"):
            prepared([2, 4]).run(wrong if isinstance(wrong, dict) else [wrong])
    for shape in ([2, 3], [2], ["rows", 5], [2, 4, 1]):
        said = re.escape(f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})")
        with pytest.raises(ValueError, match=rf"x must have shape {said}, as the model declares it, not \(2, 4\)"):
            prepared(shape).run([x])
    for shape in ([2, 4], ["rows", 4], [None, None], [-1, 4]):  # -1: not known
        assert prepared(shape).run([x]).y.tolist() == X.argmax(0).tolist()
    assert prepared([2, 4]).run([wgdml.asarray(x, device=device)]).y.tolist() == X.argmax(0).tolist()
    assert prepared([2, 4], TensorProto.BFLOAT16).run([x.astype(oracle.DTYPES["bfloat16"])]).y.tolist() == X.argmax(0).tolist()


def test_inputs_that_no_node_reads(device):
    """They are held to the model too, but may be of types without an order."""
    x, flags, words = X.astype(np.float32), np.array([True, False]), np.array(["a", "b"], object)
    described = helper.make_tensor_value_info
    unread = [
        helper.make_tensor_sequence_value_info("several", TensorProto.FLOAT, None),
        described("flags", TensorProto.BOOL, [2]),
        described("words", TensorProto.STRING, [2]),
    ]
    graph = helper.make_graph(
        [helper.make_node("ArgMax", ["x"], ["y"], keepdims=0)],
        "best",
        [described("x", TensorProto.FLOAT, [2, 4]), *unread],
        [described("y", TensorProto.INT64, [None]), unread[2]],
    )
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), wgdml_device=device)
    best, same = prepared.run([x, [x], flags, words])
    assert best.tolist() == X.argmax(0).tolist() and same.tolist() == ["a", "b"]
    with pytest.raises(TypeError, match="flags must have data type bool, as the model declares it, not float32"):
        prepared.run([x, [x], x[0, :2], words])


def test_constants_that_are_inputs_too(device):
    described = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("TopK", ["x", "k"], ["values", "indices"])],
        "first",
        [described("x", TensorProto.FLOAT, [2, 4]), described("k", TensorProto.INT64, [1])],
        [described("values", TensorProto.FLOAT, [2, None]), described("indices", TensorProto.INT64, [2, None])],
        [helper.make_tensor("k", TensorProto.INT64, [1], [2])],
    )
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), wgdml_device=device)
    x = X.astype(np.float32)
    assert prepared.run([x]).values.shape == (2, 2)
    assert prepared.run({"x": x, "k": np.array([3])}).values.shape == (2, 3)
    with pytest.raises(TypeError, match="k must have data type int64, as the model declares it, not int32"):
        prepared.run({"x": x, "k": np.array([3], np.int32)})
    with pytest.raises(ValueError, match=r"k must have shape \(1,\), as the model declares it, not \(\)"):
        prepared.run({"x": x, "k": np.int64(3)})
    with pytest.raises(ValueError, match="inputs must be of x, k, not K"):
        prepared.run({"x": x, "K": np.array([3])})


def test_a_model_without_nodes(device):
    model = helper.make_model(helper.make_graph([], "none", [], []), opset_imports=[helper.make_opsetid("other", 1)])
    assert backend.is_compatible(model) and backend.prepare(model, wgdml_device=device).run([]) == ()


def test_what_is_refused():
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Softmax", ["a"], ["b"])]
    nodes.append(helper.make_node("ArgMax", ["b"], ["best"]))
    model = model_of(nodes, 13, "best")
    assert not backend.is_compatible(model)
    with pytest.raises(ValueError, match="does not run: Relu, Softmax; it runs TopK, ArgMax, ArgMin"):
        backend.prepare(model)
    with pytest.raises(ValueError, match="CUDA"):
        backend.prepare(model_of(nodes[2:], 13, "best"), "CUDA")
    with pytest.raises(ValueError, match=r"other\.TopK"):
        backend.run_node(helper.make_node("TopK", ["x"], ["v", "i"], domain="other"), [X])
    ties_at_12 = helper.make_node("ArgMax", ["x"], ["y"], select_last_index=1)
    with pytest.raises(onnx.checker.ValidationError, match="select_last_index"):
        backend.run_node(ties_at_12, [X], opset_version=11)
    top = helper.make_node("TopK", ["x", "k"], ["v", "i"])
    with pytest.raises(ValueError, match="K must be one number"):
        backend.run_node(top, [X, np.array([1, 2])])
    with pytest.raises(ValueError, match="k must be at most"):
        backend.run_node(top, [X, np.array([5])])


def test_inputs_of_a_node_by_name_or_alone():
    node = helper.make_node("ArgMax", ["x"], ["v"], axis=0, keepdims=0)
    x = np.float32([[1, 5, 2]])
    for inputs in (x, [x], {"x": x}):
        assert backend.run_node(node, inputs)[0].tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="inputs lack x"):
        backend.run_node(node, {"y": x})
    with pytest.raises(ValueError, match="inputs must be of x, not y, z"):
        backend.run_node(node, {"x": x, "y": x, "z": x})
    with pytest.raises(TypeError, match="opset_version must be an integer"):
        backend.run_node(node, x, opset_version="x")
    for version in (0, 2**70):
        with pytest.raises(ValueError, match=rf"opset_version must lie in \[1, {defs.onnx_opset_version()}\], not {version}"):
            backend.run_node(node, x, opset_version=version)
    with pytest.raises(TypeError, match=r"node must be an onnx\.NodeProto, not str"):
        backend.run_node("x", x)


def test_keywords_that_nobody_looks_at_are_refused():
    node = helper.make_node("ArgMax", ["x"], ["best"], axis=0, keepdims=0)
    model, x = model_of([node], 13, "best"), np.float32(X)
    for call in (
        lambda: backend.prepare(model, wgdml_devices=None),
        lambda: backend.run_model(model, [x], wgdml_devices=None),
        lambda: backend.run_node(node, [x], wgdml_devices=None),
        lambda: backend.prepare(model).run([x], wgdml_device=None),
    ):
        with pytest.raises(TypeError, match="unexpected keyword argument 'wgdml_device"):
            call()


def test_compatible_is_what_prepare_takes():
    good = model_of([helper.make_node("ArgMax", ["x"], ["best"], axis=0)], 13, "best")
    assert backend.is_compatible(good) and not backend.is_compatible(good, "CUDA") and not backend.supports_device(None)
    wrong = model_of([helper.make_node("ArgMax", ["x"], ["best"], axis=1.5)], 13, "best")
    sparse = model_of([helper.make_node("TopK", ["x", "k"], ["v", "best"])], 13, "best")
    one = helper.make_tensor("k", TensorProto.INT64, [1], [2])
    sparse.graph.sparse_initializer.append(helper.make_sparse_tensor(one, helper.make_tensor("", TensorProto.INT64, [1], [0]), [1]))
    for model, error in ((wrong, onnx.checker.ValidationError), (sparse, ValueError), (None, TypeError), (b"", TypeError)):
        assert not backend.is_compatible(model)
        with pytest.raises(error):
            backend.prepare(model)
