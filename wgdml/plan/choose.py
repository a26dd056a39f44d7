"""Which algorithm serves a problem: tables of rules, read from the top. Nothing else chooses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from .algorithms import Algorithm
from .machine import power_of_two_above
from .problem import Problem, Unserved

#: The algorithms of a planner, by name.
Algorithms = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """Takes an algorithm where ``when`` holds and the algorithm serves the problem."""

    algorithm: str
    when: Callable[[Problem, Algorithms], bool]
    condition: str  #: ``when`` in words.
    why: str


# Conditions of several parts


def _few_and_long(p: Problem, a: Algorithms) -> bool:
    """Would a workgroup each leave most of the machine idle? Sooner where k is large for it."""
    share = int(a["delegates"].policy.few_length * max(1.0, min(4.0, p.sequences / 16)))
    share //= 2 if p.k >= 1024 else 1
    long = p.length >= max(32 * p.k, share * p.sequences)
    return p.along and long and p.loads > 2 * power_of_two_above(p.k)


def _few_of_many_ranks(p: Problem, a: Algorithms) -> bool:
    """Would a workgroup each leave most of the machine idle, or have no room for its list?"""
    # benchmarks/LOG.md#few-rows-whose-lists-have-no-room-2026-11-28-0164eed
    few = 2 * p.sequences <= a["sample_select"].occupancy.processors
    if p.along and few and p.k > 2048:
        digits = a["select_digits"]
        spilled = digits.serves(p) is not None or digits.check(p).spilled
        return spilled or p.length >= max(12 * p.k, 1 << 15, p.sequences << 11)
    # benchmarks/LOG.md#few-rows-that-a-workgroup-reads-for-long-2026-11-30-cb6652b
    many = p.k >= 1024 or (p.k >= 256 and p.sequences * p.k >= 3072)
    long = p.length * p.format.bytes >= 1 << 18 and p.length >= 32 * p.k
    slow = p.k >= 512 and 5 * p.sequences <= a["sample_select"].occupancy.processors and long
    return p.along and many and (slow or _few_and_long(p, a))


def _few_long_sorts(p: Problem, a: Algorithms) -> bool:
    # benchmarks/LOG.md#few-long-sorts-2026-11-30-be5e97d
    few = p.sequences * p.length <= 1 << 17
    return p.along and p.format.bytes >= 4 and few and 2 * p.k > p.length > 4096


def _sorts(p: Problem, a: Algorithms, by_radix: bool) -> bool:
    """Would counting take longer than a sort of the whole sequence in workgroup memory?"""
    share = a["row_sort_bitonic"].policy.share * (2 if not p.pairs and not p.columns and p.k >= 32 else 1)
    return p.length <= 64 or share * p.k >= p.length or (by_radix and not p.columns and (p.k > 64 or p.format.bytes == 1))


def _counts(p: Problem, a: Algorithms) -> bool:
    """Are pairs so few that to count those before each takes the least?"""
    policy = a["row_sort_rank"].policy
    return p.pairs and p.listed <= policy.max_length and p.sequences * p.listed**2 <= policy.max_work


def _fits(p: Problem, a: Algorithms) -> bool:
    return bool(p.length <= a["row_sort_bitonic"].capacity) or _by_radix(p, a)


def _by_radix(p: Problem, a: Algorithms) -> bool:
    return bool(a["row_sort_radix"].prefers(p)) and a["row_sort_radix"].serves(p) is None


def _by_buckets(p: Problem, a: Algorithms) -> bool:
    # Pairs in order of index are sorted by key alone.
    if p.columns or (p.pairs and _by_radix(p, a)):
        return False
    return bool(a["row_sort_buckets"].prefers(p)) and a["row_sort_buckets"].serves(p) is None


def _longest_for_networks(p: Problem, a: Algorithms) -> int:
    """Items of a sequence that networks take less for than a threshold, which reads some twice."""
    # benchmarks/LOG.md#narrow-rows-some-loads-at-a-time-2026-11-30-b101ed9
    most: int = a["select_networks"].policy.max_length
    return 2 * most if p.along and p.format.bytes < 4 else most


def _select_rows(p: Problem, a: Algorithms) -> bool:
    policy = a["select_rows"].policy
    fewest = 48 * p.k
    if p.k <= a["select_networks"].policy.max_k:
        # Of what is too long for networks, teams' lists take twice as long, and histograms longer
        # (benchmarks/LOG.md#rows-and-columns-by-force-2026-11-29-e2b2eb6).
        fewest = min(fewest, _longest_for_networks(p, a) + 1)
    if p.key_words > 1:
        # No network serves these. Teams of 16 take less than a bisection, larger ones of long rows
        # (benchmarks/LOG.md#short-rows-of-64-bits-2026-11-27-7c54008).
        fewest = max(33, 8 * p.k) if p.k <= 10 else 36 * p.k
    return p.along and p.k <= policy.max_k and fewest <= p.length <= min(policy.max_length, 1024 + 4 * p.sequences)


def _select_networks(p: Problem, a: Algorithms) -> bool:
    """Do an invocation's registers, or a few ones', hold a sequence and the list of its first k?"""
    # benchmarks/LOG.md#networks-down-columns-2026-11-29-81d1122
    policy = a["select_networks"].policy
    # Teams of long columns read few of those that share a line of memory, and far more lie between.
    near = p.along or (p.columns and (p.length <= 512 or _side_by_side(p, 4096)))
    return near and p.k <= policy.max_k and p.k < p.length <= _longest_for_networks(p, a)


def _short(p: Problem) -> bool:
    """Does a sort by small teams take less than a list of k, for which few sequences wait?"""
    few = p.sequences <= 2048 and p.length <= min(128, 16 * p.k)
    if p.columns:
        return few or _short_columns(p)
    return p.along and (few or (p.length <= 64 and p.k > 20) or (p.length <= 128 // p.key_words and p.k > 28))


def _short_columns(p: Problem) -> bool:
    if p.k < 32 and p.key_words == 1:  # Networks serve those.
        return p.length <= 128 and (p.k > 20 or p.length <= 3 * p.k)
    share = 4 if p.format.bytes == 4 and p.length > 128 else 8
    return p.length <= min(256 // p.key_words, share * p.k)


def _select_spans(p: Problem, a: Algorithms) -> bool:
    spans = a["select_spans"]
    few = p.length >= 1 << 15 and p.sequences <= 4 * spans.occupancy.workgroups
    return p.segments and p.length > spans.policy.min_length and bool(few or spans.in_registers(p))


def _select_lists(p: Problem, a: Algorithms) -> bool:
    """Are there columns enough for an invocation each, whose keys no network takes?"""
    policy = a["select_lists"].policy
    wide = p.columns and p.key_words > 1
    return wide and p.k <= policy.max_k and p.sequences >= policy.min_sequences and p.length <= policy.max_length


def _copied(p: Problem) -> bool:
    """Does a copy to rows, or do delegates, take less than a bisection of columns?"""
    # benchmarks/LOG.md#columns-with-k-up-to-a-hundred-2026-11-28-37a28cc
    # Rows have a network for so few, or a threshold among their loads.
    few = p.k < 32 if p.key_words == 1 else p.k <= 10
    large = p.sequences * p.length > (1 << 19 if few else 1 << 22)
    return p.columns and large and (few or p.format.bytes == 1)


def _select_bisect(p: Problem, a: Algorithms) -> bool:
    if not (p.along or p.columns) or _copied(p):
        return False
    # Shorter rows are sorted in few stages, and of longer ones digits find the k-th sooner.
    shortest, longest = (256, 1024 + p.k * (p.format.bytes - 1)) if p.format.bytes < 4 else (128, 1024 + 2 * p.k)
    if p.key_words > 1 and p.along:
        shortest = 64  # A sort is of pairs of three words.
    many = p.sequences >= a["select_bisect"].policy.min_sequences
    # A sort of what is left has a stage or more less than one of all.
    less = 2 * power_of_two_above(p.k) <= power_of_two_above(p.length)
    return many and less and shortest < p.length <= longest


#: A sort in workgroup memory takes less where more than so much of a row is wanted, by the bytes of
#: an element; by buckets, from a half on (benchmarks/LOG.md#half-of-each-load-2026-11-29-ca92aa9,
#: #dense-columns-and-rows-2026-11-29-34761c8).
_DENSEST = {1: 1 / 8, 2: 1 / 3.5, 4: 4 / 7, 8: 4 / 7}


#: A threshold from a sample takes less than delegates of up to this share of k^2 items, by the
#: bytes of an element: the less k is to them, the less a sample tells
#: (benchmarks/LOG.md#samples-by-the-square-of-k-2026-11-29-d9ca364).
_SAMPLED = {1: 1 / 8, 2: 1 / 4, 4: 1 / 8, 8: 1 / 4}


def _select_digits(p: Problem, a: Algorithms) -> bool:
    """Does a sample tell a threshold, or would delegates have most loads read again?"""
    fits, digits = _fits(p, a), a["select_digits"]
    if not (p.along or _as_they_lie(p, a)) or not 1024 < p.length <= max(3 << 15, 32 * p.k):
        return False
    densest = min(_DENSEST[p.format.bytes], 1 / 2 if _by_buckets(p, a) else 1)
    if fits and p.k > densest * p.length:
        return False
    most = min((32 if p.format.bytes == 1 else 64) * p.k, _SAMPLED[p.format.bytes] * p.k**2)
    sampled = p.length <= most and digits.samples(p)
    if p.length > 3 << 15:
        return bool(sampled and digits.check(p).spilled)
    dense = 16 if not fits else 10 if p.format.bytes == 2 else 6
    return sampled or p.length <= dense * p.k


def _narrow_sort(p: Problem, a: Algorithms) -> bool:
    """Has the key one digit, and would a workgroup each leave most of the machine idle?"""
    few = 4 * p.sequences <= a["radix_sort"].occupancy.processors
    return few and p.along and p.format.bytes == 1 and p.k > 1024 and 16 * p.k >= p.length > 8192


def _side_by_side(p: Problem, most: int) -> bool:
    """Are columns so few, at most, before memory goes on with the next item?"""
    return p.view.selection.batch[-1].size <= most


def _line(p: Problem) -> int:
    """Bytes side by side before memory goes on with the next item of columns."""
    return int(p.view.selection.batch[-1].size) * p.format.bytes


def _as_they_lie(p: Problem, a: Algorithms) -> bool:
    """Do columns with lines of memory, read for each of their neighbours, take less than a copy?"""
    # benchmarks/LOG.md#columns-as-they-lie-2026-11-29-ca92aa9
    if not p.columns or 2 * p.sequences < a["select_digits"].occupancy.processors:
        return False
    # Large results would be copied too:
    # benchmarks/LOG.md#dense-columns-and-rows-2026-11-29-34761c8
    dense = _side_by_side(p, 16) and 4 * p.k >= p.length
    return dense or (_side_by_side(p, 64) and p.sequences * p.length * min(_line(p), 32) <= 1 << 26)


def _share_lines(p: Problem) -> bool:
    """Are these long columns of few neighbours, of which the bytes side by side decide?"""
    # benchmarks/LOG.md#few-neighbours-by-lines-2026-11-29-7565bcd
    return p.columns and _side_by_side(p, 16) and p.length > 4096 and p.k <= 64


def _delegates_of_columns(p: Problem, a: Algorithms) -> bool:
    if not p.columns or (_few_neighbours(p) and _line(p) <= 20):
        return False
    # A copy of few columns takes little, and they share few lines of memory.
    few, narrow = _side_by_side(p, 16), p.format.bytes == 1
    if (_line(p) < 20 if _share_lines(p) else p.length < 1 << 16) if few else narrow:
        return False
    large = not few or p.sequences * p.length > 1 << 23
    # The narrower columns are, the less a copy of them takes. Most of 8 bits would be read again.
    share, most = 48 if p.format.bytes > 2 else 128, 512 if large and not narrow else 64
    return p.k <= most and p.length >= max(share * p.k, 2 * p.k**2)


def _few_neighbours(p: Problem) -> bool:
    """Would columns that workgroups read side by side share the lines of memory?"""
    most = max(256 * p.format.bytes**2, p.length // 64)
    few = p.columns and _side_by_side(p, 16) and (32 if p.format.bytes >= 4 else 65) <= p.k <= most
    return few and p.length > max(8192, 16 * p.k) and p.sequences >= 128


def _transpose(p: Problem, a: Algorithms) -> bool:
    if not p.columns or (p.k <= 32 and p.sequences * p.length <= 1 << 19):
        return False
    # Results of fewer columns are not put by tiles.
    return p.length <= 1 << 14 or 4 * p.k <= p.length or p.sequences >= 16


# The tables

_REDUCE_AXES = Rule(
    "reduce_axes",
    lambda p, a: p.k == 1 and not p.pairs and len(p.view.sizes) == 2,
    "k = 1, two axes with others between them, of 4 items and more",
    "one axis after the other, each as memory has it",
)

GPU_RULES: tuple[Rule, ...] = (
    _REDUCE_AXES,
    Rule("reduce", lambda p, a: p.k == 1, "k = 1", "one read and a tree"),
    Rule("row_sort_rank", _counts, "pairs, up to 2048 a sequence and 2^21 comparisons", "counting waits for nothing"),
    Rule(
        "sample_sort",
        lambda p, a: a["sample_sort"].prefers(p),
        "pairs, of 256 and more a sequence, up to half as many sequences as processors, 2^17 in all",
        "several workgroups share a list, and none waits for another",
    ),
    Rule(
        "select_spans",
        _select_spans,
        "segments of one sequence of over 1024 items, k up to 31; few of over 32768, k up to 128",
        "the work follows the items that there are",
    ),
    Rule(
        "select_rows",
        _select_rows,
        "rows of 48 k items and more, k up to 42, and of over 1024 (8 and 16 bits: 2048) with k up to 31; of 64 bits over 32 "
        "items and 8 k for k up to 10, else 36 k; up to 8192, and to 1024 and 4 for each row",
        "one dispatch, a threshold among the loads",
    ),
    Rule(
        "select_lists",
        _select_lists,
        "8192 columns and more of 64 bits and up to 256 items, k up to 8",
        "one dispatch and one read",
    ),
    Rule(
        "row_sort_bitonic",
        lambda p, a: _short(p),
        "rows of up to 64 items with k over 20, of 128 with k over 28 (not of 64 bits); columns of up to 128 with k over 20 or a "
        "third, of 256 with k over 31 (64 bits: 128, any k) and 8 k (of 32 bits over 128: 4 k); up to 2048 of either, of up to "
        "128 and 16 k",
        "all in order in one read, and neighbours by one workgroup",
    ),
    Rule(
        "select_networks",
        _select_networks,
        "rows and columns of up to 1024 items (rows of 8 and 16 bits: 2048), of up to 512 where over 4096 columns are side by "
        "side, k up to 31",
        "registers and no branches",
    ),
    Rule(
        "select_bisect",
        _select_bisect,
        "640 rows or columns and more of 129 items (8 and 16 bits: 257, rows of 64: 65) to 1024, of 16 bits to 1024 and k, of 32 "
        "to 1024 and 2 k; "
        "k to 512 and half, as powers of two; but columns of over 2^19 in all with k up to 31 (64 bits: 10), and of 8 bits of "
        "over 2^22, which a copy or delegates take",
        "bisection in registers takes less than a sort",
    ),
    Rule(
        "sample_sort",
        _few_long_sorts,
        "rows of over 4096 items, up to 2^17 in all, of which more than half is wanted; of 32 and 64 bits",
        "a workgroup each would leave most of the machine idle",
    ),
    Rule(
        "radix_sort",
        _narrow_sort,
        "8-bit rows of over 8192 items, up to a quarter as many as processors, k over 1024 and a sixteenth",
        "one digit, and many workgroups a row",
    ),
    Rule(
        "sample_select",
        _few_of_many_ranks,
        "few long rows, k from 1024 on, or from 256 on and 3072 in all; those with k from 512 on, up to a fifth as many as "
        "processors, of 2^18 bytes and 32 k items; up to half as many rows as processors with k over 2048, "
        "whose list no workgroup has room for, or of 12 k items, 32768 and 2048 for each row",
        "one read by the whole machine, and several workgroups sort what it leaves",
    ),
    Rule(
        "delegates",
        lambda p, a: a["select_radix"].prefers(p) and _few_and_long(p, a),
        "few long rows, k from 64 on",
        "a workgroup each would leave most of the machine idle",
    ),
    Rule(
        "select_digits",
        _select_digits,
        "rows of 1025 to 98304 items with k from a sixth on (16 bits: a tenth), where a sample serves from a 64th on (8 bits: a "
        "32nd) and up to k^2 / 8 items (16 and 64 bits: k^2 / 4), up to 4/7 (16 bits: 2/7, 8: an eighth; buckets: half); "
        "from a sixteenth on where a sort of all has no room; longer ones with a sample and 32 k items at most, where a list of k "
        "has no room; half as many columns as processors, and more, up to 64 side by side, whose lines are 2^26 bytes at most, or "
        "up to 16 with k from a quarter on",
        "delegates would have most loads read again; a sample tells a threshold sooner",
    ),
    Rule(
        "select_radix",
        lambda p, a: a["select_radix"].prefers(p) and a["select_radix"].spares(p, _by_radix(p, a) or _by_buckets(p, a)),
        "rows of 4/3 k loads and more, k from 64 on (32 where rows are many); of 5 k items (8 bits: 12 k) where a fast sort serves",
        "histograms take less than counting, whose work grows with the square of k",
    ),
    Rule(
        "select_teams",
        lambda p, a: (p.columns and a["select_teams"].together(p)) or (_share_lines(p) and _line(p) <= 30 and p.sequences <= 256),
        "few short columns, k up to 16; up to 256 of over 4096 items, up to 16 side by side in 30 bytes, k up to 64",
        "several neighbours a workgroup read all at once; parts of long ones share the lines that they read",
    ),
    Rule(
        "delegates",
        _delegates_of_columns,
        "columns of 48 k items (16 bits: 128 k; of 8 bits few neighbours) and 2 k^2 and more, k up to 512 (8 bits: 64); of up to "
        "16 neighbours from 65536 on (not 128 and more in up to 20 bytes, k over 31), or over 4096 in 20 bytes and more with k up "
        "to 64; of 2^23 in all k up to 64",
        "one read that coalesces",
    ),
    Rule(
        "select_radix",
        lambda p, a: _few_neighbours(p) or (_share_lines(p) and _line(p) < 20) or (64 < p.k < p.length / 16 and _as_they_lie(p, a)),
        "128 columns and more, up to 16 side by side, of over 8192 items and 16 k, k from 32 (8 and 16 bits: 65) to 256 bytes^2 or "
        "a 64th; others of over 4096 in up to 19 bytes, k up to 64; columns as for select_digits, k from 65 up to a sixteenth",
        "they share the lines that they read, and a copy takes longer",
    ),
    Rule(
        "transpose",
        _transpose,
        "columns with k over 32 or 2^19 items in all, but up to 15 in all with k over a quarter of more than 16384",
        "rows have faster ways than a copy takes",
    ),
    Rule(
        "row_sort_buckets",
        lambda p, a: _by_buckets(p, a) and _sorts(p, a, _by_radix(p, a)),
        "rows of over 256 items of 64-bit types, up to 128 of over 512; as much wanted as below",
        "all in order in one read, in as many passes for wide keys",
    ),
    Rule(
        "row_sort_radix",
        lambda p, a: _by_radix(p, a) and _sorts(p, a, True),
        "rows that fit a workgroup, of 8 bits, k over 64, or of which an eighth and more is wanted (a quarter for k below 32)",
        "all in order in one read",
    ),
    Rule(
        "row_sort_bitonic",
        lambda p, a: _fits(p, a) and not _by_radix(p, a) and _sorts(p, a, False),
        "pairs, and shorter sequences: up to 64 items, or a quarter and more of them wanted (an eighth of rows for k from 32)",
        "all in order in one read",
    ),
    # The bests of fewer loads than k tell no threshold: every item would be listed.
    Rule(
        "select_teams",
        lambda p, a: p.k <= 256 and p.listed >= 2 * p.k and p.loads >= p.k,
        "k up to 256, at least k loads and 2 k items",
        "one read and a little",
    ),
    Rule("row_sort_bitonic", _fits, "sequences that fit a workgroup", "all in order in one read"),
    Rule(
        "select_radix",
        lambda p, a: p.one_axis and p.sequences >= 16,
        "16 sequences and more, any k that it serves",
        "one read, and a list in scratch",
    ),
    Rule(
        "sample_sort",
        lambda p, a: p.along and p.format.bytes > 1,
        "few rows of up to 2^17 items, not of 8 bits",
        "one dispatch, and no workgroup waits for another",
    ),
    Rule(
        "radix_select",
        lambda p, a: p.k < p.length and a["radix_select"].policy.share * p.k <= p.length,
        "k up to a quarter",
        "a read a digit, and a sort of k",
    ),
    Rule("radix_sort", lambda p, a: True, "everything else", "any length and any k"),
)


#: Items for each of the k, over which delegates leave most of a row out; more of narrow elements,
#: by their bytes (benchmarks/LOG.md#small-problems-on-software-adapters-2026-12-01-24aeaaa).
_FAR, _FAR_NARROW = 100, {1: 250, 2: 150}


def _subsets_pay(p: Problem, a: Algorithms) -> bool:
    """Are items so many that ten dispatches take less than lists or merges of all?"""
    # benchmarks/LOG.md#lists-of-parts-on-software-adapters-2026-12-01-9611156
    share = 1 if p.k <= 8 else 2
    return bool(share * p.sequences * p.length * p.format.bytes >= a["serial_select"].policy.min_bytes)


def _serial_lists(p: Problem, a: Algorithms) -> bool:
    """Are there sequences enough, or do a few lists take less than merges of all?"""
    items = p.sequences * p.length
    many = p.sequences >= 8 and items >= 1 << (15 if p.k <= 8 else 16) and (p.columns or p.length <= 4096)
    return many or (p.along and items >= 1 << 12 and not _subsets_pay(p, a))


def _serial_select(p: Problem, a: Algorithms) -> bool:
    many = _subsets_pay(p, a) or a["serial_merge"].serves(p) is not None
    return many and p.length > _FAR_NARROW.get(p.format.bytes, _FAR) * p.k


def _serial_sample(p: Problem) -> bool:
    """Does a bound leave most of so many items out that another read of all pays?"""
    # benchmarks/LOG.md#runs-and-merges-on-software-adapters-2026-11-29-258952a
    return p.length > 1 << 14 and p.sequences * p.length > 1 << 16 and 8 * p.k <= p.length


SOFTWARE_RULES: tuple[Rule, ...] = (
    _REDUCE_AXES,
    Rule("reduce", lambda p, a: p.k == 1 and p.segments, "k = 1, segments of one sequence", "each is read to its own end"),
    Rule(
        "select_teams",
        lambda p, a: p.k <= 256 and p.segments,
        "segments of one sequence, k up to 256",
        "each is read to its own end",
    ),
    Rule("select_digits", lambda p, a: p.segments, "segments of one sequence, k up to 8192", "each is read to its own end"),
    Rule("serial_reduce", lambda p, a: p.k == 1, "k = 1", "one read and a little"),
    Rule(
        "serial_lists",
        _serial_lists,
        "8 rows of up to 4096 items, or columns of up to 1024, and more; k up to 8 of 2^15 items in all, 16 of 2^16; rows of 2^12 "
        "items in all and more, k up to 8 of less than 2^17 bytes (SwiftShader: 2^15), 16 of half of that",
        "one read, and lists in registers",
    ),
    Rule(
        "serial_select",
        _serial_select,
        "2^17 bytes in all and more (SwiftShader: 2^15), k over 8 half of that; over 100 items for each of the k (16 bits: 150, 8: "
        "250)",
        "one read and a little",
    ),
    Rule(
        "serial_sample",
        lambda p, a: _serial_sample(p),
        "over 16384 items, and over 2^16 in all, k up to an eighth",
        "two reads, and what a bound leaves in order",
    ),
    Rule("serial_merge", lambda p, a: True, "k up to 60000", "one read, and a load and a store an item for each level of merges"),
    Rule("serial_radix_sort", lambda p, a: True, "everything else", "any length and any k"),
)


def choose(problem: Problem, rules: tuple[Rule, ...], algorithms: Algorithms, without: Collection[str] = ()) -> Algorithm[Any]:
    """The algorithm of the first rule that holds and whose algorithm serves; else ``Unserved``.

    ``without``: names of those that are left out.
    """
    refusals = []
    for rule in rules:
        if rule.algorithm not in without and rule.when(problem, algorithms):
            algorithm: Algorithm[Any] = algorithms[rule.algorithm]
            refusal = algorithm.serves(problem)
            if refusal is None:
                return algorithm
            refusals.append(refusal)
    raise Unserved("; ".join(refusals))
