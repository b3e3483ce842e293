"""What a later run and a regrade repeat: no result that is there, and the seed of each that is graded again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.gradebook.class_run import Seeds
from grader.gradebook.regrade import apply
from grader.gradebook.store import Gradebook
from grader.report.stored import decided
from tests.gradebook.test_grade_class import SEEDS, Class, Here, by_text, done
from tests.support.command import NUMBERS, WRONG, Place

NEXT_SEEDS, LAST_SEEDS = Seeds(tuple(range(16, 32)), b"next key"), Seeds(tuple(range(32, 48)), b"last key")


@pytest.fixture
def group(place: Place, tmp_path: Path) -> Iterator[Class]:
    handed = tmp_path / "handed"
    (handed / "dee").mkdir(parents=True)
    for name, text in {"ada": NUMBERS, "bob": WRONG, "cy": NUMBERS}.items():
        (handed / f"{name}.py").write_text(text, encoding="utf-8")
    with Gradebook.open(tmp_path / "out", create=True) as book:
        yield Class(load_course(place.root), book, handed)


def test_another_run_has_other_seeds_and_what_has_a_result_is_kept_whatever_its_seed(group: Class) -> None:
    group.grade(first := Here())
    before = {each.key.student: each.key.seed for each in group.book.results()}
    assert set(before.values()) <= set(SEEDS.pool)
    group.context = replace(group.context, seeds=NEXT_SEEDS)
    (group.handed / "bob.py").write_text(NUMBERS)
    tally = group.grade(second := Here())
    assert ([job.key.student for job in second.jobs], tally.kept, len(first.jobs)) == (["bob"], 3, 3)
    assert second.jobs[0].key.seed in NEXT_SEEDS.pool
    (last,) = group.book.results()[-1:]
    assert last.verdict == decided(by_text(second.jobs[0]).verdict, "mathematics") and last.passed


def test_a_fault_is_tried_again_with_its_seed_and_leaves_one_result(group: Class) -> None:
    group.grade(first := Here(lambda job: done(job, 0, fault=True)))
    group.context = replace(group.context, seeds=NEXT_SEEDS)
    group.grade(second := Here())
    assert [job.key for job in second.jobs] == [job.key for job in first.jobs]
    assert {each.outcome for each in group.book.results()} == {"graded", "missing"} and len(group.book.results()) == 4


def test_a_regrade_repeats_the_seed_of_each_result(group: Class) -> None:
    group.grade(first := Here())
    (group.handed / "bob.py").write_text(NUMBERS)
    group.context = replace(group.context, seeds=NEXT_SEEDS)
    group.grade(second := Here())
    seeds = {(job.key.student, job.key.digest): job.key.seed for job in (*first.jobs, *second.jobs)}
    group.context = replace(group.context, isolation="landlock", seeds=LAST_SEEDS)
    found = group.regraded(third := Here(lambda job: done(job, 1)))
    assert {(job.key.student, job.key.digest): job.key.seed for job in third.jobs} == seeds and len(seeds) == 4
    apply(group.book, group.context, found, "another isolation")
    assert group.regraded(fourth := Here()) == found and fourth.jobs == []
