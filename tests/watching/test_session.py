"""What follows from saves, verdicts and keys, without a process."""

from __future__ import annotations

import json
import os
import queue
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.course.manifest import load_course
from grader.errors import ProgressError, StageLocked, UsageError
from grader.progress.workspace import open_workspace
from grader.submission.parsing import Problem
from grader.watching.board import (
    CheckFailed,
    CountedTest,
    EarlyCriterion,
    EarlyVerdict,
    Event,
    Explored,
    FileSaved,
    FinalVerdict,
    Sentence,
    StepWeights,
)
from grader.watching.session import RUNNING, WatchSession, explored, exploring, files_beside
from grader.watching.session import kind_of_file as kind
from tests.support.command import NUMBERS, Place
from tests.support.patience import SLACK
from tests.watching.fakes import Checks, Saves, Watched, verdict


@pytest.fixture
def watched(place: Place) -> Watched:
    found = Watched(place.root)
    found.session.open(found.first)
    return found


def test_a_stage_is_checked_as_it_is_opened_and_at_each_save(watched: Watched) -> None:
    path = watched.first.module_path
    assert (watched.checks.asked, watched.saves.watched) == ([("s01", None)], path)
    watched.session.take(FileSaved(path))
    watched.session.take(FileSaved(Path("another.py")))
    assert watched.checks.asked == [("s01", None)] * 2
    assert watched.session.board.since == 5.0


def test_what_an_earlier_check_tells_changes_nothing(watched: Watched) -> None:
    old = verdict(watched.first, "failed", "blocked")
    watched.session.take(FileSaved(watched.first.module_path))
    late = FinalVerdict(1, old), EarlyVerdict(1, old), CountedTest(1, "double", "failed"), CheckFailed(1, "no", None)
    for event in (*late, EarlyCriterion(1, old.criteria[0])):
        watched.session.take(event)
    assert (watched.session.board.verdict, watched.session.board.trouble, watched.session.board.tests) == (
        None,
    ) * 2 + (0,)
    watched.session.take(CountedTest(2, "double", "passed"))
    assert (watched.session.board.tests, watched.session.board.at) == (1, "double")


def test_the_row_that_does_not_pass_first_is_graded_ahead_of_the_others(watched: Watched) -> None:
    watched.session.take(watched.judged(verdict(watched.first, "failed", "blocked")))
    watched.session.check()
    assert watched.checks.asked == [("s01", None), ("s01", "double")]
    better = verdict(watched.first, "passed", "failed").criteria[0]
    watched.session.take(EarlyCriterion(2, better))
    board = watched.session.board
    assert board.since is not None and board.verdict is not None
    assert [row.status for row in board.verdict.criteria] == ["passed", "blocked"] and not board.complete
    watched.session.check()
    assert watched.checks.asked[2:] == [("s01", None)]  # what is left waits for another


def test_a_verdict_is_there_before_it_is_explained(watched: Watched) -> None:
    found = verdict(watched.first, "failed", "blocked")
    watched.session.take(EarlyVerdict(1, found))
    board = watched.session.board
    assert board.verdict == found and board.since is not None and board.failing == "double" and board.searches
    watched.session.take(FinalVerdict(1, found))
    assert watched.session.board.since is None and not watched.session.board.searches
    watched.session.take(EarlyVerdict(1, found))
    watched.session.check()
    assert not watched.session.board.searches


def test_what_is_wrong_comes_before_what_was_not_begun(watched: Watched) -> None:
    watched.session.take(watched.judged(verdict(watched.first, "not_started", "failed")))
    board = watched.session.board
    assert board.first is not None and board.first.id == watched.first.criteria[1].id
    watched.session.take(watched.judged(verdict(watched.first, "blocked", "not_started")))
    assert watched.session.board.first == watched.session.board.criterion(watched.first.criteria[1].id)


def test_a_stage_that_completes_is_explored_once(watched: Watched) -> None:
    watched.session.take(watched.judged(verdict(watched.first, "passed", "passed")))
    watched.session.check()
    watched.session.take(watched.judged(verdict(watched.first, "passed", "passed")))
    assert (watched.explored, watched.session.board.complete) == (["s01"], True)
    watched.session.take(Explored("s01", "a picture"))
    watched.session.take(Explored("s02", "of another"))
    assert watched.session.board.drawn == "a picture"
    watched.session.take(watched.judged(verdict(watched.first, "failed", "passed")))
    assert watched.session.board.drawn == ""


def test_why_there_is_no_picture_is_told_to_whoever_asked(watched: Watched) -> None:
    nothing = Explored("s01", "", "s01 has nothing to draw")
    watched.session.take(nothing)
    assert watched.session.board.note == ""
    assert watched.session.explore() == "Running your functions on an example."
    watched.session.take(nothing)
    assert watched.session.board.note == "s01 has nothing to draw."
    watched.session.take(watched.judged(verdict(watched.first, "failed", "passed")))
    assert watched.session.board.note == ""


def test_a_stage_without_a_drawing_says_so_at_once_and_keeps_its_board(watched: Watched) -> None:
    watched.session.take(Explored("s01", "a picture"))
    watched.drawn.clear()
    assert watched.session.explore() == "s01 has nothing to draw."
    assert (watched.session.board.drawn, watched.session.board.asked) == ("a picture", False)


def test_an_error_is_told_and_the_next_verdict_takes_its_place(watched: Watched) -> None:
    watched.session.take(CheckFailed(1, "s01 has no module", "Put it back."))
    assert (watched.session.board.trouble, watched.session.board.since) == (("s01 has no module", "Put it back."), None)
    assert watched.session.hint() == "s01 has no module"
    watched.session.check()
    assert watched.session.board.trouble is None


def test_a_pass_that_cannot_be_recorded_is_told(watched: Watched) -> None:
    full = replace(verdict(watched.first, "passed", "passed"), unrecorded="no space left on device")
    watched.session.take(watched.judged(full))
    assert watched.session.board.note == "Nothing is recorded: no space left on device"


def test_stages_are_gone_through_to_either_end(watched: Watched) -> None:
    assert not watched.session.step(-1)
    assert watched.session.step(1) and watched.session.board.stage.id == "s02"
    assert watched.checks.asked[-1] == ("s02", None)
    assert not watched.session.step(1)


def test_a_hint_needs_a_verdict_and_a_row_that_does_not_pass(watched: Watched) -> None:
    assert watched.session.hint() == RUNNING
    watched.session.take(watched.judged(verdict(watched.first, "failed", "blocked")))
    first, second = watched.session.hint(), watched.session.hint("quadruple")
    assert not isinstance(first, str) and first.text == "double: a nudge"
    assert not isinstance(second, str) and second.criterion.id == "quadruple"
    broken = replace(verdict(watched.first, "blocked", "blocked"), problem=Problem("syntax", "line 3: ?", 3, None))
    watched.session.take(watched.judged(broken))
    assert "line 3" in str(watched.session.hint())
    assert watched.session.board.place() == ("stages/s01_numbers/numbers_.py", 3)
    watched.session.take(watched.judged(verdict(watched.first, "passed", "passed")))
    assert watched.session.hint() == "Every criterion of s01 passes: no hint is needed."


def test_a_reset_keeps_the_file_and_checks_the_stub(watched: Watched, place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    said = watched.session.reset()
    assert "is the stub again. Your file is kept as .grader/backups/" in said
    assert "NotImplementedError" in place.numbers.read_text(encoding="utf-8")
    assert len(watched.checks.asked) == 2 and watched.session.board.note == said


def test_a_module_is_compared_with_the_reference_once_it_has_passed(watched: Watched, place: Place) -> None:
    with pytest.raises(StageLocked):
        watched.session.compared()
    place.passed("s01")
    place.numbers.write_text(NUMBERS.replace("2 * x", "x + x"), encoding="utf-8")
    found = watched.session.compared()
    assert [(pair.name, pair.same) for pair in found.pairs] == [("double", False), ("quadruple", True)]
    assert found.unmeasured == "`grader solution s01` measures them"


def test_a_save_of_an_earlier_stage_checks_again_and_one_of_a_test_reads_tests_anew(watched: Watched) -> None:
    session, first = watched.session, watched.first
    second = replace(watched.workspace.course.stages[1], builds_on=(first,))
    session.open(second)
    tests = sorted(second.tests_path.glob("*.py"))
    hidden = sorted((second.hidden_root / second.name).glob("*.py"))
    assert set(watched.saves.others()) == {first.module_path, *tests, *hidden} and tests and hidden
    for path in (first.module_path, tests[0], hidden[0], second.module_path, first.tests_path / "test_double.py"):
        session.take(FileSaved(path))
    assert watched.checks.asked[1:] == [("s02", None)] * 5  # what another stage is tested with changes nothing
    assert watched.checks.anew[1:] == [False, False, True, True, False]


def test_what_was_saved_beside_the_module_is_told_until_the_verdict(watched: Watched) -> None:
    watched.session.take(FileSaved(watched.first.tests_path / "test_double.py"))
    assert watched.session.board.note == "stages/s01_numbers/tests/test_double.py was saved."
    watched.session.take(watched.judged(verdict(watched.first, "failed", "blocked")))
    assert watched.session.board.note == ""


PAGE = "# N\n\n## A\n\n### Step 1: a\n\n- [ ] double is right\n\n### Step 2: b\n\n- [ ] quadruple is right\n"


def test_the_step_of_the_first_open_row_is_shown_or_of_the_one_that_is_named(watched: Watched, place: Place) -> None:
    (place.numbers.parent / "README.md").write_text(PAGE, encoding="utf-8")
    assert watched.session.lesson() == PAGE  # nothing was graded yet
    watched.session.take(watched.judged(verdict(watched.first, "passed", "failed")))
    assert "step 2 of 2" in watched.session.lesson() and "step 1 of 2" in watched.session.lesson("double")
    with pytest.raises(UsageError, match="'3' is not a step"):
        watched.session.lesson("3")
    watched.session.take(watched.judged(verdict(watched.first, "passed", "passed")))
    assert watched.session.lesson() == PAGE


def test_progress_that_cannot_be_read_leaves_the_stages_as_they_were(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = watched.session.board.standings

    def refuse() -> None:
        raise ProgressError("it cannot be read")

    monkeypatch.setattr(watched.workspace.store, "read", refuse)
    watched.session.take(watched.judged(verdict(watched.first, "failed", "blocked")))
    assert watched.session.board.standings == before != ()


def test_what_is_closed_watches_and_grades_no_more(watched: Watched) -> None:
    watched.session.close()
    assert (watched.checks.closed, watched.saves.watched) == (True, None)


def test_a_check_depends_on_earlier_modules_and_on_tests(place: Place) -> None:
    first, second = open_workspace(place.root).course.stages
    built = replace(second, builds_on=(first,))
    names = [path.relative_to(place.root).as_posix() for path in files_beside(built)]
    assert names[0] == "stages/s01_numbers/numbers_.py"
    assert "stages/s02_sums/tests/test_total.py" in names and "hidden/s02_sums/test_hidden_total.py" in names
    assert not any("s01" in name for name in names[1:])
    assert place.numbers not in files_beside(second)


def test_each_file_is_known_for_what_it_is(place: Place) -> None:
    first, second = open_workspace(place.root).course.stages
    built = replace(second, builds_on=(first,))
    assert (
        kind(built, place.sums),
        kind(built, place.numbers),
        kind(second, place.numbers),
    ) == (
        "module",
        "earlier",
        None,
    )
    assert (
        kind(built, built.tests_path / "new.py")
        == "tests"
        == kind(built, built.hidden_root / built.name / "oracles.py")
    )
    assert kind(built, built.tests_path / "notes.txt") is None is kind(built, first.tests_path / "test_double.py")


def test_what_the_command_prints_arrives_as_an_event(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: dict[str, Any] = {}

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        ran.update(options, command=command)
        return subprocess.CompletedProcess(command, 1, "a curve ∿\n".encode())

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("NO_COLOR", "1")
    found: queue.Queue[Event] = queue.Queue()
    course = load_course(place.root)
    course = replace(course, settings=replace(course.settings, drawings="drawings"))
    assert exploring(course, found.put, lambda: 50, colour=True)("s01", "")
    assert found.get(timeout=SLACK) == Explored("s01", "a curve ∿\n")
    assert (ran["command"][-2:], ran["cwd"], ran["env"]["COLUMNS"]) == (["explore", "s01"], place.root, "50")
    assert "NO_COLOR" not in ran["env"] and ran["env"]["FORCE_COLOR"] == "1" and "NO_COLOR" in os.environ


def test_where_pictures_are_wanted_each_step_is_drawn_and_told_with_its_row(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        folder = Path(command[-1])
        for name, text in (("02-split-heads.svg", b"<b/>"), ("01-scores.svg", b"<a/>")):
            (folder / name).write_bytes(text)
        assert command[-2] == "--each"
        return subprocess.CompletedProcess(command, 0, b"steps\n")

    monkeypatch.setattr(subprocess, "run", run)
    found = explored(load_course(place.root), "s01", 80, colour=False, pictures=True)
    assert found == Explored("s01", "steps\n", "", (("scores", b"<a/>"), ("split-heads", b"<b/>")))


EXPLORED = {
    "words": ["a", "b"], "key_words": None, "next_function": "quadruple", "drawings": [{"id": "curve"}],
    "steps": [{"id": "one", "parts": [{"function": "double"}]}, {"id": "two", "parts": [{"function": "quadruple"}]}],
    "maps": [{"id": "plain", "title": "Plain", "weights": [[1.0, 0.0], [0.5, 0.5]]},
             {"id": "lost", "title": "Of no step", "weights": [[1.0]]}],
    "origins": [{"picture": "plain", "step": "one", "wrong": True},
                {"picture": "curve", "step": "two", "wrong": False}],
}  # fmt: skip


def test_weights_come_as_numbers_and_not_as_a_picture_as_well(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        assert command[-3:-1] == ["--words=a b", "--each"]
        folder = Path(command[-1])
        (folder / "exploration.json").write_text(json.dumps(EXPLORED))
        for name in ("01-double", "02-quadruple"):
            (folder / f"{name}.svg").write_bytes(b"<svg/>")
        return subprocess.CompletedProcess(command, 0, b"")

    monkeypatch.setattr(subprocess, "run", run)
    found = explored(load_course(place.root), "s01", 80, colour=False, pictures=True, typed="a b")
    weights = StepWeights("double", "Plain", ((1.0, 0.0), (0.5, 0.5)), is_wrong=True)
    assert (found.typed, found.sentence) == ("a b", Sentence(("a", "b"), ("a", "b"), (weights,), "quadruple"))
    assert found.pictures == (("quadruple", b"<svg/>"),)


def test_a_sentence_stays_the_learners_until_it_is_refused(watched: Watched) -> None:
    session = watched.session
    assert session.read("so it is") == "Running your functions on an example."
    said = Sentence(("so", "it", "is"), ("so", "it", "is"))
    session.take(Explored("s01", "", "", (), "so it is", said))
    assert (session.board.sentence, session.board.refused) == (said, "")
    session.take(watched.judged(verdict(watched.first, "passed", "passed")))
    assert watched.typed == ["so it is", "so it is"]
    session.read("x " * 40)
    session.take(Explored("s01", "", "--words has 40 words", (), "x " * 40))
    assert (session.board.refused, session.board.typed) == ("your sentence has 40 words", "")
    assert session.board.sentence == said  # what the page still shows
    session.open(watched.first)
    assert session.board.sentence is None
    watched.drawn.clear()
    assert session.read("so it is") == "s01 has nothing to draw."


def test_where_pictures_are_live_they_are_drawn_after_each_check(watched: Watched) -> None:
    drawn: list[str] = []

    def explore(stage: str, typed: str) -> bool:
        drawn.append(stage)
        return True

    session = WatchSession(watched.session.workspace, Checks(), Saves(), explore, draws=True)
    session.open(watched.first)
    session.take(FinalVerdict(session.ticket, verdict(watched.first, "not_started", "blocked")))
    assert drawn == []  # there is nothing yet
    session.take(FinalVerdict(session.ticket, verdict(watched.first, "failed", "blocked")))
    session.take(Explored("s01", "text", "", (("double", b"<a/>"),)))
    assert (drawn, session.board.drawn, session.board.pictures) == (["s01"], "", (("double", b"<a/>"),))
    session.take(FinalVerdict(session.ticket, verdict(watched.first, "not_started", "blocked")))
    assert session.board.pictures == ()  # of a text that is gone


@pytest.mark.parametrize("error", [OSError("no process"), subprocess.TimeoutExpired("explore", 120)])
def test_a_command_that_cannot_run_says_why(place: Place, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def run(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(subprocess, "run", run)
    found = explored(load_course(place.root), "s01", 80, colour=False)
    assert found.text == "" and ("no process" in found.why or "took longer than 120 s" in found.why)


def test_a_stage_that_cannot_be_explored_says_so(place: Place) -> None:
    told = "s01 has nothing to draw or explore"
    found = explored(load_course(place.root), "s01", 20, colour=True)
    assert found == Explored("s01", "", told)  # wrapped and coloured before


def test_no_command_runs_for_a_stage_without_a_drawing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> None:
        raise OSError("a process was started")

    monkeypatch.setattr(subprocess, "run", run)
    found: queue.Queue[Event] = queue.Queue()
    assert not exploring(load_course(place.root), found.put, lambda: 50, colour=False)("s01", "")
    assert found.empty()
