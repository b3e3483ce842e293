"""A training from its beginning, or from where it stopped, to the page that the model writes.

Tables of one, two and three tokens on the same text give the perplexities that a model has to beat. Each falls back on
the shorter one, as Dirichlet smoothing does:

    p1(c)         = (n(c) + 1) / (n + V)
    p2(c | b)     = (n(b c) + p1(c)) / (n(b) + 1)
    p3(c | a b)   = (n(a b c) + p2(c | b)) / (n(a b) + 1)

n counts in the text that is trained on; n(b) is how often anything follows b there. V is the size of the vocabulary.
Source: MacKay and Peto 1995, with a weight of 1.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np

from grader.capstone.checkpoint import Checkpoint, Checkpoints, Damaged, plain_copy
from grader.capstone.plan import CapstoneManifest
from grader.capstone.trainee import Trainee, TrainingFailed, trainee
from grader.course.stage import Course
from grader.errors import ProgressError, UsageError
from grader.isolation import tiers
from grader.submission import Snapshot


@dataclass(frozen=True)
class Perplexities:
    """exp of the mean of -log p over every held-out token but the first."""

    unigram: float
    bigram: float
    trigram: float


def perplexities(training: Sequence[int], held_out: Sequence[int], vocabulary_size: int) -> Perplexities:
    """Count in one text, and say how well that tells the other; held_out has at least two tokens.

    The second token of held_out has only one before it, and its trigram is p2.

    >>> found = perplexities([0, 1, 0, 1], [0, 1], 2)
    >>> round(found.unigram, 4), round(found.bigram, 4)  # p1 = 3/6, p2 = (2 + 0.5) / 3
    (2.0, 1.2)
    """
    ones, pairs = Counter(training), Counter(pairwise(training))
    triples = Counter(zip(training, training[1:], training[2:], strict=False))
    after_one, after_two = Counter(training[:-1]), Counter(pairwise(training[:-1]))
    sums = [0.0, 0.0, 0.0]
    for place in range(1, len(held_out)):
        before, token = held_out[place - 1], held_out[place]
        p1 = (ones[token] + 1) / (len(training) + vocabulary_size)
        p2 = (pairs[before, token] + p1) / (after_one[before] + 1)
        p3 = p2
        if place > 1:
            both = held_out[place - 2], before
            p3 = (triples[*both, token] + p2) / (after_two[both] + 1)
        for number, share in enumerate((p1, p2, p3)):
            sums[number] -= math.log(share)
    return Perplexities(*(math.exp(each / (len(held_out) - 1)) for each in sums))


Clock = Callable[[], float]
MOST_TEXT = 1_000_000  # characters that one call may write


@dataclass(frozen=True)
class Moment:
    """How far training is: steps taken out of total, the loss of each, and the seconds that they took."""

    step: int
    total: int
    losses: tuple[float, ...]
    seconds: float


@dataclass(frozen=True)
class TrainingResult:
    """What a training reached: held-out perplexities of the model and of tables, and what the model writes."""

    moment: Moment
    perplexity: float
    baselines: Perplexities
    tokens: int  # of the held-out text
    vocabulary_size: int
    text: str


@dataclass(frozen=True)
class Setting:
    """What training takes: the plan, the script with the modules it builds on, the tier, and where checkpoints lie."""

    plan: CapstoneManifest
    snapshot: Snapshot
    tier: tiers.Tier
    checkpoints: Checkpoints
    course: Course

    @property
    def own_loop(self) -> bool:
        """Whether the learner's own loop takes the steps."""
        return any(each.use.stage == self.plan.loop and each.use.source == "own" for each in self.snapshot.uses)

    @property
    def settings(self) -> dict[str, Any]:
        """What the script is handed: the plan's settings, and whose loop takes the steps."""
        return {**self.plan.settings, "own_loop": self.own_loop}

    @contextmanager
    def trainee(self) -> Iterator[Trainee]:
        """Start the process that trains and writes."""
        with trainee(self.plan.stage, self.snapshot, self.tier, self.course.root) as started:
            yield started


OnMoment = Callable[[Moment], None]
Say = Callable[[str], None]


def last(setting: Setting, say: Say, fresh: bool = False) -> Checkpoint | None:
    """Return where training stopped; None where it has to begin. A checkpoint is never lost: it gets another name.

    Only under the lock. Raises UsageError where the checkpoint is of another capstone than the one that stands here.
    """
    kept, now = setting.checkpoints, datetime.now(UTC)
    if fresh:
        if (aside := kept.set_aside("before", now)) is not None:
            say(f"The checkpoint so far is kept as .grader/capstone/{aside.name}.")
        return None
    try:
        found = kept.read()
    except Damaged as damage:
        aside = kept.set_aside("damaged", now)
        name = aside.name if aside else "?"
        say(f"{kept.shown} {damage}; it is kept as .grader/capstone/{name}. Training begins anew.")
        return None
    if found is None:
        return None
    fitting(setting, found)
    if changed := [use.stage for use in _uses(setting) if use not in found.uses]:
        say(f"Since the checkpoint, {', '.join(changed)} changed: training goes on with what stands there now.")
    return found


def _uses(setting: Setting) -> tuple[Any, ...]:
    return tuple(each.use for each in setting.snapshot.uses)


def fitting(setting: Setting, found: Checkpoint) -> None:
    """Raise UsageError unless a checkpoint was made with the capstone's present files."""
    if found.fingerprint != setting.plan.fingerprint:
        what = f"{setting.checkpoints.shown} was made with another capstone.toml, script or text"
        hint = "Put them back, or begin anew: `grader capstone --fresh` keeps the checkpoint under another name."
        raise UsageError(what, hint)


def kept(setting: Setting) -> str:
    """Return what is left of a training that was stopped, in words."""
    try:
        found = setting.checkpoints.read()
    except Damaged as damage:
        return f"{setting.checkpoints.shown} {damage}."
    if found is None:
        return "Nothing was trained yet."
    return f"Step {found.step} of {setting.plan.steps} is kept: `grader capstone` goes on from there."


def train(
    setting: Setting, begun: Checkpoint | None, on_moment: OnMoment, clock: Clock = time.monotonic
) -> TrainingResult:
    """Train from a checkpoint, or from the beginning, to the last step, then measure and write; only under the lock."""
    plan = setting.plan
    with setting.trainee() as process:
        reached = begun or _beginning(setting, process)
        while reached.step < plan.steps:
            on_moment(_moment(plan, reached))
            started = clock()
            reached = _further(setting, process, reached)
            reached = replace(reached, seconds=reached.seconds + clock() - started)
            setting.checkpoints.write(reached)
        on_moment(_moment(plan, reached))
        return _outcome(setting, process, reached)


def write(setting: Setting, prompt: str, tokens: int, temperature: float, seed: int) -> tuple[Checkpoint, str]:
    """Return the last checkpoint, and the prompt as its model continues it."""
    try:
        found = setting.checkpoints.read()
    except Damaged as damage:
        hint = "`grader capstone` keeps it under another name and trains anew."
        raise ProgressError(f"{setting.checkpoints.shown} {damage}", hint) from None
    if found is None:
        raise UsageError("there is no trained model yet", "`grader capstone` trains one.")
    fitting(setting, found)
    with setting.trainee() as process:
        return found, _written(setting, process, found, (prompt, tokens, temperature, seed))


def _beginning(setting: Setting, process: Trainee) -> Checkpoint:
    plan = setting.plan
    prepared = plain_copy(process.call("prepare", *plan.parts, setting.settings), "what prepare returned")
    _expect_tokens(prepared)
    state = plain_copy(process.call("begin", prepared, setting.settings, plan.seed), "what begin returned")
    return Checkpoint(plan.fingerprint, 0, 0.0, _uses(setting), prepared, state, ())


def _expect_tokens(prepared: Any) -> None:
    """Raise TrainingFailed unless the text came back as tokens of a vocabulary, at least two in each part."""
    match prepared:
        case {"vocabulary_size": int(size), "training": np.ndarray() as training, "held_out": np.ndarray() as held_out}:
            sound = all(
                ids.ndim == 1 and ids.dtype.kind in "iu" and len(ids) > 1 and ids.min() >= 0 and ids.max() < size
                for ids in (training, held_out)
            )
        case _:
            sound = False
    if not sound:
        what = "prepare returned no texts as tokens: expected training and held_out, integers below vocabulary_size"
        raise TrainingFailed(what, "Do encoder and merges of your tokenizer pass? `grader status` shows it.")


def _further(setting: Setting, process: Trainee, reached: Checkpoint) -> Checkpoint:
    """Return what is reached by the next few steps; TrainingFailed where the loss is no number any more."""
    plan, first = setting.plan, reached.step
    size = min(plan.chunk, plan.steps - first)
    given = (reached.state, reached.prepared, setting.settings, plan.seed, first, size, plan.steps)
    found = process.call("advance", *given)
    match found:
        case (state, list() as losses) if len(losses) == size and all(type(each) in (int, float) for each in losses):
            pass
        case _:
            raise TrainingFailed(f"advance returned no state and {size} losses")
    wrong = next((place for place, each in enumerate(losses) if not math.isfinite(each)), None)
    if wrong is not None:
        hint = "Does every stage that is used pass? `grader status` shows it."
        raise TrainingFailed(f"the loss of step {first + wrong + 1} is {losses[wrong]}", hint)
    kept = plain_copy(state, "state")
    return replace(
        reached, step=first + size, state=kept, uses=_uses(setting), losses=(*reached.losses, *map(float, losses))
    )


def _moment(plan: CapstoneManifest, reached: Checkpoint) -> Moment:
    return Moment(reached.step, plan.steps, reached.losses, reached.seconds)


def _outcome(setting: Setting, process: Trainee, reached: Checkpoint) -> TrainingResult:
    """Measure the model and the tables on the same tokens, and have the model write."""
    plan = setting.plan
    _expect_tokens(reached.prepared)
    mean = process.call("measure", reached.state, reached.prepared, setting.settings)
    if type(mean) not in (int, float) or not 0 <= mean < 100:
        raise TrainingFailed(f"measure returned {str(mean)[:50]}, which is no mean of -log p")
    ids, size = reached.prepared, reached.prepared["vocabulary_size"]
    tables = perplexities(ids["training"].tolist(), ids["held_out"].tolist(), size)
    text = _written(setting, process, reached, (plan.prompt, plan.tokens, plan.temperature, plan.seed))
    return TrainingResult(_moment(plan, reached), math.exp(mean), tables, len(ids["held_out"]), size, text)


def _written(setting: Setting, process: Trainee, reached: Checkpoint, asked: tuple[str, int, float, int]) -> str:
    text = process.call("write", reached.state, reached.prepared, setting.settings, *asked)
    if type(text) is not str or len(text) > MOST_TEXT:
        raise TrainingFailed("write returned no text, or one of more than a million characters")
    return text
