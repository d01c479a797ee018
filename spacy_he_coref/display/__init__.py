"""Clusters to look at: an HTML page, a notebook's cell, a terminal."""

from .html import render

__all__ = ["render"]
