"""The vector search: its neighbours are a plain search's, and it notices when they are not."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import digits
import numpy as np
import pytest
import vector_search
from click.testing import CliRunner
from PIL import Image


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program, with blocks small enough for several of them."""
    monkeypatch.setattr(vector_search, "BLOCK", 1000)
    return vector_search


def test_it_finds_what_a_plain_search_finds(search: ModuleType, device) -> None:
    queries = search.make_block(0, stream=1)[:7]
    vectors = np.concatenate([search.make_block(0), search.make_block(1), search.make_block(2)[:130]])
    vectors[[5, 1700, 2100]] = queries[3]  # ties within a block and across them
    engine = search.Search(device, queries, 1000)
    starts = range(0, len(vectors), 1000)
    best = search.merge([engine.nearest(vectors[s : s + 1000], 12) for s in starts], starts, 12, device)

    differences = queries[:, None].astype(int) - vectors.astype(int)
    distances = (differences**2).sum(2)
    order = np.argsort(distances, axis=1, kind="stable")[:, :12]
    assert np.array_equal(best.indices, order)
    assert np.array_equal(best.distances, np.take_along_axis(distances, order, 1))
    assert best.indices[3, :3].tolist() == [5, 1700, 2100]


def test_it_reports_full_recall_and_saves_a_picture(search: ModuleType, device, tmp_path: Path) -> None:
    out = tmp_path / "a.png"
    result = CliRunner().invoke(search.main, ["--vectors", "3500", "--queries", "5", "--picture", str(out)])
    assert result.exit_code == 0, result.output
    assert "recall against NumPy: 1.0000; every index the same: yes" in result.output
    with Image.open(out) as image:
        assert image.width > 900 and len(image.getcolors(1 << 20)) > 100


def test_it_fails_when_a_neighbour_is_missed(search: ModuleType, device, monkeypatch: pytest.MonkeyPatch) -> None:
    right = search.Search.nearest

    def wrong(self, vectors, k):
        found = right(self, vectors, k)
        found.indices[2, 0] += 1
        return found

    monkeypatch.setattr(search.Search, "nearest", wrong)
    result = CliRunner().invoke(search.main, ["--vectors", "1500", "--queries", "5"])
    assert result.exit_code == 1
    assert "differ from NumPy's" in result.output and "every index the same: NO" in result.output


def test_more_neighbours_than_vectors_are_refused(search: ModuleType, device) -> None:
    result = CliRunner().invoke(search.main, ["--vectors", "9"])
    assert result.exit_code == 2 and "-k 10" in result.output


def test_the_digits_and_their_neighbours_make_a_picture(device, tmp_path: Path) -> None:
    out = tmp_path / "digits.png"
    assert digits.main(["--json", "--picture", str(out)]) == 0
    with Image.open(out) as image:
        assert image.height > 900
        colours = {colour for _, colour in image.getcolors(1 << 20)}
    assert {(89, 204, 140), (255, 92, 133)} <= colours  # right and wrong neighbours are both there
