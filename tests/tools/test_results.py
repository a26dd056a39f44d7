"""``scripts/write_results.py``: the page of benchmark results, its files, and runs it takes."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

import checks
import pytest
from click.testing import CliRunner
from test_tune import TUNED

import wgdml.cli

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/write_results.py"
NAME = "2026-01-31-some-words.json"
GOOD = {
    "date": "2026-01-31",
    "commit": "0123abc",
    "adapter": "A GPU",
    "driver": "Vulkan, 1.2",
    "what": "Top-k | before and after",
    "unit": "us",
    "rows": [
        {"case": "topk:3x4:k2", "before": 1200.0, "after": [0.5, 0.25], "exact": True},
        {"case": "a*b", "after": 7, "with_": ["x", "y"]},
    ],
}


@pytest.fixture
def script():
    return checks.program("scripts/write_results.py")


def test_the_page_is_what_the_files_make():
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_files_are_written_as_they_are(script):
    for path in script.FOLDER.glob("*.json"):
        assert script.text_of(script.read(path)) == path.read_text(encoding="utf-8"), path.name


def test_a_table_has_every_figure(script):
    script.check(NAME, GOOD)
    text = script.page(f"before\n{script.BEGIN}old{script.END}\nafter\n", {NAME: GOOD})
    assert text.startswith(f"before\n{script.BEGIN}\n\n{script.overview({})}\n\n## A GPU\n\n### 2026-01-31-some-words\n\n")
    assert text.endswith(f"\n\n{script.END}\nafter\n")
    for line in (
        "Top-k \\| before and after. In us.",
        "Vulkan, 1.2, commit `0123abc`.",
        "| case | before | after | exact | with |",
        "|---|---:|---:|---|---|",
        "| topk:3x4:k2 | 1,200 | 0.25 to 0.5 | yes |  |",
        "| a\\*b |  | 7 |  | x, y |",
    ):
        assert line in text.splitlines()


def test_the_newest_of_an_adapter_comes_first(script):
    other = GOOD | {"date": "2026-02-01"}
    text = script.sections({NAME: GOOD, "2026-02-01-a.json": other, "2026-01-31-b.json": GOOD | {"adapter": "a CPU"}})
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## a CPU",
        "### 2026-01-31-b",
        "## A GPU",
        "### 2026-02-01-a",
        "### 2026-01-31-some-words",
    ]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"extra": "x"}, "extra is no field of a result"),
        ({"adapter": ""}, "adapter must be a text"),
        ({"driver": None}, "driver must be a text"),
        ({"notes": 3}, "notes must be a text"),
        ({"date": "2026-13-01"}, "month must be in 1..12"),
        ({"date": "2026-02-01"}, "its name must be 2026-02-01-WORDS.json"),
        ({"commit": "main"}, "commit must be 7 to 40 hexadecimal digits, not 'main'"),
        ({"unit": "hours"}, "unit must be one of ns, us, ms, s, GB/s, numbers, not 'hours'"),
        ({"rows": []}, "rows must be a list of at least one row"),
        ({"rows": [3]}, "row 1 must be an object"),
        ({"rows": [{"case": "a", "Time": 1}]}, "the name 'Time' must be of small letters"),
        ({"rows": [{"case": "a", "time": None}]}, "time must be a figure"),
        ({"rows": [{"case": "a", "time": float("nan")}]}, "time must be a figure"),
        ({"rows": [{"case": "a", "time": [1, 2, 3]}]}, "time must be a figure"),
        ({"rows": [{"case": "a"}]}, "must have a text that says what it is, and a figure"),
        ({"rows": [{"time": 1}]}, "must have a text that says what it is, and a figure"),
    ],
)
def test_a_file_that_breaks_a_rule_is_named_with_it(script, tmp_path, change, rule):
    path = tmp_path / NAME
    path.write_text(json.dumps(GOOD | change), encoding="utf-8")
    with pytest.raises(ValueError, match=f"^{NAME}: ") as raised:
        script.read(path)
    assert rule in str(raised.value)


def test_a_run_of_the_benchmark_becomes_a_file(script, tmp_path, monkeypatch):
    out = tmp_path / "out.json"
    options = ["bench", "--quick", "--cases", "argmax:7x11:axis0,topk:5x300:k7", "--device-only", "--peers", "numpy"]
    ran = CliRunner().invoke(wgdml.cli.main, [*options, "--json", str(out)])
    assert ran.exit_code == 0, ran.output
    document = json.loads(out.read_text(encoding="utf-8"))
    name, result = script.taken(document, "0123abc")
    assert name.startswith(f"{result['date']}-quick-") and result["rows"][0]["case"] == "argmax:7x11:axis0"
    assert {"wgdml", "floor", "numpy"} <= set(result["rows"][1])
    monkeypatch.setattr(script, "FOLDER", tmp_path)
    assert script.read(script.add(out, "0123abc"))["rows"] == result["rows"]
    with pytest.raises(ValueError, match="is there already"):
        script.add(out, "0123abc")

    for change, rule in (
        ({"schema": 2}, "not what wgdml bench --json writes"),
        ({"complete": False}, "did not come to its end"),
        ({"cases": [document["cases"][0] | {"exact": False, "problem": "an index differs"}]}, "an index differs"),
    ):
        with pytest.raises(ValueError, match=rule):
            script.taken(copy.deepcopy(document) | change, "0123abc")


def test_a_run_of_tune_becomes_a_file(script, tmp_path, monkeypatch, capsys):
    """Dropped into the folder as it is."""
    dropped = tmp_path / "mine.json"
    dropped.write_text(json.dumps(TUNED, indent=1), encoding="utf-8")
    monkeypatch.setattr(script, "FOLDER", tmp_path)
    monkeypatch.setattr(script, "ROOT", tmp_path)
    monkeypatch.setattr(script, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(script, "commit_here", lambda: "0123abc")
    script.PAGE.write_text(f"{script.BEGIN}{script.END}")
    monkeypatch.setattr(sys, "argv", ["write_results.py", "--check"])
    assert script.main() == 1 and "mine.json is a run as wgdml wrote it" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["write_results.py"])
    assert script.main() == 0 and [p.name for p in tmp_path.glob("*.json")] == ["2026-11-24-tune-a-gpu.json"]
    for line in ("| reads, GB/s | 5 |  |", "| serial_select.slices | 16 | 8 |", "| a barrier, ns | 200 |  |"):
        assert line in script.PAGE.read_text().splitlines()
    assert "9 problems that it was not tuned by are 1.10 times as fast" in script.PAGE.read_text().replace("\n", " ")
    with pytest.raises(ValueError, match="two plans had two answers: topk:9x9:k2"):
        script.taken(TUNED | {"wrong": ["topk:9x9:k2"]}, "0123abc")


def test_the_page_begins_with_each_adapters_random_problems(script):
    rows = [{"case": str(n), "wgdml": 10.0, "times_floor": n + 1.0, "pytorch": 20.0} for n in range(10)]
    older = GOOD | {"rows": [{"case": "a", "wgdml": 1, "times_floor": 9}]}
    text = script.overview({NAME: older, "2026-02-01-a.json": GOOD | {"rows": rows}, "2026-02-02-b.json": GOOD})
    assert text.splitlines()[2:] == ["| A GPU | Vulkan, 1.2 | 10 | 4.53 | 10.0 | 10.0 | 2.0 times as long |"]


def test_three_figures_are_enough(script):
    assert [script.rounded(x) for x in (0.0, 0.012345, 1.2345, 99.96, 1234.56)] == [0.0, 0.0123, 1.23, 100.0, 1235.0]
