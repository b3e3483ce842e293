"""Exports of Canvas, Moodle, Gradescope and nbgrader in the shapes that they have, and what is taken of each."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.errors import UsageError
from grader.gradebook.intake.gradescope import read_metadata
from grader.gradebook.intake.listing import listing
from grader.gradebook.intake.taking import Taken, taken
from grader.tests.support.places import ROOT

MODULE = b"def compute_attention_scores(Q, K):\n    return Q @ K.T\n"
METADATA = """\
---
submission_31245001:
  :submitters:
  - :name: Zoë O'Hara
    :sid: '1001'
    :email: zoe@uni.edu
  - :name: 'O''Neil, "Al"'
    :sid:
    :email: al@uni.edu
  :created_at: 2026-11-20 10:00:05.123456789 Z
  :score: 3.0
  :results:
    tests:
    - name: |
        :submitters:
      created_at: never
  :history:
  - :created_at: 2026-11-01 10:00:00.000000000 Z
submission_31245002:
  :created_at: 2026-11-21 10:00:00 Z
  :submitters:
    - :name: "\\u674E\\u660E"
      :sid: "1003"
      :email: li@uni.edu
"""


@pytest.fixture(scope="module")
def s15() -> Stage:
    return load_course(ROOT).find("s15")


def zipped(**files: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def put(folder: Path, **files: bytes) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def of(folder: Path, stage: Stage, accept: bool = False) -> dict[str, Taken]:
    arrivals = listing(folder, UTC).arrivals
    found = [each for arrival in arrivals for each in taken(arrival, stage, ROOT, only=True, accept=accept)]
    assert len({each.attempt.student for each in found}) == len(found)
    return {each.attempt.student: each for each in found}


def text(found: Taken) -> bytes:
    assert found.snapshot is not None, found.error
    return found.snapshot.source


def test_files_of_one_canvas_submission_are_one_attempt_whatever_lies_beside_the_module(
    tmp_path: Path, s15: Stage
) -> None:
    put(tmp_path, **{
        "ada_7_100_attention.py": MODULE, "ada_7_101_notes.pdf": b"%PDF", "bob_8_102_attention.py": b"old",
        "bob_8_103_attention-1.py": MODULE, "cy_9_104_hw.zip": zipped(**{"a/attention.py": MODULE}),
        "cy_9_105_notes.zip": zipped(readme=b"x"), "dee_LATE_10_106_attention.py": MODULE, "dee_10_text.html": b"hi",
        "anon_uZb3X_107_attention.py": MODULE, "anon_uZb3X_108_notes.txt": b"x", "eve_11_text.html": b"see github",
    })  # fmt: skip
    found = of(tmp_path, s15)
    assert {name for name, each in found.items() if each.snapshot and text(each) == MODULE} == {
        "ada_7", "bob_8", "cy_9", "dee_10", "anon_uZb3X",
    }  # fmt: skip
    assert found["bob_8"].doubts[0].text == "attention-1.py is taken, not attention.py, which came before it"
    assert (found["eve_11"].outcome, found["eve_11"].doubts[0].reason) == ("missing", "not found")
    assert found["anon_uZb3X"].attempt.identity == ""


def test_moodle_words_are_ignored_beside_a_file_and_a_zip_in_the_folder_is_opened(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, **{
        "Ada L_1_assignsubmission_file_/hw.zip": zipped(**{"hw/attention.py": MODULE}),
        "Ada L_1_assignsubmission_onlinetext_/onlinetext.html": b"<p>done</p>",
        "Bo B_2_assignsubmission_onlinetext/onlinetext.html": b"<p>done</p>",
        "Cy C_3_assignsubmission_file/attention.py": MODULE,
        "Cy C_3_assignsubmission_onlinetext_onlinetext.html": b"<p>done</p>",
    })  # fmt: skip
    found = of(tmp_path, s15)
    assert list(found) == ["Ada L_1", "Bo B_2", "Cy C_3"]
    assert text(found["Ada L_1"]) == text(found["Cy C_3"]) == MODULE
    assert "only words typed into a form" in found["Bo B_2"].doubts[0].text


def test_gradescope_metadata_names_members_and_times(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, **{
        "export/submission_metadata.yml": METADATA.encode(),
        "export/submission_31245001/attention.py": MODULE, "export/submission_31245002/attention.py": MODULE,
        "export/submission_9/attention.py": MODULE,
    })  # fmt: skip
    with pytest.raises(UsageError, match="looks like Gradescope's export"):
        listing(tmp_path, UTC)
    found = of(tmp_path / "export", s15)
    assert list(found) == ["al@uni.edu", "li@uni.edu", "zoe@uni.edu"]
    zoe = found["zoe@uni.edu"].attempt
    assert (zoe.submitted, zoe.clock, zoe.identity) == (datetime(2026, 11, 20, 10, 0, 5, tzinfo=UTC), "csv", "1001")
    listed = listing(tmp_path / "export", UTC)
    assert listed.ignored == ("submission_9",)
    assert {each.name for each in listed.members} == {"Zoë O'Hara", 'O\'Neil, "Al"', "李明"}
    assert [each.team for each in listed.arrivals] == ["submission_31245001", "", "submission_31245001"]


def test_gradescope_metadata_says_what_a_reader_of_yaml_finds(tmp_path: Path) -> None:
    put(tmp_path, **{"submission_metadata.yml": METADATA.encode()})
    known = YAML(typ="safe").load(METADATA)
    found = read_metadata(tmp_path / "submission_metadata.yml", UTC)
    assert {name: [each.email for each in one.members] for name, one in found.items()} == {
        name: [person[":email"] for person in one[":submitters"]] for name, one in known.items()
    }
    assert [one.members[-1].name for one in found.values()] == [
        one[":submitters"][-1][":name"] for one in known.values()
    ]


@pytest.mark.parametrize("data", [b"", b"a: [", b"submission_1:\n  :score: 1\n", b"\xff\xfe\x00"])
def test_metadata_that_names_nobody_is_told(data: bytes, tmp_path: Path) -> None:
    put(tmp_path, **{"submission_metadata.yml": data, "submission_1/attention.py": MODULE})
    with pytest.raises(UsageError, match="names nobody who submitted"):
        listing(tmp_path, UTC)


def test_nbgrader_folders_and_its_times(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, **{
        "submitted/ada/ps1/attention.py": MODULE, "submitted/ada/ps1/timestamp.txt": b"2026-11-20 10:00:00 UTC\n",
        "submitted/bob/ps1/attention.ipynb": json.dumps(
            {"cells": [{"cell_type": "code", "source": MODULE.decode().splitlines(keepends=True)}]}
        ).encode(),
        "submitted/bob/ps1/timestamp.txt": b"2026-11-21 10:00:00.5 UTC", "release/ps1/attention.py": b"stub",
        "submitted/ada/s15/attention.py": b"right", "submitted/ada/s15/timestamp.txt": b"2026-11-22 10:00:00 UTC",
    })  # fmt: skip
    found = of(tmp_path, s15)
    assert text(found["ada"]) == b"right" and MODULE in text(found["bob"])
    assert [each.attempt.submitted for each in found.values()] == [
        datetime(2026, 11, 22, 10, tzinfo=UTC), datetime(2026, 11, 21, 10, tzinfo=UTC),
    ]  # fmt: skip
    assert {each.attempt.clock for each in found.values()} == {"csv"}


def test_a_students_own_timestamp_is_no_clock(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, **{
        "ada/ps1/attention.py": MODULE, "ada/ps1/timestamp.txt": b"2020-01-01 10:00:00 UTC", "bob/attention.py": MODULE,
    })  # fmt: skip
    assert {each.attempt.clock for each in of(tmp_path, s15).values()} == {"file"}
    (tmp_path / "bob" / "attention.py").unlink()
    (tmp_path / "bob").rmdir()
    assert {each.attempt.clock for each in of(tmp_path, s15).values()} == {"file"}


NAMES = ["Attention.py", "hw3.py", "attention.py.txt", "hw3.ipynb"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", ["ada/{}", "ada_7_100_{}", "Ada L_1_assignsubmission_file_/{}"])
def test_a_file_under_another_name_is_taken_only_with_accept(name: str, place: str, tmp_path: Path, s15: Stage) -> None:
    full = ROOT.joinpath("stages", s15.name, s15.module).read_bytes()
    cells = {"cells": [{"cell_type": "code", "source": full.decode()}]}
    data = json.dumps(cells).encode() if name.endswith(".ipynb") else full
    put(tmp_path, **{place.format(name): data, place.format("notes.md"): b"x"})
    (missing,) = of(tmp_path, s15).values()
    assert (missing.snapshot, [each.reason for each in missing.doubts]) == (None, ["another name"])
    assert "--accept" in missing.doubts[0].remedy
    (accepted,) = of(tmp_path, s15, accept=True).values()
    assert text(accepted).strip() == full.strip()
    assert [each.reason for each in accepted.doubts] == ["note"]


def test_a_file_without_the_functions_is_not_the_module(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, **{"ada/other.py": b"def main():\n    pass\n", "bob/attn.py": b"# def compute_attention_scores"})
    assert [each.doubts[0].reason for each in of(tmp_path, s15, accept=True).values()] == ["not found"] * 2


def test_accept_follows_no_link(tmp_path: Path, s15: Stage) -> None:
    full = ROOT.joinpath("stages", s15.name, s15.module)
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "hw3.py").symlink_to(full)
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "deep").symlink_to(full.parent)
    assert all(each.snapshot is None for each in of(tmp_path, s15, accept=True).values())
