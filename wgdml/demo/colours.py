"""The demos' colours, mixed in Ottosson's Oklab, where equal steps look equal."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Colour = tuple[float, float, float]

PAPER: Colour = (0.063, 0.069, 0.086)
INK: Colour = (0.9, 0.91, 0.93)
MUTED: Colour = (0.62, 0.65, 0.71)
ACCENT: Colour = (1.0, 0.71, 0.33)
MARK: Colour = (1.0, 0.36, 0.52)
GOOD: Colour = (0.35, 0.8, 0.55)


def _srgb(lightness: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float32]:
    lightness, a, b = np.asarray(lightness), np.asarray(a), np.asarray(b)
    l3 = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    m3 = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    s3 = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = np.stack(
        [
            4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3,
            -1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3,
            -0.0041960863 * l3 - 0.7034186147 * m3 + 1.7076147010 * s3,
        ],
        axis=-1,
    ).clip(0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055).astype(np.float32)


def palette(count: int) -> npt.NDArray[np.float32]:
    """Colours of even strength, neighbours far apart in hue: [count, 3], sRGB from 0 to 1."""
    n = np.arange(count)
    hue = 2 * np.pi * ((0.62 + n * 0.381966) % 1)
    return _srgb(np.array([0.66, 0.76, 0.58])[n % 3], 0.125 * np.cos(hue), 0.125 * np.sin(hue))


_STOPS = np.array([[0.30, 0.02, -0.10], [0.50, -0.05, -0.08], [0.68, -0.11, 0.02], [0.90, -0.04, 0.16]])


def ramp(share: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """From deep blue over teal to yellow for 0 to 1, ever lighter: one more dimension of size 3."""
    place = np.clip(share, 0, 1) * (len(_STOPS) - 1)
    return _srgb(*(np.interp(place, np.arange(len(_STOPS)), stops) for stops in _STOPS.T))
