"""Arithmetic that several algorithms share."""

from __future__ import annotations

from ...selection import ElementFormat
from ..machine import Machine, ceil_div, power_of_two_above, power_of_two_below
from ..policy import OccupancyPolicy
from ..problem import Problem
from ..regions import View


def pair_bytes(key_words: int) -> int:
    """Bytes of a pair in workgroup memory, unless packed: three words are padded to four."""
    return 8 * key_words


def held_bytes(problem: Problem) -> int:
    """Bytes of a pair that workgroup memory holds as ``lib/order/held.wgsl`` has it."""
    return 4 if problem.packed else pair_bytes(problem.key_words)


def workgroup_with(machine: Machine, bytes_each: int, besides: int) -> int:
    """The largest workgroup with so much memory for each invocation, and so much besides."""
    most = (machine.max_compute_workgroup_storage_size - besides) // bytes_each
    return min(1024, machine.widest_workgroup, power_of_two_below(most))


def network(items: int) -> dict[str, int]:
    """The constants of ``lib/workgroup/register_sort.wgsl`` for so many pairs of an invocation."""
    return {"ITEMS_PER_THREAD": items, "ITEM_BITS": items.bit_length() - 1, "HALF": items // 2}


def placed_words(problem: Problem, places: int, pairs: int) -> dict[str, int]:
    """The constants of a sort in registers of so many ``pairs``: a word each where that tells them.

    A rank and two of so many ``places`` share a word (``lib/workgroup/placed_sort.wgsl``), and
    few pairs of 64 bits are alike in the first bits, which a word has.
    """
    bits = places.bit_length()
    words = problem.format.bytes == 4 or (problem.format.bytes == 8 and problem.along and pairs <= 512)
    fit = words and problem.one_axis and 2 * bits + pairs.bit_length() <= 33
    if not fit:
        return {"PLACED": 0}
    return {"PLACED": 1, "PLACE_BITS": bits, "RANK_BITS": pairs.bit_length() - 1, "HELD_WORDS": 1}


def teams_of_workgroup(machine: Machine, team: int, bytes_each: int, most: int) -> int:
    """Teams of a subgroup or so that share a workgroup, each with so much memory; 1 of larger ones.

    Processors hold only so many workgroups at once: those of single subgroups fill half of one.
    """
    room = machine.max_compute_workgroup_storage_size // bytes_each
    return power_of_two_below(min(most, machine.workgroup // team, room)) if team < 64 else 1


def parts_for_loads(machine: Machine, occupancy: OccupancyPolicy, loads: int, sequences: int) -> int:
    """As ``Step.parts_of_rows``, of so many loads."""
    return max(1, min(occupancy.workgroups // sequences, loads // (machine.workgroup * 4)))


#: Columns that a workgroup reads side by side, at least: a sector of memory.
NEIGHBOURS = 8


def class_above(n: int, steps: int) -> int:
    """The least of few sizes from n on: ``steps`` of them from one power of two to the next."""
    step = max(1, power_of_two_above(n) // (2 * steps))
    return ceil_div(n, step) * step


def class_below(n: int, steps: int) -> int:
    """The largest of those sizes up to n."""
    step = max(1, power_of_two_below(max(n, 1)) // steps)
    return max(n, 0) // step * step


#: Register tiles up to this are their own classes: a load too many costs most where loads are few.
_EXACT = 16


def class_tile(source: View, team: int, at_a_time: int, steps: int) -> dict[str, int]:
    """The constants of ``lib/thread/row_keys.wgsl`` for a team of so many invocations.

    LOADS is a multiple of ``at_a_time``, in few sizes. Either all loads are whole, or those of the
    size below, but for one where rows are skewed.
    """
    turns = ceil_div(source.most_loads, team * at_a_time)
    size = turns if turns <= _EXACT else class_above(turns, steps)
    below = next((n for n in range(size - 1, 0, -1) if n <= _EXACT or class_above(n, steps) == n), 0)
    loads, skewed = size * at_a_time, int(source.skewed)
    most = source.length // (team * source.per_load)
    if source.selection.ragged:
        most = 0
    whole = next(n for n in (loads, max(0, below * at_a_time - skewed), 0) if n <= most)
    return {"LOADS": loads, "WHOLE": whole, "SKEWED": skewed}


_LIST_SIZES = 4  # of lists of words, from one power of two to the next
LONGEST_LIST = 31  # pairs, and one more


def list_size(k: int) -> int:
    """Pairs of the list of words that serves k: one of few, each of which is a kernel."""
    return min(class_above(k, _LIST_SIZES), LONGEST_LIST)


def word_lists(k: int, batch: int) -> dict[str, int]:
    """The constants of ``lib/thread/word_list.wgsl`` for lists of k + 1 words."""
    steps = k.bit_length()
    return {
        "K": k,
        "KEEP": k + 1,
        "STEPS": steps,
        "HALF": 1 << (steps - 1),
        "PAD": (1 << steps) - k - 1,
        "BATCH": batch,
        "BATCH_BITS": batch.bit_length() - 1,
    }


def bins_of(digit: int, workgroup: int) -> dict[str, int]:
    """The constants of ``lib/workgroup/bins.wgsl``.

    A digit has a value for each invocation, or more.
    """
    return {"KTH_DIGIT": digit, "KTH_EACH": (1 << digit) // workgroup}


_CARRIED = 16  # pairs of a list that an invocation sorts, at most


def sorted_at_once(problem: Problem, memory: int, workgroup: int, digit: int) -> int:
    """The most pairs that ``lib/workgroup/sort_list.wgsl`` sorts with so much memory."""
    return min(_CARRIED * workgroup, (memory - (4 << digit) - 16 * workgroup - 1024) // held_bytes(problem))


#: Bytes of ``lib/workgroup/kth.wgsl`` with 2048 counters, besides two words an invocation.
KTH_BYTES = 8448


def threshold_workgroup(machine: Machine, key_words: int) -> int:
    """The most invocations that look for a threshold together, with three words and a pair each."""
    return workgroup_with(machine, 12 + pair_bytes(key_words), KTH_BYTES)


def digits_of(form: ElementFormat, index_bits: int, digit: int) -> list[tuple[int, int, int]]:
    """(word, lowest bit, bits) of each digit of a pair, most significant first.

    Keys sit at the top of their words.
    """
    key_bits = min(32, 8 * form.bytes)
    words = [(word, 32 - key_bits, 32) for word in range(form.key_words)] + [(form.key_words, 0, index_bits)]
    return [(word, max(low, high - digit), min(digit, high - low)) for word, low, end in words for high in range(end, low, -digit)]
