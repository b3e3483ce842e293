"""What this course holds against what its stages forbid: every known answer is read without a refusal."""

from __future__ import annotations

import pytest

from grader.authoring.cases import alternative_cases, mistake_cases, reference_cases
from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.submission import Snapshot
from grader.submission.source import Reading, check_source
from grader.tests.support.places import ROOT

STAGES = [stage for stage in load_course(ROOT).stages if stage.forbidden.operators or stage.forbidden.names]


@pytest.mark.some_of(4, "stages", "hidden")
@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.id)
def test_no_answer_of_the_course_is_refused(stage: Stage) -> None:
    cases = [*reference_cases(stage, [0]), *alternative_cases(stage, [0]), *mistake_cases(stage, [0])]
    assert len(cases) > 10
    snapshots = [Snapshot(stage.module, case.source.encode(), "", stage.module_path, case.name) for case in cases]
    assert [each.label for each in snapshots if check_source(stage, each) != Reading()] == []


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.id)
def test_no_stub_is_refused(stage: Stage) -> None:
    snapshot = Snapshot(stage.module, stage.module_path.read_bytes(), "", stage.module_path, stage.module)
    assert check_source(stage, snapshot) == Reading()
