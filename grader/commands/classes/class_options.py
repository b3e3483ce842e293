"""The options that commands of `grader class` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands.options import stage_names
from grader.errors import UsageError
from grader.progress.workspace import open_workspace

if TYPE_CHECKING:
    from grader.course.stage import Course, Stage
    from grader.gradebook.policy import Policy

Stages = Annotated[
    list[str] | None,
    typer.Option("--stage", metavar="STAGE", help="A stage; may be repeated.", autocompletion=stage_names),
]
Folder = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of the gradebook.")]
PolicyFile = Annotated[
    Path | None,
    typer.Option("--policy", metavar="FILE", help="Points and deadlines; by default DIR/class.toml, if it exists."),
]
Rosters = Annotated[
    list[Path] | None,
    typer.Option(
        "--roster",
        metavar="FILE",
        help="Who is in the class: class.csv, or an export of Canvas, Moodle, Gradescope or GitHub Classroom; may be "
        "repeated. DIR/class.csv, if it exists, is read first.",
    ),
]
Accept = Annotated[
    bool, typer.Option("--accept", help="Take a file under another name that has the stage's functions.")
]
Proceed = Annotated[
    bool, typer.Option("--proceed", help="Go on where one reason concerns more than a tenth of the class.")
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, max=256, help="Gradings that compute at once; by default one a core."),
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Grade on a Dask cluster (extra `cluster`), as tcp://HOST:PORT."),
]
Student = Annotated[str, typer.Argument(metavar="STUDENT", help="The name in the gradebook.")]
OneStage = Annotated[
    str | None, typer.Option("--stage", metavar="STAGE", help="Only this stage.", autocompletion=stage_names)
]


Submissions = Annotated[
    Path, typer.Argument(metavar="SUBMISSIONS", help="A folder with an entry for each student, or a CSV list.")
]


def course_and_policy(out: Path, policy: Path | None) -> tuple[Course, Policy]:
    """Return the course, and what class.toml says of it: the one that was named, else the one of the gradebook."""
    from grader.gradebook.class_run import RunOptions, policy_of

    course = open_workspace(Path.cwd()).course
    return course, policy_of(course, RunOptions(out, policy))


def kept_stages(names: list[str] | None, out: Path, key_file: Path | None) -> tuple[Course, tuple[Stage, ...]]:
    """Return the course and the stages that were named, else those that the gradebook has results of."""
    from grader.gradebook.store import Gradebook

    if not names:
        with Gradebook.open(out) as book:
            names = sorted({each.stage for each in book.attempts()})
        if not names:
            raise UsageError(f"the gradebook in {out} holds no attempt", "`grader class grade` keeps some.")
    return named_stages(names, key_file)


def named_stages(names: list[str] | None, key_file: Path | None = None) -> tuple[Course, tuple[Stage, ...]]:
    """Return the course and the stages that were named, in its order; UsageError for none, or an unknown one."""
    course = open_workspace(Path.cwd(), key_file).course
    if not names:
        raise UsageError("no stage is named", f"Name one or several, as in --stage {course.stages[0].id}.")
    ids = {course.find(name).id for name in names}
    return course, tuple(each for each in course.stages if each.id in ids)
