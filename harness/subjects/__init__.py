"""What is under test: a release, a backend, a device; and the warm process in which it runs."""

from clonediff.harness.subjects.case import Case
from clonediff.harness.subjects.outcomes import Lost, NoDeviceError, SubjectError
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.subject import Subject

__all__ = ["Case", "Limits", "Lost", "NoDeviceError", "Subject", "SubjectError", "SubjectProcess"]
