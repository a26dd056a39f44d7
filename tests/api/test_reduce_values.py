"""REDUCE's functions MAX and MIN: the selected element, bit for bit, at every level."""

from __future__ import annotations

import itertools

import data
import numpy as np
import oracle
import pytest
from checks import buffer_of, operator_of, read, strided_tensor

import wgdml
from wgdml import DataType, FeatureLevel, ReduceFunction, TensorDesc

FUNCTIONS = [ReduceFunction.MAX, ReduceFunction.MIN]


def compiled(device: wgdml.Device, function: ReduceFunction, x: TensorDesc, axes, strides=None) -> wgdml.CompiledOperator:
    sizes = tuple(1 if d in axes else n for d, n in enumerate(x.sizes))
    desc = wgdml.ReduceOperatorDesc(function, x, TensorDesc(x.data_type, sizes, strides), axes)
    return operator_of(device, desc)


def expected(function: ReduceFunction, x: np.ndarray, axes) -> np.ndarray:
    return oracle.extreme(x, axes, keepdims=True, largest=function is ReduceFunction.MAX)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("data_type", DataType)
def test_every_type_over_every_set_of_axes(device, function, data_type):
    """The types that share kernels take few of them: one axis along and across memory, and all."""
    x = data.make("eight_values", data_type.numpy_dtype, 4 * 5 * 6, 3).reshape(4, 5, 6)
    every = [axes for n in (1, 2, 3) for axes in itertools.combinations(range(3), n)]
    for axes in every if data_type in (DataType.FLOAT32, DataType.INT8) else [(2,), (0, 2)]:
        outputs = compiled(device, function, TensorDesc(data_type, x.shape), axes)(wgdml.asarray(x, device=device))
        assert list(outputs) == ["output_tensor"]
        oracle.assert_same(outputs["output_tensor"].numpy(), expected(function, x, axes), (function, data_type, axes))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_elements_own_bits(device, function):
    """The first NaN's payload and the first zero's sign, over one axis and over two apart."""
    rows = [
        [0x7FC00001, 0xFF812345, 0x3F800000, 0x00000000],  # NaNs: the first one's payload
        [0x3F800000, 0xFF812345, 0x7FC00001, 0x7F800000],
        [0x80000000, 0x00000000, 0x80000000, 0x80000000],  # -0.0 first
        [0x00000000, 0x80000000, 0x80000000, 0x00000000],  # 0.0 first
        [0x00000001, 0x80000001, 0x00000001, 0x80000001],  # denormals
    ]
    bits = np.array(rows, np.uint32).reshape(5, 2, 1, 2)
    x = bits.view(np.float32)
    for axes in ((3,), (1, 3), (0, 3), (0, 1, 2, 3)):
        out = compiled(device, function, TensorDesc(DataType.FLOAT32, x.shape), axes)(wgdml.asarray(x, device=device))
        oracle.assert_same(out["output_tensor"].numpy(), expected(function, x, axes), axes)
    by_row = compiled(device, function, TensorDesc(DataType.FLOAT32, x.shape), (1, 3))(wgdml.asarray(x, device=device))
    found = oracle.bits(by_row["output_tensor"].numpy()).ravel().tolist()
    assert found[:4] == [0x7FC00001, 0xFF812345, 0x80000000, 0x00000000]
    assert found[4] == (1 if function is ReduceFunction.MAX else 0x80000001)


@pytest.mark.parametrize("software", [False, True])
def test_plans_of_gpus_and_of_software_adapters(forced, software):
    """Two axes that cannot be merged, long and short, many sequences and one, on each machine."""
    own, _ = forced(None, software)
    for shape, axes in (
        ((3, 700, 5, 40), (1, 3)),
        ((40, 3, 2500), (0, 2)),
        ((1, 2, 30000, 2), (2,)),
        ((600, 9, 7), (0, 2)),
        ((2, 200_003), (1,)),
    ):
        x = data.make("eight_values", np.float32, int(np.prod(shape)), 1).reshape(shape)
        x[..., -1:] = np.nan
        out = compiled(own, ReduceFunction.MIN, TensorDesc(DataType.FLOAT32, shape), axes)(wgdml.asarray(x, device=own))
        oracle.assert_same(out["output_tensor"].numpy(), expected(ReduceFunction.MIN, x, axes), (shape, axes))


def test_strided_input_and_output(device):
    tensor, host = strided_tensor(device, "eight_values", np.int16, (3, 4, 5), (50, 1, 7), offset=3)
    before = np.full(64, 77, np.int16)
    buffer = buffer_of(device, before)
    output = wgdml.Tensor.from_buffer(buffer, DataType.INT16, (3, 1, 5), (9, 0, 1), 2, device=device)
    operator = compiled(device, ReduceFunction.MAX, TensorDesc(DataType.INT16, (3, 4, 5), (50, 1, 7)), (1,), (9, 0, 1))
    given = operator(tensor, output_tensor=output)
    assert given["output_tensor"] is output
    want = expected(ReduceFunction.MAX, host, (1,))
    oracle.assert_same(output.numpy(), want)
    for i in range(3):
        before[1 + 9 * i : 6 + 9 * i] = want[i, 0]
    assert np.array_equal(read(device, buffer).view(np.int16)[:64], before)  # and no other byte


def test_levels(device):
    desc = wgdml.ReduceOperatorDesc(
        ReduceFunction.MAX, TensorDesc(DataType.INT64, (2, 3)), TensorDesc(DataType.INT64, (2, 1)), (1,)
    )
    device.create_operator(desc)
    low = wgdml.Device(device.gpu_device, feature_level=FeatureLevel.LEVEL_4_1)
    with pytest.raises(ValueError, match=r"REDUCE MAX at feature level LEVEL_4_1.*LEVEL_5_0 takes it"):
        low.create_operator(desc)
