"""Two fuzzers: random operators, checked to the last byte; malformed descs, arguments and files.

A few hundred cases a run, the same ones at every run; ``make fuzz`` tries 10,000 of each, which
change with ``SEED``. A failure that it finds is kept as an ``@example`` or as a test of its own.
"""

from __future__ import annotations

import io
import math
import os
from pathlib import Path
from typing import Any

import data
import numpy as np
import pytest
from checks import STORAGE, operator_of, packed
from click.testing import CliRunner
from hypothesis import event, given, settings
from hypothesis import strategies as st
from operators import GUARD, Bench, Memory

import wgdml
import wgdml.cli
from wgdml import AxisDirection, DataType, TensorDesc

CASES = int(os.environ.get("WGDML_FUZZ", "0"))
LARGEST_SIZE = 12_000

seeds = st.integers(0, 2**32 - 1)


def often(cases: int) -> Any:
    """How many cases: as many as given, or as ``make fuzz`` asks for."""
    return settings(max_examples=CASES or cases)


# Operators ---------------------------------------------------------------------------------------


@st.composite
def sizes_of(draw: st.DrawFn) -> tuple[int, ...]:
    """One to eight sizes, one of them now and then long."""
    rank = draw(st.integers(1, 8))
    sizes = draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
    place = draw(st.integers(0, rank - 1))
    room = max(1, LARGEST_SIZE // (math.prod(sizes) // sizes[place]))
    sizes[place] = draw(st.one_of(st.integers(1, min(room, 40)), st.sampled_from([1, 31, 32, 33, 255, 256, 257, 1024, 1025, room])))
    return tuple(min(size, max(room, 4)) for size in sizes)


@st.composite
def strides_of(draw: st.DrawFn, sizes: tuple[int, ...], *, output: bool) -> tuple[int, ...] | None:
    """Absent, packed, padded or permuted strides; of inputs also broadcast or overlapping."""
    ways = ["absent", "packed", "padded", "permuted"]
    how = draw(st.sampled_from(ways if output else [*ways, "broadcast", "any"]))
    event(f"{'output' if output else 'input'} strides {how}")
    if how == "absent":
        return None
    if how == "any":
        return tuple(draw(st.integers(0, max(1, LARGEST_SIZE // size))) for size in sizes)
    order = draw(st.permutations(range(len(sizes)))) if how in ("permuted", "padded") else range(len(sizes))
    strides, step = [0] * len(sizes), 1
    for d in reversed(order):
        strides[d] = step
        step *= sizes[d]
        if how == "padded":
            step += draw(st.integers(0, 3))
    if how == "broadcast":
        strides = [0 if draw(st.booleans()) else stride for stride in strides]
    return tuple(strides)


@st.composite
def tensors(draw: st.DrawFn, types: list[DataType], sizes: tuple[int, ...], *, output: bool) -> TensorDesc:
    desc = TensorDesc(draw(st.sampled_from(types)), sizes, draw(strides_of(sizes, output=output)))
    extra = draw(st.sampled_from([0, 0, 4, 12, 16, 256]))
    return TensorDesc(desc.data_type, sizes, desc.strides, desc.total_tensor_size_in_bytes + extra)


INDEX_TYPES = [DataType.UINT32, DataType.INT32, DataType.UINT64, DataType.INT64]


@st.composite
def operators(draw: st.DrawFn) -> Any:
    """Any valid operator desc."""
    sizes = draw(sizes_of())
    kind = draw(st.sampled_from(["top_k", "top_k1", "argmax", "argmin", "reduce"]))
    narrow = [t for t in DataType if t.itemsize < 8]
    source = draw(tensors(narrow if kind == "reduce" else list(DataType), sizes, output=False))
    direction = draw(st.sampled_from(list(AxisDirection)))
    if kind.startswith("top_k"):
        axis = draw(st.integers(0, len(sizes) - 1))
        near = [k for k in (1, 2, 31, 32, 33, 64, 128, 129, 256, 257, 1024, 1025, sizes[axis]) if k <= sizes[axis]]
        k = draw(st.one_of(st.sampled_from(near), st.integers(1, sizes[axis])))
        shape = (*sizes[:axis], k, *sizes[axis + 1 :])
        values = draw(tensors([source.data_type], shape, output=True))
        indices = draw(tensors([DataType.UINT32, DataType.UINT64], shape, output=True))
        if kind == "top_k":
            return wgdml.TopKOperatorDesc(source, values, indices, axis, k)
        return wgdml.TopK1OperatorDesc(source, values, indices, axis, k, direction)
    axes = draw(st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=len(sizes), unique=True))
    shape = tuple(1 if d in axes else size for d, size in enumerate(sizes))
    output = draw(tensors(INDEX_TYPES, shape, output=True))
    if kind == "reduce":
        function = draw(st.sampled_from([wgdml.ReduceFunction.ARGMAX, wgdml.ReduceFunction.ARGMIN]))
        return wgdml.ReduceOperatorDesc(function, source, output, axes)
    make = wgdml.ArgmaxOperatorDesc if kind == "argmax" else wgdml.ArgminOperatorDesc
    return make(source, output, axes, direction)


def run_operator(device: wgdml.Device, desc: Any, kind: str, seed: int, before: int, after: int, together: bool) -> None:
    """Runs an operator with guards around its tensors' elements; compares every byte."""
    bench = Bench(device, desc, before, after, together)
    bench.fill(kind, seed)
    bench.run()
    bench.check()


@often(200)
@given(operators(), st.data())
def test_operators(device, desc, rest):
    draw = rest.draw
    kind = draw(st.sampled_from(data.kinds(desc.input_tensor.data_type.numpy_dtype)))
    before = draw(st.sampled_from([0, 0, 1, 3, 32, 64, 257]))
    after = draw(st.sampled_from([0, 1, 4, 100]))
    run_operator(device, desc, kind, draw(seeds), before, after, together=draw(st.booleans()))


# Malformed descs and arguments -------------------------------------------------------------------

REFUSALS = (ValueError, TypeError)

#: Things that people pass by mistake, and things that nobody would.
junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from([-(2**63), -(2**31), 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, 10**30]),
    st.floats(allow_nan=True),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.sampled_from([np.int64(2), np.float32(1), np.array([1, 2]), np.array(3), object(), type, {}, set(), 1j, "float32", "axis"]),
    st.lists(st.one_of(st.integers(-2, 9), st.none(), st.floats(), st.just(2**40)), max_size=9),
)


@st.composite
def damaged(draw: st.DrawFn, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with one to three of them replaced, left out or made up."""
    fields = dict(fields)
    for name in draw(st.lists(st.sampled_from(sorted(fields)), min_size=1, max_size=3, unique=True)):
        if draw(st.integers(0, 9)):
            fields[name] = draw(junk)
        else:
            del fields[name]
    if not draw(st.integers(0, 19)):
        fields["nonsense"] = draw(junk)
    return fields


def fields_of(desc: Any) -> dict[str, Any]:
    return {name: getattr(desc, name) for name in desc.__dataclass_fields__}


def small(desc: Any) -> bool:
    return all(t.total_tensor_size_in_bytes <= 1 << 20 for t in vars(desc).values() if isinstance(t, TensorDesc))


@often(300)
@given(operators(), st.data())
def test_malformed_descs(device, desc, rest):
    draw = rest.draw
    fields = fields_of(desc)
    tensor = draw(st.sampled_from([None, *(name for name, value in fields.items() if isinstance(value, TensorDesc))]))
    try:
        if tensor:
            fields[tensor] = TensorDesc(**draw(damaged(fields_of(fields[tensor]))))
        else:
            fields = draw(damaged(fields))
        changed = type(desc)(**fields)
    except REFUSALS as error:
        assert str(error), "a refusal must say why"
        event(f"refused: {type(error).__name__}")
        return
    event("accepted")
    # What is accepted must work.
    if small(changed):
        run_operator(device, changed, "random", 0, 0, 0, together=False)


CALLS = {
    wgdml.top_k: {"k": 2, "axis": 0, "mode": "largest", "index_dtype": "int64"},
    wgdml.argmax: {"axis": 0, "keepdims": False, "select_last_index": False, "index_dtype": "int64"},
    wgdml.argmin: {"axis": None, "keepdims": True, "select_last_index": True, "index_dtype": "uint32"},
    wgdml.sort: {"axis": -1, "descending": True, "stable": True},
    wgdml.argsort: {"axis": -1, "descending": False, "stable": True, "index_dtype": "int32"},
}

arrays = st.one_of(
    junk,
    st.sampled_from(["float32", "uint8", "int64", "float16", "complex64", "U3", "M8[s]", "O", ">i4", ">f8"]).map(
        lambda name: np.zeros((3, 4), name)
    ),
    st.sampled_from([(0,), (), (0, 3), (3, 0), (1,) * 9, (2,) * 12]).map(lambda shape: np.zeros(shape, np.float32)),
)


@often(200)
@given(st.sampled_from(sorted(CALLS, key=lambda f: f.__name__)), st.data())
def test_malformed_arguments(device, function, rest):
    draw = rest.draw
    good = dict(CALLS[function])
    fields = draw(damaged(good)) if draw(st.booleans()) else good
    x = draw(arrays) if fields is good else draw(st.one_of(arrays, st.just(np.ones((3, 4), np.float32))))
    fields = dict(fields)
    positional = [fields.pop("k")] if function is wgdml.top_k and "k" in fields else []
    try:
        function(x, *positional, **fields, device=device)
    except REFUSALS as error:
        assert str(error), "a refusal must say why"
        event(f"refused: {type(error).__name__}")


@often(200)
@given(st.data())
def test_malformed_buffers(device, rest):
    """Tensors over a caller's buffer, and what is bound to an operator."""
    draw = rest.draw
    usage = draw(st.sampled_from([STORAGE, STORAGE, 0x80, 0x4 | 0x8, 0x80 | 0x8]))
    buffer = device.gpu_device.create_buffer(size=draw(st.sampled_from([4, 16, 252, 256, 1024])), usage=usage)
    fields = {"buffer": buffer, "dtype": "float32", "shape": (3, 4), "strides": (4, 1), "offset": 0}
    try:
        if draw(st.booleans()):
            fields = draw(damaged(fields))
        tensor = wgdml.Tensor.from_buffer(**fields, device=device)
        tensor.numpy()
        wgdml.argmax(tensor, device=device).numpy()
        flat = TensorDesc(DataType.FLOAT32, (3, 4))
        compiled = operator_of(device, wgdml.TopKOperatorDesc(flat, flat, indices_like(flat), 1, 4))
        bound = {"input_tensor": tensor, "output_value_tensor": buffer, "output_index_tensor": draw(junk)}
        if draw(st.booleans()):
            bound = draw(damaged(bound))
        compiled.record(device.gpu_device.create_command_encoder(), **bound)
    except REFUSALS as error:
        assert str(error), "a refusal must say why"
        event(f"refused: {type(error).__name__}")


def indices_like(desc: TensorDesc) -> TensorDesc:
    return TensorDesc(DataType.UINT32, desc.sizes)


# Files and the command line ----------------------------------------------------------------------


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


FILES = [
    npy(np.arange(12, dtype=np.float32).reshape(3, 4)),
    npy(np.asfortranarray(np.arange(12, dtype=np.int8).reshape(3, 4))),
    npy(np.array([1, "a", None], object)),
    npy(np.zeros((0, 3))),
    npy(np.array(1.5)),
    npy(np.zeros(3, "f4,i2")),
    npy(np.zeros(3, ">f8")),
    b"",
    b"\x93NUMPY",
    b"PK\x03\x04" + b"\0" * 40,
]

OPTIONS = [
    "--axis",
    "--json",
    "--smallest",
    "-k",
    "--last",
    "--descending",
    "--output",
    "--adapter",
    "--help",
    "--mode",
    "--indices",
]
words = st.one_of(
    st.sampled_from(OPTIONS),
    st.sampled_from(
        ["0", "1", "-1", "7", "99999999999999999999", "nan", "x", "", "-", "--", "é", "\x01", "FILE", "FOLDER", "NOWHERE"]
    ),
    st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=4),
)
#: 0 done, 2 refused; 1 is for what is nobody's mistake, such as a full disk.
STATUSES = (0, 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def command_line(*arguments: str) -> None:
    result = CliRunner().invoke(wgdml.cli.main, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), (arguments, result.exception)
    assert result.exit_code in STATUSES, (arguments, result.output)
    assert "Traceback" not in result.output
    if result.exit_code:
        assert result.stderr.startswith("wgdml: error: "), (arguments, result.stderr)


@often(150)
@given(
    st.sampled_from(FILES),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=4),
    st.one_of(st.none(), st.integers(0, 200)),
    st.sampled_from([("top-k", "-k", "2"), ("argmax",), ("argmin", "--axis", "0"), ("sort",)]),
)
def test_malformed_files(device, folder, content, changes, cut, command):
    raw = bytearray(content)
    for place, byte in changes:
        if place < len(raw):
            raw[place] = byte
    path = folder / "in.npy"
    path.write_bytes(bytes(raw[:cut]))
    command_line(command[0], str(path), *command[1:])


@often(200)
@given(st.sampled_from(["top-k", "argmax", "argmin", "sort", "info", "no-such-command"]), st.lists(words, max_size=5))
def test_malformed_command_lines(device, folder, command, rest):
    path = folder / "good.npy"
    path.write_bytes(FILES[0])
    places = {"FILE": str(path), "FOLDER": str(folder), "NOWHERE": str(folder / "no" / "where.npy")}
    command_line(command, *(places.get(word, word) for word in rest))


# Found by the fuzzers ----------------------------------------------------------------------------


@pytest.mark.parametrize("place", [42, 60])
def test_a_header_that_python_cannot_read(device, folder, place):
    raw = bytearray(FILES[0])
    raw[place] = ord("{") if place == 42 else 0
    path = folder / "header.npy"
    path.write_bytes(bytes(raw))
    result = CliRunner().invoke(wgdml.cli.main, ["argmax", str(path)])
    assert result.exit_code == 2 and "not a valid .npy file" in result.stderr


@pytest.mark.parametrize("dtype", [",", "i4,", "(", "f4,f4", ""])
def test_data_types_that_numpy_cannot_read(device, dtype):
    buffer = device.gpu_device.create_buffer(size=256, usage=STORAGE)
    with pytest.raises(TypeError, match="dtype"):
        wgdml.Tensor.from_buffer(buffer, dtype, (4,), device=device)
    with pytest.raises(TypeError, match="index_dtype"):
        wgdml.argmax(np.ones(3), index_dtype=dtype, device=device)


def test_the_helpers_see_a_stray_byte(device):
    """The guards are checked: a byte written between elements is found."""
    desc = TensorDesc(DataType.UINT8, (2, 3), (5, 1))
    memory = Memory(desc, 1, 4)
    assert memory.elements.shape == (2, 3) and memory.bytes.size == -(-(1 + desc.total_tensor_size_in_bytes + 4) // 4) * 4
    memory.elements[...] = 0
    assert (memory.bytes == GUARD).sum() == memory.bytes.size - 6
    got, zeros = memory.bytes.copy(), np.zeros((2, 3), np.uint8)
    memory.check(got, zeros)
    for place in np.flatnonzero(got == GUARD):
        got[place] = 0
        with pytest.raises(AssertionError, match="no element's was written"):
            memory.check(got, zeros)
        got[place] = GUARD
    assert packed((2, 3)) == (3, 1)
