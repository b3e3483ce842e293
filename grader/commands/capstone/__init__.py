"""The command `grader capstone` and what stands below it. Only `grader/cli.py` imports it. Begin with `commands.py`."""
