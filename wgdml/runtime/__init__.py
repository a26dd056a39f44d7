"""The only part that imports wgpu: adapters, devices, tensors, compiled operators."""

from .adapter import NoAdapterError, adapters
from .device import Device, default_device
from .errors import DeviceLostError
from .operator import BindingProperties, CompiledOperator, Operator
from .tensor import Tensor, asarray, empty, to_numpy, to_numpy_async

__all__ = [
    "BindingProperties",
    "CompiledOperator",
    "Device",
    "DeviceLostError",
    "NoAdapterError",
    "Operator",
    "Tensor",
    "adapters",
    "asarray",
    "default_device",
    "empty",
    "to_numpy",
    "to_numpy_async",
]
