"""The benchmark: right inputs and answers, what it writes, and that it catches what is wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import checks
import numpy as np
import oracle
import pytest
from click.testing import CliRunner, Result

import wgdml.cli
from wgdml.bench import cases, data, peers, report, run, timing
from wgdml.bench import oracle as answers

ROOT = Path(__file__).parents[2]

CASES = (
    cases.Case("argmax", (1, 70001), 1, 1),
    cases.Case("argmax", (37, 129), 0, 1),
    cases.Case("argmax", (3, 5, 7, 11), 1, 1),
    cases.Case("topk", (13, 1000), 1, 5),
    cases.Case("topk", (300, 17), 0, 9),
    cases.Case("topk", (1, (1 << 18) + 77), 1, 100),
    cases.Case("topk", (1, (1 << 18) + 77), 1, 8000),
    cases.Case("sort", (6, 515), 1, 515),
)


@pytest.fixture(scope="module", autouse=True)
def one_ceiling() -> Iterator[None]:
    """The runs of this file share what the first of them finds: each would look twice."""
    measure = timing.measure_ceiling
    found: dict[str, timing.Ceiling] = {}

    def once(clock: timing.Clock, buffer: Any) -> timing.Ceiling:
        if clock.method not in found:
            found[clock.method] = measure(clock, buffer)
        return found[clock.method]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing, "measure_ceiling", once)
        yield


def bench(*arguments: object) -> Result:
    return CliRunner().invoke(wgdml.cli.main, ["bench", *map(str, arguments)], env={"COLUMNS": "250"})


def quick(file: Path, pattern: str, *arguments: object) -> tuple[Result, dict[str, Any]]:
    result = bench("--quick", "--cases", pattern, "--device-only", "--json", file, *arguments)
    return result, json.loads(file.read_text())


@pytest.mark.parametrize("dtype", cases.DTYPES)
@pytest.mark.parametrize("kind", cases.DATA_KINDS)
def test_the_answers_are_the_oracles(kind: str, dtype: str) -> None:
    for case in cases.with_dtypes(CASES if dtype == "float32" else CASES[1:6], [dtype]):
        x = data.make(kind, case)
        assert x.dtype == dtype and x.shape == case.shape
        values, indices = answers.answer(case, x)
        if case.operator == "argmax":
            expected = oracle.argmax(x, case.axis, keepdims=True)
            assert values is None
        elif case.sequences == 1:
            expected = oracle.top_k_long(x.reshape(-1), case.k)[1].reshape(case.result_shape)
        else:
            expected = oracle.top_k(x, case.k, case.axis)[1]
        oracle.assert_same(indices, expected.astype(np.uint32), f"{case.name} {kind}")
        if values is not None:
            oracle.assert_same(values, oracle.take(x, expected, case.axis), f"{case.name} {kind}")


def test_negative_zero_ties_with_zero() -> None:
    x = np.array([[-0.0, 0.0, -1.0, -0.0]], np.float32)
    assert answers.answer(cases.Case("sort", (1, 4), 1, 4), x)[1].tolist() == [[0, 1, 3, 2]]
    long = np.tile(x, (1, 1 << 16))
    found = answers.answer(cases.Case("topk", long.shape, 1, 5), long)[1]
    assert found.tolist() == [[0, 1, 3, 4, 5]]


@pytest.mark.parametrize("dtype", cases.DTYPES)
def test_the_kinds_are_what_they_say(dtype: str) -> None:
    (case,) = cases.with_dtypes([cases.Case("topk", (700, 3), 0, 3)], [dtype])
    ascending = data.make("sorted", case)
    bits = 8 * np.dtype(dtype).itemsize
    assert (ascending[1:] >= ascending[:-1]).all() and len(np.unique(ascending)) == min(700, 1 << bits)
    assert np.array_equal(data.make("reversed", case), ascending[::-1])
    assert np.array_equal(np.unique(data.make("eight_values", case)), np.arange(8))
    assert len(np.unique(data.make("constant", case))) == 1
    shared = data.make("shared_leading_bits", case).view(f"u{bits // 8}")
    assert len(np.unique(shared >> (bits // 2))) == 1 and len(np.unique(shared)) > 10
    random = data.make("random", case)
    assert len(np.unique(random)) > 200 and (random.dtype.kind == "u" or (random < 0).any())
    assert random.dtype.kind != "f" or abs(float(random.std(dtype=np.float64)) - 1) < 0.05
    for kind in data.FLAT_KINDS:  # streams: what is shared by cases of many sizes
        assert np.array_equal(data.make_flat(kind, 1000, dtype), data.make_flat(kind, (1 << 20) + 5, dtype)[:1000])
    assert data.make("sorted", cases.Case("sort", (5, 1), 1, 1, dtype=dtype)).shape == (5, 1)
    if random.dtype.kind != "f":
        limits = np.iinfo(dtype)
        assert ascending[0, 0] == limits.min and ascending[-1, 0] >= limits.max - limits.max // 50


def test_the_tables_have_every_case() -> None:
    gpu = cases.PRESETS["gpu"]
    assert {name: len(table) for name, table in cases.PRESETS.items()} == {
        "gpu": 23,
        "software": 11,
        "large-k": 39,
        "any": 0,
        "quick": 8,
    }
    for table in cases.PRESETS.values():
        assert len({c.name for c in table}) == len(table)
    assert [c.name for c in gpu if c.all_data][:2] == ["argmax:1x2^28", "argmax:4096x65536:axis0"]
    assert [c.name for c in cases.choose(gpu, "topk:1x2^28:*")] == [f"topk:1x2^28:k{k}" for k in ("100", "2048", "2^20")]
    assert [c.name for c in cases.choose(gpu, "sort, argmax:1x")] == ["argmax:1x2^28", "sort:16384x2048", "sort:8192x8192"]
    assert [c.name for c in cases.choose(gpu, "topk:1x2^26:k100")] == ["topk:1x2^26:k100"]


def test_names_are_cases() -> None:
    for table in cases.PRESETS.values():
        for case in table:
            found = cases.parse(case.name)
            assert (found.operator, found.shape, found.axis, found.k) == (case.operator, case.shape, case.axis, case.k)
    assert cases.parse("topk:7x9:k2:int8") == cases.Case("topk", (7, 9), 1, 2, dtype="int8")
    assert cases.parse("topk:7x9:k2:int8").name == "topk:7x9:k2:int8"
    assert cases.parse("sort:16x2^10:axis0") == cases.Case("sort", (16, 1024), 0, 16)
    table = cases.PRESETS["quick"]
    assert [c.name for c in cases.choose(table, "sort, topk:7x9:k2, topk:1x2^16:*, topk:7x9:k2")] == [
        "topk:1x2^16:k100",
        "topk:1x2^16:k1024",
        "sort:64x1024",
        "topk:7x9:k2",
    ]
    for nothing in ("", " , "):
        with pytest.raises(ValueError, match=f"must name a case, not '{nothing}'"):
            cases.choose(table, nothing)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("topk:64x1000", "must have a :kK"),
        ("argmax:64x1000:k1", "argmax has no k"),
        ("sort:64:k3", "sort has no k"),
        ("topk:64x0:k1", "sizes must be from 1"),
        ("topk:64x10:k0", "k from 1 to 10"),
        ("topk:64x10:k11", "k from 1 to 10"),
        ("argmax:9^99999999x4", "sizes must be from 1"),
        ("argmax:64x10:axis2", "the axis must be below 2"),
        ("median:64x10", "no name of a case"),
        ("sort:64x10:complex64", "no name of a case"),
        ("topk:64x\u0661:k2", "no name of a case"),
        ("topk:64x-10:k2", "no name of a case"),
    ],
)
def test_what_is_no_case(name: str, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        cases.parse(name)


def test_a_case_of_ones_own(tmp_path: Path) -> None:
    result, document = quick(tmp_path / "out.json", "topk:5x3000:k70,argmax:7x11:axis0", "--peers", "none")
    assert result.exit_code == 0, result.output
    assert [(r["case"], r["exact"]) for r in document["cases"]] == [("topk:5x3000:k70", True), ("argmax:7x11:axis0", True)]
    assert document["seed"] == 1


def test_random_cases_are_drawn_from_a_seed(tmp_path: Path) -> None:
    drawn = cases.draw(3, 200, 1 << 22)
    assert drawn == cases.draw(3, 200, 1 << 22) != cases.draw(4, 200, 1 << 22)
    assert cases.draw(3, 5, 1 << 22) == drawn[:5]
    assert all(case.bytes <= 1 << 22 and 1 <= case.k <= case.length for case in drawn)
    assert {case.operator for case in drawn} == {"topk", "argmax"} and {len(case.shape) for case in drawn} == {2, 3}
    file = tmp_path / "any.json"
    result = bench("--preset", "any", "--seed", 3, "--count", 2, "--device-only", "--peers", "none", "--json", file)
    document = json.loads(file.read_text())
    assert result.exit_code == 0, result.output
    assert "times the floor: " in result.output and document["seed"] == 3
    assert [r["case"] for r in document["cases"]] == [case.name for case in cases.draw(3, 2, 2_000_000)]
    for r in document["cases"]:
        assert r["exact"] and r["device_us"] / r["times_floor"] > document["empty_pass_us"]


def test_a_run_is_told_in_two_lines() -> None:
    """How far from the floor cases on random data are, and where the kind of data matters."""

    def row(case: str, kind: str, us: float, far: float) -> dict[str, Any]:
        return {"case": case, "data": kind, "device_us": us, "times_floor": far}

    table = [row(f"c{n}", "random", 10.0, far) for n, far in enumerate([1.0] * 18 + [2.0, 8.0])]
    assert report.summary(table) == ["times the floor: 1.15 (geometric mean), 90% within 2.0, the worst 8.0"]
    # Other kinds count for the spread alone, failed cases not at all.
    table += [row("c3", "sparse", 15.0, 90.0), row("c5", "constant", 5.0, 0.5)]
    table.append({"case": "c1", "data": "sorted", "error": "MemoryError"})
    spread = "slowest to fastest kind of data: at most 2.00, c5, slowest random"
    assert report.summary(table) == ["times the floor: 1.15 (geometric mean), 90% within 2.0, the worst 8.0", spread]
    assert report.summary([]) == []


def test_cases_of_other_types(tmp_path: Path) -> None:
    pattern = "argmax:256x1000,topk:1x2^16:k100,sort:9x600:int16"
    result, document = quick(
        tmp_path / "out.json", pattern, "--dtype", "uint8,float64", "--data", "random,sorted", "--peers", "numpy"
    )
    assert result.exit_code == 0 and result.stderr == "", result.output
    names = [r["case"] for r in document["cases"] if r["data"] == "random"]
    chosen = ("argmax:256x1000", "argmax:256x1000:axis0", "topk:1x2^16:k100")
    assert names == [*(f"{name}:{dtype}" for name in chosen for dtype in ("uint8", "float64")), "sort:9x600:int16"]
    for r in document["cases"]:
        assert r["exact"] and r["case"].endswith(r["dtype"])
        assert all(peer["correct"] for peer in r["peers"].values())


def test_a_run_writes_all_that_it_measured(tmp_path: Path) -> None:
    pattern = "argmax:1x2^16,argmax:256x1000:axis0,topk:1x2^16:k100"
    result, document = quick(tmp_path / "out.json", pattern, "--peers", "numpy", "--explain", "--plot", tmp_path / "out.png")
    assert result.exit_code == 0 and result.stderr == "", result.output
    assert "9 of 9 exact" in result.stdout
    assert document["schema"] == 1 and document["complete"] and document["preset"] == "quick"
    assert document["timer"] == "timestamp queries"
    assert document["ceiling"]["bytes_per_second"] > 0
    assert document["peers"] == {"numpy": np.__version__}
    assert [(r["case"], r["data"]) for r in document["cases"]] == [
        *(("argmax:1x2^16", kind) for kind in cases.DATA_KINDS),
        ("argmax:256x1000:axis0", "random"),
        ("topk:1x2^16:k100", "random"),
    ]
    for r in document["cases"]:
        assert r["exact"] and r["problem"] == "" and "error" not in r
        assert 0 < r["device_us_best"] <= r["device_us"] <= r["device_us_worst"]
        assert r["floor_us"] > 0 and r["share_of_ceiling"] > 0 and r["scratch_bytes"] >= 0
        assert r["algorithms"] and [s["kernel"] for s in r["steps"]] == r["dispatches"]
        assert ("numpy" in r["peers"]) == (r["data"] == "random")
        assert all(peer["correct"] and peer["us"] > 0 for peer in r["peers"].values())
        assert r["case"] in result.stdout
    assert "times the floor: " in result.stdout and "slowest to fastest kind of data: at most " in result.stdout
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.json", "out.png"]


def test_other_algorithms_and_numbers_can_be_tried(tmp_path: Path) -> None:
    arguments = (
        "--data",
        "eight_values",
        "--peers",
        "none",
        "--algorithms",
        "reduce,select_teams,radix_sort",
        "--policies",
        "occupancy.workgroups=8",
    )
    result, document = quick(tmp_path / "out.json", "topk:1x2^16:k100", *arguments)
    assert result.exit_code == 0, result.output
    assert document["policies"] == {"occupancy.workgroups": 8}
    (case,) = document["cases"]
    assert case["exact"] and list(case["forced"]) == ["reduce", "select_teams", "radix_sort"]
    assert "k=100" in case["forced"]["reduce"]["error"]
    for name in ("select_teams", "radix_sort"):
        found = case["forced"][name]
        assert found["device_us"] > 0 and found["algorithms"][0] == name and found["problem"] == ""


def test_host_times_and_transfers(device: wgdml.Device) -> None:
    host = checks.program("benchmarks/host_overhead.py")
    clock = timing.Clock(device)
    calls = host.call_times(clock, 0.05)
    assert set(calls["tensor_to_tensor_ratio"]) == set(calls["numpy_to_numpy_ratio"]) == {"argmax", "top_k"}
    transfers = host.transfer_rates(clock, 1 << 20)
    assert transfers["bytes"] == 1 << 20 and all(rate > 0 for rate in transfers["bytes_per_second"].values())


def test_the_host_clock_serves_where_there_are_no_timestamps(device: wgdml.Device) -> None:
    clock = timing.Clock(device, warm_seconds=0.01)
    clock.timestamps = False
    case = cases.PRESETS["quick"][0]
    timing.measure_ceiling(clock, wgdml.asarray(data.make("random", case), device=device).buffer)
    result = run.run_case(clock, case, "random", run.Options(end_to_end=False))
    assert result["exact"] and result["device_us"] > 0
    assert "host clock" in clock.method


def test_a_wrong_answer_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = run.Prepared.answer

    def wrong(self: run.Prepared) -> tuple[Any, Any]:
        values, indices = right(self)
        if values is not None:
            indices[0, 1] ^= 1
        return values, indices

    monkeypatch.setattr(run.Prepared, "answer", wrong)
    result, document = quick(tmp_path / "out.json", "topk:256x1000:k5,argmax:1x2^16", "--data", "random", "--peers", "none")
    assert result.exit_code == 1
    assert [r["exact"] for r in document["cases"]] == [True, False]
    assert document["cases"][1]["problem"].startswith("indices: 1 of 1280 elements differ, the first at 1: ")
    assert "1 of 2 exact" in result.stdout and "WRONG" in result.stdout


def test_an_adapter_with_small_buffers(tmp_path: Path, device: wgdml.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs what fits, and says what does not; what is asked for by name is refused."""
    limits = {"max-buffer-size": 1 << 19, "max-storage-buffer-binding-size": 1 << 18}
    small = wgdml.Device(device.gpu_device.adapter.request_device_sync(required_limits=limits))
    monkeypatch.setattr(wgdml, "default_device", lambda: small)
    file = tmp_path / "out.json"
    result = bench("--quick", "--device-only", "--peers", "none", "--data", "random", "--json", file)
    assert result.exit_code == 0, result.output
    run_here = ["argmax:1x2^16", "topk:1x2^16:k100", "sort:64x1024"]
    assert [r["case"] for r in json.loads(file.read_text())["cases"]] == run_here
    left_out = "argmax:256x1000, argmax:256x1000:axis0, topk:256x1000:k5, topk:1x2^16:k1024, topk:1024x256:axis0:k10"
    assert f"left out, as this device's buffers are too small: {left_out}\n" in result.stderr
    # Indices of narrow elements may be what is too large.
    refused = bench("--cases", "sort:3x60000:uint8", "--device-only")
    assert refused.exit_code == 2 and "its 720000 bytes are over this device's largest buffer" in refused.stderr
    none = bench("--preset", "gpu", "--dtype", "float64")
    assert none.exit_code == 2 and "no case of the table fits this device" in none.stderr


def test_a_case_that_fails_does_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare = run.prepare

    def broken(device: wgdml.Device, case: cases.Case, x: wgdml.Tensor, **options: Any) -> run.Prepared:
        if case.operator == "argmax":
            raise MemoryError("no room")
        return prepare(device, case, x, **options)

    monkeypatch.setattr(run, "prepare", broken)
    file, chart = tmp_path / "out.json", tmp_path / "out.png"
    result, document = quick(file, "topk:256x1000:k5,argmax:1x2^16", "--data", "constant", "--peers", "none", "--plot", chart)
    assert result.exit_code == 1
    assert [r.get("error") for r in document["cases"]] == ["MemoryError: no room", None]
    assert "argmax:1x2^16 constant: MemoryError: no room" in result.stdout


def test_differences_compare_bits() -> None:
    indices = np.array([[0, 1]], np.uint32)
    zeros, signed = np.array([[0.0, 0.0]], np.float32), np.array([[0.0, -0.0]], np.float32)
    assert answers.differences((zeros, indices), (zeros.copy(), indices.copy())) == ""
    assert answers.differences((zeros, indices), (signed, indices)).startswith("values: 1 of 2 elements differ, the first at 1: ")
    assert answers.differences((zeros, indices), (zeros[:, :1], indices)) == "values: float32 (1, 1), expected float32 (1, 2)"


def test_peers_may_settle_ties_but_not_be_wrong() -> None:
    case = cases.Case("topk", (1, 5), 1, 2)
    x = np.array([[1, 3, 3, 3, 2]], np.float32)
    want = answers.answer(case, x)
    assert peers.check(case, x, want, [[3, 3]], [[3, 1]]) == ""
    assert peers.check(case, x, want, [[3, 3]], [[1, 4]]) == "x at the indices is not the right values"
    assert peers.check(case, x, want, [[3, 2]], [[1, 2]]) == "wrong values"
    assert peers.check(case, x, want, [[3, 3]], [[1, 5]]) == "indices out of range"
    assert peers.check(case, x, want, [[3, 3]], [[1, 1]]) == "an index comes twice"


def test_numpy_and_what_speaks_as_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """CuPy by NumPy in its place: what it is asked for, and that events of CUDA time it."""
    waited: list[int] = []
    event = SimpleNamespace(record=lambda: None, synchronize=lambda: None)
    cuda = SimpleNamespace(
        runtime=SimpleNamespace(getDeviceCount=lambda: 1),
        Device=lambda: SimpleNamespace(synchronize=lambda: waited.append(1)),
        Event=lambda: event,
        get_elapsed_time=lambda begin, end: 2.0,
    )
    names = ("argmax", "flip", "argsort", "take_along_axis", "argpartition", "asarray")
    cupy = SimpleNamespace(__version__="14", cuda=cuda, asnumpy=np.asarray, **{name: getattr(np, name) for name in names})
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert peers.PEERS["numpy"].start() == np.__version__ and peers.PEERS["cupy"].start() == "14"
    for case in (cases.parse("topk:3x50:k7"), cases.parse("argmax:3x50:axis0"), cases.parse("sort:3x50")):
        x = data.make("random", case)
        found = {name: peers.PEERS[name].measure(case, x, answers.answer(case, x)) for name in ("numpy", "cupy")}
        assert all(result["correct"] for result in found.values()) and found["cupy"]["us"] == 2000.0
    assert waited and not peers.PEERS["numpy"].on_gpu and peers.PEERS["cupy"].on_gpu


def test_a_peer_that_fails_is_only_reported(device: wgdml.Device) -> None:
    class Broken(peers.Peer):
        name = "broken"

        def bind(self, case: cases.Case, x: Any) -> Any:
            raise RuntimeError("out of memory")

    case = cases.PRESETS["quick"][0]
    result = run.run_case(timing.Clock(device), case, "random", run.Options(peers=(Broken(),), end_to_end=False))
    assert result["exact"] and result["peers"] == {"broken": {"error": "RuntimeError: out of memory"}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "prime"], "--data prime: it must be all or some of random, sorted"),
        (["--dtype", "float8"], "--dtype float8: it must be all or some of float16, float32"),
        (["--algorithms", "bogo"], "--algorithms bogo: it must be all or some of reduce"),
        (["--policies", "luck=7"], "--policies: there is no number named 'luck'; there are occupancy.workgroups,"),
        (["--policies", "luck"], "--policies luck: it must be NAME=N"),
        (["--policies", "luck=1, luck=2"], "--policies luck is given twice"),
        (["--peers", "abacus"], "--peers abacus: it must be auto, all, none or some of torch"),
        (["--quick", "--cases", "nothing*"], "--cases: nothing* is no name of a case"),
        (["--cases", "argmax:256x1000,topk:9x9:k10"], "--cases: topk:9x9:k10: sizes must be from 1 to 2^32 - 1, and k from 1 to 9"),
        (["--cases", "topk:77,sort:2^40:axis0"], "--cases: topk:77: it must have a :kK"),
        (["--cases", "argmax:2^20x2^20"], "--cases argmax:1048576x1048576: its 4398046511104 bytes are over this device's largest"),
        (["--plot", "chart.doc"], "--plot chart.doc: the name must end in .png"),
        (["--json", "no/such/folder.json"], "cannot write no/such/folder.json: there is no directory"),
        (["--quick", "--preset", "gpu"], "--quick and --preset gpu are two tables"),
        (["--quick", "--seed", "3"], "--seed and --count are for --preset any"),
    ],
)
def test_bad_options_are_refused_before_anything_runs(arguments: list[str], message: str) -> None:
    result = bench(*arguments)
    assert result.exit_code == 2 and result.stdout == ""
    assert message in result.stderr


def test_the_cases_can_be_listed() -> None:
    result = bench("--list", "--preset", "gpu")
    assert result.exit_code == 0
    assert result.stdout.split() == [c.name for c in cases.PRESETS["gpu"]]
