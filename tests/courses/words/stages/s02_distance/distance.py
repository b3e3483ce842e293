"""How far one word is from another."""


def edit_distance(a, b):
    """Return the least number of letters to add, take away or change that makes a into b.

    Example:
        >>> edit_distance("tail", "sail")
        1
    """
    raise NotImplementedError("edit_distance")


def closest(word, words):
    """Return the first of the words with the least distance to a word.

    Raises:
        ValueError: there are no words.

    Example:
        >>> closest("hat", ["dog", "cat"])
        'cat'
    """
    raise NotImplementedError("closest")
