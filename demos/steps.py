"""The bitonic network and top-k by delegates, step by step: ``python -m wgdml.demo.steps``."""

from __future__ import annotations

from wgdml.demo.steps import main

if __name__ == "__main__":
    main()
