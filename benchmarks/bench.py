"""``python benchmarks/bench.py``: ``wgdml bench``, from a checkout."""

import sys

from wgdml.cli import main

if __name__ == "__main__":
    main(["bench", *sys.argv[1:]], prog_name="wgdml")
