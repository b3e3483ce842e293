"""A notebook of a stage: the cells that the course has for it, behind one that finds the learner's module.

A course writes them in `notebook.py` of a stage: `# %%` begins a cell of code, `# %% [markdown]` one of text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.course.stage import Course, Stage
from grader.errors import CourseError, UsageError

FILE = "notebook.py"
_CELL = re.compile(r"^# %%(?P<kind>.*)$", re.MULTILINE)
_NOQA = re.compile(r"  # noqa.*$", re.MULTILINE)
_SETUP = """\
%load_ext autoreload
%autoreload 2
import sys
from pathlib import Path

COURSE = next((each for each in [Path.cwd(), *Path.cwd().parents] if (each / "stages" / "{name}").is_dir()), None)
assert COURSE, "This notebook has to lie in the folder of the course, or below it."
STAGE = COURSE / "stages" / "{name}"
sys.path[:0] = [str(STAGE), str(COURSE)]


def not_written(shell, kind, error, trace, tb_offset=None):
    # Says what to write, in place of a traceback and of a half-drawn picture.
    while trace.tb_next:
        trace = trace.tb_next
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    file = Path(trace.tb_frame.f_code.co_filename).name
    print(f"{{error}} is not written yet. Write it in {{file}}, save, and run this cell again.")
    print("What follows may need this cell. `grader show {id}` says what to write.")


get_ipython().set_custom_exc((NotImplementedError,), not_written)"""
_INTRODUCTION = """\
The cells below run your own `{module}` as it stands in the stage's folder: save it, and run a cell again. A cell
says so where it needs a function that you have not written yet. Nothing here is graded."""


def notebook(course: Course, stage: Stage) -> str:
    """Return a stage's notebook as the text of an .ipynb file; UsageError where the course has none for it."""
    path = stage.folder / FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        others = [each.id for each in course.stages if (each.folder / FILE).is_file()]
        hint = f"{', '.join(others)} have one." if others else "No stage of this course has one."
        raise UsageError(f"{stage.id} has no notebook", hint) from error
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"stages/{stage.name}/{FILE} cannot be read: {error}") from error
    setup = _SETUP.format(name=stage.name, id=stage.id)
    cells = [("markdown", _INTRODUCTION.format(module=stage.module)), ("code", setup)]
    own = list(parted(text))
    return json.dumps(document([*own[:1], *cells, *own[1:]]), indent=1, ensure_ascii=False) + "\n"


def parted(text: str) -> Iterator[tuple[str, str]]:
    """Yield the cells of a script: markdown or code, and the text."""
    marks = list(_CELL.finditer(text))
    for mark, after in zip(marks, [*marks[1:], None], strict=False):
        body = text[mark.end() : after.start() if after is not None else None].strip("\n")
        if "[markdown]" in mark["kind"]:
            yield "markdown", "\n".join(re.sub("^# ?", "", line) for line in body.splitlines())
        else:
            yield "code", _NOQA.sub("", body)


def document(cells: list[tuple[str, str]]) -> dict[str, Any]:
    """Return cells as a notebook of format 4.5; the same cells give the same document."""
    return {
        "cells": [_cell(place, kind, text) for place, (kind, text) in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(place: int, kind: str, text: str) -> dict[str, Any]:
    run: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {
        "cell_type": kind,
        "id": f"cell-{place}",
        "metadata": {},
        "source": text.splitlines(keepends=True),
        **run,
    }


def suggested(stage: Stage) -> Path:
    """Return where a stage's notebook goes unless somebody says otherwise: beside the module."""
    return stage.folder / f"{stage.id}.ipynb"
