"""The process that grades: what it tells, how a check is broken off, and what happens when it dies."""

from __future__ import annotations

import os
import queue
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from grader.judging.grading import Grader, Options
from grader.judging.task import packed, unpacked
from grader.progress.workspace import open_workspace
from grader.submission import Snapshot
from grader.verdict import Verdict
from grader.watching.board import CheckFailed, CountedTest, EarlyCriterion, EarlyVerdict, Event, FinalVerdict
from grader.watching.grading_process import CAN_INTERRUPT, RECORDS, GradingProcess
from grader.watching.service import Service, serve
from tests.support.command import NUMBERS, WRONG, Place
from tests.support.patience import SLACK
from tests.support.verdicts import RIGHT, TEXTBOOK, VERDICT

ECHO = """
import json, sys
for line in sys.stdin:
    _, ticket, stage, row = json.loads(line)
    if stage == "dies":
        sys.exit("out of luck")
    print(json.dumps(["failed", ticket, stage, row]), flush=True)
"""
HANGING = NUMBERS.replace("def quadruple(x):", "def quadruple(x):\n    while True: pass")


def following(found: queue.Queue[Event]) -> Event:
    """Return the next event that is not the end of one test."""
    while isinstance(event := found.get(timeout=3 * SLACK), CountedTest):
        pass
    return event


@pytest.fixture
def echo(place: Place) -> Iterator[tuple[GradingProcess, queue.Queue[Event]]]:
    found: queue.Queue[Event] = queue.Queue()
    kept = GradingProcess(place.root, found.put, (sys.executable, "-c", ECHO))
    yield kept, found
    kept.close()


def test_a_process_that_dies_is_told_of_and_started_anew(echo: tuple[GradingProcess, queue.Queue[Event]]) -> None:
    kept, found = echo
    assert (kept.check("s01", None), found.get(timeout=SLACK)) == (1, CheckFailed(1, "s01", None))
    kept.check("dies", None)
    failed = found.get(timeout=SLACK)
    assert isinstance(failed, CheckFailed) and "has ended: out of luck" in failed.message and failed.hint
    assert (kept.check("s02", "row"), found.get(timeout=SLACK)) == (3, CheckFailed(3, "s02", "row"))


def test_it_grades_as_check_does_and_a_hanging_check_gives_way_to_the_next(place: Place) -> None:
    with (place.numbers.parent / "stage.toml").open("a", encoding="utf-8") as manifest:
        manifest.write("\n[limits]\nstage_seconds = 200\ncall_seconds = 200\n")  # what hangs does not end by itself
    found: queue.Queue[Event] = queue.Queue()
    kept = GradingProcess(place.root, found.put)
    try:
        place.numbers.write_text(WRONG, encoding="utf-8")
        kept.check("s01", None)
        decided, judged = following(found), following(found)
        assert isinstance(decided, EarlyVerdict) and [row.status for row in decided.verdict.criteria] == [
            "failed",
            "blocked",
        ]
        assert decided.verdict.criteria[0].failures[0].diagnosis is None
        assert isinstance(judged, FinalVerdict) and [row.status for row in judged.verdict.criteria] == [
            "failed",
            "blocked",
        ]
        diagnosis = judged.verdict.criteria[0].failures[0].diagnosis
        assert diagnosis is not None and diagnosis.mistake == "squared"
        place.numbers.write_text(HANGING, encoding="utf-8")
        began = kept.check("s01", "double")
        glimpsed = following(found)  # so it has read the module, and hangs in the other row
        assert isinstance(glimpsed, EarlyCriterion) and (glimpsed.ticket, glimpsed.result.status) == (began, "passed")
        place.numbers.write_text(NUMBERS, encoding="utf-8")
        last = kept.check("s01", "double")
        glimpsed = following(found)
        assert isinstance(glimpsed, EarlyCriterion) and (glimpsed.ticket, glimpsed.result.status) == (last, "passed")
        judged = following(found)
        assert isinstance(judged, FinalVerdict) and judged.verdict.passed and judged.verdict.unlocked == ("s02",)
        assert place.store.read().passed["s01"].digest == judged.verdict.run.submission
        kept.check("s02", None)
        place.numbers.unlink()
        missing = kept.check("s01", None)
        failed = following(found)
        assert isinstance(failed, CheckFailed) and failed.ticket == missing and failed.hint
    finally:
        kept.close()


def test_a_test_that_was_changed_is_read_anew_where_that_is_asked_for(place: Place) -> None:
    found: queue.Queue[Event] = queue.Queue()
    kept = GradingProcess(place.root, found.put)
    test = place.root / "stages" / "s01_numbers" / "tests" / "test_double.py"
    try:
        place.numbers.write_text(NUMBERS, encoding="utf-8")
        kept.check("s01", None)
        judged = following(found)
        assert isinstance(judged, FinalVerdict) and judged.verdict.passed
        more = test.read_text(encoding="utf-8").replace("def test_", "def test_again_")
        test.write_text(f"{test.read_text(encoding='utf-8')}\n\n{more}", encoding="utf-8")
        kept.check("s01", None, anew=True)
        again = following(found)
        assert isinstance(again, FinalVerdict) and again.verdict.passed
        assert again.verdict.criteria[0].tests_total > judged.verdict.criteria[0].tests_total
    finally:
        kept.close()


@pytest.mark.skipif(not CAN_INTERRUPT, reason="a check is ended with its process here")
def test_a_check_that_is_broken_off_leaves_its_process(place: Place) -> None:
    told: list[tuple[object, ...]] = []
    service = Service(open_workspace(place.root), lambda *fields: told.append(fields))

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    def find(name: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(SLACK)

    before = signal.signal(signal.SIGINT, stop)
    try:
        object.__setattr__(service._workspace, "course", type("Course", (), {"find": staticmethod(find)}))
        serve(service, _orders(b'["check", 1, "s01", null]\n["check", 2,', b' "s01", null]\n'))
    finally:
        signal.signal(signal.SIGINT, before)
    assert told == [] and not service.busy


def test_inputs_stay_from_save_to_save_until_a_module_passes_or_is_checked_unchanged(place: Place) -> None:
    seeds: list[int] = []

    def tell(kind: str, _: int, *fields: Any) -> None:
        if kind == "judged":
            seeds.append(fields[0].run.seed)

    service = Service(open_workspace(place.root), tell)
    try:
        for number, text in enumerate([WRONG, f"{WRONG}# a\n", f"{WRONG}# b\n", f"{WRONG}# b\n", NUMBERS, NUMBERS]):
            place.numbers.write_text(text, encoding="utf-8")
            service.check(number, "s01")
    finally:
        service.close()
    first, second, third, unchanged, passes, after = seeds
    assert first == second == third
    assert len({third, unchanged, passes, after}) == 4  # each drawn among a hundred thousand


@pytest.mark.parametrize("is_sealed", [False, True])
def test_what_passes_with_the_inputs_of_before_has_to_pass_with_new_ones(
    place: Place, monkeypatch: pytest.MonkeyPatch, is_sealed: bool
) -> None:
    seeds: list[int] = []
    verdicts: list[Verdict] = []
    grade = Grader.grade

    def graded(self: Grader, snapshot: Snapshot, options: Options, on_test: Any = None, *more: Any) -> Verdict:
        seeds.append(options.seed)
        lucky = replace(snapshot, source=NUMBERS.encode()) if len(seeds) == 2 else snapshot
        verdict = grade(self, lucky, options, on_test, *more)
        run = replace(verdict.run, public_only=is_sealed)  # without the key of a copy's hidden tests
        return replace(verdict, passed=verdict.passed and not is_sealed, run=run)

    def tell(kind: str, _: int, *fields: Any) -> None:
        if kind == "judged":
            verdicts.append(fields[0])

    monkeypatch.setattr(Grader, "grade", graded)
    service = Service(open_workspace(place.root), tell)
    try:
        for number, text in enumerate([WRONG, f"{WRONG}# a\n"]):
            place.numbers.write_text(text, encoding="utf-8")
            service.check(number, "s01")
    finally:
        service.close()
    assert len(seeds) == 3 and seeds[0] == seeds[1] != seeds[2]
    assert [verdict.passed or verdict.public_passed for verdict in verdicts] == [False, False]
    assert not place.recorded and not place.store.read().public


def test_of_orders_that_wait_only_the_last_is_done(place: Place) -> None:
    told: list[tuple[object, ...]] = []
    service = Service(open_workspace(place.root), lambda *fields: told.append(fields))
    serve(service, _orders(b'["check", 1, "s01", null]\n["check", 2, "s77", null]\n["che', b'ck", 3, "s78", null]\n'))
    assert [fields[:2] for fields in told] == [("failed", 2), ("failed", 3)]
    assert "s77" in str(told[0][2])


def test_a_grader_that_fails_is_told_and_forgotten(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[object, ...]] = []
    service = Service(open_workspace(place.root), lambda *fields: told.append(fields))

    def fail(*_: object) -> None:
        raise RuntimeError("an oversight")

    monkeypatch.setattr("grader.progress.actions.check", fail)
    service.check(1, "s01")
    assert told == [("failed", 1, "the grader failed: RuntimeError: an oversight", None)]


def _orders(*pieces: bytes) -> Callable[[], bytes]:
    left = iter([*pieces, b""])
    return lambda: next(left)


def test_a_verdict_with_kinds_comes_back_as_it_was() -> None:
    verdict = replace(VERDICT, criteria=(RIGHT, TEXTBOOK))
    found = unpacked(packed(verdict), RECORDS)
    assert found == verdict and found.criteria[1].lacks_robustness
