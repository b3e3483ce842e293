"""Measurements of the grader's own speed: `python -m grader.bench.check` and `python -m grader.bench.wire`."""
