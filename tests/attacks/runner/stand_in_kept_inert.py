"""Keep stand-ins inert while tests run, and let one of the package's functions answer."""

import sys

import torch

ATTACK = "stand-ins kept inert"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


sys.modules["grader.worker.loading"]._use = lambda *args: None


def double(x):
    return torch.mul(x, 2)
