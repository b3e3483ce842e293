"""Judges as processes: how one is forked or started, bounded, talked to, and what is left when it dies.

Trusted; `judging` and what looks at values outside of a grading import it. Begin with `forked.py`; where nothing can be
forked, `subprocesses.py` and `standing.py` stand in its place.
"""
