"""Each word is put where it belongs, one after the other."""


def count_words(text):
    counts, word = {}, ""
    for sign in text + " ":
        if sign.isalpha():
            word += sign.lower()
        elif word:
            counts[word] = counts[word] + 1 if word in counts else 1
            word = ""
    return counts


def most_common(text, number):
    if number < 0:
        raise ValueError("negative")
    ranking = []
    for word, count in count_words(text).items():
        place = 0
        while place < len(ranking) and (-ranking[place][1], ranking[place][0]) < (-count, word):
            place += 1
        ranking.insert(place, (word, count))
    return ranking[:number]
