"""One session, as for `grader watch`, shown live: its board as HTML, and the frames that browsers hear.

The session runs in one thread. Requests come from others; they leave what they want in a queue, and wait for it.
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TookTooLong
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from grader.course.stage import Stage
from grader.errors import GraderError
from grader.explore.cells import FULL, cell_text, depth
from grader.outcome import Gradient
from grader.progress.readme_steps import steps_of
from grader.report.terminal.checklist import FAULT, Style, evidence, gradient_lines, no_cause, told
from grader.report.terminal.layout import Look
from grader.report.terminal.words import kind_of_criterion, status_words
from grader.verdict import CriterionResult, Failure
from grader.watching.board import Board, Event, Explored, FinalVerdict, Sentence
from grader.watching.board_lines import reached
from grader.watching.keys import error_text
from grader.watching.session import WatchSession
from grader.web.markdown import step_names
from grader.web.report_page import ReportPages

MOST = 32  # listeners at a time


class Hub:
    """Hands the latest frame to all who listen, never a queue of those before; nobody waits for who is slow or gone."""

    def __init__(self) -> None:
        self.news = threading.Condition()
        self.latest = ""
        self.number = 0  # of the latest frame
        self.closed = False
        self._listening = 0

    def publish(self, frame: str) -> None:
        """Hand on a frame; the same as before is no news."""
        with self.news:
            if frame != self.latest and not self.closed:
                self.latest, self.number = frame, self.number + 1
                self.news.notify_all()

    @contextmanager
    def listener(self) -> Iterator[Listener | None]:
        """Give a place to listen, and forget it afterwards; None where too many listen already."""
        with self.news:
            fits = self._listening < MOST and not self.closed
            self._listening += fits
        try:
            yield Listener(self) if fits else None
        finally:
            with self.news:
                self._listening -= fits

    def close(self) -> None:
        """Let all who wait know that nothing follows."""
        with self.news:
            self.closed = True
            self.news.notify_all()

    def __len__(self) -> int:
        """Return how many listen."""
        return self._listening


class Listener:
    """A place at a hub, which knows the frame that it took last."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._taken = 0

    def take(self, seconds: float) -> str | None:
        """Return the latest frame, None where none came in time; EOFError once nothing follows."""
        hub = self._hub
        with hub.news:
            hub.news.wait_for(lambda: hub.closed or hub.number != self._taken, seconds)
            if hub.number != self._taken:
                self._taken = hub.number
                return hub.latest
            if hub.closed:
                raise EOFError
            return None


@dataclass(frozen=True)
class StepLink:
    """A step of a README: its number, and the name of its heading on the page."""

    number: int
    anchor: str


def step_links(stage: Stage, text: str) -> dict[str, StepLink]:
    """Return the step of each criterion, by its id; criteria that stand in no step of the README have none."""
    names = step_names(text)
    return {
        criterion: StepLink(step.number, names[step.number])
        for step in steps_of(stage, text)
        if step.number in names
        for criterion in step.criteria
    }


@dataclass(frozen=True)
class StepItem:
    """A step in the list of a page: its number, title, heading, and criteria."""

    number: int
    title: str
    anchor: str
    criteria: tuple[str, ...]


def step_list(stage: Stage, text: str) -> tuple[StepItem, ...]:
    """Return the steps of a README, as far as they have a heading on the page."""
    names = step_names(text)
    steps = (each for each in steps_of(stage, text) if each.number in names)
    return tuple(StepItem(each.number, each.title, names[each.number], each.criteria) for each in steps)


def to_read(sections: Sequence[frozenset[str]], steps: Sequence[StepItem], anchor: str | None) -> list[bool]:
    """Say of each section of a page, by the names of its headings, whether it is open at first.

    Open are the section of the step to work on, whose heading is anchor, and those before it that lead to no other
    step. All are open on a page without steps, and none where no step is left.

    >>> one, two = StepItem(1, "", "a", ()), StepItem(2, "", "b", ())
    >>> to_read([frozenset(), frozenset("a"), frozenset("x"), frozenset("b"), frozenset("y")], (one, two), "b")
    [False, False, True, True, False]
    """
    anchors = {step.anchor for step in steps}
    if not anchors:
        return [True] * len(sections)
    at = next((place for place, names in enumerate(sections) if anchor in names), None)
    if at is None:
        return [False] * len(sections)
    before = max((place for place in range(at) if anchors & sections[place]), default=-1)
    return [before < place <= at for place in range(len(sections))]


class StepLinks:
    """Finds the steps of one stage after another, and reads a page again once it was saved."""

    def __init__(self) -> None:
        self._known: tuple[str, int] | None = None  # the stage, and when its page was saved
        self._links: Mapping[str, StepLink] = {}

    def of(self, stage: Stage) -> Mapping[str, StepLink]:
        """Return the steps of a stage's criteria; none where its page cannot be read, which the page itself says."""
        try:
            known = (stage.id, stage.readme_path.stat().st_mtime_ns)
            if known != self._known:
                self._links = step_links(stage, stage.readme_path.read_text(encoding="utf-8"))
                self._known = known
        except (OSError, UnicodeDecodeError):
            self._known, self._links = None, {}
        return self._links


LOOK = Look(100)
_LATER = {"not_started": "{} not started", "blocked": "{} wait{}"}  # kinds of criteria that come later, in words
COMPLETE = "Every criterion passes."
PUBLIC = "The public tests of every criterion pass; hidden tests run when you submit."


@dataclass(frozen=True)
class Told:
    """One failed test as the page tells it, in that order; line is the text at its place, gradients a table."""

    cause: str
    where: str
    line: str
    call: str
    message: str
    help: str
    gradients: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class CriterionLine:
    """One line of the checklist; is_first says that it is the one to work on, step where the page explains it.

    is_seen says that its function of the reference was shown to the learner.
    """

    id: str
    text: str
    kind: str
    words: str
    functions: tuple[str, ...]
    told: tuple[Told, ...]
    more: int
    is_first: bool
    step: StepLink | None = None
    is_seen: bool = False


@dataclass(frozen=True)
class FoldedLines:
    """Lines of which there is nothing to do now, under one line: kind is that of its sign."""

    kind: str
    words: str
    lines: tuple[CriterionLine, ...]


@dataclass(frozen=True)
class BoardView:
    """All that the page shows of the board; trouble holds why nothing was graded, and what to do.

    locked holds the ids and texts of the criteria of a stage that is locked.
    """

    stage: str
    title: str
    reached: str
    is_checking: bool
    done: int
    lines: tuple[CriterionLine, ...]
    trouble: tuple[str, str]
    complete: str
    opened: tuple[str, ...]
    note: str
    drawn: str
    locked: tuple[tuple[str, str], ...] = ()

    @property
    def shown(self) -> tuple[CriterionLine, ...]:
        """The lines of which something is said, and the one to work on."""
        return tuple(line for line in self.lines if line.told or line.is_first)

    @property
    def folded(self) -> tuple[FoldedLines, ...]:
        """The other lines: those that pass, and those that were not begun or wait."""
        others = [line for line in self.lines if not (line.told or line.is_first)]
        passed = tuple(line for line in others if line.kind not in _LATER)
        later = tuple(line for line in others if line.kind in _LATER)
        counts = [(sum(line.kind == kind for line in later), words) for kind, words in _LATER.items()]
        said = " · ".join(words.format(count, "s" if count == 1 else "") for count, words in counts if count)
        found = (FoldedLines("passed", f"{len(passed)} pass{'es' if len(passed) == 1 else ''}", passed),
                 FoldedLines("not_started", said, later))  # fmt: skip
        return tuple(each for each in found if each.lines)


def view(board: Board, now: float, steps: Mapping[str, StepLink] | None = None) -> BoardView:
    """Return the board as it is shown; now is on the monotonic clock, steps has each criterion's step by its id."""
    known = steps or {}
    verdict = board.verdict
    results = verdict.criteria if verdict is not None and verdict.problem is None else ()
    complete = ""
    if verdict is not None and board.complete:
        complete = PUBLIC if verdict.public_passed else COMPLETE
    stages = {each.stage.id: each.stage for each in board.standings}
    opened = verdict.unlocked if verdict is not None and not verdict.unrecorded else ()
    return BoardView(
        board.stage.id,
        board.stage.title,
        reached(board, LOOK, now),
        board.since is not None,
        sum(each.status == "passed" for each in results),
        tuple(_line(board, each, known.get(each.id)) for each in results),
        _trouble(board),
        complete,
        tuple(f"{each} · {stages[each].title}" for each in opened if each in stages),
        board.note,
        board.drawn,
        _locked(board),
    )


def _locked(board: Board) -> tuple[tuple[str, str], ...]:
    """Return the criteria of a stage that is locked, so that nothing is known of them."""
    state = next((each.state for each in board.standings if each.stage.id == board.stage.id), "")
    is_shut = state == "locked" and board.verdict is None and board.since is None
    return tuple((each.id, each.text) for each in board.stage.criteria) if is_shut else ()


def _trouble(board: Board) -> tuple[str, str]:
    """Return why no criterion is shown, or why they do not count, and what to do; nothing where all is well."""
    verdict = board.verdict
    if board.trouble is not None:
        return board.trouble[0], board.trouble[1] or ""
    if verdict is not None and verdict.problem is not None:
        line, message = verdict.problem.line, verdict.problem.message
        place = f":{line}" if line and not message.startswith(f"line {line}") else ""  # which is said once
        return f"{verdict.run.label}{place}: {message}", verdict.problem.hint or ""
    if verdict is not None and verdict.grader_fault:
        return FAULT, "\n".join(verdict.faults)
    return "", ""


def _line(board: Board, result: CriterionResult, step: StepLink | None) -> CriterionLine:
    criterion = board.stage.criterion(result.id)
    is_first = board.first is not None and board.first.id == result.id
    is_told = result.lacks_robustness or result.status not in ("passed", "not_started", "blocked")
    shown = told(result, Style(LOOK, "")) if is_told else []
    lines = tuple(_told(each) for each in shown)
    more = len(result.failures) - len(shown) if shown else 0
    words, names = status_words(result), criterion.functions
    return CriterionLine(
        result.id,
        result.text,
        kind_of_criterion(result),
        words,
        names,
        lines,
        more,
        is_first,
        step,
        result.id in board.seen,
    )


def _told(failure: Failure) -> Told:
    cause = failure.diagnosis
    where, line = "", ""
    if failure.where is not None:
        where, line = f"{failure.where.file}:{failure.where.line}", failure.where.text
    said, help = (cause.text, "") if cause is not None else ("", failure.help)
    message, unknown = evidence(failure, Style(LOOK, "")), no_cause(failure)
    notes = (*failure.notes, unknown) if unknown else failure.notes
    return Told(said, where, line, failure.call, message, help, _table(failure.gradients), notes)


def _table(gradients: Sequence[Gradient]) -> str:
    return "\n".join(line.plain.removeprefix("    ") for line in gradient_lines(gradients, LOOK))


LEVELS = 10  # shades of a cell, as live.css has them
TAKEN = "Your functions have run on “{}”."
MISSING = "{} is not written yet. Once it is, the weights of your sentence stand here."


@dataclass(frozen=True)
class WeightCell:
    """One weight as the page shows it: its digits, and how strong its colour is."""

    digits: str
    level: int


@dataclass(frozen=True)
class WeightTable:
    """The weights of one kind, such as a head's: a row of cells for each query."""

    title: str
    is_wrong: bool
    rows: tuple[tuple[WeightCell, ...], ...]


def weight_tables(found: Sentence) -> dict[str, tuple[WeightTable, ...]]:
    """Return the tables of each step, by the id of its criterion."""
    tables: dict[str, tuple[WeightTable, ...]] = {}
    for each in found.weights:
        rows = tuple(tuple(_cell(weight, len(row)) for weight in row) for row in each.weights)
        made = WeightTable(each.title, each.is_wrong, rows)
        tables[each.criterion] = (*tables.get(each.criterion, ()), made)
    return tables


def _cell(weight: float, count: int) -> WeightCell:
    return WeightCell(cell_text(weight, FULL[0]), round(LEVELS * depth(weight, count)))


def sentence_words(board: Board) -> str:
    """Return what came of the sentence, in words."""
    if board.refused:
        return f"{board.refused[0].upper()}{board.refused[1:]}."
    if board.sentence is None:
        return ""
    if not board.sentence.weights and board.sentence.missing:
        return MISSING.format(board.sentence.missing)
    return TAKEN.format(" ".join(board.sentence.words))


WAKE_SECONDS = 0.5  # how often a wait looks whether it is to end, and a running check is shown anew
FRAME_SECONDS = 0.1  # between frames while tests are counted
ANSWER_SECONDS = 60.0  # a hint may have to grade first
Wish = tuple[Callable[[], str], "Future[str]"]


class Live:
    """Watches a stage, and publishes its board; run() is the one thread that touches the session."""

    def __init__(self, make: Callable[[Callable[[Event], None]], WatchSession], pages: ReportPages, hub: Hub) -> None:
        self._queue: queue.Queue[Event | Wish] = queue.Queue()
        self.session = make(self._queue.put)
        self.hub = hub
        self._pages = pages
        self._steps = StepLinks()
        self.pictures: Mapping[str, bytes] = {}  # that the stage's functions gave, by their digest
        self._verdicts = 0
        self._explored = 0
        self._ended = threading.Event()

    def run(self, stage: Stage) -> None:
        """Watch until stop() or Ctrl-C."""
        try:
            self.session.open(stage)
            self._publish()
            while not self._ended.is_set():
                self._step()
        finally:
            self._ended.set()
            self.session.close()
            self.hub.close()

    def stop(self) -> None:
        """Have run() return soon."""
        self._ended.set()

    def ask(self, wish: Callable[[], str]) -> str:
        """Have something done between two events, and return what came of it; GraderError where it takes too long."""
        answer: Future[str] = Future()
        self._queue.put((wish, answer))
        try:
            return answer.result(ANSWER_SECONDS)
        except TookTooLong as error:
            answer.cancel()
            raise GraderError(f"no answer came within {ANSWER_SECONDS:g} s", "Try again in a moment.") from error

    def frame(self) -> str:
        """Return the board as JSON with its HTML; called by run() alone."""
        board = self.session.board
        shown = view(board, time.monotonic(), self._steps.of(board.stage))
        said = f"{shown.stage}: {'checking' if shown.is_checking else shown.reached}"  # a page keeps it while it checks
        html = self._pages.fill("board.html", view=shown)
        road = self._pages.fill("stages.html", standings=board.standings)
        checking = shown.is_checking
        drawn = [[criterion, hashlib.sha256(data).hexdigest()] for criterion, data in board.pictures]
        self.pictures = {name: data for (_, name), (_, data) in zip(drawn, board.pictures, strict=True)}
        found = {"stage": shown.stage, "checking": checking, "said": said, "html": html, "road": road, "drawn": drawn}
        return json.dumps({**found, **self._weights(board), "verdicts": self._verdicts, "explored": self._explored})

    def _weights(self, board: Board) -> dict[str, object]:
        """Return the weights as HTML, each step's with its criterion, and what is said of the sentence."""
        sentence = board.sentence
        tables = weight_tables(sentence) if sentence is not None else {}
        html = [[of, self._pages.fill("weights.html", tables=each, sentence=sentence)] for of, each in tables.items()]
        return {"weights": html, "sentence": sentence_words(board)}

    def _step(self) -> None:
        """Do all that is waiting, then show what it led to."""
        try:
            self._do(self._queue.get(timeout=WAKE_SECONDS))
            end = time.monotonic() + FRAME_SECONDS
            while (left := end - time.monotonic()) > 0 and self.session.board.since is not None:
                self._do(self._queue.get(timeout=left))
        except queue.Empty:
            pass
        self._publish()

    def _do(self, item: Event | Wish) -> None:
        if not isinstance(item, tuple):
            self._verdicts += isinstance(item, FinalVerdict)
            self._explored += isinstance(item, Explored)
            self.session.take(item)
            return
        wish, answer = item
        if not answer.set_running_or_notify_cancel():
            return
        try:
            answer.set_result(wish())
        except (GraderError, OSError) as error:
            answer.set_result(error_text(error))
        except BaseException as error:
            answer.set_exception(error if isinstance(error, Exception) else GraderError("the server is stopping"))
            if not isinstance(error, Exception):
                raise

    def _publish(self) -> None:
        self.hub.publish(self.frame())


def named(values: Any, key: str) -> str:
    """Return a text of a request's document; empty where it has none."""
    found = values.get(key) if isinstance(values, dict) else None
    return found if isinstance(found, str) else ""
