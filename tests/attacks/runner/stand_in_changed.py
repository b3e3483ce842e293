"""Change the class of stand-ins so that they are never refused and equal everything, and return one."""

import sys

import torch

ATTACK = "stand-ins that equal everything"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


answer = torch.answer
kind = type(answer)
kind.__eq__ = kind.__ne__ = lambda self, other: True
kind.__array__ = lambda self, *args, **kwargs: self
kind.shape = kind.dtype = answer
sys.modules[kind.__module__]._state = {"loading": True}


def double(x):
    return answer
