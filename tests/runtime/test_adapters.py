"""Which adapters are listed to open a device, and what a device plans with."""

from __future__ import annotations

import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from checks import python

import wgdml
from wgdml.plan import Planner
from wgdml.runtime import adapter, c_types
from wgdml.runtime.context import machine_of


def of(kind: str, backend: str) -> SimpleNamespace:
    """An adapter of wgpu's, as far as a choice looks at it."""
    info = {"device": f"{kind} by {backend}", "adapter_type": kind, "backend_type": backend, "description": ""}
    return SimpleNamespace(info=info, summary=info["device"], features=(), limits={})


@pytest.fixture
def machine(monkeypatch):
    """Makes a machine of adapters; returns how often all of them were listed."""
    for name in ("WGDML_ADAPTER", "WGPUPY_WGPU_ADAPTER_NAME", "WGPU_BACKEND_TYPE"):
        monkeypatch.delenv(name, raising=False)

    def make(*adapters, gpu=False, native=True):
        listed = []
        compute = [a for a in adapters if a.info["backend_type"] != "OpenGL"] if native else []
        monkeypatch.setattr(adapter, "_kept", [])
        monkeypatch.setattr(adapter, "_of_compute_backends", lambda: compute)
        monkeypatch.setattr(adapter, "_may_have_hardware", lambda: gpu)
        monkeypatch.setattr(adapter.wgpu.gpu, "enumerate_adapters_async", lambda: listed.append(1) or list(adapters))
        monkeypatch.setattr(adapter, "resolved", lambda found: found)
        monkeypatch.setattr(adapter, "read_types", lambda: None)  # It would load wgpu-native.
        return listed

    return make


SOFTWARE, SOFTWARE_GL = of("CPU", "Vulkan"), of("CPU", "OpenGL")
GPU, GPU_GL = of("DiscreteGPU", "Vulkan"), of("DiscreteGPU", "OpenGL")


def test_hardware_is_found_without_opengl(machine):
    listed = machine(SOFTWARE, GPU, GPU_GL, gpu=True)
    assert adapter.choose_adapter() == (GPU, "hardware first")
    assert adapter.equal_adapters() == [GPU]
    assert not listed


def test_software_alone_is_found_without_opengl(machine):
    listed = machine(SOFTWARE_GL, SOFTWARE)
    assert adapter.choose_adapter() == (SOFTWARE, "software, as there is no hardware adapter")
    assert not listed


def test_hardware_that_opengl_alone_shows_comes_before_software(machine):
    listed = machine(SOFTWARE, GPU_GL, gpu=True)
    assert adapter.choose_adapter() == (GPU_GL, "hardware first")
    assert listed


@pytest.mark.parametrize("native", [True, False])
def test_opengl_alone(machine, native):
    listed = machine(SOFTWARE_GL, native=native)
    assert adapter.choose_adapter()[0] is SOFTWARE_GL
    # Another list would end a process that has one's device in use (docs/driver-bugs.md).
    assert adapter.choose_adapter()[0] is SOFTWARE_GL and len(listed) == 1


def test_opengl_is_listed_once_by_threads_that_open_devices_together(machine, monkeypatch):
    listed = machine(SOFTWARE_GL)
    monkeypatch.setattr(adapter, "resolved", lambda found: time.sleep(0.1) or found)
    threads = [threading.Thread(target=adapter.choose_adapter) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(listed) == 1


def test_opengl_s_adapter_is_the_caller_s_where_that_came_first(machine, monkeypatch):
    own, later = of("CPU", "OpenGL"), of("CPU", "OpenGL")
    listed = machine(SOFTWARE, SOFTWARE_GL)
    monkeypatch.setenv("WGPU_BACKEND_TYPE", "OpenGL")
    assert adapter.with_one_lock(SOFTWARE) is SOFTWARE
    assert adapter.with_one_lock(own) is own
    assert adapter.with_one_lock(later) is own and adapter.choose_adapter()[0] is own
    assert adapter.with_one_lock(GPU_GL) is GPU_GL
    assert not listed


def test_opengl_s_adapter_is_that_of_wgpu_s_shared_device(machine, monkeypatch):
    listed, own = machine(SOFTWARE, SOFTWARE_GL), of("CPU", "OpenGL")
    monkeypatch.setattr(adapter.wgpu.utils.device.helper, "_the_device", SimpleNamespace(adapter=own))
    monkeypatch.setenv("WGPU_BACKEND_TYPE", "OpenGL")
    assert adapter.choose_adapter()[0] is own
    assert not listed


def test_devices_on_one_adapter_of_the_caller_s_and_the_library_s_work_side_by_side(monkeypatch):
    """On OpenGL the process ended. It has no adapter on some systems."""
    for name in ("WGDML_ADAPTER", "WGPUPY_WGPU_ADAPTER_NAME"):
        monkeypatch.delenv(name, raising=False)
    script = """
        import os, threading, numpy, wgpu
        own = [a for a in wgpu.gpu.enumerate_adapters_sync() if a.info["backend_type"] == "OpenGL"]
        if own:
            os.environ["WGPU_BACKEND_TYPE"] = "OpenGL"
            import wgdml
            def read(device):
                tensor = wgdml.asarray(numpy.arange(100), device=device)
                for _ in range(200):
                    assert tensor.numpy()[99] == 99
            def threads(*calls):
                started = [threading.Thread(target=lambda call=call: read(call())) for call in calls]
                for thread in started:
                    thread.start()
                for thread in started:
                    thread.join()
            gpu = own[0].request_device_sync()
            threads(lambda: wgdml.Device(gpu), lambda: wgdml.Device(adapter=own[0]), wgdml.Device, wgdml.Device)
        print("ok")
    """
    assert python(script, timeout=300).endswith("ok\n")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit and /proc are Linux's")
def test_opengl_without_memory_is_an_error(monkeypatch):
    """Its buffers were made without any, and the answers were those of zeros."""
    for name in ("WGDML_ADAPTER", "WGPUPY_WGPU_ADAPTER_NAME"):
        monkeypatch.delenv(name, raising=False)
    script = """
        import os, resource, numpy, wgdml
        if any(a["backend"] == "OpenGL" for a in wgdml.adapters()):
            os.environ["WGPU_BACKEND_TYPE"] = "OpenGL"
            x = numpy.arange(1 << 18, dtype=numpy.float32)
            assert wgdml.argmax(x) == x.size - 1
            pages = int(open("/proc/self/statm").read().split()[0])
            limits = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + (64 << 20), limits[1]))
            try:
                wgdml.empty((100 << 20,), "uint8")
            except MemoryError as error:
                assert "has no memory left" in str(error), error
            else:
                raise AssertionError("a tensor without memory")
            assert wgdml.argmax(x) == x.size - 1
            resource.setrlimit(resource.RLIMIT_AS, limits)
            tensor = wgdml.asarray(numpy.arange(100 << 20, dtype=numpy.uint8))
            assert wgdml.argmax(tensor).numpy() == 255
        print("ok")
    """
    assert python(script, timeout=300).endswith("ok\n")


def test_a_variable_chooses_among_all(machine, monkeypatch):
    machine(SOFTWARE, GPU, GPU_GL)
    assert wgdml.adapters()[1]["name"] == GPU_GL.info["device"]  # as WGDML_ADAPTER counts
    names = [("WGDML_ADAPTER", "1"), ("WGDML_ADAPTER", "gpu BY Open")]
    for name, value in (*names, ("WGPU_BACKEND_TYPE", "opengl"), ("WGPUPY_WGPU_ADAPTER_NAME", "GPU by Open")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert adapter.choose_adapter() == (GPU_GL, f"{name}={value}")
    for name, value in (("WGDML_ADAPTER", "3"), ("WGDML_ADAPTER", "no such adapter"), ("WGPU_BACKEND_TYPE", "Metal")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            with pytest.raises(wgdml.NoAdapterError, match=rf"{name}={value}; there are: .*DiscreteGPU.*OpenGL"):
                adapter.choose_adapter()


def test_no_adapter(machine):
    machine()
    with pytest.raises(wgdml.NoAdapterError, match="wgpu found no adapter"):
        adapter.choose_adapter()


def test_the_short_list_is_part_of_the_whole(device):
    whole = [a.info for a in adapter.wgpu.gpu.enumerate_adapters_sync()]
    found = adapter._of_compute_backends()
    assert all(a.info in whole for a in found)
    assert len(found) == sum(info["backend_type"] != "OpenGL" for info in whole)


def test_a_device_plans_with_its_planner(device):
    asked = []

    class Asked(Planner):
        def plan(self, selection, **options):
            asked.append((selection.k, options))
            return super().plan(selection, **options)

    own = wgdml.Device(device.gpu_device, planner=Asked)
    assert isinstance(own.planner, Asked) and own.planner.machine == device.machine
    x = np.arange(50, dtype=np.int16)
    for _ in range(2):
        assert wgdml.top_k(x, 3, device=own).indices.tolist() == [49, 48, 47]
    assert asked == [(3, {"vectors": True, "shared_input": False})]


@pytest.mark.parametrize(
    "backend, name, number, vendor, most",
    [
        ("Metal", "Apple M2", 0, "apple", 256),
        ("Metal", "AMD Radeon Pro 5500M", 0, "", 256),
        ("Vulkan", "Apple M1 (G13G B0)", 0x106B, "apple", 256),
        ("Vulkan", "Turnip Adreno (TM) 660", 0x5143, "qualcomm", 256),
        ("Vulkan", "NVIDIA H200", 0x10DE, "nvidia", 1024),
        ("D3D12", "AMD Radeon RX 6800", 0x1002, "amd", 1024),
    ],
)
def test_workgroups_have_registers_for_what_kernels_hold(backend, name, number, vendor, most):
    """Metal does nothing, and does not tell, where a workgroup's invocations lack registers."""
    info = {"backend_type": backend, "device": name, "vendor_id": number, "vendor": "", "adapter_type": "IntegratedGPU"}
    limits = dict(wgdml.default_device().limits)
    for limit in ("max-compute-invocations-per-workgroup", "max-compute-workgroup-size-x"):
        limits[limit] = 1024
    machine = machine_of(info, limits, {"subgroup"})
    assert (machine.vendor, machine.max_compute_invocations_per_workgroup) == (vendor, most)


def test_types_of_the_c_interface_are_read_together():
    """A first answer asks for over 40. Those that the list lacks are read by name."""
    script = """
import cffi.cparser
read, parse = [], cffi.cparser.Parser.parse_type
cffi.cparser.Parser.parse_type = lambda parser, name: read.append(name) or parse(parser, name)
import numpy, wgdml
assert wgdml.argmax(numpy.arange(9.0, dtype=numpy.float32)) == 8
print(len(read), *read, sep=", ")
"""
    read = python(script, timeout=300)
    assert int(read.split(",")[0]) <= 16, read


def test_types_read_together_are_those_read_by_name(device):
    from wgpu.backends.wgpu_native import ffi

    for name in (*c_types.POINTERS, *c_types.FUNCTIONS):
        together = ffi._parsed_types.pop(name)
        assert ffi._typeof(name, True) is together[0], name
        assert ffi._parsed_types[name] == together, name
