"""A wheel built from the project works in an environment that has never seen the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import wgdml.shaders

ROOT = Path(__file__).resolve().parents[2]


def run(*command: object, cwd: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV_"))}
    result = subprocess.run([str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """The source archive, and the wheel built from it (not from the checkout)."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (archive,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    return archive, wheel


@pytest.fixture(scope="module")
def python(built: tuple[Path, Path], tmp_path_factory) -> Path:
    """The interpreter of a fresh environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    interpreter = scripts / Path(sys.executable).name
    run(
        *(sys.executable, "-m", "pip", "--python", interpreter, "install", "--quiet"),
        *("--no-deps", "--no-index", "--disable-pip-version-check", built[1]),
        cwd=folder,
    )
    # The dependencies come from this environment; its .pth files (an editable install) are not
    # followed.
    query = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = run(interpreter, "-c", query, cwd=folder).strip()
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    Path(site, "dependencies.pth").write_text("\n".join(sorted(paths)) + "\n")
    return interpreter


def test_the_wheel_holds_the_package_and_its_shaders_and_nothing_else(built: tuple[Path, Path]) -> None:
    names = zipfile.ZipFile(built[1]).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"wgdml", f"wgdml-{wgdml.__version__}.dist-info"}
    shaders = {f"wgdml/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "shaders").rglob("*.wgsl")}
    shaders |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "wgdml" / "demo").glob("*.wgsl")}
    assert shaders == {name for name in names if name.endswith(".wgsl")}
    assert "wgdml/py.typed" in names


def test_the_source_archive_has_what_the_tests_need(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert {
        "README.md",
        "LICENSE",
        "Makefile",
        "scripts/setup.sh",
        "demos/digits.py",
        "tests/tools/test_cli.py",
    } <= names
    assert not any(name.startswith((".venv", ".git/")) for name in names)


def test_the_installed_library_works_outside_of_the_checkout(python: Path, tmp_path: Path) -> None:
    code = (
        "import numpy as np, wgdml, wgdml.shaders\n"
        "print(wgdml.__file__)\n"
        "print(*wgdml.shaders.names())\n"
        "print(wgdml.top_k(np.array([3, 1, 3]), 2).indices.tolist())\n"
    )
    location, shaders, indices = run(python, "-c", code, cwd=tmp_path).splitlines()
    assert Path(location).is_relative_to(python.parent.parent)
    assert tuple(shaders.split()) == wgdml.shaders.names()
    assert indices == "[0, 2]"


def test_the_installed_command_works_outside_of_the_checkout(python: Path, tmp_path: Path) -> None:
    assert run(python.parent / "wgdml", "--version", cwd=tmp_path) == f"wgdml {wgdml.__version__}\n"
    assert run(python, "-m", "wgdml", "--version", cwd=tmp_path) == f"wgdml {wgdml.__version__}\n"
