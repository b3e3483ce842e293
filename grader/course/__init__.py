"""For the authors of the course."""
