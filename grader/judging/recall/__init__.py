"""What a kept grader remembers: tests that passed, by the answers that they went on from.

Only `judging` comes in. Begin with `recalling.py`; `memory.py` is what outlives a judge.
"""
