"""A learner's process as the trusted side has it: what it loads, a process for each test, and room for them.

`judging` and `explore` use it. Begin with `process.py`.
"""
