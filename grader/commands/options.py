"""The arguments and options that several commands share, and what the shell completes for them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from grader.course.stage import FEEDBACK
from grader.course.table import listed
from grader.errors import GraderError, UsageError
from grader.progress.workspace import open_workspace
from grader.report.formats import CHECKS


def stage_names(incomplete: str) -> list[tuple[str, str]]:
    """Complete a stage by its id or its folder's name."""
    try:
        stages = open_workspace(Path.cwd()).course.stages
    except GraderError:
        return []
    names = [(name, stage.title) for stage in stages for name in (stage.id, stage.name)]
    return [each for each in names if each[0].startswith(incomplete)]


def criterion_names(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Complete a criterion of the stage that was named before it, or of all stages."""
    try:
        course = open_workspace(Path.cwd()).course
        stages = (course.find(name),) if (name := context.params.get("stage")) else course.stages
    except GraderError:
        return []
    return [(each.id, each.text) for stage in stages for each in stage.criteria if each.id.startswith(incomplete)]


def step_names(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Complete a step of the stage that was named before it: by its number, or by a criterion or function of it."""
    from grader.progress.readme_steps import readme, steps_of

    try:
        stage = open_workspace(Path.cwd()).course.find(context.params.get("stage") or "")
        steps = steps_of(stage, readme(stage))
    except GraderError:
        return []
    found = {str(step.number): step.title for step in steps}
    for criterion in stage.criteria:
        found |= {name: criterion.text for name in (*criterion.functions, criterion.id) if "__" not in name}
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
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in CHECKS if name.startswith(last)]


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
CriterionName = Annotated[
    str | None,
    typer.Argument(metavar="CRITERION", help="A criterion, by its id or function.", autocompletion=criterion_names),
]
StepName = Annotated[
    str | None,
    typer.Argument(
        metavar="STEP", help="A criterion, a function, or the number of a step; by default all of it.",
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
CriterionOption = Annotated[
    str | None, typer.Option("--row", metavar="CRITERION", hidden=True, help="CRITERION, as scripts may still say it.")
]
OnlyCriterion = Annotated[
    str | None,
    typer.Option(
        "--only", metavar="CRITERION", help="Grade one criterion, by id or function.", autocompletion=criterion_names
    ),
]


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
        help=f"Write reports: {', '.join(CHECKS.own)}.",
        autocompletion=_format_names,
    ),
]


PANEL = "For instructors"


def lent_from(text: str) -> datetime | None:
    """Return from when on --lend lends references, None for never; raises UsageError."""
    from grader.submission.earlier import ALWAYS

    if text in ("passed", "always"):
        return None if text == "passed" else ALWAYS
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        why = "works only in class.toml" if text == "deadline" else "does not say when references are lent"
        hint = "Expected passed, always, or a date and time, as in 2026-11-30T23:59:00+01:00."
        raise UsageError(f"--lend {text!r} {why}", hint) from None
    if moment.tzinfo is None:
        raise UsageError(f"--lend {text!r} has no UTC offset; expected e.g. 2026-11-30T23:59:00+01:00")
    return moment


def _known_lend(text: str) -> str:
    lent_from(text)
    return text


def _lend_names(incomplete: str) -> list[str]:
    return [name for name in ("passed", "always") if name.startswith(incomplete)]


def _level_names(incomplete: str) -> list[str]:
    return [level for level in FEEDBACK if level.startswith(incomplete)]


def _known_level(name: str) -> str:
    if name not in FEEDBACK:
        raise UsageError(f"{name!r} is not a level of feedback", f"Choose {listed(FEEDBACK)}.")
    return name


def _named_student(name: str | None) -> str | None:
    from grader.course.provenance import STUDENT

    if name is not None and not STUDENT.fullmatch(name):
        hint = "Expected at most 100 letters, digits, and . @ / + - _"
        raise UsageError(f"{name!r} cannot be the name of a student", hint)
    return name


RequireIsolation = Annotated[
    str,
    typer.Option(
        "--require-isolation",
        rich_help_panel=PANEL,
        metavar="TIER",
        help="Reject isolation weaker than this tier.",
        callback=known_tier,
        autocompletion=tier_names,
    ),
]
GradedFiles = Annotated[
    Path | None,
    typer.Option(
        "--submission",
        rich_help_panel=PANEL,
        metavar="PATH",
        help="Grade someone's course, folder, module, archive or repo@revision; record nothing.",
    ),
]
Lend = Annotated[
    str,
    typer.Option(
        "--lend",
        rich_help_panel=PANEL,
        metavar="WHEN",
        help="With --submission: when an earlier stage's reference stands in for a module that has not passed: "
        "passed (never), always, or a date and time with its offset, from which on.",
        callback=_known_lend,
        autocompletion=_lend_names,
    ),
]
Student = Annotated[
    str | None,
    typer.Option(
        "--student",
        metavar="NAME",
        rich_help_panel=PANEL,
        help="Whose work it is, for reports and the receipt.",
        callback=_named_student,
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="KEY",
        rich_help_panel=PANEL,
        help="Opens hidden tests that are sealed; or GRADER_KEY_FILE.",
    ),
]
Receipt = Annotated[
    Path | None,
    typer.Option("--receipt", metavar="FILE", rich_help_panel=PANEL, help="Write a signed receipt of the verdict."),
]
SigningKey = Annotated[
    Path | None,
    typer.Option("--signing-key", metavar="KEY", rich_help_panel=PANEL, help="The private key that signs the receipt."),
]
FeedbackLevel = Annotated[
    str,
    typer.Option(
        "--feedback",
        rich_help_panel=PANEL,
        metavar="LEVEL",
        help="How much to tell about hidden tests: full, hint or verdict; never more than the stage allows.",
        callback=_known_level,
        autocompletion=_level_names,
    ),
]
