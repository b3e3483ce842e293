"""Import the hidden package at the top of the module."""

from hidden.s01_matrix_operations import solution

ATTACK = "grader imported at the top"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return solution
