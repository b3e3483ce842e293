"""What makes the data of the capstone; the author's copy alone holds it."""
