"""Which adapter to use, and what to say when there is none."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from typing import Any

if sys.platform.startswith("linux") and not os.path.isdir(os.environ.get("XDG_RUNTIME_DIR", "")):
    # Mesa complains on standard error about a missing runtime folder that computing never uses.
    os.environ["XDG_RUNTIME_DIR"] = tempfile.gettempdir()

import wgpu

from .fork import use_gpu

__all__ = ["NoAdapterError", "adapters", "choose_adapter", "describe", "environment_names_adapter", "equal_adapters", "rank"]


class NoAdapterError(RuntimeError):
    """No adapter that wgpu can use was found; the message names the command that installs one."""


_TYPE_RANK = {"DiscreteGPU": 0, "IntegratedGPU": 1, "Unknown": 2, "CPU": 3}
_BACKEND_RANK = {"Vulkan": 0, "Metal": 0, "D3D12": 0}


def rank(adapter: Any) -> tuple[int, int]:
    """Smaller is better: hardware before software, then backends made for compute before OpenGL."""
    info = adapter.info
    return _TYPE_RANK.get(info["adapter_type"], 2), _BACKEND_RANK.get(info["backend_type"], 1)


def describe(adapter: Any) -> str:
    """One line that tells an adapter from its fellows."""
    info = adapter.info
    return f"{info['device']} ({info['adapter_type']}) via {info['backend_type']}"


def adapters() -> list[dict[str, Any]]:
    """All adapters, best first: name, type, backend, driver, features and limits of each."""
    use_gpu()
    found = sorted(wgpu.gpu.enumerate_adapters_sync(), key=rank)
    return [
        {
            "name": a.info["device"],
            "type": a.info["adapter_type"],
            "backend": a.info["backend_type"],
            "driver": a.info["description"],
            "features": sorted(a.features),
            "limits": dict(a.limits),
        }
        for a in found
    ]


def choose_adapter() -> tuple[Any, str]:
    """The adapter to use and why.

    ``WGDML_ADAPTER`` is a number in the order of ``adapters()`` or a part of the name; wgpu-py's own variables are honoured too:
    ``WGPUPY_WGPU_ADAPTER_NAME`` (part of the name) and ``WGPU_BACKEND_TYPE``. Raises ``NoAdapterError``.
    """
    use_gpu()
    found = sorted(wgpu.gpu.enumerate_adapters_sync(), key=rank)
    everything = [describe(a) for a in found]
    reasons = []
    chosen = os.environ.get("WGDML_ADAPTER", "")
    if chosen:
        if chosen.isdecimal():
            found = found[int(chosen) : int(chosen) + 1]
        else:
            found = [a for a in found if chosen.lower() in a.summary.lower() or chosen.lower() in describe(a).lower()]
        reasons.append(f"WGDML_ADAPTER={chosen}")
    name = os.environ.get("WGPUPY_WGPU_ADAPTER_NAME", "")
    if name:
        found = [a for a in found if name.lower() in a.summary.lower() or name.lower() in describe(a).lower()]
        reasons.append(f"WGPUPY_WGPU_ADAPTER_NAME={name}")
    backend = os.environ.get("WGPU_BACKEND_TYPE", "")
    if backend:
        found = [a for a in found if a.info["backend_type"].lower() == backend.lower()]
        reasons.append(f"WGPU_BACKEND_TYPE={backend}")
    if not found and everything:
        raise NoAdapterError(f"no adapter matches {' and '.join(reasons)}; there are: {'; '.join(everything)}")
    if not found:
        raise NoAdapterError(f"wgpu found no adapter. {_install_hint()}")
    kind = "software, as there is no hardware adapter" if found[0].info["adapter_type"] == "CPU" else "hardware first"
    return found[0], ", ".join(reasons) or kind


def environment_names_adapter() -> bool:
    """Does an environment variable choose the adapter?"""
    return any(os.environ.get(name) for name in ("WGDML_ADAPTER", "WGPUPY_WGPU_ADAPTER_NAME"))


def equal_adapters() -> list[Any]:
    """The best adapter and its equals in kind and backend: the GPUs of a host that has several."""
    use_gpu()
    found = sorted(wgpu.gpu.enumerate_adapters_sync(), key=rank)
    return [a for a in found if rank(a) == rank(found[0])]


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
