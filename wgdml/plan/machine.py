"""What a plan may know of the device, and the arithmetic of sizes that every plan uses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


def ceil_div(n: int, d: int) -> int:
    return -(-n // d)


def power_of_two_below(n: int) -> int:
    """The largest power of two up to n, at least 1."""
    return 1 << (max(n, 1).bit_length() - 1)


def power_of_two_above(n: int) -> int:
    """The smallest power of two from n on."""
    return 1 << (max(n, 1) - 1).bit_length()


@dataclass(frozen=True)
class Machine:
    """A device as plans see it: its limits by WebGPU's names, and what kind of machine it is.

    The defaults are the least that WebGPU promises of any device.
    """

    max_storage_buffer_binding_size: int = 128 << 20
    max_buffer_size: int = 256 << 20
    max_compute_invocations_per_workgroup: int = 256
    max_compute_workgroup_storage_size: int = 16 << 10
    max_compute_workgroups_per_dimension: int = 65535
    kind: str = "unknown"  #: "discrete", "integrated", "software" or "unknown"
    vendor: str = ""  #: "amd", "apple", "intel", "nvidia" or so; else the driver, in lower case
    subgroups: bool = False  #: Subgroup operations may be used; their size is not known.

    @property
    def software(self) -> bool:
        """A CPU adapter. Few long workgroups pay there, and barriers cost."""
        return self.kind == "software"

    @cached_property
    def widest_workgroup(self) -> int:
        """Invocations of the largest workgroup, as a power of two."""
        return power_of_two_below(self.max_compute_invocations_per_workgroup)

    @cached_property
    def workgroup(self) -> int:
        """Invocations of an ordinary workgroup."""
        return min(256, self.widest_workgroup)
