"""wgdml: DirectML's selection operators on any WebGPU adapter, exact to the bit.

Functions on NumPy arrays and device tensors: ``top_k``, ``argmax``, ``argmin``, ``max``, ``min``,
``sort``, ``argsort``, ``lexsort``, ``take_along_axis``, ``kth_value``, ``partition``,
``argpartition``, ``median``, ``quantile``. ``RunningTopK`` takes items batch after batch.
``asarray`` puts arrays on the device, ``to_numpy`` brings them back. DirectML's vocabulary:
``TensorDesc``, the operator descs, ``Device.create_operator`` and more. ``wgdml.outofcore``,
``wgdml.dask`` and ``wgdml.onnx`` are imported by themselves.
"""

from ._version import __version__
from .contract import (
    HIGHEST_FEATURE_LEVEL,
    ArgmaxOperatorDesc,
    ArgminOperatorDesc,
    AxisDirection,
    DataType,
    FeatureLevel,
    ReduceFunction,
    ReduceOperatorDesc,
    SelectOperatorDesc,
    TensorDesc,
    TopK1OperatorDesc,
    TopKOperatorDesc,
)
from .functions import argmax, argmin, argsort, lexsort, max, min, sort, take_along_axis, top_k
from .order_statistics import argpartition, kth_value, median, partition, quantile
from .results import SortResult, TopKResult
from .running import RunningTopK
from .runtime.adapter import NoAdapterError, adapters
from .runtime.device import Device, default_device
from .runtime.errors import DeviceLostError
from .runtime.operator import BindingProperties, CompiledOperator, Operator
from .runtime.tensor import Tensor, asarray, empty, to_numpy, to_numpy_async

__all__ = [
    "HIGHEST_FEATURE_LEVEL",
    "ArgmaxOperatorDesc",
    "ArgminOperatorDesc",
    "AxisDirection",
    "BindingProperties",
    "CompiledOperator",
    "DataType",
    "Device",
    "DeviceLostError",
    "FeatureLevel",
    "NoAdapterError",
    "Operator",
    "ReduceFunction",
    "ReduceOperatorDesc",
    "RunningTopK",
    "SelectOperatorDesc",
    "SortResult",
    "Tensor",
    "TensorDesc",
    "TopK1OperatorDesc",
    "TopKOperatorDesc",
    "TopKResult",
    "__version__",
    "adapters",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "asarray",
    "default_device",
    "empty",
    "kth_value",
    "lexsort",
    "max",
    "median",
    "min",
    "partition",
    "quantile",
    "sort",
    "take_along_axis",
    "to_numpy",
    "to_numpy_async",
    "top_k",
]
