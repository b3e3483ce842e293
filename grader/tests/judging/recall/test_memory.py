"""What is remembered of tests that passed: within bounds, by name and by what the module has under its names."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from grader.judging.recall import memory
from grader.judging.recall.memory import Looked, Memories, Memory, Pages
from grader.remote.processes.loading import Job
from grader.remote.record import Name
from grader.remote.transcripts.questions import Passed, Question
from grader.remote.transcripts.recording import Step

NAMES = {"double": Name("function", 7), "Odd": Name("exception", 8, ("ValueError",)), "other": Name("class", 9)}
LOOKED: Looked = {"double": NAMES["double"], "Odd": NAMES["Odd"], "missing": None}


TEXT = "def double(x):\n    return 2 * x\n\ndef half(x):\n    return x / 2\n"
JOB = Job("module.py", TEXT.encode(), 1.0, 1.0, 64, Path("nowhere"))


def step(sent: bytes = b"sent", digest: bytes = b"d") -> tuple[Step, str]:
    return Step(sent, 10, 0, digest), "double"


def learnt(*notes: tuple[str, Looked, list[tuple[Step, str]]]) -> Memory:
    pages, made = Pages(), Memory(1)
    for test, looked, steps in notes:
        pages.passed(test, looked, ("double",), steps)
    made.learn(JOB, [pages])
    return made


def test_what_a_judge_writes_its_parent_reads() -> None:
    pages, made = Pages(), Memory(1)
    child = os.fork()
    if child == 0:
        pages.passed("a", LOOKED, ("double",), [step(b"first", b"x"), step(b"second", b"y")])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    made.learn(JOB, [pages])
    found = made.of("a", NAMES)
    assert found is not None and found.called == ("double",)
    second = Question(b"second", "double", {b"y": Passed(("double",))}, (10 + 1024, 0))
    assert found.first == Question(b"first", "double", {b"x": second}, (10 + 1024, 0))
    assert made.of("b", NAMES) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"double": Name("class", 7)},
        {"double": Name("function", 8)},
        {"Odd": Name("exception", 8, ("KeyError",))},
        {"missing": Name("function", 1)},
    ],
)
def test_a_module_of_other_names_is_another(changed: dict[str, Name]) -> None:
    made = learnt(("a", LOOKED, [step()]))
    assert made.of("a", NAMES | {"other": Name("value", 0)}) is not None
    assert made.of("a", NAMES | changed) is None
    assert made.of("a", {name: found for name, found in NAMES.items() if name != "double"}) is None


def test_what_is_answered_as_one_likes_is_never_remembered_again() -> None:
    pages, made = Pages(), learnt(("a", LOOKED, [step()]), ("b", LOOKED, [step()]))
    pages.unsteady("a")
    pages.passed("a", LOOKED, (), [step()])
    made.learn(JOB, [pages])
    assert made.of("a", NAMES) is None and made.of("b", NAMES) is not None


def test_steady_is_what_was_answered_alike_once_more() -> None:
    pages, made = Pages(), learnt(("a", LOOKED, [step()]))
    found = made.of("a", NAMES)
    assert found is not None and not found.is_steady
    pages.again("a")
    pages.again("unknown")
    made.learn(JOB, [pages])
    assert found.is_steady


def test_what_passed_last_and_is_steady_passes_as_long_as_its_functions_stand() -> None:
    made = learnt(("a", LOOKED, [step()]), ("b", LOOKED, [step()]))
    found, left = made.of("a", NAMES), made.of("b", NAMES)
    assert found is not None and left is not None
    other = replace(JOB, source=TEXT.replace("x / 2", "x * 0.5").encode())
    assert not made.passed_last(found, other)  # its answers may be drawn anew each time
    pages = Pages()
    pages.again("a")
    made.learn(JOB, [pages])
    assert made.passed_last(found, JOB) and made.passed_last(found, other)
    assert not made.passed_last(left, JOB)  # of this one nothing was found out in the last grading
    assert not made.passed_last(found, replace(JOB, source=TEXT.replace("2 * x", "x + x").encode()))
    assert not made.passed_last(found, replace(JOB, lent=(("earlier", "earlier.py", b""),)))
    made.learn(other, [])
    assert not made.passed_last(found, other)


def test_what_failed_has_not_passed_last_whatever_another_judge_notes() -> None:
    first, second, made = Pages(), Pages(), learnt(("a", LOOKED, [step()]))
    found = made.of("a", NAMES)
    assert found is not None
    first.failed("a")
    first.failed("unknown")
    second.again("a")
    made.learn(JOB, [first, second])
    assert found.is_steady and not made.passed_last(found, JOB)
    made.learn(JOB, [second])
    assert made.passed_last(found, JOB)


def test_pages_that_are_full_take_no_more() -> None:
    pages = Pages(4096)
    for number in range(100):
        pages.passed(f"test {number}", LOOKED, (), [step(bytes(200))])
    kept = [note[1] for note in pages.read()]
    assert kept == [f"test {number}" for number in range(len(kept))] and 5 < len(kept) < 20
    pages.clear()
    assert list(pages.read()) == []


def test_memory_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST_FORMS", 2)
    forms: list[Looked] = [{"double": Name("function", number)} for number in range(3)]
    made = learnt(*(("a", form, [step()]) for form in forms), ("many", {}, [step()] * (memory.MOST_STEPS + 1)))
    known = [made.of("a", {"double": Name("function", number)}) for number in range(3)]
    assert [each is not None for each in known] == [True, True, False]
    assert made.of("many", NAMES) is None
    made._left = 600
    pages = Pages()
    for test in "b", "c", "d":
        pages.passed(test, {}, (), [step(bytes(100))])
    made.learn(JOB, [pages])
    assert [made.of(test, NAMES) is not None for test in "bcd"] == [True, False, False]


def test_a_test_that_asks_now_so_now_otherwise_is_known_as_it_was_first() -> None:
    first = [step(b"a", b"1"), step(b"b", b"2")]
    made = learnt(("a", {}, first), ("a", {}, [step(b"a", b"1"), step(b"other", b"3")]), ("a", {}, [step(b"z", b"1")]))
    found = made.of("a", {})
    assert found is not None and found.first.sent == b"a"
    (follows,) = found.first.follows.values()
    assert isinstance(follows, Question) and (follows.sent, [*follows.follows]) == (b"b", [b"2"])


def test_books_are_kept_for_one_seed() -> None:
    memories, found = Memories(), []
    for seed in (5, 5, 6, 5):
        memories.open(seed)
        found.append(memories.book(0))
        assert memories.book(1).memory is found[-1].memory and memories.book(1).pages is not found[-1].pages
    assert [book.memory.seed for book in found] == [5, 5, 6, 5]
    assert found[0] is found[1] and found[0] is not found[3]
