"""A learner's folder is made whole, or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.setup import files, making
from grader.setup.making import editor_files, make
from grader.tests.setup.editions import edition, texts


@pytest.mark.parametrize("there", [True, False], ids=["empty", "new"])
def test_a_new_or_empty_folder_takes_every_file(tmp_path: Path, there: bool) -> None:
    target = tmp_path / "a" / "course"
    if there:
        target.mkdir(parents=True)
    names = make(edition(), target)
    assert texts(target) == {name: data.decode() for name, data in edition().files.items()}
    assert set(names) == set(edition().files)


def test_a_folder_that_holds_anything_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".hidden").write_text("mine")
    with pytest.raises(UsageError, match="is not empty, and nothing in it is overwritten") as caught:
        make(edition(), tmp_path)
    assert texts(tmp_path) == {".hidden": "mine"} and caught.value.hint == "Name a new or an empty folder."


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="file cannot be used: Not a directory"):
        make(edition(), tmp_path / "file")


@pytest.mark.parametrize("there", [True, False], ids=["empty", "new"])
@pytest.mark.parametrize("error", [UsageError("the disk is full"), KeyboardInterrupt()])
def test_where_it_cannot_be_written_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool, error: BaseException
) -> None:
    target, left = tmp_path / "course", iter(range(3))
    if there:
        target.mkdir()

    def until_full(path: Path, data: bytes) -> None:
        if next(left, None) is None:
            raise error
        files.write(path, data)

    monkeypatch.setattr(making, "write", until_full)
    with pytest.raises(type(error)):
        make(edition(), target)
    assert list(tmp_path.rglob("*")) == ([target] if there else [])


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="file/course cannot be"):
        make(edition(), tmp_path / "file" / "course")


def test_an_editor_gets_settings_that_are_json(tmp_path: Path) -> None:
    make(edition(), tmp_path / "course", ("vscode",))
    found = {path.name: json.loads(path.read_text()) for path in (tmp_path / "course" / ".vscode").iterdir()}
    assert found["settings.json"]["python.testing.pytestArgs"] == ["stages"]
    assert found["tasks.json"]["tasks"][0]["args"][:2] == ["check", "${file}"]


def test_an_editor_that_is_not_known_is_told() -> None:
    with pytest.raises(UsageError, match="there are no settings for the editor 'vim'") as caught:
        editor_files("vim")
    assert caught.value.hint == "Choose vscode."
