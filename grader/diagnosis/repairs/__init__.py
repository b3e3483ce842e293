"""Finds the small change that would make a learner's own lines right, and says what stands there now.

Entered by `diagnosis/evidence` alone. The changed module runs where the learner's module runs, never in this process:
its text goes over the pipe, its answers are compared here. Begin reading at `search.py`.
"""
