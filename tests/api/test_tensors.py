"""Tensors: what goes up comes down, and views share the buffer."""

from __future__ import annotations

import data
import numpy as np
import oracle
import pytest
import wgpu
from checks import buffer_of, strided, strided_tensor

import wgdml


@pytest.mark.parametrize("name", oracle.DTYPES)
def test_round_trip(device, name):
    dtype = oracle.DTYPES[name]
    for kind in data.kinds(dtype):
        for shape in [(), (1,), (3,), (5, 7), (2, 3, 5), (0,), (2, 0, 3), (1,) * 8, (1025,)]:
            x = data.make(kind, dtype, shape)
            tensor = wgdml.asarray(x, device=device)
            assert isinstance(tensor, wgdml.Tensor)
            assert tensor.shape == shape and tensor.dtype == dtype and tensor.device is device
            assert tensor.ndim == len(shape) and tensor.size == x.size
            oracle.assert_same(tensor.numpy(), x, (kind, shape))
            oracle.assert_same(np.asarray(tensor), x, (kind, shape))


def test_large_round_trip(device):
    x = data.make("random", "uint8", 20_000_003)
    oracle.assert_same(wgdml.asarray(x, device=device).numpy(), x)
    oracle.assert_same(wgdml.asarray(x[:5], device=device).numpy(), x[:5])  # by a kept buffer


def test_numpy_gives_an_array_of_its_own(device):
    x = np.arange(10, dtype=np.int32)
    tensor = wgdml.asarray(x, device=device)
    first = tensor.numpy()
    assert first.flags.writeable
    first[:] = -1
    other = wgdml.asarray(np.full(10, 7, np.int32), device=device).numpy()
    oracle.assert_same(tensor.numpy(), x)
    assert (first == -1).all() and (other == 7).all()
    x[:] = 5  # the upload was a copy
    assert tensor.numpy()[0] == 0


def test_several_tensors_are_read_with_one_wait(device, monkeypatch):
    x = np.arange(1000, dtype=np.int32)
    storage = wgdml.asarray(x, device=device).buffer
    odd = np.arange(13, dtype=np.uint8)
    tensors = [
        wgdml.asarray(odd, device=device),
        wgdml.Tensor.from_buffer(storage, "int16", (5, 3), (6, 2), 10, device=device),
        wgdml.asarray(np.empty((2, 0), np.float64), device=device),
        wgdml.Tensor.from_buffer(storage, "int32", (2, 3), (0, 300), 40, device=device),
    ]
    want = [odd, strided(x.view(np.int16), (5, 3), (6, 2), 5), np.empty((2, 0)), np.broadcast_to(x[10:611:300], (2, 3))]
    maps: list[int] = []
    mapped = device.transfers.map
    monkeypatch.setattr(device.transfers, "map", lambda buffer, size: maps.append(size) or mapped(buffer, size))
    got = wgdml.to_numpy(*tensors)
    assert len(maps) == 1
    for actual, expected in zip(got, want, strict=True):
        oracle.assert_same(actual, expected)
        assert actual.flags.writeable
    assert wgdml.to_numpy() == ()
    with pytest.raises(TypeError, match=r"not TopKResult, whose items are given one by one: \*tensors"):
        wgdml.to_numpy(wgdml.top_k(tensors[0], 1))
    assert len(maps) == 1


def test_results_own_their_elements(device):
    """As NumPy's own do, which may then be resized in place."""
    for x in (np.arange(10.0), np.arange(24, dtype=np.int16).reshape(4, 6)):
        best = wgdml.top_k(x, 3, device=device)
        assert best.values.flags.owndata and best.indices.flags.owndata and best.values.flags.writeable


def test_to_numpy_beyond_a_staging_buffer(device):
    long, short = data.make("random", "uint8", 20_000_003), np.arange(3)
    got = wgdml.to_numpy(*(wgdml.asarray(x, device=device) for x in (short, long, short)))
    for actual, expected in zip(got, (short, long, short), strict=True):
        oracle.assert_same(actual, expected)


def test_to_numpy_of_two_devices_and_of_arrays(device):
    x = np.arange(5.0)
    with wgdml.Device() as other:
        got = wgdml.to_numpy(wgdml.asarray(x, device=other), x, *wgdml.top_k(wgdml.asarray(-x, device=device), 2))
    for actual, expected in zip(got, (x, x, -x[:2], np.array([0, 1])), strict=True):
        oracle.assert_same(actual, expected)
    assert got[1] is x


def test_to_numpy_refuses_other_things(device):
    tensor = wgdml.asarray(np.arange(3), device=device)
    with pytest.raises(TypeError, match=r"tensors must be wgdml\.Tensors or NumPy arrays, not list"):
        wgdml.to_numpy(tensor, [1, 2])  # type: ignore[arg-type]
    unreadable = device.gpu_device.create_buffer(size=16, usage=wgpu.BufferUsage.STORAGE)
    with pytest.raises(ValueError, match="COPY_SRC"):
        wgdml.to_numpy(tensor, wgdml.Tensor.from_buffer(unreadable, "int32", 4, device=device))
    gone = wgdml.asarray(np.arange(3), device=device)
    gone.buffer.destroy()
    with pytest.raises(ValueError, match="destroyed"):
        wgdml.to_numpy(tensor, gone)
    oracle.assert_same(tensor.numpy(), np.arange(3))


def test_array_protocol(device):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = wgdml.asarray(x, device=device)
    oracle.assert_same(np.asarray(tensor, np.float64), x.astype(np.float64))
    oracle.assert_same(np.array(tensor), x)
    with pytest.raises(ValueError, match="copy"):
        np.asarray(tensor, copy=False)
    assert np.allclose(tensor, x)
    assert "Tensor" in repr(tensor) and "float32" in repr(tensor) and "[2, 3]" in repr(tensor)


def test_asarray_of_other_things(device):
    oracle.assert_same(wgdml.asarray([1, 2, 3], device=device).numpy(), np.array([1, 2, 3]))
    oracle.assert_same(wgdml.asarray(2.5, device=device).numpy(), np.array(2.5))
    x = np.arange(12, dtype=np.uint16).reshape(3, 4)
    for view in (x.T, x[::2, 1::2], x[::-1], np.asfortranarray(x), np.broadcast_to(x, (2, 3, 4))):
        oracle.assert_same(wgdml.asarray(view, device=device).numpy(), view)
    tensor = wgdml.asarray(x, device=device)
    assert wgdml.asarray(tensor, device=device) is tensor
    assert wgdml.asarray(tensor) is tensor
    assert wgdml.asarray(x).device is wgdml.default_device()


def test_strides_count_elements(device):
    tensor = wgdml.asarray(np.zeros((2, 3, 4), np.float64), device=device)
    assert tensor.strides == (12, 4, 1) and tensor.offset == 0
    assert isinstance(tensor.buffer, wgpu.GPUBuffer)
    assert tensor.buffer.size >= 2 * 3 * 4 * 8
    assert tensor.buffer.usage & wgpu.BufferUsage.STORAGE


def test_views_of_more_than_an_array_has(device):
    tensor = wgdml.asarray(np.zeros(1, np.uint8), device=device)
    for shape in ((1,) * 70, (1 << 40, 1 << 40)):
        assert tensor.broadcast_to(shape).shape == shape


def test_views_share_the_buffer(device):
    x = data.make("random", "int16", (2, 3, 5))
    tensor = wgdml.asarray(x, device=device)
    for view, expected in [
        (tensor.T, x.T),
        (tensor.transpose(), x.transpose()),
        (tensor.transpose(0, 2, 1), x.transpose(0, 2, 1)),
        (tensor.transpose(-1, 0, -2), x.transpose(-1, 0, -2)),
        (tensor.broadcast_to((2, 3, 5)), x),
        (tensor.broadcast_to((4, 2, 3, 5)), np.broadcast_to(x, (4, 2, 3, 5))),
        (tensor.T.T, x),
    ]:
        assert view.buffer is tensor.buffer and view.device is device
        oracle.assert_same(view.numpy(), expected)
        assert view.strides == tuple(s // x.itemsize for s in expected.strides)
    column = wgdml.asarray(x[0, :, :1], device=device)
    oracle.assert_same(column.broadcast_to((2, 3, 4)).numpy(), np.broadcast_to(x[0, :, :1], (2, 3, 4)))
    scalar = wgdml.asarray(np.int16(3), device=device)
    oracle.assert_same(scalar.broadcast_to((2, 2)).numpy(), np.full((2, 2), 3, np.int16))
    oracle.assert_same(scalar.T.numpy(), np.array(3, np.int16))


@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "float64"])
def test_from_buffer(device, name):
    storage = data.make("random", name, 1_000)
    buffer = buffer_of(device, storage)
    for shape, strides, offset in [
        ((1_000,), None, 0),
        ((10, 100), None, 0),
        ((10, 99), (100, 1), 1),
        ((33,), (30,), 7),
        ((4, 5), (0, 3), 2),
        ((), None, 3),
        ((), (), 999),
        ((0, 3), None, 0),
        ((1,), (5_000,), 999),
    ]:
        start = offset * storage.itemsize
        tensor = wgdml.Tensor.from_buffer(buffer, name, shape, strides, start, device=device)
        assert tensor.buffer is buffer and tensor.offset == start
        assert tensor.shape == shape and tensor.dtype == np.dtype(name)
        if 0 in shape:
            assert tensor.numpy().shape == shape
            continue
        effective = tensor.strides if strides is None else strides
        assert tensor.strides == tuple(effective)
        oracle.assert_same(tensor.numpy(), strided(storage, shape, effective, offset))


def test_attributes_cannot_be_set(device):
    """A shape or a type that is set would be neither the strides' nor the plan's that is kept."""
    x = np.float32([[3, -1, 2]])
    tensor = wgdml.asarray(x, device=device)
    oracle.assert_same(wgdml.sort(tensor).numpy(), np.sort(x))
    for name, value in {"shape": (3,), "dtype": np.dtype(np.int32), "strides": (1, 0), "offset": 4, "T": x, "other": 1}.items():
        with pytest.raises(AttributeError, match=f"{name} of a wgdml.Tensor cannot be set: reshape"):
            setattr(tensor, name, value)
    with pytest.raises(AttributeError, match=r"dtype of a wgdml\.Tensor cannot be deleted"):
        del tensor.dtype
    oracle.assert_same(wgdml.sort(tensor).numpy(), np.sort(x))


@pytest.mark.parametrize("make", [bool, int, float])
def test_numbers_of_one_element(device, make):
    """Without dimensions a Tensor is a number. Else bool() asked whether there are elements."""
    for name, x in (("float32", -2.5), ("float16", 0.0), ("uint8", 255), ("int64", 2**53 + 1)):
        element = np.array(x, name)
        assert make(wgdml.asarray(element, device=device)) == make(element)
    assert make(wgdml.max(wgdml.asarray(np.float32([[0, 3]]), device=device))) == make(3)
    for x in ([0.0], [1.0, 2.0], []):
        with pytest.raises(TypeError, match=rf"{make.__name__}\(\) takes a wgdml\.Tensor without dimensions, .*shape \(\d,\)"):
            make(wgdml.asarray(np.float32(x), device=device))


def test_lists_of_tensors_without_dimensions(device):
    numbers = [wgdml.asarray(np.int64(n), device=device) for n in (2**53 + 1, 5)]
    oracle.assert_same(wgdml.sort(numbers), np.int64([5, 2**53 + 1]))


def test_from_buffer_sees_later_writes(device):
    tensor, x = strided_tensor(device, "random", "uint32", (4, 6), (6, 1))
    changed = x[::-1].copy()
    device.gpu_device.queue.write_buffer(tensor.buffer, 0, changed)
    oracle.assert_same(tensor.numpy(), changed)
    oracle.assert_same(wgdml.sort(tensor, device=device).numpy(), oracle.sort(changed))


def test_from_buffer_accepts_what_numpy_accepts_as_shape_and_dtype(device):
    buffer = buffer_of(device, np.arange(6, dtype=np.int32))
    for shape in (6, [6], np.array([6]), (np.int64(6),)):
        tensor = wgdml.Tensor.from_buffer(buffer, np.int32, shape, device=device)
        assert tensor.shape == (6,) and type(tensor.shape[0]) is int
        oracle.assert_same(tensor.numpy(), np.arange(6, dtype=np.int32))


def test_long_steps_along_dimensions_of_one(device):
    buffer = buffer_of(device, np.float32([1, 2]))
    x = wgdml.Tensor.from_buffer(buffer, "f4", (1, 2, 1), (2**70, 1, 2**61), device=device)
    assert x.numpy().tolist() == [[[1], [2]]]
    assert wgdml.take_along_axis(x, np.int64([[[1]]]), 1, device=device).numpy().tolist() == [[[2]]]


def test_strides_without_elements_may_have_any_bits(device):
    buffer = buffer_of(device, np.zeros(4))
    for shape, strides in (((3, 0), (2**70, 1)), ((5, 0, 4), (2**64, 2**65, 2**66))):
        x = wgdml.Tensor.from_buffer(buffer, "f8", shape, strides, device=device)
        assert x.numpy().shape == wgdml.sort(x).numpy().shape == shape and x.T.numpy().shape == shape[::-1]


@pytest.mark.parametrize("shape", [(2**70,), (2**62,), (1,) * 65, (0, 2**70), (2**70, 0), (0, 2**62)])
def test_what_is_no_array_is_named(device, shape):
    tensor = wgdml.asarray(np.float32(3), device=device).broadcast_to(shape)
    for read in (tensor.numpy, tensor.__dlpack__, lambda: np.asarray(tensor.T)):
        with pytest.raises(ValueError, match=r"NumPy has no array of shape \([\d, ]+\), which the tensor has"):
            read()
