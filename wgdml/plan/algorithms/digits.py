"""The digits of a pair."""

from __future__ import annotations

from collections.abc import Iterator


def digits_of(key_bits: int, index_bits: int, digit: int, key_words: int) -> Iterator[tuple[int, int, int]]:
    """(word, lowest bit, bits) of each digit of a pair, most significant first.

    Keys sit at the top of their words.
    """
    for word in range(key_words):
        bits = min(32, key_bits - 32 * word)
        yield from _word(word, 32 - bits, bits, digit)
    yield from _word(key_words, 0, index_bits, digit)


def _word(word: int, lowest: int, bits: int, digit: int) -> Iterator[tuple[int, int, int]]:
    high = lowest + bits
    while high > lowest:
        take = min(digit, high - lowest)
        high -= take
        yield word, high, take
