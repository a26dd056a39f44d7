"""Whether the project is ready for a tag: ``check_release.py v1.2.3``. Says all that is not."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def problems(root: Path, tag: str) -> list[str]:
    """What keeps the tag from being released."""
    version = re.search(r'__version__ = "(.+)"', _text(root, "wgdml/_version.py"))
    cited = re.search(r"^version: (.+)$", _text(root, "CITATION.cff"), re.MULTILINE)
    changelog = _text(root, "CHANGELOG.md")
    found = []
    if not re.fullmatch(r"v\d+\.\d+\.\d+(?:(a|b|rc)\d+)?", tag):
        found.append(f"the tag must be like v1.2.3 or v1.2.3rc1, not {tag}")
    wanted = tag.removeprefix("v")
    for name, match in (("wgdml/_version.py", version), ("CITATION.cff", cited)):
        if match is None or match[1] != wanted:
            found.append(f"{name} has version {match and match[1]}, not {wanted}")
    if not re.search(rf"^## \[{re.escape(wanted)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
        found.append(f'CHANGELOG.md has no line "## [{wanted}] - YEAR-MONTH-DAY"')
    unreleased = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if unreleased and unreleased[1].strip():
        found.append('CHANGELOG.md still has entries under "Unreleased"')
    return found


def _text(root: Path, name: str) -> str:
    return (root / name).read_text(encoding="utf-8")


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = problems(ROOT, sys.argv[1])
    for problem in found:
        print(problem, file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
