"""Profiles: the numbers of a family of machines, where they differ from the policies' own.

Nobody measured most of them: what their limits, kind and vendor tell makes a family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from .algorithms.delegates import DelegatesPolicy
from .algorithms.row_sort_buckets import RowSortBucketsPolicy
from .algorithms.select_bisect import SelectBisectPolicy
from .algorithms.select_lists import SelectListsPolicy
from .algorithms.serial_select import SerialSelectPolicy
from .machine import Machine
from .policy import OccupancyPolicy, Profile, Range

#: Of few cores that run eight invocations together up to a barrier: measured on Mesa's lavapipe.
SOFTWARE: Profile = {"occupancy": OccupancyPolicy(workgroups=32, invocations=1 << 10, loads_each=64)}

#: SwiftShader takes less for a dispatch, and more for what it does
#: (benchmarks/LOG.md#lists-of-parts-on-software-adapters-2026-12-01-9611156).
SWIFTSHADER: Profile = {**SOFTWARE, "serial_select": SerialSelectPolicy(min_bytes=1 << 15)}

#: Makers of GPUs for phones, as WebGPU and Vulkan drivers name them.
_OF_PHONES = ("qualcomm", "adreno", "turnip", "arm", "mali", "img-tec", "powervr", "samsung", "broadcom", "v3d")


def of_phones(vendor: str) -> bool:
    """Does a maker make GPUs for phones?"""
    return any(name in vendor for name in _OF_PHONES)


@dataclass(frozen=True)
class Family:
    """Machines that plan by the same numbers, unless they have measured themselves."""

    name: str
    has: Callable[[Machine], bool]
    why: str
    profile: Profile
    software: bool = False


def smaller(share: int) -> Profile:
    """The numbers that count processors, or what they run at once, for a GPU with 1/share of an
    H200's 132.

    Workgroups beyond those that run at once wait for a place. Each has a tree, a list or counters
    of its own, so that more of them than fill the machine are work without gain. Algorithms that
    give a sequence to a team pay from as many sequences on as fill the machine.
    """
    return {
        "occupancy": OccupancyPolicy(workgroups=2112 // share, processors=128 // share, invocations=(1 << 17) // share),
        "delegates": DelegatesPolicy(total=(1 << 18) // share),
        "row_sort_buckets": RowSortBucketsPolicy(few=128 // share),
        "select_bisect": SelectBisectPolicy(min_sequences=640 // share),
        "select_lists": SelectListsPolicy(min_sequences=8192 // share),
    }


#: The first that has a machine is its family.
FAMILIES = (
    Family(
        "SwiftShader",
        lambda m: m.software and "swiftshader" in m.vendor,
        "measured: its dispatches cost less than lavapipe's, and its work more",
        SWIFTSHADER,
        software=True,
    ),
    Family(
        "software adapters",
        lambda m: m.software,
        "measured on lavapipe: a few processors, of which each runs eight invocations together up to a barrier",
        SOFTWARE,
        software=True,
    ),
    Family(
        "phones' GPUs",
        lambda m: of_phones(m.vendor),
        "2 to 12 processors, whatever kind the driver says that they are",
        smaller(32),
    ),
    Family(
        "Apple's GPUs",
        lambda m: m.vendor.startswith("apple"),
        "8 to 80 processors of 1024 invocations: 16 of an H200's are in their middle",
        smaller(8),
    ),
    Family(
        "integrated GPUs",
        lambda m: m.kind == "integrated",
        "2 to 16 processors, which share the memory with the CPU: fewer invocations keep it busy",
        smaller(16),
    ),
    Family(
        "large GPUs",
        lambda m: True,
        "measured on an H200; WebGPU does not count processors, and idle ones cost more than workgroups that wait",
        {},
    ),
)


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
    return {
        f"{name}.{field.name}": field.metadata["range"]
        for name, policy in policies.items()
        if is_dataclass(policy)
        for field in fields(policy)
        if "range" in field.metadata
    }


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
