"""The table that ``scripts/test_portability.py --write`` puts into the documentation."""

from __future__ import annotations

from pathlib import Path

import checks
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script():
    return checks.program("scripts/test_portability.py")


def test_the_table_has_every_suite_of_every_configuration(script):
    suite = ["api/a", "api/b"]
    good = script.Row("one", {}, suite, device="adapter A", passed=1234, suites={"api/a": [1200, 0], "api/b": [34, 0]}, seconds=5)
    bad = script.Row("two", {}, suite[:1], "adapter B", passed=7, failed=1, suites={"api/a": [7, 1]}, problem="not | so\nwell")
    text = script.markdown([good, bad], suite, "5 minutes on 2 cores")
    for line in (
        "- 5 minutes on 2 cores",
        "| suite | one | two |",
        "| api/a | 1,200 | 7, **1 failed** |",
        "| api/b | 34 |  |",
        "| **passed** | 1,234 | 7 |",
        "| **failed** | 0 | 1 |",
        "| one | adapter A |  |",
        "| two | adapter B | not / so well |",
    ):
        assert line in text.splitlines()


def test_it_is_written_between_the_marks_alone(script, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{script.START}\nold\n{script.END}\nafter\n", encoding="utf-8")
    script.write("new", page)
    script.write("newer", page)
    assert page.read_text(encoding="utf-8") == f"before\n{script.START}\n\nnewer\n\n{script.END}\nafter\n"
    page.write_text("no marks\n", encoding="utf-8")
    with pytest.raises(ValueError, match="must have"):
        script.write("new", page)
    assert page.read_text(encoding="utf-8") == "no marks\n"


def test_the_page_of_the_documentation_has_the_marks(script):
    text = script.PAGE.read_text(encoding="utf-8")
    assert text.count(script.START) == text.count(script.END) == 1


def test_every_suite_is_there(script):
    assert all((ROOT / script.path_of(name)).is_file() for name in script.SUITE)
    assert {name for row in script.configurations() for name in row.suite} == set(script.SUITE)
