"""Results become statuses and a summary; what was not graded is an error, and a token goes nowhere else."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from grader.classroom.publish import MAX_DESCRIPTION, Commit, Status, post, receipt, status, summary
from grader.classroom.results import Result, Row
from grader.course.provenance import Provenance
from grader.course.stage import Criterion, Stage
from grader.criterion import KindCount
from grader.errors import GraderFault, UsageError

STAGE = Stage("s15", Path("stages/s15_attention"), "Attention mechanisms", "attention.py", (), ())
ROWS = (Row("scores are QKᵀ/√d_k", "passed", 5, 5), Row("a | b <b>", "not_started", 0, 3))
FAILED = Result(STAGE, ROWS, False, 40817, "bubblewrap", "ab" * 32)
PASSED = Result(STAGE, ROWS[:1], True, 7, "bubblewrap", "ab" * 32)
UNGRADED = Result(STAGE, why="the grader failed, which is not the student's fault")
COMMIT = Commit("class/ada", "a" * 40)


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
    told = summary([replace(FAILED, rows=rows)], COMMIT)
    assert "| ◐ | a &#124; b" in told and "| values right, 1 of 1 edge cases wrong | 2 of 3 |" in told


def test_a_row_that_passes_says_what_robustness_is_missing_and_the_status_counts_it() -> None:
    kinds = (KindCount("values", 2, 2), KindCount("refusals", 0, 1))
    rows = (replace(ROWS[1], status="passed", passed=2, kinds=kinds),)
    result = replace(FAILED, rows=rows, passed=True)
    assert "| passed, 1 of 1 refusals missing | 2 of 3 |" in summary([result], COMMIT)
    assert status(result).description.startswith("1 of 1 criteria pass, 0 robust (seed ")
    assert status(result).state == "success"
