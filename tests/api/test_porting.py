"""What a DirectML program brings: promised offsets, mapped buffers, descs, type numbers."""

from __future__ import annotations

import numpy as np
import pytest
from checks import STORAGE, buffer_of, operator_of

import wgdml
from wgdml import AxisDirection, DataType, FeatureLevel, ReduceFunction, TensorDesc

X = np.array([[3, 1, 2, 5], [9, 9, 0, 1], [4, 7, 7, 7]], np.float32)


def argmax_desc(alignment: int = 0, sizes=(3, 4)) -> wgdml.ArgmaxOperatorDesc:
    x = TensorDesc(DataType.FLOAT32, sizes, guaranteed_base_offset_alignment=alignment)
    return wgdml.ArgmaxOperatorDesc(x, TensorDesc(DataType.UINT32, (sizes[0], 1)), (1,))


@pytest.fixture
def operator(device):
    return operator_of(device, argmax_desc())


@pytest.fixture
def tensors(device):
    return {"input_tensor": wgdml.asarray(X, device=device), "output_tensor": wgdml.empty((3, 1), "uint32", device=device)}


# Binding -----------------------------------------------------------------------------------------


def test_an_offset_that_breaks_the_promised_alignment(device, tensors):
    operator = operator_of(device, argmax_desc(alignment=64))
    buffer = buffer_of(device, np.concatenate([np.zeros(64, np.float32), X.ravel()]))
    encoder = device.gpu_device.create_command_encoder()
    for offset in (4, 32, 96):
        tensors["input_tensor"] = wgdml.Tensor.from_buffer(buffer, "float32", (3, 4), offset=offset, device=device)
        with pytest.raises(ValueError, match=rf"input_tensor.* byte {offset} .*guaranteed_base_offset_alignment.* 64"):
            operator.record(encoder, **tensors)
        with pytest.raises(ValueError, match="guaranteed_base_offset_alignment"):
            operator(tensors["input_tensor"])
    tensors["input_tensor"] = wgdml.Tensor.from_buffer(buffer, "float32", (3, 4), offset=256, device=device)
    operator.record(encoder, **tensors)
    device.gpu_device.queue.submit([encoder.finish()])
    assert tensors["output_tensor"].numpy().ravel().tolist() == [3, 0, 1]


@pytest.mark.parametrize("name", ["input_tensor", "output_tensor"])
def test_a_mapped_buffer_is_refused_at_record(device, operator, tensors, name):
    mapped = device.gpu_device.create_buffer(size=64, usage=STORAGE, mapped_at_creation=True)
    encoder = device.gpu_device.create_command_encoder()
    with pytest.raises(ValueError, match=f"{name}.*mapped.*unmap it first"):
        operator.record(encoder, **tensors | {name: mapped})
    with pytest.raises(ValueError, match=f"{name}.*mapped"):
        operator(
            *(mapped,) if name == "input_tensor" else (tensors["input_tensor"],), **{n: mapped for n in (name,) if n[0] == "o"}
        )
    mapped.unmap()
    operator.record(encoder, **tensors | {name: mapped})


@pytest.mark.parametrize("field", ["input_tensor", "output_value_tensor"])
def test_a_tensor_over_the_largest_buffer_is_refused_when_compiled(device, field):
    largest = device.limits["max-buffer-size"]
    stride = largest // 4  # the second row lies beyond the largest buffer
    wide = {field: (stride, 1)}
    values = TensorDesc(DataType.FLOAT32, (2, 2), wide.get("output_value_tensor"))
    desc = wgdml.TopKOperatorDesc(
        TensorDesc(DataType.FLOAT32, (2, 4), wide.get("input_tensor")), values, TensorDesc(DataType.UINT32, (2, 2)), 1, 2
    )
    operator = device.create_operator(desc)
    plans = device.counters["plans"]
    with pytest.raises(ValueError, match=rf"{field}\.total_tensor_size_in_bytes is \d+; it must be at most {largest}"):
        device.compile_operator(operator)
    assert device.counters["plans"] == plans


def test_a_size_that_is_no_whole_number_of_words(device, operator, tensors):
    small = device.gpu_device.create_buffer(size=50, usage=STORAGE)  # 48 bytes of whole words
    operator.record(device.gpu_device.create_command_encoder(), **tensors | {"input_tensor": small})
    desc = wgdml.ArgmaxOperatorDesc(
        TensorDesc(DataType.INT8, (26,), total_tensor_size_in_bytes=30), TensorDesc(DataType.UINT32, (1,)), (0,)
    )
    buffer = device.gpu_device.create_buffer(size=30, usage=STORAGE)
    with pytest.raises(ValueError, match=r"needs bytes 0 to 30 .* has 30, in whole words of four 28"):
        operator_of(device, desc)(buffer)


# Levels and types --------------------------------------------------------------------------------


def test_feature_support_is_strict(device):
    for number in (9, 12, 13):  # FLOAT64, UINT4, INT4
        assert device.check_feature_support(number) is False
    for value in (True, 1, 1.0, 9.0, "FLOAT32", None, 0, 14, FeatureLevel.LEVEL_1_0, AxisDirection.DECREASING):
        with pytest.raises(TypeError, match="data_type"):
            device.check_feature_support(value)


def test_a_level_is_a_member(device):
    for value in (0x2100, 8448.0, "LEVEL_2_1", True, None):
        with pytest.raises(TypeError, match=r"feature_level.*FeatureLevel: LEVEL_1_0"):
            wgdml.Device(device.gpu_device, feature_level=value)


def test_from_buffer_takes_a_data_type(device):
    buffer = buffer_of(device, X)
    assert wgdml.Tensor.from_buffer(buffer, DataType.FLOAT32, (3, 4), device=device).dtype == np.float32
    assert np.array_equal(
        wgdml.Tensor.from_buffer(buffer, DataType.UINT16, (24,), device=device).numpy(), X.view(np.uint16).ravel()
    )


# Tensors -----------------------------------------------------------------------------------------


def test_empty(device):
    tensor = wgdml.empty((2, 3), "int16", device=device)
    assert (tensor.shape, tensor.strides, tensor.dtype, tensor.device) == ((2, 3), (3, 1), np.dtype(np.int16), device)
    assert wgdml.empty(5, DataType.INT64, device=device).shape == (5,)
    assert wgdml.empty((0, 3), np.float64, device=device).numpy().shape == (0, 3)
    assert wgdml.empty((), bool, device=device).size == 1
    desc = TensorDesc(DataType.UINT8, (2, 3), (8, 2), total_tensor_size_in_bytes=40)
    tensor = wgdml.empty(desc, device=device)
    assert (tensor.shape, tensor.strides, tensor.dtype) == ((2, 3), (8, 2), np.dtype(np.uint8)) and tensor.buffer.size >= 40
    for wrong, error, word in (
        (((2, 3),), TypeError, "dtype"),
        (((2, 3), "complex64"), TypeError, "complex64"),
        ((desc, "uint8"), TypeError, "dtype.*TensorDesc"),
        (((2, -3), "uint8"), ValueError, "shape"),
        (((2, 3.0), "uint8"), TypeError, "shape"),
        ((device.limits["max-buffer-size"] + 1, "uint8"), MemoryError, "largest buffer"),
    ):
        with pytest.raises(error, match=word):
            wgdml.empty(*wrong, device=device)


def test_reshape_shares_the_buffer(device):
    host = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    tensor = wgdml.asarray(host, device=device)
    for shape in ((24,), (6, 4), (4, 6), (2, 1, 12, 1), (-1,), (3, -1), (1, 24, 1), ((2, 12),)):
        view = tensor.reshape(*shape)
        assert view.buffer is tensor.buffer
        assert np.array_equal(view.numpy(), host.reshape(*shape))
    assert tensor.reshape(2, 3, 4).strides == tensor.strides
    column = wgdml.asarray(host[0, 0, :1], device=device)
    assert column.reshape(()).shape == () and column.reshape(()).reshape(1, 1).shape == (1, 1)
    assert wgdml.empty((0, 4), "int32", device=device).reshape(2, 0).shape == (2, 0)
    repeated = column.broadcast_to((6,)).reshape(2, 3)
    assert repeated.strides == (0, 0)


def test_reshape_against_numpy(device):
    """Every layout of four sizes: a shape is taken exactly when NumPy takes it without a copy."""
    base = np.arange(4 * 6 * 2, dtype=np.int32).reshape(4, 6, 2)
    buffer = buffer_of(device, base)
    taken = refused = 0
    for view in (base, base[:, ::2], base[::2], base[:, :3], base.transpose(1, 0, 2), base[:, :, :1], base.T):
        steps = tuple(s // 4 for s in view.strides)
        tensor = wgdml.Tensor.from_buffer(buffer, np.int32, view.shape, steps, device=device)
        for shape in ((view.size,), (2, view.size // 2), (view.size // 3, 3), (4, -1), (view.size // 2, 2), (2, 2, -1)):
            reshaped = view.reshape(shape)
            if not np.shares_memory(reshaped, view):
                with pytest.raises(ValueError, match="copy"):
                    tensor.reshape(shape)
                refused += 1
                continue
            got = tensor.reshape(shape)
            assert got.shape == reshaped.shape
            assert all(n == 1 or a == b // 4 for n, a, b in zip(got.shape, got.strides, reshaped.strides, strict=True))
            taken += 1
    assert taken > 10 and refused > 10


def test_reshape_refuses(device):
    tensor = wgdml.asarray(X, device=device)
    for shape, error in (
        ((5,), ValueError),
        ((-1, -1), ValueError),
        ((5, -1), ValueError),
        ((-2, 6), ValueError),
        ((2.0, 6), TypeError),
    ):
        with pytest.raises(error, match="shape"):
            tensor.reshape(shape)
    with pytest.raises(ValueError, match="copy"):
        tensor.T.reshape(12)


def test_outputs_of_a_call(device, operator, tensors):
    given = operator(tensors["input_tensor"], output_tensor=tensors["output_tensor"])
    assert given == {"output_tensor": tensors["output_tensor"]}
    assert tensors["output_tensor"].numpy().ravel().tolist() == [3, 0, 1]
    buffer = device.gpu_device.create_buffer(size=12, usage=STORAGE)
    assert operator(tensors["input_tensor"], output_tensor=buffer)["output_tensor"] is buffer
    assert np.frombuffer(device.gpu_device.queue.read_buffer(buffer), np.uint32).tolist() == [3, 0, 1]
    with pytest.raises(TypeError, match="no output_value_tensor"):
        operator(tensors["input_tensor"], output_value_tensor=buffer)
    with pytest.raises(ValueError, match="output_tensor must not share memory with input_tensor"):
        operator(tensors["input_tensor"], output_tensor=tensors["input_tensor"].buffer)
    one = operator_of(
        device,
        wgdml.TopKOperatorDesc(
            TensorDesc(DataType.FLOAT32, (3, 4)), TensorDesc(DataType.FLOAT32, (3, 2)), TensorDesc(DataType.UINT32, (3, 2)), 1, 2
        ),
    )
    values = wgdml.empty(one.tensors["output_value_tensor"], device=device)
    both = one(tensors["input_tensor"], output_value_tensor=values)
    assert list(both) == ["output_value_tensor", "output_index_tensor"] and both["output_value_tensor"] is values
    assert values.numpy().tolist() == [[5, 3], [9, 9], [7, 7]]


def test_a_layout_that_no_nesting_explains(device):
    """Interleaved output rows: no stride exceeds the others' extent, and no two elements meet."""
    desc = wgdml.ArgmaxOperatorDesc(
        TensorDesc(DataType.FLOAT32, (3, 2, 2, 4)), TensorDesc(DataType.UINT32, (3, 2, 2, 1), (9, 13, 7, 0)), (3,)
    )
    x = np.random.default_rng(0).random((3, 2, 2, 4), np.float32)
    out = operator_of(device, desc)(wgdml.asarray(x, device=device))["output_tensor"]
    assert np.array_equal(out.numpy(), x.argmax(3)[..., None])


# Devices -----------------------------------------------------------------------------------------


def test_tensors_of_another_device_on_the_same_gpu_device(device, operator, tensors):
    other = wgdml.Device(device.gpu_device)
    x = wgdml.asarray(X, device=other)
    out = operator(x)["output_tensor"]
    assert out.device is device and out.numpy().ravel().tolist() == [3, 0, 1]
    assert wgdml.asarray(x, device=other) is x
    here = wgdml.asarray(x, device=device)
    assert here.device is device and here.buffer is x.buffer
    best = wgdml.argmax(x, axis=1, device=device)
    assert best.device is device and best.numpy().tolist() == [3, 0, 1]
    operator.record(device.gpu_device.create_command_encoder(), input_tensor=x, output_tensor=tensors["output_tensor"])


def test_lost():
    device = wgdml.Device()
    assert device.lost is False
    device.gpu_device.destroy()
    assert device.lost is True
    with pytest.raises(wgdml.DeviceLostError, match=r"open another one"):
        wgdml.argmax(X, device=device)
    closed = wgdml.Device()
    closed.close()
    assert closed.lost is False


def test_nothing_works_on_a_closed_device():
    device = wgdml.Device()
    operator = device.create_operator(argmax_desc())
    device.close()
    for use in (
        lambda: device.create_operator(argmax_desc()),
        lambda: device.compile_operator(operator),
        lambda: wgdml.Operator(device, argmax_desc()),
        device.__enter__,
        lambda: device.check_feature_support(DataType.FLOAT32),
        lambda: wgdml.empty(3, "int8", device=device),
    ):
        with pytest.raises(RuntimeError, match="closed"):
            use()
    device.trim()
    device.close()


# What is said ------------------------------------------------------------------------------------


def test_operators_say_what_they_are(device):
    operator = device.create_operator(argmax_desc())
    assert repr(operator) == "<wgdml.Operator ARGMAX INCREASING of FLOAT32[3, 4], axes (1,)>"
    reduce = wgdml.ReduceOperatorDesc(ReduceFunction.MIN, TensorDesc(DataType.INT8, (4,)), TensorDesc(DataType.INT8, (1,)), (0,))
    assert repr(device.create_operator(reduce)) == "<wgdml.Operator REDUCE MIN of INT8[4], axes (0,)>"
    assert repr(device.compile_operator(operator)).startswith(
        "<wgdml.CompiledOperator ARGMAX INCREASING of FLOAT32[3, 4], axes (1,), "
    )
    with pytest.raises(TypeError, match=r"device must be a wgdml\.Device, not None"):
        wgdml.Operator(None, argmax_desc())


def test_encoders_that_cannot_be_recorded_into(device, operator, tensors):
    encoder = device.gpu_device.create_command_encoder()
    open_pass = encoder.begin_compute_pass()
    with pytest.raises(ValueError, match=r"^encoder cannot be recorded into: a pass of it has not ended: record into the pass"):
        operator.record(encoder, **tensors)
    encoder = device.gpu_device.create_command_encoder()
    compute_pass = encoder.begin_compute_pass()
    compute_pass.end()
    with pytest.raises(ValueError, match=r"^encoder cannot be recorded into: it has ended already$"):
        operator.record(compute_pass, **tensors)
    encoder.finish()
    with pytest.raises(ValueError, match=r"^encoder cannot be recorded into: it has ended already$"):
        operator.record(encoder, **tensors)
    del open_pass
