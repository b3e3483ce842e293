"""Verdicts for the tests of reports, texts that try to be more than text, and what a build's log would obey."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import strategies as st

from grader.criterion import KindCount
from grader.outcome import Diagnosis, Where
from grader.report.graded import CheckReport, ReportContext
from grader.submission.parsing import Problem
from grader.verdict import CriterionResult, Failure, Run, Verdict

LABEL = "stages/s15_attention/attention.py"
DIAGNOSIS = Diagnosis("reshape", "split-heads", "Tokens are mixed across heads.", "Swap axes 1 and 2.", declared=True)
PUBLIC = Failure(
    "test_attention.py::test_split",
    False,
    "failed",
    "split_heads(x: float64 (2, 6, 8), num_heads=2)",
    "72 of 96 values differ",
    DIAGNOSIS,
    Where(LABEL, 142),
)
HIDDEN = replace(PUBLIC, test="test_hidden.py::test_split[5-7]", hidden=True)
SCORES = CriterionResult("scores", "scores are QKᵀ/√d_k", "passed", 5, 5)
SPLIT = CriterionResult("split-heads", "split_heads reshapes", "failed", 2, 4, (PUBLIC, HIDDEN))
MERGE = CriterionResult("merge-heads", "merge_heads reverses split_heads", "not_started", 0, 3)
FORWARD = CriterionResult("forward", "forward", "blocked", 0, 5, (), ("split_heads",))
CRASH = CriterionResult("crash", "it stays alive", "crashed", 0, 1, (replace(HIDDEN, status="crashed"),))
# Every value is right, and the cases at the edges are not.
RIGHT = CriterionResult(
    "layer-norm", "layer_norm normalises", "failed", 9, 12, (replace(HIDDEN, kind="edges"),),
    kinds=(KindCount("values", 9, 9), KindCount("edges", 0, 3)),
)  # fmt: skip
# Textbook code: it passes, and some of what is to be refused goes through.
TEXTBOOK = CriterionResult(
    "scores-masked", "apply_attention_mask masks", "passed", 11, 12, (replace(HIDDEN, kind="refusals"),),
    kinds=(KindCount("values", 9, 9), KindCount("refusals", 2, 3)),
)  # fmt: skip
RUN = Run(40817, "bubblewrap", None, 0.61, "0.1.0", "ab" * 32, LABEL)
VERDICT = Verdict("s15", "Attention mechanisms", False, (SCORES, SPLIT, MERGE, FORWARD, CRASH), RUN)
PASSED = replace(VERDICT, passed=True, criteria=(SCORES,))
EMPTY = replace(VERDICT, criteria=())
SYNTAX = replace(
    VERDICT,
    criteria=(replace(FORWARD, waits_for=("the module",)),),
    problem=Problem("syntax", "line 3: expected ':'", 3, "Add a colon."),
)
# Each of these must not give marks, not even none.
UNMARKED = {
    "fault": replace(PASSED, passed=False, faults=("test_hidden.py cannot be collected",)),
    "fault of a row": replace(PASSED, passed=False, criteria=(SCORES, replace(CRASH, status="grader_fault"))),
    "refused": replace(EMPTY, faults=("isolation bubblewrap is unavailable",)),
    "locked": replace(EMPTY, locked=True),
    "not taken": replace(EMPTY, problem=Problem("missing", "attention.py does not exist", None, None)),
}
NOW = datetime(2026, 11, 21, 12, 30, 5, tzinfo=UTC)
CLASSROOM50 = {
    "CLASSROOM": "numerics",
    "ASSIGNMENT": "attention",
    "SUBMISSION_TAG": "submit/2026-11-21T12-00-00Z-a1b2c3d",
    "COMMIT_URL": "https://example.org/commit/1",
    "RELEASE_URL": "https://example.org/release/1",
    "USERNAME": "learner",
}
SCENE = ReportContext(NOW, CLASSROOM50, lambda label: label)

_SIGNS = [
    *("::error::x", "::set-output", "name=a::b", "::stop-commands::t", "##[add-mask]1", "###[group]", "##vso[task.x]"),
    *("%0A", "%25", "\n", "\r", "\r\n", "\t", "\x1b[2J", "\x9b31m", "\u202e", "\u2066", "\u2028", "\x00", "\x0b"),
    *("\x85", "\ufffe", "\udc80", "[red]", "[/red]", "[a](//b.c)", "![a](b)", "<img/src=x>", "</code></pre>", "<!--"),
    *("-->", "]]>", "<![CDATA[", "&", "&lt;", "`", "```", "~~~", "|", "\\|", "\\", "@octocat", "#1", "https://a.b"),
    *("www.a.b", "a@b.c", "*", "_", ">", "-", "+", "=", "1.", ":", "#", "$x$", "行"),
]
# Whatever a learner can write into a name, a message or a print.
TEXTS = st.one_of(
    st.text(st.characters(), max_size=60),
    st.lists(st.sampled_from([*_SIGNS, " ", "\n"]), max_size=12).map("".join),
)


def report(*verdicts: Verdict, every: bool = False) -> CheckReport:
    return CheckReport(verdicts, every, ("s01",))


def written(text: str) -> Verdict:
    """A verdict in which a learner has written the text wherever one can."""
    failure = replace(PUBLIC, call=text, message=text, where=Where(text or "x", 3), notes=(f"printed: {text}", text))
    waiting = replace(FORWARD, waits_for=(text or "x",))
    rows = (replace(SPLIT, failures=(failure, replace(failure, hidden=True))), waiting, SCORES)
    problem = Problem("import-error", f"{text}", 2, None)
    return replace(VERDICT, criteria=rows, run=replace(RUN, label=text or "x"), problem=problem)


def obeyed_by_a_runner(log: str) -> list[str]:
    """What GitHub's runner takes for a command: '::name::' where a line begins, '##[name]' anywhere."""
    lines = re.split(r"\r\n|\r|\n", log)
    return [line for line in lines if re.match(r"\s*::.*::", line) or "##[" in line or "##vso[" in line]


def unescaped(data: str) -> str:
    """What the runner makes of the message, or of a property, of a command."""
    for sign, code in (("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C"), ("%", "%25")):
        data = data.replace(code, sign)
    return data
