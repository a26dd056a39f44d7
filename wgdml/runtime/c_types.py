"""Types of wgpu-native's C interface, read together before wgpu asks for each by name.

cffi reads a type's name behind all typedefs of the header: 0.05 s for each of 46 that the first
answer takes, which was half of the time until then
(benchmarks/LOG.md#types-of-the-c-interface-2026-11-28-c076174).
"""

from __future__ import annotations

import re
from functools import cache

#: As wgpu-py spells them. Any others are read when they are asked for.
POINTERS = tuple(
    f"WGPU{name} *"
    for name in (
        *("StringView", "InstanceEnumerateAdapterOptions", "InstanceDescriptor", "AdapterInfo", "ChainedStruct"),
        *("NativeLimits", "Limits", "QueueDescriptor", "DeviceExtras", "DeviceLostCallbackInfo"),
        *("UncapturedErrorCallbackInfo", "DeviceDescriptor", "RequestDeviceCallbackInfo", "BufferBindingLayout"),
        *("BindGroupLayoutEntry", "BindGroupLayoutDescriptor", "PipelineLayoutDescriptor", "ShaderSourceWGSL"),
        *("ShaderModuleDescriptor", "ComputeState", "ComputePipelineDescriptor", "BufferDescriptor"),
        *("CommandEncoderDescriptor", "ComputePassDescriptor", "BindGroupEntry", "BindGroupDescriptor"),
        *("CommandBufferDescriptor", "BufferMapCallbackInfo"),
    )
)
FUNCTIONS = (
    "void(WGPUDevice const *, WGPUDeviceLostReason, WGPUStringView, void *, void *)",
    "void(WGPUDevice const *, WGPUErrorType, WGPUStringView, void *, void *)",
    "void(WGPURequestDeviceStatus, WGPUDevice, WGPUStringView, void *, void *)",
    "void(WGPUMapAsyncStatus, WGPUStringView, void *, void *)",
)


@cache
def read_types() -> None:
    """Reads them as the fields of one struct. Where wgpu-py or cffi has changed inside, nothing."""
    try:
        from cffi import CDefError, FFIError
        from wgpu.backends.wgpu_native import ffi

        known, read = set(ffi.list_types()[0]), ffi._parsed_types
    except (ImportError, AttributeError):
        return
    names = [name for name in (*POINTERS, *FUNCTIONS) if known.issuperset(re.findall(r"WGPU\w+", name)) and name not in read]
    fields = (name.replace("void(", f"void (*f{n})(") if "(" in name else f"{name}f{n}" for n, name in enumerate(names))
    try:
        ffi.cdef(f"struct wgdml_types {{ {' '.join(f'{field};' for field in fields)} }};")
        types = dict(ffi.typeof("struct wgdml_types").fields)
    except (CDefError, FFIError):
        return
    for n, name in enumerate(names):
        read[name] = types[f"f{n}"].type, "(" in name
