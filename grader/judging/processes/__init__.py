"""Judges as processes: how one is forked or started, bounded, talked to, and what is left when it dies.

Trusted; `judging` and what looks at values outside of a grading import it. Begin with `staff.py`, which has the
judges of one grader work: `forked.py`, or where nothing forks `subprocesses.py` and `standing.py`.
"""
