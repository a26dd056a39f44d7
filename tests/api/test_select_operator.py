"""SelectOperatorDesc: what it takes and refuses, and what recorded work reads when it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import oracle
import pytest
from checks import STORAGE, buffer_of, operator_of, read
from operators import Bench
from planning import planned_device

import wgdml
from wgdml import AxisDirection, DataType, FeatureLevel, SelectOperatorDesc, TensorDesc

F32, U32, I64 = DataType.FLOAT32, DataType.UINT32, DataType.INT64
SIZES, RESULT, OWN = (4, 50), (4, 6), (4, 1)
LARGEST, SMALLEST = AxisDirection.DECREASING, AxisDirection.INCREASING


def desc(**changes: Any) -> SelectOperatorDesc:
    fields: dict[str, Any] = {
        "input_tensor": TensorDesc(F32, SIZES),
        "k": 6,
        "axes": (1,),
        "axis_direction": LARGEST,
        "output_value_tensor": TensorDesc(F32, RESULT),
        "output_index_tensor": TensorDesc(U32, RESULT),
        "lengths_tensor": TensorDesc(U32, OWN),
    }
    return SelectOperatorDesc(**fields | changes)


ALL = {
    "starts_tensor": TensorDesc(DataType.INT16, (1, 1)),
    "counts_tensor": TensorDesc(DataType.UINT8, OWN),
    "payload_tensor": TensorDesc(I64, SIZES),
    "output_index_tensor": TensorDesc(I64, RESULT),
}


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        ALL,
        ALL | {"axis_direction": SMALLEST, "nan": "first"},
        {"output_value_tensor": None, "nan": "last"},
        {"output_index_tensor": None, "longest": 20},
        {"sorted": True, "lengths_tensor": None},
        {"k": 1, "select_last_index": True, "output_value_tensor": None, "output_index_tensor": TensorDesc(I64, OWN)},
        {"input_tensor": TensorDesc(F32, (1, 50)), "starts_tensor": TensorDesc(U32, OWN)},
    ],
)
def test_replayed_with_other_contents(device, changes, together):
    bench = Bench(device, desc(**changes), 3, 5, together)
    for seed in range(6):
        bench.fill("eight_values", seed)
        bench.run()
        bench.check((changes, seed))


def test_a_payload_in_the_results_buffer(device):
    """A GPU copies such columns to scratch. The payload still shares a buffer with the results."""
    own, planned = planned_device(device)
    columns, results = (300, 70), (100, 70)
    changes = {
        "input_tensor": TensorDesc(F32, columns),
        "axes": (0,),
        "k": 100,
        "output_value_tensor": TensorDesc(F32, results),
        "output_index_tensor": TensorDesc(U32, results),
        "payload_tensor": TensorDesc(U32, columns),
        "lengths_tensor": None,
    }
    bench = Bench(own, desc(**changes), 3, 5, True)
    bench.fill("eight_values", 1)
    bench.run()
    bench.check(changes)
    assert planned.plans[-1].algorithms[0] == "transpose"


def test_one_recording_reads_what_is_there_when_it_runs(device):
    # Recorded twice into one encoder, with a copy of other lengths between: nothing comes back.
    gpu = device.gpu_device
    x = np.arange(200, dtype=np.float32).reshape(SIZES)
    first, second = np.array([0, 1, 2, 50], np.uint32), np.array([7, 50, 0, 3], np.uint32)
    lengths, later = buffer_of(device, first), buffer_of(device, second)
    source = buffer_of(device, x)
    compiled = operator_of(device, desc(output_value_tensor=None))
    outputs = [gpu.create_buffer(size=4 * 24, usage=STORAGE) for _ in range(2)]
    encoder = gpu.create_command_encoder()
    compiled.record(encoder, input_tensor=source, lengths_tensor=lengths, output_index_tensor=outputs[0])
    encoder.copy_buffer_to_buffer(later, 0, lengths, 0, lengths.size)
    compiled.record(encoder, input_tensor=source, lengths_tensor=lengths, output_index_tensor=outputs[1])
    gpu.queue.submit([encoder.finish()])
    for output, own in zip(outputs, (first, second), strict=True):
        _, indices = oracle.ragged_top_k(x, 6, lengths=own)
        assert np.array_equal(read(device, output).view(np.int32).reshape(RESULT), indices)


def test_called(device):
    x = np.random.default_rng(0).standard_normal(SIZES).astype(np.float32)
    compiled = operator_of(device, desc(**ALL))
    assert list(compiled.tensors) == [
        "input_tensor",
        "output_value_tensor",
        "output_index_tensor",
        "lengths_tensor",
        "starts_tensor",
        "counts_tensor",
        "payload_tensor",
    ]
    assert "SELECT" in repr(compiled) and "with lengths, starts, counts, payload" in repr(compiled)
    ids = np.arange(200, dtype=np.int64).reshape(SIZES) * 7
    given = {
        "lengths_tensor": np.full(OWN, 9, np.uint32),
        "starts_tensor": np.full((1, 1), 5, np.int16),
        "counts_tensor": np.array([[6], [0], [2], [5]], np.uint8),
        "payload_tensor": ids,
    }
    found = compiled(wgdml.asarray(x, device=device), **{n: wgdml.asarray(a, device=device) for n, a in given.items()})
    assert list(found) == ["output_value_tensor", "output_index_tensor"]
    values, indices = oracle.ragged_top_k(x, 6, starts=5, lengths=9, counts=[6, 0, 2, 5])
    oracle.assert_same(found["output_value_tensor"].numpy(), values)
    wanted = np.where(indices < 0, -1, np.take_along_axis(ids, np.maximum(indices, 0), 1))
    oracle.assert_same(found["output_index_tensor"].numpy(), wanted)
    with pytest.raises(TypeError, match="SelectOperatorDesc is missing lengths_tensor, starts_tensor"):
        compiled(wgdml.asarray(x, device=device))


def test_an_input_that_is_given_twice_is_refused(device):
    source = desc(output_index_tensor=None, lengths_tensor=None)
    compiled = operator_of(device, source)
    x = wgdml.empty(source.input_tensor, device=device)
    with pytest.raises(TypeError, match="multiple values for argument 'input_tensor'"):
        compiled(x, input_tensor=x)
    assert list(compiled(input_tensor=x)) == ["output_value_tensor"]


def test_what_is_read_may_overlap_and_outputs_may_not(device):
    numbers = wgdml.asarray(np.array([[3], [0], [6], [1]], np.uint32), device=device)
    both = desc(
        counts_tensor=TensorDesc(U32, OWN), payload_tensor=TensorDesc(F32, SIZES), output_index_tensor=TensorDesc(F32, RESULT)
    )
    compiled = operator_of(device, both)
    x = np.random.default_rng(0).standard_normal(SIZES).astype(np.float32)
    source = wgdml.asarray(x, device=device)
    found = compiled(source, lengths_tensor=numbers, counts_tensor=numbers, payload_tensor=source)
    values, _ = oracle.ragged_top_k(x, 6, lengths=numbers.numpy().reshape(4), counts=numbers.numpy().reshape(4))
    oracle.assert_same(found["output_value_tensor"].numpy(), values)
    with pytest.raises(ValueError, match="output_index_tensor must not share memory with payload_tensor"):
        out = wgdml.Tensor.from_buffer(source.buffer, "float32", RESULT, device=device)
        other = wgdml.asarray(x, device=device)
        compiled(other, lengths_tensor=numbers, counts_tensor=numbers, payload_tensor=source, output_index_tensor=out)


def test_any_feature_level_takes_it(device):
    for level in FeatureLevel:
        own = wgdml.Device(device.gpu_device, feature_level=level)
        assert operator_of(own, desc()).binding_properties.temporary_size > 0


def test_segments_of_one_tensor(device):
    n, count = 3000, 40
    rng = np.random.default_rng(1)
    x = rng.standard_normal(n).astype(np.float32)
    offsets = np.sort(rng.integers(0, n + 1, count + 1)).astype(np.uint32)
    column = TensorDesc(U32, (count, 1))
    own = SelectOperatorDesc(
        TensorDesc(F32, (1, n)),
        3,
        (1,),
        LARGEST,
        output_index_tensor=TensorDesc(U32, (count, 3)),
        lengths_tensor=column,
        starts_tensor=column,
        longest=1000,
    )
    given = {"lengths_tensor": np.diff(offsets)[:, None], "starts_tensor": offsets[:-1, None]}
    tensors = {name: wgdml.asarray(np.ascontiguousarray(a), device=device) for name, a in given.items()}
    found = operator_of(device, own)(wgdml.asarray(x[None], device=device), **tensors)
    _, indices = oracle.ragged_top_k(np.broadcast_to(x, (count, n)), 3, starts=offsets[:-1], lengths=np.diff(offsets))
    oracle.assert_same(found["output_index_tensor"].numpy(), indices.astype(np.uint32))


T = TensorDesc
REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"k": 0}, ValueError, "k is 0; it must be from 1 to 50"),
    ({"k": 51}, ValueError, "k is 51; it must be from 1 to 50"),
    ({"k": 2.0}, TypeError, "k is 2.0"),
    ({"axes": ()}, ValueError, r"axes is \(\)"),
    ({"axes": (2,)}, ValueError, r"axes\[0\] is 2"),
    ({"axes": (0, 1)}, ValueError, "k is 6; it must be from 1 to 1, .* 1 of several"),
    ({"axis_direction": 1}, TypeError, "axis_direction is 1"),
    ({"sorted": 1}, TypeError, "sorted is 1; it must be True or False"),
    ({"nan": "lowest"}, ValueError, "nan is 'lowest'; it must be one of greatest, last, first"),
    ({"nan": np.array(["last", "first"])}, ValueError, "it must be one of greatest, last, first"),
    ({"select_last_index": True}, ValueError, "select_last_index is True with k = 6"),
    ({"longest": 0}, ValueError, "longest is 0; it must be at least 1"),
    ({"longest": 3, "lengths_tensor": None}, ValueError, "longest is 3; it must be .* given with a lengths_tensor"),
    ({"output_value_tensor": None, "output_index_tensor": None}, ValueError, "at least one must be given"),
    ({"output_value_tensor": T(U32, RESULT)}, ValueError, "output_value_tensor.data_type is UINT32; it must be FLOAT32"),
    ({"output_index_tensor": T(U32, (4, 5))}, ValueError, r"output_index_tensor.sizes is \(4, 5\); it must be \(4, 6\)"),
    ({"output_index_tensor": T(F32, RESULT)}, ValueError, "output_index_tensor.data_type is FLOAT32; it must be one of INT64"),
    ({"output_value_tensor": T(F32, RESULT, (0, 1))}, ValueError, r"output_value_tensor.strides\[0\] is 0"),
    ({"input_tensor": T(F32, (3, 50))}, ValueError, r"input_tensor.sizes is \(3, 50\); each must be 1 or that of the outputs"),
    ({"lengths_tensor": T(F32, OWN)}, ValueError, "lengths_tensor.data_type is FLOAT32; it must be one of UINT32"),
    ({"lengths_tensor": T(U32, SIZES)}, ValueError, r"lengths_tensor.sizes is \(4, 50\); it must be \(4, 1\)"),
    ({"starts_tensor": T(U32, (4,))}, ValueError, r"starts_tensor.sizes is \(4,\); it must be \(4, 1\)"),
    ({"counts_tensor": 3}, TypeError, "counts_tensor is 3"),
    ({"payload_tensor": T(DataType.INT16, SIZES)}, ValueError, "payload_tensor.data_type is INT16; it must be one of"),
    ({"payload_tensor": T(U32, (4, 49))}, ValueError, r"payload_tensor.sizes is \(4, 49\); it must be \(4, 50\)"),
    ({"payload_tensor": T(I64, SIZES)}, ValueError, "output_index_tensor.data_type is UINT32; it must be INT64"),
    ({"payload_tensor": T(U32, SIZES), "output_index_tensor": None}, ValueError, "without an output_index_tensor"),
]


@pytest.mark.parametrize(("changes", "error", "words"), REFUSED)
def test_refused(changes, error, words):
    with pytest.raises(error, match=words):
        desc(**changes)


def test_a_payload_of_several_axes_is_refused():
    with pytest.raises(ValueError, match="payload_tensor is given for axes"):
        replace(
            desc(),
            k=1,
            axes=(0, 1),
            output_value_tensor=None,
            output_index_tensor=T(U32, (1, 1)),
            lengths_tensor=None,
            payload_tensor=T(U32, SIZES),
        )
