"""Every attack of the catalogue, graded for real: no mark gained, nothing hidden out, nothing left, grader alive."""

from __future__ import annotations

import functools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader import testing
from grader.course.stage import Tolerance
from grader.isolation import tiers
from grader.isolation.seccomp import filter_program
from tests.attacked.catalogue import FOLDER, GROUPS, HEADER, PAGE, TIERS, Attack, Broken, attacks, page, read
from tests.attacked.result import Result, peak_mb
from tests.attacked.together import grade_together
from tests.attacked.world import MEMORY_MB, World, world
from tests.conftest import Start
from tests.pace.matrix import strongest, why_missing
from tests.support.patience import SLACK

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="attacks are graded where tests run in forks")

CATALOGUE = attacks()
BROKEN_ATTACK = re.compile(r"NameError|UnboundLocalError|SyntaxError|IndentationError|takes \d+ positional")
DISRUPTIVE = ("processes",)  # with --all-tiers the grader is seen to live after each of these; else after all


DEAR = pytest.mark.full_matrix("stages", "hidden", "grader/testing.py", "grader/diagnosis")


def claimed(passive: bool) -> list[tuple[str, Attack]]:
    catalogue = [attack for attack in CATALOGUE if attack.is_passive == passive]
    return [(tier, attack) for tier in TIERS for attack in catalogue if tier in attack.tiers]


def active() -> list[Any]:
    """Return the attacks that are graded one by one; those on large stages where what they rest on changed."""
    return [
        pytest.param(tier, attack, marks=[DEAR] if attack.stage not in ("s90", "s01") else [])
        for tier, attack in claimed(passive=False)
    ]


def succeeding() -> list[tuple[str, Attack]]:
    return [(tier, attack) for tier in TIERS for attack in CATALOGUE if tier in attack.succeeds_in]


def called(case: object) -> str:
    return case.name if isinstance(case, Attack) else str(case)


@pytest.fixture(scope="module", params=["live", pytest.param("ahead", marks=pytest.mark.full_matrix)])
def ground(is_full: bool, request: pytest.FixtureRequest) -> Iterator[World]:
    """The course, its secrets and the services that are attacked; the grader outlives all of it.

    It asks as tests run and, as a warm one does, ahead.
    """
    with world(is_full, request.param == "ahead") as found:
        yield found
        assert_alive(found, strongest(TIERS))
    testing.configure(Tolerance())


@pytest.fixture
def field(ground: World) -> Iterator[World]:
    """The same, for a test that lets attacks loose in it."""
    with ground.hearing():
        yield ground


def reason_against(tier: str, attack: Attack | None) -> str | None:
    """Return why an attack is not graded in a tier: the machine lacks the tier, or what the attack's guard needs."""
    known = next((each for each in tiers.TIERS if each == tier), None)
    if known is None or (reason := why_missing(known)) is not None:
        return reason if known else "it is not there"
    if attack is not None and attack.needs == "seccomp" and not filter_program():
        return "without libseccomp it does not claim to stop this"
    return None


Need = Callable[..., None]


@pytest.fixture(scope="module")
def need(ground: World) -> Need:
    """Skip a test whose tier is unavailable; let no attack loose where the learner's process is root."""
    is_root = functools.cache(ground.runs_as_root)

    def needed(tier: str, attack: Attack | None = None) -> None:
        if reason := reason_against(tier, attack):
            pytest.skip(f"tier {tier}: {reason}")
        assert not is_root(tier), "the learner's process is root: this is no place for an attack"

    return needed


def assert_alive(field: World, tier: str) -> None:
    """Assert that the grader passes the honest submission."""
    honest = field.honest(tier)
    assert honest.verdict is not None and honest.verdict.passed, honest.text


def assert_stopped(attack: Attack, result: Result, row: str, token: str) -> None:
    """Assert that an attack's row is not passed, ended as declared, and shows nothing hidden."""
    told = result.told(row)
    shown = f"{attack.name}: {told[:3000]}"
    assert result.outcome(row) in attack.outcome, shown
    assert re.search(attack.says, told), shown
    assert token not in told, attack.name
    if "not loaded" not in attack.outcome:
        assert not BROKEN_ATTACK.search(told), shown


def assert_nothing_out(field: World, result: Result) -> None:
    """Assert that nothing in a verdict is hidden, is obeyed by a log, or is our fault."""
    assert field.token not in result.text
    assert result.verdict is None or not result.verdict.grader_fault, result.text
    assert result.verdict is None or not [row.id for row in result.verdict.criteria if row.status == "passed"]
    assert result.text.isascii() and len(result.text) < 1 << 20
    assert not [line for line in result.text.splitlines() if line.startswith(("::", "##["))]


@pytest.mark.parametrize(("tier", "attack"), active(), ids=called)
def test_the_attack_gains_nothing_and_leaves_nothing(
    tier: str, attack: Attack, field: World, need: Need, pytestconfig: pytest.Config
) -> None:
    need(tier, attack)
    before = peak_mb()
    result = field.grade(attack, tier)
    assert_stopped(attack, result, attack.row, field.token)
    assert_nothing_out(field, result)
    assert not field.survivors()
    assert not field.visits()
    assert not field.changes()
    assert field.secret_in_memory() == f"{field.token}-memory".encode()
    assert result.seconds < field.place_of(attack)[1].limits.stage_seconds + SLACK
    assert peak_mb() - before < MEMORY_MB
    if attack.group in DISRUPTIVE and pytestconfig.getoption("--all-tiers"):
        assert_alive(field, tier)


def passive() -> list[Any]:
    """Return the passive attacks of each kind that a tier claims to stop; the full matrix has a stronger one's too."""
    found: dict[tuple[str, str, str], list[Attack]] = {}
    for tier, attack in claimed(passive=True):
        found.setdefault((tier, attack.group, strongest(attack.tiers)), []).append(attack)
    return [
        pytest.param(
            tier, attacks, marks=[] if tier == first else [pytest.mark.full_matrix], id=f"{tier}-{group}-{first}"
        )
        for (tier, group, first), attacks in found.items()
    ]


@pytest.mark.parametrize(("tier", "attacks"), passive())
def test_the_passive_attacks_gain_nothing_and_leave_nothing(
    tier: str, attacks: list[Attack], field: World, need: Need
) -> None:
    need(tier)
    attacks = [each for each in attacks if reason_against(tier, each) is None]
    found = grade_together(field, attacks, tier)
    for attack in attacks:
        assert_stopped(attack, found.result, found.rows[attack.name], field.token)
    assert_nothing_out(field, found.result)
    assert not found.left
    assert_alive(field, tier)


@pytest.mark.full_matrix
@pytest.mark.parametrize(("tier", "attack"), succeeding(), ids=called)
def test_the_attack_is_a_real_one(tier: str, attack: Attack, field: World, need: Need) -> None:
    need(tier)
    result = field.grade(attack, tier)
    gained = result.verdict is not None and any(row.status == "passed" for row in result.verdict.criteria)
    visits = field.visits()  # looked for in any case, so that none is left to the next test
    assert field.token in result.text or visits or gained, result.text


@pytest.mark.parametrize("tier", TIERS)
def test_the_honest_submission_passes(tier: str, field: World, need: Need) -> None:
    need(tier)
    assert_alive(field, tier)
    assert not field.survivors()


def test_a_process_that_is_left_is_seen(field: World) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd=field.workers) as left:
        assert field.survivors()
        left.kill()
    assert not field.survivors()


def test_a_worker_is_seen(field: World, start: Start) -> None:
    with field.grading():
        worker = start("def double(x): return 2 * x", strongest(TIERS))
    assert field.survivors()
    worker.process.kill()
    assert not field.survivors()


def test_a_changed_file_is_seen(field: World) -> None:
    path = field.course.root / "taken"
    path.touch()
    assert field.changes() == {str(path)}
    path.unlink()
    assert not field.changes()


def test_a_signal_is_seen(field: World) -> None:
    field.visits()
    os.kill(os.getpid(), signal.SIGUSR1)
    assert field.visits() == [f"signal {signal.SIGUSR1}"]
    assert not field.visits()


def test_there_are_attacks_of_every_kind() -> None:
    assert len(CATALOGUE) >= 80
    assert {attack.group for attack in CATALOGUE} == set(GROUPS)
    assert len({attack.title for attack in CATALOGUE}) == len(CATALOGUE)


def test_the_table_of_the_documentation_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.attacked.catalogue`"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('OUTCOME = "failed"', "", "OUTCOME and TIERS are needed"),
        ('OUTCOME = "failed"', 'OUTCOME = "passed"', "OUTCOME has 'passed'"),
        ('OUTCOME = "failed"', "OUTCOME = ()", "are empty"),
        ('"process"', '"container"', "TIERS has 'container'"),
        ('OUTCOME = "failed"', 'OUTCOME = "failed"\nSUCCEEDS_IN = ("process",)', "SUCCEEDS_IN has 'process'"),
        ('"""', "'''.'''\n#", "docstring"),
    ],
)
def test_a_header_that_will_not_do_is_refused(old: str, new: str, said: str, tmp_path: Path) -> None:
    text = (FOLDER / "values" / "matrix.py").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "attack.py"
    changed = text.replace(old, new) if "docstring" not in said else text.partition("\n")[2]
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(Broken, match=said):
        read(path)


def test_each_header_field_is_one_that_the_driver_reads() -> None:
    for attack in CATALOGUE:
        fields = set(re.findall(r"^([A-Z_]{4,}) = ", attack.source, re.MULTILINE))
        assert fields - HEADER <= {"CHILDREN", "GRADED", "NOTES", "SEEN", "SEIZE", "TEXT"}, attack.name
