"""Every shader variant that the planner can emit, over a grid of problems and limits.

The constants fall in three kinds. Those that shape the text or an array (algorithm, layout, width
of the element, k, limits) are swept in full against each other, as far as the planner lets them
meet. What is written, and how wide loads may be, are swept against all of the planner's own
choices, and against forced algorithms for a few k. Whether elements are floats, and where their
NaNs go, is swept against every kernel, on one layout each.

``python tests/variants.py`` lets two compilers judge each one: Naga, as wgpu uses it, and Tint, as
Dawn and Chromium use it, which also rejects barriers in control flow that is not uniform. It needs
Node and, in tests/web, ``npm ci``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, product
from math import prod
from pathlib import Path
from typing import Any

from planning import GPU

from wgdml import shaders
from wgdml.plan import Machine, Plan, Planner
from wgdml.plan.ranks import numbers_plan, own_ranks, partition_plan, rank_words, ranks_plan
from wgdml.plan.running import Rows, begin_plan, merge_plan, result_plan, update_plan
from wgdml.plan.take import take_plan
from wgdml.selection import BESIDES, FORMATS, Beside, Layout, Order, Selection, make_selection, packed_strides, take_selection

#: The machines planned for: the specification's minima, as a GPU and as a CPU, and what the known
#: adapters have.
LIMITS = {
    "minimum": Machine(),
    "minimum, software": Machine(kind="software"),
    "lavapipe": Machine(128 << 20, (2 << 30) - 1, 1024, 32 << 10, kind="software"),
    "swiftshader": Machine(1 << 30, 1 << 30, 256, 32 << 10, kind="software"),
    "many invocations, little memory": Machine(1 << 30, 1 << 30, 1024, 16 << 10, subgroups=True),
    "metal": Machine(1 << 30, 1 << 30, 1024, 32 << 10, subgroups=True),
    "gpu": GPU,
    "gpu, no subgroups": replace(GPU, subgroups=False),
}


@dataclass(frozen=True)
class Variant:
    """One text and one way to come by it."""

    kernel: str
    text: str
    constants: dict[str, int]
    limits: Machine
    origin: str  #: the problem that it was met in, for people


def padded(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Strides with a gap after every dimension, so that no two of them merge."""
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step = step * size + 1
    return tuple(reversed(strides))


def selection(
    element: str,
    sizes: tuple[int, ...],
    axes: tuple[int, ...],
    k: int,
    order: Order,
    outputs: str,
    *,
    strides: tuple[int, ...] | None = None,
    index_bytes: int = 8,
    last_index: bool = False,
) -> Selection:
    """A problem with packed outputs; ``outputs`` is "values", "indices" or "both"."""
    shape = tuple(k if d in axes and len(axes) == 1 else 1 if d in axes else n for d, n in enumerate(sizes))
    out = Layout.packed(shape)
    return make_selection(
        element,
        Layout(sizes, strides or packed_strides(sizes)),
        axes,
        k,
        order,
        values=None if outputs == "indices" else out,
        indices=None if outputs == "values" else out,
        index_bytes=index_bytes,
        last_index=last_index,
    )


def with_spans(problem: Selection, given: tuple[str, ...], payload: str = "uint32") -> Selection:
    """The problem with lengths, starts, counts or a payload, one after the other in memory."""
    batch, step = [], 1
    for d in reversed(problem.batch):
        batch.append(replace(d, besides=tuple(step if name in given else 0 for name in BESIDES)))
        step *= d.size
    besides: dict[str, Any] = {name: Beside(payload if name == "payload" else "int32") for name in given}
    return replace(problem, batch=tuple(batch[::-1]), **besides, index_bytes=8 if "64" in payload else 4)


#: Sizes and axis of the packed tensors: one row, many rows, very many short rows, columns, and an
#: axis in the middle.
SHAPES: list[tuple[tuple[int, ...], int]] = [
    *(((1, n), 1) for n in (1, 5, 64, 1000, 4096, 50257, 1 << 20, 1 << 24, 1 << 28)),
    *(((64, n), 1) for n in (64, 1000, 8192, 131072)),
    *(((100_000, n), 1) for n in (3, 32, 100, 1000)),
    *(((n, 64), 0) for n in (16, 1000, 65536)),
    *(((n, 4096), 0) for n in (100, 1024)),
    ((16, 128, 33), 1),
]
KS = (1, 2, 5, 10, 32, 33, 64, 100, 128, 129, 256, 257, 512, 1000, 1024, 2048, 4096, 1 << 20)
#: One element of each width is enough where only the width matters.
WIDTHS = ("uint8", "float16", "float32", "float64")
#: What is written and whether loads may be wide, first the pair whose problems are planned by every
#: algorithm.
WAYS = [("both", True), ("values", True), ("indices", True), ("both", False)]
#: Where the other pairs' are too.
FORCED_KS = (1, 5, 100, 1000)
#: The machines where algorithms are forced for what limits do not change.
ONE_OF_A_KIND = ("lavapipe", "gpu")
#: What a quick look has in place of them.
QUICK_SHAPES = [
    ((1, 5), 1),
    ((1, 50257), 1),
    ((1, 1 << 24), 1),
    ((64, 1000), 1),
    ((100_000, 100), 1),
    ((1000, 64), 0),
    ((65536, 64), 0),
]
QUICK_KS = (1, 5, 100, 1000, 1 << 20)
QUICK_WIDTHS = ("uint8", "float64")
QUICK_LIMITS = ("minimum", "lavapipe", "gpu", "gpu, no subgroups")


@dataclass(frozen=True)
class Asked:
    """A selection and how it is planned."""

    problem: Selection
    options: dict[str, bool]
    forced: tuple[str, ...] = ()  #: Machines on which every algorithm that can serve plans it.


def problems(quick: bool = False) -> Iterator[Asked]:
    """Selections, and how each is planned."""
    yield from shapes(quick)
    yield from spans(quick)
    if not quick:
        yield from formats_and_orders()
        yield from layouts()


def shapes(quick: bool) -> Iterator[Asked]:
    """Widths and k on every shape, plain and with spans and payloads."""
    for sizes, axis in QUICK_SHAPES if quick else SHAPES:
        length = sizes[axis]
        wanted = (*QUICK_KS, length) if quick else (*KS, length // 4, length // 2, length)
        for element in QUICK_WIDTHS if quick else WIDTHS:
            small = prod(sizes) <= 1 << 22
            for k, (outputs, vectors) in product(sorted({k for k in wanted if 1 <= k <= length}), WAYS):
                problem = selection(element, sizes, (axis,), k, Order.DESCENDING, outputs)
                forced = small and ((outputs, vectors) == WAYS[0] or k in FORCED_KS)
                yield Asked(problem, {"vectors": vectors}, tuple(LIMITS) if forced else ())
                if k in FORCED_KS:
                    payload = ("uint32", "float64")[outputs == "indices"]
                    given = ("lengths", "starts", "counts") if outputs == "values" else BESIDES
                    forced_on = (*ONE_OF_A_KIND, "gpu, no subgroups") if small else ()
                    yield Asked(with_spans(problem, given, payload), {"vectors": vectors}, forced_on)


def spans(quick: bool) -> Iterator[Asked]:
    """Lengths, starts, counts and payloads each way; the last index wins; several axes are one."""
    for count in range(1, 5):
        for given in combinations(BESIDES, count):
            yield Asked(with_spans(selection("float32", (9, 500), (1,), 5, Order.ASCENDING, "both"), given), {})
    for element, last, axes in product(QUICK_WIDTHS, (False, True), ((1,), (0,), (1, 2), (0, 2))):
        problem = selection(element, (9, 50, 6), axes, 1, Order.MAXIMUM, "indices", strides=padded((9, 50, 6)), last_index=last)
        yield Asked(with_spans(problem, BESIDES[:3]), {}, ONE_OF_A_KIND)
    # Segments of one sequence.
    for element, k, (count, longest), outputs in product(
        QUICK_WIDTHS if quick else WIDTHS, (2, 8, 31, 100), ((200, 0), (100_000, 200), (7, 3000)), ("both", "values", "indices")
    ):
        problem = selection(element, (count, 1 << 20), (1,), k, Order.DESCENDING, outputs, strides=(0, 1))
        segments = replace(with_spans(problem, BESIDES if outputs == "both" else BESIDES[:2]), longest=longest)
        yield Asked(segments, {"vectors": outputs != "values"}, (*ONE_OF_A_KIND, "minimum"))


def formats_and_orders() -> Iterator[Asked]:
    """What is a number to the compiler; results in any order; an input beside an output."""
    # Every element format in every order, once for each kernel that k and length lead to.
    for sizes, axis, k in (((64, 5000), 1, 1), ((64, 5000), 1, 50), ((64, 5000), 1, 3000), ((64, 50), 1, 9), ((5000, 64), 0, 9)):
        for element in FORMATS:
            for order in Order:
                for last in (False, True) if k == 1 else (False,):
                    problem = selection(element, sizes, (axis,), k, order, "both" if k > 1 else "indices", last_index=last)
                    yield Asked(problem, {}, ONE_OF_A_KIND if k == 50 else ())
    # Results in any order.
    for element in WIDTHS:
        for k in (1025, 3000):
            problem = selection(element, (8, 20_000), (1,), k, Order.DESCENDING, "both")
            yield Asked(replace(problem, sorted=False), {}, ("select_radix", "radix_select", "delegates"))
    # An input in the same buffer as an output.
    for (sizes, axis, k), element in product(
        (((64, 5000), 1, 1), ((64, 5000), 1, 50), ((64, 50), 1, 9), ((5000, 64), 0, 9)), WIDTHS
    ):
        for vectors in (True, False):
            problem = selection(element, sizes, (axis,), k, Order.DESCENDING, "both")
            yield Asked(problem, {"vectors": vectors, "shared_input": True}, ONE_OF_A_KIND)


def layouts() -> Iterator[Asked]:
    """Strided and misaligned axes, any number of dimensions, indices of both widths, long rows."""
    for element, index_bytes in product(WIDTHS, (4, 8)):
        for k, step in product((1, 3, 200, 1000), (1, 2)):
            strides: dict[str, Any] = {"strides": (4001, step), "index_bytes": index_bytes}
            problem = selection(element, (7, 2000), (1,), k, Order.ASCENDING, "both", **strides)
            yield Asked(problem, {"vectors": step == 1}, ONE_OF_A_KIND)
        for rank in range(1, 9):
            sizes = (3,) * rank
            strides = {"strides": padded(sizes), "index_bytes": index_bytes}
            for vectors, axis in product((True, False), (0, rank - 1)):
                problem = selection(element, sizes, (axis,), 2, Order.ASCENDING, "both", **strides)
                yield Asked(problem, {"vectors": vectors}, ONE_OF_A_KIND)
            for count in range(1, rank + 1):
                outer, inner = tuple(range(count)), tuple(range(rank - count, rank))
                problem = selection(element, sizes, outer, 1, Order.MAXIMUM, "indices", **strides)
                yield Asked(problem, {}, ONE_OF_A_KIND)
                problem = selection(element, sizes, inner, 1, Order.MINIMUM, "indices", last_index=True, **strides)
                yield Asked(problem, {}, ONE_OF_A_KIND)
                yield Asked(selection(element, sizes, outer, 1, Order.MAXIMUM, "values", **strides), {}, ONE_OF_A_KIND)
    # Two axes, one after the other.
    for element, last in product(WIDTHS, (False, True)):
        two = selection(element, (9, 50, 6), (0, 2), 1, Order.MAXIMUM, "indices", last_index=last)
        yield Asked(two, {}, ONE_OF_A_KIND)
    # Inputs and outputs beyond one binding.
    for element, sizes, axis, k in (
        ("float32", (1, 3 << 28), 1, 1),
        ("float32", (1, 3 << 28), 1, 100),
        ("uint8", (1, (1 << 32) - 1), 1, 1),
        ("float64", (3 << 26, 3), 1, 3),
        ("float32", (3, 1 << 28), 1, 1 << 27),
        ("float32", (1 << 14, 1 << 15), 0, 10),
    ):
        for outputs in ("both", "values", "indices"):
            yield Asked(selection(element, sizes, (axis,), k, Order.ASCENDING, outputs), {})


@cache
def planner(machine: Machine) -> Planner:
    return Planner(machine)


@cache
def algorithms_of(machine: Machine) -> tuple[str, ...]:
    """Those that the machine's rules choose from."""
    return tuple(dict.fromkeys(rule.algorithm for rule in planner(machine).rules))


def plans(quick: bool = False) -> Iterator[tuple[str, Machine, Plan]]:
    """Every plan of the grid: the planner's own choice, and each algorithm that can serve."""
    for element, (sizes, taken), flags in product(
        WIDTHS, (((9, 7), (4, 7)), ((3, 5, 2), (3, 1, 2))), product((True, False), repeat=2)
    ):
        source, chosen = Layout(sizes, padded(sizes)), Layout(taken, padded(taken))
        asked_for = take_selection(element, source, 1 if len(sizes) > 2 else 0, chosen, chosen, 8)
        taken_plan = take_plan(planner(Machine()), asked_for, signed=True, vectors=flags[0], shared_input=flags[1])
        yield f"take {element}", Machine(), taken_plan
    yield from rank_plans(quick)
    yield from running_plans(quick)
    for asked in problems(quick):
        problem = asked.problem
        for name in QUICK_LIMITS if quick else LIMITS:
            machine = LIMITS[name]
            for algorithm in (None, *algorithms_of(machine)) if name in asked.forced else (None,):
                how = f"{problem.element} {problem.sequences} x {problem.length}, k {problem.k}, {name} limits"
                how = f"{how}, {algorithm} forced" if algorithm else how
                try:
                    yield how, machine, planner(machine).plan(problem, algorithm=algorithm, **asked.options)
                except (ValueError, MemoryError):
                    continue  # it cannot serve, or this machine is too small: a clean refusal


def rank_plans(quick: bool) -> Iterator[tuple[str, Machine, Plan]]:
    """Plans of order statistics: of short and long rows and columns, with few ranks and many."""
    for element, (sizes, axes), count, name in product(
        WIDTHS,
        [
            ((1000, 4), (1,)),
            ((3, 1000), (1,)),
            ((1, 1 << 24), (1,)),
            ((1000, 64), (0,)),
            ((5000, 64), (0,)),
            ((3000, 40_000), (1,)),
            ((70, 9, 400), (0, 2)),
        ],
        (1, 3, 10, 16),
        QUICK_LIMITS if quick else LIMITS,
    ):
        own, vectors = planner(LIMITS[name]), axes == (1,)
        length = prod(sizes[axis] for axis in axes)
        how = f"{count} ranks, {element} {sizes}, {name}"
        wanted = selection(element, sizes, axes, count, Order.ASCENDING, "both")
        row = [length * (2 * n + 1) // (2 * count) for n in range(count)]
        for last, positions in (((), True), ((), False), ((length - 1,), True)):
            how_found = {"propagates": bool(last), "positions": positions, "vectors": vectors}
            known = rank_words(own, wanted, [*row, *last], **how_found)[1]
            yield how, own.machine, ranks_plan(own, wanted, known, vectors=vectors)
        yield how, own.machine, ranks_plan(own, wanted, own_ranks(own, wanted), vectors=vectors)
        yield f"numbers, {element} {sizes}, {name}", own.machine, numbers_plan(own, wanted, vectors=vectors)
        for outputs in ("values", "indices") if len(axes) == 1 else ():
            whole = selection(element, sizes, axes, length, Order.ASCENDING, outputs)
            known = rank_words(own, whole, row, propagates=False, positions=True, vectors=vectors)[1]
            yield f"parted, {element} {sizes}, {name}", own.machine, partition_plan(own, whole, known, vectors=vectors)


def running_plans(quick: bool) -> Iterator[tuple[str, Machine, Plan]]:
    """Plans of a running top-k: of one long sequence and of several, with ids and without."""
    for element, (sizes, axis), k, name in product(
        WIDTHS, [((1, 1 << 20), 1), ((3, 1000), 1), ((5000, 64), 0)], (1, 100, 3000), QUICK_LIMITS if quick else LIMITS
    ):
        own, rows = planner(LIMITS[name]), Rows(element, Order.DESCENDING, prod(sizes) // sizes[axis], k)
        how = f"running, k {k}, {element} {sizes}, {name}"
        wanted = selection(element, sizes, (axis,), min(k, sizes[axis]), rows.order, "both")
        wanted = replace(wanted, has_values=False, has_indices=False)
        for ids, full in product(range(4), (False, True)):
            yield how, own.machine, update_plan(own, rows, wanted, ids, full, vectors=axis == 1, shared_input=False)
        for last in (False, True):
            yield how, own.machine, merge_plan(own, rows._replace(last_index=last), last)
        yield how, own.machine, begin_plan(own, rows)
        for index_bytes in (4, 8):
            yield how, own.machine, result_plan(own, rows, index_bytes)


_CONSTANTS = re.compile(r"(?:const \w+: u32 = \d+u;\n)*")
_WORD = re.compile(r"\b[A-Z]\w*")


def without_unused(text: str) -> str:
    """The text without constants that it does not mention: alike to a compiler, alike here."""
    head = _CONSTANTS.match(text)
    assert head
    body = text[head.end() :]
    used = set(_WORD.findall(re.sub("//.*", "", body)))
    return "".join(line for line in head[0].splitlines(keepends=True) if line.split()[1].rstrip(":") in used) + body


def plan_for(machines: dict[str, Machine]) -> None:
    """Has the quick grid planned for these machines alone. Called before it is asked for."""
    global LIMITS, QUICK_LIMITS, ONE_OF_A_KIND
    LIMITS = machines
    QUICK_LIMITS = ONE_OF_A_KIND = tuple(machines)  # type: ignore[assignment]


def some_of_each(found: Iterable[Any], each: int) -> list[Any]:
    """Up to so many of each kernel, spread over the grid."""
    kernels: dict[str, list[Any]] = {}
    for one in found:
        kernels.setdefault(one.kernel, []).append(one)
    return [one for own in kernels.values() for one in own[:: max(1, len(own) // each)][:each]]


@cache
def variants(quick: bool = False) -> tuple[Variant, ...]:
    """Every distinct text of the grid."""
    return texts_of(plans(quick))


def texts_of(every: Iterable[tuple[str, Machine, Plan]]) -> tuple[Variant, ...]:
    """Every distinct text of plans, with the first problem that it was met in."""
    seen: set[tuple[object, ...]] = set()
    found: dict[str, Variant] = {}
    for origin, machine, plan in every:
        for dispatch in plan.dispatches:
            key = dispatch.kernel, dispatch.constants
            if key in seen:
                continue
            seen.add(key)
            constants = dict(dispatch.constants)
            text = without_unused(shaders.assemble(dispatch.kernel, constants))
            found.setdefault(text, Variant(dispatch.kernel, text, constants, machine, origin))
    return tuple(found.values())


def uses_subgroups(text: str) -> bool:
    return "subgroup" in text and re.search(r"\bsubgroup\w+\(", text) is not None


# The two judges -----------------------------------------------------------------------------------

_CHECKER = Path(__file__).parent / "web" / "check_shaders.mjs"


_BATCH = 500


def judged_by_tint(shaders_: list[dict[str, Any]]) -> tuple[str, dict[str, list[dict[str, Any]]]]:
    """What Tint says of each shader ({name, text, pipeline}), and how many it judged."""
    said: dict[str, list[dict[str, Any]]] = {}
    for start in range(0, len(shaders_), _BATCH):
        batch = shaders_[start : start + _BATCH]
        given = "".join(json.dumps(shader) + "\n" for shader in batch)
        for attempt in range(1, 6):  # Dawn for Node may abort after thousands of modules
            run = subprocess.run(["node", str(_CHECKER)], input=given, capture_output=True, text=True)
            answers = [json.loads(line) for line in run.stdout.splitlines() if line.endswith("}")]
            if answers and answers[-1].get("checked") == len(batch):
                break
            print(f"Dawn stopped with exit status {run.returncode} (attempt {attempt}): {run.stderr[-300:]}", file=sys.stderr)
        else:
            raise RuntimeError("Tint did not judge every shader")
        said |= {answer["name"]: answer["messages"] for answer in answers[:-1]}
    return f"{len(shaders_)} by Tint, by Dawn", said


def judged_by_naga(shaders_: list[dict[str, Any]]) -> tuple[str, dict[str, list[dict[str, Any]]]]:
    """The same by the compiler inside wgpu; subgroup operations only where the device has them."""
    import wgdml
    from wgdml.runtime.adapter import wgpu

    device = wgdml.default_device()
    gpu_device = device.gpu_device
    said: dict[str, list[dict[str, Any]]] = {}
    shaders_ = [shader for shader in shaders_ if device.machine.subgroups or not uses_subgroups(shader["text"])]
    for shader in shaders_:
        try:
            gpu_device.create_shader_module(code=shader["text"])
        except wgpu.GPUError as error:
            said[shader["name"]] = [{"type": "error", "line": 0, "message": str(error)}]
    return f"{len(shaders_)} by Naga, by wgpu", said


def as_shader(number: int, variant: Variant) -> dict[str, Any]:
    return {
        "name": f"{variant.kernel} #{number}, met in {variant.origin}",
        "text": variant.text,
        # The null backend has the specification's minimum limits: it can judge the sizes of what is
        # planned for those.
        "pipeline": variant.limits.max_compute_workgroup_storage_size == Machine().max_compute_workgroup_storage_size
        and variant.limits.max_compute_invocations_per_workgroup == Machine().max_compute_invocations_per_workgroup,
    }


def main() -> int:
    every = variants()
    for kernel, count in sorted(Counter(v.kernel for v in every).items()):
        print(f"{kernel:20}{count:7}")
    print(f"{'all':20}{len(every):7}", flush=True)
    given = [as_shader(number, variant) for number, variant in enumerate(every)]
    texts = {shader["name"]: shader["text"] for shader in given}
    rejected = 0
    for judge in (judged_by_naga, judged_by_tint):
        summary, said = judge(given)
        print(f"judged: {summary}; rejected or warned of: {len(said)}", flush=True)
        shown: set[str] = set()
        for name, messages in said.items():
            rejected += 1
            if messages[0]["message"] in shown:
                continue
            shown.add(messages[0]["message"])
            print(f"\n{name}")
            for m in messages:
                line = texts[name].splitlines()[m["line"] - 1].strip() if m["line"] else ""
                print(f"  {m['type']}, line {m['line']}: {m['message']}\n    {line}")
    return 1 if rejected else 0


if __name__ == "__main__":
    sys.exit(main())
