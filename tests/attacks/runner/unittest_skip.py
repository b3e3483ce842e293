"""Raise unittest.SkipTest, which several runners turn into a skipped, so not a failed, test."""

import unittest

ATTACK = "unittest.SkipTest inside the function"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    raise unittest.SkipTest("not today")
