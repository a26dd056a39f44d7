"""The learning demo: its diagrams compute what they claim, and its pictures show it."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from diagrams import delegates, network
from PIL import Image
from steps import DIAGRAMS, WINDOW, main, values_of

import wgdml


@pytest.mark.parametrize("size", [2, 8, 32, 64])
@pytest.mark.parametrize("most", [1, 3, 1000])
def test_the_network_sorts_as_the_library_does(size: int, most: int, device) -> None:
    values = np.random.default_rng(size + most).integers(0, most, size).astype(np.int32)
    steps = network(values.tolist())
    assert len(steps) == size.bit_length() * (size.bit_length() - 1) // 2
    assert [index for _, index in steps[-1].pairs] == wgdml.argsort(values, descending=True).tolist()
    for step in steps:
        touched = sorted(place for low, high, _ in step.comparators for place in (low, high))
        assert touched == list(range(size))  # so a step can run at once


@pytest.mark.parametrize(("count", "subsets", "k"), [(64, 8, 4), (64, 16, 16), (128, 4, 1), (8, 8, 8)])
@pytest.mark.parametrize("most", [1, 5, 1000])
def test_the_delegates_lead_to_the_library_s_top_k(count: int, subsets: int, k: int, most: int, device) -> None:
    values = np.random.default_rng(count + k).integers(0, most, count).astype(np.int32)
    found = delegates(values.tolist(), subsets, k)
    best = wgdml.top_k(values, k)
    assert found.result == tuple(zip(best.values.tolist(), best.indices.tolist(), strict=True))
    assert set(found.result) <= set(found.candidates)


def test_what_cannot_be_drawn_is_refused() -> None:
    for wrong in ([], [1], [1, 2, 3]):
        with pytest.raises(ValueError, match="power of two"):
            network(wrong)
    with pytest.raises(ValueError, match="power of two"):
        delegates([1, 2, 3, 4, 5, 6], 2, 1)
    for k in (0, 3):
        with pytest.raises(ValueError, match=r"k must lie in \[1, 2\]"):
            delegates([1, 2, 3, 4], 2, k)


@pytest.mark.parametrize("name", DIAGRAMS)
def test_the_values_shown_have_ties_and_every_step_says_what_happens(name: str) -> None:
    values = values_of(name)
    assert len(set(values)) < len(values)
    diagram = DIAGRAMS[name](values)
    captions = [diagram.caption(step) for step in range(diagram.last + 1)]
    assert len({first for first, _ in captions}) == len(captions)


@pytest.mark.parametrize("name", DIAGRAMS)
def test_pictures_and_animation_are_written(name: str, tmp_path: Path) -> None:
    picture, animation = tmp_path / "a.png", tmp_path / "a.gif"
    result = CliRunner().invoke(main, [name, "--picture", str(picture), "--animation", str(animation)])
    assert result.exit_code == 0, result.output
    with Image.open(picture) as image:
        assert image.size == WINDOW
    diagram = DIAGRAMS[name](values_of(name))
    with Image.open(animation) as frames:
        assert frames.n_frames == diagram.last + 1
        pictures = []
        for number in range(frames.n_frames):
            frames.seek(number)
            pictures.append(np.asarray(frames.convert("RGB")).astype(int))
    for one, other in pairwise(pictures):
        assert (np.abs(one - other).max(2) > 20).sum() > 500  # every step shows something new


def test_a_step_that_is_not_there_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["delegates", "--picture", str(tmp_path / "a.png"), "--step", "7"])
    assert result.exit_code == 2 and "the last step of delegates is 6" in result.output


@pytest.mark.parametrize("script", ["live", "steps"])
def test_the_scripts_run_from_a_checkout(script: str) -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, str(root / "demos" / f"{script}.py"), "--help"]
    result = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    assert "Usage:" in result.stdout
