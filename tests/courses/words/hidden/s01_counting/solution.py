"""Counting words, and ranking them."""


def count_words(text):
    """Return how often each word stands in a text.

    Example:
        >>> count_words("One, two; one")
        {'one': 2, 'two': 1}
    """
    counts = {}
    for word in _words(text):
        counts[word] = counts.get(word, 0) + 1
    return counts


def most_common(text, number):
    """Return the most frequent words with their counts, at most so many; equals in the order of the alphabet.

    Raises:
        ValueError: number is negative.

    Example:
        >>> most_common("one two one", 1)
        [('one', 2)]
    """
    if number < 0:
        raise ValueError(f"number: {number}, expected 0 or more")
    counts = count_words(text)
    ranking = []
    while counts and len(ranking) < number:
        best = min(counts, key=lambda word: (-counts[word], word))
        ranking.append((best, counts.pop(best)))
    return ranking


def _words(text):
    return "".join(sign if sign.isalpha() else " " for sign in text.lower()).split()
