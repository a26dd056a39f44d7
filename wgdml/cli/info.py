"""``wgdml info``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

import wgdml
from wgdml.selftest import versions

from .showing import emit, emit_json, json_option

# The limits that decide what fits, in the order in which one runs into them.
_SHOWN_LIMITS = (
    "max-buffer-size",
    "max-storage-buffer-binding-size",
    "max-compute-workgroup-storage-size",
    "max-compute-invocations-per-workgroup",
    "max-compute-workgroups-per-dimension",
    "max-storage-buffers-per-shader-stage",
)


def _is_chosen(adapter: Mapping[str, Any], info: Mapping[str, Any]) -> bool:
    names = {"name": "device", "type": "adapter_type", "backend": "backend_type", "driver": "description"}
    return all(adapter[ours] == info[theirs] for ours, theirs in names.items())


def _device_lines(device: wgdml.Device) -> list[str]:
    """What the device in use is, for people."""
    count = f" ({len(device.profile)} numbers)" if device.profile else ""
    lines = [f"GPU device     {device.gpu_device_reason}", f"feature level  {device.feature_level.name}"]
    lines += [f"profile        {device.profile_reason}{count}", "limits"]
    lines += [f"  {key:40} {device.limits[key]:>15,}" for key in _SHOWN_LIMITS]
    return [*lines, "features", "  " + ", ".join(sorted(device.features))]


@click.command(
    "info",
    epilog="""\b
Examples:
  wgdml info
  wgdml info --json
  WGPU_BACKEND_TYPE=Vulkan wgdml info

WGDML_ADAPTER (a number in this list, from 0, or a part of the name) chooses the adapter.""",
)
@json_option
def info_command(as_json: bool) -> None:
    """Adapters, the one chosen and why, its profile, limits and features, versions."""
    adapters = [
        {key: adapter[key] for key in ("name", "type", "backend", "driver")} | {"chosen": False} for adapter in wgdml.adapters()
    ]
    document: dict[str, Any] = {"versions": versions(), "adapters": adapters}
    problem: wgdml.NoAdapterError | None = None
    try:
        device = wgdml.default_device()
    except wgdml.NoAdapterError as caught:
        problem = caught
        document["error"] = str(problem)
    else:
        # Adapters of one kind tell apart by nothing but their order; the first is the one taken.
        for adapter in adapters:
            if _is_chosen(adapter, device.adapter_info):
                adapter["chosen"] = True
                break
        document |= {
            "reason": device.adapter_reason,
            "gpu_device": device.gpu_device_reason,
            "profile": {"reason": device.profile_reason, "numbers": device.profile},
            "feature_level": device.feature_level.name,
            "limits": {key.replace("-", "_"): value for key, value in sorted(device.limits.items())},
            "features": sorted(device.features),
        }
    if as_json:
        emit_json(document)
    else:
        lines = [f"{name:9} {version}" for name, version in document["versions"].items()]
        if adapters:
            lines += ["", "adapters"]
        for adapter in adapters:
            mark = "*" if adapter["chosen"] else " "
            lines.append("  {} {name} ({type}, {backend})  {driver}".format(mark, **adapter))
        if problem is None:
            lines += [f"  * chosen: {device.adapter_reason}", ""]
            lines += _device_lines(device)
        emit("\n".join(lines) + "\n")
    if problem is not None:
        raise problem
