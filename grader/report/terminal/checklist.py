"""A verdict as a learner reads it in a terminal: the checklist, and last what fails first, with its cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.outcome import SEARCH, Gradient, Status
from grader.report.terminal.layout import INDENT, Look, fitting, heading, paragraph, place_lines, row, side_by_side
from grader.report.terminal.words import (
    WORDS,
    all_of,
    count,
    kind_of_criterion,
    left_words,
    note_choices,
    passing_words,
    reached_words,
    tests_words,
    waits_words,
    with_uses,
)
from grader.verdict import CriterionResult, Failure, Verdict

if TYPE_CHECKING:
    from rich.text import Text


HEAD = ("gradient", "of", "shape", "rel. error", "worst at", "expected", "got")
GAP = "  "


def gradient_lines(gradients: Sequence[Gradient], look: Look) -> list[Text]:
    """Return the table or, where a terminal is too narrow for it, lines; nothing where there are no gradients."""
    if not gradients:
        return []
    rows = [tuple(look.clean(cell) for cell in _cells(each)) for each in gradients]
    widths = {place: max(map(len, column)) for place, column in enumerate(zip(HEAD, *rows, strict=True))}
    used = [place for place in widths if any(row[place] for row in rows)]
    if _taken(used, widths) > look.detail and all(each.of in each.name for each in gradients):
        used = [place for place in used if HEAD[place] != "of"]
    if _taken(used, widths) > look.detail:
        return [line for each in gradients for line in _told(each, look)]

    def line(row: tuple[str, ...]) -> str:
        return GAP.join(f"{row[place]:<{widths[place]}}" for place in used).rstrip()

    lines = paragraph(line(HEAD), look, "dim")
    for each, cells in zip(gradients, rows, strict=True):
        lines += paragraph(line(cells), look)
        lines += _below(each, look)
    return lines


def _taken(used: list[int], widths: dict[int, int]) -> int:
    """Return how many columns of a terminal a table of these columns takes."""
    return INDENT + sum(widths[place] for place in used) + len(GAP) * (len(used) - 1)


def _cells(gradient: Gradient) -> tuple[str, ...]:
    shape = str(gradient.shape)
    if not gradient.finding:
        return gradient.name, gradient.of, shape, "right", "", "", ""
    index = "" if gradient.index is None else str(list(gradient.index))
    return gradient.name, gradient.of, shape, _error(gradient), index, gradient.expected, gradient.got


def _error(gradient: Gradient) -> str:
    return "" if gradient.relative is None else f"{gradient.relative:.1e}"


def _below(gradient: Gradient, look: Look) -> list[Text]:
    """Return what the error looks like, and the right shape where it has another."""
    shape = f"shape {gradient.expected_shape} was expected" if gradient.shape != gradient.expected_shape else ""
    text = "; ".join(filter(None, (shape, gradient.text)))
    return paragraph(text, look, "yellow", indent=INDENT + 2, hanging=2) if text else []


def _told(gradient: Gradient, look: Look) -> list[Text]:
    """Return a gradient in lines, where the table has no room."""
    name, of, shape, error, index, expected, got = _cells(gradient)
    parts = [f"{name} of {of}" if of else name, shape]
    parts += [f"relative error {error}" if gradient.finding and error else error] if error else []
    lines = paragraph(", ".join(parts), look, hanging=2)
    if index:
        lines += paragraph(f"worst at {index}: expected {expected}, got {got}", look, indent=INDENT + 2, hanging=2)
    return [*lines, *_below(gradient, look)]


SHOWN = 2  # failures of one criterion
MESSAGE_LINES = 12
NOTE_LINES = 5
LINE_LENGTH = 600  # characters of one line of a message
PUBLIC = "public tests pass"
NOT_BEGUN: tuple[Status, ...] = ("not_started", "blocked")
QUIET: tuple[Status, ...] = ("passed", *NOT_BEGUN)  # criteria that do not fail by themselves
FAILURE_ROWS = 16  # lines of a screen that a failure, the title and what leads on take
AROUND_ROWS = 7  # lines of a screen that the title, the run and what leads on take
FEW = 2  # criteria that pass, up to which each has a line
FAULT = "Something failed in the grader or the course, not in your code: this result does not count."


@dataclass(frozen=True)
class Style:
    """How to tell it: again is the command that repeats this run (without its seed), verbose leaves nothing out.

    again is empty where no command can be typed, as in `watch`.
    only is the criterion that alone is told; else the first one that fails is told whole, and the others on a line
    each. Where none fails, that is the first one that lacks robustness. fix tells what to write in place of a fault,
    too: a learner asks for that with `hint`.
    """

    look: Look
    again: str
    verbose: bool = False
    only: str | None = None
    fix: bool = False


def verdict_lines(verdict: Verdict, style: Style) -> list[Text]:
    """Return the whole report of one stage."""
    return [*checklist_lines(verdict, style), *found_lines(verdict, style)]


def checklist_lines(verdict: Verdict, style: Style) -> list[Text]:
    """Return what is known before any cause: how much was reached, and the criteria, each on a line."""
    look = style.look
    done = sum(result.status == "passed" for result in verdict.criteria)
    total = len(verdict.criteria)
    title, bar = f"{verdict.stage} · {verdict.title}", look.bar(done, total)
    reached = waits_words(verdict) if verdict.waits_for else reached_words(verdict)
    lines = heading(title, reached, bar, look)
    if verdict.problem is not None:
        lines += problem_lines(verdict, style)
    if verdict.problem is None or style.verbose:
        lines += _criteria_lines(_criteria(verdict, style), style)
    return lines


def found_lines(verdict: Verdict, style: Style) -> list[Text]:
    """Return what stands below the checklist: the criteria that are told whole, with their causes, and the run."""
    whole = _whole(verdict, style) if verdict.problem is None or style.verbose else []
    found = [*_whole_lines(verdict, whole, style), *fault_lines(verdict, style), *_run_line(verdict, style)]
    return [*found, *_next_lines(verdict, whole, style)]


def summary_lines(verdicts: tuple[Verdict, ...], look: Look, title: str = "All stages") -> list[Text]:
    """Return one row for each stage, how many of its criteria pass, and the names of those not handed in."""
    passed = sum(verdict.passed for verdict in verdicts)
    reached = f"{passed} of {count(len(verdicts), 'stage')}"
    lines = heading(title, reached, look.bar(passed, len(verdicts)), look)
    absent = [verdict.stage for verdict in verdicts if verdict.problem is not None and verdict.problem.absent]
    for verdict in verdicts:
        if verdict.stage in absent:
            continue
        kind = "passed" if verdict.passed else "failed"
        status = reached_words(replace(verdict, run=replace(verdict.run, public_only=False)))
        if verdict.grader_fault:
            kind, status = "grader_fault", WORDS["grader_fault"]
        elif verdict.public_passed:
            kind, status = "public", PUBLIC
        elif verdict.waits_for:
            kind, status = "blocked", waits_words(verdict)
        elif verdict.problem is not None:
            status = "no module" if verdict.problem.kind == "missing" else "cannot be graded"
        elif not verdict.passed and all(result.status == "not_started" for result in verdict.criteria):
            kind, status = "not_started", "not started"
        lines += row(kind, f"{verdict.stage} · {verdict.title}", status, look)
        if verdict.problem is not None:
            lines += paragraph(_trimmed(verdict.problem.message, MESSAGE_LINES), look)
    return lines + (paragraph(f"Not handed in: {', '.join(absent)}.", look, "dim", indent=0) if absent else [])


def problem_lines(verdict: Verdict, style: Style) -> list[Text]:
    """Say why the module cannot be graded as it is; no criterion can be told anything before that is mended."""
    problem = verdict.problem
    if problem is None:
        return []
    place = f"{verdict.run.label}:{problem.line}" if problem.line else verdict.run.label
    if verdict.waits_for:
        lines = row("blocked", f"{verdict.run.label} {waits_words(verdict)}", "", style.look)
    else:
        lines = row("failed", f"{place} cannot be graded as it is", "", style.look)
    lines += paragraph(_trimmed(problem.message, MESSAGE_LINES, style), style.look)
    return lines + (paragraph(style.look.command(problem.hint), style.look, "yellow") if problem.hint else [])


def _criteria(verdict: Verdict, style: Style) -> list[CriterionResult]:
    """Return the criteria to show."""
    return [result for result in verdict.criteria if style.only in (None, result.id)]


def _whole(verdict: Verdict, style: Style) -> list[CriterionResult]:
    """Return the criteria that are told whole: what is wrong first, or all that can be told."""
    criteria = _criteria(verdict, style)
    whole = [result for result in criteria if result.status not in QUIET]
    if style.verbose or style.only is not None:
        return criteria
    if whole:
        return [next((result for result in whole if not result.values_right), whole[0])]
    return [result for result in criteria if result.lacks_robustness][:1]


def _whole_lines(verdict: Verdict, whole: list[CriterionResult], style: Style) -> list[Text]:
    """Return criteria with what is wrong there; a cause that is the same as of a criterion before is told once."""
    from rich.text import Text

    criteria = _criteria(verdict, style)
    lines: list[Text] = []
    causes: dict[str, str] = {}  # the criterion that each was told in
    for result in whole:
        below = _found_of(result, style, causes)
        if below:
            if len(criteria) != 1:
                lines += [Text(""), *row(kind_of_criterion(result), result.text, "", style.look)]
            lines += below
    others = [] if verdict.problem is not None else [result for result in criteria if result not in whole]
    untold = 0 if style.verbose else sum(len(result.failures) - len(told(result, style)) for result in whole)
    return [*lines, *_same_lines(others, causes, style), *_more_lines(others, untold, causes, style)]


def _criteria_lines(criteria: list[CriterionResult], style: Style) -> list[Text]:
    """Return criteria, each on a line; those that are not begun are counted on the last, once any other is.

    Where the screen is too low they are counted as well where all are, and so are those that pass beside a failure.
    """
    lines: list[Text] = []
    width = max((len(tests_words(result)) for result in criteria), default=0)
    left = [result for result in criteria if result.status in NOT_BEGUN]
    folds = not style.verbose and style.only is None
    height = style.look.height
    is_low = height is not None and len(criteria) > height - AROUND_ROWS
    fold_left = folds and len(left) > 1 and (len(left) < len(criteria) or is_low)
    passed = [result for result in criteria if result.robust]
    own = len(criteria) - (len(left) - 1 if fold_left else 0)
    if folds and height is not None and own > height - FAILURE_ROWS and FEW < len(passed) < len(criteria):
        tests = str(sum(result.tests_total for result in passed))
        width = max(width, len(tests))
        lines += row("passed", f"{tests:>{width}}  {passing_words(len(passed))}", "", style.look)
        criteria = [result for result in criteria if not result.robust]
    for result in criteria:
        if not (fold_left and result in left):
            lines += _criterion_line(result, style.look, width)
    if fold_left:
        text = f"{'':{width}}  {left_words(left)}" if width else left_words(left)
        lines += row("not_started", text, "", style.look)
    return lines


def _criterion_line(result: CriterionResult, look: Look, width: int) -> list[Text]:
    """Return the line of a criterion, with its tests in a column of that width."""
    text = f"{tests_words(result):>{width}}  {result.text}" if width else result.text
    note = fitting(text, note_choices(result), look)
    return row(kind_of_criterion(result), text, note, look, "yellow" if result.lacks_robustness else None)


def _same_lines(others: list[CriterionResult], causes: Mapping[str, str], style: Style) -> list[Text]:
    """Name the criteria that fail by nothing but causes which are told already."""
    names = [result.id for result in others if _is_explained(result, causes)]
    return paragraph(f"By the same cause: {all_of(names)}.", style.look, indent=0) if names else []


def _is_explained(result: CriterionResult, causes: Mapping[str, str]) -> bool:
    """Say whether all failures of a criterion that decide it have causes which are told already."""
    decide = [each for each in result.failures if each.status == result.status]
    return bool(decide) and all(each.diagnosis is not None and each.diagnosis.text in causes for each in decide)


def _more_lines(others: list[CriterionResult], untold: int, causes: Mapping[str, str], style: Style) -> list[Text]:
    """Say how to see so many tests that are not told, and criteria that fail too, or else those that are not robust."""
    wrong = [result for result in others if result.status not in QUIET]
    left = [result for result in wrong if not _is_explained(result, causes)]
    frail = [] if wrong else [result for result in others if result.lacks_robustness]
    counted = [count(untold, "more test")] if untold else []
    counted += [count(len(left), "more criterion")] if left else []
    said = [f"{' and '.join(counted)} {'do' if untold + len(left) > 1 else 'does'} not pass"] if counted else []
    said += [f"{count(len(frail), 'more criterion')} {'are' if len(frail) > 1 else 'is'} not robust"] if frail else []
    again = style.look.command(style.again)
    one = next((f", or {again} {result.id}" for result in (*left, *frail) if again), "")
    return paragraph(f"{', '.join(said)}: -v{one}", style.look, "dim", indent=0) if said else []


def _next_lines(verdict: Verdict, whole: list[CriterionResult], style: Style) -> list[Text]:
    """Return the one command that leads on from what is told, and how to get the same inputs again."""
    result = next((each for each in whole if _leads_on(each, verdict, style)), None)
    if result is None:
        return []
    offers = [f"more help: {style.look.command(f'grader hint {verdict.stage} {result.id}')}"]
    if any(failure.call for failure in told(result, style)):
        offers.append(f"same inputs again: --seed {verdict.run.seed}")
    return side_by_side(offers, style.look, "", indent=0)


def _leads_on(result: CriterionResult, verdict: Verdict, style: Style) -> bool:
    """Say whether a hint can help with a criterion: it is told what was called, or may not be told."""
    lacks = not result.robust and result.status not in ("grader_fault", "blocked", "not_started")
    return lacks and (any(each.call for each in told(result, style)) or verdict.feedback != "full")


def detail_lines(result: CriterionResult, verdict: Verdict, style: Style, commands: bool = True) -> list[Text]:
    """Return what stands below one criterion: its failures, and where to go from there; nothing where it says all."""
    lines = _found_of(result, style, {})
    left = len(result.failures) - len(told(result, style))
    if not lines:
        return []
    if left:
        only = "" if " --only " in style.again else f" {result.id}"
        more = f": {style.look.command(style.again)}{only} -v" if style.again else ""
        lines += side_by_side([f"and {count(left, 'more test')}{more}"], style.look)
    if commands and _leads_on(result, verdict, style):
        lines += side_by_side(
            [f"more help: {style.look.command(f'grader hint {verdict.stage} {result.id}')}"], style.look
        )
        again = f"same inputs again: {style.look.command(style.again)} --seed {verdict.run.seed}"
        lines += side_by_side([again], style.look) if any(each.call for each in told(result, style)) else []
    return lines


def _found_of(result: CriterionResult, style: Style, causes: dict[str, str]) -> list[Text]:
    """Return the failures of a criterion; nothing where its row says it all.

    causes holds the criterion that each text of a cause was told in so far; those that are told here are added.
    """
    asked = style.verbose or style.only is not None
    if result.robust or result.status == "not_started" or (result.status == "blocked" and not asked):
        return []
    lines: list[Text] = []
    shown = told(result, style)
    if result.status == "blocked" and style.only is None:
        again = [each for each in shown if causes.get(_text(each), result.id) != result.id]
        shown = [each for each in shown if each not in again]
        for other, tests in Counter(causes[_text(each)] for each in again).items():
            verb = "fails" if tests == 1 else "fail"
            lines += paragraph(f"{count(tests, 'test')} {verb} by the same cause as {other}.", style.look, "dim")
    for number, failure in enumerate(shown):
        cause = failure.diagnosis
        elsewhere = causes.get(cause.text, "") if cause is not None else ""
        alike = (each for each in shown[:number] if elsewhere == result.id and _text(each) == _text(failure))
        before = next(alike, shown[0] if number else None)
        lines += _failure_lines(failure, style, before, "" if elsewhere == result.id else elsewhere)
        if cause is not None and not elsewhere:
            causes[cause.text] = result.id
    for message, waiting in _waiting(result, style).items():
        lines += paragraph(f"{count(waiting, 'test')}: {message}", style.look, "dim")
    return lines


def _waiting(result: CriterionResult, style: Style) -> dict[str, int]:
    """Return how many tests end at a function that is not written, by what is said of it, where all are told."""
    return Counter(each.message for each in result.failures if each.status in NOT_BEGUN) if style.verbose else {}


def told(result: CriterionResult, style: Style) -> list[Failure]:
    """Return the failures to show, those that decided the criterion first; of several with one cause only the first."""
    failures = sorted(result.failures, key=lambda failure: failure.status != result.status)
    if style.verbose:
        return [failure for failure in failures if failure.status not in NOT_BEGUN]  # which are counted
    shown: list[Failure] = []
    for failure in failures:
        if not any(_cause(failure) == _cause(other) for other in shown):
            shown.append(failure)
    return shown[:SHOWN]


def _text(failure: Failure) -> str:
    return failure.diagnosis.text if failure.diagnosis else ""


def _cause(failure: Failure) -> str:
    return failure.diagnosis.mistake if failure.diagnosis else failure.message


def _test_lines(test: str, look: Look) -> list[Text]:
    """Return a test's name, its last part on a line of its own where it is too long: cut anywhere it cannot be read."""
    place, separator, name = test.rpartition("::")
    fits = len(test) <= look.detail - INDENT
    return paragraph(test if fits or not separator else f"{place}::\n{name}", look, "dim")


def _failure_lines(failure: Failure, style: Style, before: Failure | None, elsewhere: str) -> list[Text]:
    """Return the cause, the place and, once, what was called and came of it; nothing that stands above already.

    elsewhere is the criterion in which the cause is told already.
    """
    look, cause = style.look, failure.diagnosis
    lines: list[Text] = []
    if style.verbose:
        lines += _test_lines(failure.test, look)
    is_new = before is None or _text(before) != _text(failure)
    if cause is not None and elsewhere and is_new:
        lines += paragraph(f"By the same cause as {elsewhere}.", look, "yellow")
    elif cause is not None and is_new:
        lines += paragraph(look.prose(cause.text), look, "yellow")
        lines += paragraph(look.prose(cause.fix), look, "yellow") if style.fix and cause.fix else []
    if failure.where and not (cause is not None and elsewhere) and (before is None or before.where != failure.where):
        lines += place_lines(f"{failure.where.file}:{failure.where.line}", failure.where.text, look)
    if failure.call:
        lines += paragraph(failure.call, look, "bold", hanging=4)
    if message := evidence(failure, style):
        lines += paragraph(look.prose(_trimmed(message, MESSAGE_LINES, style)), look)
    if failure.help and (style.verbose or cause is None) and (before is None or before.help != failure.help):
        lines += paragraph(look.prose(_trimmed(failure.help, NOTE_LINES, style)), look, "yellow")
    if before is None or before.gradients != failure.gradients:
        lines += gradient_lines(failure.gradients, look)
    for note in failure.notes if before is None or before.notes != failure.notes else ():
        lines += paragraph(_trimmed(note, NOTE_LINES, style), look, "dim")
    if (said := no_cause(failure, style.verbose)) and (before is None or before.unexplained != failure.unexplained):
        lines += paragraph(said, look, "dim")
    return lines


def no_cause(failure: Failure, verbose: bool = False) -> str:
    """Say why no cause is known, where the search for it came to no end and nothing else explains the failure."""
    is_told = failure.diagnosis is None and not failure.help and (verbose or failure.unexplained.startswith(SEARCH))
    return f"No cause was found: {failure.unexplained}." if is_told and failure.unexplained else ""


def evidence(failure: Failure, style: Style) -> str:
    """Return the message of a failure; where its cause is named, without what its numbers look like beside that."""
    if failure.diagnosis is None or not failure.pattern or style.verbose:
        return failure.message
    return "\n".join(line for line in failure.message.splitlines() if line != failure.pattern)


def fault_lines(verdict: Verdict, style: Style) -> list[Text]:
    """Say what failed on our side; nothing where nothing did."""
    if not verdict.grader_fault:
        return []
    lines = paragraph(FAULT, style.look, "magenta", indent=0)
    for fault in verdict.faults:
        lines += paragraph(_trimmed(fault, MESSAGE_LINES, style), style.look)
    return lines


def _run_line(verdict: Verdict, style: Style) -> list[Text]:
    """Return how the tests were run, which says how to run them again; nothing where none was run."""
    if verdict.problem is not None:
        return []
    run = verdict.run
    lines = paragraph(with_uses(run.uses, run.withheld), style.look, "dim", indent=0) if run.uses else []
    facts = f"seed {run.seed} · isolation {run.isolation}" + ("" if run.withheld else f" · {run.duration_s:.1f} s")
    lines += paragraph(facts, style.look, "dim", indent=0)
    if made := run.provenance.words:
        lines += paragraph(made, style.look, "dim", indent=0)
    if run.public_only:
        lines += paragraph("Only public tests were run. Hidden tests run when you submit.", style.look, indent=0)
    for note in run.notes:
        lines += paragraph(f"Note: {note}.", style.look, indent=0)
    if run.isolation_note and style.verbose:
        lines += paragraph(f"isolation: {run.isolation_note}", style.look, "dim", indent=0)
    return lines


def _trimmed(text: str, most: int, style: Style | None = None) -> str:
    """Return the lines of a text that are not blank, shortened and at most so many unless all is wanted."""
    lines = [line for line in text.splitlines() if line.strip()]
    if style is not None and style.verbose:
        return "\n".join(lines)
    lines = [line if len(line) <= LINE_LENGTH else f"{line[:LINE_LENGTH]}…" for line in lines]
    if len(lines) <= most:
        return "\n".join(lines)
    return "\n".join([*lines[:most], f"… {len(lines) - most} more lines"])
