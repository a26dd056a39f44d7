"""Exact vector search: the ten nearest of a million vectors to each query, checked with NumPy.

The vectors are made here, the same on every machine: little patterns of 8 x 16 signed bytes, so
that one sees in a picture what a neighbour is. A shader computes squared distances block by block,
``wgdml.top_k`` takes the nearest of each block and in the end the nearest of those. Distances are
integers, so NumPy's answer must be the same to the last index; the program fails if it is not.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import wgpu
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import wgdml

SIZE = 128
SHAPE = (8, 16)
BLOCK = 1 << 16
VECTORS = 1_000_000
VECTORS_ON_SOFTWARE = 200_000


def waves() -> np.ndarray:
    """The patterns that all vectors are mixed from: low waves across and down, [10, 128]."""
    y, x = (np.arange(n) + 0.5 for n in SHAPE)
    orders = [(i, j) for i in range(3) for j in range(4) if 0 < i + j < 5]
    grids = [np.outer(np.cos(np.pi * i * y / SHAPE[0]), np.cos(np.pi * j * x / SHAPE[1])) for i, j in orders]
    return np.array([grid.ravel() for grid in grids], np.float32)


def make_block(number: int, stream: int = 0) -> np.ndarray:
    """BLOCK vectors, int8 from -31 to 31: the same ones whenever they are asked for."""
    rng = np.random.default_rng([stream, number])
    pattern = (rng.standard_normal((BLOCK, len(waves())), np.float32) ** 3) @ waves()
    pattern *= 24 / np.abs(pattern).max(1, keepdims=True)
    pattern += rng.integers(-7, 8, pattern.shape, np.int8)
    return np.rint(pattern).astype(np.int8)


def made(indices: np.ndarray) -> dict[int, np.ndarray]:
    """The vectors of these indices, each block made once."""
    found = {}
    for number in np.unique(indices // BLOCK):
        block = make_block(int(number))
        found |= {int(i): block[i % BLOCK] for i in np.unique(indices) if i // BLOCK == number}
    return found


@dataclass
class Found:
    """The nearest of each query, nearest first, and the seconds that it took."""

    distances: np.ndarray
    indices: np.ndarray
    distance_seconds: float = 0.0
    select_seconds: float = 0.0


class Search:
    """Distances by a shader, selection by wgdml, on one device."""

    def __init__(self, device: wgdml.Device, queries: np.ndarray, longest: int) -> None:
        self.device = device
        self.queries = len(queries)
        gpu = device.gpu_device
        storage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_DST
        self.shape = gpu.create_buffer(size=8, usage=wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)
        self.vectors = gpu.create_buffer(size=SIZE * longest, usage=storage)
        usage = storage | wgpu.BufferUsage.COPY_SRC
        self.distances = gpu.create_buffer(size=4 * self.queries * longest, usage=usage)
        given = gpu.create_buffer_with_data(data=queries, usage=storage)
        code = Path(__file__).with_suffix(".wgsl").read_text(encoding="utf-8")
        module = gpu.create_shader_module(label="vector_search", code=code)
        self.pipeline = gpu.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
        bound = [self.shape, self.vectors, given, self.distances]
        entries = [{"binding": i, "resource": {"buffer": b, "offset": 0, "size": b.size}} for i, b in enumerate(bound)]
        self.group = gpu.create_bind_group(layout=self.pipeline.get_bind_group_layout(0), entries=entries)

    def nearest(self, vectors: np.ndarray, k: int) -> Found:
        """The k nearest of one block; indices count from its start."""
        gpu = self.device.gpu_device
        count = len(vectors)
        started = time.perf_counter()
        gpu.queue.write_buffer(self.shape, 0, np.array([count, self.queries], np.uint32))
        gpu.queue.write_buffer(self.vectors, 0, vectors)
        encoder = gpu.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(self.pipeline)
        compute.set_bind_group(0, self.group)
        compute.dispatch_workgroups(-(-count // 64))
        compute.end()
        gpu.queue.submit([encoder.finish()])
        gpu.queue.read_buffer(self.distances, 0, 4)  # waits, so that the times can be told apart
        computed = time.perf_counter()
        # The shader's own buffer becomes a tensor: the distances stay where they are.
        distances = wgdml.Tensor.from_buffer(self.distances, "int32", (self.queries, count), device=self.device)
        best = wgdml.top_k(distances, k, axis=1, mode="smallest")
        found = Found(*wgdml.to_numpy(*best))
        return Found(found.distances, found.indices, computed - started, time.perf_counter() - computed)


def merge(parts: list[Found], starts: range, k: int, device: wgdml.Device) -> Found:
    """The k nearest of all blocks. Blocks are in order, so equal distances go by index."""
    distances = np.concatenate([part.distances for part in parts], axis=1)
    indices = np.concatenate([part.indices + start for part, start in zip(parts, starts, strict=True)], axis=1)
    best = wgdml.top_k(distances, k, axis=1, mode="smallest", device=device)
    return Found(
        best.values,
        np.take_along_axis(indices, best.indices, 1),
        sum(part.distance_seconds for part in parts),
        sum(part.select_seconds for part in parts),
    )


def nearest_numpy(queries: np.ndarray, vectors: np.ndarray, k: int) -> Found:
    """The same of one block with NumPy: float32 holds these integers, a key settles the ties."""
    started = time.perf_counter()
    q, v = queries.astype(np.float32), vectors.astype(np.float32)
    distances = (q * q).sum(1)[:, None] + (v * v).sum(1) - 2 * (q @ v.T)
    computed = time.perf_counter()
    keys = distances.astype(np.int64) * len(v) + np.arange(len(v))
    nearest = np.sort(np.partition(keys, k - 1, axis=1)[:, :k], axis=1)
    return Found((nearest // len(v)).astype(np.int32), nearest % len(v), computed - started, time.perf_counter() - computed)


def draw(path: Path, queries: np.ndarray, found: Found, count: int) -> None:
    from gallery import Tile, gallery

    from wgdml.demo.colours import ramp

    def pixels(vector: np.ndarray) -> np.ndarray:
        return ramp((vector.reshape(SHAPE) + 31.0) / 62)

    shown = np.linspace(0, len(queries) - 1, min(len(queries), 8)).astype(int)
    vectors = made(found.indices[shown, :8])
    rows = []
    for q in shown:
        nearest = zip(found.distances[q, :8].tolist(), found.indices[q, :8].tolist(), strict=True)
        tiles = [Tile(pixels(vectors[index]), f"{index}   d {distance}") for distance, index in nearest]
        rows.append((Tile(pixels(queries[q]), f"query {q}"), tiles))
    title = f"Nearest of {count:,} vectors"
    subtitle = f"{SIZE} signed bytes each, squared distance d, every index the same as NumPy's"
    gallery(title, subtitle, rows, scale=6).save(path, format="PNG", optimize=True)


@click.command()
@click.option("--vectors", type=click.IntRange(1, 1 << 26), help="How many.  [default: a million; 200,000 on a software adapter]")
@click.option("--queries", type=click.IntRange(1, 256), default=64, show_default=True, help="How many, all at once.")
@click.option("-k", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many neighbours.")
@click.option(
    "--picture", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Save queries and neighbours as a PNG."
)
def main(vectors: int | None, queries: int, k: int, picture: Path | None) -> None:
    """The k nearest of a million vectors for each query, exact, on the GPU, checked with NumPy."""
    try:
        device = wgdml.default_device()
    except wgdml.NoAdapterError as problem:
        raise click.ClickException(str(problem)) from None
    info = device.adapter_info
    software = info["adapter_type"] == "CPU"
    count = vectors or (VECTORS_ON_SOFTWARE if software else VECTORS)
    starts = range(0, count, BLOCK)
    if k > (smallest := min(count - start for start in (*starts[:1], *starts[-1:]))):
        raise click.UsageError(f"-k {k} is more than the {smallest} vectors of the last block")

    asked = make_block(0, stream=1)[:queries]
    search = Search(device, asked, min(count, BLOCK))
    search.nearest(make_block(0)[:count], k)  # compiles the shaders
    found, reference = [], []
    columns = (
        TextColumn("searching"),
        BarColumn(),
        TextColumn("{task.completed:,} of {task.total:,} vectors"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=count)
        for number, start in enumerate(starts):
            block = make_block(number)[: count - start]
            found.append(search.nearest(block, k))
            reference.append(nearest_numpy(asked, block, k))
            bar.update(task, advance=len(block))
    best = merge(found, starts, k, device)
    # NumPy's own merge: a stable sort of few.
    numpys = np.concatenate([part.distances for part in reference], axis=1)
    order = np.argsort(numpys, axis=1, kind="stable")[:, :k]
    all_indices = np.concatenate([part.indices + start for part, start in zip(reference, starts, strict=True)], axis=1)
    right = np.take_along_axis(all_indices, order, 1)
    recall = float(np.mean([len(set(ours) & set(theirs)) / k for ours, theirs in zip(best.indices, right, strict=True)]))
    same = np.array_equal(best.indices, right) and np.array_equal(best.distances, np.take_along_axis(numpys, order, 1))

    table = Table(title=f"Top-{k} of {count:,} vectors, {queries} queries", title_justify="left")
    for heading in ("", "distances, s", "top-k, s"):
        table.add_column(heading, justify="right" if heading else "left")
    table.add_row(f"{info['device']} ({info['backend_type']})", f"{best.distance_seconds:.2f}", f"{best.select_seconds:.2f}")
    times = [sum(getattr(part, name) for part in reference) for name in ("distance_seconds", "select_seconds")]
    table.add_row("NumPy", *(f"{seconds:.2f}" for seconds in times))
    console = Console(width=None if sys.stdout.isatty() else 100, highlight=False)
    console.print(table)
    console.print(f"recall against NumPy: {recall:.4f}; every index the same: {'yes' if same else 'NO'}")
    if picture is not None:
        draw(picture, asked, best, count)
        console.print(f"wrote {picture}")
    if not same:
        raise click.ClickException("the neighbours differ from NumPy's")


if __name__ == "__main__":
    main()
