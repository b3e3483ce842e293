"""What the commands of `grader class` do with their options: parse, call, print, and set the exit code.

Only the command line imports it. `commands.py` names them; begin with `grading.py`.
"""
