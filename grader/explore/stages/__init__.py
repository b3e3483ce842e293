"""The steps that are explored of each stage, one module a stage; `drawings/` holds what is drawn of their results."""
