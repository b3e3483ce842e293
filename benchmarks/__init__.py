"""Benchmarks of the grader: `uv run --group benchmarks python -m benchmarks` in a course's folder.

Every figure is processor time of a whole process tree (`processor`), as a ratio of runs that alternate (`result`), of
the command line that users have. `cold`, `saves`, `classes` and `million` measure; `submissions` makes up a class,
`graders` has the commands of this grader and of those that it is measured beside.
"""
