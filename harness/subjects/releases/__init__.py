"""How a release is found on this machine, and installed: from a `Subject` to its `Place`.

Three ways, all of them the real package: laid over the packages beside clonediff (Keras 3, released or from a
tree, and `tf_keras`); on a stack of its own, with the Python and the TensorFlow of its day (Keras 2.2 and 2.3, the
`tf.keras` of TensorFlow 2.0 to 2.15); Keras 2 over the TensorFlow beside clonediff in v1 mode, where there is no such
Python. A release is installed once, in the user's cache folder.
"""

from __future__ import annotations

from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases.placing import place_of
from clonediff.harness.subjects.releases.trees import in_full, split
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.subjects.warm_child import Limits

__all__ = [
    "ReleaseError",
    "in_full",
    "open_subject",
    "place_of",
    "split",
]


def open_subject(subject: Subject, *, limits: Limits | None = None) -> SubjectProcess:
    """The process of a subject, on the release that it names; installs that first where it has to be."""
    return SubjectProcess(subject, limits=limits, place=place_of(subject))
