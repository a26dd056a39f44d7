"""The command line: what it prints, what it writes, and how it refuses bad input."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from checks import python
from click.testing import CliRunner, Result

import wgdml
import wgdml.cli
from wgdml.runtime import default

ROWS = np.array([[0, 1, 10, 11], [3, 2, 9, 8], [4, 5, 6, 7]], np.float32).reshape(1, 1, 3, 4)
TIES = np.array([[1, 2, 3], [3, 0, 4], [2, 5, 2]], np.int32)
ODD = np.array([1.5, np.nan, np.inf, -np.inf, -0.0, 0.0])


def run(*arguments: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(wgdml.cli.main, [str(a) for a in arguments], input=stdin)


def good(*arguments: object, stdin: bytes | None = None) -> Result:
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.stderr or result.exception
    assert result.stderr == ""
    return result


def document(*arguments: object, stdin: bytes | None = None) -> dict:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(good(*arguments, "--json", stdin=stdin).stdout, parse_constant=refuse)


def bad(*arguments: object, stdin: bytes | None = None) -> str:
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("wgdml: error: ")
    assert result.stderr.count("\n") == 1 and result.stderr.endswith("\n")
    return result.stderr


def program(*arguments: object, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "wgdml", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=120, **options)  # type: ignore[call-overload]


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.fixture
def save(tmp_path: Path):
    def save(array: np.ndarray, name: str = "in.npy") -> Path:
        (tmp_path / name).write_bytes(npy(array))
        return tmp_path / name

    return save


# --- The operators --------------------------------------------------------------------------------


def test_top_k_gives_the_documents_first_example(save) -> None:
    result = document("top-k", save(ROWS), "-k", 2, "--axis", 3)
    assert result["values"] == [[[[11, 10], [9, 8], [7, 6]]]]
    assert result["indices"] == [[[[3, 2], [2, 3], [3, 2]]]]
    assert (result["command"], result["axis"], result["k"], result["mode"]) == ("top-k", 3, 2, "largest")
    assert (result["shape"], result["dtype"]) == ([1, 1, 3, 4], "float32")


def test_top_k_along_another_axis(save) -> None:
    result = document("top-k", save(ROWS), "-k", 2, "--axis", -2)
    assert result["values"] == [[[[4, 5, 10, 11], [3, 2, 9, 8]]]]
    assert result["indices"] == [[[[2, 2, 0, 0], [1, 1, 1, 1]]]]


def test_top_k_smallest_breaks_ties_by_index(save) -> None:
    result = document("top-k", save(np.array([6, 2, 6, 2], np.uint8)), "-k", 4, "--smallest")
    assert result["values"] == [2, 2, 6, 6]
    assert result["indices"] == [1, 3, 0, 2]


def test_top_k_of_none_is_empty(save) -> None:
    assert document("top-k", save(TIES), "-k", 0)["indices"] == [[], [], []]


@pytest.mark.parametrize("command", ["argmax", "argmin"])
@pytest.mark.parametrize("axes", [(), (0,), (1,), (-1, 0)])
def test_argmax_and_argmin_match_numpy(save, command: str, axes: tuple[int, ...]) -> None:
    options = [word for axis in axes for word in ("--axis", axis)]
    function = getattr(np, command)
    wanted = function(TIES) if len(axes) != 1 else function(TIES, axis=axes[0])
    assert document(command, save(TIES), *options)["indices"] == wanted.tolist()


def test_argmax_last_and_keepdims(save) -> None:
    line = save(np.array([3, 2, 1, 2, 3]))
    assert document("argmax", line)["indices"] == 0
    assert document("argmax", line, "--last")["indices"] == 4
    assert document("argmax", line, "--axis", 0, "--keepdims")["indices"] == [0]
    assert document("argmin", save(np.array([1, 2, 3, 2, 1])), "--last")["indices"] == 4


@pytest.mark.parametrize("command", ["max", "min"])
@pytest.mark.parametrize("axes", [(), (0,), (-1, 0)])
def test_max_and_min_match_numpy(save, command: str, axes: tuple[int, ...], tmp_path: Path) -> None:
    options = [word for axis in axes for word in ("--axis", axis)]
    wanted = getattr(np, command)(TIES, axis=axes or None, keepdims=True)
    out = tmp_path / "best.npz"
    result = document(command, save(TIES), "--keepdims", *options, "-o", out)
    arg = getattr(np, f"arg{command}")(TIES, axis=axes[0] if len(axes) == 1 else None, keepdims=True)
    assert (result["values"], result["indices"]) == (wanted.tolist(), arg.tolist())
    with np.load(out) as saved:
        assert np.array_equal(saved["values"], wanted) and np.array_equal(saved["indices"], arg)
    assert "value" in good(command, save(TIES)).stdout
    bad(command, save(TIES), "--last")


@pytest.mark.parametrize("command", ["argmax", "argmin", "max", "min"])
def test_where_nan_goes(save, command: str) -> None:
    file, function = save(ODD), getattr(np, f"nanarg{command.removeprefix('arg')}")
    assert document(command, file)["indices"] == int(np.isnan(ODD).argmax())
    result = document(command, file, "--nan", "last")
    assert (result["indices"], result["nan"]) == (int(function(ODD)), "last")
    assert "'greatest', 'last'" in bad(command, file, "--nan", "first")


def test_where_nan_goes_in_order(save) -> None:
    file = save(ODD)
    assert document("sort", file, "--descending")["values"][0] == "NaN"
    assert document("sort", file, "--descending", "--nan", "last")["values"][-1] == "NaN"
    assert document("top-k", file, "-k", 1)["values"] == ["NaN"]
    assert document("top-k", file, "-k", 1, "--nan", "last")["values"] == ["Infinity"]


def test_sort_and_argsort(save) -> None:
    file = save(TIES)
    assert document("sort", file)["values"] == np.sort(TIES).tolist()
    assert document("sort", file, "--axis", 0, "--descending")["values"] == np.sort(TIES, 0)[::-1].tolist()
    assert document("sort", file, "--indices")["indices"] == np.argsort(TIES, kind="stable").tolist()


def test_nan_and_infinity_are_strings_in_json(save) -> None:
    result = document("sort", save(ODD))
    assert result["values"] == ["-Infinity", 0, 0, 1.5, "Infinity", "NaN"]
    assert [str(v) for v in result["values"][1:3]] == ["-0.0", "0.0"]
    assert document("argmax", save(ODD))["indices"] == 1


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">i4", ">f8"])
def test_every_data_type(save, dtype: str) -> None:
    array = np.array([1, 0, 1, 0], dtype)
    result = document("top-k", save(array), "-k", 3)
    assert (result["values"], result["indices"]) == ([1, 1, 0], [0, 2, 1])


def test_large_integers_stay_exact(save) -> None:
    array = np.array([2**64 - 1, 2**64 - 2, 1], np.uint64)
    assert document("top-k", save(array), "-k", 2)["values"] == [2**64 - 1, 2**64 - 2]


def test_fortran_order(save) -> None:
    array = np.asfortranarray(np.arange(12).reshape(3, 4) % 5)
    assert document("argmax", save(array), "--axis", 1)["indices"] == array.argmax(1).tolist()


def test_standard_input() -> None:
    assert document("argmax", "-", stdin=npy(TIES))["indices"] == 7
    assert document("argmax", "-", stdin=npy(TIES))["file"] == "-"


# --- Tables ---------------------------------------------------------------------------------------


def test_table_is_short_and_says_how_many_more(save) -> None:
    array = np.random.default_rng(0).random((100, 7)).astype(np.float32)
    lines = good("top-k", save(array), "-k", 3).stdout.splitlines()
    assert len(lines) < 30
    assert any("and 280 more rows" in line for line in lines)
    assert sum(line.strip().startswith("[") for line in lines) == 20


def test_table_of_one_line_shows_rank_index_and_value(save) -> None:
    lines = [line.split() for line in good("top-k", save(ODD), "-k", 3).stdout.splitlines()]
    start = lines.index(["rank", "index", "value"])
    assert lines[start + 2 : start + 5] == [["1", "1", "nan"], ["2", "2", "inf"], ["3", "0", "1.5"]]


@pytest.mark.parametrize("command", ["argmax", "argmin", "max", "min"])
def test_table_of_a_single_number(save, command) -> None:
    lines = [line.split() for line in good(command, save(np.array(1.5, np.float32))).stdout.splitlines()]
    assert ["index", "value"] in lines and ["0", "1.5"] in lines


def test_table_of_several_axes_gives_the_position(save) -> None:
    out = good("argmax", save(TIES)).stdout
    assert "(2, 1)" in out and "7" in out and "5" in out


def test_table_of_argsort_shows_both(save) -> None:
    lines = [line.split() for line in good("sort", save(np.array([30, 10, 20])), "--indices").stdout.splitlines()]
    assert ["1", "1", "10"] in lines and ["3", "0", "30"] in lines


def test_file_names_are_shown_as_they_are(save) -> None:
    assert "[red]" in good("argmax", save(TIES, "[red]a.npy")).stdout
    assert "\n\x1b" not in good("argmax", save(TIES, "a\n\x1b[31m.npy")).stdout


# --- Output files ---------------------------------------------------------------------------------


def test_top_k_writes_an_npz(save, tmp_path: Path) -> None:
    out = tmp_path / "out.npz"
    assert "wrote" in good("top-k", save(ROWS), "-k", 2, "-o", out).stdout
    with np.load(out) as arrays:
        assert sorted(arrays) == ["indices", "values"]
        assert arrays["values"].dtype == np.float32 and arrays["indices"].dtype == np.int64
        assert arrays["values"].tolist() == [[[[11, 10], [9, 8], [7, 6]]]]
    assert sorted(os.listdir(tmp_path)) == ["in.npy", "out.npz"]


def test_the_other_commands_write_an_npy(save, tmp_path: Path) -> None:
    file, out = save(TIES), tmp_path / "out.npy"
    good("argmin", file, "--axis", 0, "-o", out)
    assert np.load(out).tolist() == [0, 1, 2]
    good("sort", file, "-o", out)
    assert np.array_equal(np.load(out), np.sort(TIES))
    assert json.loads(good("argmax", file, "-o", out, "--json").stdout)["output"] == str(out)
    assert np.load(out) == 7


def test_output_may_replace_the_input_and_keeps_its_mode(save) -> None:
    file = save(TIES)
    file.chmod(0o640)
    good("sort", file, "-o", file)
    assert np.array_equal(np.load(file), np.sort(TIES))
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_output_through_a_link_keeps_the_link(save, tmp_path: Path) -> None:
    file, link = save(TIES), tmp_path / "link.npy"
    link.symlink_to("real.npy")
    good("sort", file, "-o", link)
    assert link.is_symlink() and np.array_equal(np.load(tmp_path / "real.npy"), np.sort(TIES))


def test_output_to_standard_output(save) -> None:
    assert np.array_equal(np.load(io.BytesIO(good("sort", save(TIES), "-o", "-").stdout_bytes)), np.sort(TIES))
    with np.load(io.BytesIO(good("top-k", save(TIES), "-k", 1, "-o", "-").stdout_bytes)) as arrays:
        assert arrays["indices"].tolist() == [[2], [2], [1]]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(save, tmp_path: Path, monkeypatch) -> None:
    file, out = save(TIES), tmp_path / "out.npy"
    out.write_bytes(b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    assert "No space left" in bad("sort", file, "-o", out)
    assert out.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["in.npy", "out.npy"]


@pytest.mark.skipif(os.name != "posix", reason="named pipes as POSIX has them")
def test_output_to_a_named_pipe_is_written_to_and_not_replaced(save, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        good("sort", save(TIES), "-o", pipe)
        assert np.array_equal(np.load(io.BytesIO(reader.communicate(timeout=60)[0])), np.sort(TIES))
    assert pipe.is_fifo()


def test_an_option_given_twice_is_refused(save) -> None:
    file = save(TIES)
    assert "--axis is given twice" in bad("top-k", file, "-k", 1, "--axis", 0, "--axis", 1)
    assert "-o / --output is given twice" in bad("sort", file, "-o", "a.npy", "--output=b.npy")
    assert "--cases is given twice" in bad("bench", "--list", "--cases", "topk", "--cases", "sort")
    assert good("argmax", file, "--axis", 0, "--axis", 1, "--keepdims", "--keepdims").exit_code == 0


# --- Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty, not a .npy file"),
        (b"hello", "is not a .npy file"),
        (b"\x93NUMPY", "not a valid .npy file"),
        (npy(TIES)[:-1], "not a valid .npy file"),
        (npy(TIES)[:40], "not a valid .npy file"),
        (npy(np.zeros(3, complex)), "data type complex128"),
        (npy(np.array(["a"])), "data type <U1"),
        (npy(np.zeros(3, [("a", "i4")])), "data type [('a', '<i4')]"),
        (npy(np.zeros(3, "M8[s]")), "data type datetime64[s]"),
        (npy(np.zeros(3, "V2")), "data type |V2"),
        (npy(np.array([{}, 1])), "Python objects"),
        (npy(np.zeros(3, [(f"number {n}", "f4") for n in range(1000)])), "a header too long for an array of plain numbers"),
    ],
)
@pytest.mark.parametrize("where", ["file", "pipe"])
def test_bad_files(tmp_path: Path, content: bytes, words: str, where: str) -> None:
    file = tmp_path / "bad.npy"
    file.write_bytes(content)
    message = bad("argmax", file) if where == "file" else bad("argmax", "-", stdin=content)
    assert words in message


def test_a_header_that_promises_too_much(tmp_path: Path) -> None:
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (2**55,)})
    (tmp_path / "big.npy").write_bytes(head.getvalue() + b"12345678")
    bad("argmax", tmp_path / "big.npy")
    bad("argmax", "-", stdin=head.getvalue() + b"12345678")


def test_an_npz_archive_is_named_as_such(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=TIES)
    assert ".npz archive" in bad("argmax", tmp_path / "a.npz")


def test_missing_and_unreadable_files(tmp_path: Path) -> None:
    assert "No such file" in bad("argmax", tmp_path / "none.npy")
    assert "directory" in bad("argmax", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("top-k", "-k", 5, "--axis", 3), "k must be at most the axis's size of 4, not 5"),
        (("top-k", "-k", -1), "k must not be negative, not -1"),
        (("top-k", "-k", 1, "--axis", 4), "axis must lie in [-4, 3] for 4 dimensions, not 4"),
        (("top-k", "-k", 1, "--axis", -5), "axis must lie in [-4, 3] for 4 dimensions, not -5"),
        (("top-k", "-k", "x"), "'x' is not a valid integer"),
        (("top-k",), "Missing option '-k'"),
        (("top-k", "-k", 1, "-o", "out.npy"), "must end in .npz"),
        (("argmax", "--axis", 4), "axis must lie in [-4, 3] for 4 dimensions, not 4"),
        (("argmax", "--axis", 1, "--axis", -3), "axis must name each axis once, not (1, -3)"),
        (("argmax", "-o", "out.npz"), "must end in .npy"),
        (("sort", "--axis", 9), "axis must lie in [-4, 3] for 4 dimensions, not 9"),
        (("sort", "-o", "-", "--json"), "give one of them"),
        (("sort", "--sideways"), "--sideways"),
    ],
)
def test_bad_options(save, arguments: tuple[object, ...], words: str) -> None:
    assert words in bad(arguments[0], save(ROWS), *arguments[1:])


def test_bad_commands() -> None:
    assert "No such command" in bad("top")
    assert "Missing argument 'FILE'" in bad("argmax")
    assert "unexpected extra argument" in bad("argmax", "a.npy", "b.npy")


def test_arrays_that_an_operator_cannot_take(save) -> None:
    scalar = save(np.array(5.0))
    assert document("argmax", scalar)["indices"] == 0
    assert "x must have at least one dimension" in bad("top-k", scalar, "-k", 1)
    assert "x must have at least one dimension" in bad("sort", scalar)
    assert "nothing to reduce" in bad("argmax", save(np.zeros((3, 0))))
    assert document("argmax", save(np.zeros((0, 3))), "--axis", 1)["indices"] == []
    assert good("sort", save(np.zeros((0, 3)))).stdout


def test_unwritable_outputs_are_refused_before_the_input_is_read(tmp_path: Path) -> None:
    missing = tmp_path / "none.npy"
    assert "there is no directory" in bad("sort", missing, "-o", tmp_path / "no" / "out.npy")
    assert "it is a directory" in bad("sort", missing, "-o", tmp_path)
    assert "it is a directory" in bad("sort", missing, "-o", f"{tmp_path}/new/")
    link = tmp_path / "link.npy"
    link.symlink_to(tmp_path / "other" / "real.npy")
    assert f"there is no directory {tmp_path / 'other'}" in bad("sort", missing, "-o", link)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_protected_folder_is_refused(save, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    assert "permission denied" in bad("sort", save(TIES), "-o", folder / "out.npy")


def test_bad_input_opens_no_device(save, monkeypatch) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("the library was called")

    for name in ("top_k", "argmax", "argmin", "sort", "argsort"):
        monkeypatch.setattr(wgdml, name, opened)
    file = save(ROWS)
    bad("top-k", file, "-k", 9)
    bad("argmin", file, "--axis", 9)
    bad("sort", file, "-o", "/nowhere/at/all.npy")


# --- The other endings ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [wgdml.NoAdapterError, wgdml.DeviceLostError])
def test_no_device_is_a_failure_in_one_line(save, monkeypatch, kind: type[Exception]) -> None:
    def none(*_: object, **__: object) -> None:
        raise kind("no adapter; install one")

    monkeypatch.setattr(wgdml, "argmax", none)
    result = run("argmax", save(TIES))
    assert (result.exit_code, result.stdout, result.stderr) == (
        1,
        "",
        "wgdml: error: no adapter; install one\n",
    )


@pytest.mark.parametrize("command", ["info", "argmax", "bench --list", "tune", "demo --offscreen", "selftest"])
@pytest.mark.parametrize("variable", ["WGDML_LIMITS", "WGDML_SUBGROUPS"])
def test_a_variable_that_cannot_be_is_bad_input(save, monkeypatch, command: str, variable: str) -> None:
    monkeypatch.setenv(variable, "foo")
    monkeypatch.setattr(default, "_device", None)
    words = command.split() + [save(TIES)] * (command == "argmax")
    assert bad(*words).startswith(f"wgdml: error: {variable} must be ")


def test_selftest_names_an_adapter_that_is_not_there(monkeypatch) -> None:
    monkeypatch.setenv("WGDML_ADAPTER", "typo")
    monkeypatch.setattr(default, "_device", None)
    for option in ([], ["--json"]):
        result = run("selftest", *option)
        assert result.exit_code == 1 and "report it" not in result.stdout
        assert result.stderr.startswith("wgdml: error: no adapter matches WGDML_ADAPTER=typo; there are: ")
        if option:
            assert "WGDML_ADAPTER=typo" in json.loads(result.stdout)["failures"][0]["what"]


@pytest.mark.parametrize("columns", ["0", "", "-3", "wide"])
def test_a_width_that_cannot_be_is_not_looked_at(save, monkeypatch, columns: str) -> None:
    """Nothing at all was printed."""
    monkeypatch.setenv("COLUMNS", columns)
    assert {"argmax", "index", "7"} <= {*good("argmax", save(TIES)).stdout.split()}


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, click.Abort])
def test_interruption_is_130(save, monkeypatch, interruption: type[BaseException]) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise interruption

    monkeypatch.setattr(wgdml, "argmax", interrupt)
    result = run("argmax", save(TIES))
    assert (result.exit_code, result.output.strip()) == (130, "")


def test_help_and_version() -> None:
    assert "top-k" in good("--help").stdout
    assert "..." not in good("--help").stdout.partition("Commands:")[2]  # click ends lines so
    for command in ("info", "top-k", "argmax", "argmin", "max", "min", "sort"):
        assert "Examples:" in good(command, "--help").stdout
    assert good("--version").stdout == f"wgdml {wgdml.__version__}\n"
    assert run().exit_code == 2


# --- As a process of its own ----------------------------------------------------------------------


def test_program_prints_clean_json(save) -> None:
    result = program("top-k", save(ROWS), "-k", 2, "--json")
    assert result.returncode == 0 and result.stderr == b""
    assert json.loads(result.stdout)["indices"] == [[[[3, 2], [2, 3], [3, 2]]]]


def test_program_reads_and_writes_pipes() -> None:
    result = program("sort", "-", "-o", "-", input=npy(TIES))
    assert result.returncode == 0 and result.stderr == b""
    assert np.array_equal(np.load(io.BytesIO(result.stdout)), np.sort(TIES))


def test_program_refuses_bad_input_with_status_2(tmp_path: Path) -> None:
    result = program("argmax", tmp_path / "none.npy")
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.count(b"\n") == 1 and result.stderr.startswith(b"wgdml: error: ")


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("output", ["--json", "-o-"])
def test_program_ends_quietly_when_its_reader_leaves(save, output: str, unbuffered: str) -> None:
    file = save(np.arange(1 << 16))
    process = subprocess.Popen(
        [sys.executable, "-m", "wgdml", "sort", str(file), output],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    message = process.stderr.read()
    process.stderr.close()
    assert (process.wait(120), message) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")
@pytest.mark.parametrize("arguments", ["bench --cases sort:4x4 --peers none --device-only", "--help", "--version"])
def test_a_reader_that_is_gone_is_no_reason_for_another_status(arguments: str) -> None:
    """That of a bench would say that an answer was wrong."""
    command = [sys.executable, "-m", "wgdml", *arguments.split()]
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=120)
    os.close(writer)
    assert (result.returncode, result.stderr) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")
def test_program_interrupted_while_reading() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "wgdml", "sort", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    # More than a pipe holds: once this is written, the program is in the middle of reading.
    process.stdin.write(npy(np.zeros(1 << 20))[: 1 << 20])
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, message = process.communicate(timeout=120)
    assert (process.returncode, out, message.strip()) == (130, b"", b"")


def test_importing_the_library_does_not_import_the_command_line() -> None:
    code = "import sys, wgdml; print(sorted({'click', 'rich'} & set(sys.modules)))"
    assert python(code) == "[]\n"


# --- info -----------------------------------------------------------------------------------------


def test_info_for_programs() -> None:
    result = document("info")
    assert result["versions"]["wgdml"] == wgdml.__version__
    assert set(result["versions"]) >= {"wgdml", "wgpu", "numpy", "python"}
    chosen = [adapter for adapter in result["adapters"] if adapter["chosen"]]
    assert len(chosen) == 1
    assert chosen[0]["name"] == wgdml.default_device().adapter_info["device"]
    assert result["reason"]
    assert result["gpu_device"] == wgdml.default_device().gpu_device_reason
    assert result["limits"]["max_storage_buffer_binding_size"] >= 1 << 27
    assert isinstance(result["features"], list)
    assert result["feature_level"] == wgdml.default_device().feature_level.name


def test_info_for_people() -> None:
    out = good("info").stdout
    assert wgdml.default_device().adapter_info["device"] in out
    for word in ("chosen", "GPU device     of its own", "numpy", "wgpu", "Vulkan" if sys.platform == "linux" else ""):
        assert word in out


def test_info_without_an_adapter(monkeypatch) -> None:
    def none(*_: object, **__: object) -> None:
        raise wgdml.NoAdapterError("no adapter; install one")

    monkeypatch.setattr(wgdml, "default_device", none)
    monkeypatch.setattr(wgdml, "adapters", list)
    result = run("info", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"] == "no adapter; install one"
    result = run("info")
    assert result.exit_code == 1
    assert "no adapter; install one" in result.stderr and wgdml.__version__ in result.stdout
