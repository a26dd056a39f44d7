"""The digits of a pair."""

from __future__ import annotations

from collections.abc import Iterator


def digits_of(key_bits: int, index_bits: int, digit: int, key_words: int) -> Iterator[tuple[int, int, int]]:
    """(word, lowest bit, bits) of each digit of a pair, most significant first.

    Keys sit at the top of their words.
    """
    for word in range(key_words + 1):
        bits = index_bits if word == key_words else min(32, key_bits - 32 * word)
        low = 0 if word == key_words else 32 - bits
        for high in range(low + bits, low, -digit):
            take = min(digit, high - low)
            yield word, high - take, take
