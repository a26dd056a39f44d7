"""The last step of top-k down columns: teams of every size, delegates few, many, or alone."""

from __future__ import annotations

import data
import pytest
from checks import check
from planning import numbers_of, planned_device


@pytest.mark.parametrize("subgroups", [False, True])
@pytest.mark.parametrize(("n", "k"), [(40, 2), (1003, 9), (1003, 33), (9000, 64)])
def test_sizes_of_teams(device, n, k, subgroups):
    own, planned = planned_device(device, "delegates", subgroups=subgroups)
    for name in ("float32", "int64"):
        for kind in ("random", "sorted", "reversed", "constant", "eight_values"):
            check("top_k-largest", data.make(kind, name, (n, 35), n), axis=0, k=k, device=own, case=kind)
    last = planned.plans[-1].dispatches[-1]
    assert last.kernel == "select/from_delegates" and numbers_of(last)["TEAM_BESTS"] >= k
