"""What the exploration of each stage draws of what its steps found, one module a stage."""
