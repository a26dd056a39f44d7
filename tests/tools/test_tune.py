"""``wgdml tune``: what is faster is found, and noise is not, by a clock of its own; the command."""

from __future__ import annotations

import itertools
import json
import math
import os
from dataclasses import replace
from typing import Any

import click.testing
import numpy as np
import pytest
import scipy.stats

import wgdml.cli
from wgdml.bench import timing
from wgdml.plan import Planner, Range, numbers_of, ranges
from wgdml.runtime import profile
from wgdml.tune import command
from wgdml.tune.meter import problems
from wgdml.tune.pairs import Compared, chance, gain_of
from wgdml.tune.search import Search

# Pairs of times ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_chance_is_wilcoxons(seed):
    x = np.random.default_rng(seed).normal(0.2, 1, 40).round(1)
    x = x[x != 0]
    theirs = scipy.stats.wilcoxon(x, alternative="greater", correction=True, method="asymptotic")
    assert chance(x) == pytest.approx(theirs.pvalue, rel=1e-6)
    assert chance([0.0, 0.0]) == 1.0 and chance([0.1] * 20) < 1e-4 < 0.999 < chance([-0.1] * 20)


def test_outliers_hardly_move_a_gain():
    assert gain_of([0.1, 0.1, 0.1, 5.0, 0.1]) == pytest.approx(0.1)
    both = Compared(((0.1, 0.1), (0.3, 0.3))) + Compared(((0.1, 0.1), (-0.3, 0.3)))
    assert both.gains == pytest.approx([0.1, 0.3]) and both.gain == pytest.approx(0.2) and both.worst == pytest.approx(-0.1)


# A search, by a clock of its own ------------------------------------------------------------------


class FakeMeter:
    """Problems whose times depend on some numbers each, with a best one and noise."""

    def __init__(self, best: dict[str, float], noise: float, seed: int, count: int = 24) -> None:
        self.best, self.noise, self.rng = best, noise, np.random.default_rng(seed)
        self.problems = range(count)
        self.clock = 0.0
        self.slower_calls = 0.0

    def depends(self, problem: int) -> list[str]:
        return [name for number, name in enumerate(self.best) if problem % 3 == number % 3]

    def plan(self, numbers, problem):
        return tuple((name, numbers[name]) for name in self.depends(problem))

    def seconds(self, problem: int, plan) -> float:
        far = sum(abs(math.log2(value / self.best[name])) for name, value in plan)
        return 1e-3 * math.exp(0.15 * far)

    def compare(self, pairs, rounds):
        found = []
        for problem, first, second in pairs:
            times = [self.seconds(problem, plan) for plan in (first, second)]
            self.clock += 2 * rounds * sum(times) + 0.05
            noise = self.rng.standard_t(2, 2 * rounds) * self.noise  # with outliers
            found.append(tuple(math.log(times[0] / times[1]) + noise))
        return Compared(tuple(found))

    def first_calls(self, pairs):
        return self.slower_calls


RANGES = {name: Range(1, 1 << 20) for name in ("a.x", "a.y", "b.x", "b.y", "c.x")}
BEST = {"a.x": 64, "a.y": 8, "b.x": 1 << 14, "b.y": 300, "c.x": 5}


def search(meter: FakeMeter, start: dict[str, float], seconds: float = 1e4, **options: Any) -> Search:
    return Search(meter, RANGES, start, seconds, lambda: meter.clock, **options)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("start", [1, 64, 1 << 20])
def test_the_best_numbers_are_found_from_anywhere(start, seed):
    meter = FakeMeter(BEST, 0.05, seed)
    found = search(meter, dict.fromkeys(RANGES, start))
    for name, value in found.run().items():
        assert abs(math.log2(value / BEST[name])) <= 1.01, (name, value)
    assert found.changes and all(change.gain > 0.03 and change.chance < 0.01 for change in found.changes)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_noise_changes_no_number(noise, seed):
    meter = FakeMeter(BEST, noise, seed)
    meter.seconds = lambda problem, plan: 1e-3  # type: ignore[method-assign]
    start = dict.fromkeys(RANGES, 64.0)
    found = search(meter, start)
    assert found.run() == start and not found.changes and found.compared > 10


def test_two_searches_of_a_noisy_machine_agree():
    ends = [search(FakeMeter(BEST, 0.2, seed), dict.fromkeys(RANGES, 64)).run() for seed in range(4)]
    for name in RANGES:
        values = [math.log2(end[name]) for end in ends]
        assert max(values) - min(values) <= 2, (name, values)


@pytest.mark.parametrize("seconds", [0.5, 3.0, 20.0])
def test_it_ends_in_time(seconds):
    meter = FakeMeter(BEST, 0.05, 0)
    search(meter, dict.fromkeys(RANGES, 1), seconds).run()
    assert meter.clock <= max(seconds, 4.0)  # the first comparison may take longer


@pytest.mark.parametrize("seconds", [7.0, 8.0, 10.0, 12.0])
def test_whole_tables_end_in_time_and_are_told(seconds):
    meter, told = FakeMeter(BEST, 0.05, 0), []
    tables = [dict.fromkeys(RANGES, 1 << n) for n in range(20)]
    search(meter, dict.fromkeys(RANGES, 1), seconds, leaps=tables, told=lambda doing, share: told.append(doing)).run()
    assert meter.clock <= seconds and told[0] == "whole tables"


def test_what_costs_one_problem_much_is_not_taken():
    meter = FakeMeter(BEST, 0.02, 0)
    fair = meter.seconds
    meter.seconds = lambda p, plan: fair(p, plan) * (4 if p == 3 and dict(plan)["a.x"] > 4 else 1)  # type: ignore[method-assign]
    assert search(meter, BEST | {"a.x": 4}).run()["a.x"] <= 4


def test_first_calls_count_where_they_take_long():
    for slower, taken in ((0.9, False), (0.01, True)):
        meter = FakeMeter(BEST, 0.02, 0)
        meter.slower_calls = slower
        assert (search(meter, BEST | {"a.x": 4}, first_calls=True).run()["a.x"] > 4) == taken


def test_a_whole_table_is_tried_first():
    meter = FakeMeter(BEST, 0.05, 0)
    found = search(meter, dict.fromkeys(RANGES, 1 << 20), seconds=6.0, leaps=[BEST])
    assert found.run() == BEST


def test_a_table_that_most_gain_by_is_taken_though_some_lose():
    meter = FakeMeter(BEST, 0.05, 1)
    told = meter.seconds
    # A third of the problems take longer by it, half as long again; the others a tenth.
    meter.seconds = lambda problem, plan: (  # type: ignore[method-assign]
        1e-3 * (1.5 if plan == meter.plan(BEST, problem) else 1.0) if problem % 3 == 0 else told(problem, plan)
    )
    found = search(meter, dict.fromkeys(RANGES, 1 << 20), seconds=9.0, leaps=[BEST])
    assert found.run() == BEST
    alone = search(meter, BEST | {"a.x": 1 << 20}, seconds=9.0)
    assert alone.run()["a.x"] == 1 << 20  # a number alone may cost no problem so much


def test_what_cannot_be_served_is_not_taken():
    meter = FakeMeter(BEST, 0.02, 0)
    plan = meter.plan
    meter.plan = lambda numbers, p: None if numbers["a.x"] > 4 else plan(numbers, p)  # type: ignore[method-assign]
    assert search(meter, BEST | {"a.x": 4}).run()["a.x"] <= 4


# On the device -----------------------------------------------------------------------------------


def test_problems_are_of_all_kinds():
    drawn = problems(1, 200, 2_000_000)
    assert {case.operator for case in drawn} == {"topk", "argmax", "sort"} and 2_000_000 < max(
        case.bytes for case in drawn
    ) <= 32_000_000
    assert len({case.name for case in drawn}) == 200 and not {c.name for c in drawn} & {c.name for c in problems(2, 200, 2_000_000)}


@pytest.mark.parametrize("kind", ["software", "integrated"])
def test_a_short_run_says_what_it_found(device, kind, monkeypatch):
    warm, warmed = timing.Clock.warm, []

    def at_first(clock: timing.Clock) -> None:
        """A GPU's clocks climb for 100 ms before each measurement. Here a few show that."""
        warmed.append(clock.warm_seconds)
        if len(warmed) <= 5:
            warm(clock)

    monkeypatch.setattr(timing.Clock, "warm", at_first)
    told: list[float] = []
    own = wgdml.Device(device.gpu_device, planner=lambda machine: Planner(replace(machine, kind=kind)))
    own.machine = own.planner.machine
    document = command.tuned(own, command.Effort(2.0, 8, 2, 1 << 20), lambda doing, share: told.append(share))
    assert (kind == "integrated") == (max(warmed) > 0)
    json.dumps(document, allow_nan=False)
    facts = document["facts"]
    assert facts["empty_dispatch_us"] > 0 and facts["workgroups_at_once"] >= 1 and max(map(len, facts["reads"].values())) > 3
    if device.machine.subgroups:
        assert set(facts["subgroup_sizes"]) <= {4, 8, 16, 32, 64, 128} and facts["subgroup_sizes"]
    assert document["wrong"] == [] and document["judged"]["gain"] >= 1 and told and max(told) <= 1
    allowed = ranges(own.planner.policies)
    default = numbers_of(own.planner.policies)
    for name, value in document["numbers"].items():
        assert value in allowed[name] and value != default[name]


# The command -------------------------------------------------------------------------------------


#: What ``tuned`` makes of a run.
TUNED: dict[str, Any] = {
    "schema": 1,
    "command": "tune",
    "when": "2026-11-24T00:00:00Z",
    "adapter": {"device": "A GPU (its chip)", "adapter_type": "DiscreteGPU", "backend_type": "Vulkan", "description": "1.2"},
    "timer": "none",
    "facts": {
        "reads": {"4": {"8": 5e9}},
        "empty_dispatch_us": 30.0,
        "dependent_dispatch_us": 10.0,
        "barrier_ns": 200.0,
        "atomic_ns": 300.0,
        "workgroups_at_once": 2,
        "subgroup_sizes": (8,),
    },
    "numbers": {"serial_select.slices": 16},
    "default": {"serial_select.slices": 8},
    "changes": [{"name": "serial_select.slices", "before": 8, "after": 16, "gain": 0.2, "chance": 0.001, "problems": 7}],
    "judged": {"problems": 9, "gain": 1.1, "worst": 0.99, "first_calls": 1.0, "ratios": {}},
    "comparisons": 3,
    "wrong": [],
    "seconds": 1.0,
}


@pytest.fixture
def found(monkeypatch, tmp_path, device):
    """What a run finds, without one; profiles are in an empty folder."""
    monkeypatch.delenv("WGDML_PROFILE", raising=False)
    monkeypatch.setenv("MESA_SHADER_CACHE_DISABLE", "false")
    monkeypatch.setattr(profile, "_folder", lambda: tmp_path / "profiles")
    document = TUNED | {"adapter": {key: str(value) for key, value in device.adapter_info.items()}}
    monkeypatch.setattr(command, "tuned", lambda *_: document)
    return document


def run(*arguments: object) -> click.testing.Result:
    return click.testing.CliRunner().invoke(wgdml.cli.main, [*map(str, arguments)])


def test_a_profile_is_written_used_named_and_removed(found, tmp_path, device):
    assert "wgdml tune makes a profile" in run("info").output or wgdml.default_device().profile == {}
    result = run("tune", "--json", tmp_path / "out.json")
    assert result.exit_code == 0, result.output
    path = profile.path_of(device.adapter_info)
    assert f"wrote {path}" in result.output.replace("\n", "") and "serial_select.slices" in result.output
    assert json.loads((tmp_path / "out.json").read_text())["numbers"] == found["numbers"]
    assert json.loads(path.read_text())["numbers"] == found["numbers"]
    assert wgdml.Device().profile == found["numbers"]
    older = path.with_name(path.name.replace("_0.", "_0.0."))
    older.write_text("{}")
    run("tune")
    assert sorted(path.parent.iterdir()) == [path]  # in the place of those of other versions
    result = run("tune", "--reset")
    assert result.exit_code == 0 and f"removed {path}" in result.output and not path.exists()
    assert "this adapter has no profile" in run("tune", "--reset").output
    assert wgdml.Device().profile == {}


@pytest.mark.parametrize("problem", [ModuleNotFoundError("No module named 'platformdirs'"), RuntimeError("no home directory")])
@pytest.mark.parametrize(("option", "doing"), [(("--quick",), "write"), (("--reset",), "remove")])
def test_a_profile_without_a_place(found, monkeypatch, problem, option, doing):
    def nowhere() -> None:
        raise problem

    monkeypatch.setattr(profile, "_folder", nowhere)
    result = run("tune", *option)
    assert result.exit_code == 1 and result.stderr == f"wgdml: error: cannot {doing} the profile: {problem}\n"


def test_a_profile_that_cannot_be_written_is_known_before(found, monkeypatch, tmp_path, device):
    monkeypatch.setattr(command, "tuned", lambda *_: pytest.fail("it measured"))
    (tmp_path / "profiles").write_text("a file in the folder's place")
    result = run("tune", "--quick")
    assert result.exit_code == 1 and "cannot write the profile: " in result.stderr
    (tmp_path / "profiles").unlink()
    profile.path_of(device.adapter_info).mkdir(parents=True)
    result = run("tune", "--quick")
    assert result.exit_code == 2 and "it is a directory" in result.stderr


def test_a_profile_that_may_not_be_removed(found, monkeypatch, device):
    path = profile.write(device.adapter_info, "2026-11-01", {"serial_select.slices": 4})

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(type(path), "unlink", refused)
    result = run("tune", "--reset")
    assert result.exit_code == 1 and result.stdout == ""
    assert result.stderr == f"wgdml: error: cannot remove the profile: [Errno 13] Permission denied: '{path}'\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full device as Linux has it")
def test_a_full_disk_is_said(found):
    result = run("tune", "--dry-run", "--json", "/dev/full")
    assert result.exit_code == 2 and "cannot write /dev/full: No space left on device" in result.stderr


def test_a_dry_run_writes_nothing(found, device):
    result = run("tune", "--dry-run")
    assert result.exit_code == 0 and "wrote" not in result.output and "1.10 times as fast" in result.output
    assert not profile.path_of(device.adapter_info).parent.exists()


@pytest.mark.parametrize("exception", [KeyboardInterrupt, MemoryError])
def test_what_interrupts_it_leaves_the_old_profile(found, device, monkeypatch, exception):
    path = profile.write(device.adapter_info, "2026-11-01", {"serial_select.slices": 4})
    before = path.read_bytes()

    def interrupted(*_: object) -> None:
        raise exception

    monkeypatch.setattr(command, "tuned", interrupted)
    result = run("tune")
    assert result.exit_code == (130 if exception is KeyboardInterrupt else 1)
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]
    monkeypatch.setattr(command, "tuned", lambda *_: found)
    for step, name in itertools.product((exception,), ("replace",)):
        with monkeypatch.context() as patch:
            patch.setattr(profile.os, name, interrupted)
            run("tune")
        assert path.read_bytes() == before and list(path.parent.iterdir()) == [path], step


def test_a_reader_that_has_gone_costs_no_profile(found, device, monkeypatch):
    def gone(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(command, "_print", gone)
    assert run("tune").exit_code == 141
    assert json.loads(profile.path_of(device.adapter_info).read_text())["numbers"] == found["numbers"]


def test_a_profile_that_cannot_be_written_costs_no_table(found, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(profile, "write_json", full)
    result = run("tune")
    assert result.exit_code != 0 and "cannot write the profile: [Errno 28] No space left" in result.stderr
    assert "1.10 times as fast" in result.stdout and "wrote" not in result.stdout


def test_two_answers_are_a_defect(found, device):
    found["wrong"] = ["topk:9x9:k2"]
    result = run("tune")
    assert result.exit_code == 1 and "topk:9x9:k2: two plans have two answers" in result.output
    assert not profile.path_of(device.adapter_info).exists()


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("--reset", "--quick"), "--reset measures nothing"),
        (("--json", "none/out.json"), "there is no directory none"),
        (("--json", "-"), "cannot write -: standard output has"),
    ],
)
def test_bad_options(found, arguments, rule):
    result = run("tune", *arguments)
    assert result.exit_code == 2 and rule in result.stderr
