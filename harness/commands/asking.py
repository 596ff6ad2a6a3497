"""What several commands make of their options."""

from __future__ import annotations

from harness.subjects.subject import Subject
from strategies.kinds import Generation


def generation_of(subject: Subject) -> Generation:
    """The generation of graphs that a subject builds."""
    return "tf_keras" if subject.generation == "tf_keras" else "keras"
