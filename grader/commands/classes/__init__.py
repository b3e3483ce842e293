"""What the commands of `grader class` do with their options: parse, call, print, and set the exit code.

Only `class_.py` enters. Begin with `grading.py`.
"""
