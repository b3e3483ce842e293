"""Measurements of the grader's own speed: `python -m grader.bench.check`, `warm`, `watch`, `wire`, `neighbours` and
`classes`.
"""
