"""A class compared: disguised copies are found, solutions written apart are not, and what is usual does not count."""

from __future__ import annotations

import random
import re
from functools import cache

import pytest

from grader.course.answers import alternative_sources, reference_source, stub_source
from grader.course.manifest import load_course
from grader.similarity.compare import LEAST_SHARE, Text, compared, given, text
from grader.similarity.passages import passages
from grader.tests.support.places import HOUSE, ROOT


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
    students = (HOUSE / "tests" / "slips" / stage_id / "solution.py").read_text(encoding="utf-8")
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


@pytest.mark.parametrize("stage", ["s01", "s10", "s17"])
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
