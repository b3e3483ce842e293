"""`grader release`, `grader keys` and `grader verify`: copies for learners, keys, and what was signed."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands.options import stage_names
from grader.course.manifest import load_course
from grader.course.sealed import in_copy
from grader.course.settings import find_course_root
from grader.errors import UsageError
from grader.report.terminal.screen import counting, say, write
from grader.report.terminal.words import reached_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    from grader.classroom.receipt import Receipt
    from grader.classroom.release import ReleaseOptions
    from grader.course.stage import Course, Stage
    from grader.verdict import Verdict

TESTS_KEY, SIGNING_KEY, PUBLIC_KEY = "tests.key", "signing.key", "signing.pub"
keys = typer.Typer(help="For instructors: keys for sealed tests and receipts.", no_args_is_help=True)


@dataclass(frozen=True)
class Signing:
    """Where the receipt of a check goes, and the key that signs it."""

    path: Path
    key: Ed25519PrivateKey

    def give(self, verdict: Verdict, now: datetime) -> None:
        """Write the receipt of a verdict; one that must not count has none."""
        from grader.classroom.receipt import receipt_of, signed
        from grader.commands.publishing import put

        if not verdict.grader_fault:
            put(self.path, signed(receipt_of(verdict, now), self.key))


def signing(receipt: Path | None, key: Path | None, only: str | None, every: bool) -> Signing | None:
    """Return what signs a check, with nothing left where it will write; UsageError where that cannot be done."""
    from grader.commands.publishing import expect_writable

    if receipt is None and key is None:
        return None
    if receipt is None or key is None:
        given, lacking = ("--signing-key", "--receipt") if receipt is None else ("--receipt", "--signing-key")
        raise UsageError(f"{given} needs {lacking}", "`grader keys new DIR` makes keys.")
    if only is not None or every:
        what = "--only grades one criterion" if only is not None else "--all grades several stages"
        raise UsageError(f"a receipt is for one whole stage, and {what}", "Grade stage by stage.")
    from grader.classroom.receipt import read_signing_key

    found = read_signing_key(key)
    expect_writable(receipt)
    receipt.unlink(missing_ok=True)
    return Signing(receipt, found)


ReleasedStages = Annotated[
    str | None,
    typer.Option(
        "--stages",
        metavar="NAME,...",
        help="These, and what they build on; by default all.",
        autocompletion=stage_names,
    ),
]


def release(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or an empty folder.")],
    key_file: Annotated[
        Path | None,
        typer.Option("--key-file", metavar="KEY", help="Seal with this key, which stays with you."),
    ] = None,
    self_paced: Annotated[
        bool, typer.Option("--self-paced", help="Ship the key too: sealed, but not secret from anyone who looks.")
    ] = False,
    stages: ReleasedStages = None,
    unproven: Annotated[
        bool, typer.Option("--unproven", help="Release stages whose references were not graded, or do not pass.")
    ] = False,
    python: Annotated[
        str, typer.Option("--python", metavar="3.N", help="The version of Python that grades: the copy asks for it.")
    ] = "",
) -> None:
    """Build the learner's copy, with hidden tests sealed.

    It holds stubs, READMEs, public tests, and the grader without answers. Nothing is written if any text of a hidden
    file would be left in it, or if the reference of a stage does not pass its own tests (exit code 4).
    """
    if in_copy(Path.cwd()):
        raise UsageError("this is a learner's copy of the course already", "A release is made from the author's copy.")
    from grader.classroom.release import ReleaseOptions, whole
    from grader.classroom.release import release as build
    from grader.course.bundle import read_key

    _expect_one(key_file, self_paced)
    chosen = _chosen(course := load_course(find_course_root(Path.cwd())), stages)
    key = read_key(key_file) if key_file is not None else None
    plan = ReleaseOptions(whole(course, chosen), key, not unproven, python)
    with counting() as count:
        files = build(course, plan, folder, count)
    kept = "The key lies in it." if self_paced else f"Keep {key_file}: without it nobody can run the hidden tests."
    _say_released(plan, chosen, f"{len(files)} files in {folder}", kept)


def _say_released(plan: ReleaseOptions, chosen: tuple[Stage, ...], where: str, kept: str) -> None:
    if along := [stage for stage in plan.stages if stage not in chosen]:
        is_, them = ("is", "it") if len(along) == 1 else ("are", "them")
        say(f"{_ids(along)} {is_} included too: the stages named build on {them}.")
    say(f"Released {_ids(plan.stages)} with {where}; no hidden text is left.", kept)
    if plan.proven:
        say("Each reference passed its own tests.")
    else:
        hint = "`grader course verify` proves them; the copy's release.json says that it is unproven."
        say("warning: the stages are unproven: no reference was graded.", hint, style="yellow")
    if plan.key is not None and not plan.python:
        what = (
            "The copy asks for no one version of Python: what a newer one reads may be a syntax error where you grade."
        )
        say(what, f"`--python 3.{sys.version_info.minor}` asks for the one that runs here.")


def _ids(stages: Iterable[Stage]) -> str:
    return ", ".join(stage.id for stage in stages)


def _expect_one(key_file: Path | None, self_paced: bool) -> None:
    if (key_file is None) == (not self_paced):
        raise UsageError(
            "a release needs --key-file KEY, or --self-paced to ship the key as well, and not both",
            "`grader keys new DIR` makes a key.",
        )


def _chosen(course: Course, names: str | None) -> tuple[Stage, ...]:
    if names is None:
        return course.stages
    wanted = {course.find(name).id for name in names.split(",")}
    return tuple(stage for stage in course.stages if stage.id in wanted)


@keys.callback()
def _keys() -> None:
    """For instructors: keys for sealed tests and receipts."""


@keys.command()
def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the keys go; existing files are kept.")],
) -> None:
    """Make keys for sealed tests and for receipts.

    The secret ones are readable by you only.
    """
    from grader.classroom.receipt import new_signing_key
    from grader.course.bundle import new_key, write_private

    private, public = new_signing_key()
    texts = {TESTS_KEY: new_key().text.encode(), SIGNING_KEY: private, PUBLIC_KEY: public}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}") from error
    if taken := [name for name in texts if (folder / name).exists()]:
        raise UsageError(f"{folder / taken[0]} already exists; it was not replaced", "Name another folder.")
    made: list[Path] = []
    try:
        for name, data in texts.items():
            write_private(folder / name, data)
            made.append(folder / name)
    except UsageError:
        for path in made:  # half a set of keys would keep the next try from making a whole one
            path.unlink(missing_ok=True)
        raise
    (folder / PUBLIC_KEY).chmod(0o644)
    write("\n".join(str(folder / name) for name in texts))
    say(f"Keep {TESTS_KEY} and {SIGNING_KEY} secret, and out of any repository; give {PUBLIC_KEY} to everyone.")


VALID, NOT_VALID = 0, 1
MOST_BYTES = 128 << 20  # of a report with many pictures


def verify(
    receipt: Annotated[
        Path, typer.Argument(metavar="FILE", help="What `grader check --receipt`, or a signed `grader report`, wrote.")
    ],
    public_key: Annotated[
        Path, typer.Option("--public-key", metavar="FILE", help="The public key, which whoever graded publishes.")
    ],
    submission: Annotated[
        Path | None, typer.Option("--submission", metavar="PATH", help="Check that these files were graded.")
    ] = None,
    stage: Annotated[
        str | None, typer.Option("--stage", metavar="STAGE", help="Check that it belongs to this stage.")
    ] = None,
) -> None:
    """Check that a receipt, or a report's certificate, is genuine.

    Exit codes: 0 valid, 1 not valid, and which field is not, 2 usage.
    """
    from grader.classroom.receipt import InvalidReceiptError, read_public_key

    key = read_public_key(public_key)
    try:
        with receipt.open("rb") as file:
            data = file.read(MOST_BYTES)
        lines = _of_certificate(data, key, submission, stage) or _of_receipt(data, key, submission, stage)
    except OSError as error:
        raise UsageError(f"the receipt {receipt} cannot be read: {error.strerror}") from error
    except InvalidReceiptError as error:
        say(f"not valid: {error}", style="red")
        raise typer.Exit(NOT_VALID) from error
    write("\n".join(lines))
    raise typer.Exit(VALID)


def _of_receipt(data: bytes, key: Ed25519PublicKey, submission: Path | None, stage: str | None) -> list[str]:
    """Return what a genuine receipt says, line by line; InvalidReceiptError for any other."""
    from grader.classroom.receipt import verified

    found = verified(data, key)
    _expect_graded(found, submission, stage)
    passed = sum(status == "passed" for status in found.criteria.values())
    ended = "passed" if found.passed else "did not pass"
    lines = [
        f"valid: {found.stage} {ended}, {reached_of(passed, len(found.criteria), found.robust)}",
        f"submission {found.submission}, graded {found.when}, course {found.course}",
        f"seed {found.seed}, isolation {found.isolation}, feedback {found.feedback}",
    ]
    return [*lines, found.provenance.words] if found.provenance.words else lines


def _of_certificate(data: bytes, key: Ed25519PublicKey, submission: Path | None, stage: str | None) -> list[str]:
    """Return what a genuine certificate says by lines, nothing for what is none; else InvalidReceiptError."""
    from grader.web.certificate import expect_of, held, verified

    if (document := held(data)) is None:
        return []
    found = verified(document, key)
    if submission is not None or stage is not None:
        expect_of(found, load_course(find_course_root(Path.cwd())), submission, stage)
    stages = len(found.stages)
    lines = [f"valid: {stages} stage{'' if stages == 1 else 's'} of {found.title} passed, signed {found.when}"]
    for each in found.stages:
        robust = "" if each.robust is None else f", {each.robust} of {each.rows} criteria robust"
        lines.append(f"{each.stage} {each.module}, graded {each.when}, isolation {each.isolation}{robust}")
    return [*lines, found.provenance.words] if found.provenance.words else lines


def _expect_graded(receipt: Receipt, submission: Path | None, stage: str | None) -> None:
    """Raise InvalidReceiptError where a receipt is of another stage, or of another module than what was handed in."""
    from grader.classroom.receipt import InvalidReceiptError
    from grader.submission import take
    from grader.submission.snapshot import whole_digest

    if submission is None and stage is None:
        return
    course = load_course(find_course_root(Path.cwd()))
    if stage is not None and (wanted := course.find(stage).id) != receipt.stage:
        raise InvalidReceiptError("stage", f"is {receipt.stage}, expected {wanted}")
    if submission is not None:
        for use in receipt.uses:
            own = use.source == "own" and take(course.find(use.stage), submission, course.root).digest
            if own and own != use.digest:
                raise InvalidReceiptError("uses", f"has {use.digest} for {use.stage}, and what is handed in has {own}")
        digest = whole_digest(take(course.find(receipt.stage), submission, course.root).digest, receipt.uses)
        if digest != receipt.submission:
            raise InvalidReceiptError("submission", f"is {receipt.submission}, and what is handed in has {digest}")
