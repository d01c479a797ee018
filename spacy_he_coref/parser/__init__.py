"""Dependency trees over segments."""
