"""What is wrong with an answer: how two values differ, which known mistake explains it, and what speaks against that.

Trusted; it works on values that have arrived and on the answers of the course. Stage tests, `judging` and what shows
values import it. Begin with `causes.py`; `comparison/` is about how two values differ, `gradients.py`
about those of a backward pass, `exceptions/` about what an exception means.
"""
