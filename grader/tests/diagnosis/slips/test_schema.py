"""All changes of a function behind one switch: each acts when its number is chosen, and none when none is."""

from __future__ import annotations

import ast
import doctest
from contextlib import ExitStack

import numpy as np
import pytest

from grader.course.answers import alternative_sources, module_from, reference_source
from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.diagnosis.slips.changes import Scope
from grader.diagnosis.slips.patch import compiled, function_named, in_place
from grader.diagnosis.slips.schema import SWITCH, Schema
from grader.diagnosis.slips.source import Source
from grader.diagnosis.slips.wording.sentences import clause
from grader.tests.diagnosis.repairs.made import repairs
from grader.tests.diagnosis.slips.made import applied, lines_of, schema_of, source_of
from grader.tests.support.places import ROOT

STAGES = load_course(ROOT).stages
SHORTEST = 12  # characters of a line that gives something away
TEXT = """
def mean_of(x, low=2.0):
    total = 0.0
    for value in x:
        if value > low:
            total += value / len(x)
    return total
"""


def sources(stage: Stage) -> list[Source]:
    texts = {"reference": reference_source(stage), **alternative_sources(stage)}
    return [
        Source(stage, text, lambda text=text, name=name: module_from(compile(text, f"<{name}>", "exec"), f"of_{name}"))  # type: ignore[misc]
        for name, text in texts.items()
    ]


def whole_schema(source: Source, function: str) -> Schema:
    """Return what changes a function of which only the arguments are known, each a number."""
    node = source.definitions[function]
    names = {each.arg: 1.5 for each in node.args.args if each.arg != "self"}
    return Schema(function, Scope(names, source.functions))


def test_each_change_acts_when_its_number_is_chosen() -> None:
    source = source_of(TEXT)
    schema, definition = schema_of(source, "mean_of", "mean_of([1.0, 4.0, 5.0])")
    function = compiled("mean_of", definition, source.module)
    for change in schema.changes:
        alone = compiled("mean_of", applied(source.definitions["mean_of"], change), source.module)
        function.__globals__[SWITCH] = {change.number}
        assert outcome(function) == outcome(alone), ast.unparse(change.statement)
    assert len(schema.changes) > 30


def outcome(function: object) -> object:
    try:
        return repr(function([1.0, 4.0, 5.0]))  # type: ignore[operator]
    except Exception as error:
        return type(error)


def test_without_a_number_nothing_is_changed() -> None:
    source = source_of(TEXT)
    _, definition = schema_of(source, "mean_of", "mean_of([1.0, 4.0, 5.0])")
    function = compiled("mean_of", definition, source.module)
    function.__globals__[SWITCH] = frozenset()
    assert function([1.0, 4.0, 5.0]) == source.module.mean_of([1.0, 4.0, 5.0]) == 3.0


def test_changes_of_lines_that_did_not_run_are_known() -> None:
    source = source_of(TEXT)
    schema, _ = schema_of(source, "mean_of", "mean_of([1.0])")
    for call, ran in (("mean_of([1.0])", False), ("mean_of([4.0])", True)):
        lines = lines_of(source, call)
        found = {ast.unparse(change.statement) for change in schema.changes if change.runs(lines)}
        assert ("total += value / len(x)" in found) is ran and "total = 0.0" in found


@pytest.mark.some_of(4, "stages", "hidden")
@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.id)
def test_the_changes_of_right_modules_compile_and_tell_no_line_of_them(
    stage: Stage, pytestconfig: pytest.Config
) -> None:
    """Without --all-tiers of the reference and one alternative."""
    for source in sources(stage)[: None if pytestconfig.getoption("--all-tiers") else 2]:
        lines = {line.strip() for line in source.text.splitlines()}
        secret = {line for line in lines if len(line) > SHORTEST and not line.rstrip(".,:").replace("_", "").isalnum()}
        for name, node in source.definitions.items():
            schema = whole_schema(source, name)
            function = compiled(name, schema.definition(node), source.module)
            assert function_named(source.module, name) is not None and function.__name__ == node.name
            say = source.vocabulary(name)
            for said in filter(None, (clause(change, say) for change in schema.changes)):
                told = f"{name} answers as if {said.said}. {said.fix}"
                assert not [line for line in secret if line in told], told


@pytest.mark.some_of(3, "stages", "hidden")
@pytest.mark.parametrize(
    "stage", [each for each in STAGES if each.id in ("s02", "s07", "s15")], ids=lambda each: each.id
)
def test_the_examples_of_a_reference_hold_with_its_changes_in_place_and_none_chosen(stage: Stage) -> None:
    source = sources(stage)[0]
    vars(source.module)[SWITCH] = frozenset()
    finder, runner = (
        doctest.DocTestFinder(),
        doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE),
    )
    with ExitStack() as stack:
        for name, node in source.definitions.items():
            original = function_named(source.module, name)
            assert original is not None
            changed = compiled(name, whole_schema(source, name).definition(node), source.module)
            stack.enter_context(in_place(original, changed))
        for test in finder.find(source.module, globs={"np": np, **vars(source.module)}):
            runner.run(test, out=lambda _: None)
    found = runner.summarize(verbose=False)
    assert found.failed == 0 and found.attempted > 10


def test_a_name_of_the_module_is_set_by_no_change_of_a_function() -> None:
    """What a line of a function sets is its own in all of its lines: else none of its changes could be tried."""
    found = repairs("KEY = 'a'\n\ndef f(x):\n    x.pop(KEY)\n    return len(x)", "f({'a': 1, 'b': 2})")
    assert found and not any("KEY = " in body for body in found)
