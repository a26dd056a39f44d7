"""Profiles: the numbers of a family of machines, where they differ from the policies' own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ..machine import Machine
from ..policy import Range, ranges_of
from .families import FAMILIES, Family, Profile, smaller

__all__ = ["FAMILIES", "Family", "Profile", "adjusted", "changes", "family_of", "numbers_of", "profile_of", "ranges", "smaller"]


def family_of(machine: Machine) -> Family:
    """Which machines it is like."""
    return next(family for family in FAMILIES if family.has(machine))


def profile_of(machine: Machine) -> Profile:
    """What differs on a machine from the policies' own numbers, which are an NVIDIA H200's."""
    return family_of(machine).profile


def numbers_of(policies: Profile) -> dict[str, float]:
    """Every number of some policies by its name, ``select_radix.min_k`` for example."""
    return {
        f"{name}.{field.name}": getattr(policy, field.name)
        for name, policy in policies.items()
        if is_dataclass(policy)
        for field in fields(policy)
    }


def ranges(policies: Profile) -> dict[str, Range]:
    """The range of every number that has one, by its name."""
    found = {name: ranges_of(policy) for name, policy in policies.items() if is_dataclass(policy)}
    return {f"{name}.{field}": own for name, all_of in found.items() for field, own in all_of.items()}


def adjusted(policies: Profile, numbers: Mapping[str, float]) -> Profile:
    """The policies with other numbers, by their names.

    ``ValueError`` for a name that none has, and for a number out of its range.
    """
    known, allowed = numbers_of(policies), ranges(policies)
    changed: dict[str, Any] = dict(policies)
    for name, number in numbers.items():
        if name not in known:
            raise ValueError(f"there is no number named {name!r}; there are {', '.join(known)}")
        if name in allowed and number not in allowed[name]:
            raise ValueError(f"{name} must be {allowed[name]}, not {number!r}")
        policy, _, field = name.partition(".")
        changed[policy] = replace(changed[policy], **{field: type(known[name])(number)})
    return changed


def changes(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """The numbers that are others afterwards."""
    return {name: number for name, number in after.items() if number != before.get(name)}
