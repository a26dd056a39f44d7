"""Problems of all kinds, their plans by any numbers, and the times of those on a device."""

from __future__ import annotations

import math
import statistics
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy as np

import wgdml
from wgdml.bench import timing
from wgdml.bench.cases import Case, draw
from wgdml.bench.data import make
from wgdml.bench.run import selection_of
from wgdml.plan import Machine, Plan, Planner
from wgdml.runtime.context import Kept
from wgdml.runtime.executor import PreparedPlan, record_steps
from wgdml.runtime.profile import policies_of

from .pairs import Compared

_WRONG = -9.0  # a logarithm: nothing is as slow
_HOPELESS = 3.0  # times as slow at first sight, of most problems: not worth more pairs
_SECONDS = 0.6  # of a block of pairs, which has fewer rounds where they are long
_KEPT = 512  # plans


def problems(seed: int, count: int, most: int) -> tuple[Case, ...]:
    """Problems of up to ``most`` bytes, one in eight of up to 16 times as much; as many sorts."""
    small, large = draw(seed, count, most), draw(seed, count, 16 * most)
    return tuple(
        replace(small[n], operator="sort", k=small[n].length)
        if n % 8 == 7 and small[n].bytes <= most // 4
        else large[n]
        if n % 8 == 3
        else small[n]
        for n in range(count)
    )


def _planner_by(machine: Machine, rejected: set[str], numbers: tuple[tuple[str, float], ...]) -> Planner:
    """A planner by numbers, which does without the kernels that are rejected, also later."""
    planner = Planner(machine, policies_of(machine, dict(numbers)))
    planner.rejected = rejected
    return planner


class DeviceMeter:
    """Times plans in pairs, and their first calls. All problems share their buffers."""

    def __init__(self, clock: timing.Clock, cases: Sequence[Case], costs: dict[Any, float] | None = None) -> None:
        self.clock, self.device = clock, clock.device
        self.problems = cases
        self.wrong: list[str] = []  #: Problems with two answers: a defect.
        #: A quarter of the problems are sorted, which makes thresholds say little.
        self._kinds = {case.name: "sorted" if number % 4 == 3 else "random" for number, case in enumerate(cases)}
        self._inputs = {kind: self._input(*kind) for kind in {(self._kinds[case.name], case.dtype) for case in cases}}
        results = max(prod(case.result_shape) for case in cases)
        self._values = self._tensor(np.zeros(8 * results, np.uint8))
        self._indices = self._tensor(np.zeros(results, np.uint32))
        self._selections = {case.name: selection_of(case) for case in cases}
        by = partial(_planner_by, self.device.machine, self.device.planner.rejected)
        self._planner = lru_cache(maxsize=8)(by)
        self._prepared = Kept(threading.RLock(), _KEPT)
        self.costs: dict[Any, float] = {} if costs is None else costs  #: Seconds of first uses.
        self._times: dict[tuple[str, Plan], float] = {}
        self._answers: dict[str, bytes] = {}

    def _input(self, kind: str, dtype: str) -> wgdml.Tensor:
        """The elements of all problems of a kind and type."""
        size = max(case.elements for case in self.problems if (self._kinds[case.name], case.dtype) == (kind, dtype))
        return self._tensor(make(kind, Case("sort", (1, size), 1, size, dtype=dtype)))

    def _tensor(self, array: Any) -> wgdml.Tensor:
        return wgdml.asarray(array, device=self.device)

    @property
    def buffer(self) -> Any:
        return max((tensor.buffer for tensor in self._inputs.values()), key=lambda buffer: buffer.size)

    # -- plans --

    def plan(self, numbers: Mapping[str, float], problem: Case) -> Plan | None:
        """What is run for a problem; None where it cannot be served."""
        try:
            return self._planner(tuple(sorted(numbers.items()))).plan(self._selections[problem.name])
        except MemoryError:
            return None

    def _ready(self, problem: Case, plan: Plan) -> PreparedPlan:
        """A plan that has run, so that its kernels are compiled."""
        key = problem.name, plan
        prepared: PreparedPlan | None = self._prepared.get(key)
        if prepared is None:
            prepared = self._prepare(problem, plan)
            self._prepared.put(key, prepared)
        return prepared

    def _prepare(self, problem: Case, plan: Plan) -> PreparedPlan:
        """Takes the time of the first run and of later ones; looks at the answer."""
        encoder = self.device.gpu_device.create_command_encoder()
        encoder.clear_buffer(self._indices.buffer)
        self.device.gpu_device.queue.submit([encoder.finish()])
        own = self.device.pipelines
        new = {(d.kernel, d.constants) for d in plan.dispatches if not own.has(d)}
        started = time.perf_counter()
        prepared = self.device.compiled(partial(self._served, problem, plan))
        self.clock.once(self._record(problem, prepared))
        first = time.perf_counter() - started
        again = min(self.clock.once(self._record(problem, prepared)) for _ in range(3 if first < 0.1 else 1))
        self.costs |= {key: max(0.0, first - again) / len(new) for key in new}
        self._times[problem.name, plan] = again
        # Every plan of a problem has one answer.
        found = self.device.gpu_device.queue.read_buffer(self._indices.buffer, 0, 4 * prod(problem.result_shape))
        if self._answers.setdefault(problem.name, bytes(found)) != found:
            self.wrong.append(problem.name)
        return prepared

    def _served(self, problem: Case, plan: Plan) -> Plan:
        """A plan, or where it has a kernel that is rejected, what the device has in its place."""
        rejected = self.device.planner.rejected
        if any(d.kernel in rejected for d in plan.dispatches):
            return self.device.planner.plan(self._selections[problem.name])
        return plan

    def _record(self, problem: Case, prepared: PreparedPlan) -> timing.Record:
        resources = {
            "input": (self._inputs[self._kinds[problem.name], problem.dtype].buffer, 0),
            "indices": (self._indices.buffer, 0),
        }
        if self._selections[problem.name].has_values:
            resources["values"] = (self._values.buffer, 0)
        return partial(record_steps, steps=prepared.steps(resources))

    # -- times --

    def compare(self, pairs: Sequence[tuple[Case, Plan, Plan]], rounds: int) -> Compared:
        """Times of (problem, first plan, second plan), in rounds."""
        wrong = len(self.wrong)
        both = [[self._ready(case, plan) for plan in plans] for case, *plans in pairs]
        if len(self.wrong) > wrong:
            return Compared(((_WRONG, _WRONG),) * len(pairs))
        seen = [math.log(self._times[case.name, a] / self._times[case.name, b]) for case, a, b in pairs]
        if statistics.median(seen) < -math.log(_HOPELESS):
            return Compared(tuple((ratio, ratio) for ratio in seen))
        long = sum(self._times[case.name, plan] for case, *plans in pairs for plan in plans)
        rounds = max(1, min(rounds, int(_SECONDS / (2 * long))))
        records: list[timing.Record] = []
        for (case, *_), (a, b) in zip(pairs, both, strict=True):
            first, second = self._record(case, a), self._record(case, b)
            records += [first, second, second, first]
        times = np.maximum(self.clock.time(records, rounds), 1e-9).reshape(rounds, len(pairs), 4)
        # The shorter of two, around each other: what else the machine does lengthens some.
        ratios = np.log(times[..., [0, 3]].min(axis=-1) / times[..., [1, 2]].min(axis=-1))
        return Compared(tuple(tuple(map(float, own)) for own in ratios.T))

    def times(self, case: Case, plans: Sequence[Plan], rounds: int) -> list[float]:
        """Seconds of several plans of a problem, medians of rounds of one each.

        On a software adapter the least: its processors do other things too.
        """
        records = [self._record(case, self._ready(case, plan)) for plan in plans]
        found = np.maximum(self.clock.time(records, rounds), 1e-9)
        return [float(t) for t in (found.min(axis=0) if self.clock.software else np.median(found, axis=0))]

    def _first_call(self, case: Case, plan: Plan) -> float:
        kernels = {(d.kernel, d.constants) for d in plan.dispatches}
        return sum(self.costs.get(key, 0.0) for key in kernels) + self._times[case.name, plan]

    def first_calls(self, pairs: Sequence[tuple[Case, Plan, Plan]]) -> float:
        """The mean logarithm of what the first call takes more by the second plan."""
        more = [math.log(self._first_call(case, b) / self._first_call(case, a)) for case, a, b in pairs]
        return sum(more) / len(more)
