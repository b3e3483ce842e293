"""`grader release` and `keys new`, and the receipt of a check: what instructors need beside grading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands.options import stage_names
from grader.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from grader.classroom.release import Plan
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
        what = "--only grades one row" if only is not None else "--all grades several stages"
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
) -> None:
    """Build the learner's copy, with hidden tests sealed.

    It holds stubs, READMEs, public tests, and the grader without answers. Nothing is written if any text of a hidden
    file would be left in it, or if the reference of a stage does not pass its own tests (exit code 4).
    """
    from grader.course.sealed import in_copy

    if in_copy(Path.cwd()):
        raise UsageError("this is a learner's copy of the course already", "A release is made from the author's copy.")
    from grader.classroom.release import Plan, whole
    from grader.classroom.release import release as build
    from grader.course.manifest import find_course_root, load_course
    from grader.course.sealed.keys import read_key
    from grader.report.terminal.screen import counting

    _expect_one(key_file, self_paced)
    chosen = _chosen(course := load_course(find_course_root(Path.cwd())), stages)
    plan = Plan(whole(course, chosen), read_key(key_file) if key_file is not None else None, not unproven)
    with counting() as count:
        files = build(course, plan, folder, count)
    kept = "The key lies in it." if self_paced else f"Keep {key_file}: without it nobody can run the hidden tests."
    _say_released(plan, chosen, f"{len(files)} files in {folder}", kept)


def _say_released(plan: Plan, chosen: tuple[Stage, ...], where: str, kept: str) -> None:
    from grader.report.terminal.screen import say

    if along := [stage for stage in plan.stages if stage not in chosen]:
        is_, them = ("is", "it") if len(along) == 1 else ("are", "them")
        say(f"{_ids(along)} {is_} included too: the stages named build on {them}.")
    say(f"Released {_ids(plan.stages)} with {where}; no hidden text is left.", kept)
    if plan.proven:
        say("Each reference passed its own tests.")
    else:
        hint = "`grader course verify` proves them; the copy's release.json says that it is unproven."
        say("warning: the stages are unproven: no reference was graded.", hint, style="yellow")


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
    """Make a key for sealed tests and a pair of keys for receipts; the secret ones are readable by you only."""
    from grader.classroom.receipt import new_signing_key
    from grader.course.sealed.keys import new_key, write_private
    from grader.report.terminal.screen import say, write

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
