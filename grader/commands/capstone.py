"""`grader capstone`: train a language model on one's own modules, and have it write."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands.options import Isolation, Json
from grader.errors import UsageError
from grader.progress.workspace import equipped, open_workspace
from grader.report.document import dumps
from grader.report.terminal import screen
from grader.report.terminal.layout import paragraph

if TYPE_CHECKING:
    from grader.capstone.session import Setting, TrainingResult
    from grader.explore.cells import View

MOST_TOKENS, MOST_PROMPT = 5000, 10_000
app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def capstone(
    context: typer.Context,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew; the checkpoint so far is kept under another name.")
    ] = False,
    as_json: Json = False,
    isolation: Isolation = "auto",
) -> None:
    """Train a language model that is made of your stages.

    It runs in the sandbox, on your own modules where they have passed and on the reference's elsewhere. Stop it with
    Ctrl-C, or in any other way: the same command goes on from the last checkpoint, and ends with the same model. At the
    end it compares perplexities with tables of one, two and three tokens, and prints a page that the model writes.
    """
    if context.invoked_subcommand is not None:
        if fresh:
            raise UsageError("--fresh is about training", "`grader capstone --fresh` trains anew.")
        return
    from grader.capstone.showing import outcome_lines, training_document

    setting = _setting(isolation)
    step, outcome = _trained(setting, fresh)
    if as_json:
        screen.write(dumps(training_document(setting, outcome, step)))
        return
    screen.show(outcome_lines(setting, outcome, _view()))
    screen.say('`grader capstone generate "Your words"` continues a text of yours.')


def _trained(setting: Setting, fresh: bool) -> tuple[int, TrainingResult]:
    """Train to the end; return the step at which training went on, and what came of it."""
    from grader.capstone.session import kept, last, train
    from grader.capstone.showing import about, telling
    from grader.capstone.trainee import TrainingFailed

    with setting.checkpoints.locked():
        for said in about(setting):
            screen.say(said)
        begun = last(setting, screen.say, fresh)
        if begun is not None and begun.step < setting.plan.steps:
            screen.say(f"Training goes on from step {begun.step} of {setting.plan.steps}.")
        try:
            with telling(setting.plan.title, _view(error=True)) as told:
                outcome = train(setting, begun, told)
        except (KeyboardInterrupt, TrainingFailed):
            screen.say(kept(setting))
            raise
    return begun.step if begun else 0, outcome


@app.command()
def generate(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="The beginning of the text, in quotes.")],
    tokens: Annotated[
        int, typer.Option("--tokens", metavar="N", min=1, max=MOST_TOKENS, help="How many tokens to add.")
    ] = 100,
    temperature: Annotated[
        float, typer.Option("--temperature", metavar="T", help="Below 1 the likely becomes likelier; above 0.")
    ] = 0.8,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Draw other tokens.")] = 0,
    as_json: Json = False,
    isolation: Isolation = "auto",
) -> None:
    """Continue a text with the model of the last checkpoint.

    The same prompt, seed and temperature give the same text. Training need not be finished.
    """
    from grader.capstone.session import write
    from grader.capstone.showing import continuation_document

    _expect_prompt(prompt, temperature)
    setting = _setting(isolation)
    asked = (prompt, tokens, temperature, seed)
    found, text = write(setting, *asked)
    if as_json:
        screen.write(dumps(continuation_document(setting, found, asked, text)))
        return
    if found.step < setting.plan.steps:
        screen.say(f"The model is at step {found.step} of {setting.plan.steps}: `grader capstone` goes on training.")
    screen.show(paragraph(text, screen.look(), indent=0))


def _expect_prompt(prompt: str, temperature: float) -> None:
    """Raise UsageError where a text cannot be continued so."""
    if len(prompt) > MOST_PROMPT:
        raise UsageError(f"the prompt has {len(prompt)} characters: at most {MOST_PROMPT} are allowed", "Shorten it.")
    try:
        prompt.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError("the prompt is not valid UTF-8", "Type it again in a terminal that uses UTF-8.") from None
    if not (math.isfinite(temperature) and temperature > 0):
        raise UsageError(f"--temperature {temperature:g} is not a positive number", "0.8 is a good one to begin with.")


def _setting(isolation: str) -> Setting:
    """Return what training takes, with the modules that the script may import."""
    import hashlib

    from grader.capstone.checkpoint import Checkpoints
    from grader.capstone.plan import FOLDER, read_plan
    from grader.capstone.session import Setting
    from grader.isolation import tiers
    from grader.submission import Snapshot

    workspace = open_workspace(Path.cwd())
    course = workspace.course
    plan = read_plan(course)
    stage, digest = plan.stage, hashlib.sha256(plan.source).hexdigest()
    script = Snapshot(stage.module, plan.source, digest, stage.module_path, f"{FOLDER}/{stage.module}")
    snapshot = equipped(course, workspace.store, stage, script, None, {})
    tier, _ = tiers.choose(isolation)
    return Setting(plan, snapshot, tier, Checkpoints(course.root), course)


def _view(error: bool = False) -> View:
    from grader.explore.cells import View

    return View(screen.look(error), None)
