"""Answers of a stage: references, known mistakes, their patches and their premises."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import Any

import pytest

from grader.authoring.claims import claims, place_of
from grader.course.answers import Mistake, Premise, definitions, load_mistakes, module_from, patch_in, reference_source
from grader.course.table import Table
from grader.errors import CourseError
from tests.conftest import SmallCourse
from tests.support.good_stage import MISTAKES, PATCHES, write_stage

LAYER = """
def helped(x):
    return _helper(x)


def _helper(x):
    return x + 1


class Layer:
    def forward(self, x):
        return 2 * x

    def sized(self, x):
        return super().__sizeof__()
"""
ENTRY = """
[{row}.{replaces}.{id}]
text = "It is wrong."
fix = "Put it right."
find = {find}
replace = {replace}
"""


def entry(replaces: str, find: str, replace: str, more: str = "", name: str = "some-name") -> str:
    """Return a mistake in TOML, whose find and replace are TOML already."""
    return ENTRY.format(row="half", replaces=replaces, id=name, find=find, replace=replace) + more


def loaded(course: SmallCourse, patches: str, python: str | None = None, solution: str = "") -> tuple[Mistake, ...]:
    """Return the known mistakes of a stage with these files."""
    changes = {"hidden/mistakes.toml": patches, "hidden/mistakes.py": python}
    write_stage(course.stage_folder.parent, course.hidden.parent, "s90_small", changes)
    solved = course.hidden / "solution.py"
    solved.write_text(solved.read_text(encoding="utf-8") + solution, encoding="utf-8")
    return load_mistakes(course.stage)


def wrong_module(course: SmallCourse, mistake: Mistake) -> Any:
    return module_from(reference_source(course.stage), "wrong", mistake.source)


def test_a_patch_says_what_a_function_says(small_course: SmallCourse) -> None:
    (patch,) = (each for each in loaded(small_course, PATCHES, None) if each.id == "whole")
    assert (patch.criterion, patch.replaces) == ("half", "half")
    assert (patch.text, patch.fix) == ("The total is not halved.", "Divide it by two.")
    lines = PATCHES.splitlines()
    assert patch.file == "mistakes.toml" and lines[patch.line - 1] == "[half.half.whole]"


def test_a_function_is_patched(small_course: SmallCourse) -> None:
    import numpy as np

    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    by_id = {each.id: each for each in loaded(small_course, PATCHES, None)}
    assert wrong_module(small_course, by_id["sum-of-columns"]).total(x).tolist() == [4.0, 6.0]
    assert wrong_module(small_course, by_id["whole"]).half(x).tolist() == [3.0, 7.0]


def test_a_method_is_patched(small_course: SmallCourse) -> None:
    (mistake,) = loaded(small_course, entry('"Layer.forward"', '"2 * x"', '"3 * x"'), solution=LAYER)
    assert wrong_module(small_course, mistake).Layer().forward(1) == 3


def test_a_helper_is_patched_behind_what_is_replaced(small_course: SmallCourse) -> None:
    (mistake,) = loaded(small_course, entry("helped", '"x + 1"', '"x + 2"', 'in = "_helper"\n'), solution=LAYER)
    assert mistake.replaces == "helped" and wrong_module(small_course, mistake).helped(1) == 3


def test_a_class_is_patched_as_a_whole(small_course: SmallCourse) -> None:
    text = entry('"Layer.sized"', '"super().__sizeof__()"', '"1"', 'in = "Layer"\n')
    (mistake,) = loaded(small_course, text, solution=LAYER)
    assert wrong_module(small_course, mistake).Layer().sized(0) == 1


def test_both_files_hold_mistakes(small_course: SmallCourse) -> None:
    found = loaded(small_course, entry("half", '"/ 2"', '"/ 3"', name="a-third"), MISTAKES)
    assert {each.file: each.id for each in found} == {"mistakes.toml": "a-third", "mistakes.py": "whole"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (entry("half", '"x / 3"', '""'), "half.half.some-name.find: 'x / 3' occurs 0 times in half of solution.py"),
        (entry("half", '"x"', '"y"'), None),
        (entry("half", '"/ 2"', '"/"'), "half.half.some-name.replace: makes text that is no Python"),
        (entry("halve", '"x"', '"y"'), "half.halve.some-name.in: the solution does not define halve; did you mean"),
        (entry("half", '"x"', '"y"', 'within = "x"\n'), "half.half.some-name.within: is not a key of this table"),
        (entry("half", '"/ 2"', '""').replace('text = "It is wrong."\n', ""), "half.half.some-name.text: is missing"),
        (entry("half", '"/ 2"', '""', name="Some_Name"), "half.half.Some_Name: is not words with dashes between them"),
        (
            entry("Layer.forward", '"2 *"', '""'),
            "half.Layer.forward: is no mistake; a name with a dot is quoted, as in [half.",
        ),
        (entry('"Layer.sized"', '"sized"', '"size"'), "calls super(): write in = 'Layer'"),
        ("[half.half]\nfind = 1\n", "half.half.find: 1 is not a table"),
        ("[half", "Expected"),
    ],
)
def test_what_is_no_mistake_is_told_with_its_place(small_course: SmallCourse, text: str, complaint: str | None) -> None:
    expected = "occurs 2 times in half of solution.py" if complaint is None else complaint
    with pytest.raises(CourseError, match=re.escape(expected)) as told:
        loaded(small_course, text, solution=LAYER)
    assert told.value.message.startswith("s90_small/mistakes.toml: ")


def test_every_patch_that_does_not_fit_is_told_at_once(small_course: SmallCourse) -> None:
    text = entry("half", '"a"', '"b"', name="one") + entry("half", '"c"', '"d"', name="two")
    with pytest.raises(CourseError) as told:
        loaded(small_course, text.replace('"a"', '"aa"').replace('"c"', '"cc"'))
    assert [line.split(": ")[1] for line in told.value.message.splitlines()] == [
        "half.half.one.find",
        "half.half.two.find",
    ]


def test_a_name_stands_for_one_mistake(small_course: SmallCourse) -> None:
    with pytest.raises(CourseError, match=r"whole is declared in mistakes\.toml, line 2, too"):
        loaded(small_course, entry("half", '"/ 2"', '""', name="whole"), MISTAKES)


def test_a_stage_proves_itself_without_python(small_course: SmallCourse) -> None:
    loaded(small_course, PATCHES, None)
    assert list(claims(small_course.stage)) == []
    assert place_of(small_course.stage, "mistakes/sum-of-columns").endswith("mistakes.toml:1")
    assert place_of(small_course.stage, "mistakes/unknown").endswith("mistakes.toml")


PROGRAM = '''
import functools


@functools.cache
def mean(x):
    """Return the mean of x.

    Example: sum(x) / len(x)
    """

    # the sum of nothing is 0
    return sum(x) / len(x)


class Layer:
    """A layer."""

    def forward(self, x):
        """Return x, doubled."""
        return x + x

    def bare(self):
        """Say nothing else."""
'''


def patched(values: dict[str, object], text: str = "a + b + c") -> tuple[str, list[str]]:
    """Return a text with a table's patch made, and the complaints."""
    wrong: list[str] = []
    return patch_in(Table(values, "here.", wrong)).applied(text, "f of solution.py"), wrong


def test_several_edits_are_made_at_once() -> None:
    also = [{"find": "c", "replace": "a"}]
    assert patched({"find": "a", "replace": "c", "also": also}) == ("c + b + a", [])


def test_a_text_may_be_left_out() -> None:
    assert patched({"find": " + b", "replace": ""}) == ("a + c", [])


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"find": "d", "replace": ""}, "here.find: 'd' occurs 0 times in f of solution.py; expected once: copy it"),
        ({"find": " +", "replace": ""}, "here.find: ' +' occurs 2 times in f of solution.py; expected once: add what"),
        ({"find": "a", "replace": "a"}, "here.replace: is the same text as find"),
        ({"find": "a + ", "replace": ""}, None),
        ({"find": "b", "replace": "("}, "here.replace: makes text that is no Python"),
        ({"find": "b"}, "here.replace: is missing; expected a text"),
        (
            {"find": "a +", "replace": "", "also": [{"find": "+ b", "replace": ""}]},
            "here.also[0].find: '+ b' overlaps with another find",
        ),
        ({"find": "b", "replace": "c", "also": [{"find": "c", "with": ""}]}, "here.also[0].replace: is missing"),
    ],
)
def test_what_does_not_fit_is_noted_with_what_to_do(values: dict[str, object], complaint: str | None) -> None:
    _, wrong = patched(values)
    assert (wrong == []) if complaint is None else wrong[0].startswith(complaint)


def test_a_definition_is_its_text_without_docstrings() -> None:
    found = definitions(PROGRAM)
    assert found["mean"] == (
        "@functools.cache\ndef mean(x):\n    # the sum of nothing is 0\n    return sum(x) / len(x)"
    )
    assert found["Layer.forward"] == "def forward(self, x):\n    return x + x"
    assert found["Layer"].startswith("class Layer:\n    def forward(self, x):\n        return x + x\n")


def test_a_docstring_that_is_all_there_is_stays() -> None:
    assert definitions(PROGRAM)["Layer.bare"] == 'def bare(self):\n    """Say nothing else."""'


TEXT = '''
def norm(x, ord, eps=0):
    """Return the sqrt."""
    count = x.count + 1
    total = np.sum(x * x, axis=0) ** 0.5
    return {"total": total}, count
'''
SOLUTION = "import math\n\n\ndef norm(x):\n    return math.sqrt(x)\n"
PATCH = """
    [row.norm.without-root]
    text = "The root is missing."
    fix = "Take the root."
    {line}
    find = "math.sqrt(x)"
    replace = "x"
"""
DECLARED = """
    @mistake(criterion="row", replaces="norm", text="The root is missing.", fix="Take it.", {line})
    def without_root(x):
        return x
"""
MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small things"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "row"
    text = "it works"
    functions = ["norm"]
    needs = []
    hints = ["a", "b", "c"]
"""


@pytest.mark.parametrize(
    ("pattern", "is_there"),
    [
        ("_ ** 0.5", True), ("_ ** 2", False), ("count", True), ("total", True), ("axis", True), ("sum", True),
        ("np.sum(_, axis=0)", True), ("_ + 1", True), ("return _", True), ("return None", False), ("ord", False),
        ("eps", False), ("sqrt", False), ("x", True), ("0.5", True), ("5", False),
    ],
)  # fmt: skip
def test_a_pattern_is_found_where_it_is_used(pattern: str, is_there: bool) -> None:
    functions = [ast.parse(TEXT)]
    assert (Premise(absent=(pattern,)).contradiction(functions) is not None) is is_there
    assert (Premise(present=(pattern,)).contradiction(functions) is None) is is_there


def test_no_patterns_are_no_premise() -> None:
    assert not Premise() and Premise(absent=("x",)) and Premise().contradiction([]) is None


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('absent = ["sqrt", "_ ** 0.5"]', ""),
        ('present = ["x"]', ""),
        ('absent = ["x"]', "'x' is in what the patch makes"),
        ('present = ["sqrt"]', "'sqrt' is not in what the patch makes"),
        ('absent = ["sqrt("]', "is no Python"),
        ('absent = "sqrt"', "is not a list"),
    ],
)
def test_a_premise_is_held_against_the_patch(small_course: SmallCourse, line: str, complaint: str) -> None:
    small_course.write(manifest=MANIFEST, solution=SOLUTION)
    (small_course.hidden / "mistakes.toml").write_text(textwrap.dedent(PATCH.format(line=line)))
    _loads(small_course, complaint)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('absent=("sqrt",)', ""),
        ('absent=("x",)', "does not fit the wrong answer itself"),
        ("absent=sqrt", "are tuples of Python patterns"),
        ('present=("sqrt(",)', "are tuples of Python patterns"),
    ],
)
def test_a_premise_is_held_against_a_function(small_course: SmallCourse, line: str, complaint: str) -> None:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, mistakes=DECLARED.format(line=line))
    _loads(small_course, complaint)


def _loads(small_course: SmallCourse, complaint: str) -> None:
    if complaint:
        with pytest.raises(CourseError, match=complaint):
            load_mistakes(small_course.stage)
        return
    (found,) = load_mistakes(small_course.stage)
    assert found.premise
