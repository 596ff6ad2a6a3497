"""Trials of one graph on one subject.

`cases` turns a graph into a `Case`. `trial` sends it to the subject's child process, which returns observations of the
original and of each clone. `checks` compares these, and finds the causes. `triage` gives each cloner a verdict and each
cause a fingerprint. `graph_trials` looks the causes up among the known issues.
"""
