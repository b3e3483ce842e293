"""What a row links to: the heading of its step, as it stands on the page, also after the page was saved again."""

from __future__ import annotations

import os

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.tests.support.command import Place
from grader.tests.support.places import HOUSE
from grader.web.reading.markdown import Place as Page
from grader.web.reading.markdown import html_of
from grader.web.serving.steps import StepLink, Steps, step_links

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
    steps = Steps()
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
