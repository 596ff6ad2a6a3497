"""Trials of one graph on one subject.

`cases` turns a graph into a `Case`. `trial` sends it to the subject's process, and receives observations of the
original and each clone. `checks` compares them and finds the causes. `triage` gives each cloner a verdict and each
cause a fingerprint, and `graph_trials` looks the causes up among the known issues.
"""
