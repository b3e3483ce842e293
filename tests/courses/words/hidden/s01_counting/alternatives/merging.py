"""Ranked halves are merged."""

from functools import reduce


def count_words(text):
    spaced = "".join(sign if sign.isalpha() else "\n" for sign in text.lower())
    return reduce(lambda counts, word: counts | {word: counts.get(word, 0) + 1}, spaced.split(), {})


def most_common(text, number):
    if not number >= 0:
        raise ValueError("number")
    return _ranked(list(count_words(text).items()))[:number]


def _ranked(pairs):
    if len(pairs) < 2:
        return pairs
    left, right = _ranked(pairs[::2]), _ranked(pairs[1::2])
    merged = []
    while left and right:
        first = left if (-left[0][1], left[0][0]) < (-right[0][1], right[0][0]) else right
        merged.append(first.pop(0))
    return merged + left + right
