"""Is one of two plans faster, or is it noise? Pairs of times, taken one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


def gain_of(ratios: Sequence[float]) -> float:
    """The middle of the means of all two ratios (Hodges and Lehmann): outliers hardly move it."""
    x = np.asarray(ratios, float)
    first, second = np.triu_indices(len(x))
    return float(np.median((x[first] + x[second]) / 2))


def chance(ratios: Sequence[float]) -> float:
    """How likely ratios as high as these are, if none of the two is faster (Wilcoxon's test)."""
    x = np.asarray(ratios, float)
    x = x[x != 0]
    n = len(x)
    if n == 0:
        return 1.0
    _, which, ties = np.unique(np.abs(x), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[which]  # equals share the mean of theirs
    spread = math.sqrt((n * (n + 1) * (2 * n + 1) - float((ties**3 - ties).sum()) / 2) / 24)
    high = float(ranks[x > 0].sum()) - n * (n + 1) / 4
    return 0.5 * math.erfc((high - 0.5) / max(spread, 1e-9) / math.sqrt(2))


@dataclass(frozen=True)
class Compared:
    """Logarithms of the ratios of two plans' times, by problem; positive where the second wins."""

    ratios: tuple[tuple[float, ...], ...]

    @property
    def gains(self) -> list[float]:
        return [gain_of(own) for own in self.ratios]

    @property
    def gain(self) -> float:
        """The mean over problems, each of which counts as much."""
        return sum(self.gains) / len(self.ratios)

    @property
    def chance(self) -> float:
        return chance([r for own in self.ratios for r in own])

    @property
    def worst(self) -> float:
        """What the problem loses that loses most."""
        return -min(self.gains)

    def __add__(self, other: Compared) -> Compared:
        """More pairs of the same problems."""
        return Compared(tuple(a + b for a, b in zip(self.ratios, other.ratios, strict=True)))
