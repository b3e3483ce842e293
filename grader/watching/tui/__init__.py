"""The full screen of `grader watch`, in Textual: only this folder imports it, and only the command imports this folder.

Begin with `app.py`.
"""
