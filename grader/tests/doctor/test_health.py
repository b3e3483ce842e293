"""The doctor: what works is said to work, what does not has its reason, and nothing hides what comes after."""

from __future__ import annotations

import sys
from importlib import metadata

import pytest

from grader.doctor import health
from grader.doctor.health import Finding, examine
from grader.isolation import tiers
from grader.report.terminal.layout import Look
from grader.report.terminal.overview import finding_lines
from grader.tests.support.places import ROOT


@pytest.fixture(scope="module")
def examined() -> list[Finding]:
    """What is found in this course."""
    return list(examine(ROOT, "utf-8", 100, True))


@pytest.mark.full_matrix("grader/isolation")
def test_python_packages_and_tiers_are_all_looked_at(examined: list[Finding]) -> None:
    found = {finding.topic: finding for finding in examined}
    assert {
        "python",
        *health.PACKAGES,
        *(f"isolation {tier}" for tier in tiers.TIERS),
        "terminal",
        "stages",
        "progress",
    } <= set(found)
    assert found["python"].what.startswith(".".join(map(str, sys.version_info[:3])))
    assert found["numpy"].what == metadata.version("numpy")
    assert found["isolation process"].level == "ok"


def test_this_course_is_consistent(examined: list[Finding]) -> None:
    assert [finding.level for finding in examined if finding.topic == "stages"] == ["ok"]
    of_the_course = [finding for finding in examined if finding.topic.split()[0] in ("course", "stages")]
    assert [finding for finding in of_the_course if finding.level != "ok"] == []


def test_an_old_python_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "LEAST_PYTHON", (4, 0))
    assert health._python().level == "broken"


def test_a_missing_package_is_broken_and_says_what_to_do() -> None:
    finding = health._package("no-such-package-anywhere")
    assert (finding.level, finding.what, finding.remedy) == ("broken", "is not installed", "Run `uv sync`.")


def test_a_terminal_in_the_c_locale_is_told_what_it_lacks() -> None:
    found = health._terminal("utf-8", 100, True, plain=True)
    assert (found.level, "only ASCII" in found.remedy) == ("warning", True)


@pytest.mark.parametrize(
    ("encoding", "width", "level"),
    [("utf-8", 80, "ok"), ("ascii", 80, "warning"), ("", 80, "warning"), ("utf-8", 60, "warning")],
)
def test_a_poor_terminal_is_a_warning(encoding: str, width: int, level: str) -> None:
    assert health._terminal(encoding, width, True).level == level


def test_a_finding_shows_its_remedy_below_it_in_the_same_column() -> None:
    finding = Finding("isolation bubblewrap", "warning", "is unavailable: " + "reason " * 10, "Install it.")
    lines = [line.plain for line in finding_lines(finding, Look(80))]
    assert lines[0].startswith("! isolation bubblewrap   is unavailable: reason")
    assert lines[-1] == " " * 25 + "Install it."
    assert max(map(len, lines)) <= 80
