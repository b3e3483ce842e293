"""What the doctor says of the isolation tiers: which works, which is missing and why, and what each holds back."""

from __future__ import annotations

import sys

import pytest

from grader.doctor import guards, health
from grader.doctor.health import Finding
from grader.errors import IsolationRefused
from grader.isolation import tiers
from grader.sandbox.process import LoadFailed
from grader.submission.parsing import Problem


def isolation(monkeypatch: pytest.MonkeyPatch, missing: dict[str, str], *found: guards.Guard) -> dict[str, Finding]:
    monkeypatch.setattr(tiers, "why_missing", missing.get)
    monkeypatch.setattr(guards, "try_out", lambda tier: found)
    return {finding.topic.removeprefix("isolation "): finding for finding in health._isolation()}


def test_the_strongest_tier_that_works_is_the_one_that_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    found = isolation(monkeypatch, {})
    assert [found[tier].what for tier in tiers.TIERS] == ["works, and checks use it", "works", "works"]


def test_a_missing_tier_is_a_warning_with_its_reason_where_another_works(monkeypatch: pytest.MonkeyPatch) -> None:
    found = isolation(monkeypatch, {"bubblewrap": "bwrap is not installed"})
    missing = found["bubblewrap"]
    assert (missing.level, missing.what) == ("warning", "is unavailable: bwrap is not installed")
    assert "other people's files" in missing.remedy
    assert found["landlock"].what == "works, and checks use it"


def test_by_default_only_the_tier_that_checks_use_is_tried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    monkeypatch.setattr(tiers, "why_missing", {"bubblewrap": "bwrap is not installed"}.get)

    def try_out(tier: str) -> tuple[guards.Guard, ...]:
        tried.append(tier)
        return ()

    monkeypatch.setattr(guards, "try_out", try_out)
    found = [finding.what for finding in health._isolation(every=False)]
    assert tried == ["landlock"] and found[1] == "works, and checks use it"
    assert "`grader doctor --every-tier` tries it" in found[2]


def test_where_bubblewrap_is_not_installed_the_command_that_installs_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = isolation(monkeypatch, {"bubblewrap": "bwrap is not installed"})
    assert found["bubblewrap"].remedy.endswith("make it work: `apt-get install bubblewrap`, as root.")


def test_no_tier_at_all_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    found = isolation(monkeypatch, {"bubblewrap": "x", "landlock": "y", "process": "z"})
    assert [each.level for each in found.values()] == ["warning", "warning", "broken"]


def test_what_a_tier_holds_back_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = guards.Guard("no TCP", True, True), guards.Guard("no UDP", False, False)
    found = isolation(monkeypatch, {}, *tried)["process"]
    assert found.what == "works. Tried and blocked: no TCP. It does not promise: no UDP"
    assert (found.level, found.guards) == ("ok", tried)


def test_a_promise_that_is_not_kept_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    found = isolation(monkeypatch, {}, guards.Guard("no TCP", True, True), guards.Guard("no UDP", False, True))
    landlock = found["landlock"]
    assert (landlock.level, landlock.what) == ("warning", "works. Tried and blocked: no TCP. It fails at: no UDP")
    assert "other people's files" in landlock.remedy and len(landlock.guards) == 2


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (IsolationRefused("no process can be started"), "no process can be started"),
        (OSError("no more files"), "no more files"),
        (LoadFailed(Problem("import-error", "NumPy is missing", None, None)), "NumPy is missing"),
    ],
)
def test_a_tier_in_which_no_probe_starts_does_not_count(
    monkeypatch: pytest.MonkeyPatch, failure: Exception, said: str
) -> None:
    def refuse(tier: str) -> tuple[guards.Guard, ...]:
        raise failure

    monkeypatch.setattr(tiers, "why_missing", {}.get)
    monkeypatch.setattr(guards, "try_out", refuse)
    found = list(health._isolation())
    assert [each.what for each in found] == [f"is unavailable: {said}"] * 3
    assert found[-1].level == "broken"
