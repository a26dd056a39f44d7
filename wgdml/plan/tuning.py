"""What a plan depends on besides the selection: the device's limits, a table of tuning parameters, the choice of algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Algorithm", "Limits", "Tuning", "choose_algorithm", "power_of_two_above", "power_of_two_below", "tuning_for"]


#: Bytes of workgroup memory of lib/kth.wgsl, besides two words an invocation: 2048 counters and some words.
KTH_BYTES = 8448


class Algorithm(Enum):
    """How the first k pairs of each sequence are found. ``choose_algorithm`` says when each one pays."""

    REDUCE = "reduce"  #: k = 1: a tree; one read
    SELECT = "select"  #: delegates, threshold and a small sort inside a workgroup; one read and a little
    NETWORKS = "networks"  #: short sequences in registers, merged by a network of minima and maxima; one read
    SELECT_KTH = "select_kth"  #: delegates of a workgroup, the k-th of them by histograms, a small sort; one read and a little
    SELECT_ROWS = "select_rows"  #: SELECT by small teams that keep the least key of each load; one read and a little
    LISTS = "lists"  #: a sorted list of k pairs an invocation, in registers; one read and a little
    DELEGATES = "delegates"  #: the best of each strided subset, a threshold from those, its subsets again; one read and a little
    SORT_ROWS = "sort_rows"  #: a bitonic sort of whole short sequences in workgroup memory; one read
    SORT_ROWS_RADIX = "sort_rows_radix"  #: a radix sort there; for the input's elements, in their own order; one read
    RANK = "rank"  #: pairs placed by counting those before each; for a few thousand
    RADIX_SELECT = (
        "radix_select"  #: a histogram of each digit, or of a sample's, then those that pass, sorted; a read a digit, or one
    )
    RADIX_SORT = "radix_sort"  #: a stable radix sort of everything; two reads and a write a digit


@dataclass(frozen=True)
class Limits:
    """What a plan must keep to: the device's limits, by WebGPU's names, and what kind of machine it is."""

    max_storage_buffer_binding_size: int = 128 << 20
    max_buffer_size: int = 256 << 20
    max_compute_invocations_per_workgroup: int = 256
    max_compute_workgroup_storage_size: int = 16 << 10
    max_compute_workgroups_per_dimension: int = 65535
    software: bool = False  #: a CPU adapter: few long workgroups pay, barriers cost
    subgroups: bool = False  #: subgroup operations may be used; how large subgroups are nobody promises


@dataclass(frozen=True)
class Tuning:
    """The numbers that the algorithms leave open. ``tuning_for`` sets them; tests shrink them to force the multi-pass paths."""

    workgroup: int  #: invocations of an ordinary workgroup
    large_workgroup: int  #: the most invocations that serve one long sequence together
    workgroups: int  #: workgroups that fill the machine
    unroll: int  #: loads in flight an invocation
    again: int  #: and where what was read is read again; a software adapter takes long to compile more
    lanes: int  #: invocations that read neighbouring loads, where they read several; what a CPU runs together
    loads_each: int  #: loads an invocation should have before a sequence is cut among more of them
    sort_capacity: int  #: the most pairs that one workgroup sorts in its memory (a power of two)
    sort_items: int  #: and the most items in all that are sorted so, where sequences are longer than 256
    radix_row_length: int  #: the shortest sequence for SORT_ROWS_RADIX before SORT_ROWS
    radix_row_workgroup: int  #: invocations of a workgroup there, where a sequence takes no more
    radix_row_each: int  #: items of an invocation there, 8 or 16
    radix_row_digit: int  #: and bits of a digit, up to 5; one more for long sequences
    select_k: int  #: the largest k for SELECT
    select_spans: int  #: delegates of an invocation there, where runs have 4 loads and more
    select_columns: int  #: sequences that share a workgroup there, where they lie side by side and all are under way at once
    select_columns_k: int  #: and the largest k for that
    select_columns_loads: int  #: and the most loads of an invocation
    select_delegates: int  #: and where an earlier dispatch has left them; or twice as many
    short_workgroup: int  #: invocations of a workgroup that serves short sequences, where a team is no larger
    short_invocations: int  #: and as many in all as fill the machine
    networks_k: int  #: the largest k for NETWORKS, up to 31
    networks_items: int  #: the most items of an invocation there
    networks_length: int  #: and the longest sequence, up to 4096
    select_rows_k: int  #: the largest k for SELECT_ROWS
    select_rows_loads: int  #: loads of an invocation there, where teams are small; up to 32
    select_rows_length: int  #: and the longest sequence
    kth_subsets: int  #: the most subsets of an invocation in SELECT_KTH
    kth_seconds: int  #: the most subsets for each of the k where they have second keys
    kth_digit: int  #: and the fewest bits of a digit there
    kth_fewest: int  #: and the fewest invocations
    kth_a_rank: float  #: and for each of the k
    kth_fill: int  #: and loads of each, where sequences are too few to fill the machine
    kth_k: int  #: the largest k for SELECT_KTH
    kth_few: int  #: and the smallest
    kth_many: int  #: and where sequences are many
    kth_length: int  #: and the shortest sequence for any smaller k
    lists_k: int  #: the largest k for LISTS
    lists_length: int  #: and the longest sequence
    lists_work: int  #: and the largest product of both
    lists_sequences: int  #: and the fewest of them
    lists_few_k: int  #: but where these are fewer, the largest k
    lists_few_length: int  #: and the longest sequence
    lists_columns: int  #: the longest of sequences side by side, before DELEGATES
    rank_length: int  #: the longest list that is sorted by counting
    rank_work: int  #: and how many comparisons that may take
    tile: int  #: the most pairs of a radix sort's tile; without subgroups a power of two, this or less
    tiles: int  #: and tiles that fill the machine; fewer pairs go in smaller ones
    sort_group: int  #: the most neighbouring tiles whose counts are made together
    sort_groups: int  #: and as many such groups as a tile sums up at one look
    sample_k: int  #: the smallest k for which RADIX_SELECT looks at a sample
    sample_length: int  #: and the shortest sequence
    sample_work: int  #: and the smallest product of both
    delegate_loads: int  #: loads that a delegate stands for, where there are fewer loads than make full use of ``delegates``
    delegate_length: int  #: the shortest sequence for DELEGATES
    delegate_share: int  #: and where k is for SELECT_KTH too, for each of the sequences; half of it where k is too large for that
    delegate_sequences: int  #: and the most of them
    delegate_k: int  #: and the largest k
    delegate_workgroup: int  #: invocations of a workgroup that makes them
    delegate_own: int  #: delegates of an invocation
    delegates: int  #: as many as invocations that read at full speed
    delegates_lean: int  #: and as many where they would take more scratch than 2% of the input
    delegates_a_rank: int  #: and more where k is large, as the subsets of k of them are read again
    delegate_seconds: int  #: the most subsets for each of the k where they have second keys, if several an invocation
    delegate_columns: int  #: the most of each sequence, where sequences lie side by side
    gather_workgroups: int  #: as many as are at work at once where each has a processor to itself
    gather_collects: int  #: the shortest list whose pairs ask for places together
    kth_workgroup: int  #: the most invocations that look for a threshold among the delegates
    kth_least: int  #: and the fewest
    groups_a_rank: float  #: SELECT's groups for each of the k
    reduce_workgroup: int  #: invocations of a workgroup that reduces
    reduce_large: int  #: and where sequences are few, or side by side
    reduce_loads: int  #: loads of an invocation of a short sequence
    few_loads: int  #: as many that all are under way at once; two times as many where sequences are few
    few_workgroup: int  #: and invocations of the largest workgroup then
    columns_rows: int  #: rows of a part down columns, about; a CPU has a page of memory for each in view
    delegate_reach: float  #: what DELEGATES has of them down columns, in times the cube root of the length times the square of k
    delegate_fewest: int  #: and as many as fill the machine, up to this
    columns_unroll: int  #: loads that an invocation has under way at once down columns
    columns_own: int  #: and how many of those in the same row
    columns_loads: int  #: loads that each of ``short_invocations`` should have left where loads are wider than a word
    columns_items: int  #: and the most items of such a load
    columns_line: int  #: bytes of a row that invocations read side by side at least, where it has so many
    columns_turned: int  #: the longest sequences whose results change invocations, to be written side by side
    barrier_free: bool = False  #: teams of one invocation: barriers cost more than a second dispatch


def power_of_two_below(n: int) -> int:
    return 1 << (max(n, 1).bit_length() - 1)


def power_of_two_above(n: int) -> int:
    return 1 << (max(n, 1) - 1).bit_length()


def tuning_for(limits: Limits, key_words: int) -> Tuning:
    """The one table of tuning parameters, from the limits alone.

    Evidence: a GPU with 132 processors reads at full speed from 1056 workgroups of 256 up; a software adapter with two cores pays
    some 3 us for every workgroup with a barrier, so few long workgroups are best there (``benchmarks/LOG.md``).
    """
    widest = power_of_two_below(limits.max_compute_invocations_per_workgroup)
    workgroup = min(256, widest)
    pair = 8 * key_words  # bytes of a pair in workgroup memory
    # sort_rows.wgsl: 16 pairs an invocation, moved a word at a time through memory with one place in 17 to spare; and
    # sort_rows_radix.wgsl keeps an invocation's sum besides.
    capacity = min(
        16 * widest,
        power_of_two_below(limits.max_compute_workgroup_storage_size * 16 // 19 // 4),
    )
    large = min(1024, widest)
    # select.wgsl keeps, an invocation, a delegate and two words, and at least as many candidates.
    while large * (2 * pair + 8) > limits.max_compute_workgroup_storage_size - 512:
        large //= 2
    # lib/tree.wgsl keeps a pair an invocation, three words in the room of four, and a counter.
    tree = min(1024, widest)
    while tree * pair + 256 > limits.max_compute_workgroup_storage_size:
        tree //= 2
    # sort_scatter.wgsl keeps a word of each item, with one place in eight to spare, a counter a digit and a scan.
    tile = 8 * workgroup
    while tile > workgroup and 4 * (tile + workgroup) + 1024 + 5 * workgroup > limits.max_compute_workgroup_storage_size:
        tile //= 2
    # trim.wgsl and gather.wgsl keep those counters, and, an invocation, three words and a pair.
    kth = min(256 if limits.software else 1024, widest)
    while KTH_BYTES + kth * (12 + pair) > limits.max_compute_workgroup_storage_size:
        kth //= 2
    # select_kth.wgsl keeps counters and two words an invocation, a list of 2 k pairs, and the numbers of some more than k subsets.
    kth_k, kth_digit = 2048, 8
    while 2 * kth_k * pair + 5 * kth_k + (4 << kth_digit) + 8 * workgroup + 256 > limits.max_compute_workgroup_storage_size:
        kth_k //= 2
    if limits.software:
        return Tuning(
            workgroup=workgroup,
            large_workgroup=min(large, 256),
            workgroups=32,
            unroll=4,
            again=1,
            lanes=8,
            loads_each=64,
            sort_capacity=min(capacity, 4096),
            sort_items=1 << 14,
            radix_row_length=1 << 30,
            radix_row_workgroup=workgroup,
            radix_row_each=16,
            radix_row_digit=4,
            select_k=128,
            select_spans=4,
            select_columns=1,
            select_columns_k=0,
            select_columns_loads=0,
            select_delegates=1,
            short_workgroup=min(64, workgroup),
            short_invocations=1,
            networks_k=0,
            networks_items=128,
            networks_length=128,
            select_rows_k=0,
            select_rows_loads=16,
            select_rows_length=0,
            kth_subsets=4,
            kth_seconds=1 << 62,
            kth_digit=kth_digit,
            kth_fewest=min(32, workgroup),
            kth_a_rank=1 / 3,
            kth_fill=32,
            kth_k=kth_k,
            kth_few=16,
            kth_many=16,
            kth_length=1 << 12,
            lists_k=64 // key_words,
            lists_length=1 << 16,
            lists_work=(1 << 20) // key_words,
            lists_sequences=8,
            lists_few_k=20 // key_words,
            lists_few_length=4096,
            lists_columns=4096,
            rank_length=512,
            rank_work=1 << 62,
            tile=tile // 2,
            tiles=1,
            sort_group=1,
            sort_groups=1,
            sample_k=1 << 12,
            sample_length=1 << 20,
            sample_work=0,
            delegate_loads=8,
            delegate_length=1 << 20,
            delegate_share=1 << 19,
            delegate_sequences=16,
            delegate_k=4 * kth,
            delegate_workgroup=workgroup,
            delegate_own=8,
            delegates=1 << 12,
            delegates_lean=1 << 12,
            delegates_a_rank=4,
            delegate_seconds=8,
            delegate_columns=1024,
            gather_workgroups=2,
            gather_collects=1 << 62,
            kth_workgroup=kth,
            kth_least=kth,
            groups_a_rank=2,
            reduce_workgroup=workgroup,
            reduce_large=workgroup,
            reduce_loads=2,
            few_loads=0,
            few_workgroup=workgroup,
            columns_rows=256,
            delegate_reach=1,
            delegate_fewest=0,
            columns_unroll=4,
            columns_own=4,
            columns_loads=0,
            columns_items=16,
            columns_line=128,
            columns_turned=0,
            barrier_free=True,
        )
    return Tuning(
        workgroup=workgroup,
        large_workgroup=large,
        workgroups=2112,
        unroll=4,
        again=4,
        lanes=1024,
        loads_each=8,
        sort_capacity=min(capacity, 8192),
        sort_items=1 << 62,
        radix_row_length=257 if key_words == 1 else 513,
        radix_row_workgroup=min(64, workgroup),
        radix_row_each=16,
        radix_row_digit=4,
        select_k=min(256, large),
        select_spans=1,
        select_columns=8,
        select_columns_k=16,
        select_columns_loads=64,
        select_delegates=2,
        short_workgroup=min(64, workgroup),
        short_invocations=1 << 17,
        networks_k=31 if key_words == 1 else 0,
        networks_items=64,
        networks_length=1024,
        select_rows_k=min(42, workgroup // 2),
        select_rows_loads=16,
        select_rows_length=min(8192, 32 * workgroup),
        kth_subsets=8,
        kth_seconds=16,
        kth_digit=kth_digit,
        kth_fewest=min(64, workgroup),
        kth_a_rank=2 / 3,
        kth_fill=32,
        kth_k=kth_k,
        kth_few=96,
        kth_many=32,
        kth_length=1 << 62,
        lists_k=16,
        lists_length=4096,
        lists_work=1 << 62,
        lists_sequences=8192,
        lists_few_k=0,
        lists_few_length=0,
        lists_columns=256,
        rank_length=8192,
        rank_work=1 << 25,
        # By subgroups an invocation keeps less, so that half as many items again find room; but not of keys of two words.
        tile=tile // 2 * 3 if key_words == 1 else tile,
        tiles=128,
        sort_group=8,
        sort_groups=16,
        sample_k=1 << 12,
        sample_length=1 << 22,
        sample_work=1 << 36,
        delegate_loads=16,
        delegate_length=1 << 20,
        delegate_share=1 << 15,
        delegate_sequences=16,
        delegate_k=4 * kth,
        delegate_workgroup=min(1024, widest),
        delegate_own=1,
        delegates=1 << 18,
        delegates_lean=1 << 12,
        delegates_a_rank=128,
        delegate_seconds=0,
        delegate_columns=min(4096, power_of_two_below(limits.max_compute_workgroup_storage_size // (2 * pair))),
        gather_workgroups=128,
        gather_collects=4096,
        kth_workgroup=kth,
        kth_least=min(512, kth),
        groups_a_rank=2,
        reduce_workgroup=workgroup,
        reduce_large=tree,
        reduce_loads=8,
        few_loads=16,
        few_workgroup=min(512, widest),
        columns_rows=1 << 30,
        delegate_reach=1.4,
        delegate_fewest=256,
        columns_unroll=8,
        columns_own=1,
        columns_loads=32,
        columns_items=4,
        columns_line=512,
        columns_turned=4,
    )


def columns_at_once(length: int, sequences: int, k: int, tuning: Tuning) -> bool:
    """Are columns so few and short that SELECT, with several neighbours a workgroup, reads all at once and beats two dispatches?"""
    t = tuning
    team = t.large_workgroup // t.select_columns
    at_once = sequences * team <= t.short_invocations and length <= team * t.select_columns_loads
    return at_once and k <= t.select_columns_k and length >= 2 * k


def choose_algorithm(
    length: int, sequences: int, k: int, columns: bool, in_order: bool, loads: int, tuning: Tuning, *, one_axis: bool = True
) -> Algorithm:
    """The algorithm for ``sequences`` sequences of ``length`` items. The order of the rules is the order of preference.

    ``columns``: neighbouring sequences lie side by side in memory. ``in_order``: items are the input's own, not pairs that
    an earlier dispatch left. ``loads``: the most that cover a sequence; its length where there is an item a load. ``one_axis``:
    items lie along one axis. The figures behind the rules are in ``benchmarks/LOG.md``.
    """
    t = tuning
    along = in_order and one_axis
    if k == 1:
        return Algorithm.REDUCE
    if not in_order and length <= min(2048, t.rank_length) and sequences * length <= 32768 and not t.barrier_free:
        return Algorithm.RANK  # nothing waits for anything
    if along and not columns and k <= t.select_rows_k and 48 * k <= length <= min(t.select_rows_length, 1024 + 4 * sequences):
        return Algorithm.SELECT_ROWS
    if along and not columns and k <= t.networks_k and k < length <= t.networks_length:
        return Algorithm.NETWORKS
    lists = along and k <= t.lists_k and length >= 4 * k and k * length < t.lists_work
    if lists and sequences >= t.lists_sequences and length <= (t.lists_columns if columns else t.lists_length):
        return Algorithm.LISTS  # one dispatch, one read
    if lists and k <= t.lists_few_k and 64 < length <= t.lists_few_length:
        return Algorithm.LISTS
    # From here on counting, whose work grows with the square of k, takes longer than histograms.
    smallest = t.kth_many if sequences > t.workgroups // 20 else t.kth_few
    by_kth = in_order and not columns and (k >= smallest or length >= t.kth_length)
    # Sequences so few and long that a workgroup each would leave most of the machine idle; sooner where k is too large for that.
    # There must be delegates for twice the k.
    share = t.delegate_share * (1 if sequences <= t.delegate_sequences else 4)
    longest = length >= max(32 * k, share * sequences // (1 if k <= t.kth_k else 2))
    if by_kth and along and k <= t.delegate_k and longest and loads > 2 * power_of_two_above(k):
        return Algorithm.DELEGATES
    fits = length <= t.sort_capacity
    by_radix = fits and in_order and length >= t.radix_row_length
    # Where more than three quarters of the loads would be read again, a sort of everything in registers is as fast.
    spares = 3 * loads >= 4 * k or (not by_radix and loads > k and length > 4 * k)
    if by_kth and k <= t.kth_k and spares:
        return Algorithm.SELECT_KTH
    if columns and columns_at_once(length, sequences, k, t):
        return Algorithm.SELECT
    if columns and k <= 64 and length >= 16 * k:
        return Algorithm.DELEGATES
    most = t.select_k if columns else t.delegate_k
    if along and k <= most and length >= max(t.delegate_length, 256 * k) and sequences <= t.delegate_sequences:
        return Algorithm.DELEGATES
    sort = Algorithm.SORT_ROWS_RADIX if by_radix else Algorithm.SORT_ROWS
    if in_order and length > 256 and sequences * length > t.sort_items:
        sort = Algorithm.RADIX_SORT
    # From this share of a sequence on, counting takes longer than a sort.
    share = 8 if in_order and not columns and k >= 32 else 4
    if fits and (length <= 64 or share * k >= length or (by_radix and not columns and k > 64)):
        return sort
    if k <= t.select_k and length >= 2 * k:
        return Algorithm.SELECT
    if fits:
        return sort
    if 4 * k <= length:
        return Algorithm.RADIX_SELECT
    return Algorithm.RADIX_SORT
