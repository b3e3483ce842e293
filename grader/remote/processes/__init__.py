"""A learner's process as the trusted side has it: what it loads, a process for each test, and room for them.

`judging`, `explore`, `doctor` and measurements use it; `isolation` starts what runs at the other end. Begin with
`process.py`.
"""
