"""The options that commands of `grader class` share, and those with which `grade` and `regrade` both run."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.commands.options import Isolation, KeyFile, RequireIsolation, stage_names
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.course.stage import Course, Stage
    from grader.gradebook.session import Wishes

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
        "repeated. By default DIR/class.csv, if it exists.",
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
OneStage = Annotated[
    str | None, typer.Option("--stage", metavar="STAGE", help="Only this stage.", autocompletion=stage_names)
]


class Run:
    """What a run grades and how: the course, its stages in the order of the course, and what the options wish."""

    def __init__(self, course: Course, stages: tuple[Stage, ...], wishes: Wishes) -> None:
        self.course, self.stages, self.wishes = course, stages, wishes


def _run(
    out: Folder,
    stage: Stages = None,
    policy: PolicyFile = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    isolation: Isolation = "auto",
    require_isolation: RequireIsolation = "landlock",
    key_file: KeyFile = None,
) -> Run:
    """Make a run of the options; UsageError where no stage is named, or one that does not exist."""
    from grader.gradebook.session import Wishes
    from grader.progress.workspace import open_workspace

    course = open_workspace(Path.cwd(), key_file).course
    return Run(
        course, named_stages(course, stage), Wishes(out, policy, (), isolation, require_isolation, jobs, cluster)
    )


def named_stages(course: Course, names: list[str] | None) -> tuple[Stage, ...]:
    """Return the stages that were named, in the order of the course; UsageError for none, or an unknown one."""
    if not names:
        raise UsageError("no stage is named", f"Name one or several, as in --stage {course.stages[0].id}.")
    ids = {course.find(name).id for name in names}
    return tuple(each for each in course.stages if each.id in ids)


def with_run(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take the options of a run, which it gets as its first argument; its own stand around them."""
    own = [each for each in inspect.signature(command, eval_str=True).parameters.values() if each.name != "run"]
    shared = list(inspect.signature(_run, eval_str=True).parameters.values())

    @wraps(command)
    def called(**given: Any) -> None:
        mine = {each.name: given.pop(each.name) for each in own}
        command(_run(**given), **mine)

    # By name, so that an option with a default may stand before one without; the help shows them in this order.
    first = [each for each in own if each.default is inspect.Parameter.empty]
    rest = [each for each in own if each.default is not inspect.Parameter.empty]
    ordered = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*first, *shared, *rest)]
    called.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined] # which typer reads
    called.__annotations__ = {each.name: each.annotation for each in ordered}
    return called
