"""Segmentation of written words into morphemes."""
