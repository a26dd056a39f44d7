"""ONNX's TopK, ArgMax and ArgMin on any WebGPU adapter (``pip install "wgdml[onnx]"``).

``Backend`` is ONNX's. The module serves as one too: ``wgdml.onnx.prepare(model).run(inputs)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, SupportsIndex

import numpy as np

try:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto, checker, defs, helper, numpy_helper
    from onnx.backend import base
except ImportError as missing:
    raise ImportError('wgdml.onnx needs the onnx package: pip install "wgdml[onnx]"') from missing

from .arguments import as_int
from .functions import argmax, argmin, top_k
from .runtime.device import Device, default_device
from .runtime.tensor import Tensor, as_numpy, asarray, native_array, to_numpy

__all__ = ["Backend", "BackendRep", "is_compatible", "prepare", "run_model", "run_node", "supports_device"]

_OPERATORS = ("TopK", "ArgMax", "ArgMin")
_DOMAINS = ("", "ai.onnx")


def _check_operators(nodes: Iterable[NodeProto]) -> None:
    names = {node.op_type if node.domain in _DOMAINS else f"{node.domain}.{node.op_type}" for node in nodes}
    if others := sorted(names - {*_OPERATORS}):
        raise ValueError(f"model has operators that wgdml does not run: {', '.join(others)}; it runs {', '.join(_OPERATORS)}")


def _check_model(model: ModelProto) -> None:
    if not isinstance(model, ModelProto):
        raise TypeError(f"model must be an onnx.ModelProto, as onnx.load returns, not {type(model).__name__}")
    _check_operators(model.graph.node)
    if model.graph.sparse_initializer:
        names = ", ".join(sparse.values.name for sparse in model.graph.sparse_initializer)
        raise ValueError(f"model has sparse initializers, which wgdml does not take: {names}")
    checker.check_model(model)


def _by_name(inputs: Any, names: Sequence[str], others: Iterable[str] = ()) -> dict[str, Any]:
    """Inputs by name, of a dict, of several by position, or of a single array.

    A dict may have ``others``, too.
    """
    if not isinstance(inputs, dict):
        given = list(inputs) if isinstance(inputs, Sequence) else [inputs]
        if len(given) != len(names):
            arrays = "1 array" if len(names) == 1 else f"{len(names)} arrays"
            raise ValueError(f"inputs must be {arrays} ({', '.join(names)}), not {len(given)}")
        return dict(zip(names, given, strict=True))
    missing = [name for name in names if name not in inputs]
    if missing:
        raise ValueError(f"inputs lack {', '.join(missing)}")
    known = [*names, *others]
    unknown = [str(name) for name in inputs if name not in known]
    if unknown:
        raise ValueError(f"inputs must be of {', '.join(known)}, not {', '.join(unknown)}")
    return inputs


def _as_declared(declared: ValueInfoProto, given: Any) -> Any:
    """An input as an array or a Tensor, of the data type and the sizes that the model gives it."""
    if not declared.type.HasField("tensor_type"):
        return given  # a sequence or an optional, which no node here reads
    x = given if isinstance(given, Tensor) else native_array(given, declared.name)
    tensor = declared.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if x.dtype != dtype:
        raise TypeError(f"{declared.name} must have data type {dtype.name}, as the model declares it, not {x.dtype.name}")
    # Exporters write a negative size where they know none.
    sizes = [
        dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else dim.dim_param or None for dim in tensor.shape.dim
    ]
    if len(sizes) != len(x.shape) or any(isinstance(n, int) and n != size for n, size in zip(sizes, x.shape, strict=True)):
        shape = ", ".join(map(str, sizes)) + "," * (len(sizes) == 1)
        raise ValueError(f"{declared.name} must have shape ({shape}), as the model declares it, not {x.shape}")
    return x


def _check_device(device: str) -> None:
    if not supports_device(device):
        raise ValueError(f'device must be "CPU", where inputs and outputs lie, not {device!r}; wgdml_device chooses the adapter')


def _run(node: NodeProto, opset: int, inputs: Sequence[Any], device: Device | None) -> tuple[Tensor, ...]:
    """The outputs of one node, still on the device: the default one for None."""
    schema = defs.get_schema(node.op_type, opset)
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    x = inputs[0] if isinstance(inputs[0], Tensor) else as_numpy(inputs[0])
    kind = helper.tensor_dtype_to_string(helper.np_dtype_to_tensor_dtype(x.dtype)).removeprefix("TensorProto.").lower()
    allowed = schema.type_constraints[0].allowed_type_strs
    if f"tensor({kind})" not in allowed:
        raise TypeError(f"{node.op_type} of opset {opset} takes no tensor({kind}); it takes {', '.join(sorted(allowed))}")
    if node.op_type == "TopK":
        k = as_numpy(inputs[1], "K") if opset >= 10 else np.asarray([attributes["k"]])
        if k.size != 1:
            raise ValueError(f"K must be one number, not an array of shape {k.shape}")
        if k.dtype.kind not in "iu":
            raise TypeError(f"K must be an integer, not {k.dtype}")
        mode: Literal["largest", "smallest"] = "largest" if attributes.get("largest", 1) else "smallest"
        in_order = bool(attributes.get("sorted", 1))
        axis = attributes.get("axis", -1)
        x = asarray(x, device=device)
        return tuple(top_k(x, int(k.reshape(())), axis=axis, mode=mode, sorted=in_order))
    function, axis = argmax if node.op_type == "ArgMax" else argmin, attributes.get("axis", 0)
    keeps, last = bool(attributes.get("keepdims", 1)), bool(attributes.get("select_last_index", 0))
    return (function(asarray(x, device=device), axis=axis, keepdims=keeps, select_last_index=last),)


class BackendRep(base.BackendRep):
    """A checked model. ``run`` may be called again and again."""

    def __init__(self, graph: GraphProto, opset: int, device: Device) -> None:
        if not isinstance(device, Device):
            raise TypeError(f"wgdml_device must be a wgdml.Device, not {device!r}")
        self.device = device
        self._opset = opset
        self._nodes = list(graph.node)
        self._constants: dict[str, Any] = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        self._declared = {i.name: i for i in graph.input}
        self._inputs = [name for name in self._declared if name not in self._constants]
        self._outputs = [o.name for o in graph.output]

    def __repr__(self) -> str:
        nodes = ", ".join(node.op_type for node in self._nodes)
        return f"<wgdml.onnx.BackendRep {nodes}: {', '.join(self._inputs)} -> {', '.join(self._outputs)}>"

    # The interface lets any keywords through, and so misspelt ones.
    def run(self, inputs: Any) -> tuple[Any, ...]:  # type: ignore[override]
        """The outputs as NumPy arrays, by position and name, of arrays or of a dict by name.

        Raises ``TypeError`` and ``ValueError`` for inputs of another data type or shape than the
        model declares.
        """
        # A dict may have other numbers for constants that are inputs too.
        given = _by_name(inputs, self._inputs, self._declared.keys() & self._constants)
        declared = {name: _as_declared(self._declared[name], given[name]) for name in self._declared if name in given}
        values = {**self._constants, **given, **declared}
        for node in self._nodes:
            results = _run(node, self._opset, [values[name] for name in node.input], self.device)
            values |= zip(node.output, results, strict=True)
        wanted = [values[name] for name in self._outputs]
        outputs = to_numpy(*(x if isinstance(x, Tensor) else np.asarray(x) for x in wanted))
        named: tuple[Any, ...] = base.namedtupledict("Outputs", self._outputs)(*outputs)
        return named


class Backend(base.Backend):
    """Runs models of TopK (opsets 1, 10, 11, 24), ArgMax, ArgMin (1, 11, 12, 13), and no others."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Inputs and outputs lie in the CPU's memory, so that "CPU" is the one place to name."""
        return isinstance(device, str) and device.partition(":")[0] == "CPU"

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether ``prepare`` would take the model."""
        try:
            _check_model(model)
        except (TypeError, ValueError, checker.ValidationError):
            return False
        return supports_device(device)

    @classmethod
    def prepare(  # type: ignore[override]
        cls, model: ModelProto, device: str = "CPU", *, wgdml_device: Device | None = None
    ) -> BackendRep:
        """A model ready to run. ``ValueError`` names every operator that is not among the three."""
        _check_device(device)
        _check_model(model)
        # A model without nodes may import none of the operators.
        opset = next((own.version for own in model.opset_import if own.domain in _DOMAINS), defs.onnx_opset_version())
        return BackendRep(model.graph, opset, wgdml_device if wgdml_device is not None else default_device())

    @classmethod
    def run_node(  # type: ignore[override]
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Any = None,
        *,
        opset_version: SupportsIndex | None = None,
        wgdml_device: Device | None = None,
    ) -> tuple[Any, ...]:
        """The outputs of one node of ``opset_version`` (the newest) on ``wgdml_device``."""
        _check_device(device)
        if not isinstance(node, NodeProto):
            raise TypeError(f"node must be an onnx.NodeProto, not {type(node).__name__}")
        _check_operators([node])
        newest = defs.onnx_opset_version()
        opset = newest if opset_version is None else as_int("opset_version", opset_version)
        if not 1 <= opset <= newest:
            raise ValueError(f"opset_version must lie in [1, {newest}], not {opset}")
        super().run_node(node, inputs, device, outputs_info, opset_version=opset)  # type: ignore[arg-type]
        given = _by_name(inputs, node.input)
        results = to_numpy(*_run(node, opset, [given[name] for name in node.input], wgdml_device))
        named: tuple[Any, ...] = base.namedtupledict("Outputs", list(node.output))(*results)
        return named


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
