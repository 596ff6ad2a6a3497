"""Proposed fixes of `clone_model`: read, put in the place of the release's own, tried, judged, put in words."""
