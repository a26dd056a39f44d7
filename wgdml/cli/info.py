"""``wgdml info``."""

from __future__ import annotations

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
    device: wgdml.Device | None = None
    try:
        device = wgdml.default_device()
    except wgdml.NoAdapterError as caught:
        problem = caught
        document["error"] = str(problem)
    else:
        # Adapters of one kind tell apart by nothing but their order; the first is the one taken.
        info = device.adapter_info
        own = (info["device"], info["adapter_type"], info["backend_type"], info["description"])
        chosen = next((a for a in adapters if (a["name"], a["type"], a["backend"], a["driver"]) == own), None)
        if chosen is not None:
            chosen["chosen"] = True
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
        emit("\n".join(_lines(document, device)) + "\n")
    if problem is not None:
        raise problem


def _lines(document: dict[str, Any], device: wgdml.Device | None) -> list[str]:
    lines = [f"{name:9} {version}" for name, version in document["versions"].items()]
    if document["adapters"]:
        lines += ["", "adapters"]
    for adapter in document["adapters"]:
        mark = "*" if adapter["chosen"] else " "
        lines.append("  {} {name} ({type}, {backend})  {driver}".format(mark, **adapter))
    if device is not None:
        count = f" ({len(device.profile)} numbers)" if device.profile else ""
        lines += [f"  * chosen: {device.adapter_reason}", ""]
        lines += [f"GPU device     {device.gpu_device_reason}", f"feature level  {device.feature_level.name}"]
        lines += [f"profile        {device.profile_reason}{count}", "limits"]
        lines += [f"  {key:40} {device.limits[key]:>15,}" for key in _SHOWN_LIMITS]
        lines += ["features", "  " + ", ".join(sorted(device.features))]
    return lines
