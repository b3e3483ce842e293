"""A training and a continuation as JSON documents of a published shape (capstone.schema.json)."""

from __future__ import annotations

from dataclasses import asdict

from grader import __version__
from grader.capstone.checkpoint import Checkpoint
from grader.capstone.session import Outcome, Setting
from grader.report.document import Document, plain_text

SCHEMA = 1


def training_document(setting: Setting, outcome: Outcome, begun_at: int) -> Document:
    """Return what a training reached; begun_at is the step that this run began from."""
    moment = outcome.moment
    return {
        "schema": SCHEMA,
        "course": __version__,
        "title": setting.plan.title,
        "isolation": setting.tier,
        "uses": [asdict(each.use) for each in setting.snapshot.uses],
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
