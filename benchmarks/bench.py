"""``python benchmarks/bench.py``: the same as ``wgdml bench``, from a checkout. The code is in ``wgdml/bench``."""

import sys

from wgdml.cli import main

if __name__ == "__main__":
    main(["bench", *sys.argv[1:]], prog_name="wgdml")
