"""A call that was refused in another way than agreed: by assert, with another exception, with one that is returned."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from grader.diagnosis.exceptions.place import Place
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Frame, Record
from grader.submission.source import plain_text

REFUSED = frozenset(("refusal-returned", "refusal-by-assert", "refusal-with-another", "refusal-of-no-exception"))
NO_EXCEPTION = "exceptions must derive from BaseException"
LONGEST = 60  # characters of what is raised, as it is written


@dataclass(frozen=True)
class Refused:
    """What was done instead, and how it is written; kind is one of REFUSED."""

    kind: str
    text: str
    fix: str


def refused(record: Record, wanted: str, reason: str, learner: bytes) -> Refused | None:
    """Say how the learner's lines refused a call that has to end in the exception wanted; None where they did not.

    reason is what the reference says, in parentheses behind a space, or nothing.
    """
    label = record.label
    if record.error is None:
        found = returned_exception(record.result)
        article = "an" if found[:1] in "AEIOU" else "a"
        text = f"{label} returns {article} {found} as its result; {wanted} has to be raised{reason}."
        return Refused("refusal-returned", text, "Write `raise` in place of `return`.") if found else None
    found = getattr(record.error, "learner_type", type(record.error).__name__)
    frames: list[Frame] = getattr(record.error, "learner_frames", [])
    if not frames or found == wanted:
        return None
    place = Place(plain_text(learner) or "", frames[-1].line)
    if place.has(ast.Assert) and found == "AssertionError":
        text = f"{label} refuses this call by `assert`, which raises AssertionError; {wanted} is asked for{reason}."
        return Refused("refusal-by-assert", text, f"Write `if …: raise {wanted}(…)` in place of the `assert`.")
    raised = next((node.exc for node in place.nodes if isinstance(node, ast.Raise)), None)
    if raised is None:
        return None
    if NO_EXCEPTION in str(record.error):
        written = ast.unparse(raised)
        inner = written if isinstance(raised, ast.Constant | ast.JoinedStr) and len(written) <= LONGEST else "…"
        text = f"`raise` takes an exception, and is given something else. This call has to be refused{reason}."
        return Refused("refusal-of-no-exception", text, f"Write `raise {wanted}({inner})`.")
    text = f"{label} refuses this call with {found}; {wanted} is asked for{reason}."
    return Refused("refusal-with-another", text, f"Raise {wanted} there.")


def returned_exception(result: object) -> str:
    """Return the name of the exception that was returned as a value; nothing where it was another one."""
    shown = str(result.__dict__["_shown"]) if isinstance(result, RemoteValue) else ""
    known = getattr(builtins, shown, None)
    return shown if isinstance(known, type) and issubclass(known, Exception) else ""
