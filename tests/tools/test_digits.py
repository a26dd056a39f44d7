"""The main job: handwritten digits, recognised on the GPU and checked against NumPy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import digits
import numpy as np
import pytest

import wgdml

PROGRAM = Path(__file__).resolve().parents[2] / "demos" / "digits.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    # The program imports the very library that is tested, installed or not.
    environment = os.environ | {"PYTHONPATH": str(Path(wgdml.__file__).parent.parent)}
    command = [sys.executable, str(PROGRAM), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


def test_it_recognises_nearly_all_digits_exactly_as_numpy_does() -> None:
    result = run("--json")
    assert result.returncode == 0, result.stderr
    facts = json.loads(result.stdout)
    assert facts["same_as_numpy"] is True
    assert (facts["known"], facts["unknown"], facts["k"]) == (1348, 449, 5)
    assert facts["accuracy"] > 0.98
    assert facts["wgdml_ms"] > 0 and facts["numpy_ms"] > 0


def test_it_prints_tables_for_people() -> None:
    result = run("-k", "3")
    assert result.returncode == 0, result.stderr
    assert "yes, every index" in result.stdout
    assert "Top-3 of 449 x 1348 distances" in result.stdout


@pytest.mark.parametrize("k", ["0", "1349", "five"])
def test_it_refuses_a_bad_k(k: str, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        digits.main(["-k", k])
    assert caught.value.code == 2
    assert k in capsys.readouterr().err


@pytest.mark.parametrize("k", [1, 2, 100, 1348])
def test_both_ways_of_selecting_agree_with_a_stable_sort(device, k: int) -> None:
    known, _, unknown, _ = digits.split()
    distances = digits.squared_distances(unknown[:40], known)
    assert np.array_equal(distances[3, 5], ((unknown[3] - known[5]) ** 2).sum())
    in_order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    assert np.array_equal(digits.select_numpy(distances, k), in_order)
    assert np.array_equal(digits.select_wgdml(distances, k), in_order)


def test_it_fails_when_the_answers_differ(device, monkeypatch, capsys) -> None:
    right = digits.select_wgdml

    def wrong(distances: np.ndarray, k: int) -> np.ndarray:
        indices = np.array(right(distances, k))
        indices[7, 0] += 1
        return indices

    monkeypatch.setattr(digits, "select_wgdml", wrong)
    assert digits.main(["--json"]) == 1
    out = capsys.readouterr()
    assert json.loads(out.out)["same_as_numpy"] is False
    assert "neighbours differ from NumPy's" in out.err
