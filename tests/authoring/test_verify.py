"""The proof of stages, of those that a change touches, and of each reference before a release."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from grader.authoring import proof
from grader.authoring import verify as verifying
from grader.authoring.cases import CaseResult, ProofCase
from grader.authoring.evaluation import Ratio
from grader.authoring.verify import (
    FIRST_SEED,
    StageProof,
    Unsound,
    VerifyOptions,
    expect_sound_stages,
    touched,
    unsound,
    verify,
)
from grader.course.manifest import load_course
from grader.course.mutants import mutants
from grader.course.stage import Course, Stage
from grader.errors import CourseError, UsageError
from tests.support.good_stage import (
    AMBIGUOUS,
    FILES,
    HIDDEN,
    LOOPS,
    MISTAKES,
    PUBLIC,
    SOLUTION,
    WEAKENED,
    write_stage,
)

WriteBack = Mapping[str, str | None]
MUTANTS = mutants(SOLUTION)
EVERY = 3  # of the mutants, by default, one in so many is graded; the one that a weakened test lets live is among them
NO_ALTERNATIVES: WriteBack = dict.fromkeys(name for name in FILES if "alternatives" in name)  # to save time
ODD = HIDDEN.replace("for row in x.tolist()])", "for row in x.tolist()] + np.array(seed % 2))").replace(
    "(learner, rng)", "(learner, rng, seed)"
)
FIXED = HIDDEN.replace(
    "any_rows(learner, rng):\n    x = rng.standard_normal((2, 5))", "ones(learner):\n    x = np.ones((2, 5))"
)

UNSAID = PUBLIC.replace("@pytest.mark.values\n", "", 1)


@dataclass(frozen=True)
class Proven:
    """The proof of each stage by name, and how the count of gradings went."""

    proofs: dict[str, StageProof]
    counts: list[tuple[int, int, str]]

    def shortfalls(self, name: str) -> list[tuple[str, str]]:
        """Return file and message of each shortfall, with the stage's folders left out."""
        return [(each.place.partition("_small/")[2], each.message) for each in self.proofs[name].shortfalls]


def prove(tmp_path_factory: pytest.TempPathFactory, plan: VerifyOptions, stages: Mapping[str, WriteBack]) -> Proven:
    """Write a course of changed stages and prove all of it at once."""
    root = tmp_path_factory.mktemp("proven")
    for number, changes in enumerate(stages.values(), 1):
        write_stage(root / "course" / "stages", root / "hidden", f"s{number:02}_small", changes)
    course = load_course(root / "course", root / "hidden")
    counts: list[tuple[int, int, str]] = []
    proofs = verify(course, course.stages, plan, lambda *count: counts.append(count))
    return Proven(dict(zip(stages, proofs, strict=True)), counts)


@pytest.fixture(scope="module")
def number(is_full: bool) -> int:
    """How many mutants are graded."""
    return len(MUTANTS if is_full else MUTANTS[::EVERY])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, is_full: bool) -> Proven:
    """A stage that lacks nothing, and the same with one hidden test that looks at the shape alone; with mutants."""
    plan = VerifyOptions(seeds=1, mutants=True, isolation="process", workers=0, alternatives=1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(verifying, "mutants", lambda source: mutants(source)[:: 1 if is_full else EVERY])
        return prove(tmp_path_factory, plan, {"good": {}, "weak": {"hidden/test_hidden.py": WEAKENED}})


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory: pytest.TempPathFactory) -> Proven:
    """Stages whose mistakes are graded with two seeds."""
    stages: Mapping[str, WriteBack] = {
        "ambiguous": {"hidden/mistakes.py": AMBIGUOUS, **NO_ALTERNATIVES},
        "unsound": {"hidden/test_hidden.py": ODD, **NO_ALTERNATIVES},
    }
    return prove(tmp_path_factory, VerifyOptions(seeds=2, isolation="process", workers=0), stages)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Proven:
    """Stages of which only what is right is graded, or nothing, as a file cannot be read."""
    stub = FILES["stage/small.py"].replace('raise NotImplementedError("total")', "return x")
    stages: Mapping[str, WriteBack] = {
        "unmarked": {"hidden/test_hidden.py": f"{HIDDEN}\n\ndef test_more(learner):\n    pass\n", **NO_ALTERNATIVES},
        "row": {"hidden/test_hidden.py": HIDDEN[: HIDDEN.rindex("@pytest.mark.criterion")], **NO_ALTERNATIVES},
        "public": {"stage/tests/test_small.py": PUBLIC[: PUBLIC.rindex("@pytest.mark.criterion")], **NO_ALTERNATIVES},
        "begun": {"stage/small.py": stub, **NO_ALTERNATIVES},
        "alternative": {**NO_ALTERNATIVES, "hidden/alternatives/loops.py": LOOPS.replace("value / 2", "value / 3")},
        "mistakes": {"hidden/mistakes.py": MISTAKES.replace('fix="Divide it by two."', "")},
        "no mistakes": {"hidden/mistakes.py": None},
        "equivalent": {"hidden/equivalent.toml": "[[mutant]]\nwas = 1\n"},
        "solution": {"hidden/solution.py": f"{SOLUTION}\ndef (\n"},
        "tests": {"hidden/test_hidden.py": f"{HIDDEN}\ndef (\n"},
        "no stub": {"stage/small.py": None},
        "no solution": {"hidden/solution.py": None},
        "fixed": {"hidden/test_hidden.py": FIXED, "stage/tests/test_small.py": UNSAID, **NO_ALTERNATIVES},
    }
    return prove(tmp_path_factory, VerifyOptions(seeds=1, mistakes=False, isolation="process", workers=0), stages)


class TestWholeStage:
    @pytest.mark.full_matrix("grader/judging", "grader/diagnosis")
    def test_it_has_no_shortfall(self, whole: Proven) -> None:
        assert whole.shortfalls("good") == []

    def test_what_was_seen_is_counted(self, whole: Proven) -> None:
        proof = whole.proofs["good"]
        assert (proof.stage, proof.title, proof.criteria, proof.tests) == ("s01", "Sums", 2, 4)
        assert (proof.reference, proof.stub, proof.alternatives) == (Ratio(1, 1), Ratio(2, 2), Ratio(1, 1))
        assert (proof.mistakes, proof.named) == (Ratio(6, 6), Ratio(6, 6))

    def test_every_mutant_is_caught(self, whole: Proven, number: int) -> None:
        mutation = whole.proofs["good"].mutation
        assert mutation is not None and (mutation.total, mutation.killed, mutation.rate) == (number, number, 1.0)

    def test_every_grading_is_counted_up_to_the_total(self, whole: Proven, number: int) -> None:
        total = 2 * (1 + 1 + 1 + 1 + 6 + number)  # reference, what its tests run, stub, alternative, mistakes, mutants
        assert [(done, of) for done, of, _ in whole.counts] == [(done, total) for done in range(1, total + 1)]
        assert {stage for _, _, stage in whole.counts} == {"s01", "s02"}


class TestWeakenedTest:
    """The one hidden test that looked at the values of half now looks at their shape."""

    def test_the_mistake_that_is_no_longer_caught_is_named(self, whole: Proven) -> None:
        line = MISTAKES[: MISTAKES.index("def mean_of_terms")].count("\n") + 1
        place, message = whole.shortfalls("weak")[0]
        assert (place, message) == (
            f"mistakes.py:{line}",
            f"mean-of-terms is not caught: criterion half is passed (seed {FIRST_SEED})",
        )

    def test_the_other_mistakes_still_are(self, whole: Proven) -> None:
        assert (whole.proofs["weak"].mistakes, whole.proofs["weak"].named) == (Ratio(5, 6), Ratio(5, 6))

    def test_the_rate_of_the_mutants_falls(self, whole: Proven, number: int) -> None:
        mutation = whole.proofs["weak"].mutation
        assert mutation is not None and mutation.killed == number - 1 and mutation.rate < 0.98
        assert whole.shortfalls("weak")[1:] == [
            ("solution.py", f"{number - 1} of {number} mutants are caught, {mutation.rate:.1%}")
        ]

    def test_the_survivor_is_listed_with_its_line(self, whole: Proven) -> None:
        mutation = whole.proofs["weak"].mutation
        assert mutation is not None
        (survivor,) = mutation.survivors
        assert (survivor.function, survivor.was, survivor.now) == ("half", "return total(x) / 2", "return 2 / total(x)")
        assert SOLUTION.splitlines()[survivor.line - 1].strip() == survivor.was

    def test_what_is_right_still_passes(self, whole: Proven) -> None:
        proof = whole.proofs["weak"]
        assert (proof.reference, proof.stub, proof.alternatives) == (Ratio(1, 1), Ratio(2, 2), Ratio(1, 1))


@pytest.mark.full_matrix("grader/diagnosis")
def test_mistakes_that_no_test_tells_apart_are_ambiguous(mistaken: Proven) -> None:
    messages = [message for _, message in mistaken.shortfalls("ambiguous") if " is " in message]
    assert messages == [
        f"whole is ambiguous: unhalved explains the same answers (seed {FIRST_SEED})",
        f"unhalved is ambiguous: whole explains the same answers (seed {FIRST_SEED})",
    ]
    assert mistaken.proofs["ambiguous"].mistakes == Ratio(2, 2) and mistaken.proofs["ambiguous"].named == Ratio(0, 2)


class TestReferenceThatFails:
    def test_its_seed_and_the_failing_test_are_named(self, mistaken: Proven) -> None:
        place, message = mistaken.shortfalls("unsound")[-1]
        assert place == "solution.py" and f"reference does not pass for seed {FIRST_SEED + 1}: " in message
        assert "test_total_of_any_rows" in message
        assert mistaken.proofs["unsound"].reference == Ratio(1, 2)

    def test_nothing_wrong_is_graded(self, mistaken: Proven) -> None:
        proof = mistaken.proofs["unsound"]
        assert (proof.mistakes, proof.named, proof.mutation) == (Ratio(0, 0), Ratio(0, 0), None)

    def test_the_total_falls_by_what_is_not_graded(self, mistaken: Proven) -> None:
        before, after = 2 * 3 + 2 * 2 + 6 * 2, 2 * 3 + 2 * 2
        assert [of for _, of, _ in mistaken.counts] == [before] * 6 + [after] * 4
        assert mistaken.counts[-1] == (after, after, "s01")


@pytest.mark.parametrize(
    ("name", "place", "message"),
    [
        ("unmarked", "tests/", "test_hidden.py::test_more belongs to no criterion of the checklist: no criterion mark"),
        ("row", "", "criterion half has no hidden test"),
        ("public", "tests/", "criterion half has no public test"),
        ("begun", "small.py", "the stub's criterion total is failed, expected not_started"),
        ("alternative", "alternatives/loops.py", "alternatives/loops does not pass for seed 1000: half failed: "),
        ("mistakes", "", "s06_small/mistakes.py:34: @mistake takes criterion, replaces, text, fix"),
        ("no mistakes", "", "hidden/s07_small/mistakes.py: cannot be read: "),
        ("equivalent", "", "s08_small/equivalent.toml: mutant[0].function: is missing"),
        ("solution", "", "hidden/s09_small/solution.py:25: "),
        ("tests", "", "hidden/s10_small/test_hidden.py:22: "),
        ("no stub", "small.py", "the stub differs from what the solution makes"),
        ("no stub", "small.py", "cannot be read: No such file or directory"),
        ("no solution", "", "hidden/s12_small/solution.py: cannot be read: No such file or directory"),
        ("fixed", "test_hidden.py", "criterion half has hidden tests of fixed inputs only: "),
        ("fixed", "tests/test_small.py", "test_total_of_two_rows names no kind, or several"),
    ],
)
def test_what_falls_short_is_told(broken: Proven, name: str, place: str, message: str) -> None:
    found = broken.shortfalls(name)
    assert any(where == place and text.startswith(message) for where, text in found), found


@pytest.mark.parametrize("name", ["no stub", "no solution"])
def test_a_file_that_is_missing_is_named_within_the_course(broken: Proven, name: str) -> None:
    assert not [each for each in broken.proofs[name].shortfalls if "'" in each.message or each.place.startswith("/")]


def test_a_fault_of_the_tests_is_told_once(broken: Proven) -> None:
    assert [place for place, _ in broken.shortfalls("unmarked")].count("tests/") == 1


@pytest.mark.parametrize("name", ["mistakes", "no mistakes", "equivalent", "solution", "tests", "no stub"])
def test_a_stage_with_a_file_that_cannot_be_read_is_not_graded(broken: Proven, name: str) -> None:
    proof = broken.proofs[name]
    assert (proof.reference, proof.stub, proof.alternatives, proof.tests) == (*[Ratio(0, 0)] * 3, 0)
    assert proof.shortfalls[-1].fix == "fix the file; nothing of the stage was graded"


def test_without_mistakes_and_mutants_only_what_is_right_is_graded(broken: Proven) -> None:
    assert broken.proofs["begun"].mistakes == broken.proofs["begun"].named == Ratio(0, 0)
    assert broken.proofs["begun"].mutation is None
    assert broken.counts[-1][:2] == (14, 14)


def test_the_stub_may_be_left_out(tmp_path_factory: pytest.TempPathFactory) -> None:
    plan = VerifyOptions(seeds=1, mistakes=False, isolation="process", workers=0, alternatives=0, stub=False)
    proof = prove(tmp_path_factory, plan, {"begun": {"stage/small.py": SOLUTION}}).proofs["begun"]
    assert (proof.reference, proof.stub, proof.alternatives) == (Ratio(1, 1), Ratio(0, 0), Ratio(0, 0))


def test_no_stage_is_no_proof(tmp_path: Path) -> None:
    assert verify(Course(tmp_path, ()), (), VerifyOptions()) == []


STAGES = ("s01_numbers", "s02_sums", "s03_means")


def git(folder: Path, *arguments: str) -> str:
    """Run git as nobody in particular."""
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def write(course: Course, file: str, text: str = "new\n") -> None:
    path = course.root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course of three stages in a repository with one commit."""
    found = Course(
        tmp_path, tuple(Stage(name[:3], tmp_path / "stages" / name, name, "m.py", (), ()) for name in STAGES)
    )
    for name in STAGES:
        write(found, f"stages/{name}/README.md", "old\n")
        write(found, f"hidden/{name}/solution.py", "old\n")
    write(found, ".gitignore", "*.pyc\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    return found


def names(course: Course, since: str = "HEAD") -> list[str]:
    return [stage.id for stage in touched(course, since)]


def test_where_nothing_differs_no_stage_is_touched(course: Course) -> None:
    assert names(course) == []


def test_a_change_that_is_committed(course: Course) -> None:
    write(course, "stages/s02_sums/README.md")
    git(course.root, "commit", "--quiet", "--all", "-m", "second")
    assert (names(course), names(course, "HEAD~1")) == ([], ["s02"])


@pytest.mark.parametrize("staged", [False, True])
def test_a_change_that_is_not_yet_committed(course: Course, staged: bool) -> None:
    write(course, "stages/s02_sums/README.md")
    if staged:
        git(course.root, "add", ".")
    assert names(course) == ["s02"]


@pytest.mark.parametrize("file", ["stages/s03_means/tests/test_new.py", "hidden/s03_means/alternatives/é a.py"])
def test_a_new_file(course: Course, file: str) -> None:
    write(course, file)
    assert names(course) == ["s03"]


def test_a_file_that_git_ignores_is_no_change(course: Course) -> None:
    write(course, "stages/s03_means/m.pyc")
    assert names(course) == []


def test_a_file_of_the_hidden_mirror(course: Course) -> None:
    write(course, "hidden/s01_numbers/solution.py")
    assert names(course) == ["s01"]


def test_a_file_that_is_gone(course: Course) -> None:
    (course.root / "stages" / "s01_numbers" / "README.md").unlink()
    assert names(course) == ["s01"]


def test_a_file_that_moved_touches_both_stages(course: Course) -> None:
    write(course, "stages/s01_numbers/more.md", "a text that is moved as it is\n" * 9)
    git(course.root, "add", ".")
    git(course.root, "commit", "--quiet", "-m", "second")
    git(course.root, "mv", "stages/s01_numbers/more.md", "stages/s03_means/more.md")
    assert names(course) == ["s01", "s03"]


def test_what_belongs_to_no_stage_touches_none(course: Course) -> None:
    write(course, "grader/check.py")
    write(course, "stages/s02_sums.md")
    write(course, "stages/s02/README.md")
    assert names(course) == []


def test_changes_beside_a_course_within_a_larger_repository_do_not_count(course: Course) -> None:
    inner = replace(course, root=course.root / "stages")
    write(course, "stages/s01_numbers/README.md")
    write(course, "hidden/s02_sums/solution.py")
    assert names(inner) == ["s01"]


def test_a_commit_that_git_does_not_know(course: Course) -> None:
    with pytest.raises(UsageError, match=r"git diff failed: .*no-such-commit") as caught:
        touched(course, "no-such-commit")
    assert str(caught.value.hint).startswith(
        "Give --since a commit that git knows here, or leave it out to prove every"
    )


def test_a_commit_that_a_force_push_took_away(course: Course) -> None:
    with pytest.raises(UsageError, match=f"git diff failed: .*{'12' * 20}") as caught:
        touched(course, "12" * 20)
    assert "After a force push the commit before is gone" in str(caught.value.hint)


@pytest.mark.parametrize("length", [40, 64])
def test_of_no_commit_every_stage_differs(course: Course, length: int) -> None:
    assert names(course, "0" * length) == ["s01", "s02", "s03"]
    with pytest.raises(UsageError, match="git diff failed"):
        touched(course, "0" * (length - 1))


def test_a_course_outside_of_any_repository(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    (course.root / ".git").rename(course.root / "git")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(course.root.parent))
    with pytest.raises(UsageError, match="git diff failed: "):
        touched(course, "HEAD")


def test_a_machine_without_git(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(course.root))
    with pytest.raises(UsageError, match="git cannot be run: No such file") as caught:
        touched(course, "HEAD")
    assert caught.value.hint == "Name the stages instead of --since."


NAMES = ("s90_small", "s91_more")


@pytest.fixture
def two(tmp_path: Path) -> Course:
    """A course of two stages; the second one's tests disagree with its reference about halves."""
    write_stage(tmp_path / "stages", tmp_path / "hidden", NAMES[0])
    manifest = (tmp_path / "stages" / NAMES[0] / "stage.toml").read_text(encoding="utf-8")
    write_stage(
        tmp_path / "stages", tmp_path / "hidden", NAMES[1], {"stage/stage.toml": manifest.replace('"s90"', '"s91"')}
    )
    solution = tmp_path / "hidden" / NAMES[1] / "solution.py"
    text = solution.read_text(encoding="utf-8")
    wrong = text.replace("/ 2", "/ 3").replace("* 0.5", "* 0.3")
    assert wrong != text
    solution.write_text(wrong, encoding="utf-8")
    return load_course(tmp_path, tmp_path / "hidden")


@pytest.mark.parametrize("few", [0, 2], ids=["processes", "here"])
def test_of_several_stages_the_unsound_one_is_named(two: Course, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(verifying, "FEW", few)
    counted: list[tuple[int, int]] = []
    (found,) = unsound(two, two.stages, lambda done, total, name: counted.append((done, total)))
    assert found.stage == "s91" and counted == [(1, 2), (2, 2)]
    assert len(found.failures) == 2 and all(each.startswith("criterion half, test test_") for each in found.failures)
    if few:
        with pytest.raises(CourseError, match="the reference of s91 does not pass criterion half, test") as caught:
            expect_sound_stages(two, two.stages)
        assert "`grader course verify s91` says more" in str(caught.value.hint)
        expect_sound_stages(two, two.stages[:1])


def test_what_ran_out_of_time_gets_a_second_try_and_no_more(two: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a busy machine: the first gradings end in time limits, which are then four times as long."""
    given = proof.results
    limits: list[float] = []

    def late(pool: Executor, cases: Sequence[ProofCase]) -> Iterator[CaseResult]:
        limits.append(proof._course[0].stages[0].limits.stage_seconds)
        for result in given(pool, cases):
            ended = tuple(replace(each, status="timed_out") for each in result.outcomes)
            yield replace(result, outcomes=ended) if len(limits) == 1 else result

    monkeypatch.setattr(proof, "results", late)
    (found,) = unsound(two, two.stages)
    assert limits == [two.stages[0].limits.stage_seconds * factor for factor in (1, 4)]
    assert found.stage == "s91" and len(found.failures) == 2


def test_of_many_failures_the_first_are_shown() -> None:
    lines = Unsound("s90", tuple(f"criterion c{number}" for number in range(8))).lines
    assert len(lines) == 6 and lines[-1] == "and 3 more tests of s90"
