"""One graph on one subject: the only place that clones and compares.

`cases` makes a `Case` of a graph. `trial` sends it to the subject's process and gets the observations of the original
and of each clone. `checks` compares them and says which differences are causes. `triage` gives each cloner a verdict
and each cause a fingerprint, and `graph_trials` looks the causes up among the known issues.
"""
