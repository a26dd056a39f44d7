"""Results narrower than a word, by all kernels that put them word by word (lib/io/put_ranks)."""

import data
import pytest
from checks import check
from planning import planned_device

#: Neighbours: fewer and more than a word holds or a workgroup serves, no power of two.
NEIGHBOURS = (2, 3, 5, 16, 33, 64, 67)
#: Each algorithm has one of them for columns and the other one for rows.
NAMES = ("uint8", "float16")


@pytest.mark.parametrize(
    ("algorithm", "name"), data.paired(["row_sort_bitonic", "select_bisect", "row_sort_radix", "transpose"], NAMES)
)
def test_neighbouring_columns(device, algorithm, name):
    """Words are shared by ranks, columns and workgroups, or are whole."""
    many = algorithm == "row_sort_bitonic"
    own, _ = planned_device(device, algorithm, False, **({"occupancy": {"invocations": 1}} if many else {}))
    for beside in NEIGHBOURS:
        for batch, n, k in ((3, 40, 7), (2, 60, 60), (1, 61, 2)):
            k = min(k, n - 1) if algorithm == "select_bisect" else k
            x = data.make("eight_values", name, (batch, n, beside), beside + k)
            check("top_k-largest", x, axis=1, k=k, device=own, case=algorithm)


@pytest.mark.parametrize(
    ("algorithm", "name"), data.paired(["row_sort_bitonic", "select_bisect", "row_sort_radix", "select_networks"], NAMES, 1)
)
def test_rows(device, algorithm, name):
    """A word holds the last ranks of a row and the first of the next, or of more than two."""
    own, _ = planned_device(device, algorithm, False)
    for rows, n, k in ((67, 40, 7), (5, 61, 2), (3, 50, 31), (130, 33, 3)):
        check("top_k-smallest", data.make("random", name, (rows, n), k), k=k, device=own, case=algorithm)
