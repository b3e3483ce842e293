"""The findings of `grader doctor`: Python, packages, isolation tiers, the terminal, the course, the progress file.

Only commands import it. Begin with `health.py`; `guards.py` tries out what isolation holds back.
"""
