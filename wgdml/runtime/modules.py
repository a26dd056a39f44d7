"""Shader modules without wgpu-native's counters of loops."""

from __future__ import annotations

import sys
from typing import Any

#: WGPUShaderRuntimeChecks of wgpu.h: all but ForceLoopBounding, 2.
_CHECKS = 1 | 4 | 8 | 16


def shader_module(gpu: Any, label: str, code: str) -> Any:
    """A module of WGSL on a ``wgpu.GPUDevice``. Raises ``wgpu.GPUError`` where it is not valid.

    wgpu-native has each loop count its turns, lest a compiler rely on an end that never comes. All
    loops here end, and counters are 3% of a kernel's time
    (benchmarks/LOG.md#counters-of-loops-2026-11-29-34761c8). Where wgpu-py has changed inside, or
    the device is another backend's, the module is as that makes it.
    """
    try:
        native = sys.modules[type(gpu).__module__]
        ffi, create, make = native.ffi, native.libf.wgpuDeviceCreateShaderModuleTrusted, native.GPUShaderModule
        name, text = (native.to_c_string_view(words) for words in (label, code))
        source = ffi.new("WGPUShaderSourceWGSL *", {"code": text})
        source.chain.sType = native.lib.WGPUSType_ShaderSourceWGSL
        described = ffi.new("WGPUShaderModuleDescriptor *", {"nextInChain": ffi.addressof(source.chain), "label": name})
        handle = gpu._internal
    except (AttributeError, TypeError, KeyError):
        return gpu.create_shader_module(label=label, code=code)
    return make(label, create(handle, described, _CHECKS), gpu)
