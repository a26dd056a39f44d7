"""requirements-dev.lock has every package that the project asks for, with hashes, no addresses."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]


def test_lock():
    text = (ROOT / "requirements-dev.lock").read_text()
    assert "://" not in text and "--index-url" not in text
    entries = re.split(r"\n(?=\S)", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    locked: dict[str, list[str]] = {}
    for entry in filter(None, entries):
        found = re.match(r"([\w.-]+)(?:\[[\w,-]+\])?==([\w.+!-]+)", entry)
        assert found and "--hash=sha256:" in entry, entry
        locked.setdefault(canonicalize_name(found[1]), []).append(found[2])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for wanted in project["dependencies"] + [r for extra in project["optional-dependencies"].values() for r in extra]:
        requirement = Requirement(wanted)
        versions = locked.get(canonicalize_name(requirement.name))
        assert versions, f"{requirement.name} is not locked: run make lock"
        assert all(requirement.specifier.contains(v) for v in versions), f"{wanted} is locked at {versions}: run make lock"
