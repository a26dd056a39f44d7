"""Shader modules without wgpu-native's counters of loops."""

from __future__ import annotations

from typing import Any

#: WGPUShaderRuntimeChecks of wgpu.h: all but ForceLoopBounding, 2.
_CHECKS = 1 | 4 | 8 | 16


def shader_module(gpu: Any, label: str, code: str) -> Any:
    """A module of WGSL on a ``wgpu.GPUDevice``. Raises ``wgpu.GPUError`` where it is not valid.

    wgpu-native has each loop count its turns, lest a compiler rely on an end that never comes. All
    loops here end, and counters are 3% of a kernel's time
    (benchmarks/LOG.md#counters-of-loops-2026-11-29-34761c8). Where wgpu-py has changed inside, the
    module has them.
    """
    try:
        from wgpu.backends.wgpu_native import GPUDevice, GPUShaderModule, ffi, lib
        from wgpu.backends.wgpu_native._api import libf

        if not isinstance(gpu, GPUDevice):
            raise TypeError
        create, handle = libf.wgpuDeviceCreateShaderModuleTrusted, gpu._internal
        name, text = (ffi.new("char[]", words.encode()) for words in (label, code))
        source = ffi.new("WGPUShaderSourceWGSL *")
        source.chain.sType = lib.WGPUSType_ShaderSourceWGSL
        source.code.data, source.code.length = text, len(text) - 1
        described = ffi.new("WGPUShaderModuleDescriptor *")
        described.nextInChain = ffi.addressof(source.chain)
        described.label.data, described.label.length = name, len(name) - 1
    except (ImportError, AttributeError, TypeError):
        return gpu.create_shader_module(label=label, code=code)
    return GPUShaderModule(label, create(handle, described, _CHECKS), gpu)
