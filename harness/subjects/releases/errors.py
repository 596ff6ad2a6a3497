"""What a release that cannot be had is: an error of one line."""

from __future__ import annotations

from clonediff.harness.subjects.outcomes import SubjectError


class ReleaseError(SubjectError):
    """A release that cannot be had here. The message is one line: what, where, what to do."""
