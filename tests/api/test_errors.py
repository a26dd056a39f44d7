"""Bad input: a ValueError or TypeError that names the argument, before any GPU work."""

from __future__ import annotations

import copy
import pickle
import re

import checks
import numpy as np
import pytest
import wgpu
from checks import STORAGE, operator_of

import wgdml
from wgdml import AxisDirection, DataType, FeatureLevel, TensorDesc, outofcore

X = np.arange(12, dtype=np.float32).reshape(3, 4)
FUNCTIONS = ("top_k", "argmax", "argmin", "max", "min", "sort", "argsort")


def call(name, x, **arguments):
    if name == "top_k":
        return wgdml.top_k(x, arguments.pop("k", 1), **arguments)
    return getattr(wgdml, name)(x, **arguments)


def refused(error, *words):
    """Expect `error` with every one of `words` in its message, as whole words in any case."""
    ahead = "".join(rf"(?=.*(?<!\w){re.escape(str(word))}(?!\w))" for word in words if str(word))
    return pytest.raises(error, match=f"(?is)^{ahead}.")


LONG = np.broadcast_to(np.float32(1), (2**16, 2**16))  # more than a tensor may have
REFUSED = {
    "k": lambda: wgdml.top_k(X, 5),
    "k of long": lambda: wgdml.top_k(np.lib.stride_tricks.as_strided(X, (3, 2**27)), -1),
    "no k": lambda: wgdml.top_k(X, None),
    "axis": lambda: wgdml.argmax(X, axis=2),
    "axis of max": lambda: wgdml.max(X, axis=(0, 0)),
    "axis of sort": lambda: wgdml.sort(X, axis=1.0),
    "nothing": lambda: wgdml.argmin(np.zeros((0, 3))),
    "mode": lambda: wgdml.top_k(X, 1, mode="most"),
    "nan": lambda: wgdml.argsort(X, nan="first"),
    "data type": lambda: wgdml.sort(X.astype(complex)),
    "ragged": lambda: wgdml.argmax([[1], [2, 3]]),
    "index_dtype": lambda: wgdml.argsort(X, index_dtype="int8"),
    "size": lambda: wgdml.sort(LONG),
    "size of max": lambda: wgdml.max(LONG),
    "out": lambda: wgdml.sort(X, out=np.empty_like(X)),
    "several outs": lambda: wgdml.top_k(X, 1, out=[1, 2]),
    "out of long": lambda: wgdml.argmax(np.zeros(2**27, np.float32), out=3),
    "device": lambda: wgdml.sort(X, device="cuda"),
    "asarray": lambda: wgdml.asarray("text"),
    "empty": lambda: wgdml.empty((2, -1), "float32"),
    "empty's dtype": lambda: wgdml.empty(3, "complex64"),
    "from_buffer": lambda: wgdml.Tensor.from_buffer(X, "float32", 3),
    "take_along_axis": lambda: wgdml.take_along_axis(X, np.full((3, 1), 4)),
    "indices": lambda: wgdml.take_along_axis(X, X),
    "outofcore": lambda: outofcore.top_k(X, 5),
    "block_bytes": lambda: outofcore.argmax(X, block_bytes=0),
    "no integer": lambda: outofcore.argmax(X, block_bytes=1.5),
    "progress": lambda: outofcore.argmin(X, progress="yes"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_opens_no_device(no_device, what):
    with pytest.raises((ValueError, TypeError)):
        REFUSED[what]()


@pytest.mark.parametrize("name", [*FUNCTIONS, "take_along_axis"])
def test_every_argument_is_named(no_device, name):
    checks.check_arguments(getattr(wgdml, name), X)


@pytest.mark.parametrize("name", ["top_k", "argmax", "argmin", "max", "min"])
def test_every_argument_of_outofcore_is_named(no_device, name):
    checks.check_arguments(getattr(outofcore, name), X)


# k ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "error"),
    [
        (-1, ValueError),
        (5, ValueError),
        (2**40, ValueError),
        (-(2**70), ValueError),
        (1.0, TypeError),
        (np.float32(2), TypeError),
        ("2", TypeError),
        (None, TypeError),
        (True, TypeError),
        ([1], TypeError),
        (np.array([1, 2]), TypeError),
    ],
    ids=repr,
)
def test_k(device, k, error):
    for x in (X, wgdml.asarray(X, device=device)):
        for mode in ("largest", "smallest"):
            with refused(error, "k", k if error is ValueError else ""):
                wgdml.top_k(x, k, mode=mode, device=device)


def test_k_is_compared_with_the_axis_it_is_for(device):
    with refused(ValueError, "k", "4", "3"):
        wgdml.top_k(X, 4, axis=0, device=device)
    with refused(ValueError, "k", "1", "0"):
        wgdml.top_k(np.zeros((5, 0)), 1, device=device)
    with pytest.raises(TypeError):
        wgdml.top_k(X, device=device)  # no k at all


# The type of indices ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["top_k", "argmax", "argmin", "max", "min", "argsort", "kth_value", "argpartition", "lexsort"])
def test_indices_must_fit_their_type(device, name, buffer):
    """Positions did not, and were negative without an error."""
    line = wgdml.Tensor.from_buffer(buffer, "int8", (2**31 + 1,), (0,))
    plane = wgdml.Tensor.from_buffer(buffer, "int8", (33, 2**26), (0, 0))
    calls = {
        "top_k": lambda dtype: wgdml.top_k(line, 1, index_dtype=dtype),
        "argmax": lambda dtype: wgdml.argmax(plane, select_last_index=True, index_dtype=dtype),
        "argmin": lambda dtype: wgdml.argmin(line, axis=0, lengths=3, index_dtype=dtype),
        "max": lambda dtype: wgdml.max(plane, return_indices=True, index_dtype=dtype),
        "min": lambda dtype: wgdml.min(plane, axis=(1, 0), return_indices=True, index_dtype=dtype),
        "argsort": lambda dtype: wgdml.argsort(line, index_dtype=dtype),
        "kth_value": lambda dtype: wgdml.kth_value(line, 3, index_dtype=dtype),
        "argpartition": lambda dtype: wgdml.argpartition(line, 3, index_dtype=dtype),
        "lexsort": lambda dtype: wgdml.lexsort([line], index_dtype=dtype),
    }
    with refused(ValueError, "index_dtype", "int32", "2147483647", plane.size - 1 if name in ("argmax", "max", "min") else 2**31):
        calls[name]("int32")


def test_ids_need_not_be_positions(device, buffer, monkeypatch):
    monkeypatch.setattr(wgdml.functions, "_run_into", lambda *_: ["values", "ids"])
    line, ids = (wgdml.Tensor.from_buffer(buffer, name, (2**31 + 1,), (0,)) for name in ("int8", "int32"))
    assert wgdml.top_k(line, 1, lengths=2, indices=ids, index_dtype="int32").indices == "ids"
    with refused(ValueError, "index_dtype", "int32", 2**31):
        wgdml.top_k(line, 1, lengths=2, index_dtype="int32")


# Axes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("axis", "error"),
    [
        (2, ValueError),
        (-3, ValueError),
        (2**40, ValueError),
        (1.0, TypeError),
        ("0", TypeError),
        (True, TypeError),
        (np.float64(0), TypeError),
        pytest.param(object(), TypeError, id="object"),
    ],
    ids=repr,
)
def test_axis(device, name, axis, error):
    for x in (X, wgdml.asarray(X, device=device)):
        with refused(error, "axis", axis if error is ValueError else ""):
            call(name, x, axis=axis, device=device)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize(
    ("axes", "error"),
    [
        ((0, 0), ValueError),
        ((1, -1), ValueError),
        ((0, 2), ValueError),
        ((-3, 0), ValueError),
        ((), ValueError),
        ((0, 1.0), TypeError),
        ((0, None), TypeError),
        ((0, True), TypeError),
    ],
    ids=repr,
)
def test_axes(device, name, axes, error):
    for x in (X, wgdml.asarray(X, device=device)):
        with refused(error, "axis"):
            call(name, x, axis=axes, device=device)


@pytest.mark.parametrize("name", ["top_k", "sort", "argsort"])
@pytest.mark.parametrize("axis", [(0, 1), (1,), [0]], ids=repr)
def test_one_axis_where_one_is_meant(device, name, axis):
    with refused(TypeError, "axis"):
        call(name, X, axis=axis, device=device)


# Arrays -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "x",
    [
        np.zeros(3, np.complex64),
        np.zeros(3, np.complex128),
        np.array([1, None, "a"], object),
        np.array(["a", "b"]),
        np.array([b"a", b"b"]),
        np.array(["2020-01-01"], "M8[D]"),
        np.array([1, 2], "m8[s]"),
        np.zeros(3, [("a", "f4"), ("b", "i4")]),
        np.zeros(3, np.longdouble),
    ],
    ids=lambda x: str(x.dtype),
)
def test_types_that_have_no_order_here(device, name, x):
    with refused(TypeError, "x", x.dtype):
        call(name, x, device=device)


def test_data_types_have_numpy_s_names(device):
    for call in (
        lambda: wgdml.argmax(["abc"], device=device),
        lambda: wgdml.asarray(np.array(["abc"]), device=device),
        lambda: wgdml.empty(3, "<U3", device=device),
        lambda: wgdml.take_along_axis(X, np.array(["abc"]), device=device),
    ):
        with refused(TypeError, "data type <U3"):
            call()
    with refused(TypeError, "dtype is <U3"):
        DataType.from_dtype("<U3")
    with refused(TypeError, "indices must be", "not float32"):
        wgdml.take_along_axis(X, X, device=device)
    for dtype in ("int16", np.int16, np.dtype(np.int16)):
        with refused(TypeError, "index_dtype must be", "not int16"):
            wgdml.argsort(X, index_dtype=dtype, device=device)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("x", [[[1, 2], [3]], [[1], 2], [np.zeros(2), np.zeros(3)]], ids=repr)
def test_ragged_lists(device, name, x):
    with refused((TypeError, ValueError), "x"):  # ValueError is NumPy's
        call(name, x, device=device)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("x", [None, "text", b"bytes", {1: 2}, {1, 2}, pytest.param(object(), id="object"), 1 + 2j], ids=repr)
def test_things_that_are_no_arrays(device, name, x):
    with refused(TypeError, "x"):
        call(name, x, device=device)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_required_arguments(name):
    with pytest.raises(TypeError):
        call(name, X, no_such_argument=1)
    with pytest.raises(TypeError):
        getattr(wgdml, name)()


# Other arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "error"), [("biggest", ValueError), ("", ValueError), (None, TypeError), (1, TypeError)])
def test_mode(device, mode, error):
    with refused((ValueError, TypeError), "mode", repr(mode)):
        wgdml.top_k(X, 1, mode=mode, device=device)


FLAGS = [
    (wgdml.top_k, "sorted"),
    *((function, "keepdims") for function in (wgdml.argmax, wgdml.argmin, wgdml.max, wgdml.min)),
    *((function, "select_last_index") for function in (wgdml.argmax, wgdml.argmin)),
    *((function, "return_indices") for function in (wgdml.max, wgdml.min)),
    *((function, name) for function in (wgdml.sort, wgdml.argsort) for name in ("descending", "stable")),
    *((f, name) for f in (outofcore.argmax, outofcore.argmin) for name in ("keepdims", "select_last_index")),
    *((function, "return_indices") for function in (outofcore.max, outofcore.min)),
]


@pytest.mark.parametrize(
    ("function", "flag"), FLAGS, ids=lambda one: getattr(one, "__module__", "") + getattr(one, "__name__", one)
)
@pytest.mark.parametrize("value", [1, 0, None, "no", np.array([True, False]), [], 1.0], ids=repr)
def test_flags(no_device, function, flag, value):
    with refused(TypeError, flag, "True", "False", repr(value)):
        function(X, *([1] if function is wgdml.top_k else []), **{flag: value})


def test_flags_of_numpy(device):
    assert wgdml.argmax(X, axis=1, keepdims=np.True_, device=device).shape == (3, 1)
    assert wgdml.sort(X, descending=np.False_, stable=np.True_, device=device)[0, 0] == X[0, 0]


@pytest.mark.parametrize("name", ["top_k", "argmax", "argmin", "max", "min", "argsort"])
@pytest.mark.parametrize("index_dtype", ["float32", "int16", "uint8", "no such type", None, 3], ids=repr)
def test_index_dtype(device, name, index_dtype):
    with refused((ValueError, TypeError), "index_dtype"):
        call(name, X, index_dtype=index_dtype, device=device)


@pytest.mark.parametrize("device_argument", ["cuda", 0, {}], ids=repr)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_device_argument(name, device_argument):
    with refused(TypeError, "device"):
        call(name, X, device=device_argument)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_gpu_device_where_a_device_is_wanted(device, name):
    with refused(TypeError, "device must be a wgdml.Device", "wgdml.Device(gpu_device) makes one of it"):
        call(name, X, device=device.gpu_device)


@pytest.mark.parametrize("given", [None, {1, 2}, {}, (i for i in range(3)), object()], ids=lambda given: type(given).__name__)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_no_array(no_device, name, given):
    with refused(TypeError, f"x must be an array or a Tensor, not {type(given).__name__}"):
        call(name, given)


def test_integers_without_a_data_type(no_device):
    """They are arrays to every function, but for their size."""
    with refused(TypeError, "lengths has data type object"):
        wgdml.top_k(X, 1, lengths=2**70)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_buffer_where_a_tensor_is_wanted(device, name):
    with refused(TypeError, "x must be an array or a Tensor, not GPUBuffer: Tensor.from_buffer makes a Tensor of it"):
        call(name, device.gpu_device.create_buffer(size=256, usage=STORAGE))


@pytest.fixture(scope="module")
def other_device(device):
    """A device of another GPU device, whose buffers are no use to the first."""
    return wgdml.Device(device.gpu_device.adapter.request_device_sync())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tensor_of_another_device(device, other_device, name):
    tensor = wgdml.asarray(X, device=other_device)
    with refused(ValueError, "x is on another GPU device"):
        call(name, tensor, device=device)
    with refused(ValueError, "x is on another GPU device"):
        wgdml.asarray(tensor, device=device)


def test_messages_tell_devices_apart(device, other_device):
    """By wgpu's numbers of their GPU devices, where those are from, and what became of them."""
    own = wgdml.Device()
    ours = f"GPU device {device.gpu_device.uid}, of its own"
    for other, word in ((other_device, "given by the caller"), (own, "of its own")):
        theirs = f"GPU device {other.gpu_device.uid}, {word}"
        assert theirs in repr(other) and ours in repr(device)
        with refused(ValueError, "x is on another GPU device", theirs, ours, "wgpu.GPUDevice"):
            wgdml.sort(wgdml.asarray(X, device=other), device=device)
        buffer = wgdml.asarray(X, device=other).buffer
        with refused(ValueError, "buffer", "another wgpu.GPUDevice", ours):
            wgdml.Tensor.from_buffer(buffer, "float32", 3, device=device)
    tensor = wgdml.asarray(X, device=own)
    own.gpu_device.destroy()
    with refused(ValueError, "of its own, destroyed"):
        wgdml.sort(tensor, device=device)
    with refused(wgdml.DeviceLostError, "lost"):
        wgdml.sort(tensor)
    assert ", lost>" in repr(own)
    closed = wgdml.Device(device.gpu_device)
    closed.close()
    assert ", closed>" in repr(closed)


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_of_what_is_on_a_device(device, make):
    tensor = wgdml.asarray(X, device=device)
    for thing in (tensor, wgdml.top_k(tensor, 1)) if make is not copy.copy else (tensor,):
        with refused(TypeError, "a wgdml.Tensor cannot be copied or pickled", "numpy()"):
            make(thing)
    with refused(TypeError, "a wgdml.Device cannot be copied or pickled", "wgdml.Device()"):
        make(device)
    with refused(TypeError, "a wgdml.RunningTopK cannot be copied or pickled", "merge"):
        make(wgdml.RunningTopK(1, "int8", device=device))


# Tensors over the caller's buffers ----------------------------------------------------------------


@pytest.fixture
def buffer(device):
    return device.gpu_device.create_buffer(size=256, usage=STORAGE)  # 64 float32


@pytest.mark.parametrize(
    ("shape", "strides", "offset", "words"),
    [
        ((65,), None, 0, ["256"]),
        ((8, 9), None, 0, ["256"]),
        ((64,), None, 4, ["256"]),
        ((33,), (2,), 0, ["256"]),
        ((2, 2), (1, 63), 0, ["256"]),
        ((1,), None, 256, ["256"]),
        ((2,), (2**62,), 0, ["strides"]),
        ((4,), None, 2, ["offset", "2"]),
        ((4,), None, 1, ["offset", "1"]),
        ((4,), (-1,), 0, ["strides", "-1"]),
        ((4,), (-1,), 40, ["strides", "-1"]),
        ((4, 4), (1,), 0, ["strides"]),
        ((4,), (4, 1), 0, ["strides"]),
        ((-1,), None, 0, ["shape", "-1"]),
        ((4,), None, -4, ["offset", "-4"]),
    ],
    ids=repr,
)
def test_buffer_layouts(device, buffer, shape, strides, offset, words):
    with refused(ValueError, *words):
        wgdml.Tensor.from_buffer(buffer, "float32", shape, strides, offset, device=device)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"shape": 4.0}, "shape"),
        ({"shape": (4.0,)}, "shape"),
        ({"shape": (True,)}, "shape"),
        ({"shape": "4"}, "shape"),
        ({"shape": None}, "shape"),
        ({"strides": (1.0,)}, "strides"),
        ({"strides": "1"}, "strides"),
        ({"offset": 1.5}, "offset"),
        ({"offset": None}, "offset"),
        ({"offset": True}, "offset"),
        ({"dtype": "complex64"}, "complex64"),
        ({"dtype": object}, "object"),
        ({"dtype": "no such type"}, "no such type"),
        ({"dtype": None}, "dtype"),
        ({"device": "cuda"}, "device"),
    ],
    ids=repr,
)
def test_buffer_arguments(device, buffer, arguments, word):
    arguments = {"dtype": "float32", "shape": (4,), "device": device} | arguments
    with refused(TypeError, word):
        wgdml.Tensor.from_buffer(buffer, **arguments)


@pytest.mark.parametrize("not_a_buffer", [np.zeros(4, np.float32), b"1234", None, 5], ids=repr)
def test_what_is_no_buffer(device, not_a_buffer):
    with refused(TypeError, "buffer"):
        wgdml.Tensor.from_buffer(not_a_buffer, "float32", (1,), device=device)


@pytest.mark.parametrize("usage", ["COPY_SRC", "UNIFORM", "VERTEX", "MAP_READ"])
def test_buffer_without_storage_usage(device, usage):
    flags = {
        "COPY_SRC": wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST,
        "UNIFORM": wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_SRC,
        "VERTEX": wgpu.BufferUsage.VERTEX,
        "MAP_READ": wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST,
    }[usage]
    plain = device.gpu_device.create_buffer(size=256, usage=flags)
    with refused(ValueError, "buffer must have usage STORAGE, not", usage, "alone"):
        wgdml.Tensor.from_buffer(plain, "float32", (4,), device=device)


def test_views(device):
    tensor = wgdml.asarray(X, device=device)
    for axes, error in [
        ((0,), ValueError),
        ((0, 0), ValueError),
        ((0, 2), ValueError),
        ((0, 1, 2), ValueError),
        ((0.0, 1), TypeError),
    ]:
        with refused(error, "axes"):
            tensor.transpose(*axes)
    with refused(ValueError, "shape", "at most once", "(-1, -1)"):
        tensor.reshape(-1, -1)
    for shape, error in [
        ((4,), ValueError),
        ((3, 5), ValueError),
        ((2, 3, 5), ValueError),
        ((-1, 3, 4), ValueError),
        ((2, 3.0, 4), TypeError),
    ]:
        with refused(error, "shape"):
            tensor.broadcast_to(shape)


def test_length_of_a_scalar(device):
    with pytest.raises(TypeError):
        len(wgdml.asarray(np.float32(1), device=device))


def test_more_elements_than_a_tensor_may_have(device):
    tensor = wgdml.asarray(np.zeros((1, 1), np.uint8), device=device).broadcast_to((1 << 16, 1 << 16))
    for name in FUNCTIONS:
        with refused(ValueError, "x", 2**32, 2**32 - 1):
            call(name, tensor, device=device)


# Operators ----------------------------------------------------------------------------------------


def top_k_parts(device):
    values = TensorDesc(DataType.FLOAT32, (3, 2))
    indices = TensorDesc(DataType.UINT32, (3, 2))
    desc = wgdml.TopK1OperatorDesc(TensorDesc(DataType.FLOAT32, (3, 4)), values, indices, 1, 2, AxisDirection.DECREASING)
    buffers = {
        "input_tensor": device.gpu_device.create_buffer(size=48, usage=STORAGE),
        "output_value_tensor": device.gpu_device.create_buffer(size=24, usage=STORAGE),
        "output_index_tensor": device.gpu_device.create_buffer(size=24, usage=STORAGE),
    }
    return operator_of(device, desc), buffers


NAMES = ("input_tensor", "output_value_tensor", "output_index_tensor")


@pytest.fixture
def encoder(device):
    return device.gpu_device.create_command_encoder()


@pytest.mark.parametrize("name", NAMES)
def test_recording_with_a_buffer_too_small(device, encoder, name):
    operator, buffers = top_k_parts(device)
    size = buffers[name].size
    buffers[name] = device.gpu_device.create_buffer(size=size - 4, usage=STORAGE)
    with refused(ValueError, name, size - 4, size):
        operator.record(encoder, **buffers)


@pytest.mark.parametrize("name", NAMES)
def test_recording_with_a_buffer_without_storage_usage(device, encoder, name):
    operator, buffers = top_k_parts(device)
    buffers[name] = device.gpu_device.create_buffer(size=64, usage=wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST)
    with refused(ValueError, name, "STORAGE"):
        operator.record(encoder, **buffers)


@pytest.mark.parametrize("name", NAMES)
def test_recording_with_a_buffer_of_another_device(device, encoder, other_device, name):
    operator, buffers = top_k_parts(device)
    buffers[name] = other_device.gpu_device.create_buffer(size=64, usage=STORAGE)
    with refused(ValueError, name, "device"):
        operator.record(encoder, **buffers)


@pytest.mark.parametrize("name", NAMES)
def test_recording_with_a_destroyed_buffer(device, encoder, name):
    operator, buffers = top_k_parts(device)
    buffers[name].destroy()
    with refused(ValueError, name, "destroyed"):
        operator.record(encoder, **buffers)
    device.gpu_device.queue.submit([encoder.finish()])  # which has nothing of it


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("thing", [None, X, b"bytes", 7], ids=["None", "array", "bytes", "int"])
def test_recording_with_what_is_no_buffer(device, encoder, name, thing):
    operator, buffers = top_k_parts(device)
    buffers[name] = thing
    with refused(TypeError, name):
        operator.record(encoder, **buffers)


@pytest.mark.parametrize("name", NAMES[1:])
def test_an_output_that_aliases_the_input(device, encoder, name):
    operator, buffers = top_k_parts(device)
    buffers[name] = buffers["input_tensor"]
    with refused(ValueError, name, "input_tensor"):
        operator.record(encoder, **buffers)


def test_an_output_that_aliases_the_other(device, encoder):
    operator, buffers = top_k_parts(device)
    buffers["output_value_tensor"] = buffers["output_index_tensor"]
    with refused(ValueError, "output_value_tensor", "output_index_tensor"):
        operator.record(encoder, **buffers)


@pytest.mark.parametrize("name", NAMES)
def test_recording_with_a_tensor_that_is_not_the_descs(device, encoder, name):
    operator, buffers = top_k_parts(device)
    for dtype, shape in (("uint16", (3, 4)), ("float32", (4, 3)), ("float32", (12,))):
        wrong = wgdml.Tensor.from_buffer(device.gpu_device.create_buffer(size=256, usage=STORAGE), dtype, shape, device=device)
        with refused(ValueError, name):
            operator.record(encoder, **{**buffers, name: wrong})
    padded = wgdml.Tensor.from_buffer(
        device.gpu_device.create_buffer(size=256, usage=STORAGE),
        {"output_index_tensor": "uint32"}.get(name, "float32"),
        (3, 4) if name == "input_tensor" else (3, 2),
        (5, 1),
        device=device,
    )
    with refused(ValueError, name, "strides"):
        operator.record(encoder, **{**buffers, name: padded})


def test_recording_with_missing_or_unknown_tensors(device, encoder):
    operator, buffers = top_k_parts(device)
    for name in NAMES:
        some = {key: value for key, value in buffers.items() if key != name}
        with refused(TypeError, name):
            operator.record(encoder, **some)
    with refused(TypeError, "output_tensor"):
        operator.record(encoder, **buffers, output_tensor=buffers["input_tensor"])


def test_recording_into_what_is_no_encoder(device, encoder, other_device):
    operator, buffers = top_k_parts(device)
    for thing in (None, device.gpu_device, "encoder"):
        with refused(TypeError, "encoder"):
            operator.record(thing, **buffers)
    with refused(ValueError, "encoder"):
        operator.record(other_device.gpu_device.create_command_encoder(), **buffers)
    encoder.finish()
    with refused(ValueError, "encoder"):
        operator.record(encoder, **buffers)


def test_calling_an_operator_with_another_input(device, other_device):
    operator, _ = top_k_parts(device)
    for wrong in (X.T, X.astype(np.float64), X[0]):
        with refused((TypeError, ValueError), "input_tensor"):
            operator(wgdml.asarray(wrong, device=device))
    with refused(ValueError, "device"):
        operator(wgdml.asarray(X, device=other_device))
    with pytest.raises(TypeError):
        operator()


def test_creating_and_compiling_what_is_no_operator(device, other_device):
    for thing in (None, "TOP_K", TensorDesc(DataType.FLOAT32, (1,))):
        with refused(TypeError, "desc"):
            device.create_operator(thing)
        with refused(TypeError, "operator"):
            device.compile_operator(thing)
    operator = device.create_operator(
        wgdml.ArgmaxOperatorDesc(TensorDesc(DataType.FLOAT32, (3,)), TensorDesc(DataType.UINT32, (1,)), (0,))
    )
    with refused(ValueError, "device"):
        other_device.compile_operator(operator)


# Devices ------------------------------------------------------------------------------------------


def test_device_arguments(device):
    for thing in ("cuda", 0, wgpu.gpu):
        with refused(TypeError, "gpu_device"):
            wgdml.Device(thing)
    with refused(TypeError, "planner must be", 3):
        wgdml.Device(device.gpu_device, planner=3)
    with refused(TypeError, "planner must return a wgdml.plan.Planner, or what plans as one, not None"):
        wgdml.Device(device.gpu_device, planner=lambda machine: None)
    with refused(ValueError, "adapter must be None with a gpu_device"):
        wgdml.Device(device.gpu_device, adapter=device.gpu_device.adapter)
    for kept in (1.5, None, "5", True):
        with refused(TypeError, "kept must be an integer", kept):
            wgdml.Device(device.gpu_device, kept=kept)
    wgdml.Device(device.gpu_device, kept=np.int64(5))


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("max-storage-buffers-per-shader-stage", 4),
        ("max-compute-invocations-per-workgroup", 1),
        ("max-bindings-per-bind-group", 4),
        ("max-uniform-buffer-binding-size", 256),
        ("max-compute-workgroups-per-dimension", 1),
        ("max-compute-workgroup-storage-size", 1024),
    ],
)
def test_a_gpu_device_below_webgpu_s_least_limits(device, limit, value):
    """Kernels failed on it in wgpu's own errors."""
    low = device.gpu_device.adapter.request_device_sync(required_limits={limit: value})
    with refused(ValueError, "gpu_device", limit, low.limits[limit], "at least"):
        wgdml.Device(low)


@pytest.mark.parametrize("kind", [wgdml.Tensor, wgdml.RunningTopK, wgdml.Operator, wgdml.CompiledOperator])
def test_a_device_that_something_has_is_of_the_type_that_functions_take(kind):
    """``wgdml.top_k(x, 1, device=tensor.device)`` is well for who checks types."""
    assert kind.__annotations__["device"] == "Device"


def test_a_level_below_the_operator_s(device):
    low = wgdml.Device(device.gpu_device, feature_level=FeatureLevel.LEVEL_1_0)
    desc = wgdml.ArgmaxOperatorDesc(TensorDesc(DataType.FLOAT32, (3,)), TensorDesc(DataType.UINT32, (1,)), (0,))
    with refused(ValueError, "ARGMAX", "LEVEL_1_0", "LEVEL_3_0"):
        low.create_operator(desc)
    # The functions lower to the problem itself, and are not bound to a level of DirectML's.
    assert int(wgdml.argmax(X, device=low)) == 11


# No error of wgpu's, and no harm done -------------------------------------------------------------


def test_a_device_works_on_after_errors(device):
    for _ in range(3):
        with pytest.raises(ValueError):
            wgdml.top_k(X, 9, device=device)
        with pytest.raises(TypeError):
            wgdml.sort(np.zeros(3, complex), device=device)
        assert int(wgdml.argmax(X, device=device)) == 11
