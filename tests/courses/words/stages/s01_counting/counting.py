"""Counting words, and ranking them."""


def count_words(text):
    """Return how often each word stands in a text.

    Example:
        >>> count_words("One, two; one")
        {'one': 2, 'two': 1}
    """
    raise NotImplementedError("count_words")


def most_common(text, number):
    """Return the most frequent words with their counts, at most so many; equals in the order of the alphabet.

    Raises:
        ValueError: number is negative.

    Example:
        >>> most_common("one two one", 1)
        [('one', 2)]
    """
    raise NotImplementedError("most_common")
