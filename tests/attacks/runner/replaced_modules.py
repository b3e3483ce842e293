"""Replace the grader's modules in sys.modules by fakes."""

import sys
import types

import numpy as np

ATTACK = "sys.modules overwritten"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


for name in (
    "grader",
    "grader.testing",
    "grader.diagnosis.comparison",
    "grader.judging.grading",
    "pytest",
    "numpy.testing",
):
    fake = types.ModuleType(name)
    fake.assert_array = fake.compare = fake.decide = lambda *args, **kwargs: None
    sys.modules[name] = fake


def double(x):
    return np.zeros_like(x)
