"""How much later than asked for something may end on a machine that others use, too."""

SLACK = 20.0  # seconds; what is waited for without an end would take longer
