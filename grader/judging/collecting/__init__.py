"""The files of a stage's tests, as pytest collects them: which they are, where their text comes from, what they expect.

Trusted; `suite.py` enters, and whoever grades asks `content.py` what a stage's tests and answers are. `memory_files.py`
gives pytest files that lie sealed, and `expectations.py` notes the exceptions that a test asks for.
"""
