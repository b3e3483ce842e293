"""The pages in a real browser: they follow saves, keyboards and screen readers get everywhere, and nothing leaves.

Skipped where there is no Chromium. The check of accessibility needs axe-core, a file for development that is no part
of the package: `npm install --no-save axe-core` in this folder puts it where it is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pytest

from grader.web.live import MOST
from tests.support.browser import Page, browser, found
from tests.support.command import NUMBERS, WRONG, Place
from tests.web.browsing import MARK, accessible, quiet, reached, saved, serving

README = """# Numbers

$$y = \\frac{x}{\\sqrt{2 n}} \\qquad z = \\sum_i x_i^2$$

| | $d_k$ |
|---|---|
| b | `c` |

[to the second](../s02_sums/README.md)

- The manual: docs.example.org/stable/user/basics.broadcasting_of_arrays_whose_shapes_differ.html

""" + "A paragraph.\n\n" * 30 + """## Twice

### Step 1: `double` it

Now write `double`, then run `grader check s01`:

- [ ] double is right

""" + "A paragraph.\n\n" * 30 + "## Further\n\nOf [squares](#squares).\n\n### Squares\n\nA last word.\n"  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    found()
    with browser(tmp_path_factory.mktemp("browser")) as made:
        yield made


@pytest.fixture(autouse=True)
def as_at_first(page: Page) -> None:
    page.resize(1280)
    page.dark(False)
    page.open("about:blank#")
    page.listen()
    page.requests.clear()
    page.complaints.clear()


@pytest.fixture
def course(place: Place) -> Place:
    (place.numbers.parent / "README.md").write_text(README, encoding="utf-8")
    place.numbers.write_text(WRONG, encoding="utf-8")
    return place


def test_a_save_changes_the_page(page: Page, course: Place) -> None:
    with serving(course) as address:
        page.open(address)
        page.until("document.querySelector('#board details[data-key=row-double]')?.open")
        page.until("document.querySelector('#board').innerText.includes('This is the square.')")  # follows the verdict
        assert page.until("document.querySelector('#said').textContent === 's01: 0 of 2 criteria'")
        saved(course.numbers, NUMBERS)
        page.until("document.querySelector('#board').innerText.includes('Every criterion passes.')")
        page.until("document.querySelector('#board').innerText.includes('Unlocked: s02')")
        page.until("document.querySelector('#stages li .hidden').textContent === 'passed'")
        quiet(page)


@pytest.mark.full_matrix("grader/watching")
def test_a_row_leads_to_its_step_and_its_mark_is_seen(page: Page, course: Place) -> None:
    seen = "document.querySelector('.first .kind').getBoundingClientRect().left >= "
    seen += "document.querySelector('.panel').getBoundingClientRect().left"
    step = "document.querySelector('#step-1-double-it').getBoundingClientRect()"
    with serving(course) as address:
        page.open(address)
        page.until("document.querySelector('[data-key=step-double]') !== null")
        assert page.run(seen) and page.run(f"{step}.top > innerHeight")
        page.run("document.querySelector('[data-key=step-double]').click()")
        page.until(f"{step}.top >= 0 && {step}.bottom <= innerHeight && location.hash === '#step-1-double-it'")
        quiet(page)


def test_what_is_not_to_be_read_now_is_folded_and_opens_where_a_link_leads_to_it(page: Page, course: Place) -> None:
    opened = "[...document.querySelectorAll('article .section')].map(each => each.open).join()"
    with serving(course) as address:
        page.open(address)
        assert page.run(opened) == "true,false"
        page.open(f"{address}#squares")
        assert page.run(opened) == "true,true"
        page.run("document.querySelectorAll('article .section').forEach(each => each.open = false)")
        page.run("document.querySelector('#sections').click()")
        assert page.run(opened) == "true,true"
        page.run("document.querySelector('#sections').click()")
        assert page.run(opened) == "false,false"
        page.until("document.querySelector('[data-key=step-double]') !== null")
        page.until("document.querySelector('#said').textContent === 's01: 0 of 2 criteria'")
        page.run("document.querySelectorAll('article .section').forEach(each => each.open = false)")
        page.run("document.querySelector('[data-key=step-double]').click()")
        assert page.run(opened) == "true,false"


@pytest.mark.full_matrix("grader/watching")
def test_a_page_whose_updates_were_refused_asks_for_them_again(page: Page, course: Place) -> None:
    with serving(course) as address:
        with ExitStack() as others:
            for _ in range(MOST):
                others.enter_context(urlopen(f"{address.rpartition('stages')[0]}events"))
            page.open(address)
            page.until("!document.querySelector('#connection').hidden")
        page.until("document.querySelector('[data-key=row-double]') !== null")
        assert page.run("document.querySelector('#connection').hidden")


@pytest.mark.full_matrix
def test_that_an_example_runs_is_taken_back_once_it_has(page: Page, course: Place) -> None:
    (course.root / "drawings").mkdir()
    plans = "PLANS = dict()\n"  # known only once it has run
    (course.root / "drawings" / "plans.py").write_text(plans)
    settings = course.root / "pyproject.toml"
    settings.write_text(settings.read_text().replace("[tool.grader]", '[tool.grader]\ndrawings = "drawings"'))
    with serving(course) as address:
        page.open(address)
        page.until("document.querySelector('#said').textContent === 's01: 0 of 2 criteria'")
        page.run("document.querySelector('button[data-do=explore]').click()")
        page.until("document.querySelector('#board').innerText.includes('nothing to draw')")
        page.until("document.querySelector('#answer').hidden")
        assert page.run("document.querySelector('#board details[data-key=drawn]') === null")


PLANS = """
import numpy as np
from grader.explore.model import Call, Plan, Reading, Step, weight_map

def run(learner, known):
    return Reading({"weights": learner.double(0.5) * np.eye(len(known["words"]))})

def maps(known):
    return (weight_map("Plain", False, None, known["weights"]),) if "weights" in known else ()

STEP = Step("one", "One", "Each word sees itself.", (Call("one", "double(0.5)", "double", (), run),))
PLANS = {"s01": Plan((STEP,), lambda example, seed: {"words": example.words}, False, of_sentence=True, maps=maps)}
"""


def test_a_query_lights_its_keys_and_a_sentence_of_ones_own_is_explored(page: Page, course: Place) -> None:
    (course.root / "drawings").mkdir()
    (course.root / "drawings" / "plans.py").write_text(PLANS)
    settings = course.root / "pyproject.toml"
    settings.write_text(settings.read_text().replace("[tool.grader]", '[tool.grader]\ndrawings = "drawings"'))
    key = "[...document.querySelectorAll('.weights thead th')].map(each => each.className).join()"
    with serving(course) as address:
        page.open(address)
        page.until("document.querySelector('#said').textContent === 's01: 0 of 2 criteria'")
        page.until("document.querySelector('#board').innerText.includes('This is the square.')")  # nothing more comes
        page.until("document.querySelectorAll('.weights tbody tr').length === 4")  # the lesson's sentence
        assert page.run("document.querySelector('.weights td:last-child').textContent") == "0"
        focused = "document.querySelectorAll('.weights button')[1].focus()"  # drawn anew, it has to be found anew
        page.until(f"{focused}, {key} === 'w0,w4,w0,w0'")  # 0.5² = 0.25, as long as double is wrong
        page.until(f"{focused}, document.querySelector('.reads').textContent.includes('“cat” attends to cat 0.25,')")
        page.press(" ")
        page.run("document.activeElement.blur()")
        page.until(f"{key} === 'w0,w4,w0,w0'")  # it was pressed, and stays
        place = "document.querySelectorAll('.weights td:last-child')[3]"
        page.run(f"{place}.scrollIntoView({{block: 'center'}})")
        box = page.run(f"{place}.getBoundingClientRect().toJSON()")
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box["x"] + 3, y=box["y"] + 3)
        page.until(f"{key} === 'w0,w0,w0,w4'")
        accessible(page)
        parts = "document.querySelectorAll('article .section')"
        page.run(f"{parts}[1].append(document.querySelector('.weights').cloneNode(true))")
        page.run(f"{parts}.forEach((each, place) => each.open = place === 1)")
        page.until(f"document.querySelector('#sentence').closest('.section') === {parts}[1]")  # where it can be seen
        page.run(f"document.querySelectorAll('.weights')[1].remove(), {parts}[0].open = true")
        page.run("document.querySelector('#words').value = 'so it is'")
        page.run("document.querySelector('#sentence button').click()")
        page.until("document.querySelectorAll('.weights tbody tr').length === 3")
        page.until("document.querySelector('#sentence p').textContent.includes('“so it is”')")
        saved(course.numbers, NUMBERS)
        page.until("document.querySelector('.weights td.w10')?.textContent === '1.00'")  # the sentence is kept
        page.until("document.querySelectorAll('.weights tbody tr').length === 3")
        half = NUMBERS.replace("double(double(x))", "4 * x").replace("return 2 * x", "raise NotImplementedError")
        saved(course.numbers, half)
        page.until("document.querySelector('#sentence p').textContent.startsWith('double is not written yet')")
        quiet(page)


@pytest.mark.full_matrix
def test_formulas_are_drawn_by_the_browser_and_stay_within_a_telephone(page: Page, course: Place) -> None:
    with serving(course) as address:
        page.open(address)
        assert page.run("document.querySelectorAll('math').length") == 2
        box = "document.querySelector('div.formula')"
        assert page.run(f"{box}.firstElementChild.getAttribute('alttext')").startswith("y = x / √(2 n)")
        height = "document.querySelector('{}').getBoundingClientRect().height"
        assert page.run(f"{height.format('mfrac')} > 1.5 * {height.format('mfrac mi')}")  # set as one, not in a row
        page.resize(160)
        assert page.run(f"{box}.scrollWidth > {box}.clientWidth")
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        page.resize(1280)
        page.open(address.rpartition("stages")[0] + "road")
        page.until("document.querySelector('h1').textContent === 'The road'")
        quiet(page)


@pytest.mark.full_matrix
def test_the_keyboard_gets_everywhere(page: Page, course: Place) -> None:
    with serving(course) as address:
        page.open(address)
        page.until("document.querySelector('#board details[data-key=row-double]')?.open")
        page.until("document.querySelector('#said').textContent === 's01: 0 of 2 criteria'")  # no other board follows
        wanted = set(page.run(MARK))
        assert len(wanted) > 10 and reached(page) == wanted
        page.run("document.querySelector('button[data-row=double]').focus()")
        page.press("Enter")
        page.until("document.querySelector('#answer').textContent.startsWith('Hint 1 of 3')")
        page.run("document.querySelector('[data-key=row-double] summary').focus()")
        page.press("Enter")
        assert page.run("document.querySelector('[data-key=row-double]').open") is False
        saved(course.numbers, f"{WRONG}\nimport time; time.sleep(1)\n")  # else the check is over before anybody looks
        page.until("document.querySelector('#said').dataset.checking")
        page.until("!document.querySelector('#said').dataset.checking")
        assert page.run("document.querySelector('[data-key=row-double]').open") is False
        assert page.run("document.activeElement.tagName") == "SUMMARY"


@pytest.mark.some_of(4)
@pytest.mark.parametrize("where", ["stages/s01", "road"])
@pytest.mark.parametrize("width", [1400, 480])
def test_nothing_bars_anybody_from_the_live_pages(page: Page, course: Place, where: str, width: int) -> None:
    with serving(course) as address:
        page.resize(width)
        page.open(address.rpartition("stages")[0] + where)
        page.until("!document.querySelector('#said').dataset.checking && document.querySelector('#said').textContent")
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        accessible(page)


@pytest.mark.full_matrix
def test_a_server_that_stops_is_told(page: Page, course: Place) -> None:
    with serving(course) as address:
        page.open(address)
        page.until("document.querySelector('#said').textContent")
    page.until("document.querySelector('#connection').innerText.includes('does not answer')")


@pytest.mark.full_matrix("grader/watching")
def test_another_site_gets_nothing(page: Page, course: Place) -> None:
    with serving(course) as address:
        base = address.rpartition("stages")[0]
        page.open("data:text/html,<p>another site")
        script = "fetch('{}do/check', {{method: 'POST', mode: '{}', body: '{{}}'}}).then(() => 'sent', () => 'refused')"
        assert page.run(script.format(base, "cors")) == "refused"
        framed = f"new Promise(done => {{ const frame = document.createElement('iframe'); frame.src = '{address}'; "
        framed += "frame.onload = () => done(frame.contentDocument === null ? 'barred' : 'seen'); "
        framed += "document.body.append(frame) })"
        assert page.run(framed) == "barred"


@pytest.fixture
def report(course: Place, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A report of somebody who has passed a stage."""
    from datetime import UTC, datetime

    from grader.progress.workspace import open_workspace
    from grader.submission import take
    from grader.web.certificate import document
    from grader.web.report_page import Picture, ReportPages
    from grader.web.road import road
    from tests.web.test_certificate import KEY, MADE

    course.numbers.write_text(NUMBERS, encoding="utf-8")
    workspace = open_workspace(course.root)
    stage, now = workspace.course.stages[0], datetime.now(UTC)
    workspace.store.record_pass("s01", take(stage, None, course.root).digest, 7, "0.1.0", now)
    picture = Picture(
        stage, "s01: a square", "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="
    )
    many = replace(MADE, stages=MADE.stages * 22)
    path = course.root / "report.html"
    path.write_text(ReportPages().report(road(workspace, now), document(many, KEY), [picture]), encoding="utf-8")
    return path


def test_a_report_loads_from_a_file_alone(page: Page, report: Path) -> None:
    page.open(report.as_uri())
    assert page.run("document.querySelector('h1').textContent") == "Small numbers"
    assert page.run("document.querySelector('img').complete")
    quiet(page)
    assert not [each for each in page.requests if each.startswith("http")]


@pytest.mark.some_of(2)
@pytest.mark.parametrize("width", [1280, 480])
def test_nothing_bars_anybody_from_a_report(page: Page, report: Path, width: int) -> None:
    page.resize(width)
    page.open(report.as_uri())
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    wanted = set(page.run(MARK))
    assert reached(page) == wanted and len(wanted) > 5
    accessible(page)


@pytest.mark.full_matrix
def test_a_report_prints_with_its_certificate_on_a_page_of_its_own(page: Page, report: Path) -> None:
    page.open(report.as_uri())
    pages = len(re.findall(rb"/Type\s*/Page[^s]", page.printed()))
    page.run("document.querySelector('.certificate').remove()")
    without = len(re.findall(rb"/Type\s*/Page[^s]", page.printed()))
    assert 1 <= without < pages <= without + 3
