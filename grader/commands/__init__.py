"""The commands of `grader`, without logic: each parses its options, calls, prints, and sets the exit code.

Nothing imports it but `grader/cli.py`. Begin there.
"""
