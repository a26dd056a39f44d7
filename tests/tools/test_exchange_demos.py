"""The demos that show wgdml beside other libraries run, and check their own answers."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

DEMOS = {
    "interchange": ([], "pyarrow    pyarrow.lib.FloatArray"),
    "wgpu_buffer": ([], "best scores at [ 1040 11047 21054 31061 41068]"),
    "pygfx_buffer": ([], "sorted 500 heights in pygfx's buffer"),
    "pygfx_nearest": (
        ["--offscreen", "--points", "20000", "-k", "100", "--frames", "3"],
        "as NumPy finds",
    ),
    "splats": (["--offscreen", "--discs", "20000", "--frames", "2"], "discs drawn in the order that NumPy finds"),
    "from_directml/detect": ([], "detect_in_three_calls: the 100 best of 10647 rows, the first three are rows [17 20 25]"),
    "onnx_model": ([], "refused: model has operators that wgdml does not run: Softmax"),
    "out_of_core": (["--gigabytes", "0.03", "--block-mib", "4"], "% of the bare upload"),
    "dask_workers": (["--workers", "1", "--chunks", "3", "--elements", "65536"], "1 workers: "),
}


@pytest.mark.parametrize("name", DEMOS)
def test_demo(device, name):
    arguments, expected = DEMOS[name]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    run = subprocess.run(
        [sys.executable, str(ROOT / "demos" / f"{name}.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert run.returncode == 0, run.stderr
    assert expected in run.stdout


@pytest.mark.parametrize("name", ["pygfx_nearest", "splats"])
def test_a_window_without_a_display(name):
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = [sys.executable, str(ROOT / "demos" / f"{name}.py")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment | {"PYTHONPATH": str(ROOT)})
    assert run.returncode == 1
    assert run.stderr.startswith("Error: no window can be opened here (") and len(run.stderr.splitlines()) == 1
    assert "; --offscreen --picture OUT.png draws without one" in run.stderr


@pytest.mark.parametrize("size", ["0", "-1", "nan", "inf", "1e-9"])
def test_a_size_that_no_file_has(size, capsys):
    main = runpy.run_path(str(ROOT / "demos/out_of_core.py"))["main"]
    with pytest.raises(SystemExit) as end:
        main([f"--gigabytes={size}"])
    assert end.value.code == 2 and f"argument --gigabytes: must be a number from 1e-06 on, not {size}" in capsys.readouterr().err


def test_the_two_directml_programs_have_the_same_steps():
    folder = ROOT / "demos/from_directml"
    steps = [
        re.findall(r"^ *(?://|#) (\d)\. ", (folder / name).read_text(encoding="utf-8"), re.MULTILINE)
        for name in ("detect.cpp", "detect.py")
    ]
    assert steps[0] == steps[1] == list("12345678")


@pytest.mark.parametrize("argument", ["out_of_core --block-mib", "out_of_core --repeats", "dask_workers --workers"])
def test_numbers_that_leave_nothing_to_do(argument, capsys):
    demo, option = argument.split()
    main = runpy.run_path(str(ROOT / f"demos/{demo}.py"))["main"]
    with pytest.raises(SystemExit) as end:
        main([f"{option}=0"])
    assert end.value.code == 2 and f"argument {option}: must be a whole number from 1 on, not 0" in capsys.readouterr().err
