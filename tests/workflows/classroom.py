"""grade.yml played as GitHub plays it: jobs of a matrix, artifacts under the names that it gives them, and statuses."""

from __future__ import annotations

import fnmatch
import http.server
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.authors_copy import AuthorsCopy
from tests.support.repositories import commit, make
from tests.support.workflows import GRADE, Document, Runner, carry, read

LEFT = ("class", "verdicts", "results")
INPUTS = {"stages": '["s01"]', "isolation": "bubblewrap", "feedback": "hint", "lend": "passed"}
Completed = subprocess.CompletedProcess[str]


class _GitHub(http.server.BaseHTTPRequestHandler):
    statuses: list[dict[str, str]] = []  # noqa: RUF012  # each server makes a class of its own

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.statuses.append({"path": self.path, **body})
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def github() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Serve what takes statuses, and yield its address and what it was sent."""
    handler: Any = type("Handler", (_GitHub,), {"statuses": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}", handler.statuses
        httpd.shutdown()


@dataclass
class Played:
    """A job: its runner, and how the step with its name ended; None where a step before it failed."""

    runner: Runner
    done: Completed | None

    @property
    def code(self) -> int | None:
        return None if self.done is None else self.done.returncode


class Class:
    """Students' repositories on a server, and one run of the workflow."""

    def __init__(self, folder: Path, course: AuthorsCopy, api: str, statuses: list[dict[str, str]]) -> None:
        self.folder, self.course, self.api, self.statuses = folder, course, api, statuses
        self.workflow: Document = read(GRADE)
        self.artifacts = folder / "artifacts"
        self.signing_key = ""
        self.outputs: dict[str, str] = {}

    def push(self, name: str, files: Mapping[str, bytes]) -> str:
        """Commit files to a student's repository, and return the commit."""
        return commit(make(self.folder / "server" / "class" / f"{name}.git"), dict(files))

    def run(self, **inputs: str) -> dict[str, Played]:
        """Play the workflow; the jobs of a matrix are named as in `grade 1`."""
        played = {"roster": self._play("roster", inputs)}
        if played["roster"].code != 0:
            return played
        said = played["roster"].runner.said("GITHUB_OUTPUT").splitlines()
        self.outputs = dict(line.split("=", 1) for line in said)
        for batch in json.loads(self.outputs["batches"]):
            played[f"grade {batch}"] = self._play("grade", inputs, str(batch))
        played["publish"] = self._play("publish", inputs)
        return played

    def _play(self, job: str, inputs: Mapping[str, str], batch: str = "") -> Played:
        values = {f"inputs.{key}": text for key, text in {**INPUTS, **inputs}.items()}
        values |= {f"needs.roster.outputs.{key}": text for key, text in self.outputs.items()}
        values |= {"matrix.batch": batch, "secrets.PUBLISH_TOKEN": "publish-secret"}
        values |= {"secrets.SIGNING_KEY": self.signing_key}
        name = "-".join(filter(None, ("runner", job, batch)))
        played = Played(Runner(self.course.root, self.folder / name), None)
        sound = True
        for each in self.workflow["jobs"][job]["steps"]:
            if not sound and "!cancelled()" not in each.get("if", ""):
                continue
            if "id" in each:
                around = {"GITHUB_SERVER_URL": (self.folder / "server").as_uri(), "GITHUB_API_URL": self.api}
                own = {f"${{{{ {key} }}}}": text for key, text in values.items()}
                played.done = played.runner.run(each, own, **around)
                sound = played.done.returncode == 0
                said = [line.split("=", 1) for line in played.runner.said("GITHUB_OUTPUT").splitlines()]
                values |= {f"steps.{each['id']}.outputs.{key}": text for key, text in said}
            elif "artifact@" in each.get("uses", ""):
                given = {key: filled(str(text), values) for key, text in each["with"].items()}
                sound &= self._carry("upload" in each["uses"], given)
        for left in LEFT:
            shutil.rmtree(self.course.root / left, ignore_errors=True)
        return played

    def _carry(self, up: bool, given: Mapping[str, str]) -> bool:
        """Take an artifact up or down; say whether the step succeeds. One match of a pattern is unpacked flat."""
        here = self.course.root / given["path"]
        if up:
            target = self.artifacts / given["name"]
            if not here.exists():
                return given.get("if-no-files-found") != "error"
            assert not target.exists(), f"{given['name']} is taken already"
            assert re.fullmatch(r"[A-Za-z0-9_-]+", given["name"])
            carry(here, target)
            return True
        pattern = given.get("pattern") or given["name"]
        found = [path for path in sorted(self.artifacts.iterdir()) if fnmatch.fnmatchcase(path.name, pattern)]
        for path in found:
            carry(path, here if len(found) == 1 or given.get("merge-multiple") == "True" else here / path.name)
        return bool(found) or "pattern" in given

    def artifact(self, beginning: str) -> Path:
        """Return the one artifact whose name begins so."""
        (found,) = self.artifacts.glob(f"{beginning}-*")
        return found


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its expressions replaced."""
    return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda found: values[found[1]], text)
