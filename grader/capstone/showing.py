"""A training in a terminal, live or in plain lines and as JSON documents (capstone.schema.json)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from grader import __version__
from grader.capstone.checkpoint import Checkpoint
from grader.capstone.session import Moment, Setting, TrainingResult
from grader.explore.cells import View
from grader.explore.model import Chart, Curves, Series
from grader.explore.plotting import LEAST, chart_block
from grader.explore.terminal import drawing_lines
from grader.report.document import Document, plain_text
from grader.report.terminal import screen
from grader.report.terminal.layout import INDENT, heading, paragraph

if TYPE_CHECKING:
    from rich.text import Text

LINES = 20  # of a training that nobody watches
HEIGHT, WIDEST = 8, 76  # of the live curve
POINTS = 200  # of a curve
NAME, NUMBER = 33, 9  # columns of a table's name, and of its perplexity
WHOSE = {"own": "yours", "reference": "the reference's", "given": "given by the course"}


@contextmanager
def telling(title: str, view: View) -> Iterator[Callable[[Moment], None]]:
    """Show on stderr how far training is: live on a terminal, elsewhere a line now and then."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield _Lines()
        return
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    console = screen.console(error=True)
    first = Text(view.look.clean(f"{title} · reading the text"))
    with Live(first, console=console, transient=True, auto_refresh=False) as live:
        yield lambda moment: live.update(Group(*moment_lines(title, moment, view)), refresh=True)


class _Lines:
    """Tells every twentieth of a training on a line."""

    def __init__(self) -> None:
        self._told = -1

    def __call__(self, moment: Moment) -> None:
        part = LINES * moment.step // moment.total
        if part > self._told:
            self._told = part
            screen.say(f"{progress(moment)}{recent(moment)}")


def progress(moment: Moment) -> str:
    """Return how far training is, in words.

    >>> progress(Moment(30, 120, (), 6.0))
    '30 of 120 steps · 6 s, about 18 s left'
    """
    left = moment.seconds / moment.step * (moment.total - moment.step) if moment.step else 0
    time = f" · {span(moment.seconds)}" if moment.step else ""
    return f"{moment.step} of {moment.total} steps{time}" + (f", about {span(left)} left" if left else "")


def recent(moment: Moment) -> str:
    """Return the mean loss of the last steps, in words; empty before the first."""
    last = moment.losses[-10:]
    return f" · loss {sum(last) / len(last):.3f}" if last else ""


def span(seconds: float) -> str:
    """Return a time in words.

    >>> span(59.6), span(192)
    ('1 min', '3 min 12 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    return " ".join([*([f"{minutes} min"] if minutes else []), *([f"{rest} s"] if rest or not minutes else [])])


def moment_lines(title: str, moment: Moment, view: View) -> list[Text]:
    """Return what is shown while training runs: title and bar, how far it is, and the curve so far."""
    look = view.look
    lines = heading(title, f"{moment.step} of {moment.total}", look.bar(moment.step, moment.total), look)
    lines += paragraph(f"{progress(moment)}{recent(moment)}", look)
    width = min(look.detail - INDENT, WIDEST)
    if len(moment.losses) > 1 and width >= LEAST:
        drawing = curve(moment)
        lines += chart_block(drawing.panels[0], drawing, width, HEIGHT, view)
    return lines


def curve(moment: Moment) -> Curves:
    """Return the loss of each step, as means of stretches that leave some two hundred points."""
    size = max(1, len(moment.losses) // POINTS)
    stretches = [moment.losses[i : i + size] for i in range(0, len(moment.losses), size)]
    y = tuple(sum(each) / len(each) for each in stretches)
    x = tuple(float(place * size + len(each)) for place, each in enumerate(stretches))
    chart = Chart("loss", (Series("loss", x, y),))
    return Curves(
        "loss", "The loss, step by step", "it is the mean of -log p of the next token.", "step", "loss", (chart,)
    )


def outcome_lines(setting: Setting, outcome: TrainingResult, view: View) -> list[Text]:
    """Return what came of a training: whose modules, the curve, perplexities, and the page."""
    from rich.text import Text

    look, moment = view.look, outcome.moment
    lines = heading(setting.plan.title, f"{moment.step} steps", look.bar(moment.step, moment.total), look)
    for said in (*about(setting), f"Trained in {span(moment.seconds)}."):
        lines += paragraph(said, look)
    lines += [*drawing_lines(curve(moment), view), Text("")]
    what = f"Perplexity on {outcome.tokens} held-out tokens of {outcome.vocabulary_size} different ones"
    lines += paragraph(what, look, "bold", indent=0)
    tables = outcome.baselines
    rows = {"table of single tokens (unigram)": tables.unigram, "table of pairs (bigram)": tables.bigram,
            "table of triples (trigram)": tables.trigram, "your model": outcome.perplexity}  # fmt: skip
    wide = NAME if look.detail >= INDENT + NAME + NUMBER else 0
    lines += [line for name, value in rows.items() for line in paragraph(f"{name:<{wide}} {value:>8.2f}", look)]
    lines += paragraph(_verdict(outcome), look, "green" if outcome.perplexity < tables.trigram else "yellow")
    return [*lines, Text(""), Text("What it writes", "bold"), *paragraph(outcome.text, look)]


def whose(setting: Setting) -> str:
    """Return whose modules are used, in words: which are the learner's, and which the reference's."""
    found = {label: [each.use.stage for each in setting.snapshot.uses if each.use.source == kind]
             for kind, label in WHOSE.items()}  # fmt: skip
    told = " · ".join(f"{', '.join(names)}: {label}" for label, names in found.items() if names)
    return f"Made of {told}"


def about(setting: Setting) -> Iterator[str]:
    """Yield what is trained, in sentences: whose modules, which model of several, whose loop, if it may be yours."""
    yield f"{whose(setting)}."
    plan = setting.plan
    if plan.model:
        yield f"The model is that of {plan.model}."
    if setting.own_loop:
        yield f"Your own loop, that of {plan.loop}, trains it."
    elif plan.loop:
        yield f"The capstone's loop trains it; yours takes its place once your {plan.loop} has passed."


def _verdict(outcome: TrainingResult) -> str:
    ratio = outcome.baselines.trigram / outcome.perplexity
    if ratio > 1:
        return (
            f"Your model is as unsure as among {outcome.perplexity:.1f} tokens: {ratio:.2f} times better than triples."
        )
    return "Tables of triples do better. Did every stage that is used pass? `grader status` shows it."


SCHEMA = 1


def training_document(setting: Setting, outcome: TrainingResult, begun_at: int) -> Document:
    """Return what a training reached; begun_at is the step that this run began from."""
    moment = outcome.moment
    return {
        "schema": SCHEMA,
        "course": __version__,
        "title": setting.plan.title,
        "isolation": setting.tier,
        "uses": [asdict(each.use) for each in setting.snapshot.uses],
        **({"model": setting.plan.model} if setting.plan.model else {}),
        **({"loop": "own" if setting.own_loop else "script"} if setting.plan.loop else {}),
        "begun_at": begun_at,
        "steps": moment.step,
        "seconds": round(moment.seconds, 3),
        "losses": list(moment.losses),
        "vocabulary_size": outcome.vocabulary_size,
        "held_out_tokens": outcome.tokens,
        "perplexity": outcome.perplexity,
        "baselines": asdict(outcome.baselines),
        "prompt": setting.plan.prompt,
        "text": plain_text(outcome.text),
        "checkpoint": setting.checkpoints.shown,
    }


def continuation_document(
    setting: Setting, found: Checkpoint, asked: tuple[str, int, float, int], text: str
) -> Document:
    """Return a prompt as a model continues it; asked holds prompt, tokens, temperature and seed."""
    prompt, tokens, temperature, seed = asked
    return {
        "schema": SCHEMA,
        "course": __version__,
        "title": setting.plan.title,
        "isolation": setting.tier,
        "uses": [asdict(each.use) for each in setting.snapshot.uses],
        "step": found.step,
        "steps": setting.plan.steps,
        "prompt": plain_text(prompt),
        "tokens": tokens,
        "temperature": temperature,
        "seed": seed,
        "text": plain_text(text),
    }
