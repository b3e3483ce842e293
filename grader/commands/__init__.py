"""What each command of `grader` does with its options: parse, call, print, and set the exit code; no logic.

Nothing imports it but `grader/cli.py`. Begin there.
"""
