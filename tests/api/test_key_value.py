"""Sorts that carry something along, and sorts by several keys: stable, and on the device."""

import data
import numpy as np
import oracle
import pytest
from planning import planned_device

import wgdml

RNG = np.random.default_rng(24)


@pytest.fixture(scope="module", params=["adapter", "gpu"])
def planned(request, device):
    return device if request.param == "adapter" else planned_device(device)[0]


PAYLOADS = ("uint32", "float64", "float32", "int64")


# Payloads are moved as they are, whatever the keys: every key's type has one, and every payload the
# keys of several. A GPU's sorts are long to compile: there every width has one.
@pytest.mark.parametrize(
    ("planned", "name", "payload", "descending"),
    [("adapter", name, PAYLOADS[number % 4], number // 4 % 2 > 0) for number, name in enumerate(oracle.DTYPES)]
    + [(way, "float32", payload, payload == "int64") for way in ("adapter", "gpu") for payload in PAYLOADS]
    + [("gpu", "uint8", "int64", True), ("gpu", "float16", "float64", False), ("gpu", "int64", "float32", False)],
    indirect=["planned"],
)
def test_payloads_follow_their_keys(planned, name, payload, descending):
    for axis, shape in ((-1, (3, 700)), (0, (300, 4))):
        x = data.make("eight_values", name, shape, 1)
        follows = data.make("random", payload, shape, 2)
        order = oracle.argsort(x, axis, descending)
        found = wgdml.sort(x, follows, axis=axis, descending=descending, device=planned)
        oracle.assert_same(found.values, oracle.take(x, order, axis))
        oracle.assert_same(found.payload, oracle.take(follows, order, axis))


def test_payloads_on_the_device(device):
    x = RNG.normal(size=(5, 400)).astype(np.float32)
    ids = np.arange(400, dtype=np.uint32)
    for keys, follows in ((wgdml.asarray(x), ids), (x, wgdml.asarray(ids)), (wgdml.asarray(x.T.copy()).T, wgdml.asarray(ids))):
        values, payload = wgdml.sort(keys, follows, nan="last")
        assert isinstance(values, wgdml.Tensor) and isinstance(payload, wgdml.Tensor)
        np.testing.assert_array_equal(values.numpy(), np.sort(x))
        np.testing.assert_array_equal(payload.numpy(), np.argsort(x, kind="stable"))
    assert wgdml.sort(x[:, :0], np.empty((5, 0), np.int32)).payload.shape == (5, 0)


@pytest.mark.parametrize("shape", [(1,), (500,), (40, 30), (3, 20, 5)])
def test_lexsort(planned, shape):
    keys = [
        RNG.integers(0, 3, shape).astype(np.uint8),
        np.where(RNG.random(shape) < 0.2, np.nan, RNG.integers(-1, 2, shape)).astype(np.float32),
        RNG.integers(-2, 2, shape),
        RNG.random(shape) < 0.5,
    ]
    for count in range(1, 5):
        for axis in range(-len(shape), len(shape)):
            want = np.lexsort(keys[:count], axis)
            oracle.assert_same(wgdml.lexsort(keys[:count], axis, device=planned), want)
            tensor = wgdml.lexsort([wgdml.asarray(keys[0], device=planned), *keys[1:count]], axis, index_dtype="uint32")
            oracle.assert_same(tensor.numpy(), want.astype(np.uint32))
    rows = np.stack([key.astype(np.float64) for key in keys])
    oracle.assert_same(wgdml.lexsort(rows, device=planned), np.lexsort(rows))


X = np.zeros((2, 5), np.float32)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: wgdml.sort(X, X.astype(np.float16)), TypeError, "payload must have a data type of 32 or 64 bits, not float16"),
        (
            lambda: wgdml.sort(X, np.int32([1, 2])),
            ValueError,
            r"payload must have x's shape, \(2, 5\), or one that can be broadcast to it, not \(2,\)",
        ),
        (lambda: wgdml.sort(X, X[None]), ValueError, "payload must have x's shape"),
        (lambda: wgdml.sort(X, "words"), TypeError, "payload has data type"),
        (lambda: wgdml.sort(X, 0), TypeError, "payload must have a dimension, not 0: an axis is given as axis=0"),
        (lambda: wgdml.sort(X, np.int64(-1)), TypeError, "an axis is given as axis=-1"),
        (lambda: wgdml.sort(X, np.float32(2)), TypeError, "payload must have a dimension, not 2.0$"),
        (lambda: wgdml.sort(X, X, axis=2), ValueError, "axis must lie in"),
        (lambda: wgdml.sort(X, X, out=X), ValueError, "out must be None with a payload"),
        (lambda: wgdml.lexsort(()), ValueError, "keys must have at least one"),
        (lambda: wgdml.lexsort((X, X[0])), ValueError, r"keys must have one shape, not \(2, 5\) and \(5,\)"),
        (lambda: wgdml.lexsort(X[0, 0, ...]), TypeError, "keys must be a sequence of arrays or Tensors, not an array without"),
        (lambda: wgdml.lexsort(X[0]), ValueError, "keys must have at least one dimension each"),
        (lambda: wgdml.lexsort(5), TypeError, "keys must be a sequence of arrays or Tensors, not int"),
        (lambda: wgdml.lexsort((X, X.astype(complex))), TypeError, r"keys\[1\] has data type complex128"),
        (lambda: wgdml.lexsort((X,), 2), ValueError, "axis must lie in"),
        (lambda: wgdml.lexsort((X,), index_dtype="int16"), TypeError, "index_dtype must be"),
    ],
)
def test_bad_input_is_refused_before_a_device_is_opened(no_device, call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_tensors_of_other_gpu_devices_are_refused(device):
    with wgdml.Device() as other:
        theirs = wgdml.asarray(X, device=other)
        with pytest.raises(ValueError, match="payload is on another GPU device"):
            wgdml.sort(wgdml.asarray(X), theirs)
        with pytest.raises(ValueError, match=r"keys\[1\] is on another GPU device"):
            wgdml.lexsort((wgdml.asarray(X), theirs))
