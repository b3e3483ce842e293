"""Watches over judges: one at a time, a new one where one dies, until every test has an outcome or time is up.

A judge that dies, swells or stalls costs the test that it was at. Whether the submission or the course is to blame, the
next judge finds out: it runs that test with the reference alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from grader.judging.judge_process import Forked, Judges, Taken, followed
from grader.judging.outcomes import charged
from grader.judging.pytest_suite import criterion_of, kind_of
from grader.judging.session import judge
from grader.judging.task import (
    OVERTIME_SECONDS,
    SEARCH_SECONDS,
    Death,
    Findings,
    JudgeTask,
    Messages,
    records,
    unpacked,
)
from grader.outcome import CUT, SEARCH, Call, Diagnosis, Gradient, Outcome, Status, Where
from grader.sandbox.limits import STAGE_OVER
from grader.submission.parsing import Problem

RECORDS = records([Call, Diagnosis, Gradient, Outcome, Problem, Where])
OnTest = Callable[[Outcome], None]


class TaskJudges(Judges, Protocol):
    """Starts judges, each for a task."""

    def begin(self, task: JudgeTask) -> Messages:
        """Start a judge and return the connection to it."""


class ForkedJudges(Forked):
    """Judges that are forks of this process."""

    def begin(self, task: JudgeTask) -> Messages:
        return self.start(partial(judge, task), task.suite.stage.limits.judge_mb)


class Supervisor:
    """Has one task judged to its end; on_test is told of each test as soon as its outcome is known.

    on_decided is told of all outcomes before the causes of failures are looked for, where any are.
    """

    def __init__(
        self,
        task: JudgeTask,
        judges: TaskJudges,
        on_test: OnTest | None = None,
        on_decided: Callable[[Findings], None] | None = None,
    ) -> None:
        self._task = task
        self._judges = judges
        self._on_test = on_test
        self._on_decided = on_decided
        self._items = task.suite.in_order(task.criteria_first)
        self._outcomes: dict[int, Outcome] = {}
        self._told: dict[int, Status] = {}
        self._of_this_judge: set[int] = set()
        self._faults: list[str] = []
        self._problem: Problem | None = None
        self._names: frozenset[str] = frozenset()
        self._loaded = False
        self._passing: dict[str, bytes] = {}
        self._strayed: set[str] = set()
        self._doubt: Death | None = None
        self._hard_end = task.ends_at + OVERTIME_SECONDS

    def run(self) -> Findings:
        """Return what came of every test. IsolationRefused where no worker can be started."""
        death = self._judged()
        while death is not None and self._goes_on(death):
            death = self._judged()
        self._fill()
        return self._found()

    def _found(self) -> Findings:
        bases = map(self._base, self._needed())
        return Findings(
            tuple((each.test, each.criterion, each.hidden) for each in bases),
            tuple(outcome for _, outcome in sorted(self._outcomes.items())),
            tuple(self._faults), self._problem, self._names, self._passing, frozenset(self._strayed),
        )  # fmt: skip

    def _needed(self) -> list[int]:
        return self._task.needed([criterion_of(item) for item in self._items], self._outcomes)

    def _judged(self) -> Death | None:
        self._of_this_judge.clear()
        self._task.shared.at("loading", self._task.first)  # else one that dies at once is taken for the one before
        task = self._task
        messages, memory_mb = self._judges.begin(task), task.suite.stage.limits.judge_mb
        return followed(self._judges, messages, task.shared, memory_mb, lambda: self._hard_end, self._take)

    def _take(self, kind: str, fields: list[Any]) -> Taken:
        """Take a message; a module that loaded before and no longer does costs one test."""
        match kind, fields:
            case "fault", [str(error)]:
                return "failed", f"an error (the grader failed: {error})"
            case "course", [str(message)]:
                self._faults.append(message)
            case "problem", [dict(plain)]:
                if self._loaded:
                    return "crashed", unpacked(plain, RECORDS).message
                self._problem = unpacked(plain, RECORDS)
            case "loaded", [list(names)]:
                self._names, self._loaded = frozenset(map(str, names)), True
            case "outcome", [int(place), dict(plain), bool(more)]:
                self._keep(place, unpacked(plain, RECORDS), more)
            case "passed", [int(place), float(seconds)]:
                self._keep(place, replace(self._base(place), status="passed", seconds=seconds))
            case "explained", [int(place), dict(plain)]:
                self._keep(place, unpacked(plain, RECORDS))
            case "passing", [str(test), bytes(digest)]:
                self._passing[test] = digest
            case "strayed", [list(tests)]:
                self._strayed.update(map(str, tests))
            case "settling", []:
                self._hard_end = max(self._hard_end, time.monotonic() + SEARCH_SECONDS + OVERTIME_SECONDS)
                if self._on_decided is not None:
                    self._on_decided(self._found())
            case "settled", [dict(plain)]:
                outcome = unpacked(plain, RECORDS)
                for place, known in self._outcomes.items():
                    if known.test == outcome.test:
                        self._outcomes[place] = outcome
            case "reference", [int(place), (str() | None) as fault]:
                self._keep(place, self._of_doubt(place, fault))
        return None

    def _keep(self, place: int, outcome: Outcome, more: bool = False) -> None:
        """Keep an outcome and tell of it, unless more of it is to come; once, or again where it ends otherwise."""
        self._outcomes[place] = outcome
        self._of_this_judge.add(place)
        if not more and self._told.get(place) != outcome.status:
            self._told[place] = outcome.status
            if self._on_test is not None:
                self._on_test(outcome)

    def _base(self, place: int) -> Outcome:
        return self._task.suite.unjudged(self._items[place])

    def _of_doubt(self, place: int, fault: str | None) -> Outcome:
        """Return the outcome of a test that a judge died in, now that it is known what the reference does there."""
        death = self._doubt
        self._doubt = None
        if fault is not None or death is None:
            message = f"the reference solution does not pass this test either: {fault}"
            return replace(self._base(place), status="grader_fault", message=message)
        return replace(self._base(place), status=death.status, message=_blame(death))

    def _goes_on(self, death: Death) -> bool:
        """Note what a judge's death means; say whether another one is to go on."""
        place, phase = death.at.test, death.at.phase
        self._unexplain(death)
        if phase == "loading" and not self._loaded:
            said = f"reading what {self._task.job.label} defines took the grader {death.reason}"
            self._problem = Problem("import-error", said, None, None)
            return False
        if time.monotonic() >= self._task.ends_at:  # nothing is begun any more
            if place < len(self._items) and place not in self._outcomes:
                message = _blame(self._doubt or death)
                self._keep(place, replace(self._base(place), status="timed_out", message=message))
            return False
        if phase == "settling" or place >= len(self._items):
            return False
        if phase == "explaining":
            return self._next(place + 1, False)
        if phase == "reference" and self._doubt is not None:
            message = f"the reference solution alone takes the judge of this test {death.reason}"
            return self._costs(place, "grader_fault", message)
        if phase == "loading":
            return self._costs(place, death.status, f"the module did not load again: {death.reason}")
        self._doubt = death
        return self._next(place, True)

    def _costs(self, place: int, status: Status, message: str) -> bool:
        """Give one test its outcome and go on with the next."""
        self._doubt = None
        self._keep(place, replace(self._base(place), status=status, message=message))
        return time.monotonic() < self._task.ends_at and self._next(place + 1, False)

    def _next(self, first: int, doubted: bool) -> bool:
        late = (each for each in self._outcomes.values() if each.status == "timed_out")
        slow = {charged(each.criterion, each.kind) for each in late}
        if self._doubt is not None and self._doubt.status == "timed_out":
            slow.add(charged(criterion_of(self._items[first]), kind_of(self._items[first])))
        done = frozenset(self._outcomes)
        left = [place for place in self._needed() if place not in done]  # some before this one may have waited
        first = next((place for place in left if place >= first), *left[:1]) if left else first
        self._task = replace(self._task, first=first, doubted=doubted, slow_criteria=frozenset(slow), done=done)
        is_over = self._task.first_failure is not None and any(o.status != "passed" for o in self._outcomes.values())
        return bool(left) and not is_over

    def _unexplain(self, death: Death) -> None:
        """Take back the explanations of a judge that did not come to question them; note why there is none."""
        is_settling = death.at.phase == "settling"  # its bounds of time are not those of a test
        said = CUT if is_settling and death.status == "timed_out" else f"{SEARCH} took {death.reason}"
        for place in sorted(self._of_this_judge):
            outcome = self._outcomes[place]
            searched = is_settling and outcome.status == "failed"
            if outcome.explains or place == death.at.test or searched:
                self._keep(place, replace(outcome, explains=(), unexplained=said))

    def _fill(self) -> None:
        """Give the tests that no judge came to an outcome: their time was used up."""
        if self._problem is not None or self._faults or self._task.first_failure is not None:
            return
        for place in self._needed():
            if place not in self._outcomes and time.monotonic() >= self._task.ends_at:
                message = f"{STAGE_OVER} before this test"
                self._keep(place, replace(self._base(place), status="timed_out", message=message))


def _blame(death: Death) -> str:
    what = f"what {death.at.label} returned" if death.at.label else "this test"
    return f"judging {what} took {death.reason}"
