"""The child process of a subject: runs trials, draws graphs, and audits classes."""
