"""Import pytest at the top, as the patches of test reports do."""

import pytest

ATTACK = "pytest imported at the top"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


pytest.fail = lambda *args: None


def double(x):
    return x
