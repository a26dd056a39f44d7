"""Recognise handwritten digits by their nearest neighbours, selected on the GPU.

The 1797 digits that scikit-learn ships (8 x 8 pixels, 0 to 16) are split into three quarters to
learn from and one quarter to recognise. ``wgdml.top_k`` finds the k most similar known digits of
each unknown one and ``wgdml.argmax`` takes the vote. Squared distances of such pixels are integers,
so NumPy's answer must be the same to the last index; the program fails if it is not.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits

import wgdml

CLASSES = 10
REPEATS = 7


def split() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Known pixels and labels, unknown pixels and labels; every fourth digit is unknown."""
    digits = load_digits()
    pixels, labels = digits.data, digits.target
    unknown = np.arange(len(labels)) % 4 == 3
    return pixels[~unknown], labels[~unknown], pixels[unknown], labels[unknown]


def squared_distances(unknown: np.ndarray, known: np.ndarray) -> np.ndarray:
    """All squared distances, exact: 64 pixels up to 16 give integers up to 16384."""
    cross = unknown @ known.T
    return ((unknown**2).sum(1)[:, None] + (known**2).sum(1) - 2 * cross).astype(np.int32)


def votes(neighbours: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """How many of each row's neighbours are of each class."""
    return (labels[neighbours][..., None] == np.arange(CLASSES)).sum(1, dtype=np.int32)


def select_wgdml(distances: np.ndarray, k: int) -> np.ndarray:
    return wgdml.top_k(distances, k, axis=1, mode="smallest").indices


def select_numpy(distances: np.ndarray, k: int) -> np.ndarray:
    """argpartition, then a sort of those k; a key of both distance and index settles the ties."""
    count = distances.shape[1]
    keys = distances.astype(np.int64) * count + np.arange(count)
    nearest = np.argpartition(keys, k - 1, axis=1)[:, :k]
    order = np.argsort(np.take_along_axis(keys, nearest, 1), axis=1)
    return np.take_along_axis(nearest, order, 1)


def milliseconds(work: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Recognise handwritten digits on the GPU.")
    parser.add_argument("-k", "--k", type=int, default=5, help="how many neighbours vote (default 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--picture", metavar="OUT.png", help="save some digits and their neighbours (needs the demo extra)")
    options = parser.parse_args(arguments)

    known, known_labels, unknown, unknown_labels = split()
    k = options.k
    if not 1 <= k <= len(known):
        parser.error(f"--k {k}: it must lie in [1, {len(known)}], the number of known digits")
    distances = squared_distances(unknown, known)

    try:
        device = wgdml.default_device()
    except wgdml.NoAdapterError as problem:
        print(f"digits: error: {problem}", file=sys.stderr)
        return 1
    info = device.adapter_info

    first = milliseconds(lambda: select_wgdml(distances, k), 1)
    neighbours = select_wgdml(distances, k)
    counts = votes(neighbours, known_labels)
    recognised = wgdml.argmax(counts, axis=1)
    right = int((recognised == unknown_labels).sum())

    in_order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    references = (in_order, select_numpy(distances, k))
    same_neighbours = all(np.array_equal(neighbours, reference) for reference in references)
    same_votes = np.array_equal(recognised, votes(in_order, known_labels).argmax(axis=1))

    result = {
        "adapter": info["device"],
        "adapter_type": info["adapter_type"],
        "backend": info["backend_type"],
        "known": len(known),
        "unknown": len(unknown),
        "k": k,
        "right": right,
        "accuracy": right / len(unknown),
        "same_as_numpy": same_neighbours and same_votes,
        "first_call_ms": first,
        "wgdml_ms": milliseconds(lambda: select_wgdml(distances, k), REPEATS),
        "numpy_ms": milliseconds(lambda: select_numpy(distances, k), REPEATS),
    }
    if options.json:
        print(json.dumps(result))
    else:
        show(result, unknown, recognised)
    if options.picture:
        draw(options.picture, unknown, unknown_labels, known, known_labels, neighbours)
    if not result["same_as_numpy"]:
        what = "neighbours" if not same_neighbours else "votes"
        print(f"digits: error: the {what} differ from NumPy's", file=sys.stderr)
        return 1
    return 0


def draw(
    path: str,
    unknown: np.ndarray,
    unknown_labels: np.ndarray,
    known: np.ndarray,
    known_labels: np.ndarray,
    neighbours: np.ndarray,
) -> None:
    """Saves a picture of the hardest digit of each class with its neighbours."""
    from gallery import Tile, gallery

    from wgdml.demo.colours import ramp

    def tile(pixels: np.ndarray, caption: str, good: bool | None = None) -> Tile:
        return Tile(ramp(pixels.reshape(8, 8) / 16), caption, good)

    agree = (known_labels[neighbours] == unknown_labels[:, None]).sum(1)
    rows = []
    for digit in range(CLASSES):
        # The one whose neighbours agree least tells most.
        chosen = min(np.flatnonzero(unknown_labels == digit), key=lambda i: agree[i])
        tiles = []
        for neighbour in neighbours[chosen, :10]:
            distance = int(((unknown[chosen] - known[neighbour]) ** 2).sum())
            label = known_labels[neighbour]
            tiles.append(tile(known[neighbour], f"{label}   d {distance}", bool(label == digit)))
        rows.append((tile(unknown[chosen], f"a {digit}"), tiles))
    title = "The hardest digits and their nearest neighbours"
    subtitle = "each neighbour's label and squared distance d; framed green where the label is right"
    gallery(title, subtitle, rows, scale=8).save(path, format="PNG", optimize=True)


def drawing(pixels: np.ndarray) -> list[str]:
    """One digit as text, two pixel rows to a line of it."""
    shades = " .:-=+*#%@"
    grid = pixels.reshape(8, 8)[::2].astype(int)
    return ["".join(shades[value * 9 // 16] for value in row) for row in grid]


def show(result: dict[str, Any], unknown: np.ndarray, recognised: np.ndarray) -> None:
    console = Console(width=None if sys.stdout.isatty() else 100, highlight=False, markup=False, emoji=False)
    sample = np.arange(0, len(unknown), len(unknown) // 8)[:8]
    for line in zip(*(drawing(unknown[i]) for i in sample), strict=True):
        console.print("   ".join(line).rstrip())
    console.print("   ".join(f"{f'-> {recognised[i]}':8}" for i in sample).rstrip())

    answers = Table(title="Digits recognised", title_justify="left", show_header=False)
    adapter = f"{result['adapter']} ({result['adapter_type']}, {result['backend']})"
    answers.add_row("adapter", adapter)
    unknown_count, known_count, k = result["unknown"], result["known"], result["k"]
    answers.add_row("digits", f"{unknown_count} unknown, {known_count} known, {k} neighbours vote")
    answers.add_row("recognised", f"{result['right']} of {result['unknown']}: {result['accuracy']:.1%}")
    answers.add_row("same answers as NumPy", "yes, every index" if result["same_as_numpy"] else "NO")
    console.print(answers)

    times = Table(title=f"Top-{k} of {unknown_count} x {known_count} distances", title_justify="left")
    times.add_column("")
    times.add_column("milliseconds", justify="right")
    times.add_row("wgdml, first call (compiles the shaders)", f"{result['first_call_ms']:.2f}")
    times.add_row(f"wgdml, later calls (median of {REPEATS})", f"{result['wgdml_ms']:.2f}")
    times.add_row(f"NumPy: argpartition, then sort (median of {REPEATS})", f"{result['numpy_ms']:.2f}")
    console.print(times)
    if result["adapter_type"] == "CPU":
        console.print("This adapter runs the shaders on the CPU: right answers, but not the speed of a GPU.")


if __name__ == "__main__":
    sys.exit(main())
