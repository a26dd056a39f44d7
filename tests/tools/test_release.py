"""What a release needs: its workflow, the citation, Read the Docs, and the check of a tag."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import checks
import pytest
import yaml

import wgdml

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def loaded(name: str) -> dict:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


@pytest.fixture
def problems():
    return checks.program("scripts/check_release.py").problems


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """A project that is ready for v1.2.3."""
    (tmp_path / "wgdml").mkdir()
    (tmp_path / "wgdml/_version.py").write_text('__version__ = "1.2.3"\n', encoding="utf-8")
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 1.2.3\n", encoding="utf-8")
    text = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n- New.\n"
    (tmp_path / "CHANGELOG.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_project_that_is_ready_has_no_problems(problems, ready: Path) -> None:
    assert problems(ready, "v1.2.3") == []


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("wgdml/_version.py", "1.2.3", "1.2.2", "wgdml/_version.py has version 1.2.2, not 1.2.3"),
        ("CITATION.cff", "\nversion: 1.2.3", "", "CITATION.cff has version None, not 1.2.3"),
        ("CHANGELOG.md", "- 2026-01-31", "", 'CHANGELOG.md has no line "## [1.2.3] - YEAR-MONTH-DAY"'),
        ("CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- More.\n", 'CHANGELOG.md still has entries under "Unreleased"'),
    ],
)
def test_what_is_missing_is_said(problems, ready: Path, file: str, old: str, new: str, problem: str) -> None:
    text = (ready / file).read_text(encoding="utf-8")
    (ready / file).write_text(text.replace(old, new), encoding="utf-8")
    assert problems(ready, "v1.2.3") == [problem]


def test_a_tag_is_a_version(problems, ready: Path) -> None:
    assert problems(ready, "1.2.3") == ["the tag must be like v1.2.3 or v1.2.3rc1, not 1.2.3"]


def test_the_citation_is_of_this_version() -> None:
    citation = loaded("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["version"] == wgdml.__version__ and citation["title"] == PROJECT["name"]
    assert citation["license"] == PROJECT["license"] and citation["keywords"] == PROJECT["keywords"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in PROJECT["authors"]]


def test_the_release_publishes_what_was_tested() -> None:
    ci, release = loaded(".github/workflows/ci.yml"), loaded(".github/workflows/release.yml")
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML takes "on" for true
    assert "workflow_call" in ci[True]
    jobs = release["jobs"]
    assert jobs["build"]["uses"] == "./.github/workflows/ci.yml"
    assert [jobs[name]["needs"] for name in ("build", "attest", "publish")] == ["check", "build", "attest"]
    (built,) = [step["with"] for step in ci["jobs"]["wheel"]["steps"] if "upload-artifact" in step.get("uses", "")]
    for name in ("attest", "publish"):
        assert jobs[name]["permissions"]["id-token"] == "write"
        assert jobs[name]["steps"][0]["with"] == built
    assert jobs["publish"]["environment"] == "release"
    assert release["permissions"] == {"contents": "read"}


def test_every_action_has_a_version_and_every_script_is_there() -> None:
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        for action in re.findall(r"uses: (\S+)", text):
            assert re.fullmatch(r"[\w-]+/[\w-]+@v[\d.]+|\./\.github/workflows/\w+\.yml", action), action
        for script in re.findall(r"scripts/\w+\.py", text):
            assert (ROOT / script).is_file(), script
        assert "secrets." not in text


def test_read_the_docs_builds_as_make_docs_does() -> None:
    config = loaded(".readthedocs.yaml")
    assert config["version"] == 2
    assert config["mkdocs"] == {"configuration": "mkdocs.yml", "fail_on_warning": True}
    (install,) = config["python"]["install"]
    assert install["path"] == "." and set(install["extra_requirements"]) <= set(PROJECT["optional-dependencies"])
