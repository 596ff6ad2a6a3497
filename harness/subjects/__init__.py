"""What is under test: a release of Keras, a backend, a device, and the warm process in which it runs.

A text such as `keras==3.10.0/jax` is a `Subject`. `releases` finds its folder or installs it. `SubjectProcess` starts
`child` there, sends each `Case` as a line of JSON, and returns the answer, or what became of the process where there is
none.
"""

from clonediff.harness.observation import Case
from clonediff.harness.subjects.outcomes import Lost, NoDeviceError, SubjectError
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.subject import Subject

__all__ = ["Case", "Limits", "Lost", "NoDeviceError", "Subject", "SubjectError", "SubjectProcess"]
