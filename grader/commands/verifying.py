"""`grader verify`: whether what somebody signed, a receipt or the certificate on a report, is genuine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from grader.classroom.receipt import Receipt

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
    """Check that the receipt of a grading, or the certificate on a report, is genuine.

    Exit codes: 0 valid, 1 not valid, and which field is not, 2 usage.
    """
    from grader.classroom.receipt import InvalidReceiptError, read_public_key
    from grader.report.terminal.screen import say, write

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
    from grader.report.terminal.words import reached_of

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
        from grader.course.manifest import find_course_root, load_course

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
    from grader.course.manifest import find_course_root, load_course
    from grader.submission import take
    from grader.submission.used import whole_digest

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
