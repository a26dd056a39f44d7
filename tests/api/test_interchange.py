"""Arrays of other libraries go in, and Tensors come out, by the protocols that libraries share."""

from __future__ import annotations

import array
import ctypes
import mmap
import sys
import types
from typing import Any

import ml_dtypes
import numpy as np
import oracle
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import wgdml

ROW = [3.0, 5.0, 1.0, 5.0, -2.0]


class OnlyDLPack:
    """An array library that knows no other protocol."""

    def __init__(self, x: np.ndarray, device: tuple[int, int] = (1, 0)) -> None:
        self.x, self.device = x, device

    def __dlpack__(self, **options: Any) -> Any:
        return self.x.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class OnlyArray:
    def __init__(self, x: np.ndarray) -> None:
        self.x = x

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.x if dtype is None else self.x.astype(dtype)


def mapped() -> mmap.mmap:
    memory = mmap.mmap(-1, 5)
    memory[:] = bytes([3, 5, 1, 5, 0])
    return memory


SOURCES: dict[str, tuple[Any, str]] = {
    "dlpack": (OnlyDLPack(np.array(ROW)), "float64"),
    "dlpack strided": (OnlyDLPack(np.repeat(np.array(ROW, np.float32), 2)[::2]), "float32"),
    "__array__": (OnlyArray(np.array(ROW, np.float16)), "float16"),
    "array.array": (array.array("f", ROW), "float32"),
    "memoryview": (memoryview(np.array(ROW, np.int64)), "int64"),
    "bytearray": (bytearray([3, 5, 1, 5, 0]), "uint8"),
    "mmap": (mapped(), "uint8"),
    "ctypes": ((ctypes.c_int16 * 5)(3, 5, 1, 5, -2), "int16"),
    "pandas": (pd.Series(ROW, dtype="float32"), "float32"),
    "pandas nullable": (pd.Series([3, 5, 1, 5, -2], dtype="Int64"), "int64"),
    "pandas over Arrow": (pd.Series([3, 5, 1, 5, -2], dtype="int32[pyarrow]"), "int32"),
    "pandas column": (pd.DataFrame({"a": [0] * 5, "b": ROW})["b"], "float64"),
    "polars": (pl.Series(ROW, dtype=pl.Float32), "float32"),
    "polars column": (pl.DataFrame({"a": [0] * 5, "b": ROW})["b"], "float64"),
    "Arrow": (pa.array(ROW, pa.float32()), "float32"),
    "Arrow int8": (pa.array([3, 5, 1, 5, -2], pa.int8()), "int8"),
    "Arrow chunks": (pa.chunked_array([ROW[:2], ROW[2:]]), "float64"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_arrays_of_other_libraries_go_in(device, name):
    x, dtype = SOURCES[name]
    values, indices = wgdml.top_k(x, 3, device=device)
    oracle.assert_same(values, np.array([5, 5, 3], dtype))
    oracle.assert_same(indices, np.array([1, 3, 0]))
    assert int(wgdml.argmin(x, device=device)) == 4
    oracle.assert_same(wgdml.asarray(x, device=device).numpy()[:4], np.array([3, 5, 1, 5], dtype))


def test_frames_go_in_whole(device):
    columns = {"a": [1.0, 4.0], "b": [3.0, 2.0], "c": [3.0, 9.0]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        assert wgdml.argmax(frame, axis=1, device=device).tolist() == [1, 2]


def test_nulls_are_nan(device):
    for x in (pa.array([1.0, None, 2.0]), pl.Series([1.0, None, 2.0]), pd.Series([1.0, None, 2.0])):
        assert int(wgdml.argmax(x, device=device)) == 1


@pytest.mark.parametrize("name", oracle.DTYPES)
def test_tensors_come_out(device, name):
    x = np.arange(6).reshape(2, 3).astype(oracle.DTYPES[name])
    tensor = wgdml.asarray(x, device=device)
    for view, expected in ((tensor, x), (tensor.T, x.T), (wgdml.asarray(x[:0], device=device), x[:0])):
        oracle.assert_same(np.asarray(view), expected)
        assert view.__dlpack_device__() == (1, 0)
        if name != "bfloat16":
            oracle.assert_same(np.from_dlpack(view), expected)
    if name != "bfloat16":  # which NumPy does not export
        assert np.from_dlpack(tensor, copy=True).flags.owndata is False
        assert wgdml.asarray(OnlyDLPack(tensor), device=device).shape == (2, 3)


@pytest.mark.parametrize(
    ("most", "versioned"), [(None, False), ((0, 9), False), ((1, 0), True), ((1 << 70, 0), True), ((1, 1 << 70), True)]
)
def test_versions_of_dlpack(device, most, versioned):
    capsule = wgdml.asarray(np.ones(3), device=device).__dlpack__(max_version=most)
    knows = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
    assert ("dltensor_versioned" in repr(capsule)) == (versioned and knows)


def test_what_cannot_be_exchanged(device):
    tensor = wgdml.asarray(np.ones(3, np.float32), device=device)
    with pytest.raises(BufferError, match="without a copy"):
        tensor.__dlpack__(copy=False)
    with pytest.raises(BufferError, match="not to"):
        tensor.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match=r"device \(1, 0\), not to 3"):
        tensor.__dlpack__(dl_device=3)
    for other in ("cpu", 1.0, (1, None)):
        with pytest.raises(TypeError, match="dl_device must be"):
            tensor.__dlpack__(dl_device=other)
    for other in ("1.0", 1.0, (None, 0)):
        with pytest.raises(TypeError, match="max_version must be"):
            tensor.__dlpack__(max_version=other)
    with pytest.raises(ValueError, match="stream"):
        tensor.__dlpack__(stream=1)
    with pytest.raises(TypeError, match=r"device \(2, 0\)"):
        wgdml.argmax(OnlyDLPack(np.ones(3), (2, 0)), device=device)
    with pytest.raises(TypeError, match="x must be an array or a Tensor, not Hidden"):
        wgdml.argmax(type("Hidden", (), {"__dlpack_device__": None})(), device=device)
    with pytest.raises(TypeError, match="masked"):
        wgdml.argmax(np.ma.array([1, 2, 3], mask=[0, 0, 1]), device=device)
    assert int(wgdml.argmax(np.ma.array([1, 2, 3]), device=device)) == 2


def test_pytorch_bfloat16(device, monkeypatch):
    """The one type that PyTorch does not give to NumPy, with a stand-in for its few methods."""

    class FakeTensor(OnlyDLPack):
        dtype = "torch.bfloat16"

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
            raise TypeError("Got unsupported ScalarType BFloat16")

        def detach(self) -> FakeTensor:
            return self

        def view(self, kind: Any) -> np.ndarray:
            return self.x.view(kind)

    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(int16=np.int16))
    x = np.array(ROW, ml_dtypes.bfloat16)
    oracle.assert_same(wgdml.sort(FakeTensor(x), device=device), np.sort(x))
