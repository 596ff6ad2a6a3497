"""The child process of a subject, and what it answers: trials, draws, what a release has, proposals, audits."""
