"""Subjects under test: a release of Keras, a backend, a device, and their process.

`Subject.parse("keras==3.10.0/jax")` is a subject. `releases` finds or installs its code. `SubjectProcess` starts a
child process with that code, sends each `Case` as a line of JSON, and returns the answer, or how the process was lost.
"""

from clonediff.harness.observation import Case
from clonediff.harness.subjects.outcomes import Lost, NoDeviceError, SubjectError
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.subject import Subject

__all__ = ["Case", "Limits", "Lost", "NoDeviceError", "Subject", "SubjectError", "SubjectProcess"]
