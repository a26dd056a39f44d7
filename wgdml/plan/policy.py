"""Policies' numbers, each with the range that profiles, tuning and tests keep to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log2
from random import Random
from typing import Any


@dataclass(frozen=True)
class Range:
    """Where a number may lie: all answers are right there, however long they take."""

    least: float
    most: float
    whole: bool = True
    powers: bool = False  #: Powers of two alone.

    def __str__(self) -> str:
        kind = "a power of two " if self.powers else "a whole number " if self.whole else ""
        return f"{kind}from {self.least:.15g} to {self.most:.15g}"

    def __contains__(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or not self.least <= value <= self.most:
            return False
        if self.whole and value != int(value):
            return False
        return not self.powers or int(value).bit_count() == 1

    def near(self, value: float) -> float:
        """The number of the range that is about as large as a value."""
        value = min(max(value, self.least), self.most)
        if self.powers:
            return min(max(1 << round(log2(value)), int(self.least)), int(self.most))
        return round(value) if self.whole else float(f"{value:.3g}")

    def moved(self, value: float, octaves: int) -> float:
        """The number that is so many doublings away."""
        return self.near(max(value, 1 if self.whole else self.least) * 2.0**octaves)

    def drawn(self, rng: Random) -> float:
        """A number at random, whose logarithm is as likely to lie anywhere."""
        return self.near(2 ** rng.uniform(log2(max(self.least, 0.5)), log2(self.most)))


def number(default: float, least: float, most: float, *, powers: bool = False) -> Any:
    """A policy's field: its number for a large GPU, and its range."""
    found = Range(least, most, isinstance(default, int), powers)
    if default not in found:
        raise ValueError(f"default must be {found}, not {default!r}")
    return field(default=default, metadata={"range": found})


#: Policies by name: an algorithm's or another step's, or "occupancy".
Profile = Mapping[str, Any]


@dataclass(frozen=True)
class OccupancyPolicy:
    """How much work a machine runs at once, and how an invocation should read."""

    #: This many workgroups of 256 fill the machine several times over: 16 for each of an H200's 132
    #: processors. It reads at full speed from half of that on.
    workgroups: int = number(2112, 1, 1 << 20)
    #: Work with a part for each processor has about this many: workgroups that look for survivors,
    #: tiles of a sort (benchmarks/LOG.md#tiles-2026-11-23-5aea9aa).
    processors: int = number(128, 1, 1024)
    #: This many invocations are at work at once. Teams of few sequences grow until they are.
    invocations: int = number(1 << 17, 1, 1 << 24)
    #: An invocation has this many loads before a sequence is cut among more of them.
    loads_each: int = number(8, 1, 1 << 12)
