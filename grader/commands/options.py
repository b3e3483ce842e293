"""The arguments and options that several commands share, and what the shell completes for them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.errors import GraderError, UsageError


def stage_names(incomplete: str) -> list[tuple[str, str]]:
    """Complete a stage by its id or its folder's name."""
    from grader.progress.workspace import open_workspace

    try:
        stages = open_workspace(Path.cwd()).course.stages
    except GraderError:
        return []
    names = [(name, stage.title) for stage in stages for name in (stage.id, stage.name)]
    return [each for each in names if each[0].startswith(incomplete)]


def row_names(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Complete a row of the stage that was named before it, or of all stages."""
    from grader.progress.workspace import open_workspace

    try:
        course = open_workspace(Path.cwd()).course
        stages = (course.find(name),) if (name := context.params.get("stage")) else course.stages
    except GraderError:
        return []
    return [(row.id, row.text) for stage in stages for row in stage.criteria if row.id.startswith(incomplete)]


def step_names(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Complete a step of the stage that was named before it: by its number, or by a row or function of it."""
    from grader.progress.steps import readme, steps_of
    from grader.progress.workspace import open_workspace

    try:
        stage = open_workspace(Path.cwd()).course.find(context.params.get("stage") or "")
        steps = steps_of(stage, readme(stage))
    except GraderError:
        return []
    found = {str(step.number): step.title for step in steps}
    for row in stage.criteria:
        found |= {name: row.text for name in (*row.functions, row.id) if "__" not in name}
    return [(name, about) for name, about in found.items() if name.startswith(incomplete)]


def tier_names(incomplete: str) -> list[str]:
    from grader.isolation.tiers import TIERS

    return [name for name in ("auto", *TIERS) if name.startswith(incomplete)]


def known_tier(name: str) -> str:
    known = tier_names("")
    if name not in known:
        raise UsageError(f"{name!r} is not an isolation tier", f"Choose {', '.join(known[:-1])} or {known[-1]}.")
    return name


def _format_names(incomplete: str) -> list[str]:
    from grader.report.formats import RENDER

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in RENDER if name.startswith(last)]


_STAGE_HELP = "Its id, its number, its topic, or a path into its folder"
StageName = Annotated[str, typer.Argument(metavar="STAGE", help=f"{_STAGE_HELP}.", autocompletion=stage_names)]
AnyStage = Annotated[
    str | None,
    typer.Argument(metavar="STAGE", help=f"{_STAGE_HELP}; by default where you are.", autocompletion=stage_names),
]
PassedStage = Annotated[
    str | None,
    typer.Argument(
        metavar="STAGE",
        help=f"{_STAGE_HELP}; by default where you are, or the last that has passed.",
        autocompletion=stage_names,
    ),
]
RowName = Annotated[
    str | None,
    typer.Argument(metavar="CRITERION", help="A row, by its id or its function.", autocompletion=row_names),
]
StepName = Annotated[
    str | None,
    typer.Argument(
        metavar="STEP", help="A row, a function, or the number of a step; by default all of it.",
        autocompletion=step_names,
    ),
]  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="Print a JSON document instead of text.")]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", min=0, help="Use the inputs of an earlier run.")]
Isolation = Annotated[
    str,
    typer.Option(
        "--isolation",
        metavar="TIER",
        help="bubblewrap, landlock or process; auto takes the strongest that works.",
        callback=known_tier,
        autocompletion=tier_names,
    ),
]
ExploredFiles = Annotated[
    Path | None,
    typer.Option(
        "--submission", metavar="PATH", help="Explore someone's course, folder, module, archive or repo@revision."
    ),
]
OnlyRow = Annotated[
    str | None,
    typer.Option("--only", metavar="CRITERION", help="Grade one row, by id or function.", autocompletion=row_names),
]


ShownRow = Annotated[
    str | None,
    typer.Option(
        "--row", metavar="CRITERION", help="Show one row whole, by id or function; all are graded.",
        autocompletion=row_names,
    ),
]  # fmt: skip


EveryStage = Annotated[
    bool,
    typer.Option("--all", help="Grade every stage that is unlocked or begun; with --submission, all."),
]
BegunStages = Annotated[
    bool, typer.Option("--begun", help="Grade every stage whose module you have changed; it is fine if none is.")
]
Anyway = Annotated[bool, typer.Option("--anyway", help="Grade a stage that is locked, too; nothing is recorded then.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every test that did not pass, in full.")]
Formats = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME[=FILE],...",
        help="Write reports: json, junit, github, gradescope, autograding, classroom50, problems.",
        autocompletion=_format_names,
    ),
]
