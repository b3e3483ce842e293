"""The commands of `grader class`: parse options, call, print, and set the exit code.

Only the command line imports it. `commands.py` names them; begin with `grading.py`.
"""
