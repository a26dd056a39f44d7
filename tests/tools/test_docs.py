"""The documentation: every Python block runs, the site builds, what it names is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import wgdml
from wgdml import shaders
from wgdml.runtime import default
from wgdml.runtime.device import open_default

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EVERYWHERE = "\n".join([*TEXTS.values(), CONTRIBUTING])


def blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def classes() -> dict[str, list[str]]:
    """What the reference lists of each class."""
    listed = r"^::: wgdml\.([A-Z]\w*)\n    options:\n      members:(.*?)(?=^:::|\n\n)"
    entries = re.findall(listed, TEXTS["api.md"], re.MULTILINE | re.DOTALL)
    return {owner: re.findall(r"\w+", members) for owner, members in entries}


CLASSES = classes()
BUGS = "driver-bugs.md"  # its programs end their process


@pytest.mark.parametrize("page", [name for name, text in TEXTS.items() if blocks(text) and name != BUGS])
def test_every_python_block_runs(page: str, device, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # some pages write files
    monkeypatch.setenv("RENDERCANVAS_FORCE_OFFSCREEN", "1")
    if "get_default_device()" in "".join(blocks(TEXTS[page])):  # no other is open yet
        monkeypatch.setattr(default, "_device", None)
        monkeypatch.setattr(default, "_make", open_default)
    namespace = {"__name__": "__main__"}  # one for all the blocks of a page
    for number, block in enumerate(blocks(TEXTS[page]), 1):
        exec(compile(block, f"docs/{page}, Python block {number}", "exec"), namespace)


@pytest.mark.parametrize("number", range(1, len(blocks(TEXTS[BUGS]))))
def test_every_bug_is_as_described(number: int, device) -> None:
    # One that is mended fails here: its workaround may go.
    start, *programs = blocks(TEXTS[BUGS])
    program = programs[number - 1]
    if "RLIMIT_AS" in program and device.adapter_info["adapter_type"] != "CPU":
        return  # limits the memory of the host, which is the device's on a software adapter only
    run = subprocess.run([sys.executable, "-c", start + program], capture_output=True, text=True, timeout=60)
    comment = program.rpartition("  # ")[2]
    if comment.startswith("accepted"):
        assert run.returncode == 0, run.stderr
    elif outputs := re.match(r'"(\w+)" with (Mesa [\d.]+); WGSL promises "(\w+)"', comment):
        assert run.returncode == 0, run.stderr
        faulty, driver, promised = outputs.groups()
        here = device.adapter_info["description"]
        if here.startswith(driver):
            assert run.stdout.strip() == faulty, f"{here} is mended, or this program does not show it: see docs/{BUGS}"
        else:
            assert run.stdout.strip() == promised, f"{here} has the bug of {driver} too: say so in docs/{BUGS}"
    else:
        message = re.search(r'"Error in wgpuQueueSubmit: |"(.+?)"|GPUValidationError: (.+)', comment)
        assert message and run.returncode != 0
        expected = message[1] or message[2] or "has been destroyed"
        assert expected.strip(".\n") in run.stderr
        assert (run.returncode < 0) == ("SIGABRT" in comment)


def test_the_site_builds_without_a_warning(tmp_path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert (tmp_path / "site" / "index.html").is_file()
    reference = (tmp_path / "site" / "api.html").read_text(encoding="utf-8")
    for owner, members in CLASSES.items():
        for member in members:
            assert f'id="wgdml.{owner}.{member}"' in reference, f"{owner}.{member} has no docstring"


def test_the_reference_names_the_members_of_classes() -> None:
    for owner, members in CLASSES.items():
        known = getattr(wgdml, owner)
        public = {name for name in {*vars(known), *known.__annotations__} if not name.startswith("_")}
        assert set(members) - {"__call__"} == public, owner


def test_the_reference_names_the_whole_public_interface() -> None:
    named = set(re.findall(r"^::: wgdml\.(?:contract\.)?(\w+)$", TEXTS["api.md"], re.MULTILINE))
    assert set(wgdml.__all__) - {"__version__"} <= named


def test_the_map_of_the_code_is_true() -> None:
    code_map = CONTRIBUTING[CONTRIBUTING.index("[start:map]") :]
    for path in re.findall(r"`([\w./-]+/[\w./-]*)`", EVERYWHERE):
        if path.split("/")[0] in ("wgdml", "shaders", "tests", "docs", "demos", "benchmarks", "scripts", ".github"):
            # Words in capitals stand for a file to come.
            assert (ROOT / re.sub(r"[^/]*[A-Z]{4,}.*", "", path)).exists(), path
    for path in (ROOT / "wgdml").iterdir():
        if path.suffix == ".py" and path.stem not in ("__init__", "_version"):
            assert f"`wgdml/{path.name}`" in code_map, path
        if (path / "__init__.py").is_file():
            assert f"`wgdml/{path.name}/`" in code_map, path
    for folder in {path.parent.relative_to(ROOT / "shaders") for path in (ROOT / "shaders").rglob("*.wgsl")}:
        assert f"{folder.as_posix()}/`" in code_map, folder
    assert {name.split("/")[0] for name in shaders.names()} == {
        path.name for path in (ROOT / "shaders").iterdir() if path.name != "lib"
    }


def test_the_rules_in_the_documentation_are_the_planners() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts/write_rules.py", "--check"], env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, "run scripts/write_rules.py"


def test_the_workflow_tries_every_python_on_every_system() -> None:
    text = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    for name in ("linux", "others", "smoke"):
        assert jobs[name]["strategy"]["matrix"]["python"] == pythons
    for path in re.findall(r"tests/[\w/]+\.py", text):
        assert (ROOT / path).is_file(), path
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"run: make (\w+)", text):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("text", [CONTRIBUTING, *TEXTS.values()], ids=["CONTRIBUTING.md", *TEXTS])
def test_make_targets_exist(text: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z][\w-]*)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_log_is_short_decisions_with_their_figures() -> None:
    log = (ROOT / "benchmarks/LOG.md").read_text(encoding="utf-8")
    decisions = re.split(r"^### ", log, flags=re.MULTILINE)[1:]
    assert decisions and max(map(len, log.splitlines())) <= 100
    for decision in decisions:
        heading, _, body = re.split(r"^## ", decision, flags=re.MULTILINE)[0].partition("\n")
        assert re.fullmatch(r"[^()]+ \(\d{4}-\d\d-\d\d, [0-9a-f]{7}\)", heading), heading
        assert re.findall(r"^- (\w[\w ]*):", body, re.MULTILINE) == ["Question", "Tried", "Figures", "Verdict", "Used by"], heading
        assert len(body.split("\n")) <= 16, heading  # twelve lines and the blank ones


def test_decisions_that_are_named_exist() -> None:
    log = (ROOT / "benchmarks/LOG.md").read_text(encoding="utf-8")
    anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in re.findall(r"^#+ (.*)", log, re.MULTILINE)}
    texts = [
        path
        for folder in ("wgdml", "shaders", "docs")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".wgsl", ".md")
    ]
    for path in texts:
        for anchor in re.findall(r"LOG\.md#([\w-]+)", path.read_text(encoding="utf-8")):
            assert anchor in anchors, f"{path}: {anchor}"


def test_results_that_are_named_exist() -> None:
    for path in (ROOT / "benchmarks/LOG.md", ROOT / "docs/performance.md"):
        for name in re.findall(r"results/([\w-]+\.json)", path.read_text(encoding="utf-8")):
            assert (ROOT / "benchmarks/results" / name).is_file(), f"{path}: {name}"
