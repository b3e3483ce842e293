"""Each word's place is the number of words that come before it."""

import re


def count_words(text):
    words = [word.lower() for word in re.findall(r"[^\W\d_]+", text)]
    return {word: words.count(word) for word in words}


def most_common(text, number):
    if number < 0:
        raise ValueError("there cannot be fewer than none")
    pairs = list(count_words(text).items())
    places = [None] * len(pairs)
    for word, count in pairs:
        before = sum(other > count or (other == count and name < word) for name, other in pairs)
        places[before] = (word, count)
    return places[:number]
