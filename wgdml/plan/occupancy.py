"""How much work keeps a machine busy."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OccupancyPolicy"]


@dataclass(frozen=True)
class OccupancyPolicy:
    """How much work a machine runs at once, and how an invocation should read."""

    #: Workgroups of 256 that fill the machine several times over, so that none of it idles at the end. 16 for each of an H200's
    #: 132 processors; it reads at full speed from half of that on.
    workgroups: int = 2112
    #: Invocations that are at work at once. Where sequences are few, teams grow until there are so many.
    invocations: int = 1 << 17
    #: Loads under way at once where loads are read again. 1 to 8; a software adapter takes 2 ms longer to compile each.
    reread_unroll: int = 4
    #: Loads that an invocation should have before a sequence is cut among more of them.
    loads_each: int = 8
