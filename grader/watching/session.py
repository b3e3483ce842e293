"""A session of watching: a save begins a check, a verdict moves the board, a key asks for something.

A session does one thing at a time: whoever shows it gives it the events that threads post. It prints nothing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from grader import children
from grader.course.stage import Course, Stage
from grader.errors import GraderError
from grader.explore.exploration_json import NUMBERS
from grader.explore.model import may_draw
from grader.progress import actions, hints, readme_steps
from grader.progress.actions import Workspace
from grader.progress.standings import Standing, standings
from grader.verdict import Verdict
from grader.watching.board import (
    Board,
    CheckFailed,
    CountedTest,
    EarlyCriterion,
    EarlyVerdict,
    Event,
    Explored,
    FileSaved,
    FinalVerdict,
    Sentence,
    StepWeights,
)
from grader.watching.grading_process import GradingProcess
from grader.watching.saves import Saves

if TYPE_CHECKING:
    from grader.progress.comparison import SolutionComparison


SECONDS = 120.0  # for `grader explore`
MEASURED = "`grader solution {stage}` measures them"
EXPLORES = "Running your functions on an example."
RUNNING = "The check is still running; ask again once its verdict is here."
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
Post = Callable[[Event], None]
Width = Callable[[], int]
Explore = Callable[[str, str], bool]  # of a stage, with the learner's own sentence


def files_beside(stage: Stage) -> tuple[Path, ...]:
    """Return the files beside the module: earlier modules, then public and, in an author's copy, hidden tests."""
    tests = [file for folder in _test_folders(stage) for file in sorted(folder.glob("*.py"))]
    return (*_earlier(stage), *tests)


def kind_of_file(stage: Stage, path: Path) -> Literal["module", "earlier", "tests"] | None:
    """Say what a file is to a stage; None where its checks do not depend on it."""
    if path == stage.module_path:
        return "module"
    if path in _earlier(stage):
        return "earlier"
    return "tests" if path.suffix == ".py" and path.parent in _test_folders(stage) else None


def _earlier(stage: Stage) -> tuple[Path, ...]:
    return tuple(each.module_path for each in stage.builds_on)


def _test_folders(stage: Stage) -> tuple[Path, ...]:
    return stage.tests_path, stage.hidden_root / stage.name


def exploring(course: Course, post: Post, width: Width, colour: bool, pictures: bool = False) -> Explore:
    """Return what runs `grader explore` of a stage in a thread, and posts what it printed and, if wanted, drew.

    It takes the learner's own sentence as well, which is empty for the lesson's.

    It returns at once; False, and nothing runs, for a stage without a drawing. One runs at a time, and of those that
    wait only the last.
    """
    one, latest = threading.Lock(), [0]

    def begin(stage: str, typed: str) -> bool:
        if not may_draw(course, stage):
            return False
        columns, number = width(), latest[0] + 1
        latest[0] = number

        def run() -> None:
            with one:
                if latest[0] == number:
                    post(explored(course, stage, columns, colour, pictures, typed))

        threading.Thread(target=run, daemon=True).start()
        return True

    return begin


def explored(course: Course, stage: str, width: int, colour: bool, pictures: bool = False, typed: str = "") -> Explored:
    """Return what `grader explore` prints for a stage, in so many columns, or why it shows nothing.

    With pictures, weights come as numbers, and what else a step has as an SVG.
    """
    words = [f"--words={typed}"] if typed else []
    if not pictures:
        return _explored(course.root, stage, width, colour, words)
    with tempfile.TemporaryDirectory(prefix="grader-drawn-") as folder:
        found = _explored(course.root, stage, width, colour, [*words, "--each", folder])
        numbers = _numbers(Path(folder) / NUMBERS)
        left_out = _of_weights_alone(numbers)
        files = [file for file in sorted(Path(folder).glob("*.svg")) if file.stem.partition("-")[0] not in left_out]
        drawn = tuple((file.stem.partition("-")[2], file.read_bytes()) for file in files)
        return replace(found, pictures=drawn, typed=typed, sentence=_sentence(numbers, course.find(stage)))


def _numbers(path: Path) -> dict[str, Any]:
    """Return the document that an exploration left; an empty one where there is none."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        return {}
    return found


def _of_weights_alone(numbers: dict[str, Any]) -> set[str]:
    """Return the numbers of the steps whose pictures are all weights, as their files have them."""
    drawings = {each["id"] for each in numbers.get("drawings", ())}
    drawn = {each["step"] for each in numbers.get("origins", ()) if each["picture"] in drawings}
    steps = enumerate(numbers.get("steps", ()), start=1)
    return {f"{number:02}" for number, step in steps if step["id"] not in drawn}


def _sentence(numbers: dict[str, Any], stage: Stage) -> Sentence | None:
    """Return the sentence of an exploration and its weights; None where the stage has no sentence."""
    if not numbers.get("words"):
        return None
    steps = {step["id"]: stage.criterion_of(step["parts"][0]["function"]) for step in numbers["steps"]}
    origins = {each["picture"]: each for each in numbers["origins"]}
    found = []
    for each in numbers["maps"]:
        origin = origins.get(each["id"])
        criterion = steps.get(origin["step"]) if origin is not None else None
        if origin is not None and criterion is not None:
            weights = tuple(map(tuple, each["weights"]))
            found.append(StepWeights(criterion.id, each["title"], weights, origin["wrong"]))
    words = tuple(numbers["words"])
    return Sentence(words, tuple(numbers["key_words"] or words), tuple(found), numbers["next_function"] or "")


def _explored(root: Path, stage: str, width: int, colour: bool, options: list[str]) -> Explored:
    environment = {**children.environment(), "COLUMNS": str(width)}
    for name in ("FORCE_COLOR", "NO_COLOR"):
        environment.pop(name, None)
    environment["FORCE_COLOR" if colour else "NO_COLOR"] = "1"
    try:
        command = children.own("grader.__main__", "explore", stage, *options)
        done = children.run(command, environment, SECONDS, cwd=root, start_new_session=os.name == "posix")
    except subprocess.TimeoutExpired:
        return Explored(stage, "", f"exploring {stage} took longer than {SECONDS:g} s, and was ended")
    except OSError as error:
        return Explored(stage, "", f"{stage} cannot be explored: {error.strerror or error}")
    if done.returncode in (0, 1):
        return Explored(stage, done.stdout.decode("utf-8", "replace"))
    return Explored(stage, "", _reason(done.stderr.decode("utf-8", "replace")) or f"{stage} cannot be explored")


def _reason(told: str) -> str:
    """Return the error among what the command told, on one line, without its hint and colours."""
    told = _COLOURS.sub("", told)
    return " ".join(told.partition("error:")[2].partition("\nhint:")[0].split())


class WatchSession:
    """Watches one stage after another; changed is called whenever the board is another one."""

    def __init__(
        self,
        workspace: Workspace,
        checks: GradingProcess,
        saves: Saves,
        explore: Explore,
        changed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        draws: bool = False,
    ) -> None:
        self.workspace = workspace
        self.changed = changed
        self._draws = draws
        self._checks = checks
        self._saves = saves
        self._explore = explore
        self._clock = clock
        self.ticket = 0
        self.board = Board(workspace.course.stages[0], ())

    def open(self, stage: Stage) -> None:
        """Watch a stage, and check it as it is."""
        self.board = Board(stage, self._standings())
        self._saves.watch(stage.module_path, lambda: files_beside(stage))
        self.check()

    def check(self, anew: bool = False) -> None:
        """Check the stage again, anew where its tests have changed; what ran before does not count."""
        self.ticket = self._checks.check(self.board.stage.id, self.board.failing, anew)
        self._becomes(since=self._clock(), tests=0, at="", trouble=None, searches=False)

    def take(self, event: Event) -> None:
        """Do what follows from an event; what belongs to an earlier check or another stage changes nothing."""
        board = self.board
        match event:
            case FileSaved(path):
                self._saved(path)
            case CountedTest(ticket, criterion, _) if ticket == self.ticket:
                self._becomes(tests=board.tests + 1, at=criterion)
            case EarlyCriterion(ticket, result) if ticket == self.ticket:
                self._becomes(verdict=board.with_criterion(result), trouble=None)
            case EarlyVerdict(ticket, verdict) if ticket == self.ticket:
                self._becomes(verdict=verdict, trouble=None, searches=True)
            case FinalVerdict(ticket, verdict) if ticket == self.ticket:
                self._judged(verdict)
            case CheckFailed(ticket, message, hint) if ticket == self.ticket:
                trouble = message, hint
                self._becomes(since=None, verdict=None, trouble=trouble, standings=self._standings(), searches=False)
            case Explored(stage, text, why, pictures) if stage == board.stage.id:
                note = f"{why}." if board.asked and why else board.note
                shown = text if board.asked or board.complete or not self._draws else ""
                self._becomes(drawn=shown, note=note, pictures=pictures or board.pictures)
                self._read(event)

    def close(self) -> None:
        """Stop watching and grading."""
        self._saves.close()
        self._checks.close()

    def step(self, by: int) -> bool:
        """Go on to the next stage, or back; False at the end of the course."""
        stages = self.workspace.course.stages
        place = stages.index(self.board.stage) + by
        if not 0 <= place < len(stages):
            return False
        self.open(stages[place])
        return True

    def hint(self, criterion: str | None = None) -> hints.Hint | str:
        """Return the next hint of a criterion, by default of the first that does not pass, or why there is none."""
        found, verdict = self.board.criterion(criterion), self.board.verdict
        if verdict is None:
            return self.board.trouble[0] if self.board.trouble is not None else RUNNING
        if verdict.problem is not None:
            return f"{verdict.run.label}: {verdict.problem.message}"
        if found is None:
            return f"Every criterion of {verdict.stage} passes: no hint is needed."
        hint = hints.next_hint(self.workspace, self.board.stage, found.id)
        return hint if hint is not None else f"{found.id} has no hint."

    def explore(self) -> str:
        """Have the stage's picture drawn, and return what happens, in words.

        The picture arrives as an event, or why there is none becomes the note.
        """
        stage = self.board.stage.id
        if not self._explore(stage, self.board.typed):
            drawn = [each.id for each in self.workspace.course.stages if may_draw(self.workspace.course, each.id)]
            return f"{stage} has nothing to draw." + (f" These stages have: {', '.join(drawn)}." if drawn else "")
        self._becomes(drawn="", asked=True)
        return EXPLORES

    def read(self, typed: str) -> str:
        """Have the pictures drawn of the learner's own sentence, now and after each check; return what happens.

        An empty one stands for the lesson's.
        """
        if not self._explore(self.board.stage.id, typed):
            return f"{self.board.stage.id} has nothing to draw."
        self._becomes(typed=typed)
        return EXPLORES

    def _read(self, event: Explored) -> None:
        """Keep what came of a sentence; one that was refused is no longer the learner's."""
        is_refused = bool(event.typed and event.why)
        why = event.why.replace("--words", "your sentence")
        refused, typed = (why, "") if is_refused else ("", self.board.typed)
        self._becomes(refused=refused, typed=typed, sentence=event.sentence or self.board.sentence)

    def lesson(self, criterion: str | None = None) -> str:
        """Return the step of the README that a criterion, a function or a number means, by default the first open.

        Where every criterion passes, or none was graded yet, it is the whole README.
        """
        name = criterion if criterion is not None else self.board.first.id if self.board.first is not None else None
        return self.readme() if name is None else readme_steps.part(self.board.stage, name)

    def readme(self) -> str:
        """Return the stage's README."""
        return readme_steps.readme(self.board.stage)

    def reset(self) -> str:
        """Put the stub back; return what was done, in words. The save that this is begins a check."""
        stage = self.board.stage
        kept = actions.reset(self.workspace, stage)
        said = f"stages/{stage.name}/{stage.module} is the stub again."
        if kept is not None:
            said += f" Your file is kept as {kept.relative_to(self.workspace.course.root).as_posix()}."
        self.board = Board(stage, self._standings(), note=said)
        self.check()
        return said

    def compared(self) -> SolutionComparison:
        """Return the module beside the reference, function by function, once the stage has passed; StageLocked before.

        Nothing is measured: that takes a few checks, in a process that may be forked.
        """
        from grader.progress.comparison import compared

        stage = self.board.stage
        return replace(compared(self.workspace, stage, timed=False), unmeasured=MEASURED.format(stage=stage.id))

    def happened(self, path: Path) -> str:
        """Say what happened to a file that the check depends on, and what to do where it is gone."""
        label = _label(path, self.workspace.course.root)
        return f"{label} was saved." if path.exists() else f"{label} is gone: put it back."

    def _saved(self, path: Path) -> None:
        """Check again what depends on a file that was saved."""
        stage = self.board.stage
        kind = kind_of_file(stage, path)
        if kind is None:
            return
        if kind != "module":
            self._becomes(note=self.happened(path))
        self.check(anew=kind == "tests")

    def _judged(self, verdict: Verdict) -> None:
        was_complete = self.board.complete
        note = f"Nothing is recorded: {verdict.unrecorded}" if verdict.unrecorded else ""
        self._becomes(since=None, verdict=verdict, trouble=None, note=note, asked=False, searches=False)
        self._becomes(standings=self._standings())
        if not self.board.complete:
            self._becomes(drawn="")
        if verdict.is_untouched:
            self._becomes(pictures=(), sentence=None)  # of a text that is gone
        if (self.board.complete and not was_complete) or (self._draws and not verdict.is_untouched):
            self._explore(self.board.stage.id, self.board.typed)

    def _standings(self) -> tuple[Standing, ...]:
        """Return where the learner stands; as before where the progress file cannot be read."""
        try:
            return standings(self.workspace, self.workspace.store.read())
        except GraderError:
            return self.board.standings

    def _becomes(self, **changes: object) -> None:
        self.board = replace(self.board, **changes)  # type: ignore[arg-type]
        self.changed()


def _label(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def made(workspace: Workspace, post: Post, width: Width, colour: bool, draws: bool = False) -> WatchSession:
    """Return a session whose threads post their events; width is in columns, asked for when a picture is drawn.

    Where draws is set, pictures are drawn after each check, as SVGs, and not only once a stage has passed.
    """
    course = workspace.course
    explore = exploring(course, post, width, colour, pictures=draws)
    return WatchSession(workspace, GradingProcess(course.root, post), Saves(post), explore, draws=draws)
