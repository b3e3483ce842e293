"""A tier is one class in one file: a package that brings one is named to options, the doctor and verdicts."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from grader.doctor import guards, health
from grader.errors import IsolationRefused
from grader.isolation import tier, tiers
from grader.judging.grading import Grader, Options
from grader.report.document import dumps, verdict_document
from grader.submission import take
from tests.isolation.root_alone.places import MANIFEST, RIGHT, TEST
from tests.support.small_course import SmallCourse

NONE = '''
    """A tier that isolates nothing."""

    from grader.isolation.tier import ROWS, Tier


    class Nothing(Tier):
        name = "NAME"
        strength = 0
        promises = dict.fromkeys(ROWS, "not promised")

        def available(self):
            return None

        def guards(self):
            return frozenset()
'''


def bring(folder: Path, name: str) -> None:
    """Install a package that brings a tier."""
    (folder / "nothing_tier.py").write_text(textwrap.dedent(NONE).replace("NAME", name))
    about = folder / "nothing_tier-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: nothing-tier\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[grader.tiers]\nnothing = nothing_tier:Nothing\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that packages are found in, and a registry that has not been read yet."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "nothing_tier", raising=False)
    tier.registered.cache_clear()
    yield tmp_path
    tier.registered.cache_clear()


@pytest.fixture
def nothing(folder: Path) -> str:
    """A tier of another package."""
    bring(folder, "nothing")
    return "nothing"


def test_the_built_in_ones_stand_from_the_strongest_on() -> None:
    assert tiers.TIERS == ("bubblewrap", "landlock", "process")


def test_each_says_what_it_promises_of_the_same_things() -> None:
    assert all([*each.promises] == [*tier.ROWS] for each in tier.registered().values())


def test_one_of_another_package_is_graded_in(nothing: str, tmp_path: Path) -> None:
    course = SmallCourse(tmp_path)
    course.write(manifest=MANIFEST, solution=RIGHT, public=TEST, hidden=TEST)
    module = tmp_path / "small.py"
    course._put(module, RIGHT)
    grader = Grader(course.course, course.stage)
    try:
        verdict = grader.grade(take(course.stage, module, course.root), Options(1, nothing))
    finally:
        grader.close()
    document = json.loads(dumps(verdict_document(verdict)))
    assert document["passed"] and document["isolation"] == nothing
    schema = json.loads(resources.files("grader.report").joinpath("verdict.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator({**schema, "$ref": "#/$defs/verdict"}).validate(document)


def test_it_stands_where_its_strength_puts_it(nothing: str) -> None:
    assert tiers.TIERS == ("bubblewrap", "landlock", "process", "nothing")
    assert tiers.choose("auto")[0] != nothing
    with pytest.raises(IsolationRefused, match="at least 'process' is required"):
        tiers.choose(nothing, "process")


def test_the_doctor_tries_it(nothing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "try_out", lambda tier: (guards.Guard("no TCP", False, False),))
    found = {each.topic: each for each in health._isolation()}[f"isolation {nothing}"]
    assert found.what == "works. It does not promise: no TCP"
    assert found.promises["network"] == "not promised"


@pytest.mark.parametrize("name", ["landlock", "No-op"])
def test_none_takes_the_place_of_another(folder: Path, name: str) -> None:
    bring(folder, name)
    with pytest.raises(IsolationRefused, match="expected a new name"):
        tiers.choose("auto")
