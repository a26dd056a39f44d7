"""Top-k of a Dask array on 1, 2, ... worker processes, each with a GPU of its own if it can."""

from __future__ import annotations

import argparse
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import wgdml.dask


def whole(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, not {text}")
    return int(text)


def adapter_of_worker() -> str:
    return repr(wgdml.dask.worker_device())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Scaling of wgdml.dask over worker processes.")
    parser.add_argument("--workers", type=whole, default=2, help="most worker processes (default 2)")
    parser.add_argument("--chunks", type=whole, default=16, help="chunks of the array (default 16)")
    parser.add_argument("--elements", type=whole, default=1 << 20, help="elements of a chunk (default 2**20)")
    parser.add_argument("-k", type=whole, default=10)
    options = parser.parse_args(arguments)

    x = da.random.default_rng(0).standard_normal(options.chunks * options.elements, dtype=np.float32, chunks=options.elements)
    results = []
    count = 1
    while count <= options.workers:
        with (
            LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            for worker, adapter in sorted(client.run(adapter_of_worker).items()):
                print(f"  {worker}: {adapter}")
            kept = x.persist()
            dask.compute(*wgdml.dask.top_k(kept, options.k))  # compiles the shaders in every worker
            start = time.perf_counter()
            results.append(dask.compute(*wgdml.dask.top_k(kept, options.k)))
            taken = time.perf_counter() - start
        print(f"{count} workers: {taken:.2f} s, {x.nbytes / taken / 1e9:.2f} GB/s")
        count *= 2
    assert all(np.array_equal(indices, results[0][1]) for _, indices in results)


if __name__ == "__main__":
    main()
