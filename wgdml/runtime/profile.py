"""An adapter's profile: the numbers that ``wgdml tune`` found for it, in a file of the user's.

A file that cannot be used is left aside with one warning, and is never an error. Every number keeps
to its policy's range, so that none makes an answer wrong.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._version import __version__
from ..files import is_special, write_json
from ..plan import Machine, Planner, Profile, adjusted, family_of

_VARIABLE = "WGDML_PROFILE"
_LARGEST = 1 << 20  # bytes of a file


class ProfileWarning(UserWarning):
    """A profile is not used, and why."""


@dataclass(frozen=True)
class Found:
    """The numbers that differ from the default of a machine, and where they are from."""

    reason: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def planner(self, machine: Machine) -> Planner:
        return Planner(machine, policies_of(machine, self.numbers)) if self.numbers else Planner(machine)


def policies_of(machine: Machine, numbers: Mapping[str, float]) -> Profile:
    """The machine's policies with other numbers. ``ValueError`` for one that cannot be."""
    return adjusted(Planner(machine).policies, numbers)


def owner(info: Mapping[str, Any]) -> dict[str, str]:
    """What a profile of an adapter says that it is of."""
    names = {"adapter": "device", "backend": "backend_type", "driver": "description"}
    return {"wgdml": __version__} | {ours: str(info.get(theirs, "")) for ours, theirs in names.items()}


def _slug(text: str) -> str:
    return "-".join(re.findall(r"[a-z0-9.]+", text.lower()))[:80]


def _folder() -> Path:
    """Where the user's profiles are. ``ImportError`` where nothing says where that is."""
    # The command line's dependency, not the library's.
    from platformdirs import user_config_path

    return user_config_path("wgdml", appauthor=False) / "profiles"


def path_of(info: Mapping[str, Any]) -> Path:
    own = owner(info)
    words = (own["adapter"], own["backend"], own["driver"], own["wgdml"])
    return _folder() / ("_".join(map(_slug, words)) + ".json")


def place_of(info: Mapping[str, Any]) -> Path:
    """The path, in a folder that is there."""
    path = path_of(info)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def files_of(info: Mapping[str, Any]) -> list[Path]:
    """The adapter's profiles, of whatever driver and version."""
    own = owner(info)
    return sorted(_folder().glob(f"{_slug(own['adapter'])}_{_slug(own['backend'])}_*.json"))


def document(info: Mapping[str, Any], when: str, numbers: Mapping[str, float]) -> dict[str, Any]:
    return owner(info) | {"when": when, "numbers": dict(numbers)}


def write(info: Mapping[str, Any], when: str, numbers: Mapping[str, float]) -> Path:
    """Makes numbers the adapter's profile, in place of those of other drivers and versions.

    Whatever happens meanwhile, the old one stays or the new one is whole.
    """
    path = place_of(info)
    write_json(path, document(info, when, numbers))
    for other in files_of(info):
        if other != path:
            other.unlink(missing_ok=True)
    return path


def read(path: Path, info: Mapping[str, Any], machine: Machine) -> dict[str, float]:
    """The numbers of a profile's file. ``ValueError`` says why it does not serve."""
    try:
        if is_special(path):  # opening a pipe would wait for who writes to it
            raise OSError(0, "it is no regular file")
        with open(path, "rb") as file:
            found = json.loads(file.read(_LARGEST))
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ValueError("it is damaged: no JSON") from None
    if not isinstance(found, dict) or not isinstance(numbers := found.get("numbers"), dict):
        raise ValueError("it is damaged: it must be an object with an object of numbers")
    for name, wanted in owner(info).items():
        if found.get(name) != wanted:
            raise ValueError(f"its {name} is {found.get(name)!r}, not {wanted!r}")
    policies_of(machine, numbers)
    return numbers


_warned: set[Path] = set()


def find(info: Mapping[str, Any], machine: Machine) -> Found:
    """The profile of an adapter. ``WGDML_PROFILE`` is "off" or the file to use."""
    default = f"the default of {family_of(machine).name}"
    wish = os.environ.get(_VARIABLE, "")
    if wish == "off":
        return Found(f"{default}, as {_VARIABLE}=off")
    try:
        path = Path(wish) if wish else path_of(info)
        others = [] if wish or path.exists() else files_of(info)
    except (ImportError, OSError, RuntimeError) as error:  # no such module, no right, no home
        return Found(f"{default}, as the user's configuration cannot be read: {error}")
    if not wish and not path.exists() and not others:
        return Found(f"{default}; wgdml tune makes a profile")
    path = others[-1] if others else path
    try:
        numbers = read(path, info, machine)
    except ValueError as problem:
        if path not in _warned:  # once of each file
            _warned.add(path)
            warnings.warn(f"the profile {path} is not used: {problem}; wgdml tune makes a new one", ProfileWarning, stacklevel=3)
        return Found(f"{default}, as {path} is not used: {problem}")
    return Found(f"{path}, as {_VARIABLE} says" if wish else str(path), numbers)
