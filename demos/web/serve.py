#!/usr/bin/env python3
"""The kernels in a browser: builds a site from the library's plans and shader texts, and serves it.

``python demos/web/serve.py`` prints the address to open. ``--export FOLDER`` only writes the site,
which then needs no Python. The browser brings the GPU. ``plans.json`` holds whole WGSL texts, so
the page assembles nothing. Answers are expected as NumPy gives them, and the page compares every
bit.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import functools
import hashlib
import http.server
import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from wgdml import shaders
from wgdml.plan import ALGORITHMS, Dispatch, Machine, Planner
from wgdml.selection import Layout, Order, make_selection

HERE = Path(__file__).resolve().parent
PAGE = ("index.html", "main.js", "run.js")

#: Name, data type, shape, axis (2: two axes about another), k, descending?, and a mask of the
#: input's bits: few bits make many ties.
CASES: list[tuple[str, str, tuple[int, int], int, int, bool, int]] = [
    ("argmax of 300,000", "float32", (1, 300_000), 1, 1, True, 0xFFFFFFFF),
    ("the first 100 of 200,000", "float32", (1, 200_000), 1, 100, True, 0xFFFFFFFF),
    ("the first 50 of 1,100,000", "float32", (1, 1_100_000), 1, 50, True, 0xFFFFFFFF),
    ("the last 5,000 of 50,000, with ties", "uint32", (1, 50_000), 1, 5_000, False, 0x000003FF),
    ("sort of 30,000", "float32", (1, 30_000), 1, 30_000, False, 0xFFFFFFFF),
    ("sort of 40 rows of 1,000 bytes", "uint8", (40, 1_000), 1, 1_000, True, 0xFFFFFFFF),
    ("the first 10 of 64 columns of 1,000", "float32", (1_000, 64), 0, 10, True, 0xFFFFFFFF),
    ("the first 7 of 30 rows of 2,000 doubles", "float64", (30, 2_000), 1, 7, False, 0xFFFFFFFF),
]


def input_of(dtype: str, shape: tuple[int, int], mask: int) -> np.ndarray:
    """The same words as run.js makes, as elements."""
    count = shape[0] * shape[1] * np.dtype(dtype).itemsize // 4
    h = np.arange(1, count + 1, dtype=np.uint32)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return ((h ^ (h >> np.uint32(16))) & np.uint32(mask)).view(dtype).reshape(shape)


def answer(x: np.ndarray, axis: int, k: int, descending: bool) -> tuple[np.ndarray, np.ndarray]:
    """NumPy's: every NaN after every number when ascending, ties by index, -0.0 equal to 0.0."""
    unsigned = x.view(f"u{x.dtype.itemsize}")
    if x.dtype.kind == "f":
        top = unsigned.dtype.type(1 << (8 * x.dtype.itemsize - 1))
        magnitude = unsigned & ~top
        rank = np.where(unsigned & top, top - magnitude, top + magnitude)
        rank[np.isnan(x)] = np.iinfo(rank.dtype).max
    else:
        rank = unsigned
    order = np.argsort(~rank if descending else rank, axis=axis, kind="stable")
    indices = order[:k] if axis == 0 else order[:, :k]
    return np.take_along_axis(unsigned, indices, axis).view(x.dtype), indices.astype(np.uint32)


_SUBGROUPS = re.compile(r"\bsubgroup\w+\(")


def as_data(dispatch: Dispatch) -> dict[str, Any]:
    """A dispatch as the page runs it. Nothing else here looks inside one.

    ``text`` is complete, and ``slots`` has the type of every binding that it declares. ``bindings``
    has a range of a buffer for each; the buffer ``"params"`` holds the bytes of ``params``.
    """
    constants = dict(dispatch.constants)
    text = shaders.assemble(dispatch.kernel, constants)
    declared = {r.slot: r.access for r in shaders.specialised(dispatch.kernel, constants).resources.values()}
    ranges = {0: ("params", 0, len(dispatch.params))}
    ranges |= {b.slot: (b.resource, b.offset, b.size) for b in dispatch.bindings}
    return {
        # Browsers demand the directive, and wgpu refuses it: the library's own texts come without.
        "text": f"enable subgroups; {text}" if _SUBGROUPS.search(text) else text,
        "slots": {slot: declared[slot] for slot in ranges},
        "params": base64.b64encode(dispatch.params).decode(),
        "bindings": [{"slot": slot, "buffer": name, "offset": first, "size": n} for slot, (name, first, n) in ranges.items()],
        "grid": dispatch.grid,
    }


def case(
    name: str,
    dtype: str,
    shape: tuple[int, int],
    axis: int,
    k: int,
    descending: bool,
    mask: int,
    *,
    subgroups: bool = False,
    algorithm: str | None = None,
) -> dict[str, Any]:
    """A problem, its input and expected answer, and the dispatches that solve it."""
    x = input_of(dtype, shape, mask)
    source, axes = Layout(shape, (shape[1], 1)), (axis,)
    if axis == 2:
        # Over the rows and the third of three dimensions, which has ten elements.
        tens = (shape[0], shape[1] // 10, 10)
        source, axes = Layout(tens, (shape[1], 10, 1)), (0, 2)
        values, indices = answer(x.reshape(tens).swapaxes(0, 1).reshape(tens[1], -1), 1, k, descending)
        out = Layout((1, tens[1], 1), (tens[1], 1, 1))
    else:
        values, indices = answer(x, axis, k, descending)
        out = Layout(values.shape, (values.shape[1], 1))
    order = Order.DESCENDING if descending else Order.ASCENDING
    selection = make_selection(dtype, source, axes, k, order, values=out, indices=out)
    # Within the specification's minimum limits: any browser that has WebGPU can run it, or, with
    # subgroups, most.
    plan = Planner(Machine(subgroups=subgroups)).plan(selection, algorithm=algorithm, vectors=x.nbytes % 16 == 0)
    return {
        "name": f"{name}, by subgroups" if subgroups else name,
        "subgroups": subgroups,
        "dtype": dtype,
        "shape": shape,
        "axis": axis,
        "k": k,
        "descending": descending,
        "input": {"words": x.nbytes // 4, "mask": mask},
        "outputs": {"values": values.nbytes, "indices": indices.nbytes},
        "expected": {
            "values": hashlib.sha256(values.tobytes()).hexdigest(),
            "indices": hashlib.sha256(indices.tobytes()).hexdigest(),
        },
        "scratch_size": plan.scratch_size,
        "dispatches": [as_data(dispatch) for dispatch in plan.dispatches],
    }


#: Whose kernels have two texts, with subgroups and without.
SUBGROUP_CASES = [
    CASES[0],
    ("argmin of 3 rows of 50,000 bytes", "uint8", (3, 50_000), 1, 1, False, 0xFFFFFFFF),
    ("the first 40 of 2,500 rows of 100", "float32", (2_500, 100), 1, 40, True, 0xFFFFFFFF),
]

#: Small problems, one of which each algorithm can serve.
SMALL: list[tuple[str, str, tuple[int, int], int, int, bool, int]] = [
    ("the first 9 of 100 rows of 96", "float32", (100, 96), 1, 9, True, 0xFFFFFFFF),
    ("the first 50 of 2 rows of 40,000", "float32", (2, 40_000), 1, 50, True, 0xFFFFFFFF),
    ("the best of 100 rows of 1,000", "float32", (100, 1_000), 1, 1, True, 0xFFFFFFFF),
    ("the first 8 down 100 columns of 40", "float32", (40, 100), 0, 8, True, 0xFFFFFFFF),
    ("the best of two axes of 30 and 10", "float32", (30, 1_000), 2, 1, True, 0xFFFFFFFF),
]


def algorithm_cases() -> dict[str, dict[str, Any]]:
    """Every algorithm that reads elements, on the first small problem that it can serve."""
    found: dict[str, dict[str, Any]] = {}
    for algorithm in ALGORITHMS:
        for name, *problem in SMALL:
            with contextlib.suppress(ValueError):
                found[algorithm] = case(f"{name}, by {algorithm}", *problem, algorithm=algorithm)
                break
    return found


def all_cases() -> list[dict[str, Any]]:
    """Those with subgroups last: a browser without them leaves them out."""
    return [
        *(case(*each) for each in CASES),
        *algorithm_cases().values(),
        *(case(*each, subgroups=True) for each in SUBGROUP_CASES),
    ]


def export(folder: Path) -> None:
    """Writes the whole site."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PAGE:
        shutil.copyfile(HERE / name, folder / name)
    cases = all_cases()
    # Cases share texts: each is written, and compiled, once.
    numbers: dict[str, int] = {}
    for dispatch in (dispatch for each in cases for dispatch in each["dispatches"]):
        shader = json.dumps({key: dispatch.pop(key) for key in ("text", "slots")})
        dispatch["shader"] = numbers.setdefault(shader, len(numbers))
    site = {"shaders": [json.loads(shader) for shader in numbers], "cases": cases}
    (folder / "plans.json").write_text(json.dumps(site), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="write the static site there and stop")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    if options.export:
        export(options.export)
        return
    with tempfile.TemporaryDirectory() as folder:
        export(Path(folder))
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
        with http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler) as server:
            print(f"open http://127.0.0.1:{server.server_port}/ in a browser with WebGPU; Ctrl-C ends", flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                server.serve_forever()


if __name__ == "__main__":
    main()
