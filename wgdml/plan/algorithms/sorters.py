"""The radix sort of a machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..machine import Machine
from .radix_passes import RadixPasses
from .radix_sort import RadixSort
from .serial_radix_sort import SerialRadixSort


def radix_sort_of(machine: Machine, policies: Mapping[str, Any]) -> RadixPasses:
    return (SerialRadixSort if machine.software else RadixSort)(machine, policies)
