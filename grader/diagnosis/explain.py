"""The door of the diagnosis: the outcomes of a run with the causes of its failures."""

from __future__ import annotations

from collections.abc import Sequence

from grader.diagnosis.answers import Answers
from grader.diagnosis.causes import Explainer
from grader.diagnosis.checks import Ended
from grader.diagnosis.pool import Pool
from grader.diagnosis.runner import RemoteRunner
from grader.outcome import Outcome
from grader.process import uncollected
from grader.sandbox.log import RequestLog


def settled(
    outcomes: Sequence[Outcome],
    log: RequestLog,
    answers: Answers,
    runner: RemoteRunner | None,
    asked: tuple[str, ...] = (),
    pool: Pool | None = None,
) -> list[Outcome]:
    """Return the outcomes of a whole run with the causes of its failures.

    runner tries changed forms of the module; without one, causes are known mistakes and what answers show alone.
    asked holds criteria that somebody wants to read the causes of: they get a full share of the trials.
    pool holds right modules of a class, whose values tell where the module's first go wrong.
    """
    if answers.is_stub:
        return list(outcomes)
    explainer = Explainer(
        answers.stage, answers.learner, answers.reference_text, answers.mistakes, answers.rights, runner,
        answers.stub_text, asked, pool,
    )  # fmt: skip
    with uncollected():
        return explainer.explained(
            outcomes, [Ended.of(*each) for each in log.failed], [Ended.of(*each) for each in log.passed]
        )
