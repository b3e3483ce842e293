"""READMEs on a terminal: nothing is cut, no link is told twice, and a pager where one is wanted."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from grader.report.terminal import screen
from grader.report.terminal.pager import Page, broken, narrowed, paged, pager
from tests.support.places import ROOT

SIGNATURE = "multi_head_attention_backward(grad_output, cache, another_argument, and_one_more)"
TABLE = f"| function | from | to |\n|---|---|---|\n| `{SIGNATURE}` | 1.234567 | the shape of x |\n| `f(x)` | | y |\n"
LINKS = "[a page](../a.md), [paper](https://a.b/c), [again](https://a.b/c), [https://d.e](https://d.e), end"


def shown(text: str, width: int = 80) -> str:
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(Page(text))
    return captured.get()


def test_a_table_that_fits_stays_one() -> None:
    (line,) = [line for line in shown(TABLE, 140).splitlines() if SIGNATURE in line]
    assert "1.234567" in line and "the shape of x" in line


def test_a_table_that_does_not_fit_becomes_a_list() -> None:
    lines = [line.strip() for line in shown(TABLE, 90).splitlines() if line.strip()]
    assert lines == [SIGNATURE, "from: 1.234567", "to: the shape of x", "f(x)", "to: y"]
    two = "| word | what it is |\n|---|---|\n| key | " + "long " * 30 + "|\n"
    assert [line.strip()[:9] for line in shown(two).splitlines() if line.strip()][:2] == ["key", "long long"]


def test_code_breaks_at_spaces_and_is_indented_below_its_first_line() -> None:
    code = "x = first_function(second_argument, third_argument)"
    assert broken(code, 80) == [code]
    assert broken(f"  {code}", 40) == ["  x = first_function(second_argument,", "      third_argument)"]
    assert broken("a" * 50, 20) == ["a" * 50]
    assert all(len(piece) <= 30 for piece in broken("a = " + "b + " * 40 + "c", 30))
    assert "x = first_function(second_argument,\n     third_argument)" in shown(f"```python\n{code}\n```", 45)


def test_code_breaks_between_two_equations_rather_than_within_one() -> None:
    line = "y = gamma (x - mu) / sqrt(sigma + eps)          mu, sigma over the last axis"
    assert broken(line, 60) == ["y = gamma (x - mu) / sqrt(sigma + eps)", "    mu, sigma over the last axis"]
    assert broken("    a = b(c)  # why that is so", 24) == ["    a = b(c)", "        # why that is so"]
    assert broken("...     a = first(one, two)", 20)[0] == "...     a ="
    assert broken("arriving      = here + there", 20) == ["arriving      = here", "    + there"]


def test_a_drawing_that_is_too_wide_comes_closer_together_and_stays_aligned() -> None:
    drawing = "x = 1          y = 2          z\n    11             22\n\nalone"
    assert shown(f"```text\n{drawing}\n```", 60).split("\n")[1].rstrip() == " x = 1          y = 2          z"
    told = [line.rstrip() for line in shown(f"```text\n{drawing}\n```", 24).rstrip().split("\n")]
    assert told[1:] == [" x = 1      y = 2      z", "     11         22", "", " alone"]
    assert narrowed(["  a\u0302      b", "  cc     d", "", "e" * 40], 8) == ["  a\u0302    b", "  cc   d", "", "e" * 40]
    assert narrowed(["", "f" * 9, "", ""], 8) == ["", "f" * 9, "", ""]
    python = "text = 'a          b'\nmore = 'a          b'"
    assert "a          b" in shown(f"```python\n{python}\n```", 24)


@pytest.mark.parametrize("page", sorted((ROOT / "stages").glob("*/README.md")), ids=lambda page: page.parent.name[:3])
def test_in_80_columns_no_drawing_of_a_readme_is_torn(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```(?:text|bash)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for drawing in "\n".join(narrowed(block.rstrip().split("\n"), 79)).split("\n\n"):
            lines = drawing.split("\n")
            assert len(lines) == 1 or max(map(cell_len, lines)) <= 79, drawing


def test_an_address_is_told_once_and_only_where_it_leads_out_of_the_course() -> None:
    text = " ".join(shown(LINKS, 200).split())
    assert text.startswith("a page, paper (https://a.b/c), again, https://d.e, ")
    assert text.count("https://d.e") == 1


@pytest.mark.parametrize("stage", ["s15_attention", "s02_linear_systems", "s22_efficient_attention"])
def test_in_80_columns_no_signature_and_no_number_of_a_readme_is_cut(stage: str) -> None:
    text = (ROOT / "stages" / stage / "README.md").read_text(encoding="utf-8")
    told = shown(text)
    assert "…" not in told or "…" in text
    assert all(len(line.rstrip()) <= 80 for line in told.splitlines())
    wanted = {*re.findall(r"\d\.\d{3,}", text), *re.findall(r"`(\w+)\(", text)}
    assert wanted
    joined = re.sub(r"\s+", " ", told)
    assert all(each in joined for each in wanted)


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({"TERM": "xterm"}, ["less"]),
        ({"TERM": "xterm", "PAGER": "more -s"}, ["more", "-s"]),
        ({"TERM": "xterm", "PAGER": ""}, None),
        ({"TERM": "xterm", "PAGER": "cat"}, None),
        ({"TERM": "xterm", "PAGER": "gone"}, None),
        ({"TERM": "xterm", "PAGER": "les's"}, None),
        ({"TERM": "dumb"}, None),
        ({}, None),
    ],
)
def test_the_pager_is_the_one_that_git_takes(environment: dict[str, str], command: list[str] | None) -> None:
    assert pager(environment, lambda name: None if name == "gone" else name) == command


def test_a_pager_gets_the_text_and_the_flags_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LESS", raising=False)
    file = tmp_path / "seen"
    code = f"import os, sys; open({str(file)!r}, 'w').write(os.environ['LESS'] + sys.stdin.buffer.read().decode())"
    assert paged("a δ\n", [sys.executable, "-c", code])
    assert file.read_text() == "FRXPsSpace goes on, b goes back, q leavesa δ\n"
    assert paged("x" * 10**6, [sys.executable, "-c", "pass"])  # left at once
    assert not paged("x", [str(tmp_path / "none")])


@pytest.mark.parametrize(("locale", "heading", "bullet"), [("C.UTF-8", "σ and μ", "•"), ("C", "sigma and mu", "*")])
def test_a_terminal_without_a_pager_gets_the_page_itself(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, locale: str, heading: str, bullet: str
) -> None:
    for name, value in {"PAGER": "cat", "LC_ALL": locale, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "60"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    screen.show_markdown("# σ and μ\n\n- `wᵢ`\n")
    told = capsys.readouterr().out
    assert heading in told and bullet in told and "#" not in told
    assert told.isascii() == (locale == "C")


def test_in_ascii_a_formula_of_a_page_keeps_its_products(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PAGER": "cat", "LC_ALL": "C", "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "60"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    screen.show_markdown("# s01 · Numbers\n\nIt is 2·a·b, or `3 · x`.\n\n```text\ny = γ · (x − μ)\n```\n")
    told = capsys.readouterr().out
    assert "s01 - Numbers" in told and "It is 2 * a * b, or" in told and "3 * x" in told
    assert "y = gamma * (x - mu)" in told
