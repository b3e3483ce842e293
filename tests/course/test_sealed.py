"""A learner's copy: its record, its sealed stages, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.course import sealed
from grader.course.answers import alternative_sources, load_mistakes, reference_source
from grader.course.manifest import load_course
from grader.course.sealed import (
    RECORD,
    ReleaseRecord,
    digest,
    expect_released,
    is_newer,
    public_files,
    read_record,
    record_text,
)
from grader.errors import CourseError, SealError
from grader.judging import content
from tests.support.command import Place
from tests.support.copies import NAME, OTHER_KEY, SmallCopy
from tests.support.good_stage import HIDDEN, MANIFEST, PUBLIC, SOLUTION
from tests.support.places import ROOT


@pytest.fixture
def copy(tmp_path: Path) -> SmallCopy:
    return SmallCopy(tmp_path)


def test_the_authors_copy_is_not_sealed(copy: SmallCopy) -> None:
    stage = copy.author.stages[0]
    assert not sealed.is_copy(stage.hidden_root) and not sealed.is_sealed(stage) and not sealed.public_only(stage)


def test_this_very_course_is_an_authors_copy() -> None:
    assert not sealed.in_copy(ROOT)


def test_without_a_key_only_public_tests_can_be_run(copy: SmallCopy) -> None:
    assert sealed.is_sealed(copy.stage()) and sealed.public_only(copy.stage())
    assert not sealed.public_only(copy.keyed)


def test_a_folder_of_hidden_files_is_used_even_beside_a_record(copy: SmallCopy) -> None:
    (copy.hidden / NAME).mkdir()
    assert not sealed.is_sealed(copy.stage())


def test_everything_hidden_and_public_is_sealed(copy: SmallCopy) -> None:
    content = sealed.opened(copy.keyed)
    assert content.hidden["solution.py"] == SOLUTION and content.hidden["test_hidden.py"] == HIDDEN
    assert content.public == {"test_small.py": PUBLIC}
    assert content.manifest == MANIFEST.replace("{id}", "s90")


def test_the_shipped_key_opens_a_copy_for_self_study(tmp_path: Path) -> None:
    copy = SmallCopy(tmp_path, shipped=True)
    assert not sealed.public_only(copy.stage())
    assert sealed.opened(copy.stage()).hidden["solution.py"] == SOLUTION


def test_a_key_that_is_named_goes_before_the_shipped_one(tmp_path: Path) -> None:
    copy = SmallCopy(tmp_path, shipped=True)
    copy.key_file.write_text(OTHER_KEY.text)
    with pytest.raises(SealError, match=OTHER_KEY.id):
        sealed.opened(copy.keyed)


def test_the_answers_are_read_from_the_bundle(copy: SmallCopy) -> None:
    assert reference_source(copy.keyed) == SOLUTION
    assert {mistake.id for mistake in load_mistakes(copy.keyed)} == {
        mistake.id for mistake in load_mistakes(copy.author.stages[0])
    }


def test_the_other_right_modules_are_read_from_the_bundle(copy: SmallCopy) -> None:
    found = alternative_sources(copy.keyed)
    assert set(found) == {"einsum", "loops", "products"}
    assert found == alternative_sources(copy.author.stages[0])


def test_no_other_right_module_can_be_imported_by_a_test(copy: SmallCopy) -> None:
    assert set(content.test_files(copy.keyed).modules) == {"hidden.s90_small.mistakes", "hidden.s90_small.solution"}


def test_without_a_key_the_answers_are_refused(copy: SmallCopy) -> None:
    with pytest.raises(SealError, match="are sealed") as caught:
        reference_source(copy.stage())
    assert "run when you submit" in str(caught.value.hint) and "GRADER_KEY_FILE" in str(caught.value.hint)


def test_a_missing_bundle_is_named(copy: SmallCopy) -> None:
    copy.bundle.unlink()
    with pytest.raises(CourseError, match=f"{NAME}.sealed cannot be read"):
        sealed.opened(copy.keyed)


def test_a_bundle_under_another_stages_name_is_refused(copy: SmallCopy) -> None:
    (copy.root / "stages" / NAME).rename(copy.root / "stages" / "s90_other")
    copy.bundle.rename(copy.hidden / "s90_other.sealed")
    with pytest.raises(SealError, match="holds the tests of 's90_small', not of 's90_other'"):
        sealed.opened(copy.keyed)


def test_a_changed_manifest_is_refused_with_the_key_as_well(copy: SmallCopy) -> None:
    manifest = copy.root / "stages" / NAME / "stage.toml"
    manifest.write_text(manifest.read_text() + "\n[tolerance]\nfloat64 = 0.9\n")
    with pytest.raises(CourseError, match=r"stage\.toml differs from the released file"):
        sealed.opened(copy.keyed)


def test_a_manifest_with_other_line_ends_is_the_released_one(copy: SmallCopy) -> None:
    manifest = copy.root / "stages" / NAME / "stage.toml"
    manifest.write_bytes(manifest.read_bytes().replace(b"\n", b"\r\n"))
    assert sealed.opened(copy.keyed).hidden


def test_own_tests_beside_the_released_ones_are_left_out(copy: SmallCopy) -> None:
    tests = copy.root / "stages" / NAME / "tests"
    (tests / "test_mine.py").write_text("def test_mine(learner):\n    assert False\n")
    assert sealed.public_tests(copy.stage()) == (tests / "test_small.py",)


def test_a_changed_public_test_is_reported(copy: SmallCopy) -> None:
    (copy.root / "stages" / NAME / "tests" / "test_small.py").write_text("")
    with pytest.raises(CourseError, match=r"tests/test_small\.py differs from the released file"):
        sealed.public_tests(copy.stage())


def test_the_stub_needs_no_key(copy: SmallCopy) -> None:
    assert sealed.stub(copy.stage()) == (copy.root / "stages" / NAME / "small.py").read_text()


def test_what_asks_for_hidden_tests_is_refused_without_a_key(copy: SmallCopy) -> None:
    sealed.expect_key(copy.keyed, "a receipt")
    with pytest.raises(SealError, match="a receipt needs the hidden tests of s90, which are sealed"):
        sealed.expect_key(copy.stage(), "a receipt")


def test_the_option_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRADER_KEY_FILE", raising=False)
    assert sealed.wanted_key(None) is None
    monkeypatch.setenv("GRADER_KEY_FILE", "from/environment")
    assert sealed.wanted_key(None) == Path("from/environment")
    assert sealed.wanted_key(Path("from/option")) == Path("from/option")


def test_a_hidden_file_that_is_not_in_the_bundle_is_named(copy: SmallCopy, tmp_path: Path) -> None:
    from grader.classroom.release import sealed as sealed_bundle
    from tests.support.copies import KEY

    (tmp_path / "author" / "hidden" / NAME / "mistakes.py").unlink()
    copy.bundle.write_bytes(sealed_bundle(copy.author.stages[0], KEY))
    with pytest.raises(CourseError, match=f"{NAME}.sealed holds no mistakes.py"):
        load_mistakes(copy.keyed)


def test_a_copy_is_known_by_its_record_and_where_that_is_lost_by_its_bundles(copy: SmallCopy) -> None:
    assert sealed.is_copy(copy.hidden)
    (copy.hidden / RECORD).unlink()
    assert sealed.is_copy(copy.hidden) and sealed.is_sealed(copy.stage())
    with pytest.raises(CourseError, match=r"release\.json cannot be read") as caught:
        sealed.public_tests(copy.stage())
    assert caught.value.hint == "Fetch this copy of the course again."
    copy.bundle.unlink()
    assert not sealed.is_copy(copy.hidden)


def test_known_mistakes_that_are_patches_are_sealed_too(copy: SmallCopy, tmp_path: Path) -> None:
    from grader.classroom.release import sealed as sealed_bundle
    from tests.support.copies import KEY
    from tests.support.good_stage import PATCHES

    answers = tmp_path / "author" / "hidden" / NAME
    (answers / "mistakes.py").unlink()
    (answers / "mistakes.toml").write_text(PATCHES)
    copy.bundle.write_bytes(sealed_bundle(copy.author.stages[0], KEY))
    assert load_mistakes(copy.keyed) == load_mistakes(copy.author.stages[0])
    assert set(content.test_files(copy.keyed).modules) == {"hidden.s90_small.solution"}


TESTS = f"stages/{NAME}/tests/test_small.py"


@pytest.fixture
def released(tmp_path: Path) -> SmallCopy:
    return SmallCopy(tmp_path)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = ReleaseRecord("0.1.0", "ab12", True, {"grader/cli.py": "cd"})
    (tmp_path / RECORD).write_text(record_text(record))
    assert read_record(tmp_path) == record


CUT = record_text(ReleaseRecord("1", "2", True, {}))[:-40]


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"schema": 0}', CUT, "[" * 100_000], ids=range(7))
def test_a_record_that_cannot_be_read_is_an_error(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / RECORD).write_text(text)
    with pytest.raises(CourseError, match="cannot be read"):
        read_record(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        {"course": 1},
        {"course": "0.1\n"},
        {"key": None},
        {"self_paced": "no"},
        {"files": [["a", "b"]]},
        {"files": {"a": 1}},
    ],
)
def test_a_record_with_a_value_of_another_type_is_an_error(tmp_path: Path, changed: dict[str, object]) -> None:
    whole = json.loads(record_text(ReleaseRecord("0.1.0", "ab12", True, {})))
    (tmp_path / RECORD).write_text(json.dumps(whole | changed))
    with pytest.raises(CourseError, match="cannot be read: expected the record of a release"):
        read_record(tmp_path)


@pytest.mark.parametrize(
    "path",
    ["../mine", "/etc/mine", "a/../../b", "a//b", "./a", "", "a\0b", "..\\mine", "C:mine", ".git/config", ".Grader/a"],
)
def test_a_record_that_names_what_no_course_has_is_an_error(tmp_path: Path, path: str) -> None:
    (tmp_path / RECORD).write_text(record_text(ReleaseRecord("0.1.0", "ab12", True, {".github/a.yml": "0", path: "0"})))
    with pytest.raises(CourseError, match="expected files of the course, by their paths in its folder"):
        read_record(tmp_path)


def test_a_record_of_a_newer_grader_says_so(tmp_path: Path) -> None:
    (tmp_path / RECORD).write_text('{"schema": 2}')
    with pytest.raises(CourseError, match="was written by a newer grader: it has the schema 2, and this one reads 1"):
        read_record(tmp_path)


def test_line_ends_of_a_checkout_change_no_digest() -> None:
    assert digest(b"a\r\nb\r\n") == digest(b"a\nb\n") != digest(b"a\nb")


def test_manifest_and_public_tests_are_what_a_check_goes_by(released: SmallCopy) -> None:
    found = public_files(released.stage(), read_record(released.hidden))
    assert set(found) == {TESTS, f"stages/{NAME}/stage.toml"}


def test_released_tests_are_returned(released: SmallCopy) -> None:
    assert expect_released(released.stage(), public_files(released.stage(), read_record(released.hidden))) == (
        released.root / TESTS,
    )


@pytest.mark.parametrize("name", [TESTS, f"stages/{NAME}/stage.toml"])
@pytest.mark.parametrize("change", ["changed", "removed"])
def test_a_file_that_is_not_as_released_is_named(released: SmallCopy, name: str, change: str) -> None:
    stage = released.stage()
    wanted = public_files(stage, read_record(released.hidden))
    if change == "changed":
        (released.root / name).write_text((released.root / name).read_text() + "\n# mine\n")
    else:
        (released.root / name).unlink()
    with pytest.raises(CourseError, match=name) as caught:
        expect_released(stage, wanted)
    assert "released file back" in str(caught.value.hint)


NAMED = {"stages/s01_gone/stage.toml": "0", "stages/s01_gone/README.md": "0", "README.md": "0"}


def written(root: Path, text: str) -> None:
    """Break the course, as one does whose stages require a stage that is gone, and say what it was released with."""
    first = next(iter(sorted(root.glob("stages/*/stage.toml"))))
    first.write_text(first.read_text(encoding="utf-8").replace("requires = []", 'requires = ["s00"]'), encoding="utf-8")
    (root / "hidden" / RECORD).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("self_paced", "hint"),
    [(True, "`grader update` puts it back."), (False, "Fetch this copy of the course again.")],
)
def test_it_is_named_with_what_puts_it_back(place: Place, self_paced: bool, hint: str) -> None:
    written(place.root, record_text(ReleaseRecord("0.1.0", "", self_paced, NAMED)))
    with pytest.raises(CourseError) as caught:
        load_course(place.root)
    assert (caught.value.message, caught.value.hint) == ("stages/s01_gone/stage.toml: is missing", hint)


@pytest.mark.parametrize("text", ["no record", record_text(ReleaseRecord("0.1.0", "", True, {"README.md": "0"}))])
def test_other_mistakes_are_told_where_nothing_is_missing(place: Place, text: str) -> None:
    written(place.root, text)
    with pytest.raises(CourseError, match="'s00' is not a stage of this course") as caught:
        load_course(place.root)
    assert caught.value.hint is None


@pytest.mark.parametrize(
    ("newer", "older"), [("0.10.0", "0.9.1"), ("1.0", "0.99"), ("1.0.1", "1"), ("0.2.0", "0.2.0rc1"), ("1b2", "1a9")]
)
def test_numbers_are_compared_as_numbers_and_a_release_follows_its_pre_releases(newer: str, older: str) -> None:
    assert is_newer(newer, older) and not is_newer(older, newer)


@pytest.mark.parametrize(("one", "other"), [("1.0", "1.0.0"), ("0.1.0", "0.1.0"), ("tomorrow", "1.0"), ("1.0", "")])
def test_neither_is_newer_where_they_are_equal_or_unreadable(one: str, other: str) -> None:
    assert not is_newer(one, other) and not is_newer(other, one)
