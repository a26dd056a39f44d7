"""How much work keeps a machine busy."""

from __future__ import annotations

from dataclasses import dataclass

from .policy import number


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
