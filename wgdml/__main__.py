"""``python -m wgdml``: the same program as the ``wgdml`` command."""

from wgdml.cli import main

if __name__ == "__main__":
    main(prog_name="wgdml")
