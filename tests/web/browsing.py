"""Help for tests in a real browser: serving a course, saving a file, accessibility, the tab key, what was requested."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.browser import Page
from tests.support.command import RUN, Place
from tests.support.patience import SLACK
from tests.support.places import HOUSE, ROOT

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
FINDINGS = "axe.run().then(found => found.violations.map(each => each.id + ': ' + each.nodes.map(node => node.html)))"


@contextmanager
def serving(place: Place) -> Iterator[str]:
    """Run `grader serve` for a course, and give the address that it prints."""
    variables = {**os.environ, "PYTHONPATH": str(HOUSE.parent), "PYTHONUTF8": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", RUN, "serve"], cwd=place.root, env=variables, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            told = process.communicate(timeout=2 * SLACK)[1]
        assert process.returncode == 0 and told.endswith("Stopped.\n"), told


def saved(path: Path, text: str) -> None:
    """Save as editors do: another file takes the place of the one before."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def accessible(page: Page) -> None:
    """Have axe-core look at the page, in both colour schemes."""
    if not AXE.is_file():
        pytest.skip("axe-core is not there: `npm install --no-save axe-core`")
    page.run(AXE.read_text(encoding="utf-8") + "; 1")
    for is_dark in (False, True):
        page.dark(is_dark)
        assert page.run(FINDINGS) == []


def reached(page: Page, steps: int = 200) -> set[str]:
    """Return what the tab key gets to, from the beginning of the page on until that comes again."""
    page.run("document.activeElement.blur(), scrollTo(0, 0)")
    names: set[str] = set()
    script = "document.activeElement === document.body ? '' : document.activeElement.dataset.test ?? ''"
    for _ in range(steps):
        page.press("Tab")
        name = page.run(script)
        if not name and names:
            break
        names.add(name)
    return names - {""}


MARK = """[...document.querySelectorAll('a[href], button, summary, [tabindex="0"]')]
    .filter(each => each.offsetParent !== null && !each.closest('details:not([open]) > :not(summary)'))
    .map((each, place) => each.dataset.test = `${place} ${each.tagName} ${each.textContent.trim().slice(0, 30)}`)"""


def quiet(page: Page) -> None:
    """Fail where the console complained, or anything was asked for elsewhere than here."""
    page.listen()
    assert page.complaints == []
    hosts = {urlsplit(each).hostname for each in page.requests if not each.startswith(("data:", "about:", "file:"))}
    assert hosts <= {"127.0.0.1"}
