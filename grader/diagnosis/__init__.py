"""Explain a wrong answer: how two values differ, and which known mistake or edit is its cause.

Trusted; it works on values that have arrived and on the answers of the course. Stage tests, `judging` and what shows
values import it. Begin with `causes.py`; `comparison/` is about how two values differ, `gradients.py`
about those of a backward pass, `exceptions/` about what an exception means.
"""
