"""What wgdml adds to wgpu on the host: cached calls and transfers beside the barest, in turns.

python benchmarks/host_overhead.py [--profile]
"""

from __future__ import annotations

import argparse
import cProfile
import pstats

import wgdml
from wgdml.bench import host, timing
from wgdml.bench.data import make_flat

#: Times the bare call: an encode, dispatch and submit, and a write, dispatch and staged read.
GOALS = {"tensor_to_tensor": 1.5, "numpy_to_numpy": 1.2}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", action="store_true", help="also say where a call spends its time")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each group of calls (default: 3)")
    options = parser.parse_args()
    device = wgdml.default_device()
    clock = timing.Clock(device)
    print(device)
    calls = host.call_times(clock, options.seconds)
    for group, goal in GOALS.items():
        print(f"{group.replace('_', ' ')}, goal: within {goal} of the bare call")
        for name, us in calls[group + "_us"].items():
            print(f"  {name:24} {us:8.1f} us  {us / calls[group + '_us']['bare']:5.2f}")
    transfers = host.transfer_rates(clock)
    print(f"transfers of {transfers['bytes'] >> 20} MiB, goal: 0.9 of the best kept buffer or better")
    for name, rate in transfers["bytes_per_second"].items():
        print(f"  {name:32} {rate / 1e9:6.2f} GB/s  {transfers['share_of_best'].get(name, float('nan')):5.2f}")
    if options.profile:
        x = make_flat("random", 1024)
        tensor = wgdml.asarray(x)
        for name, call in {"Tensor": lambda: wgdml.top_k(tensor, 5), "NumPy": lambda: wgdml.top_k(x, 5)}.items():
            print(f"\n500 top_k of a {name}")
            with cProfile.Profile() as profile:
                for _ in range(500):
                    call()
                clock.wait()
            pstats.Stats(profile).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
