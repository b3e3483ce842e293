"""The READMEs of a course as a learner reads them: whole or step by step, with words in the place of pictures."""

from __future__ import annotations

import re
from pathlib import Path

from grader.course.stage import STAGES, Course, Stage
from grader.errors import CourseError
from grader.progress.steps import asked, shown, steps_of

_PICTURE_OR_CODE = re.compile(
    r"^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)|\Z)|(?P<ticks>`+)[^`\n]*(?P=ticks)"
    r"|!\[(?P<markdown>[^]]*)\]\([^)\n]*\)"
    r"""|(?:<picture>\s*(?:<source\b[^>]*>\s*)*)?<img\b[^>]*?\balt="(?P<html>[^"]*)"[^>]*>(?:\s*</picture>)?""",
    re.MULTILINE | re.DOTALL,
)


def readme(stage: Stage) -> str:
    """Return the text of a stage's README, with what each picture shows in its place."""
    return _page(stage.readme_path, stage.name)


def other_page(course: Course, name: str) -> str:
    """Return the text of the README in a folder beside the stages; empty where a stage is meant, or nothing."""
    path = course.root / STAGES / name / "README.md"
    known = {stage.name for stage in course.stages}
    return _page(path, name) if name.isidentifier() and name not in known and path.is_file() else ""


def _page(path: Path, folder: str) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{STAGES}/{folder}/README.md cannot be read: {error}") from error
    return _PICTURE_OR_CODE.sub(_told, text)


def part(stage: Stage, name: str) -> str:
    """Return the step of a README that a number, a row or a function means, as a page; UsageError where none is.

    A README that is not divided into steps is returned whole for any of its rows.
    """
    text = readme(stage)
    steps = steps_of(stage, text)
    return "\n".join(shown(stage, steps, step, name) for step in asked(stage, steps, name)) or text


def _told(found: re.Match[str]) -> str:
    """Return a picture as one line of text, and code as it is."""
    told = found["markdown"] if found["markdown"] is not None else found["html"]
    return found[0] if told is None else f"Picture: {' '.join(told.split())}"
