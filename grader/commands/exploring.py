"""`grader explore` and `grader notebook`: what the learner's functions make of an example, drawn or in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.atomic import write_new
from grader.commands.options import AnyStage, ExploredFiles, Isolation, Json
from grader.course.table import together
from grader.errors import UsageError
from grader.progress.workspace import equipped, open_workspace
from grader.report.document import dumps
from grader.report.terminal import screen
from grader.report.terminal.screen import say

if TYPE_CHECKING:
    from rich.console import Console

    from grader.course.stage import Stage
    from grader.explore.cells import Palette
    from grader.explore.model import Exploration, Plan
    from grader.progress.actions import Workspace

ALL_FINE, NOT_ALL = 0, 1
Words = Annotated[
    str | None, typer.Option("--words", metavar="TEXT", help="A sentence of your own, or the beginning of one.")
]
Arrays = Annotated[
    Path | None,
    typer.Option("--input", metavar="FILE.npz", help="Your own embeddings, or Q, K and V; and words."),
]
ExampleName = Annotated[
    str | None,
    typer.Option("--example", metavar="NAME", help="An example that comes along: lesson, identity or banks."),
]
Heads = Annotated[
    int | None,
    typer.Option("--heads", metavar="N", min=1, help="How many heads share the features; by default 2."),
]
OtherSeed = Annotated[
    int | None, typer.Option("--seed", metavar="N", min=0, help="Draw weights or data from another seed.")
]
OneStep = Annotated[int | None, typer.Option("--step", metavar="N", min=1, help="Show this step and its pictures.")]
Png = Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Draw into a PNG picture.")]
Dark = Annotated[bool, typer.Option("--dark", help="Draw the PNG for a dark page; an SVG is as its reader's page is.")]
Each = Annotated[
    Path | None,
    typer.Option("--each", metavar="FOLDER", help="Draw each step into an SVG there, beside exploration.json."),
]
Svg = Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw into an SVG picture.")]


def explore(
    stage: AnyStage = None,
    words: Words = None,
    arrays: Arrays = None,
    name: ExampleName = None,
    heads: Heads = None,
    seed: OtherSeed = None,
    step: OneStep = None,
    png: Png = None,
    svg: Svg = None,
    each: Each = None,
    dark: Dark = False,
    as_json: Json = False,
    isolation: Isolation = "auto",
    submission: ExploredFiles = None,
) -> None:
    """Run your functions on an example, and draw each step.

    Depending on the stage it draws weights, curves, paths, decision borders, images, or graphs. Steps that work are
    shown, steps that are not written yet are listed. Nothing is graded or recorded. Pictures need matplotlib: `uv sync
    --extra plot`. The exit code is 0 if every step works, 1 if one does not.
    """
    from grader.explore import picture

    picture.expect_possible(png, svg)
    if each is not None and not each.is_dir():
        raise UsageError(f"{each} is not a folder", "Name one that exists.")
    target, found = _explored(stage, (words, arrays, heads, name), seed, isolation, submission)
    if step is not None and step > len(found.steps) and found.problem is None:
        raise UsageError(f"{target.id} has {len(found.steps)} steps: --step {step} is none of them")
    one = found if step is None or found.problem is not None else found.of_step(found.steps[step - 1])
    pictures = _drawn(one, png, svg, dark)
    if each is not None:
        _draw_each(found, target, each)
    _show(found, pictures, as_json, step)
    _what_next(target, found, pictures, png or svg)
    if submission is not None and found.ran.isolation_note:
        told = f"warning: run in isolation {found.ran.isolation} only: {found.ran.isolation_note}"
        screen.say(told, style="yellow")
    raise typer.Exit(ALL_FINE if found.fine else NOT_ALL)


def _explored(
    name: str | None,
    sentence: tuple[str | None, Path | None, int | None, str | None],
    seed: int | None,
    isolation: str,
    submission: Path | None,
) -> tuple[Stage, Exploration]:
    """Run the steps of the stage that is meant; sentence holds what --words, --input, --heads and --example gave."""
    from grader.explore.example import example
    from grader.explore.model import plans
    from grader.explore.session import explore as explored
    from grader.submission import take

    workspace = open_workspace(Path.cwd())
    known = plans(workspace.course)
    target = _stage(workspace, name, tuple(known))
    plan = known[target.id]
    given = dict(zip(("--words", "--input", "--heads", "--example"), sentence, strict=True))
    _expect_sentence(target, known, [option for option, value in given.items() if value is not None])
    made = example(*sentence) if plan.of_sentence else None
    if plan.prompt:
        made = example(plan.prompt if sentence[0] is None else sentence[0], None, None)
    handed_in = take(target, submission, workspace.course.root)
    snapshot = equipped(workspace.course, workspace.store, target, handed_in, submission, {})
    if seed is not None and not plan.random:
        screen.say(f"Nothing in {target.id} is drawn at random: --seed {seed} changes nothing.")
    with screen.ticking(target.id):
        return target, explored(workspace.course, target, snapshot, made, seed or 0, isolation)


def _stage(workspace: Workspace, name: str | None, known: tuple[str, ...]) -> Stage:
    """Return the stage of that name, or the one to work on, if it can be explored."""
    from grader.progress.actions import stage_here

    stage = workspace.course.find(name) if name is not None else stage_here(workspace)
    if stage is not None and stage.id in known:
        return stage
    there = [each for each in workspace.course.stages if each.id in known]
    hint = f"These can be explored: {', '.join(each.id for each in there)}." if there else None
    if stage is None:
        raise UsageError("no stage is left to work on, and none was named", hint or "This course has no drawings.")
    raise UsageError(f"{stage.id} has nothing to draw or explore", hint or "This course has no drawings.")


def _expect_sentence(stage: Stage, known: Mapping[str, Plan], options: list[str]) -> None:
    """Raise UsageError where an option about a sentence is given for a stage that has its own data."""
    allowed = ["--words"] if known[stage.id].prompt else []
    options = [option for option in options if option not in allowed]
    if options and not known[stage.id].of_sentence:
        others = [name for name, plan in known.items() if plan.of_sentence]
        which = f", which {together(others)} explore" if others else ""
        message = f"{options[0]} is about a sentence{which}: {stage.id} has its own data"
        raise UsageError(
            message, f"`grader explore {stage.id}` alone shows it; --seed draws other data where any are drawn."
        )


def _drawn(found: Exploration, png: Path | None, svg: Path | None, dark: bool) -> tuple[str, ...]:
    from grader.explore import picture

    wanted = [(kind, file) for kind, file in (("png", png), ("svg", svg)) if file is not None]
    something = bool(found.maps or found.drawings)
    for kind, file in wanted if something else ():
        picture.draw(found, file, kind, dark)
    return tuple(str(file) for _, file in wanted) if something else ()


def _draw_each(found: Exploration, stage: Stage, folder: Path) -> None:
    """Draw the pictures of each step into a file named by its number and the criterion that it is about.

    The numbers stand beside them, as a document; without matplotlib these alone.
    """
    from grader.atomic import write_atomically
    from grader.explore import picture
    from grader.explore.exploration_json import NUMBERS, exploration_document

    write_atomically(folder / NUMBERS, dumps(exploration_document(found)))
    if find_spec("matplotlib") is None:
        return
    for number, step in enumerate(found.steps, start=1):
        own = found.of_step(step)
        criterion = next(filter(None, (stage.criterion_of(part.function) for part in step.parts)), None)
        if criterion is not None and (own.maps or own.drawings):
            picture.draw(own, folder / f"{number:02}-{criterion.id}.svg", "svg", headed=False)


def _show(found: Exploration, pictures: tuple[str, ...], as_json: bool, step: int | None) -> None:
    from grader.explore.cells import View
    from grader.explore.exploration_json import exploration_document
    from grader.explore.terminal import exploration_lines

    if as_json:
        screen.write(dumps(exploration_document(found, pictures)))
        return
    screen.show(exploration_lines(found, View(screen.look(), _palette(screen.console())), step))


def _palette(console: Console) -> Palette | None:
    """Return the colours that a terminal has; with sixteen or none, shades read better."""
    if console.no_color:
        return None
    return "truecolor" if console.color_system == "truecolor" else "256" if console.color_system == "256" else None


def _what_next(stage: Stage, found: Exploration, pictures: tuple[str, ...], wanted: Path | None) -> None:
    """Tell what was drawn, and what comes next."""
    for name in pictures:
        screen.say(f"Drawn: {name}")
    if wanted is not None and not pictures:
        screen.say("There is nothing to draw yet, so no picture was written.")
    if found.look_at is not None:
        own = (each for each in stage.criteria if each.id == found.look_criterion)
        criterion = next(own, stage.criterion_of(found.look_at))
        only = f" --only {criterion.id}" if criterion is not None else ""
        screen.say(f"{found.look_at}: `grader check {stage.id}{only}` says more.")
    if found.next_function is not None:
        criterion = stage.criterion_of(found.next_function)
        name = f" {criterion.id}" if criterion is not None else ""
        screen.say(f"Comes next: {found.next_function}.", f"`grader hint {stage.id}{name}` helps.")


def notebook(
    stage: AnyStage = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it there; by default into the stage's folder."),
    ] = None,
) -> None:
    """Write a notebook that draws what your functions do.

    An existing file is never overwritten. Nothing in a notebook is graded.
    """
    from grader.commands.learning import open_here
    from grader.explore.notebook import notebook as made
    from grader.explore.notebook import suggested
    from grader.progress.actions import stage_or_current

    workspace = open_here()
    target = stage_or_current(workspace, stage)
    text = made(workspace.course, target)
    path = output or suggested(target)
    write_new(path, text, free="Name another file with --output.")
    root = workspace.course.root
    say(f"{path.relative_to(root).as_posix() if path.is_relative_to(root) else path} draws with your {target.module}.")
    say("Open it in VS Code, or with `uv run --extra plot --with jupyterlab jupyter lab`.")
    say("Without uv: `pip install matplotlib jupyterlab`, then `jupyter lab`.")
