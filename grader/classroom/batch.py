"""One submission of a batch in CI: graded, and left in a folder of its own with what the next job takes from there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from grader.classroom.collecting import ABOUT
from grader.classroom.results import FILE
from grader.classroom.roster import Student
from grader.course.stage import Stage
from grader.errors import GraderFault, SubmissionError
from grader.gradebook.intake import committed
from grader.submission import take

GRADED = (0, 1)  # exit codes of a check
TOLD = (3, 5)  # it waits, or there is nothing that can be graded: a result where a verdict says so
REPORTS = "github,json={0}/verdict.json,junit={0}/junit.xml,gradescope={0}/results.json"


def grade_one(
    student: Student, stage: Stage, repository: Path, folder: Path, check: Callable[[str, Path, str], int]
) -> bool:
    """Grade one stage of a student, and say whether there is a result; check takes stage, submission and formats.

    Left are the verdict, reports, the module's text, and whose it is and when it was committed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    submission = Path(f"{repository}@{student.revision}")
    formats = REPORTS if "," not in str(folder) else "github"
    code = check(stage.id, submission, formats.format(folder))
    about = {"student": student.name, "repository": student.repository, "revision": student.revision}
    try:
        taken = take(stage, submission, stage.folder.parent.parent)
    except (SubmissionError, GraderFault):
        taken = None
    if taken is not None:
        (folder / stage.module).write_bytes(taken.source)
        when = committed(repository, taken, student.revision)
        about |= {"submitted": when.isoformat()} if when is not None else {}
    (folder / ABOUT).write_text(json.dumps(about) + "\n", encoding="utf-8")
    return code in GRADED or (code in TOLD and (folder / FILE).is_file())
