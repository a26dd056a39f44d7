"""Which numbers to try: each moved by halves and doubles, and kept where that is faster for sure.

Nothing here knows a device. The meter has problems, their plans and the ratios of times, so that
tests can search by one with a clock of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wgdml.plan import Range

from .meter import DeviceMeter
from .pairs import Compared, gain_of

Numbers = dict[str, float]

#: Octaves by which a number moves: far ones first, which cross what is slow on both sides.
_STEPS = (4, 2, 1)
_AT_ONCE = 6  # problems of a comparison
_FEWEST = 3  # problems that a change must matter to
_LOOKS = 3  # problems that are looked at before, in two rounds
_ROUNDS = 4  # of a block
_BLOCKS = 4  # as long as it is not sure
_ALPHA = 0.01
_MARGIN = 0.03  # logarithm: the least gain that counts
_WORST = 0.2  # logarithm: a number that costs some problem more is not taken, whatever it gains
_WORST_OF_ALL = 1.5  # the same of a whole table: from a bad one nearly all problems win, not all
_SOME = 50  # problems by which numbers are ordered
_SCREENED = 24  # problems that are looked at for that, at the end; that a whole table is judged by


@dataclass(frozen=True)
class Change:
    """A number that was changed, and what that gained where it matters."""

    name: str
    before: float
    after: float
    gain: float  #: Logarithm of the ratio of times, the mean over problems.
    chance: float
    problems: int


class OutOfTimeError(Exception):
    """The search must end."""


@dataclass
class Search:
    """Numbers that are faster than those it starts from.

    ``leaps``: whole tables that are tried first. ``first_calls``: a change may not slow first calls
    down by more than it gains.
    """

    meter: DeviceMeter
    ranges: Mapping[str, Range]
    numbers: Numbers
    seconds: float
    now: Callable[[], float]
    told: Callable[[str, float], None] = lambda doing, share: None
    leaps: Iterable[Numbers] = ()
    first_calls: bool = False
    changes: list[Change] = field(default_factory=list)
    compared: int = 0

    def __post_init__(self) -> None:
        self._began = self.now()
        self._longest = 0.0
        self._plans: list[Any] = [self.meter.plan(self.numbers, p) for p in self.meter.problems]
        self._random = random.Random(1)
        self._idle: set[tuple[str, float]] = set()  # values that change hardly a plan
        self._refused: set[int] = set()  # pairs of plans that were compared, hashed

    def run(self) -> Numbers:
        """The numbers, when none can be improved or the time is over."""
        try:
            for table in self.leaps:
                self._leap(self.numbers | table)
            while any([self._tune(name) for name in self._by_effect()]):
                continue
        except OutOfTimeError:
            pass
        return self.numbers

    def _by_effect(self) -> list[str]:
        """The numbers that some plan depends on, those of most plans first."""
        effects: dict[str, int] = {}
        for way in (_STEPS[0], -_STEPS[0]):
            moved = {name: own.moved(self.numbers[name], way) for name, own in self.ranges.items()}
            for policy in dict.fromkeys(name.partition(".")[0] for name in moved):
                all_of = {name: value for name, value in moved.items() if name.startswith(f"{policy}.")}
                # Most policies matter to no plan of a machine, so that their numbers need no look.
                for name in all_of if self._effect(self.numbers | all_of) else ():
                    effects[name] = effects.get(name, 0) + self._effect(self.numbers | {name: moved[name]})
                self._check()
        return sorted((n for n, effect in effects.items() if effect), key=lambda n: -effects[n])

    def _effect(self, numbers: Numbers) -> int:
        """How many problems of some have other plans by other numbers."""
        step = max(1, len(self.meter.problems) // _SOME)
        own = [*zip(self.meter.problems, self._plans, strict=True)][::step]
        return sum(self.meter.plan(numbers, problem) != plan for problem, plan in own)

    def _tune(self, name: str) -> bool:
        """Moves a number for as long as that is faster. Whether it has moved."""
        before = self.numbers[name]
        for step in _STEPS:
            for way in (step, -step):
                while self._move(name, way):
                    continue
        return self.numbers[name] != before

    def _move(self, name: str, octaves: int) -> bool:
        """One step, and as many more as change no plan; whether it was kept."""
        value = self.numbers[name]
        while (further := self.ranges[name].moved(value, octaves)) != value:
            value = further
            outcome = None if (name, value) in self._idle else self._try(name, self.numbers | {name: value})
            if outcome is None:
                self._idle.add((name, value))
            if outcome is not None:
                return outcome
        return False

    def _leap(self, numbers: Numbers) -> None:
        """Takes a whole table that is better. Many problems decide: some lose by any table."""
        self._check()
        started = self.now()
        self.told("whole tables", (started - self._began) / self.seconds)
        affected, plans = self._affected(numbers)
        if len(affected) >= _FEWEST:
            chosen = self._random.sample(affected, min(_SCREENED, len(affected)))
            if found := self._better(chosen, plans, _WORST_OF_ALL):
                self._keep(numbers, plans, found.gain, found.chance, len(affected))
        self._longest = max(self._longest, self.now() - started)

    def _try(self, name: str, numbers: Numbers) -> bool | None:
        """Whether other numbers are better, and so kept. None where hardly a plan changes."""
        self._check()
        affected, plans = self._affected(numbers)
        if len(affected) < _FEWEST:
            return None
        compared = hash(tuple((i, self._plans[i], plans[i]) for i in affected))
        if compared in self._refused:
            return False
        started = self.now()
        self.told(name, (started - self._began) / self.seconds)
        chosen = self._random.sample(affected, len(affected))
        found = None if self._loses(chosen[:_LOOKS], plans) else self._better(chosen[:_AT_ONCE], plans)
        # Others decide too: the first were lucky, perhaps.
        again = found and self._better((chosen[_AT_ONCE:] + chosen)[:_AT_ONCE], plans)
        sound = again and all(self._harmless(i, plans) for i in chosen[2 * _AT_ONCE :][:_SCREENED])
        self._longest = max(self._longest, self.now() - started)
        if not found or not again or not sound:
            self._refused.add(compared)
            return False
        self._keep(numbers, plans, min(found.gain, again.gain), max(found.chance, again.chance), len(affected))
        return True

    def _keep(self, numbers: Numbers, plans: list[Any], gain: float, chance: float, problems: int) -> None:
        for changed, after in numbers.items():
            if after != self.numbers[changed]:
                self.changes.append(Change(changed, self.numbers[changed], after, gain, chance, problems))
        self.numbers, self._plans = numbers, plans
        self._idle.clear()

    def _affected(self, numbers: Numbers) -> tuple[list[int], list[Any]]:
        """The problems that have other plans by other numbers, and all plans."""
        plans = [self.meter.plan(numbers, p) for p in self.meter.problems]
        return [i for i, (a, b) in enumerate(zip(self._plans, plans, strict=True)) if a != b], plans

    def _better(self, chosen: list[int], plans: list[Any], worst: float = _WORST) -> Compared | None:
        """The comparison, if the second plans are faster for sure."""
        if any(plans[i] is None for i in chosen):
            return None
        pairs = [(self.meter.problems[i], self._plans[i], plans[i]) for i in chosen]
        self.compared += 1
        found: Compared | None = None
        for _ in range(_BLOCKS):
            block = self.meter.compare(pairs, _ROUNDS)
            found = found + block if found else block
            if found.gain < _MARGIN / 2 or found.worst > 2 * worst:
                return None
            if found.gain > _MARGIN and found.chance < _ALPHA and found.worst < worst:
                slower = self.meter.first_calls(pairs) if self.first_calls else 0.0
                return found if slower <= found.gain else None
        return None

    def _loses(self, chosen: list[int], plans: list[Any]) -> bool:
        """Whether a few problems lose so much at one look that more would be in vain."""
        if any(plans[i] is None for i in chosen):
            return True
        self.compared += 1
        look = self.meter.compare([(self.meter.problems[i], self._plans[i], plans[i]) for i in chosen], 2)
        return gain_of([ratio for own in look.ratios for ratio in own]) < -2 * _MARGIN

    def _harmless(self, problem: int, plans: list[Any]) -> bool:
        """Does a problem lose little or nothing? A second look is taken where it seems to."""
        pair = (self.meter.problems[problem], self._plans[problem], plans[problem])
        looks = (self.meter.compare([pair], rounds) for rounds in (1, _ROUNDS))
        return pair[2] is not None and any(look.worst < _WORST for look in looks)

    def _check(self) -> None:
        if self.now() - self._began + self._longest > self.seconds:
            raise OutOfTimeError
