"""Segmenter backends, each registered in ``misc`` and imported when chosen."""
