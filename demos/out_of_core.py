"""Argmax and top-k of a file larger than the device's memory, timed beside a bare upload of it.

``--gigabytes 8 --device-mib 256`` makes a file of that size in ``--folder`` and a device whose
buffers are no larger than that.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import wgdml
from wgdml import outofcore
from wgdml.runtime.transfers import uploads


def gigabytes(text: str) -> float:
    size = float(text)
    if not 1e-6 <= size < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number from 1e-06 on, not {text}")
    return size


def whole(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, not {text}")
    return int(text)


def make(path: Path, count: int) -> np.memmap:
    x = np.memmap(path, np.float32, "w+", shape=(count,))
    tile = np.random.default_rng(0).standard_normal(1 << 22, np.float32)
    for start in range(0, count, tile.size):
        x[start : start + tile.size] = tile[: count - start]
    x[[count // 3, count // 2, count - 1]] = 99.0
    return x


def upload(device: wgdml.Device, x: np.memmap, block: int) -> None:
    with uploads(device.context, device.buffers, block) as put:
        for start in range(0, x.size, block // 4):
            put(x[start : start + block // 4])


def seconds(work: Callable[[], object], repeats: int) -> float:
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Selections of a file larger than the device's memory.")
    parser.add_argument("--gigabytes", type=gigabytes, default=0.5, help="size of the file (default 0.5)")
    parser.add_argument("--device-mib", type=whole, default=256, help="largest buffer of the device (default 256)")
    parser.add_argument("--block-mib", type=whole, default=None, help="size of a block (default: wgdml's choice)")
    parser.add_argument("--folder", help="where to make the file (default: the system's temporary folder)")
    parser.add_argument("--repeats", type=whole, default=1, help="timed runs of each (default 1)")
    options = parser.parse_args(arguments)

    adapter = wgdml.default_device().gpu_device.adapter
    limit = options.device_mib << 20
    limits = {"max-buffer-size": limit, "max-storage-buffer-binding-size": min(limit, 128 << 20)}
    features = [f for f in ("subgroup",) if f in adapter.features]
    device = wgdml.Device(adapter.request_device_sync(required_limits=limits, required_features=features))
    block = min(32 << 20, limit // 8) if options.block_mib is None else options.block_mib << 20
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        x = make(Path(folder, "array.dat"), int(options.gigabytes * 1e9) // 4)
        best = [x.size // 3, x.size // 2, x.size - 1]
        print(f"{x.nbytes / 1e9:.2f} GB through {device!r} of {options.device_mib} MiB, blocks of {block >> 20} MiB")
        bare = seconds(lambda: upload(device, x, block), options.repeats)
        print(f"{'bare upload':14} {x.nbytes / bare / 1e9:6.2f} GB/s")

        def argmax() -> None:
            assert int(outofcore.argmax(x, device=device, block_bytes=block)) == best[0]

        def top_k() -> None:
            assert outofcore.top_k(x, 100, device=device, block_bytes=block).indices[:3].tolist() == best

        for name, work in (("argmax", argmax), ("top-k, k 100", top_k)):
            taken = seconds(work, options.repeats)
            print(f"{name:14} {x.nbytes / taken / 1e9:6.2f} GB/s, {100 * bare / taken:.0f}% of the bare upload")


if __name__ == "__main__":
    main()
