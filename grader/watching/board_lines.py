"""The board in lines of text: the stage and what was reached, the stages, the rows, and what is wrong first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.report.terminal.checklist import Style, detail_lines, fault_lines, no_cause, problem_lines
from grader.report.terminal.layout import Look, paragraph, place_lines
from grader.report.terminal.overview import STATES
from grader.report.terminal.words import (
    count,
    kind_of_criterion,
    lacking_words,
    note_choices,
    reached_words,
    status_choices,
    tests_words,
    with_uses,
)

if TYPE_CHECKING:
    from rich.text import Text

    from grader.progress.standings import Standing
    from grader.verdict import CriterionResult, Verdict
    from grader.watching.board import Board

NO_CAUSE = "No cause was found."
AHEAD = "The cause, if it is found, follows the other criteria."
SEARCHING = "The cause is being looked for."
KEYS = (
    ("n", "next stage"),
    ("p", "previous stage"),
    ("h", "a hint, one step further each time"),
    ("e", "explore: run your functions and draw what they give"),
    ("s", "show the step of the page that it belongs to"),
    ("o", "open the failing line in your editor"),
    ("d", "compare with the reference, once the stage has passed"),
    ("c", "check again"),
    ("r", "reset: put the stub back, after a question"),
    ("l", "list the stages"),
    ("/", "search stages and criteria"),
    ("?", "this help"),
    ("q", "quit"),
)


def title(board: Board) -> str:
    """Return which stage this is."""
    return f"{board.stage.id} · {board.stage.title}"


def reached(board: Board, look: Look, now: float) -> str:
    """Return what was reached or, while a check runs, how far that is."""
    if board.searches and board.verdict is not None:
        return f"{reached_words(board.verdict)} · looking for the cause"
    if board.since is not None:
        seconds = int(now - board.since)
        lasted = f" · {seconds} s" if seconds else ""
        known = "" if board.verdict is None or board.verdict.problem else f"{reached_words(board.verdict)} · "
        at = f" · {board.at}" if seconds and board.at and not known else ""
        return f"{known}checking · {count(board.tests, 'test')}{lasted}{at}"
    if board.verdict is None:
        return "not graded"
    if board.verdict.problem is not None:
        return "cannot be graded as it is"
    return reached_words(board.verdict)


def stage_line(standing: Standing, look: Look) -> Text:
    """Return one stage with its mark."""
    from rich.text import Text

    mark, style = look.mark("current" if standing.is_current else standing.state)
    name = look.clean(f"{standing.stage.id} {standing.stage.title}")
    return Text.assemble((mark, style), " ", (name, "dim" if standing.state == "locked" else ""))


def state_words(standing: Standing) -> str:
    """Return in words how a stage stands."""
    if standing.is_current:
        return "you are here"
    return STATES.get(standing.state, f"locked, waits for {', '.join(standing.waits_for)}")


def row_line(result: CriterionResult, look: Look, width: int, is_seen: bool = False) -> Text:
    """Return one row of the checklist as `check` has it, its tests in a column of that width, and whether seen."""
    from rich.text import Text

    mark, style = look.mark(kind_of_criterion(result))
    note = "" if result.status == "not_started" else note_choices(result)[-1]
    more = look.clean(f"  {note}") if note else ""
    quiet = style if style == "dim" else ""
    seen = look.clean("  · seen") if is_seen else ""
    tests = f"{tests_words(result):>{width}}  " if width else ""
    return Text.assemble((mark, style), " ", (look.clean(tests + result.text), quiet), (more, style), (seen, "dim"))


def below(board: Board, look: Look, name: str | None = None) -> list[Text]:
    """Return what is to be read: why nothing was graded, a criterion's diagnosis, or that the stage is complete."""
    if board.trouble is not None:
        message, hint = board.trouble
        lines = paragraph(message, look, "red", indent=0)
        return lines + (paragraph(look.command(hint), look, indent=0) if hint else [])
    verdict = board.verdict
    if verdict is None:
        return paragraph("The check is running.", look, "dim", indent=0)
    style = Style(look, "", only=name)
    if verdict.problem is not None:
        return problem_lines(verdict, style)
    faults = fault_lines(verdict, style)
    if board.complete and name is None:
        return [*faults, *done_lines(board, look), *_uses(verdict, look)]
    result = board.criterion(name)
    return faults if result is None else [*faults, *_result_lines(board, result, style), *_uses(verdict, look)]


def _uses(verdict: Verdict, look: Look) -> list[Text]:
    """Say whose modules of earlier stages a check took, as long as it took any."""
    uses = verdict.run.uses
    return paragraph(f"\n{with_uses(uses)}", look, "dim", indent=0) if uses else []


def _result_lines(board: Board, result: CriterionResult, style: Style) -> list[Text]:
    """Return a criterion, how it did, and below it its failures or where to write it."""
    assert board.verdict is not None
    mark, colour = style.look.mark(kind_of_criterion(result))
    lines = paragraph(f"{mark} {result.text}", style.look, "bold", indent=0)
    lines += paragraph(status_choices(result)[0], style.look, colour, indent=2)
    if result.status == "not_started":
        names = ", ".join(board.stage.criterion(result.id).functions)
        said = f"Write {names} in stages/{board.stage.name}/{board.stage.module} and save."
        return [*lines, *paragraph(said, style.look, indent=2)]
    lines += detail_lines(result, board.verdict, style, commands=False)
    is_unexplained = result.status == "failed" and not any(each.diagnosis for each in result.failures)
    waits = board.since is not None and is_unexplained
    return lines + (paragraph(SEARCHING if board.searches else AHEAD, style.look, "dim") if waits else [])


def done_lines(board: Board, look: Look) -> list[Text]:
    """Return that a stage is complete, what was built, what that opens, and what can be done now."""
    verdict, stage = board.verdict, board.stage
    assert verdict is not None
    names = list(dict.fromkeys(name for each in stage.criteria for name in each.functions))
    lines = paragraph(f"{title(board)} is complete.", look, "bold green", indent=0)
    if verdict.public_passed:
        lines += paragraph("Its public tests pass; hidden tests run when you submit.", look, indent=0)
    lines += paragraph(f"You built {', '.join(names)}.", look, indent=0)
    lines += _robustness(verdict, look)
    stages = {each.stage.id: each.stage for each in board.standings}
    opened = ", ".join(f"{each} · {stages[each].title}" for each in verdict.unlocked if each in stages)
    if opened and not verdict.unrecorded:
        lines += paragraph(f"Unlocked: {opened}.", look, "green", indent=0)
    keys = "n goes on" if verdict.public_passed else "d compares yours with the reference, n goes on"
    lines += paragraph(f"{keys}, e explores it again." if board.drawn else f"{keys}.", look, "dim", indent=0)
    return lines


def _robustness(verdict: Verdict, look: Look) -> list[Text]:
    """Return how robust a module is that passes, and what the first criterion lacks; nothing where all are robust."""
    left = [each for each in verdict.criteria if each.lacks_robustness]
    if not left:
        return []
    said = f"{reached_words(verdict)}. First: {left[0].text}: {lacking_words(left[0].counts.lacking)}."
    return paragraph(said, look, "yellow", indent=0)


def spoken(
    board: Board, look: Look, known: CriterionResult | None = None, decided: Verdict | None = None
) -> list[Text]:
    """Return the board for plain mode: sentences, one below the other, without marks or columns.

    known is a criterion that was told already: of it only the explanation is told. decided is a verdict that was told
    so.
    """
    verdict = board.verdict
    lines: list[Text] = []
    if verdict is not None and verdict.problem is None and _passing(verdict) != _passing(decided):
        said = f"{title(board)}: {_passing(verdict)} of {count(len(verdict.criteria), 'criterion')} pass."
        lines += paragraph(said, look, indent=0)
    if board.complete or board.first is None or verdict is None or verdict.problem is not None:
        return lines + below(board, look)
    if known is not None and not verdict.faults and _unexplained(known) == _unexplained(board.first):
        found = next((each for each in board.first.failures if each.diagnosis), None)
        if found is not None and found.diagnosis is not None:
            where = found.where
            is_new = where is not None and where not in [each.where for each in known.failures]
            place = place_lines(f"{where.file}:{where.line}", where.text, look) if where and is_new else []
            return [*lines, *paragraph(found.diagnosis.text, look), *place]
        is_over = board.since is None and board.first.status == "failed" and decided is not None
        said = next(filter(None, map(no_cause, board.first.failures)), NO_CAUSE)
        return lines + (paragraph(said, look) if is_over else [])
    return [*lines, *spoken_criterion(board, board.first, look)]


def _unexplained(result: CriterionResult) -> CriterionResult:
    """Return a criterion without what explains its failures, and without their places: a cause has its own."""
    bare = (replace(each, diagnosis=None, unexplained="", where=None) for each in result.failures)
    return replace(result, failures=tuple(bare))


def _passing(verdict: Verdict | None) -> int | None:
    return None if verdict is None else sum(each.status == "passed" for each in verdict.criteria)


def spoken_criterion(board: Board, result: CriterionResult, look: Look) -> list[Text]:
    """Return one criterion for plain mode."""
    assert board.verdict is not None
    if result.status == "passed":
        more = f"; {lacking_words(result.counts.lacking)}" if result.lacks_robustness else ""
        return paragraph(f"Passes now: {result.text}{more}.", look, indent=0)
    lines = paragraph(f"First: {result.text}: {status_choices(result)[0]}.", look, indent=0)
    style = Style(look, "", only=result.id)
    told = detail_lines(result, board.verdict, style, commands=False)
    return [*lines, *fault_lines(board.verdict, style), *told]
