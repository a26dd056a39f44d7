"""Random operators of spans, each replayed with other contents and checked to the last byte.

Some hundred problems a run, the same ones at every run; ``make fuzz`` tries 100,000, which change
with ``SEED``.
"""

from __future__ import annotations

import os
from typing import Any

import data
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from operators import NUMBERS, Bench
from planning import planned_device
from test_fuzz import CASES, INDEX_TYPES, sizes_of, strides_of, tensors

import wgdml
from wgdml import AxisDirection, DataType, SelectOperatorDesc, TensorDesc

#: Contents that each operator is replayed with.
REPLAYS = 10
INTEGERS = [t for t in DataType if t.name.startswith(("INT", "UINT"))]
WORDS = [t for t in DataType if t.itemsize >= 4]
EXAMPLES = CASES if os.environ.get("WGDML_FUZZ") else 40


@st.composite
def shrunk(draw: st.DrawFn, types: list[DataType], sizes: tuple[int, ...]) -> TensorDesc:
    """A tensor that is read, with some sizes of 1, which are broadcast."""
    kept = tuple(1 if draw(st.integers(0, 4)) == 0 else size for size in sizes)
    return draw(tensors(types, kept, output=False))


@st.composite
def operators(draw: st.DrawFn) -> SelectOperatorDesc:
    """Any operator of spans."""
    sizes = draw(sizes_of())
    rank = len(sizes)
    several = draw(st.integers(0, 4)) == 0
    axes = tuple(draw(st.lists(st.integers(0, rank - 1), min_size=1, max_size=rank if several else 1, unique=True)))
    size = sizes[axes[0]]
    near = [k for k in (1, 1, 2, 5, 31, 32, 33, 64, 129, 257, 1025, size) if k <= size]
    k = draw(st.one_of(st.sampled_from(near), st.integers(1, size))) if len(axes) == 1 else 1
    source = draw(tensors(list(DataType), sizes, output=False))
    if draw(st.integers(0, 4)) == 0:  # one for all along some dimensions
        shared = tuple(1 if d not in axes and draw(st.booleans()) else n for d, n in enumerate(sizes))
        source = TensorDesc(source.data_type, shared, draw(strides_of(shared, output=False)))
    own = tuple(1 if d in axes else n for d, n in enumerate(sizes))
    result = tuple(k if d in axes else n for d, n in enumerate(sizes))
    fields: dict[str, Any] = {name: draw(shrunk(INTEGERS, own)) for name in NUMBERS if draw(st.integers(0, 2))}
    outputs = draw(st.sampled_from(["both", "both", "values", "indices"]))
    types = [DataType.UINT32, DataType.INT64, DataType.INT32, DataType.UINT64]
    assert set(types) == set(INDEX_TYPES)
    if outputs != "values" and len(axes) == 1 and draw(st.booleans()):
        fields["payload_tensor"] = draw(shrunk(WORDS, sizes))
        types = [fields["payload_tensor"].data_type]
    if outputs != "values":
        fields["output_index_tensor"] = draw(tensors(types, result, output=True))
    if outputs != "indices":
        fields["output_value_tensor"] = draw(tensors([source.data_type], result, output=True))
    fields["nan"] = draw(st.sampled_from(["greatest", "last", "first"]))
    fields["select_last_index"] = k == 1 and draw(st.booleans())
    if "lengths_tensor" in fields and draw(st.integers(0, 2)) == 0:
        fields["longest"] = draw(st.integers(1, 2 * size))
    return SelectOperatorDesc(source, k, axes, draw(st.sampled_from(list(AxisDirection))), **fields)


@settings(max_examples=EXAMPLES)
@given(operators(), st.data())
def test_operators_of_spans(device, desc, rest):
    replay(device, desc, rest.draw)


@pytest.fixture(scope="module")
def gpu_planned(device):
    return planned_device(device)[0]


@settings(max_examples=max(EXAMPLES // 4, 1))
@given(operators(), st.data())
def test_operators_of_spans_as_a_gpu_plans_them(gpu_planned, desc, rest):
    replay(gpu_planned, desc, rest.draw)


def replay(device: wgdml.Device, desc: SelectOperatorDesc, draw: Any) -> None:
    """Runs an operator with several contents, one after the other."""
    before = draw(st.sampled_from([0, 0, 1, 3, 32, 64, 257]))
    after = draw(st.sampled_from([0, 1, 4, 100]))
    bench = Bench(device, desc, before, after, draw(st.booleans()))
    event(f"by {bench.compiled!r}".rpartition(", ")[2].rstrip(">"))
    kinds = data.kinds(desc.input_tensor.data_type.numpy_dtype)
    seed = draw(st.integers(0, 2**32 - 1))
    for turn in range(REPLAYS):
        kind = kinds[(seed + turn) % len(kinds)]
        bench.fill(kind, seed + turn)
        bench.run()
        bench.check((desc, kind, seed, turn))
