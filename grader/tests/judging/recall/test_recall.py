"""A kept grader runs no test again whose questions are answered as they were; its verdicts are those of a new one."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.isolation import tiers
from grader.judging.processes import staff
from grader.judging.recall.inquiry import Inquiry
from grader.judging.recall.memory import Book
from grader.tests.judging.recall.conftest import Keep
from grader.tests.judging.recall.keeping import ALL, ALWAYS, RIGHT, WRONG, Kept, plain

pytestmark = [
    pytest.mark.skipif(not tiers.FORKS, reason="needs forks"),
    pytest.mark.usefixtures("brief_search"),
    pytest.mark.full_matrix("grader/watching", "grader/remote", "grader/worker"),
]


@pytest.mark.parametrize(
    "source",
    [
        RIGHT,
        RIGHT.replace("return 2 * x", "y = x + x\n        return y"),
        "\n\n    # other lines\n" + RIGHT + "\n    def another():\n        return 1\n",
        RIGHT.replace('"nothing has no half"', "'nothing has no half'"),
    ],
)
def test_what_answers_alike_is_not_run_again(kept: Kept, source: str) -> None:
    found = kept.grade(source)
    assert found.verdict.passed and kept.ran == ALWAYS
    assert {name: each.status for name, each in found.outcomes.items()} == dict.fromkeys(ALL, "passed")


@pytest.mark.parametrize(
    ("before", "after", "ran"),
    [
        ("return 2 * x", "return 2 * x * (1 + 1e-15 * (np.ndim(x) > 0))", ["test_drawn"]),
        ("nothing has no half", "no half", ["test_nothing"]),
        ("return 2 * x", "return x * 2.0", ["test_drawn", "test_of_double", "test_one", "test_twice"]),
    ],
)
def test_what_answers_otherwise_is_run(kept: Kept, before: str, after: str, ran: list[str]) -> None:
    changed = RIGHT.replace(before, after)
    assert kept.grade(changed).verdict.passed
    assert {*ran, *ALWAYS} <= {*kept.ran}
    assert kept.grade(changed).verdict.passed and kept.grade(changed).verdict.passed
    assert kept.ran == ALWAYS  # both forms are known now
    assert kept.grade(RIGHT).verdict.passed and kept.ran == ALWAYS


@pytest.mark.parametrize(
    ("before", "after", "asked"),
    [
        ("return x / 2", "return x * 0.5", ["test_nothing", "test_of_double", "test_one_half"]),
        ("import numpy", "LIMIT = 3\n    import numpy", [name for name in ALL if name not in ALWAYS]),
        ("def half(x)", "def other():\n        return 1\n\n    def half(x)", []),
    ],
)
def test_what_no_change_leads_to_is_not_even_asked(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, before: str, after: str, asked: list[str]
) -> None:
    noted, mark = tmp_path / "asked", Inquiry.mark

    def noting(inquiry: Inquiry, book: Book, items: list[pytest.Item], places: list[int], ends_at: float) -> None:
        with noted.open("a") as notes:
            notes.writelines(f"{items[place].name}\n" for place in places)
        mark(inquiry, book, items, places, ends_at)

    monkeypatch.setattr(Inquiry, "mark", noting)
    changed = RIGHT.replace(before, after)
    assert kept.grade(changed).verdict.passed and kept.ran == ALWAYS
    assert sorted({*noted.read_text().split()} - {*ALWAYS}) == asked
    noted.unlink()
    assert kept.grade(f"{changed}\n    def another():\n        return 1\n").verdict.passed and kept.ran == ALWAYS
    assert not {*noted.read_text().split()} - {*ALWAYS}  # once they have been asked, they need not be again


@pytest.mark.some_of(3, "grader/remote")
@pytest.mark.parametrize(("before", "after"), WRONG)
def test_a_wrong_module_gets_the_verdict_of_a_new_grader(kept: Kept, forgetful: Kept, before: str, after: str) -> None:
    changed = RIGHT.replace(before, after)
    expected = plain(forgetful.grade(changed))
    assert [plain(kept.grade(changed)) for _ in range(2)] == [expected, expected]


def test_what_speaks_for_or_against_a_cause_is_run(kept: Kept) -> None:
    kept.grade(RIGHT.replace("return x / 2", "return x / 3"))
    assert kept.ran.count("test_of_double") >= 1 and "test_one_half" in kept.ran
    assert "test_nothing" in kept.ran  # it passes, and involves the function that is wrong


def test_other_inputs_are_asked_anew(kept: Kept) -> None:
    assert kept.grade(RIGHT, seed=2).verdict.passed and kept.ran == ALL
    assert kept.grade(RIGHT, seed=2).verdict.passed and kept.ran == ALWAYS
    assert kept.grade(RIGHT, seed=1).verdict.passed and kept.ran == ALL


def test_one_row_alone_and_all(kept: Kept) -> None:
    assert kept.grade(RIGHT, only="half").row("half") == "passed"
    assert kept.ran == ["test_takes_no_time"]
    assert kept.grade(RIGHT).verdict.passed and kept.ran == ALWAYS


def test_where_times_are_asked_for_all_are_run(kept: Kept) -> None:
    assert kept.grade(RIGHT, timed=True).verdict.passed and set(kept.ran) == set(ALL)


def test_for_a_class_nothing_is_remembered(keep: Keep) -> None:
    """Marks rest on tests that were run, each for the module that is marked."""
    kept = keep(hurried=False)
    assert all(kept.grade(RIGHT).verdict.passed and kept.ran == ALL for _ in range(3))


def test_a_grader_that_is_not_kept_remembers_nothing(forgetful: Kept) -> None:
    assert all(forgetful.grade(RIGHT).verdict.passed and forgetful.ran == ALL for _ in range(2))


def test_what_is_printed_is_told_each_time(kept: Kept) -> None:
    loud = RIGHT.replace("return 2 * x", "print('doubling')\n        return 2 * x")
    for _ in range(3):
        assert kept.grade(loud).outcomes["test_one"].notes == ("printed: doubling",)


@pytest.mark.usefixtures("idle")
class TestWithASecondJudge:
    @pytest.fixture
    def idle(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(staff, "has_idle_core", lambda: True)
        monkeypatch.setattr(staff, "FEWEST_ROWS", 1)
        monkeypatch.setattr("grader.judging.processes.second.FEWEST_TESTS", 1)

    @pytest.mark.some_of(2, "grader/remote")
    @pytest.mark.parametrize(("before", "after"), [("return 2", "return 2"), *WRONG[::3]])
    def test_verdicts_are_the_same(self, kept: Kept, forgetful: Kept, before: str, after: str) -> None:
        changed = RIGHT.replace(before, after)
        expected = plain(forgetful.grade(changed))
        for source in (changed, changed, RIGHT):
            found = kept.grade(source)
            assert plain(found) == expected if source == changed else found.verdict.passed
