"""Which small slip explains a wrong answer: changes of the reference that answer as the learner's module did.

Trusted; `judging` and `authoring` import it. Begin with `search.py`: it tries the changes that `candidates.py` lists, one
after the other, by `patch.py`; `wording/` says what a change is without a line of the reference.
"""
