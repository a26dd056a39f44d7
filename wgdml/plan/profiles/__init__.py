"""Profiles: the numbers of a family of machines, where they differ from the policies' own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..machine import Machine
from .software import SOFTWARE

__all__ = ["Profile", "adjusted", "numbers_of", "profile_of"]

#: Policies by name: an algorithm's, "columns", "delegates_of_columns" or "occupancy".
Profile = Mapping[str, object]


def profile_of(machine: Machine) -> Profile:
    """What differs on a machine from the policies' own numbers, which are an NVIDIA H200's."""
    return SOFTWARE if machine.software else {}


def numbers_of(policies: Profile) -> dict[str, float]:
    """Every number of some policies by its name, ``select_radix.min_k`` for example."""
    return {
        f"{name}.{field.name}": getattr(policy, field.name)
        for name, policy in policies.items()
        if is_dataclass(policy)
        for field in fields(policy)
    }


def adjusted(policies: Profile, numbers: Mapping[str, float]) -> Profile:
    """The policies with other numbers, by their names. ``ValueError`` for a name that none has."""
    known = numbers_of(policies)
    changed: dict[str, Any] = dict(policies)
    for name, number in numbers.items():
        if name not in known:
            raise ValueError(f"there is no number named {name!r}; there are {', '.join(known)}")
        policy, _, field = name.partition(".")
        changed[policy] = replace(changed[policy], **{field: type(known[name])(number)})
    return changed
