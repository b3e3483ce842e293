"""Mistakes of first programs, with lists, dicts and texts, are found where they are made: by id, function and line."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from tests.diagnosis.engine import Call, causes

SUMS = """
def first(values):
    found, total = [], 0
    for each in values:
        total += each
        found.append(total)
    return found
"""
UNIQUE = """
def first(values):
    found = []
    for each in values:
        if each not in found:
            found.append(each)
    return found
"""
GROUPS = """
def first(words):
    found = {}
    for word in words:
        found.setdefault(len(word), []).append(word)
    return found
"""
LETTERS = """
def first(text):
    return [each.lower() for each in text if each.isalnum()]
"""
ENDS = """
def first(text):
    own = [each for each in text if each.isalnum()]
    return own[0] + own[-1] if own else ""
"""
FLAT = """
def first(nested):
    found = []
    for each in nested:
        if isinstance(each, list):
            found += first(each)
        else:
            found.append(each)
    return found
"""
ROTATED = """
def first(items, steps):
    return [items[(place - steps) % len(items)] for place in range(len(items))]
"""
BEST = """
def first(points, n):
    return sorted(points, key=lambda name: (-points[name], name))[:n]
"""
SETTINGS = """
def first(text):
    found = {}
    for line in text.splitlines():
        key, value = line.split("=")
        value = value.strip()
        found[key.strip()] = int(value) if value.isdigit() else value
    return found
"""
PARTS = """
def first(date):
    year, month = (int(each) for each in date.split("-"))
    return [year, month + 12 * year]
"""
LARGEST = """
def first(values):
    top = second = None
    for each in values:
        if top is None or each > top:
            second = top
            top = each
        elif each != top and (second is None or each > second):
            second = each
    return [top, second]
"""
SECOND = """
def first(values):
    own = sorted(set(values))
    return own[-2] if len(own) > 1 else None
"""
LEAP = """
def first(year, offset):
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return [year, offset + is_leap]
"""
NUMBERS: list[Any] = [[2, 5, -3, 4], [7, 1, 1], [3, 4, 9, 2, 8], []]
REPEATED: list[Any] = [[4, 2, 4, 3, 2], ["b", "a", "b"], [9, 9, 1, 5, 1, 9], [8, 3]]
WORDS: list[Any] = [["to", "be", "not"], ["a", "bb", "c", "dd", "e"], ["no", "x", "me"]]
NESTED: list[Any] = [[1, [2, [3, []]], 4], [[[5], 6], 7], [8, [9]]]
POINTS: list[Any] = [
    ({"Bo": 3, "Al": 3, "Cy": 5}, 2),
    ({"Di": 1, "Al": 4, "Bo": 2, "Cy": 2}, 3),
    ({"Ed": 2, "Al": 2}, 5),
]
TURNED: list[Any] = [([1, 2, 3, 4], 1), ([5, 6, 7], 2), ([8, 9, 1, 3, 4], 3)]
TEXTS: list[Any] = ["Ab, c", "x-Y 2!", "No; on."]
LINES: list[Any] = ["a = 3\nb = xy", "size=12\n name =  4x", "w = 7"]
CASES: list[tuple[str, str, list[Any]]] = [  # a right module, a wrong one with what is told at its line, and arguments
    (
        UNIQUE,
        """
        def first(values):
            seen = set()
            found = []
            for each in values:
                if each not in seen:  # never-filled
                    found.append(each)
            return found
        """,
        REPEATED,
    ),
    (UNIQUE, "def first(values):\n    return sorted(set(values))  # order-lost\n", REPEATED),
    (
        UNIQUE,
        """
        def first(values):
            found = []
            for each in values:
                if not found or each != found[-1]:  # membership-missing
                    found.append(each)
            return found
        """,
        REPEATED,
    ),
    (
        GROUPS,
        """
        def first(words):
            found = dict.fromkeys([len(word) for word in words], [])  # entries-shared
            for word in words:
                found[len(word)].append(word)
            return found
        """,
        WORDS,
    ),
    (
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                found[len(word)] += [word]  # default-missing
            return found
        """,
        WORDS,
    ),
    (
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                found[len(word)] = found.get(len(word)) + [word]  # default-missing
            return found
        """,
        WORDS,
    ),
    (
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                found[len(word)] = found.get(len(word), 0) + 1  # counted-for-collected
            return found
        """,
        WORDS,
    ),
    (
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                if len(word) in found:
                    found[len(word)].append(word)
                else:
                    found[len(word)] = []  # first-entry-lost
            return found
        """,
        WORDS,
    ),
    (
        FLAT,
        """
        def first(nested):
            if not nested:
                return []
            if isinstance(nested[0], list):
                return first(nested[0]) + first(nested[1:])
            return nested[0] + first(nested[1:])  # element-for-list
        """,
        NESTED,
    ),
    (
        FLAT,
        """
        def first(nested):
            found = []
            for each in nested:
                if isinstance(each, list):
                    first(each)  # result-dropped
                else:
                    found.append(each)
            return found
        """,
        NESTED,
    ),
    (
        FLAT,
        """
        def first(nested):
            found = []
            for each in nested:
                if isinstance(each, list):
                    found += each  # own-step-missing
                else:
                    found.append(each)
            return found
        """,
        NESTED,
    ),
    (
        FLAT,
        """
        def first(nested):
            found, todo = [], list(nested)
            while todo:
                each = todo.pop()
                if isinstance(each, list):
                    todo.extend(each)
                else:
                    found.append(each)  # end-confused
            return found
        """,
        NESTED,
    ),
    (
        SUMS,
        """
        def first(values):
            found = []
            for place in range(len(values)):
                found.append(found[place - 1] + values[place])  # entry-of-nothing
            return found
        """,
        NUMBERS,
    ),
    (
        ENDS,
        """
        def first(text):
            own = [each for each in text if each.isalnum()]
            return own[0] + own[-1]  # case-missing
        """,
        ["?!", "Ab", "", "c d e"],
    ),
    (
        "def first(text):\n    return [each.lower() for each in text] == [each.lower() for each in text][::-1]\n",
        """
        def first(text):
            own = [each.lower() for each in text]
            return own == reversed(own)  # iterator-kept
        """,
        ["Anna", "otto", "ab", "xyx"],
    ),
    (LETTERS, "def first(text):\n    return [each.lower() for each in text]  # filter-missing\n", TEXTS),
    (
        LETTERS,
        "def first(text):\n    return [each.lower for each in text if each.isalnum()]  # call-missing-on-name\n",
        TEXTS,
    ),
    (
        ROTATED,
        """
        def first(items, steps):
            found = [None] * len(items)
            for place in range(len(items)):
                found[place + steps] = items[place]  # index-not-wrapped
            return found
        """,
        TURNED,
    ),
    (
        ROTATED,
        """
        def first(items, steps):
            steps = 1  # argument-overwritten
            return items[-steps:] + items[:-steps]
        """,
        [*TURNED, ([4, 5, 6], 5)],
    ),
    (
        "def first(text, shift):\n    return [(ord(each) - 97 + shift) % 26 + 97 for each in text]\n",
        """
        def first(text, shift):
            found = []
            for each in text:
                found.append(ord(each) - 97 + shift + 97)  # remainder-missing
            return found or [26]
        """,
        [("xyz", 3), ("abz", 1), ("zebra", 5)],
    ),
    (
        "def first(text):\n    return ''.join(each.upper() if each.isalpha() else each for each in text)\n",
        """
        def first(text):
            found = ""
            for each in text:
                if each.isalpha():  # branch-missing
                    found += each.upper()
            return found
        """,
        TEXTS,
    ),
    (
        LARGEST,
        """
        def first(values):
            top = second = None
            for each in values:
                if top is None or each > top:
                    top = each  # previous-not-kept
                elif each != top and (second is None or each > second):
                    second = each
            return [top, second]
        """,
        [[3, 5, 1], [2, 7, 4, 9], [1, 2, 3], [9, 3]],
    ),
    (
        BEST,
        """
        def first(points, n):
            return sorted(points, key=lambda name: (points[name], name), reverse=True)[:n]  # key-missing
        """,
        POINTS,
    ),
    (
        BEST,
        """
        def first(points, n):
            names = list(points).sort(key=lambda name: (-points[name], name))  # result-of-nothing
            return names[:n]
        """,
        POINTS,
    ),
    (
        BEST,
        """
        def first(points, n):
            names, found = sorted(points, key=lambda name: (-points[name], name)), []
            for place in range(n):  # range-wrong
                found.append(names[place])
            return found
        """,
        POINTS,
    ),
    (
        BEST,
        """
        def first(points, n):
            return sorted(points.items(), key=lambda pair: (-pair[1], pair[0]))[:n]  # conversion-missing
        """,
        POINTS,
    ),
    (
        SETTINGS,
        """
        def first(text):
            found = {}
            for line in text.splitlines():
                key, value = line.split("=")
                found[key.strip()] = value.strip()  # conversion-missing
            return found
        """,
        LINES,
    ),
    (
        SETTINGS,
        """
        def first(text):
            found = {}
            for line in text.splitlines():
                key, value = line.split("=")
                found[key.strip()] = int(value.strip())  # conversion-missing
            return found
        """,
        LINES,
    ),
    (
        PARTS,
        """
        def first(date):
            year, month = date.split("-")  # conversion-missing
            return [year, month + 12 * year]
        """,
        ["2024-03", "1999-12", "0007-01"],
    ),
    (
        LEAP,
        """
        def first(year, offset):
            is_leap = year % 4 == 0 and year % 100 != 0 and year % 400 == 0  # boolean-confused
            return [year, offset + is_leap]
        """,
        [(2024, 5), (2000, 3), (1996, 8), (1900, 2)],
    ),
    (
        "def first(values):\n    own = list(values)\n    return own == own[::-1]\n",
        """
        def first(values):
            own = list(values)
            return own is own[::-1]  # comparison-wrong
        """,
        [[1, 2, 1], [3, 3], [1, 2], [4, 5, 6]],
    ),
    (
        FLAT,
        """
        def first(nested):
            found = []
            for each in nested:
                found.extend(first(each))  # case-missing
            return found
        """,
        NESTED,
    ),
    (
        "def first(text):\n    return ''.join('bca'['abc'.index(each)] if each in 'abc' else each for each in text)\n",
        """
        def first(text):
            own, letters = "", "abc"
            for each in text:
                own += "bca"[letters.index(each)]  # branch-missing
            return own
        """,
        ["abba", "ax-b", "!c"],
    ),
    (
        BEST,
        """
        def first(points, n):
            points.sort(key=lambda name: (-points[name], name))  # result-dropped
            return points[:n]
        """,
        POINTS,
    ),
    (
        "def first(games):\n    return sorted({name for name, _ in games}, key=lambda name: (-len(name), name))\n",
        """
        def first(games):
            names = [name for name, points in games]  # conversion-missing
            names.sort(key=lambda name: (-len(name), name))
            return names
        """,
        [[("Bo", 1), ("Ann", 2), ("Bo", 3)], [("Cy", 1)], [("Di", 2), ("Al", 1), ("Di", 1), ("Eve", 4)]],
    ),
    (
        "def first(values):\n    return [a + b for a, b in zip(values, values[::-1])][: (len(values) + 1) // 2]\n",
        """
        def first(values):
            left, right, found = 0, len(values) - 1, []
            while left <= right:
                found.append(values[left] + values[right])
                left += 1  # line-likewise
            return found
        """,
        [[1, 2, 3, 5], [4, 6, 9], [7, 1, 8, 2, 8, 1], [5]],
    ),
    (
        "def first(values, n):\n    return [(each + 4) % n + 10 for each in values]\n",
        "def first(values, n):\n    return [(each + 4 + 10) % n for each in values]  # parentheses\n",
        [([1, 2, 8], 5), ([3, 9], 7), ([6, 6, 4, 1], 3)],
    ),
    (
        SETTINGS,
        """
        def first(text):
            found = {}
            for line in text.splitlines():
                key, value = [each.strip() for each in line.split("=")]
                if value.isdigit():  # branch-missing
                    found[key] = int(value)
            return found
        """,
        LINES,
    ),
    (
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                if len(word) in found:
                    found[len(word)] = found[len(word)] + [word]
                else:
                    found[len(word)] = word  # element-for-list
            return found
        """,
        WORDS,
    ),
    (
        SECOND,
        """
        def first(values):
            own = sorted(set(values))
            if len(own) < 2:
                return "None"  # text-wrong
            return own[-2]
        """,
        [[], [7], [3, 5], [9, 1, 9]],
    ),
    (
        SECOND,
        """
        def first(values):
            own = list(set(values))
            if len(values) < 2:  # name-confused
                return None
            own.sort()
            return own[-2]
        """,
        [[7, 7], [7], [3, 5], [9, 1, 9]],
    ),
    (
        ROTATED,
        """
        def first(items, steps):
            last = items[-steps:]
            return items[:-steps] + last  # operands-swapped
        """,
        TURNED,
    ),
    (
        UNIQUE,
        """
        def first(values):
            found = []
            for place in range(len(values)):
                if values[place] not in found:
                    found.append(place)  # entry-for-index
            return found
        """,
        REPEATED,
    ),
    (
        UNIQUE,
        """
        def first(values):
            found = []
            for place in len(values):  # element-converted
                if values[place] not in found:
                    found.append(values[place])
            return found
        """,
        REPEATED,
    ),
    (
        UNIQUE,
        """
        def first(values):
            found = []
            for each in values:
                if each not in found:
                    found.add(each)  # function-confused
            return found
        """,
        REPEATED,
    ),
    (
        SUMS,
        """
        def first(values):
            found = []
            total = []  # start-wrong
            for each in values:
                total += each
                found.append(total)
            return found
        """,
        NUMBERS,
    ),
    (
        LARGEST,
        """
        def first(values):
            top = second = None
            for each in values:
                if top is None or each > top:
                    second = top
                    top = each
                elif each != top and each > second:  # comparison-of-none
                    second = each
            return [top, second]
        """,
        [[3, 5, 1], [7, 2, 4, 9], [9, 3], [4, 4, 2]],
    ),
    (
        "def first(text):\n    return ''.join(each.lower() for each in text if each.isalnum())\n",
        """
        def first(text):
            own = ""
            for each in text:
                if each.isalnum():
                    own.append(each.lower())  # text-appended
            return own
        """,
        TEXTS,
    ),
    (
        "def first(text):\n    return ''.join(chr(ord(each) + 1) for each in text)\n",
        """
        def first(text):
            own = ""
            for each in text:
                own += ord(each) + 1  # element-converted
            return own
        """,
        TEXTS,
    ),
    (
        LETTERS,
        """
        def first(text):
            return [each.lower() for each in text if each.isalphanum()]  # attribute-misspelled
        """,
        TEXTS,
    ),
    (
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                key = [len(word)]  # list-for-element
                found.setdefault(key, []).append(word)
            return found
        """,
        WORDS,
    ),
    (
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                size = len(word)
                if word in found:  # name-confused
                    found[size].append(word)
                else:
                    found[size] = [word]
            return found
        """,
        WORDS,
    ),
    (
        SETTINGS,
        """
        def first(text):
            found = {}
            for line in text.splitlines():
                key, value = line.split("=")
                key, value = key.strip(), value.strip()
                if value.isdigit():
                    int(value)  # result-dropped
                found[key] = value
            return found
        """,
        LINES,
    ),
    (
        PARTS,
        """
        def first(date):
            year, month = [int(each) for each in date.split("/")]  # text-wrong
            return [year, month + 12 * year]
        """,
        ["2024-03", "1999-12", "0007-01"],
    ),
    (
        "def first(values, one):\n    return values.index(one) if one in values else -1\n",
        """
        def first(values, one):
            for place in range(len(values)):
                if values[place] == one:
                    return place
            return None  # answer-wrong
        """,
        [([3, 5], 5), ([3, 5], 4), ([], 1), ([7], 7)],
    ),
    (
        "def first(pairs):\n    return [f'{name}{size + 1}' for name, size in pairs]\n",
        "def first(pairs):\n    return [f'{name}{size + 1}' for size, name in pairs]  # targets-swapped\n",
        [[("a", 1), ("b", 2)], [("c", 5)], [("d", 8), ("e", 3)]],
    ),
    (
        FLAT,
        """
        def first(nested):
            found = []
            for each in nested:
                if isinstance(each, list):
                    found += first(each)
                found.append(each)  # branch-separate
            return found
        """,
        NESTED,
    ),
    (
        BEST,
        """
        def first(points, n):
            return sorted(points, key=lambda name: (-points[name], name))[-n:]  # bounds-wrong
        """,
        POINTS,
    ),
]


def calls_of(arguments: list[Any]) -> list[Call]:
    return [("first", each if isinstance(each, tuple) else (each,)) for each in arguments]


def marked(wrong: str) -> tuple[str, int]:
    """Return what a comment says of one line of a module, and that line's number."""
    lines = enumerate(textwrap.dedent(wrong).strip().split("\n"), 1)
    ((id, number),) = ((line.partition("  # ")[2], number) for number, line in lines if "  # " in line)
    return id, number


@pytest.mark.parametrize(
    ("right", "wrong", "arguments"), CASES, ids=[f"{marked(case[1])[0]}-{n}" for n, case in enumerate(CASES)]
)
def test_a_mistake_with_containers_is_named_by_its_id_and_line(right: str, wrong: str, arguments: list[Any]) -> None:
    id, line = marked(wrong)
    found = causes(right, wrong, [calls_of(arguments)])
    assert [(each.id, each.function, each.line) for each in found] == [(id, "first", line)]


def test_a_condition_that_no_edit_mends_is_named_with_the_call_in_which_it_decides_wrongly() -> None:
    wrong = """
    def first(year, offset):
        is_leap = year % 4 == 0
        return [year, offset + 3 * is_leap]
    """
    right = """
    def first(year, offset):
        return [year, offset + 3 * (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))]
    """
    calls = [(1900, 2), (2024, 5), (1999, 1), (1800, 7), (2000, 4)]
    (cause,) = causes(right, wrong, [calls_of(list(calls))])
    assert (cause.id, cause.function, cause.line) == ("condition-wrong", "first", 2)
    assert cause.text.endswith("`year % 4 == 0` is true where it has to be false: in first(1900, 2).")


def test_no_condition_is_named_where_two_may_decide_wrongly() -> None:
    wrong = """
    def first(letters):
        found = []
        for each in letters:
            if each != "a":
                if each != "b":
                    found.append(each)
        return found
    """
    right = "def first(letters):\n    return [each for each in letters if each not in ('a', 'b', 'q')]\n"
    calls = [(["q", "c", "a"],), (["b", "x", "q"],), (["q", "y"],), (["z", "b"],)]
    assert causes(right, wrong, [calls_of(list(calls))]) == []
