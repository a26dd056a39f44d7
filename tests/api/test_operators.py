"""DirectML's operators through their descs, on the device, in buffers of the caller's own."""

from __future__ import annotations

from typing import Any

import data
import numpy as np
import oracle
import pytest
import wgpu
from checks import buffer_of, extent, operator_of, packed, read
from operators import Memory, expected

import wgdml
from wgdml import AxisDirection, DataType, FeatureLevel, ReduceFunction, TensorDesc
from wgdml.contract import FEATURE_TABLE

INCREASING, DECREASING = AxisDirection.INCREASING, AxisDirection.DECREASING
ARG_INDICES = ("INT64", "INT32", "UINT64", "UINT32")


# Helpers ------------------------------------------------------------------------------------------


class Placed(Memory):
    """A tensor in a caller's buffer, `offset` elements in, with `guard` bytes behind it."""

    def __init__(
        self, device: wgdml.Device, desc: TensorDesc, offset: int = 0, kind: str = "random", seed: int = 0, guard: int = 64
    ) -> None:
        super().__init__(desc, offset, guard)
        count = -(-self.bytes.size // self.dtype.itemsize)
        self.bytes[:] = data.make(kind, self.dtype, count, seed).view(np.uint8)[: self.bytes.size]
        self.buffer = buffer_of(device, self.bytes)

    def tensor(self, device: wgdml.Device) -> wgdml.Tensor:
        desc = self.desc
        return wgdml.Tensor.from_buffer(self.buffer, desc.data_type, desc.sizes, desc.element_strides, self.start, device=device)

    def assert_holds(self, device: wgdml.Device, expected: np.ndarray | None = None, case: object = "") -> None:
        """The elements are `expected`, and all other bytes as they were; all bytes, for None."""
        self.check(read(device, self.buffer), expected, case)


def place(device: wgdml.Device, data_type: DataType, sizes: Any, strides: Any = None, offset: int = 0, **how: Any) -> Placed:
    return Placed(device, TensorDesc(data_type, sizes, strides), offset, **how)


def submit(device: wgdml.Device, *encoders: wgpu.GPUCommandEncoder) -> None:
    device.gpu_device.queue.submit([encoder.finish() for encoder in encoders])


def run(device: wgdml.Device, desc: Any, **tensors: Any) -> None:
    """Records one operator in an encoder of ours, and submits it."""
    encoder = device.gpu_device.create_command_encoder()
    operator_of(device, desc).record(encoder, **tensors)
    submit(device, encoder)


def arg_desc(operator: str, x: TensorDesc, out: TensorDesc, axes: Any, direction: Any = INCREASING) -> Any:
    if operator.startswith("REDUCE"):
        assert direction == INCREASING
        return wgdml.ReduceOperatorDesc(ReduceFunction[operator.partition(" ")[2]], x, out, axes)
    kind = {"ARGMAX": wgdml.ArgmaxOperatorDesc, "ARGMIN": wgdml.ArgminOperatorDesc}[operator]
    return kind(x, out, axes, direction)


def top_k_desc(operator: str, x: TensorDesc, values: TensorDesc, indices: TensorDesc, axis: int, k: int, direction: Any) -> Any:
    if operator == "TOP_K":
        assert direction == DECREASING
        return wgdml.TopKOperatorDesc(x, values, indices, axis, k)
    return wgdml.TopK1OperatorDesc(x, values, indices, axis, k, direction)


def with_size(sizes: tuple[int, ...], axes: Any, size: int) -> tuple[int, ...]:
    return tuple(size if d in axes else n for d, n in enumerate(sizes))


def run_placed(device: wgdml.Device, desc: Any, tensors: dict[str, Placed], case: object) -> None:
    """Runs one operator; compares outputs with the oracle's, other bytes with those before."""
    run(device, desc, **{name: placed.tensor(device) for name, placed in tensors.items()})
    wanted = expected(desc, tensors)
    for name, placed in tensors.items():
        placed.assert_holds(device, wanted.get(name), (name, case))


def run_top_k(
    device: wgdml.Device,
    x: Placed,
    axis: int,
    k: int,
    *,
    operator: str = "TOP_K1",
    direction: Any = DECREASING,
    index_type: DataType = DataType.UINT32,
    values: Placed | None = None,
    indices: Placed | None = None,
    case: object = "",
) -> None:
    sizes = with_size(x.desc.sizes, (axis,), k)
    values = values or place(device, x.desc.data_type, sizes, seed=1)
    indices = indices or place(device, index_type, sizes, seed=2)
    desc = top_k_desc(operator, x.desc, values.desc, indices.desc, axis, k, direction)
    tensors = {"input_tensor": x, "output_value_tensor": values, "output_index_tensor": indices}
    run_placed(device, desc, tensors, case)


def run_arg(
    device: wgdml.Device,
    x: Placed,
    axes: Any,
    *,
    operator: str = "ARGMAX",
    direction: Any = INCREASING,
    index_type: DataType = DataType.UINT32,
    output: Placed | None = None,
    case: object = "",
) -> None:
    output = output or place(device, index_type, with_size(x.desc.sizes, axes, 1), seed=1)
    desc = arg_desc(operator, x.desc, output.desc, axes, direction)
    run_placed(device, desc, {"input_tensor": x, "output_tensor": output}, case)


def upload(device: wgdml.Device, x: np.ndarray) -> Placed:
    placed = place(device, DataType.from_dtype(x.dtype), x.shape)
    placed.elements[...] = x
    placed.buffer = buffer_of(device, placed.bytes)
    return placed


# The documents' examples --------------------------------------------------------------------------

ROWS = [[[[0, 1, 10, 11], [3, 2, 9, 8], [4, 5, 6, 7]]]]
TIES = [[[[1, 2, 2, 3], [3, 4, 5, 5], [6, 6, 6, 6]]]]
TOP_K_EXAMPLES = [
    (ROWS, 3, 2, DECREASING, [[11, 10], [9, 8], [7, 6]], [[3, 2], [2, 3], [3, 2]]),
    (ROWS, 2, 2, DECREASING, [[4, 5, 10, 11], [3, 2, 9, 8]], [[2, 2, 0, 0], [1, 1, 1, 1]]),
    (TIES, 3, 3, DECREASING, [[3, 2, 2], [5, 5, 4], [6, 6, 6]], [[3, 1, 2], [2, 3, 1], [0, 1, 2]]),
    (TIES, 3, 3, INCREASING, [[1, 2, 2], [3, 4, 5], [6, 6, 6]], [[0, 1, 2], [0, 1, 2], [0, 1, 2]]),
]


@pytest.mark.parametrize("data_type", DataType)
@pytest.mark.parametrize("example", range(len(TOP_K_EXAMPLES)))
def test_top_k_examples(device, example, data_type):
    rows, axis, k, direction, values, indices = TOP_K_EXAMPLES[example]
    x = upload(device, np.array(rows, data_type.numpy_dtype))
    for operator in ("TOP_K", "TOP_K1") if direction == DECREASING else ("TOP_K1",):
        sizes = with_size(x.desc.sizes, (axis,), k)
        value_output = place(device, x.desc.data_type, sizes)
        index_output = place(device, DataType.UINT32, sizes)
        desc = top_k_desc(operator, x.desc, value_output.desc, index_output.desc, axis, k, direction)
        run(
            device,
            desc,
            input_tensor=x.buffer,
            output_value_tensor=value_output.buffer,
            output_index_tensor=index_output.buffer,
        )
        value_output.assert_holds(device, np.array([[values]]), operator)
        index_output.assert_holds(device, np.array([[indices]]), operator)


SQUARE = [[1, 2, 3], [3, 0, 4], [2, 5, 2]]
ARG_EXAMPLES = [
    ("ARGMAX", SQUARE, (0,), INCREASING, [[1, 2, 1]]),
    ("ARGMAX", SQUARE, (1,), INCREASING, [[2], [2], [1]]),
    ("ARGMAX", SQUARE, (0, 1), INCREASING, [[7]]),
    ("ARGMAX", SQUARE, (1, 0), INCREASING, [[7]]),
    ("ARGMIN", SQUARE, (0,), INCREASING, [[0, 1, 2]]),
    ("ARGMIN", SQUARE, (1,), INCREASING, [[0], [1], [0]]),
    ("ARGMIN", SQUARE, (0, 1), INCREASING, [[4]]),
    ("ARGMAX", [3, 2, 1, 2, 3], (0,), INCREASING, [0]),
    ("ARGMAX", [3, 2, 1, 2, 3], (0,), DECREASING, [4]),
    ("ARGMIN", [1, 2, 3, 2, 1], (0,), INCREASING, [0]),
    ("ARGMIN", [1, 2, 3, 2, 1], (0,), DECREASING, [4]),
]


@pytest.mark.parametrize("data_type", DataType)
@pytest.mark.parametrize("example", range(len(ARG_EXAMPLES)))
def test_argmax_and_argmin_examples(device, example, data_type):
    operator, rows, axes, direction, answer = ARG_EXAMPLES[example]
    x = upload(device, np.array(rows, data_type.numpy_dtype))
    operators = [operator]
    if direction == INCREASING:
        operators.append(f"REDUCE {operator}")
    for name in operators:
        output = place(device, DataType.INT32, with_size(x.desc.sizes, axes, 1))
        desc = arg_desc(name, x.desc, output.desc, axes, direction)
        run(device, desc, input_tensor=x.buffer, output_tensor=output.buffer)
        output.assert_holds(device, np.array(answer), name)


# The feature table --------------------------------------------------------------------------------

#: Operators with the rows of the contract's table, which test_contract.py holds against another.
FEATURE_ROWS = [
    (name, row)
    for operator, rows in FEATURE_TABLE.items()
    for name in (["REDUCE ARGMAX", "REDUCE ARGMIN"] if operator == "REDUCE" else [operator])
    for row in rows
    if row.index_types
]
SIZES_BY_RANK = [
    (),
    (11,),
    (3, 5),
    (2, 3, 4),
    (2, 1, 3, 5),
    (1, 2, 3, 1, 4),
    (2, 1, 2, 1, 2, 3),
    (2,) * 7,
    (2,) * 8,
]


@pytest.fixture
def at_level(device):
    """The same GPU device opened at each feature level."""
    opened: dict[FeatureLevel, wgdml.Device] = {}

    def open_at(level: FeatureLevel) -> wgdml.Device:
        if level not in opened:
            opened[level] = wgdml.Device(device.gpu_device, feature_level=level)
        return opened[level]

    return open_at


def run_row(device, operator, data_type, index_type, rank, seed=0):
    x = place(device, data_type, SIZES_BY_RANK[rank], kind="eight_values", seed=seed)
    how = {"operator": operator, "index_type": index_type, "case": f"{operator} {data_type!r} {index_type!r} rank {rank}"}
    if operator.startswith("TOP_K"):
        for axis in {0, rank - 1}:
            for direction in (DECREASING,) if operator == "TOP_K" else (INCREASING, DECREASING):
                run_top_k(device, x, axis, min(2, x.desc.sizes[axis]), direction=direction, **how)
    else:
        for axes in {(0,), (rank - 1,), tuple(range(rank))}:
            for direction in (INCREASING,) if operator.startswith("REDUCE") else (INCREASING, DECREASING):
                run_arg(device, x, axes, direction=direction, **how)


@pytest.mark.parametrize(("operator", "row"), FEATURE_ROWS, ids=[f"{name}-{row.level.name}" for name, row in FEATURE_ROWS])
def test_every_row_of_the_feature_table(device, at_level, operator, row):
    earlier = [other for name, other in FEATURE_ROWS if name == operator and other.level < row.level]
    for data_type in row.value_types:
        if not any(data_type in other.value_types for other in earlier):
            run_row(device, operator, data_type, row.index_types[0], 4)
    for index_type in row.index_types:
        if not any(index_type in other.index_types for other in earlier):
            run_row(device, operator, row.value_types[-1], index_type, 4)
    for rank in row.ranks:
        if not any(rank in other.ranks for other in earlier):
            run_row(device, operator, DataType.FLOAT16, DataType.UINT32, rank)
    run_row(at_level(row.level), operator, row.value_types[-1], row.index_types[0], 4)


def test_feature_support(device, at_level):
    assert device.feature_level == wgdml.HIGHEST_FEATURE_LEVEL == FeatureLevel.LEVEL_6_4
    assert list(device.feature_levels) == list(FeatureLevel)
    assert all(device.check_feature_support(data_type) for data_type in DataType)
    low = at_level(FeatureLevel.LEVEL_1_0)
    assert low.feature_level == FeatureLevel.LEVEL_1_0
    supported = {data_type.name for data_type in DataType if low.check_feature_support(data_type)}
    assert supported == {"FLOAT32", "FLOAT16", "UINT32"}


# Layouts of outputs and inputs --------------------------------------------------------------------

#: Strides of a (5, 3) output, and the offset in elements at which it lies in its buffer.
OUTPUT_LAYOUTS = {
    "packed": (None, 0),
    "offset": (None, 256),
    "padded rows": ((7, 1), 0),
    "transposed": ((1, 5), 0),
    "every third": ((9, 3), 0),
    "padded columns": ((2, 11), 64),
    "far apart": ((1000, 100), 0),
}


@pytest.mark.parametrize("data_type", ["INT8", "FLOAT16", "FLOAT32", "INT64"])
@pytest.mark.parametrize("layout", OUTPUT_LAYOUTS)
def test_top_k_writes_its_outputs_elements_and_no_other_byte(device, layout, data_type):
    strides, offset = OUTPUT_LAYOUTS[layout]
    value_type = DataType[data_type]
    for index_type in (DataType.UINT32, DataType.UINT64):
        for size in (4, 3, 900):
            run_top_k(
                device,
                place(device, value_type, (5, size)),
                1,
                3,
                values=place(device, value_type, (5, 3), strides, offset, seed=1),
                indices=place(device, index_type, (5, 3), strides, offset, seed=2),
                case=(layout, data_type, index_type.name, size),
            )


@pytest.mark.parametrize("index_type", ARG_INDICES)
@pytest.mark.parametrize("layout", OUTPUT_LAYOUTS)
def test_argmax_writes_its_outputs_elements_and_no_other_byte(device, layout, index_type):
    strides, offset = OUTPUT_LAYOUTS[layout]
    strides = None if strides is None else (strides[0], 1, strides[1])
    for size in (4, 900):
        run_arg(
            device,
            place(device, DataType.INT8, (5, size, 3), kind="eight_values"),
            (1,),
            direction=DECREASING,
            output=place(device, DataType[index_type], (5, 1, 3), strides, offset, seed=1),
            case=(layout, index_type, size),
        )


@pytest.mark.parametrize("data_type", ["INT8", "UINT8", "FLOAT16", "INT16"])
def test_small_types_leave_the_rest_of_a_word(device, data_type):
    # One to nine elements: the last word of the output belongs to it only in part.
    for rows, k in [(1, 1), (1, 2), (1, 3), (1, 5), (2, 1), (3, 1), (3, 3), (9, 1), (7, 5), (1, 129)]:
        run_top_k(device, place(device, DataType[data_type], (rows, k + 40)), 1, k, case=(rows, k))


@pytest.mark.parametrize("data_type", ["INT8", "FLOAT16"])
def test_interleaved_outputs_of_small_types(device, data_type):
    # Neighbouring elements of one word belong to different rows, thus to different workgroups: a
    # racing read-modify-write of words would lose some.
    value_type = DataType[data_type]
    for rows, k, size in [(64, 8, 64), (257, 3, 10), (33, 40, 2_000), (1024, 1, 100)]:
        run_top_k(
            device,
            place(device, value_type, (rows, size)),
            1,
            k,
            values=place(device, value_type, (rows, k), (1, rows), seed=1),
            indices=place(device, DataType.UINT32, (rows, k), (1, rows), seed=2),
            case=(rows, k, size),
        )


#: Sizes, strides and offset of inputs.
INPUT_LAYOUTS = {
    "packed": ((6, 50), None, 0),
    "offset": ((6, 50), None, 256),
    "padded rows": ((6, 50), (53, 1), 0),
    "transposed": ((6, 50), (1, 6), 0),
    "every third": ((6, 50), (150, 3), 64),
    "rows repeated": ((6, 50), (0, 1), 0),
    "columns repeated": ((6, 50), (1, 0), 0),
    "one element": ((6, 50), (0, 0), 0),
    "overlapping": ((6, 50), (1, 1), 0),
    "far apart": ((6, 50), (5_000, 99), 0),
    "long padded rows": ((2, 9_000), (9_001, 1), 0),
    "rank 8": ((2, 1, 2, 3, 1, 2, 2, 5), (0, 7, 100, 31, 2, 250, 5, 1), 0),
}


WIDTHS = ("INT8", "FLOAT16", "FLOAT32", "UINT64")


@pytest.mark.parametrize(
    ("layout", "data_type"),
    [(layout, WIDTHS[(n + step) % 4]) for n, layout in enumerate(INPUT_LAYOUTS) for step in (0, 1)],
)
def test_inputs_of_every_layout(device, layout, data_type):
    sizes, strides, offset = INPUT_LAYOUTS[layout]
    x = place(device, DataType[data_type], sizes, strides, offset)
    for axis in (0, len(sizes) - 1):
        for direction in (INCREASING, DECREASING):
            case = (layout, data_type, axis, direction.name)
            run_top_k(device, x, axis, 2, direction=direction, case=case)
            run_arg(device, x, (axis,), operator="ARGMIN", direction=direction, case=case)
    run_arg(device, x, tuple(range(len(sizes))), case=(layout, data_type, "all axes"))


def test_an_output_of_size_one_may_have_stride_zero(device):
    x = place(device, DataType.FLOAT32, (1, 40))
    run_top_k(
        device,
        x,
        1,
        3,
        values=place(device, DataType.FLOAT32, (1, 3), (0, 2), seed=1),
        indices=place(device, DataType.UINT32, (1, 3), (0, 5), seed=2),
    )
    run_arg(device, x, (0, 1), output=place(device, DataType.INT64, (1, 1), (0, 0), seed=1))


@pytest.mark.parametrize("data_type", ["INT8", "FLOAT16", "FLOAT32", "INT64"])
def test_a_buffer_of_exactly_the_tensors_size(device, data_type):
    # Not a byte behind the last word: loads and stores past the end are clamped somewhere, perhaps
    # into it.
    value_type = DataType[data_type]
    for size in (1, 2, 3, 5, 63, 257, 4_097):
        k = min(3, size)
        x, values = (place(device, value_type, (1, n), guard=0) for n in (size, k))
        indices = place(device, DataType.UINT32, (1, k), guard=0)
        assert x.buffer.size == x.desc.total_tensor_size_in_bytes
        run_top_k(device, x, 1, k, values=values, indices=indices, case=(data_type, size))


def test_a_total_size_larger_than_the_minimum(device):
    x = place(device, DataType.FLOAT32, (4, 20), guard=1024)
    x.desc = TensorDesc(DataType.FLOAT32, (4, 20), None, x.desc.total_tensor_size_in_bytes + 1000, 4)
    run_top_k(device, x, 1, 4)
    run_arg(device, x, (0, 1))


# Recording ----------------------------------------------------------------------------------------


def chain(device, size=500, k=8):
    """A top-k whose values feed an argmin, both recorded in one encoder."""
    x = place(device, DataType.FLOAT32, (6, size), kind="nan_payloads")
    values = place(device, DataType.FLOAT32, (6, k), seed=1)
    indices = place(device, DataType.UINT64, (6, k), seed=2)
    answer = place(device, DataType.INT32, (1, k), seed=3)
    first = operator_of(device, wgdml.TopK1OperatorDesc(x.desc, values.desc, indices.desc, 1, k, INCREASING))
    second = operator_of(device, wgdml.ArgmaxOperatorDesc(values.desc, answer.desc, (0,), DECREASING))
    return x, values, indices, answer, first, second


def record_chain(device, encoder, x, values, indices, answer, first, second):
    first.record(
        encoder,
        input_tensor=x.buffer,
        output_value_tensor=values.buffer,
        output_index_tensor=indices.buffer,
    )
    second.record(encoder, input_tensor=values.buffer, output_tensor=answer.buffer)


def assert_chain(device, x, values, indices, answer, first, second):
    want_values, want_indices = oracle.top_k(x.elements, values.desc.sizes[1], 1, largest=False)
    values.assert_holds(device, want_values)
    indices.assert_holds(device, want_indices)
    answer.assert_holds(device, oracle.arg_reduce(want_values, (0,), keepdims=True, select_last=True))


@pytest.mark.parametrize("size", [500, 30_000])
def test_two_operators_chained_in_one_encoder(device, size):
    parts = chain(device, size)
    encoder = device.gpu_device.create_command_encoder()
    record_chain(device, encoder, *parts)
    submit(device, encoder)
    assert_chain(device, *parts)


@pytest.mark.parametrize("size", [500, 30_000])
def test_recording_only_records(device, size):
    parts = x, values, indices, answer, *_ = chain(device, size)
    encoder = device.gpu_device.create_command_encoder()
    record_chain(device, encoder, *parts)
    for output in (values, indices, answer):
        output.assert_holds(device)
    # What lies in the input when the encoder is submitted counts, not what lay there at recording.
    x.bytes[:] = data.make("random", "float32", x.bytes.size // 4, seed=9).view(np.uint8)
    device.gpu_device.queue.write_buffer(x.buffer, 0, x.bytes)
    for name in ("float32", "uint8"):  # work of others in between, with the same scratch
        other = data.make("random", name, (2, 50_000))
        oracle.assert_same(wgdml.sort(other, device=device), oracle.sort(other))
    submit(device, encoder)
    assert_chain(device, *parts)


def test_among_the_caller_s_own_commands(device):
    parts = x, _, _, answer, *_ = chain(device)
    source = buffer_of(device, data.make("random", "float32", x.bytes.size // 4, seed=5))
    copy = buffer_of(device, answer.bytes)
    encoder = device.gpu_device.create_command_encoder()
    encoder.copy_buffer_to_buffer(source, 0, x.buffer, 0, x.buffer.size)
    record_chain(device, encoder, *parts)
    encoder.copy_buffer_to_buffer(answer.buffer, 0, copy, 0, copy.size)
    submit(device, encoder)
    x.bytes[:] = read(device, source)
    assert_chain(device, *parts)
    assert np.array_equal(read(device, copy), read(device, answer.buffer))


@pytest.mark.parametrize("size", [300, 30_000])
def test_one_operator_recorded_many_times(device, size):
    k = 5
    desc = wgdml.TopK1OperatorDesc(
        TensorDesc(DataType.FLOAT16, (2, size)),
        TensorDesc(DataType.FLOAT16, (2, k)),
        TensorDesc(DataType.UINT32, (2, k)),
        1,
        k,
        DECREASING,
    )
    operator = operator_of(device, desc)
    runs = []
    encoders = [device.gpu_device.create_command_encoder() for _ in range(3)]
    for number in range(12):
        x = place(device, DataType.FLOAT16, (2, size), seed=number)
        values = place(device, DataType.FLOAT16, (2, k), offset=256 * (number % 3), seed=50 + number)
        indices = place(device, DataType.UINT32, (2, k), seed=100 + number)
        operator.record(
            encoders[number % 3],
            input_tensor=x.tensor(device),
            output_value_tensor=values.tensor(device),
            output_index_tensor=indices.tensor(device),
        )
        runs.append((x, values, indices))
    submit(device, encoders[2])
    submit(device, encoders[0], encoders[1])
    for number, (x, values, indices) in enumerate(runs):
        want_values, want_indices = oracle.top_k(x.elements, k, 1)
        values.assert_holds(device, want_values, number)
        indices.assert_holds(device, want_indices, number)


def test_scratch_outlives_the_recording(device):
    # A larger operator recorded later must not take away the scratch of one recorded before it.
    runs = []
    encoders = []
    for size in (20_000, 400_000, 1_000_000):
        x = place(device, DataType.UINT32, (1, size), seed=size)
        values = place(device, DataType.UINT32, (1, size), seed=1)
        indices = place(device, DataType.UINT32, (1, size), seed=2)
        desc = wgdml.TopK1OperatorDesc(x.desc, values.desc, indices.desc, 1, size, INCREASING)
        encoders.append(device.gpu_device.create_command_encoder())
        operator_of(device, desc).record(
            encoders[-1],
            input_tensor=x.buffer,
            output_value_tensor=values.buffer,
            output_index_tensor=indices.buffer,
        )
        runs.append((x, values, indices))
    submit(device, *reversed(encoders))
    for x, values, indices in runs:
        want_values, want_indices = oracle.top_k(x.elements, x.desc.sizes[1], 1, largest=False)
        values.assert_holds(device, want_values, x.desc.sizes)
        indices.assert_holds(device, want_indices, x.desc.sizes)


def test_several_tensors_in_one_buffer(device):
    # Values and indices side by side in one buffer, aligned as WebGPU wants its bindings.
    x = place(device, DataType.FLOAT32, (1, 100))
    before = data.make("random", "uint32", 512)
    shared, output = buffer_of(device, before), TensorDesc(DataType.FLOAT32, (1, 4))
    desc = wgdml.TopK1OperatorDesc(x.desc, output, TensorDesc(DataType.UINT32, (1, 4)), 1, 4, DECREASING)
    run(
        device,
        desc,
        input_tensor=x.tensor(device),
        output_value_tensor=wgdml.Tensor.from_buffer(shared, "float32", (1, 4), offset=256, device=device),
        output_index_tensor=wgdml.Tensor.from_buffer(shared, "uint32", (1, 4), offset=1024, device=device),
    )
    values, indices = oracle.top_k(x.elements, 4, 1)
    before[64:68] = values.view(np.uint32)
    before[256:260] = indices
    assert np.array_equal(read(device, shared).view(np.uint32), before)


# Devices ------------------------------------------------------------------------------------------


def test_binding_properties(device):
    _, _, _, _, first, second = chain(device, 30_000)
    for operator in (first, second):
        properties = operator.binding_properties
        assert properties.temporary_size >= 0 and properties.persistent_size == 0
    x = TensorDesc(DataType.FLOAT32, (1, 1_000_000))
    few = wgdml.TopK1OperatorDesc(x, TensorDesc(DataType.FLOAT32, (1, 10)), TensorDesc(DataType.UINT32, (1, 10)), 1, 10, DECREASING)
    size = operator_of(device, few).binding_properties.temporary_size
    assert 0 < size < x.total_tensor_size_in_bytes // 2, "scratch stays well under the input for a small k"
    arg = wgdml.ArgmaxOperatorDesc(x, TensorDesc(DataType.UINT32, (1, 1)), (1,))
    size = operator_of(device, arg).binding_properties.temporary_size
    assert 0 <= size < x.total_tensor_size_in_bytes // 2
    whole = wgdml.TopK1OperatorDesc(x, x, TensorDesc(DataType.UINT32, (1, 1_000_000)), 1, 1_000_000, DECREASING)
    size = operator_of(device, whole).binding_properties.temporary_size
    assert size < 4 * x.total_tensor_size_in_bytes, "scratch stays under four times the input for a sort"


def test_a_second_call_compiles_nothing(device):
    own = wgdml.Device(device.gpu_device)
    assert own.counters["pipelines"] == 0 and own.counters["plans"] == 0

    def everything():
        for name in ("float32", "uint8"):
            x = data.make("random", name, (3, 7_000))
            wgdml.top_k(x, 10, device=own)
            wgdml.argmax(x, device=own)
            wgdml.argmin(x, axis=0, device=own)
            wgdml.sort(x, device=own)
            wgdml.argsort(wgdml.asarray(x, device=own), axis=0, device=own).numpy()

    everything()
    first = dict(own.counters)
    assert first["pipelines"] > 0 and first["plans"] > 0
    everything()
    everything()
    again = dict(own.counters)
    assert again["pipelines"] == first["pipelines"] and again["plans"] == first["plans"]
    wgdml.top_k(data.make("random", "int64", (3, 70)), 2, device=own)
    assert own.counters["plans"] > first["plans"]


def test_recording_again_makes_no_bind_groups(device):
    own = wgdml.Device(device.gpu_device)
    parts = chain(own)
    for _ in range(2):
        encoder = own.gpu_device.create_command_encoder()
        record_chain(own, encoder, *parts)
        submit(own, encoder)
    before = dict(own.counters)
    for _ in range(3):
        encoder = own.gpu_device.create_command_encoder()
        record_chain(own, encoder, *parts)
        submit(own, encoder)
    after = dict(own.counters)
    for name in ("pipelines", "plans", "bind_groups", "scratch_bytes"):
        assert after[name] == before[name], name
    assert_chain(own, *parts)


def small_problems(device):
    x = data.make("random", "float32", (3, 10_000))
    for k in (5, 3_000):
        values, indices = wgdml.top_k(x, k, device=device)
        oracle.assert_same(values, oracle.top_k(x, k)[0])
        oracle.assert_same(indices, oracle.top_k(x, k)[1])
    oracle.assert_same(wgdml.argmin(x, device=device), oracle.argmin(x))
    oracle.assert_same(wgdml.argmax(x, axis=0, device=device), oracle.argmax(x, 0))
    y = data.make("random", "int8", (2, 9_001))
    oracle.assert_same(wgdml.sort(y, device=device), oracle.sort(y))


def test_wrapping_a_device_of_the_caller(device):
    gpu_device = device.gpu_device.adapter.request_device_sync()
    own = wgdml.Device(gpu_device)
    assert own.gpu_device is gpu_device
    small_problems(own)
    # A buffer that some other code made on that device is an input as it stands.
    x = data.make("random", "float32", (4, 100))
    buffer = gpu_device.create_buffer_with_data(
        data=x, usage=wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.VERTEX | wgpu.BufferUsage.COPY_SRC
    )
    tensor = wgdml.Tensor.from_buffer(buffer, "float32", (4, 100), device=own)
    assert tensor.buffer is buffer and tensor.device is own
    result = wgdml.top_k(tensor, 3)
    assert result.values.device is own
    oracle.assert_same(result.values.numpy(), oracle.top_k(x, 3)[0])
    oracle.assert_same(result.indices.numpy(), oracle.top_k(x, 3)[1])


#: What every WebGPU implementation has.
SPEC_MINIMA = {
    "max-bind-groups": 4,
    "max-bindings-per-bind-group": 1000,
    "max-storage-buffers-per-shader-stage": 8,
    "max-storage-buffer-binding-size": 1 << 27,
    "max-buffer-size": 1 << 28,
    "max-compute-workgroup-storage-size": 16384,
    "max-compute-invocations-per-workgroup": 256,
    "max-compute-workgroup-size-x": 256,
    "max-compute-workgroup-size-y": 256,
    "max-compute-workgroup-size-z": 64,
    "max-compute-workgroups-per-dimension": 65535,
    "min-storage-buffer-offset-alignment": 256,
    "min-uniform-buffer-offset-alignment": 256,
}


def test_a_device_with_no_features_and_the_least_limits(device):
    gpu_device = device.gpu_device.adapter.request_device_sync(required_features=[], required_limits=SPEC_MINIMA)
    assert gpu_device.limits["max-compute-workgroup-storage-size"] == 16384
    assert gpu_device.limits["max-storage-buffers-per-shader-stage"] == 8
    assert gpu_device.limits["max-compute-invocations-per-workgroup"] == 256
    assert "subgroup" not in gpu_device.features
    own = wgdml.Device(gpu_device)
    small_problems(own)
    for rows, k in [(70_000, 2), (1, 1)]:
        x = data.make("eight_values", "uint16", (rows, 5))
        values, indices = wgdml.top_k(x, k, device=own)
        oracle.assert_same(values, oracle.top_k(x, k)[0])
        oracle.assert_same(indices, oracle.top_k(x, k)[1])


def test_adapters_are_listed(device):
    found = wgdml.adapters()
    assert found
    assert device.adapter_info["device"]
    assert wgdml.default_device() is device
    assert device.limits["max-compute-workgroups-per-dimension"] >= 65535


def test_extent_of_a_packed_layout():
    # The helpers of this file: a wrong stride here would make the guard bands blind.
    assert packed((2, 3, 4)) == (12, 4, 1) and packed((5,)) == (1,)
    assert extent((2, 3, 4), (12, 4, 1)) == 24
    desc = TensorDesc(DataType.INT8, (5, 3), (7, 1))
    assert desc.element_strides == (7, 1) and desc.total_tensor_size_in_bytes == 32
