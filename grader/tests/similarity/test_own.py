"""A submission that is the course's own solution is named; one that somebody wrote is not, however small the stage."""

from __future__ import annotations

import pytest

from grader.course.answers import alternative_sources, reference_source, stub_source
from grader.course.manifest import load_course
from grader.similarity.compare import Comparison, Text, compared, given, text
from grader.similarity.gather import examples
from grader.tests.similarity.test_compare import disguised, program, texts
from grader.tests.similarity.test_folding import padded, wrapped
from grader.tests.support.places import HOUSE, ROOT

COURSE = load_course(ROOT)
STAGES = [stage.id for stage in COURSE.stages]
DISGUISES = {
    "verbatim": lambda source: source,
    "without comments": lambda source: "\n".join(line.split("  # ")[0] for line in source.split("\n")),
    "other names, comments and order": lambda source: disguised(source, 1),
    "other docstrings": lambda source: source.replace('    """', '    """Own words. '),
    "wrapped names": wrapped,
    "padded": padded,
}


class Known:
    """A stage's own solutions, and one that was written apart from them."""

    def __init__(self, stage_id: str) -> None:
        stage = COURSE.find(stage_id)
        self._stub = given(stub_source(stage), *examples(stage))
        self.sources = {"solution.py": reference_source(stage), **alternative_sources(stage)}
        self.own = [self.text(name, source) for name, source in self.sources.items()]
        self.outside = (HOUSE / "tests" / "slips" / stage_id / "solution.py").read_text(encoding="utf-8")

    def text(self, name: str, source: str) -> Text:
        return text(name, source.encode(), self._stub)

    def compared(self, **sources: str) -> Comparison:
        return compared([self.text(name, source) for name, source in sources.items()], self.own)


def named(found: Comparison) -> dict[str, str]:
    return {pair.left.name: pair.right.name for pair in found.copies}


@pytest.mark.some_of(4, "grader/similarity")
@pytest.mark.parametrize("stage", STAGES)
def test_a_copy_of_the_reference_is_named_whatever_it_is_disguised_with(stage: str) -> None:
    known = Known(stage)
    reference = known.sources["solution.py"]
    found = known.compared(**{name: disguise(reference) for name, disguise in DISGUISES.items()}, outside=known.outside)
    assert named(found) == dict.fromkeys(DISGUISES, "solution.py")
    assert min(pair.share for pair in found.copies) > 0.7
    assert not found.pairs and not found.usual


@pytest.mark.some_of(4, "grader/similarity")
@pytest.mark.parametrize("stage", STAGES)
def test_a_copy_of_an_alternative_is_named(stage: str) -> None:
    known = Known(stage)
    alternatives = {name: source for name, source in known.sources.items() if name != "solution.py"}
    found = known.compared(**alternatives, outside=known.outside)
    assert named(found) == {name: name for name in alternatives}


@pytest.mark.some_of(4, "grader/similarity")
@pytest.mark.parametrize("stage", STAGES)
def test_a_solution_that_was_written_apart_is_not_named(stage: str) -> None:
    """Neither the outside solution, nor an alternative that the course would not know."""
    known = Known(stage)
    assert not known.compared(outside=known.outside, again=program(1)).copies
    for place, (name, source) in enumerate(known.sources.items()):
        others = known.own[:place] + known.own[place + 1 :]
        assert not compared([known.text(name, source), known.text("x", program(1))], others).copies


def test_a_copy_that_was_made_longer_is_named() -> None:
    known = Known("s04")
    found = known.compared(ada=known.sources["solution.py"] + program(1, 300), bob=known.outside)
    (copy,) = found.copies
    assert copy.left.name == "ada" and copy.of_right > 0.9 > copy.of_left


def test_what_everybody_was_given_is_nobody_s_solution() -> None:
    known = Known("s04")
    stub = stub_source(COURSE.find("s04"))
    assert not known.compared(ada=stub, bob=stub).copies


def test_in_a_stage_of_a_few_lines_nobody_is_named() -> None:
    few = program(0, 6)
    assert not compared(texts(few, few), [text("solution.py", few.encode())]).copies


def test_where_right_solutions_are_alike_only_a_copy_is_named() -> None:
    """The course's own solutions share two thirds, and so does an honest one with each of them."""
    usual = program(0, 40)
    own = [text(f"{seed}.py", (usual + program(seed, 20)).encode()) for seed in (1, 2)]
    honest, copy = texts(usual + program(3, 20), usual + program(1, 20))
    (found,) = compared([honest, copy], own).copies
    assert (found.left, found.right.name) == (copy, "1.py")


def test_a_copy_is_still_compared_with_those_who_wrote_theirs() -> None:
    solution = program(0, 40)
    ada, bob, eve = texts(solution + program(5, 20), solution + program(6, 20), program(5, 20) + program(7, 20))
    found = compared([ada, bob, eve], [text("solution.py", solution.encode())])
    assert [pair.left for pair in found.copies] == [ada, bob]
    assert [{pair.left.name, pair.right.name} for pair in found.pairs] == [{ada.name, eve.name}]
