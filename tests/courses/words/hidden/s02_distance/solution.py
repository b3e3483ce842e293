"""How far one word is from another."""


def edit_distance(a, b):
    """Return the least number of letters to add, take away or change that makes a into b.

    Example:
        >>> edit_distance("tail", "sail")
        1
    """
    above = range(len(b) + 1)
    for row, letter in enumerate(a, 1):
        current = [row]
        for column, other in enumerate(b, 1):
            changed = above[column - 1] + (letter != other)
            current.append(min(changed, above[column] + 1, current[-1] + 1))
        above = current
    return above[-1]


def closest(word, words):
    """Return the first of the words with the least distance to a word.

    Raises:
        ValueError: there are no words.

    Example:
        >>> closest("hat", ["dog", "cat"])
        'cat'
    """
    if not words:
        raise ValueError("words: empty, expected at least one")
    return min(words, key=lambda other: edit_distance(word, other))
