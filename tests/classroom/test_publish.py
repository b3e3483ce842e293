"""Results, published: of one student or a whole class, for each student whatever befalls another."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from grader.classroom import publish
from grader.classroom.ci_roster import Student
from grader.classroom.publish import (
    MAX_DESCRIPTION,
    Status,
    StudentResults,
    class_summary,
    expect_all_graded,
    gather,
    in_gradebook,
    post,
    post_all,
    receipt,
    status,
    summary,
)
from grader.classroom.results import GradedCriterion, StageResult
from grader.course.provenance import Provenance
from grader.course.stage import Criterion, Stage
from grader.criterion import KindCount
from grader.errors import GraderFault, UsageError
from grader.gradebook.policy import Policy

STAGE = Stage("s15", Path("stages/s15_attention"), "Attention mechanisms", "attention.py", (), ())
ROWS = (GradedCriterion("scores are QKᵀ/√d_k", "passed", 5, 5), GradedCriterion("a | b <b>", "not_started", 0, 3))
FAILED = StageResult(STAGE, ROWS, False, 40817, "bubblewrap", "ab" * 32)
PASSED = StageResult(STAGE, ROWS[:1], True, 7, "bubblewrap", "ab" * 32)
UNGRADED = StageResult(STAGE, why="the grader failed, which is not the student's fault")
COMMIT = Student("ada", "class/ada", "a" * 40)


def test_a_stage_that_does_not_pass_is_a_failure() -> None:
    assert status(FAILED) == Status("grader/s15", "failure", "1 of 2 criteria pass (seed 40817)")


def test_a_stage_that_passes_is_a_success() -> None:
    assert status(PASSED) == Status("grader/s15", "success", "1 of 1 criteria pass (seed 7)")


def test_a_stage_that_was_not_graded_is_an_error() -> None:
    found = status(UNGRADED)
    assert (found.state, found.context) == ("error", "grader/s15")
    assert found.description == "Not graded, no marks lost: the grader failed, which is not the student's fault"


def test_a_description_is_as_short_as_github_wants_it() -> None:
    found = status(replace(UNGRADED, why="x" * 500)).description
    assert len(found) == MAX_DESCRIPTION
    assert found.endswith("x…")


def test_the_summary_names_commit_rows_and_counts() -> None:
    text = summary([FAILED, UNGRADED], COMMIT)
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert "<code>class/ada@aaaaaaaaaaaa</code>" in html
    assert "<td>not started</td>\n<td>0 of 3</td>" in html
    assert "<td>a | b &lt;b&gt;</td>" in html
    assert "seed 40817 · isolation bubblewrap · module abababababab" in html
    assert "<strong>Not graded</strong>: the grader failed" in html


def test_a_receipt_says_what_was_found() -> None:
    rows = tuple(Criterion(name, "", (), (), ("", "", "")) for name in ("scores", "split-heads"))
    result = replace(FAILED, stage=replace(STAGE, criteria=rows), python="3.13.1", numpy="2.4.0")
    course = Provenance("c" * 40, False, None, "3.11.0", "1.26.0")
    found = receipt(result, COMMIT, course, datetime(2026, 11, 21, tzinfo=UTC))
    assert (found.stage, found.submission, found.seed, found.passed) == ("s15", "ab" * 32, 40817, False)
    assert (found.isolation, found.feedback, found.when) == ("bubblewrap", "full", "2026-11-21T00:00:00+00:00")
    assert found.criteria == {"scores": "passed", "split-heads": "not_started"}
    made = found.provenance
    assert (made.commit, made.python, made.numpy) == ("c" * 40, "3.13.1", "2.4.0")
    assert (made.student, made.revision) == (COMMIT.repository, COMMIT.revision)


def test_what_was_not_graded_has_no_receipt() -> None:
    with pytest.raises(GraderFault, match="no receipt is given for s15: the grader failed"):
        receipt(UNGRADED, COMMIT, Provenance(), datetime(2026, 11, 21, tzinfo=UTC))


class _GitHub(http.server.BaseHTTPRequestHandler):
    asked: list[tuple[str, dict[str, str], Any]] = []  # noqa: RUF012  # each fixture makes a class of its own

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, dict(self.headers), body))
        codes = {"grader/no": 403, "grader/moved": 307}
        self.send_response(codes.get(body["context"], 201))
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def github() -> Iterator[tuple[str, list[tuple[str, dict[str, str], Any]]]]:
    """GitHub's interface, as far as statuses go; it refuses grader/no and sends grader/moved elsewhere."""
    handler = type("Handler", (_GitHub,), {"asked": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}", handler.asked  # type: ignore[attr-defined]
        httpd.shutdown()


Github = tuple[str, list[tuple[str, dict[str, str], Any]]]


def test_a_status_is_put_beside_the_commit(github: Github) -> None:
    url, asked = github
    post([status(FAILED)], COMMIT, f"{url}/", "secret", "https://example.org/run")
    ((path, headers, body),) = asked
    assert path == f"/repos/class/ada/statuses/{'a' * 40}"
    assert headers["Authorization"] == "Bearer secret"
    assert body == {
        "state": "failure",
        "context": "grader/s15",
        "description": "1 of 2 criteria pass (seed 40817)",
        "target_url": "https://example.org/run",
    }


def test_without_a_page_no_link_is_made(github: Github) -> None:
    url, asked = github
    post([status(FAILED)], COMMIT, url, "secret")
    assert "target_url" not in asked[0][2]


def test_the_others_are_put_there_where_one_is_refused(github: Github) -> None:
    url, asked = github
    with pytest.raises(GraderFault) as caught:
        post([Status("grader/no", "error", ""), Status("grader/s15", "success", "")], COMMIT, url, "secret")
    assert caught.value.message == "not published: grader/no: the server answers 403"
    assert "PUBLISH_TOKEN" in str(caught.value.hint)
    assert [body["context"] for _, _, body in asked] == ["grader/no", "grader/s15"]


def test_the_token_does_not_follow_to_another_place(github: Github) -> None:
    url, asked = github
    with pytest.raises(GraderFault, match="the server answers 307"):
        post([Status("grader/moved", "error", "")], COMMIT, url, "secret")
    assert len(asked) == 1


def test_a_server_that_is_not_there_is_said() -> None:
    with pytest.raises(GraderFault, match="not published: grader/s15: URLError"):
        post([status(FAILED)], COMMIT, "http://127.0.0.1:1", "secret")


@pytest.mark.parametrize("server", ["http://api.github.com", "file:///etc", "api.github.com", ""])
def test_a_token_is_sent_over_https_only(server: str) -> None:
    with pytest.raises(UsageError, match="is not an address to publish to"):
        post([status(FAILED)], COMMIT, server, "secret")


def test_a_row_whose_values_are_right_has_a_mark_of_its_own() -> None:
    kinds = (KindCount("values", 2, 2), KindCount("edges", 0, 1))
    rows = (replace(ROWS[1], status="failed", passed=2, kinds=kinds),)
    told = summary([replace(FAILED, criteria=rows)], COMMIT)
    assert "| ◐ | a &#124; b" in told and "| values right, 1 of 1 edge cases wrong | 2 of 3 |" in told


def test_a_row_that_passes_says_what_robustness_is_missing_and_the_status_counts_it() -> None:
    kinds = (KindCount("values", 2, 2), KindCount("refusals", 0, 1))
    rows = (replace(ROWS[1], status="passed", passed=2, kinds=kinds),)
    result = replace(FAILED, criteria=rows, passed=True)
    assert "| passed, 1 of 1 refusals missing | 2 of 3 |" in summary([result], COMMIT)
    assert status(result).description.startswith("1 of 1 criteria pass, 0 robust (seed ")
    assert status(result).state == "success"


TWO = (GradedCriterion("one", "passed", 5, 5), GradedCriterion("two", "failed", 0, 3))
ADAS = StageResult(STAGE, TWO[:1], True, 7, "bubblewrap", "ab" * 32)
BOBS = StageResult(STAGE, TWO, False, 7, "bubblewrap", "ab" * 32)
EVES = StageResult(STAGE, why="no verdict")


def student(name: str) -> Student:
    return Student(name, f"class/{name}", "a" * 40)


CLASS = (
    StudentResults(student("ada"), (ADAS,)),
    StudentResults(student("bob_the_b"), (BOBS,)),
    StudentResults(student("eve"), (EVES,)),
)


def test_a_class_is_a_table_with_details_below() -> None:
    html = MarkdownIt("commonmark").enable("table").render(class_summary(CLASS))
    assert html.startswith("<h2>3 students</h2>\n<table>")
    assert "<td>bob_the_b</td>\n<td><code>class/bob_the_b@aaaaaaaaaaaa</code></td>\n<td>✗ 1 of 2</td>" in html
    assert html.count("<details>") == html.count("</details>") == 3
    assert "<td>not graded</td>" in html


def test_one_student_needs_no_table() -> None:
    assert class_summary(CLASS[:1]) == summary([ADAS], CLASS[0].student)


def test_a_summary_has_room_for_so_much() -> None:
    whole = class_summary(CLASS)
    cut = class_summary(CLASS, len(whole.encode()) - 1)
    assert len(cut.encode()) < len(whole.encode())
    assert cut.count("<details>") == cut.count("</details>") == 2
    assert cut.rstrip().endswith("results.csv._")


def test_the_results_are_those_of_a_gradebook(tmp_path: Path) -> None:
    about = {"submitted": "2026-11-20T10:00:00+00:00"}
    (tmp_path / "verdict-ada-s15").mkdir()
    (tmp_path / "verdict-ada-s15" / "about.json").write_text(json.dumps(about), encoding="utf-8")
    rows = tuple(Criterion(name, "", (), (), ("", "", "")) for name in ("scores", "split-heads"))
    one, two = (replace(STAGE, criteria=rows[:many]) for many in (1, 2))
    absent = StageResult(two, why="nothing was handed in", is_missing=True)
    graded = (
        StudentResults(student("ada"), (replace(ADAS, stage=one),)),
        StudentResults(student("bob_the_b"), (replace(BOBS, stage=two),)),
        StudentResults(student("eve"), (replace(EVES, stage=two),)),
        StudentResults(Student("fay", "class/fay", ""), (absent,)),
    )
    found = in_gradebook(graded, tmp_path, Policy(), {}, datetime(2026, 11, 22, tzinfo=UTC))
    assert [(each.student, each.outcome, each.points) for each in found] == [
        ("ada", "graded", 1.0), ("bob_the_b", "graded", 1.0), ("eve", "fault", None), ("fay", "missing", 0.0),
    ]  # fmt: skip
    assert found[0].submitted is not None and found[0].submitted.hour == 10
    assert (found[0].label, found[2].fault) == (f"class/ada@{'a' * 40}", "no verdict")


def test_the_others_are_published_where_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def post(statuses: Sequence[Status], commit: Student, *_: object) -> None:
        sent.append(commit.repository)
        if commit.repository != "class/eve":
            raise GraderFault("not published", "a hint")

    monkeypatch.setattr(publish, "post", post)
    with pytest.raises(GraderFault) as caught:
        post_all(CLASS, "https://api.github.com", "token")
    assert sent == ["class/ada", "class/bob_the_b", "class/eve"]
    assert caught.value.message == "ada, not published; bob_the_b, not published"
    assert caught.value.hint == "a hint"


@pytest.mark.parametrize(("count", "pauses"), [(60, 0), (61, 60)])
def test_many_statuses_are_given_time(count: int, pauses: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "post", lambda *_: None)
    slept: list[float] = []
    post_all([CLASS[0]] * count, "https://api.github.com", "token", slept.append)
    assert slept == [publish.PAUSE] * pauses


def test_whoever_was_not_graded_is_named() -> None:
    expect_all_graded(CLASS[:2])
    with pytest.raises(GraderFault) as caught:
        expect_all_graded([CLASS[0], *[CLASS[2]] * 7])
    assert caught.value.message == f"not graded: {'; '.join(['eve, s15: no verdict'] * 5)}; and 2 more"


def test_verdicts_are_looked_for_under_the_roster_s_names(tmp_path: Path) -> None:
    (tmp_path / "verdict-ada-s15").mkdir()
    (tmp_path / "verdict-ada-s15" / "verdict.json").write_text("{}", encoding="utf-8")
    here, elsewhere = (gather(tmp_path, [student(name)], [STAGE], ()) for name in ("ada", "bob"))
    assert "cannot be read (No such file" not in here[0].results[0].why
    assert "cannot be read (No such file" in elsewhere[0].results[0].why
