"""Gradings of trusted modules on every core: a stage's reference, stub, alternatives and mistakes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from grader.check import Options, grade
from grader.manifest import Course, Stage
from grader.mistakes import hidden_folder, load_mistakes, reference_source
from grader.submission import Snapshot
from grader.verdict import Verdict


@dataclass(frozen=True)
class Case:
    """One module to grade with one seed; name is "reference", "alternatives/loops", "mistakes/no-scale"…."""

    name: str
    stage: str
    source: str
    seed: int
    only: str | None = None
    isolation: str = "auto"


def reference_cases(stage: Stage, seeds: Iterable[int]) -> list[Case]:
    """Return the reference solution, once a seed."""
    return [Case("reference", stage.id, reference_source(stage), seed) for seed in seeds]


def stub_cases(stage: Stage, seeds: Iterable[int]) -> list[Case]:
    """Return the stub that lies in the stage's folder."""
    return [Case("stub", stage.id, stage.module_path.read_text(encoding="utf-8"), seed) for seed in seeds]


def alternative_cases(stage: Stage, seeds: Iterable[int]) -> list[Case]:
    """Return each alternative correct solution, once a seed."""
    files = sorted(path for path in (hidden_folder(stage) / "alternatives").glob("*.py") if path.stem != "__init__")
    seeds = tuple(seeds)
    return [
        Case(f"alternatives/{f.stem}", stage.id, f.read_text(encoding="utf-8"), seed) for f in files for seed in seeds
    ]


def mistake_cases(stage: Stage, seeds: Iterable[int]) -> list[Case]:
    """Return the module of each known mistake, once a seed; only its own row is graded."""
    reference, seeds = reference_source(stage), tuple(seeds)
    return [
        Case(f"mistakes/{mistake.id}", stage.id, f"{reference}\n\n{mistake.source}", seed, mistake.criterion)
        for mistake in load_mistakes(stage)
        for seed in seeds
    ]


def verdicts(course: Course, cases: Iterable[Case], workers: int | None = None) -> Iterator[tuple[Case, Verdict]]:
    """Grade every case through the whole pipeline and yield each with its verdict, in order."""
    todo = list(cases)
    with ProcessPoolExecutor(workers or os.cpu_count(), get_context("spawn"), _remember, (course,)) as pool:
        yield from zip(todo, pool.map(_graded, todo, chunksize=4), strict=True)


_course: list[Course] = []


def _remember(course: Course) -> None:
    _course[:] = [course]


def _graded(case: Case) -> Verdict:
    (course,) = _course
    stage = course.find(case.stage)
    source = case.source.encode()
    label = f"stages/{stage.name}/{stage.module}"
    snapshot = Snapshot(stage.module, source, hashlib.sha256(source).hexdigest(), Path(label), label)
    return grade(course, stage, snapshot, Options(case.seed, case.isolation, case.only))
