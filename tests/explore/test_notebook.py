"""Notebooks: valid, the same each time, and run from the first cell to the last with the course's solutions."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from grader.course.answers import reference_source
from grader.course.manifest import load_course
from grader.errors import UsageError
from grader.explore.notebook import FILE, notebook, parted, suggested
from tests.support.places import ROOT

COURSE = load_course(ROOT)
WITH = [stage for stage in COURSE.stages if (stage.folder / FILE).is_file()]
SHOWN = "s15"  # is run by default, the others with --all-tiers


@pytest.fixture(autouse=True)
def as_at_first() -> Iterator[None]:
    """What runs a notebook leaves Python's own handler of Ctrl-C, also where the tests were started without one."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def test_these_stages_have_one() -> None:
    assert {"s04", "s05", "s13", "s15", "s17", "s18"} <= {stage.id for stage in WITH}


def read(text: str) -> NotebookNode:
    found: NotebookNode = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    return found


@pytest.mark.parametrize("stage_id", [stage.id for stage in WITH])
def test_it_is_valid_and_imports_the_learners_module(stage_id: str) -> None:
    target = COURSE.find(stage_id)
    text = notebook(COURSE, target)
    found = read(text)
    nbformat.validate(found)
    assert text == notebook(COURSE, target)
    code = "\n".join(cell.source for cell in found.cells if cell.cell_type == "code")
    assert f"from {target.module.removesuffix('.py')} import" in code and "noqa" not in code
    assert str(ROOT) not in text


def test_cells_are_parted() -> None:
    text = "# %% [markdown]\n# # A title\n#\n# words\n\n# %%\nx = 1  # noqa: X1\n\n\n# %%\ny = x\n"
    assert list(parted(text)) == [("markdown", "# A title\n\nwords"), ("code", "x = 1"), ("code", "y = x")]
    assert list(parted("")) == []


def test_a_stage_without_one_names_those_that_have_one() -> None:
    with pytest.raises(UsageError, match="s01 has no notebook") as caught:
        notebook(COURSE, COURSE.find("s01"))
    assert caught.value.hint is not None and caught.value.hint.startswith("s04, s05, ")


@pytest.mark.full_matrix("grader/setup")
def test_a_cell_says_which_function_is_not_written_yet_and_draws_nothing_by_halves(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "stages", tmp_path / "stages", ignore=shutil.ignore_patterns("__pycache__"))
    target = COURSE.find(SHOWN)
    folder = tmp_path / suggested(target).parent.relative_to(ROOT)
    found = read(notebook(COURSE, target))
    client = NotebookClient(found, timeout=300, allow_errors=True, resources={"metadata": {"path": str(folder)}})
    client.execute()
    outputs = [output for cell in found.cells if cell.cell_type == "code" for output in cell.outputs]
    assert {output.output_type for output in outputs} == {"stream"}, json.dumps(outputs)[:2000]
    told = "".join(output.text for output in outputs)
    assert "scaled_dot_product_attention is not written yet. Write it in attention.py, save, and run this cell" in told
    assert "`grader show s15` says what to write." in told and "no word says where it stands" in told


@pytest.mark.some_of(3, "stages", "hidden", "drawings", "grader/setup")
@pytest.mark.parametrize("stage_id", [stage.id for stage in WITH])
def test_every_cell_runs_with_the_solution_and_something_is_drawn(
    stage_id: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    if stage_id != SHOWN and not pytestconfig.getoption("--all-tiers"):
        pytest.skip(f"by default only that of {SHOWN} is run")
    shutil.copytree(ROOT / "stages", tmp_path / "stages", ignore=shutil.ignore_patterns("__pycache__"))
    for stage in (COURSE.find(stage_id), *COURSE.find(stage_id).builds_on):
        (tmp_path / "stages" / stage.name / stage.module).write_text(reference_source(stage), encoding="utf-8")
    target = COURSE.find(stage_id)
    folder = tmp_path / suggested(target).parent.relative_to(ROOT)
    found = read(notebook(COURSE, target))
    NotebookClient(found, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in found.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.get("name") == "stderr"], json.dumps(outputs)[:2000]
