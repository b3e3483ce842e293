"""Submissions of a stage that share unusually much: for instructors, to be looked at; nothing here grades.

Only commands import it. Begin with `compare.py` (the class and its pairs); `tokens.py` says what a text is reduced to,
`folding.py` finds what does nothing in it, and `page.py` shows pairs as JSON and side by side.
"""
