"""A judge where the system cannot fork: a process that stays, loads a stage's tests once, and judges what it is given.

Run by `subprocesses.Standing`, which writes to its standard input what it has to know: the stage, the file of the
slate, and a port with the token that proves who connects.
"""

from __future__ import annotations

import json
import socket
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from grader.course.manifest import load_course
from grader.course.stage import Limits, Stage
from grader.isolation import tiers
from grader.judging.processes import bounds
from grader.judging.processes.messages import JudgeGone, Messages
from grader.judging.processes.slate import Slate


def main() -> None:
    """Connect, then judge one charge after the other until the other end closes."""
    spec = json.load(sys.stdin.buffer)
    connection = socket.create_connection(("127.0.0.1", spec["port"]))
    connection.sendall(bytes.fromhex(spec["token"]))
    messages = Messages(connection)
    bounds.one_thread()
    from grader.judging.collecting.content import test_files
    from grader.judging.suite import Suite

    stage = stage_of(spec)
    suite = Suite(stage, test_files(stage))
    bounds.die_of_it()
    bounds.bound_memory(stage.limits.judge_mb)
    slate = Slate(Path(spec["slate"]))
    messages.send("ready")
    try:
        while True:
            _, (plain,) = messages.receive()
            _judge(suite, slate, plain, messages)
    except JudgeGone:
        pass


def stage_of(spec: dict[str, Any]) -> Stage:
    """Return the stage that a judge is for, as the other process knows it."""
    course = load_course(Path(spec["root"]), Path(spec["hidden"]))
    stage = course.find(spec["stage"])
    key = Path(spec["key"]) if spec["key"] else None
    return replace(stage.with_key(key), limits=Limits(**spec["limits"]))


def _judge(suite: Any, slate: Slate, plain: dict[str, Any], messages: Messages) -> None:
    from grader.judging.collecting import content
    from grader.judging.judge import Charge, judge
    from grader.judging.task import Task
    from grader.remote.processes.loading import Job

    hunt, ahead = plain["task"]["hunt"], plain["task"]["ahead"]
    task = Task(**{**plain["task"], "hunt": tuple(hunt) if hunt else None, "ahead": tuple(ahead)})
    own = {"hide": Path(plain["job"]["hide"]), "packages": tuple(plain["job"]["packages"])}
    own["lent"] = tuple((name, label, text) for name, label, text in plain["job"]["lent"])
    job = Job(**{**plain["job"], **own, "contract": suite.stage.whole_contract})
    answers = partial(content.answers, suite.stage, job.source) if plain["explains"] else None
    rows, done = frozenset(plain["slow_rows"]), frozenset(plain["done"])
    charge = Charge(
        suite, task, job, plain["tier"], False, answers, slate, plain["first"], plain["doubted"], rows, done
    )
    judge(charge, messages, tiers.Own(charge.tier, job.hide, False, packages=job.packages))
