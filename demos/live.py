"""Argmax and top-k at work every frame, in a window: ``wgdml demo``, with the same options."""

from __future__ import annotations

from wgdml.demo.command import demo_command

if __name__ == "__main__":
    demo_command()
