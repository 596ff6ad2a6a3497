"""What is under test: a release, a backend, a device; and the warm process in which it runs."""

from harness.subjects.case import Case
from harness.subjects.outcomes import (
    ElementsReport,
    Killed,
    NoDeviceError,
    Outcome,
    OutOfMemory,
    Ready,
    SubjectError,
    TimedOut,
)
from harness.subjects.process import Limits, SubjectProcess
from harness.subjects.subject import Subject

__all__ = [
    "Case",
    "ElementsReport",
    "Killed",
    "Limits",
    "NoDeviceError",
    "OutOfMemory",
    "Outcome",
    "Ready",
    "Subject",
    "SubjectError",
    "SubjectProcess",
    "TimedOut",
]
