"""The README's examples are run as they stand, and what it points to exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import wgdml.cli

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PYTHON = [text for language, text in BLOCKS if language == "python"]
COMMANDS = [
    line.split("#")[0].strip()
    for language, text in BLOCKS
    if language == "sh"
    for line in text.splitlines()
    if line.startswith("wgdml ") and not line.startswith("wgdml demo ")  # see test_demo.py
]


def test_there_are_examples() -> None:
    assert len(PYTHON) >= 3 and len(COMMANDS) >= 4


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_python_example(number: int, device) -> None:
    code = compile(PYTHON[number], f"README.md, Python example {number + 1}", "exec")
    exec(code, {"__name__": "__main__"})


@pytest.mark.parametrize("command", COMMANDS)
def test_command_lines_are_understood(command: str) -> None:
    # The files of the examples do not exist: everything before reading them must be right.
    words = shlex.split(re.sub(r"[<>] *\S+", "", command))[1:]
    if words[0] == "bench":
        words.append("--list")  # a whole run is tested in test_bench.py
    if words[0] == "tune":
        words.append("--help")  # likewise, in test_tune.py
    result = CliRunner().invoke(wgdml.cli.main, words, input=b"")
    if words[0] in ("info", "bench", "tune", "selftest"):
        assert result.exit_code == 0
    else:
        assert re.fullmatch(r"wgdml: error: (cannot read \S+: No such file.*|standard input is empty.*)\n", result.stderr)


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((?!https?:)([^)#]+)", README))))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


def test_make_targets_exist() -> None:
    targets = re.findall(r"^make (\w+)", "\n".join(text for _, text in BLOCKS), re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
