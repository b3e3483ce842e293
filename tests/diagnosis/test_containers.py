"""Mistakes of first programs, with lists, dicts and texts, are found where they are made: by id, function and line."""

from __future__ import annotations

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
CASES: list[tuple[str, str, str, list[Any], int]] = [
    (
        "never-filled",
        UNIQUE,
        """
        def first(values):
            seen = set()
            found = []
            for each in values:
                if each not in seen:
                    found.append(each)
            return found
        """,
        REPEATED,
        5,
    ),
    ("order-lost", UNIQUE, "def first(values):\n    return sorted(set(values))\n", REPEATED, 2),
    (
        "membership-missing",
        UNIQUE,
        """
        def first(values):
            found = []
            for each in values:
                if not found or each != found[-1]:
                    found.append(each)
            return found
        """,
        REPEATED,
        4,
    ),
    (
        "entries-shared",
        GROUPS,
        """
        def first(words):
            found = dict.fromkeys([len(word) for word in words], [])
            for word in words:
                found[len(word)].append(word)
            return found
        """,
        WORDS,
        2,
    ),
    (
        "default-missing",
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                found[len(word)] += [word]
            return found
        """,
        WORDS,
        4,
    ),
    (
        "default-missing",
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                found[len(word)] = found.get(len(word)) + [word]
            return found
        """,
        WORDS,
        4,
    ),
    (
        "counted-for-collected",
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                found[len(word)] = found.get(len(word), 0) + 1
            return found
        """,
        WORDS,
        4,
    ),
    (
        "first-entry-lost",
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                if len(word) in found:
                    found[len(word)].append(word)
                else:
                    found[len(word)] = []
            return found
        """,
        WORDS,
        7,
    ),
    (
        "element-for-list",
        FLAT,
        """
        def first(nested):
            if not nested:
                return []
            if isinstance(nested[0], list):
                return first(nested[0]) + first(nested[1:])
            return nested[0] + first(nested[1:])
        """,
        NESTED,
        6,
    ),
    (
        "result-dropped",
        FLAT,
        """
        def first(nested):
            found = []
            for each in nested:
                if isinstance(each, list):
                    first(each)
                else:
                    found.append(each)
            return found
        """,
        NESTED,
        5,
    ),
    (
        "own-step-missing",
        FLAT,
        """
        def first(nested):
            found = []
            for each in nested:
                if isinstance(each, list):
                    found += each
                else:
                    found.append(each)
            return found
        """,
        NESTED,
        5,
    ),
    (
        "end-confused",
        FLAT,
        """
        def first(nested):
            found, todo = [], list(nested)
            while todo:
                each = todo.pop()
                if isinstance(each, list):
                    todo.extend(each)
                else:
                    found.append(each)
            return found
        """,
        NESTED,
        8,
    ),
    (
        "entry-of-nothing",
        SUMS,
        """
        def first(values):
            found = []
            for place in range(len(values)):
                found.append(found[place - 1] + values[place])
            return found
        """,
        NUMBERS,
        4,
    ),
    (
        "case-missing",
        ENDS,
        """
        def first(text):
            own = [each for each in text if each.isalnum()]
            return own[0] + own[-1]
        """,
        ["?!", "Ab", "", "c d e"],
        3,
    ),
    (
        "iterator-kept",
        "def first(text):\n    return [each.lower() for each in text] == [each.lower() for each in text][::-1]\n",
        """
        def first(text):
            own = [each.lower() for each in text]
            return own == reversed(own)
        """,
        ["Anna", "otto", "ab", "xyx"],
        3,
    ),
    (
        "filter-missing",
        LETTERS,
        "def first(text):\n    return [each.lower() for each in text]\n",
        TEXTS,
        2,
    ),
    (
        "call-missing-on-name",
        LETTERS,
        "def first(text):\n    return [each.lower for each in text if each.isalnum()]\n",
        TEXTS,
        2,
    ),
    (
        "index-not-wrapped",
        ROTATED,
        """
        def first(items, steps):
            found = [None] * len(items)
            for place in range(len(items)):
                found[place + steps] = items[place]
            return found
        """,
        TURNED,
        4,
    ),
    (
        "argument-overwritten",
        ROTATED,
        """
        def first(items, steps):
            steps = 1
            return items[-steps:] + items[:-steps]
        """,
        [*TURNED, ([4, 5, 6], 5)],
        2,
    ),
    (
        "remainder-missing",
        "def first(text, shift):\n    return [(ord(each) - 97 + shift) % 26 + 97 for each in text]\n",
        """
        def first(text, shift):
            found = []
            for each in text:
                found.append(ord(each) - 97 + shift + 97)
            return found or [26]
        """,
        [("xyz", 3), ("abz", 1), ("zebra", 5)],
        4,
    ),
    (
        "branch-missing",
        "def first(text):\n    return ''.join(each.upper() if each.isalpha() else each for each in text)\n",
        """
        def first(text):
            found = ""
            for each in text:
                if each.isalpha():
                    found += each.upper()
            return found
        """,
        TEXTS,
        4,
    ),
    (
        "previous-not-kept",
        LARGEST,
        """
        def first(values):
            top = second = None
            for each in values:
                if top is None or each > top:
                    top = each
                elif each != top and (second is None or each > second):
                    second = each
            return [top, second]
        """,
        [[3, 5, 1], [2, 7, 4, 9], [1, 2, 3], [9, 3]],
        5,
    ),
    (
        "key-missing",
        BEST,
        "def first(points, n):\n    return sorted(points, key=lambda name: (points[name], name), reverse=True)[:n]\n",
        POINTS,
        2,
    ),
    (
        "result-of-nothing",
        BEST,
        """
        def first(points, n):
            names = list(points).sort(key=lambda name: (-points[name], name))
            return names[:n]
        """,
        POINTS,
        2,
    ),
    (
        "range-wrong",
        BEST,
        """
        def first(points, n):
            names, found = sorted(points, key=lambda name: (-points[name], name)), []
            for place in range(n):
                found.append(names[place])
            return found
        """,
        POINTS,
        3,
    ),
    (
        "conversion-missing",
        BEST,
        """
        def first(points, n):
            return sorted(points.items(), key=lambda pair: (-pair[1], pair[0]))[:n]
        """,
        POINTS,
        2,
    ),
    (
        "conversion-missing",
        SETTINGS,
        """
        def first(text):
            found = {}
            for line in text.splitlines():
                key, value = line.split("=")
                found[key.strip()] = value.strip()
            return found
        """,
        LINES,
        5,
    ),
    (
        "conversion-missing",
        SETTINGS,
        """
        def first(text):
            found = {}
            for line in text.splitlines():
                key, value = line.split("=")
                found[key.strip()] = int(value.strip())
            return found
        """,
        LINES,
        5,
    ),
    (
        "conversion-missing",
        PARTS,
        """
        def first(date):
            year, month = date.split("-")
            return [year, month + 12 * year]
        """,
        ["2024-03", "1999-12", "0007-01"],
        2,
    ),
    (
        "boolean-confused",
        LEAP,
        """
        def first(year, offset):
            is_leap = year % 4 == 0 and year % 100 != 0 and year % 400 == 0
            return [year, offset + is_leap]
        """,
        [(2024, 5), (2000, 3), (1996, 8), (1900, 2)],
        2,
    ),
    (
        "comparison-wrong",
        "def first(values):\n    own = list(values)\n    return own == own[::-1]\n",
        """
        def first(values):
            own = list(values)
            return own is own[::-1]
        """,
        [[1, 2, 1], [3, 3], [1, 2], [4, 5, 6]],
        3,
    ),
    (
        "case-missing",
        FLAT,
        """
        def first(nested):
            found = []
            for each in nested:
                found.extend(first(each))
            return found
        """,
        NESTED,
        4,
    ),
    (
        "branch-missing",
        "def first(text):\n    return ''.join('bca'['abc'.index(each)] if each in 'abc' else each for each in text)\n",
        """
        def first(text):
            own, letters = "", "abc"
            for each in text:
                own += "bca"[letters.index(each)]
            return own
        """,
        ["abba", "ax-b", "!c"],
        4,
    ),
    (
        "result-dropped",
        BEST,
        """
        def first(points, n):
            points.sort(key=lambda name: (-points[name], name))
            return points[:n]
        """,
        POINTS,
        2,
    ),
    (
        "conversion-missing",
        "def first(games):\n    return sorted({name for name, _ in games}, key=lambda name: (-len(name), name))\n",
        """
        def first(games):
            names = [name for name, points in games]
            names.sort(key=lambda name: (-len(name), name))
            return names
        """,
        [[("Bo", 1), ("Ann", 2), ("Bo", 3)], [("Cy", 1)], [("Di", 2), ("Al", 1), ("Di", 1), ("Eve", 4)]],
        2,
    ),
    (
        "line-likewise",
        "def first(values):\n    return [a + b for a, b in zip(values, values[::-1])][: (len(values) + 1) // 2]\n",
        """
        def first(values):
            left, right, found = 0, len(values) - 1, []
            while left <= right:
                found.append(values[left] + values[right])
                left += 1
            return found
        """,
        [[1, 2, 3, 5], [4, 6, 9], [7, 1, 8, 2, 8, 1], [5]],
        5,
    ),
    (
        "parentheses",
        "def first(values, n):\n    return [(each + 4) % n + 10 for each in values]\n",
        "def first(values, n):\n    return [(each + 4 + 10) % n for each in values]\n",
        [([1, 2, 8], 5), ([3, 9], 7), ([6, 6, 4, 1], 3)],
        2,
    ),
    (
        "branch-missing",
        SETTINGS,
        """
        def first(text):
            found = {}
            for line in text.splitlines():
                key, value = [each.strip() for each in line.split("=")]
                if value.isdigit():
                    found[key] = int(value)
            return found
        """,
        LINES,
        5,
    ),
    (
        "element-for-list",
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                if len(word) in found:
                    found[len(word)] = found[len(word)] + [word]
                else:
                    found[len(word)] = word
            return found
        """,
        WORDS,
        7,
    ),
    (
        "text-wrong",
        SECOND,
        """
        def first(values):
            own = sorted(set(values))
            if len(own) < 2:
                return "None"
            return own[-2]
        """,
        [[], [7], [3, 5], [9, 1, 9]],
        4,
    ),
    (
        "name-confused",
        SECOND,
        """
        def first(values):
            own = list(set(values))
            if len(values) < 2:
                return None
            own.sort()
            return own[-2]
        """,
        [[7, 7], [7], [3, 5], [9, 1, 9]],
        3,
    ),
    (
        "operands-swapped",
        ROTATED,
        """
        def first(items, steps):
            last = items[-steps:]
            return items[:-steps] + last
        """,
        TURNED,
        3,
    ),
    (
        "entry-for-index",
        UNIQUE,
        """
        def first(values):
            found = []
            for place in range(len(values)):
                if values[place] not in found:
                    found.append(place)
            return found
        """,
        REPEATED,
        5,
    ),
    (
        "element-converted",
        UNIQUE,
        """
        def first(values):
            found = []
            for place in len(values):
                if values[place] not in found:
                    found.append(values[place])
            return found
        """,
        REPEATED,
        3,
    ),
    (
        "function-confused",
        UNIQUE,
        """
        def first(values):
            found = []
            for each in values:
                if each not in found:
                    found.add(each)
            return found
        """,
        REPEATED,
        5,
    ),
    (
        "start-wrong",
        SUMS,
        """
        def first(values):
            found = []
            total = []
            for each in values:
                total += each
                found.append(total)
            return found
        """,
        NUMBERS,
        3,
    ),
    (
        "comparison-of-none",
        LARGEST,
        """
        def first(values):
            top = second = None
            for each in values:
                if top is None or each > top:
                    second = top
                    top = each
                elif each != top and each > second:
                    second = each
            return [top, second]
        """,
        [[3, 5, 1], [7, 2, 4, 9], [9, 3], [4, 4, 2]],
        7,
    ),
    (
        "text-appended",
        "def first(text):\n    return ''.join(each.lower() for each in text if each.isalnum())\n",
        """
        def first(text):
            own = ""
            for each in text:
                if each.isalnum():
                    own.append(each.lower())
            return own
        """,
        TEXTS,
        5,
    ),
    (
        "element-converted",
        "def first(text):\n    return ''.join(chr(ord(each) + 1) for each in text)\n",
        """
        def first(text):
            own = ""
            for each in text:
                own += ord(each) + 1
            return own
        """,
        TEXTS,
        4,
    ),
    (
        "attribute-misspelled",
        LETTERS,
        "def first(text):\n    return [each.lower() for each in text if each.isalphanum()]\n",
        TEXTS,
        2,
    ),
    (
        "list-for-element",
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                key = [len(word)]
                found.setdefault(key, []).append(word)
            return found
        """,
        WORDS,
        4,
    ),
    (
        "name-confused",
        GROUPS,
        """
        def first(words):
            found = {}
            for word in words:
                size = len(word)
                if word in found:
                    found[size].append(word)
                else:
                    found[size] = [word]
            return found
        """,
        WORDS,
        5,
    ),
    (
        "result-dropped",
        SETTINGS,
        """
        def first(text):
            found = {}
            for line in text.splitlines():
                key, value = line.split("=")
                key, value = key.strip(), value.strip()
                if value.isdigit():
                    int(value)
                found[key] = value
            return found
        """,
        LINES,
        7,
    ),
    (
        "text-wrong",
        PARTS,
        """
        def first(date):
            year, month = [int(each) for each in date.split("/")]
            return [year, month + 12 * year]
        """,
        ["2024-03", "1999-12", "0007-01"],
        2,
    ),
    (
        "answer-wrong",
        "def first(values, one):\n    return values.index(one) if one in values else -1\n",
        """
        def first(values, one):
            for place in range(len(values)):
                if values[place] == one:
                    return place
            return None
        """,
        [([3, 5], 5), ([3, 5], 4), ([], 1), ([7], 7)],
        5,
    ),
    (
        "targets-swapped",
        "def first(pairs):\n    return [f'{name}{size + 1}' for name, size in pairs]\n",
        "def first(pairs):\n    return [f'{name}{size + 1}' for size, name in pairs]\n",
        [[("a", 1), ("b", 2)], [("c", 5)], [("d", 8), ("e", 3)]],
        2,
    ),
    (
        "branch-separate",
        FLAT,
        """
        def first(nested):
            found = []
            for each in nested:
                if isinstance(each, list):
                    found += first(each)
                found.append(each)
            return found
        """,
        NESTED,
        6,
    ),
    (
        "bounds-wrong",
        BEST,
        "def first(points, n):\n    return sorted(points, key=lambda name: (-points[name], name))[-n:]\n",
        POINTS,
        2,
    ),
]


def calls_of(arguments: list[Any]) -> list[Call]:
    return [("first", each if isinstance(each, tuple) else (each,)) for each in arguments]


@pytest.mark.parametrize(
    ("id", "right", "wrong", "arguments", "line"), CASES, ids=[f"{case[0]}-{n}" for n, case in enumerate(CASES)]
)
def test_a_mistake_with_containers_is_named_by_its_id_and_line(
    id: str, right: str, wrong: str, arguments: list[Any], line: int
) -> None:
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
