"""Arrays of other libraries go in as they are; Tensors come out by NumPy's protocol and DLPack.

Every library below that is installed is tried: nothing is converted by hand.
"""

from __future__ import annotations

import array
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

import wgdml

ROW = [3.0, 5.0, 1.0, 5.0, -2.0]

#: How each library makes an array of the row, by the name of its module.
MAKERS: dict[str, Callable[[Any, list[float]], Any]] = {
    "numpy": lambda np, row: np.array(row, np.float16),
    "array": lambda _, row: array.array("f", row),
    "torch": lambda torch, row: torch.tensor(row, dtype=torch.bfloat16),
    "jax.numpy": lambda jnp, row: jnp.array(row),
    "pandas": lambda pd, row: pd.Series(row),
    "polars": lambda pl, row: pl.Series("scores", row),
    "pyarrow": lambda pa, row: pa.array(row, pa.float32()),
}


def main() -> None:
    for name, make in MAKERS.items():
        try:
            library = importlib.import_module(name)
        except ImportError:
            print(f"{name:10} is not installed")
            continue
        x = make(library, ROW)
        values, indices = wgdml.top_k(x, 3)
        kind = f"{type(x).__module__}.{type(x).__name__}"
        print(f"{name:10} {kind:28} {values.dtype.name:9} -> {values} at {indices}")
        assert indices.tolist() == [1, 3, 0]

    tensor = wgdml.sort(wgdml.asarray(ROW))
    print(f"{tensor!r} as NumPy: {np.asarray(tensor)}, by DLPack: {np.from_dlpack(tensor)}")
    try:
        import torch
    except ImportError:
        return
    print("in PyTorch:", torch.from_dlpack(tensor))


if __name__ == "__main__":
    main()
