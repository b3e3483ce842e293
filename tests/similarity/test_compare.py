"""A class compared: who handed in what, which pairs share much, and who copied the course's own solution."""

from __future__ import annotations

import os
import random
import re
import zipfile
from datetime import UTC
from functools import cache
from pathlib import Path

import pytest

from grader.course.answers import alternative_sources, reference_source, stub_source
from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.errors import UsageError
from grader.gradebook.submissions import listing
from grader.similarity import compare
from grader.similarity.compare import (
    ALIKE,
    LEAST_ALIKE,
    LEAST_SHARE,
    Comparison,
    SubmittedModule,
    Text,
    compared,
    examples,
    given,
    handed_in,
    near_duplicates,
    passages,
    text,
)
from tests.similarity.test_folding import padded, wrapped
from tests.support.places import ROOT


def disguised(source: str, seed: int) -> str:
    """Return a copy with other names and comments, and its functions in another order."""
    drawn = random.Random(seed)
    for name in sorted(set(re.findall(r"\b([a-z_]\w*) = ", source))):
        source = re.sub(rf"\b{name}\b", f"{name}_{drawn.randrange(99)}q", source)
    head, *functions = re.split(r"\n(?=def |class )", source)
    drawn.shuffle(functions)
    return "\n".join([head, *functions]).replace(" # ", "  # mine ")


@cache
def known(stage_id: str) -> tuple[frozenset[int], dict[str, str]]:
    """Return a stage's stub and solutions that were written apart."""
    stage = load_course(ROOT).find(stage_id)
    students = (ROOT / "tests" / "slips" / stage_id / "solution.py").read_text(encoding="utf-8")
    sources = {"student": students, "reference": reference_source(stage), **alternative_sources(stage)}
    return given(stub_source(stage)), sources


def program(seed: int, lines: int = 60) -> str:
    """Return a text that is like no other."""
    drawn = random.Random(seed)

    def call() -> str:
        return f"np.f{drawn.randrange(999)}(x[{drawn.randrange(9)}], y.g{drawn.randrange(999)})"

    return "".join(f"y{at} = {call()} {drawn.choice('+-*/@')} {call()}\n" for at in range(lines))


def texts(*sources: str) -> list[Text]:
    return [text(f"s{at}", source.encode()) for at, source in enumerate(sources)]


def names(found: list[Text], **options: float) -> list[tuple[str, str]]:
    return [(pair.left.name, pair.right.name) for pair in compared(found, **options).pairs]  # type: ignore[arg-type]


@pytest.mark.parametrize("stage", ["s04", "s15"])
def test_a_disguised_copy_is_found_among_solutions_written_apart(stage: str) -> None:
    stub, sources = known(stage)
    sources = {**sources, "copy": disguised(sources["student"], 1)}
    own = [text("", sources.pop("reference").encode(), stub)]
    found = compared([text(name, source.encode(), stub) for name, source in sources.items()], own)
    assert [{pair.left.name, pair.right.name} for pair in found.pairs] == [{"student", "copy"}]
    assert found.pairs[0].share > 0.7


@pytest.mark.parametrize("stage", ["s04", "s15"])
def test_the_stub_alone_counts_nothing(stage: str) -> None:
    course = load_course(ROOT)
    stub = stub_source(course.find(stage))
    assert not text("ada", stub.encode(), given(stub)).prints


def test_what_more_than_a_quarter_wrote_does_not_count() -> None:
    usual = program(0)
    assert not names(texts(*(usual + program(seed) for seed in range(1, 13))))


def test_what_four_share_counts_in_any_class() -> None:
    usual = program(0)
    assert len(names(texts(*(usual + program(seed) for seed in range(1, 5))))) == 6


def test_what_the_course_s_own_solutions_hold_counts_nothing() -> None:
    two = texts(program(0, 30) + program(1, 30), program(0, 30) + program(2, 30))
    assert compared(two).pairs
    assert not compared(two, texts(program(0, 30))).pairs


@pytest.mark.full_matrix
def test_half_of_a_small_class_is_no_custom() -> None:
    """Six of twelve who copied a part, too little for a ring, are seen; in a class of forty that is usual."""
    part = program(0, 30)
    six = [part + program(seed, 60) for seed in range(1, 7)]
    assert len(names(texts(*six, *(program(seed, 90) for seed in range(7, 13))), least=0.2)) == 15
    ten = [part + program(seed, 60) for seed in range(1, 12)]
    assert not names(texts(*ten, *(program(seed, 90) for seed in range(12, 41))), least=0.2)


@pytest.mark.some_of(4)
@pytest.mark.parametrize("copies", [3, 5])
@pytest.mark.parametrize("stage", ["s07", "s15"])
def test_a_ring_is_found_in_a_small_class_and_nobody_else(stage: str, copies: int) -> None:
    """Four or six of about twelve handed in one module under other names; the others wrote theirs."""
    stub, sources = known(stage)
    ring = {"student", *(f"copy{seed}" for seed in range(copies))}
    sources = {**sources, **{f"copy{seed}": disguised(sources["student"], seed) for seed in range(copies)}}
    found = compared([text(name, source.encode(), stub) for name, source in sources.items()])
    pairs = [{pair.left.name, pair.right.name} for pair in found.pairs]
    assert sorted(map(sorted, pairs)) == [[a, b] for a in sorted(ring) for b in sorted(ring) if a < b]
    assert min(pair.share for pair in found.pairs) > 0.6
    assert not found.usual


@pytest.mark.parametrize("stage", ["s01", "s10"])
def test_solutions_written_apart_stay_far_below_a_pair(stage: str) -> None:
    stub, sources = known(stage)
    sources = dict(sources)
    own = [text("", sources.pop("reference").encode(), stub)]
    found = compared([text(name, source.encode(), stub) for name, source in sources.items()], own, least=0.0)
    assert found.pairs[0].share < 0.22 < LEAST_SHARE


def test_a_part_that_was_copied_is_seen_from_the_smaller_side() -> None:
    (pair,) = compared(texts(program(0, 20), program(0, 20) + program(1, 200))).pairs
    assert pair.of_left > 0.9 > 0.3 > pair.of_right
    assert pair.share == pair.of_left


def test_a_line_is_no_pair() -> None:
    assert not names(texts(program(0, 1), program(0, 1)), least=0.0)


def test_nothing_and_little_are_compared_with_nothing() -> None:
    assert not names(texts("", "", "x = 1", "x = 1"), least=0.0)


def test_the_most_come_first_and_no_more_than_asked() -> None:
    four = texts(program(0, 90) + program(1, 30), program(0, 90) + program(2, 90), program(5), program(5))
    whole = compared(four)
    assert [{pair.left.name, pair.right.name} for pair in whole.pairs] == [{"s2", "s3"}, {"s0", "s1"}]
    cut = compared(four, most=1)
    assert (cut.pairs, cut.count) == (whole.pairs[:1], 2)
    assert LEAST_SHARE < whole.pairs[1].share < 1


class TestPassages:
    """What a pair shares, line by line."""

    def test_a_block_that_moved_is_one_passage(self) -> None:
        (pair,) = compared(texts(program(0, 20) + program(1, 10), program(2, 10) + program(0, 20))).pairs
        longest = max(passages(pair), key=lambda passage: passage.tokens)
        assert (longest.left, longest.right) == ((1, 20), (11, 30))

    def test_no_line_of_a_side_is_told_twice(self) -> None:
        (pair,) = compared(texts(program(0, 20) * 3, program(0, 20))).pairs
        right = [line for each in passages(pair) for line in range(each.right[0], each.right[1] + 1)]
        assert len(right) <= 20 + len(passages(pair))

    def test_equal_tokens_are_equal_on_both_sides(self) -> None:
        stub, sources = known("s04")
        both = [
            text("a", sources["student"].encode(), stub),
            text("b", disguised(sources["student"], 2).encode(), stub),
        ]
        (pair,) = compared(both).pairs
        assert sum(each.tokens for each in passages(pair)) > 0.7 * len(both[0].tokens.kinds)


WHOLE = set(range(100))


def test_copies_and_copies_of_a_part_of_them_are_one_ring() -> None:
    half = int(100 * ALIKE)
    texts = [
        WHOLE,
        set(range(200, 300)),
        set(range(half)) | set(range(300, 300 + half)),
        WHOLE,
        set(range(LEAST_ALIKE)),
    ]
    assert near_duplicates(texts) == [0, 1, 0, 0, 0]


def test_what_shares_less_is_alone() -> None:
    most = int(100 * ALIKE) - 1
    assert near_duplicates([WHOLE, set(range(most)) | set(range(200, 300 - most))]) == [0, 1]


def test_of_short_texts_nothing_is_said() -> None:
    short = set(range(LEAST_ALIKE - 1))
    assert near_duplicates([short, short, set(), set()]) == [0, 1, 2, 3]


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
        self.outside = (ROOT / "tests" / "slips" / stage_id / "solution.py").read_text(encoding="utf-8")

    def text(self, name: str, source: str) -> Text:
        return text(name, source.encode(), self._stub)

    def compared(self, **sources: str) -> Comparison:
        return compared([self.text(name, source) for name, source in sources.items()], self.own)


@cache
def solutions(stage_id: str) -> Known:
    return Known(stage_id)


def named(found: Comparison) -> dict[str, str]:
    return {pair.left.name: pair.right.name for pair in found.copies}


@pytest.mark.some_of(12, "grader/similarity", "stages", "hidden")
@pytest.mark.parametrize("stage", STAGES)
def test_a_copy_of_the_reference_is_named_whatever_it_is_disguised_with(stage: str) -> None:
    known = solutions(stage)
    reference = known.sources["solution.py"]
    found = known.compared(**{name: disguise(reference) for name, disguise in DISGUISES.items()}, outside=known.outside)
    assert named(found) == dict.fromkeys(DISGUISES, "solution.py")
    assert min(pair.share for pair in found.copies) > 0.7
    assert not found.pairs and not found.usual


@pytest.mark.some_of(12, "grader/similarity", "stages", "hidden")
@pytest.mark.parametrize("stage", STAGES)
def test_a_copy_of_an_alternative_is_named(stage: str) -> None:
    known = solutions(stage)
    alternatives = {name: source for name, source in known.sources.items() if name != "solution.py"}
    found = known.compared(**alternatives, outside=known.outside)
    assert named(found) == {name: name for name in alternatives}


@pytest.mark.some_of(12, "grader/similarity", "stages", "hidden")
@pytest.mark.parametrize("stage", STAGES)
def test_a_solution_that_was_written_apart_is_not_named(stage: str) -> None:
    """Neither the outside solution, nor an alternative that the course would not know."""
    known = solutions(stage)
    assert not known.compared(outside=known.outside, again=program(1)).copies
    for place, (name, source) in enumerate(known.sources.items()):
        others = known.own[:place] + known.own[place + 1 :]
        assert not compared([known.text(name, source), known.text("x", program(1))], others).copies


def test_a_copy_that_was_made_longer_is_named() -> None:
    known = solutions("s04")
    found = known.compared(ada=known.sources["solution.py"] + program(1, 300), bob=known.outside)
    (copy,) = found.copies
    assert copy.left.name == "ada" and copy.of_right > 0.9 > copy.of_left


def test_what_everybody_was_given_is_nobody_s_solution() -> None:
    known = solutions("s04")
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


STAGE = Stage("s90", Path("stages/s90_small"), "Small", "small.py", (), ())


def gathered(folder: Path) -> tuple[SubmittedModule, ...]:
    return handed_in(listing(folder, UTC).arrivals, STAGE, folder)


def test_files_folders_and_archives_are_taken_under_their_names(tmp_path: Path) -> None:
    (tmp_path / "ada.py").write_text("a", encoding="utf-8")
    (tmp_path / "bob@example.org").mkdir()
    (tmp_path / "bob@example.org" / "small.py").write_text("b", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "eve.zip", "w") as archive:
        archive.writestr("small.py", "e")
    found = gathered(tmp_path)
    assert [(each.student, each.source) for each in found] == [("ada", b"a"), ("bob@example.org", b"b"), ("eve", b"e")]


def test_of_several_attempts_the_last_is_compared(tmp_path: Path) -> None:
    for name, source, when in (("ada_1_small-2.py", "later", 2000), ("ada_1_small-10.py", "earlier", 1000)):
        (tmp_path / name).write_text(source, encoding="utf-8")
        os.utime(tmp_path / name, (when, when))
    assert gathered(tmp_path) == (SubmittedModule("ada_1", b"later"),)


def test_what_cannot_be_taken_is_told_and_costs_the_others_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "book.ipynb").touch()
    (tmp_path / "ada.py").write_text("a", encoding="utf-8")
    (tmp_path / "link.py").symlink_to(tmp_path / "ada.py")
    found = {each.student: each.why for each in gathered(tmp_path)}
    assert found.pop("ada") == ""
    assert set(found) == {"empty", "link", "book"}
    assert all(found.values())


def test_too_many_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "MOST_SUBMISSIONS", 1)
    for name in ("a.py", "b.py"):
        (tmp_path / name).touch()
    with pytest.raises(UsageError, match="there are 2 submissions"):
        gathered(tmp_path)


def test_the_code_of_a_readme_is_everybodys(tmp_path: Path) -> None:
    stage = Stage("s90", tmp_path, "Small", "small.py", (), ())
    assert examples(stage) == []
    (tmp_path / "README.md").write_text("a\n\n```python\nx = 1\ny = 2\n```\n\n```\nz\n```\n", encoding="utf-8")
    assert examples(stage) == ["x = 1\ny = 2\n", "z\n"]
