"""The child process of a subject. It runs trials, draws graphs, lists a release's layers, and audits classes."""
