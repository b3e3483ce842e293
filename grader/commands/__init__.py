"""The commands with more to them than one call: what is called in which order, what is printed, which exit code."""
