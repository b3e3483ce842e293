"""Where root cannot become another user, as in containers of computing centres, and where no namespace can be made.

A tier that works there keeps all that it promises, another says why it does not, and one's own code is always graded.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.isolation.root_alone.places import PLACES, RIGHT, ROBBER, Elsewhere
from tests.pace.matrix import why_missing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="user namespaces are a part of Linux")


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def elsewhere(place: str) -> Iterator[Elsewhere]:
    """The command in each place; skipped where this machine or its user cannot make one like it."""
    prefix = PLACES[place]
    if prefix[0] != "unshare" and os.getuid() != 0:
        pytest.skip("needs root, to become another user")
    with tempfile.TemporaryDirectory(prefix="grader-elsewhere-") as folder:
        found = Elsewhere(Path(folder), prefix)
        tried = found.run("-c", "import grader")
        if tried.returncode != 0:
            pytest.skip(f"not possible here: {tried.stderr.strip().splitlines()[-1:]}")
        yield found


def works(place: str, tier: str) -> bool:
    """Say whether a tier works in a place of a machine on which it works otherwise."""
    if tier == "process":
        return True
    if place == "root alone" and os.getuid() == 0:  # the kernel does not limit the processes of real root
        return False
    return tier == "landlock" or place != "no namespaces"


@pytest.fixture
def available(place: str, tier: str) -> bool:
    if tier != "process" and (reason := why_missing(tier)):
        pytest.skip(f"tier {tier} is missing here: {reason}")
    return works(place, tier)


def test_a_right_module_passes_in_each_tier_that_works(
    elsewhere: Elsewhere, place: str, tier: str, available: bool
) -> None:
    ran = elsewhere.check(RIGHT, tier)
    if not available:
        assert ran.code == 4 and f"isolation '{tier}' is unavailable" in ran.told
        assert "start the grader as an ordinary user" in ran.told or "max_user_namespaces" in ran.told
        return
    assert ran.code == 0 and ran.verdict["passed"], ran
    note = ran.verdict["isolation_note"]
    if tier == "process" and place != "no namespaces":
        assert "root cannot become another user here" in note and "the grader's own user" in note
        assert ("no limit on processes holds" in note) == (place == "root alone" and os.getuid() == 0)
    else:
        assert not note or "root" not in note


def test_an_attack_gains_nothing_that_the_tier_does_not_leave_open(
    elsewhere: Elsewhere, place: str, tier: str, available: bool
) -> None:
    if not available:
        assert elsewhere.check(RIGHT, tier).code == 4
        return
    counted = works(place, "landlock")
    robber = ROBBER.replace("STRONG", str(tier != "process")).replace("COUNTED", str(counted))
    robber = robber.replace("SECRET", str(elsewhere.root / "hidden" / "s90_small" / "solution.py"))
    ran = elsewhere.check(robber.replace("FOLDER", str(elsewhere.folder)), tier)
    assert ran.code == 1 and "gained []" in ran.told, ran


def test_the_strongest_tier_that_works_is_chosen(elsewhere: Elsewhere, place: str) -> None:
    ran = elsewhere.check(RIGHT, "auto")
    assert ran.code == 0 and works(place, ran.verdict["isolation"]), ran
    assert (ran.verdict["isolation"] == "process") == (not works(place, "landlock") or bool(why_missing("landlock")))


def test_the_doctor_tells_of_the_user_and_promises_no_more_than_holds(elsewhere: Elsewhere, place: str) -> None:
    done = elsewhere.run("-m", "grader", "doctor", "--every-tier", "--json")
    findings = {each["topic"]: each for each in json.loads(done.stdout)["findings"]}
    assert ("user" in findings) == (place != "no namespaces"), done.stdout
    assert findings["isolation process"]["level"] == "ok", done.stdout
    for tier in ("bubblewrap", "landlock"):
        if not why_missing(tier):
            assert (findings[f"isolation {tier}"]["level"] == "ok") == works(place, tier), done.stdout
