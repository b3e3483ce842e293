"""Hand in the stand-in of a package in place of a function, and made to equal anything."""

import torch

ATTACK = "a stand-in as the answer"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


double = torch.double
