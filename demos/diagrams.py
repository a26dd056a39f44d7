"""What the kernels do, step by step, in plain Python: the data that ``steps`` draws.

The bitonic network is that of ``shaders/row_sort/bitonic.wgsl``, comparator by comparator; the
delegates are those of ``shaders/select/teams.wgsl``. Pairs are (value, index); the larger value
comes first, and the lower index among equal ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Pair = tuple[int, int]


def before(a: Pair, b: Pair) -> bool:
    """The one total order: no two pairs are equal in it."""
    return a[0] > b[0] or (a[0] == b[0] and a[1] < b[1])


@dataclass(frozen=True)
class NetworkStep:
    """One step of the network: comparators that touch every position once."""

    run: int  # the sorted runs that this merge makes
    reach: int
    mirrored: bool
    comparators: tuple[tuple[int, int, bool], ...]  # low, high, whether they swapped
    pairs: tuple[Pair, ...]  # afterwards


def network(values: Sequence[int]) -> list[NetworkStep]:
    """Every step that sorts the values, a power of two of them."""
    size = len(values)
    if size < 2 or size & (size - 1):
        raise ValueError(f"the network sorts a power of two of values, not {size}")
    pairs: list[Pair] = [(int(v), i) for i, v in enumerate(values)]
    steps = []
    run = 2
    while run <= size:
        reach = run // 2
        while reach:
            comparators = []
            for i in range(size // 2):
                block = i // reach * (2 * reach)
                low = block + i % reach
                # The first step of a merge mirrors, the others shift.
                mirrored = reach == run // 2
                high = block + 2 * reach - 1 - i % reach if mirrored else low + reach
                swap = before(pairs[high], pairs[low])
                if swap:
                    pairs[low], pairs[high] = pairs[high], pairs[low]
                comparators.append((low, high, swap))
            steps.append(NetworkStep(run, reach, mirrored, tuple(comparators), tuple(pairs)))
            reach //= 2
        run *= 2
    return steps


@dataclass(frozen=True)
class TreeStep:
    """One level of the trees that find the delegates, all subsets at once."""

    reach: int
    moved: frozenset[tuple[int, int]]  # (member, subset) with the pair from ``reach`` members on
    rows: list[list[Pair]]  # [member][subset] afterwards


@dataclass(frozen=True)
class Delegates:
    """Top-k by delegates: the best of each subset, those ranked, the winners' subsets again."""

    k: int
    rows: list[list[Pair]]  # [member][subset]: subset = index modulo their number
    tree: list[TreeStep]
    ranked: list[Pair]  # the delegates in order
    winners: frozenset[int]  # subsets
    threshold: Pair  # the last winner's delegate
    candidates: list[Pair]  # of the winners' subsets, up to the threshold, as met
    result: tuple[Pair, ...]


def _tree(rows: list[list[Pair]]) -> list[TreeStep]:
    """The tree by which subsets find their best: the second half's rows meet those of the first."""
    work = [list(row) for row in rows]
    tree = []
    reach = len(rows) // 2
    while reach:
        moved = [(m, s) for m in range(reach) for s in range(len(rows[0])) if before(work[m + reach][s], work[m][s])]
        for m, s in moved:
            work[m][s] = work[m + reach][s]
        tree.append(TreeStep(reach, frozenset(moved), [list(row) for row in work[:reach]]))
        reach //= 2
    return tree


def delegates(values: Sequence[int], subsets: int, k: int) -> Delegates:
    """Every stage of the first k of the values; the members of a subset are a power of two."""
    members = len(values) // subsets
    if members * subsets != len(values) or members & (members - 1):
        raise ValueError(f"{len(values)} values do not make {subsets} subsets of a power of two each")
    if not 1 <= k <= subsets:
        raise ValueError(f"k must lie in [1, {subsets}], the number of subsets, not {k}")
    pairs: list[Pair] = [(int(v), i) for i, v in enumerate(values)]
    rows = [pairs[m * subsets : (m + 1) * subsets] for m in range(members)]
    tree = _tree(rows)
    ranked = sorted(tree[-1].rows[0] if tree else rows[0], key=lambda pair: (-pair[0], pair[1]))
    threshold = ranked[k - 1]
    winners = frozenset(index % subsets for _, index in ranked[:k])
    candidates = [p for p in pairs if p[1] % subsets in winners and not before(threshold, p)]
    result = tuple(sorted(candidates, key=lambda pair: (-pair[0], pair[1]))[:k])
    return Delegates(k, rows, tree, ranked, winners, threshold, candidates, result)
