"""The documentation as a site: its pages, their order, its links and schemas, and its accessibility in a browser."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest

from grader.course.formulas import FORMULA
from tests.support.browser import Page, browser, found
from tests.support.places import ROOT
from tests.web.browsing import AXE, FINDINGS, quiet


def _hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "docs" / "site" / "pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOOK = _hook()


def test_every_page_of_the_index_and_every_stage_is_on_the_site() -> None:
    pages = set(HOOK.pages(ROOT))
    assert {path.relative_to(ROOT).as_posix() for path in ROOT.glob("stages/*/README.md")} <= pages
    listed = re.findall(r"^\| \[[^]]*\]\(([^)]+)\)", (ROOT / "docs" / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(listed) > 10
    assert {(ROOT / "docs" / link).resolve() for link in listed} <= {ROOT / page for page in pages}


def test_the_order_is_that_of_the_index_with_the_stages_first() -> None:
    titles = list(HOOK.sections(ROOT))
    assert titles == ["The stages", "For learners", "For instructors", "For authors and developers"]
    stages = HOOK.sections(ROOT)["The stages"]
    assert stages[0] == "stages/README.md" and stages[1].startswith("stages/s01_") and len(stages) > 22
    assert stages[1:23] == sorted(stages[1:23])
    assert stages[-1] == "stages/beyond.md" and "stages/beyond.md" not in HOOK.sections(ROOT)["For learners"]
    assert "grader/report/verdict.schema.md" in HOOK.sections(ROOT)["For instructors"]


def test_nothing_hidden_is_published() -> None:
    published = [*HOOK.pages(ROOT), *(path for path in HOOK.linked(ROOT) if HOOK.is_published(ROOT, path))]
    assert not [path for path in published if path.startswith(("hidden/", "demo/", ".", "/"))]
    assert not HOOK.is_published(ROOT, "hidden/s01_matrix_operations/solution.py")


def test_a_link_to_what_is_not_on_the_site_is_its_text_or_leads_to_the_repository() -> None:
    text = "See [`cli.py`](../grader/cli.py), [a page](course.md#data), [a stub](../stages/s15_attention/attention.py)."
    stays = "[a page](course.md#data), [a stub](../stages/s15_attention/attention.py).\n"
    assert HOOK.fitted("docs/learning.md", text, "") == f"See `cli.py`, {stays}"
    linked = "[`cli.py`](https://example.org/course/blob/main/grader/cli.py)"
    assert HOOK.fitted("docs/learning.md", text, "https://example.org/course/") == f"See {linked}, {stays}"


def test_a_link_to_a_schema_leads_to_the_page_that_is_made_of_it() -> None:
    text = "[schema](../grader/report/verdict.schema.json)"
    assert HOOK.fitted("docs/grading.md", text, "") == "[schema](../grader/report/verdict.schema.md)\n"


def test_code_stays_as_it_is() -> None:
    text = "```text\na\n- b\n[c](../grader/cli.py)\n```\n"
    assert HOOK.fitted("docs/learning.md", text, "") == text


def test_a_list_right_below_a_paragraph_is_a_list() -> None:
    assert HOOK.fitted("docs/learning.md", "these:\n- one\n- two\n", "") == "these:\n\n- one\n- two\n"
    assert HOOK.fitted("docs/learning.md", "| a |\n- b\n", "") == "| a |\n- b\n"


@pytest.mark.parametrize("path", ["grader/report/verdict.schema.json", "grader/explore/exploration.schema.json"])
def test_the_page_of_a_schema_has_every_key_and_every_link_a_heading(path: str) -> None:
    schema = json.loads((ROOT / path).read_text(encoding="utf-8"))
    page = HOOK.schema_page(ROOT / path)
    objects = [kind for kind in (schema, *schema.get("$defs", {}).values()) if "properties" in kind]
    assert objects and all(f"| `{key}` |" in page for kind in objects for key in kind["properties"])
    headings = {line[3:].lower() for line in page.splitlines() if line.startswith("## ")}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= headings


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site where MkDocs is installed: a job of its own builds it in CI."""
    pytest.importorskip("material", reason="the group docs is not installed")
    build = importlib.import_module("mkdocs.commands.build").build
    load_config = importlib.import_module("mkdocs.config").load_config
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder)))
    return folder


def test_the_site_is_built_without_a_warning(site: Path) -> None:
    assert (site / "stages" / "s15_attention" / "index.html").is_file()
    fetched = r'(?:src|href)="https?://[^"]*\.(?:js|css|woff2?)"'
    assert not [path for path in site.rglob("*.html") if re.search(fetched, path.read_text("utf-8"))]


def test_the_site_draws_each_formula_of_a_lesson(site: Path) -> None:
    pages = sorted(ROOT.glob("stages/*/README.md"))
    for page in pages:
        shown = (site / "stages" / page.parent.name / "index.html").read_text("utf-8")
        text = page.read_text("utf-8")
        wanted = sum((each["block"] or "").count("$$") // 2 + bool(each["inline"]) for each in FORMULA.finditer(text))
        assert shown.count("<math") == wanted, page.parent.name
        assert "$" not in re.sub(r"(?s)<(code|script)\b.*?</\1>", "", shown), page.parent.name
    assert len(pages) > 22


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a log."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serve the site on a port of this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def page(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    found()
    if not AXE.is_file():
        pytest.skip("axe-core is not there: `npm install --no-save axe-core`")
    with browser(tmp_path_factory.mktemp("browser")) as made:
        yield made


SEARCHED = """(field => { field.focus(); field.value = 'softmax';
    field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})) })(document.querySelector('.md-search__input'))"""
IS_STILL = "document.getAnimations().every(each => each.playState !== 'running')"
STAGE = "stages/s15_attention/index.html"
SCHEMA = "grader/report/verdict.schema.html"


@pytest.mark.some_of(7, "docs/site", "mkdocs.yml")
@pytest.mark.parametrize("scheme", ["default", "slate"])
@pytest.mark.parametrize(
    ("path", "toggle", "width"),
    [
        *product(("index.html", STAGE, "stages/index.html", "docs/class.html", SCHEMA, "404.html"), [""], (1280, 390)),
        ("docs/learning.html", "search", 1280),
        ("docs/learning.html", "search", 390),
        ("docs/learning.html", "drawer", 390),
    ],
)
def test_the_site_is_accessible(page: Page, address: str, path: str, toggle: str, width: int, scheme: str) -> None:
    page.resize(width)
    page.open("about:blank#")
    page.open(address + path)
    page.until("document.querySelector('.md-top').hidden")  # the theme's script has run
    page.run(f"document.querySelector('.md-option[data-md-color-scheme={scheme}]').click()")
    page.until(f"document.body.dataset.mdColorScheme === '{scheme}'")
    if toggle:
        page.run(f"document.querySelector('#__{toggle}').click()")
    if toggle == "search":
        page.run(SEARCHED)
        page.until("document.querySelectorAll('.md-search-result mark').length > 10")
    page.until(IS_STILL)
    page.run(AXE.read_text(encoding="utf-8") + "; 1")
    assert page.run(FINDINGS) == []
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    quiet(page)


def test_the_tab_key_reaches_code_that_scrolls_sideways(page: Page, address: str) -> None:
    page.open("about:blank#")
    page.open(address + STAGE)
    wide = "[...document.querySelectorAll('pre > code')].filter(each => each.scrollWidth > each.clientWidth)"
    for width, least in ((390, 1), (1280, 0)):
        page.resize(width)
        page.until(f"{wide}.every(each => each.tabIndex === 0)")
        page.until("document.querySelectorAll('pre > code[tabindex]').length === " + f"{wide}.length")
        assert page.run(f"{wide}.length") >= least
