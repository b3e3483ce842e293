"""The live board: what browsers hear, what rows and steps they see, and what is asked of the session."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.errors import GraderError
from grader.outcome import SEARCH, Gradient
from grader.submission.parsing import Problem
from grader.verdict import Failure
from grader.watching.board import (
    Board,
    CheckFailed,
    EarlyVerdict,
    Explored,
    FileSaved,
    FinalVerdict,
    Sentence,
    StepWeights,
)
from grader.web import live
from grader.web.app import NOT_FOUND, Response
from grader.web.live import COMPLETE, MOST, PUBLIC, BoardView, Hub, StepLink, StepLinks, named, step_links, view
from grader.web.markdown import PageLocation as Page
from grader.web.markdown import html_of
from grader.web.report_page import ReportPages
from tests.similarity.test_page import EVIL, Reader
from tests.support.command import Place
from tests.support.patience import SLACK
from tests.support.places import HOUSE
from tests.watching.fakes import Watched, verdict
from tests.web.asking import Served, frames


def test_a_listener_hears_the_latest_and_then_what_follows() -> None:
    hub = Hub()
    hub.publish("one")
    with hub.listener() as listener:
        assert listener is not None and listener.take(0) == "one" and listener.take(0) is None
        hub.publish("two")
        assert listener.take(0) == "two"


def test_a_slow_listener_holds_one_frame() -> None:
    hub = Hub()
    with hub.listener() as listener:
        assert listener is not None
        for frame in "abc":
            hub.publish(frame)
        assert (listener.take(0), listener.take(0)) == ("c", None)


def test_the_same_frame_is_no_news() -> None:
    hub = Hub()
    with hub.listener() as listener:
        assert listener is not None
        hub.publish("a")
        listener.take(0)
        hub.publish("a")
        assert listener.take(0) is None


def test_who_has_left_is_forgotten() -> None:
    hub = Hub()
    with pytest.raises(OSError), hub.listener():
        assert len(hub) == 1
        raise OSError
    assert len(hub) == 0


def test_too_many_listeners_are_turned_away() -> None:
    hub = Hub()
    places = [hub.listener() for _ in range(MOST)]
    for each in places:
        each.__enter__()
    with hub.listener() as one_more:
        assert one_more is None
    places.pop().__exit__(None, None, None)
    with hub.listener() as fits:
        assert fits is not None


def test_closing_ends_every_wait_after_the_last_frame() -> None:
    hub = Hub()
    with hub.listener() as listener:
        assert listener is not None
        hub.publish("last")
        hub.close()
        assert listener.take(0) == "last"
        with pytest.raises(EOFError):
            listener.take(SLACK)
    with hub.listener() as late:
        assert late is None


def test_a_wait_ends_with_the_frame_that_comes() -> None:
    hub, heard = Hub(), []
    with hub.listener() as listener:
        assert listener is not None
        waits = threading.Thread(target=lambda: heard.append(listener.take(SLACK)))
        waits.start()
        hub.publish("now")
        waits.join(SLACK)
    assert heard == ["now"]


README = """# Numbers

## Twice

### Step 1: `double` it

- [ ] double gives twice a number

### Step 2: and again

- [ ] quadruple gives four times a number

### Step 2: and again
"""


@pytest.fixture
def stage(place: Place) -> Stage:
    found = load_course(place.root).stages[0]
    texts = {row.id: row.text for row in found.criteria}
    page = README.replace("double gives twice a number", texts["double"])
    page = page.replace("quadruple gives four times a number", texts["quadruple"])
    found.readme_path.write_text(page, encoding="utf-8")
    return found


def test_each_row_has_the_heading_of_its_step(stage: Stage) -> None:
    text = stage.readme_path.read_text(encoding="utf-8")
    found = step_links(stage, text)
    assert found == {"double": StepLink(1, "step-1-double-it"), "quadruple": StepLink(2, "step-2-and-again")}
    html = html_of(text, Page("stages/s01_numbers/README.md"))
    assert all(html.count(f'id="{link.anchor}"') == 1 for link in found.values())


def test_a_page_without_steps_has_none(stage: Stage) -> None:
    assert step_links(stage, "# Numbers\n\n```text\n### Step 1: in code\n```\n") == {}


def test_a_page_that_was_saved_is_read_again_and_one_that_is_gone_has_none(stage: Stage) -> None:
    steps = StepLinks()
    before = steps.of(stage)
    assert steps.of(stage) is before and before["double"].number == 1
    stage.readme_path.write_text(README.replace("Step 1", "Step 7").replace("- [ ]", "-"), encoding="utf-8")
    os.utime(stage.readme_path, ns=(0, 0))
    assert steps.of(stage) == {}
    stage.readme_path.unlink()
    assert steps.of(stage) == {}


@pytest.mark.parametrize("stage_id", ["s01", "s15"])
def test_every_row_of_the_course_has_a_step(stage_id: str) -> None:
    found = load_course(HOUSE.parent).find(stage_id)
    links = step_links(found, found.readme_path.read_text(encoding="utf-8"))
    assert set(links) == {row.id for row in found.criteria}


@pytest.fixture
def watched(place: Place) -> Watched:
    found = Watched(place.root)
    found.session.open(found.first)
    return found


def shown(board: Board) -> BoardView:
    return view(board, 6.0)


def after(watched: Watched, *statuses: str, **changes: object) -> BoardView:
    made = replace(verdict(watched.first, *statuses), **changes)  # type: ignore[arg-type]
    watched.session.take(watched.judged(made))
    return shown(watched.session.board)


def test_a_check_that_runs_says_how_far_it_is(watched: Watched) -> None:
    found = shown(watched.session.board)
    assert found.is_checking and found.reached.startswith("checking · 0 tests") and found.lines == ()


def test_the_first_row_that_fails_comes_with_its_cause(watched: Watched) -> None:
    found = after(watched, "failed", "blocked")
    first, second = found.lines
    assert (first.is_first, second.is_first, found.done, second.told) == (True, False, 0, ())
    (told,) = first.told
    assert (told.call, told.cause) == ("double(x=3)", "This is the square.")
    assert told.where == "stages/s01_numbers/numbers_.py:6" and first.functions == ("double",)


def test_a_cause_that_is_looked_for_and_a_search_that_was_cut_short_are_told(watched: Watched) -> None:
    made = verdict(watched.first, "failed", "blocked")
    row, *rest = made.criteria
    bare = tuple(replace(each, diagnosis=None) for each in row.failures)
    made = replace(made, criteria=(replace(row, failures=bare), *rest))
    watched.session.take(EarlyVerdict(1, made))
    assert shown(watched.session.board).reached.endswith("looking for the cause")
    cut = tuple(replace(each, unexplained=f"{SEARCH} took 60 s") for each in bare)
    found = after(watched, "failed", "blocked", criteria=(replace(row, failures=cut), *rest))
    assert found.lines[0].told[0].notes[-1] == f"No cause was found: {SEARCH} took 60 s."
    assert "looking for the cause" not in found.reached


def test_gradients_are_a_table(watched: Watched) -> None:
    wrong = Gradient("grad_x", "x", (2,), (2,), 0.5, (0,), "1", "2", "factor", "twice")
    failure = Failure("t", False, "failed", "f()", "no", None, None, gradients=(wrong,))
    made = verdict(watched.first, "failed", "passed")
    rows = (replace(made.criteria[0], failures=(failure,)), made.criteria[1])
    (told,) = after(watched, "failed", "passed", criteria=rows).lines[0].told
    assert told.gradients.startswith("gradient") and "grad_x" in told.gradients


def test_a_module_that_cannot_be_graded_says_why(watched: Watched) -> None:
    found = after(watched, "failed", "failed", problem=Problem("syntax", "invalid syntax", 3, "Look at line 3."))
    assert found.trouble == ("stages/s01_numbers/numbers_.py:3: invalid syntax", "Look at line 3.")
    assert found.lines == ()


def test_a_line_that_the_message_names_is_said_once(watched: Watched) -> None:
    found = after(watched, "failed", "failed", problem=Problem("syntax", "line 3: invalid syntax", 3, None))
    assert found.trouble == ("stages/s01_numbers/numbers_.py: line 3: invalid syntax", "")


def test_a_row_knows_its_step(watched: Watched) -> None:
    watched.session.take(watched.judged(verdict(watched.first, "failed", "blocked")))
    found = view(watched.session.board, 6.0, {"double": StepLink(1, "step-1-twice")})
    assert [line.step for line in found.lines] == [StepLink(1, "step-1-twice"), None]


def test_a_check_that_came_to_nothing_says_why(watched: Watched) -> None:
    watched.session.take(CheckFailed(1, "s02 is locked", "Pass s01."))
    assert shown(watched.session.board).trouble == ("s02 is locked", "Pass s01.")


def test_a_fault_of_ours_is_said_to_be_one(watched: Watched) -> None:
    assert "not in your code" in after(watched, "failed", "passed", faults=("broken",)).trouble[0]


def test_a_stage_that_is_complete_says_what_it_opened(watched: Watched) -> None:
    found = after(watched, "passed", "passed", unlocked=("s02",))
    assert (found.complete, found.opened, found.done) == (COMPLETE, ("s02 · Sums",), 2)
    unrecorded = after(watched, "passed", "passed", unlocked=("s02",), unrecorded="disk full")
    assert unrecorded.opened == () and "disk full" in unrecorded.note


def test_public_tests_that_pass_are_no_pass(watched: Watched) -> None:
    made = verdict(watched.first, "passed", "passed")
    public = replace(made, passed=False, run=replace(made.run, public_only=True))
    watched.session.take(FinalVerdict(1, public))
    assert shown(watched.session.board).complete == PUBLIC


def test_a_row_whose_function_was_shown_says_seen(watched: Watched) -> None:
    found = after(watched, "failed", "blocked")
    assert [line.is_seen for line in found.lines] == [False, False]
    board = watched.session.board
    first, *others = board.standings
    given_up = replace(board, standings=(replace(first, seen=(found.lines[1].id,)), *others))
    assert [line.is_seen for line in shown(given_up).lines] == [False, True]
    pages = ReportPages()
    assert "· seen" in pages.fill("board.html", view=shown(given_up))
    assert "· seen" not in pages.fill("board.html", view=found)


def test_what_passes_and_what_comes_later_is_folded(watched: Watched) -> None:
    found = after(watched, "passed", "not_started")
    assert [line.is_first for line in found.shown] == [True]
    assert [(each.kind, each.words) for each in found.folded] == [("passed", "1 passes")]
    found = after(watched, "failed", "blocked")
    assert [line.kind for line in found.shown] == ["failed"]
    assert [(each.words, each.lines) for each in found.folded] == [("1 waits", found.lines[1:])]
    html = ReportPages().fill("board.html", view=found)
    assert html.count('<li id="row-') == 2 and '<details class="folded" data-key="not_started">' in html


@pytest.fixture
def served(place: Place) -> Iterator[Served]:
    with Served(place) as found:
        yield found


def test_a_verdict_becomes_a_frame(served: Served) -> None:
    with served.hub.listener() as listener:
        first = frames(listener, lambda frame: frame["checking"])
        assert first["said"] == "s01: checking"  # it stays until the verdict, whatever the board counts
        assert (first["stage"], first["verdicts"]) == ("s01", 0) and 'data-stage="s02"' in first["road"]
        served.post(FinalVerdict(1, verdict(served.workspace.course.stages[0], "failed", "blocked")))
        frame = frames(listener, lambda frame: not frame["checking"])
        assert frame["verdicts"] == 1 and "This is the square." in frame["html"] and "0 of 2" in frame["said"]


def test_a_save_begins_a_check(served: Served) -> None:
    with served.hub.listener() as listener:
        served.post(FinalVerdict(1, verdict(served.workspace.course.stages[0], "failed", "blocked")))
        frames(listener, lambda frame: not frame["checking"])
        served.post(FileSaved(served.workspace.course.stages[0].module_path))
        assert frames(listener, lambda frame: frame["checking"])
    assert served.checks.asked == [("s01", None), ("s01", "double")]


def test_pictures_are_told_by_their_rows_and_kept_by_their_digest(served: Served) -> None:
    with served.hub.listener() as listener:
        served.post(Explored("s01", "", "", (("double", b"<svg/>"),)))
        ((row, name),) = frames(listener, lambda frame: bool(frame["drawn"]))["drawn"]
    assert row == "double" and served.live.pictures == {name: b"<svg/>"}
    answer = served.app.answer("GET", f"drawn/{name}")
    assert isinstance(answer, Response) and (answer.body, answer.kind) == (b"<svg/>", "image/svg+xml")
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert served.app.answer("GET", "drawn/other") == NOT_FOUND


def test_weights_are_told_by_their_rows_and_their_sentence(served: Served) -> None:
    weights = StepWeights("double", "Plain", ((1.0, 0.0), (0.25, 0.75)), is_wrong=True)
    with served.hub.listener() as listener:
        served.post(Explored("s01", "", sentence=Sentence(("a", EVIL), ("a", EVIL), (weights,))))
        frame = frames(listener, lambda frame: bool(frame["weights"]))
        served.post(Explored("s01", "", sentence=Sentence(("a",), ("a",), (), "double")))
        missing = frames(listener, lambda frame: not frame["weights"] and frame["sentence"])
        served.live.ask(lambda: served.live.session.read("x " * 40))
        served.post(Explored("s01", "", "--words has 40 words", (), "x " * 40))
        refused = frames(listener, lambda frame: "40" in frame["sentence"])
    ((row, html),) = frame["weights"]
    read = Reader(html)
    assert row == "double" and read.open == [] and not {"script", "img"} & set(read.tags)
    assert read.tags["button"] == 2 and read.tags["td"] == 5  # a cell for each pair, and the corner
    assert 'class="w10">1.00<' in html and 'class="w0">0<' in html and "of a wrong step" in html
    assert missing["sentence"].startswith("double is not written yet.")
    assert refused["sentence"] == "Your sentence has 40 words."


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_digits_of_each_shade_can_be_read(scheme: str) -> None:
    css = (HOUSE / "web" / "static" / "live.css").read_text(encoding="utf-8")
    found = re.findall(r":root \{ --w0.*?\}", css, re.DOTALL)[scheme == "dark"]
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", found))
    inks = dict.fromkeys(range(6), "low") | {6: "mid"} | dict.fromkeys(range(7, 11), "high")
    assert set(inks) == set(range(live.LEVELS + 1))
    assert min(contrast(colours[f"w{level}"], colours[ink]) for level, ink in inks.items()) >= 4.5


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, as WCAG 2 has it."""
    dark, bright = sorted(map(_luminance, (one, other)))
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_locked_stage_shows_its_rows_and_can_be_skipped_to(served: Served) -> None:
    second = served.workspace.course.stages[1]

    def open_second() -> str:
        served.live.session.open(second)
        return ""

    served.live.ask(open_second)
    served.post(CheckFailed(served.live.session.ticket, "s02 is locked", None))
    with served.hub.listener() as listener:
        html = frames(listener, lambda frame: "locked" in frame["html"])["html"]
    assert 'data-do="start"' in html and all(f'id="row-{row.id}" class="locked"' in html for row in second.criteria)
    answer = served.app.answer("POST", "do/start", b'{"stage": "s02"}')
    assert isinstance(answer, Response) and "You are at s02" in answer.body.decode()
    assert served.workspace.store.read().skipped == {"s01"} or "s01" in served.workspace.store.read().skipped


def test_what_a_learners_code_prints_is_text(served: Served) -> None:
    with served.hub.listener() as listener:
        served.post(Explored("s01", EVIL))
        frame = frames(listener, lambda frame: "alert" in frame["html"])
        served.post(CheckFailed(1, EVIL, EVIL))
        trouble = frames(listener, lambda frame: "failure" in frame["html"])
    for html in (frame["html"], trouble["html"]):
        read = Reader(html)
        assert read.open == [] and not {"script", "img"} & set(read.tags) and "\x1b" not in html


def test_a_wish_is_granted_in_the_thread_of_the_watch(served: Served) -> None:
    names: list[str] = []

    def wish() -> str:
        names.append(threading.current_thread().name)
        return "granted"

    assert served.live.ask(wish) == "granted"
    assert names != [threading.current_thread().name]


def test_a_wish_that_fails_is_told_and_the_watch_goes_on(served: Served) -> None:
    def fails() -> str:
        raise GraderError("no hint", "Try later.")

    def breaks() -> str:
        raise ValueError("a fault")

    assert served.live.ask(fails) == "No hint. Try later."
    with pytest.raises(ValueError, match="a fault"):
        served.live.ask(breaks)
    assert served.live.ask(lambda: "still there") == "still there"


def test_an_answer_that_does_not_come_is_not_waited_for(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "ANSWER_SECONDS", 0.05)
    idle = Served(place)  # nobody runs it
    with pytest.raises(GraderError, match="no answer came"):
        idle.live.ask(lambda: "too late")
    monkeypatch.setattr(live, "ANSWER_SECONDS", SLACK)
    with idle:
        assert idle.live.ask(lambda: "next") == "next"


def test_the_end_closes_the_watch_and_the_hub(place: Place) -> None:
    with Served(place) as served, served.hub.listener() as listener:
        assert listener is not None
        served.live.stop()
        with pytest.raises(EOFError):
            while True:
                listener.take(SLACK)
    assert served.checks.closed and served.saves.watched is None


@pytest.mark.parametrize(("values", "text"), [({"row": "a"}, "a"), ({"row": 3}, ""), ({}, ""), ([], ""), (None, "")])
def test_only_texts_are_read_from_a_request(values: object, text: str) -> None:
    assert named(values, "row") == text
