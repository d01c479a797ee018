"""Evaluation: metrics as pure functions, and what the commands run."""
