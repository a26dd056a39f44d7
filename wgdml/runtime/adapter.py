"""Which adapter to use, and what to say when there is none."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

if sys.platform.startswith("linux") and not os.path.isdir(os.environ.get("XDG_RUNTIME_DIR", "")):
    # Mesa complains on standard error about a missing runtime folder that computing never uses.
    os.environ["XDG_RUNTIME_DIR"] = tempfile.gettempdir()

import wgpu

from .c_types import read_types
from .process import locked, use_gpu


class NoAdapterError(RuntimeError):
    """No adapter that wgpu can use was found; the message names the command that installs one."""


_TYPE_RANK = {"DiscreteGPU": 0, "IntegratedGPU": 1, "Unknown": 2, "CPU": 3}
#: wgpu compiles for Direct3D 12 by FXC, which takes a second for most kernels and up to 17
#: (benchmarks/LOG.md#kernels-by-fxc-2026-12-01-1c55066).
_BACKEND_RANK = {"Vulkan": 0, "Metal": 0, "D3D12": 1}
_COMPUTE_BACKENDS = 0b1101  # wgpu.h: Vulkan, Metal, Direct3D 12
_NAMES = ("WGDML_ADAPTER", "WGPUPY_WGPU_ADAPTER_NAME")
#: Where Linux's drivers show GPUs.
_GPU_FILES = ("dri/render*", "nvidia[0-9]*", "dxg", "mali*", "kgsl*", "pvr*")


def rank(adapter: Any) -> tuple[int, int]:
    """Smaller is better: hardware before software, then Vulkan and Metal, Direct3D 12, OpenGL."""
    info = adapter.info
    return _TYPE_RANK.get(info["adapter_type"], 2), _BACKEND_RANK.get(info["backend_type"], 2)


def describe(adapter: Any) -> str:
    """One line that tells an adapter from its fellows."""
    info = adapter.info
    return f"{info['device']} ({info['adapter_type']}) via {info['backend_type']}"


def adapters() -> list[dict[str, Any]]:
    """All adapters, best first: name, type, backend, driver, features and limits of each."""
    use_gpu()
    return [
        {
            "name": a.info["device"],
            "type": a.info["adapter_type"],
            "backend": a.info["backend_type"],
            "driver": a.info["description"],
            "features": sorted(a.features),
            "limits": dict(a.limits),
        }
        for a in _all()
    ]


def choose_adapter() -> tuple[Any, str]:
    """The adapter to use and why.

    ``WGDML_ADAPTER`` is a number in the order of ``adapters()`` or a part of the name. wgpu-py's
    ``WGPUPY_WGPU_ADAPTER_NAME`` (a part of the name) and ``WGPU_BACKEND_TYPE`` count too.
    Raises ``NoAdapterError``.
    """
    use_gpu()
    wishes = {name: os.environ[name] for name in (*_NAMES, "WGPU_BACKEND_TYPE") if os.environ.get(name)}
    found = _all() if wishes else _best()
    everything = [describe(a) for a in found]
    for name, wish in wishes.items():
        found = _wished(found, name, wish)
    reasons = [f"{name}={wish}" for name, wish in wishes.items()]
    if not found and everything:
        raise NoAdapterError(f"no adapter matches {' and '.join(reasons)}; there are: {'; '.join(everything)}")
    if not found:
        raise NoAdapterError(f"wgpu found no adapter. {_install_hint()}")
    kind = "software, as there is no hardware adapter" if found[0].info["adapter_type"] == "CPU" else "hardware first"
    return found[0], ", ".join(reasons) or kind


def _wished(found: list[Any], name: str, wish: str) -> list[Any]:
    """Those that an environment variable asks for."""
    if name == "WGPU_BACKEND_TYPE":
        return [a for a in found if a.info["backend_type"].lower() == wish.lower()]
    if name == "WGDML_ADAPTER" and wish.isdecimal():
        return found[int(wish) : int(wish) + 1]
    return [a for a in found if wish.lower() in a.summary.lower() or wish.lower() in describe(a).lower()]


def environment_names_adapter() -> bool:
    return any(os.environ.get(name) for name in _NAMES)


def equal_adapters() -> list[Any]:
    """The best adapter and its equals in kind and backend: the GPUs of a host that has several."""
    use_gpu()
    found = _best()
    return [a for a in found if rank(a) == rank(found[0])]


_kept: list[Any] = []  # The adapters of all backends, best first, once OpenGL's are among them.
_lock = threading.RLock()  # A signal's handler may ask for the list while it is made.


def shared_device() -> Any:
    """wgpu's shared default device, or None where nobody has asked for it."""
    return wgpu.utils.device.helper._the_device


def _all(used: Any = None) -> list[Any]:
    """The adapters of all backends, best first; OpenGL's is ``used`` if that comes first.

    OpenGL's are listed once: each list has a lock of its own for the one context of EGL, which a
    device's thread may have (docs/driver-bugs.md).
    """
    read_types()
    return locked(_lock, _listed, used)


def _listed(used: Any) -> list[Any]:
    if _kept:
        return list(_kept)
    shared = shared_device()
    used = used or (shared and shared.adapter)
    found = [*_of_compute_backends(), used] if _by_opengl(used) else resolved(wgpu.gpu.enumerate_adapters_async())
    found = sorted(found, key=rank)
    if not _kept and any(map(_by_opengl, found)):
        _kept[:] = found
    return list(_kept) or found


def _by_opengl(adapter: Any) -> bool:
    return adapter is not None and adapter.info["backend_type"] == "OpenGL"


def with_one_lock(adapter: Any) -> Any:
    """The adapter to open for one of the caller's: of OpenGL's equals the one that came first."""
    if not _by_opengl(adapter):
        return adapter
    return next((a for a in _all(adapter) if a.info == adapter.info), adapter)


def resolved(promise: Any) -> Any:
    """The result of a promise that wgpu-native has kept already, of an adapter for one."""
    return promise._resolve()


def _best() -> list[Any]:
    """Adapters, best first, all that may be the best among them.

    OpenGL's take 0.3 s and more to list. They are left out where it alone can show no hardware.
    """
    found = sorted(_of_compute_backends(), key=rank)
    hardware = any(a.info["adapter_type"] != "CPU" for a in found)
    return found if found and (hardware or not _may_have_hardware()) else _all()


def _of_compute_backends() -> list[Any]:
    """The adapters of Vulkan, Metal and Direct3D 12; none where wgpu-py has changed inside.

    Its own list has every backend.
    """
    read_types()
    try:
        from wgpu.backends.wgpu_native import ffi, lib
        from wgpu.backends.wgpu_native._helpers import get_wgpu_instance

        options = ffi.new("WGPUInstanceEnumerateAdapterOptions *")
        options.backends = _COMPUTE_BACKENDS
        instance = get_wgpu_instance()
        handles = ffi.new("WGPUAdapter[]", lib.wgpuInstanceEnumerateAdapters(instance, options, ffi.NULL))
        lib.wgpuInstanceEnumerateAdapters(instance, options, handles)
        return [wgpu.gpu._create_adapter(handle) for handle in handles]
    except (ImportError, AttributeError, TypeError, NotImplementedError):
        return []


def _may_have_hardware() -> bool:
    """Is there a GPU that its driver may show by OpenGL alone?"""
    if not sys.platform.startswith("linux"):
        return True
    return any(next(Path("/dev").glob(pattern), None) for pattern in _GPU_FILES)


def _install_hint() -> str:
    system = platform.system()
    if system != "Linux":
        return "Install the graphics driver of this machine's GPU (wgpu needs Direct3D 12 or Vulkan on Windows, Metal on macOS)."
    for tool, command in {
        "apt-get": "apt-get install mesa-vulkan-drivers libvulkan1",
        "dnf": "dnf install mesa-vulkan-drivers vulkan-loader",
        "pacman": "pacman -S vulkan-swrast vulkan-icd-loader",
        "apk": "apk add mesa-vulkan-swrast vulkan-loader",
        "zypper": "zypper install libvulkan_lvp libvulkan1",
    }.items():
        if shutil.which(tool):
            return f"Mesa's software Vulkan runs anywhere: {command}"
    return "Install a Vulkan driver; Mesa's software one (lavapipe) runs anywhere."
