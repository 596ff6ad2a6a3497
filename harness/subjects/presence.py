"""What this machine has for a subject, told without starting one: packages that are installed, GPUs of the driver.

A package that is there may still fail to import, and a GPU be one that a backend cannot use: that is known once the
subject has started, and is then a `SubjectError`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

from clonediff.harness.subjects.subject import Subject

_DRIVER = Path("/proc/driver/nvidia/gpus")


def missing(subject: Subject) -> str | None:
    """What this machine lacks for a subject, as a sentence; None where nothing is known to be amiss."""
    for package in _wanted(subject):
        lacking = without(subject, package)
        if lacking is not None:
            return lacking
    if subject.device == "gpu":
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
        if hidden is not None and hidden.strip() in ("", "-1"):
            return f"{subject}: CUDA_VISIBLE_DEVICES={hidden!r} hides every GPU"
        if not gpus():
            return f"{subject}: no GPU on this machine: neither nvidia-smi nor {_DRIVER} names one"
    return None


def without(subject: Subject, package: str) -> str | None:
    """What to do where a package that a subject needs is not installed beside clonediff; None where it is."""
    if importlib.util.find_spec(package) is not None:
        return None
    return f"{subject}: {package} is not installed beside clonediff: pip install {package}"


def _wanted(subject: Subject) -> tuple[str, ...]:
    """The packages that have to be installed beside clonediff; of a release, what it is laid over."""
    if subject.version is None:
        return tuple(dict.fromkeys((subject.package, subject.backend)))
    return (subject.backend,)


@functools.cache
def gpus() -> tuple[str, ...]:
    """The GPUs that the NVIDIA driver names; none where there is no driver."""
    command = shutil.which("nvidia-smi")
    if command is not None:
        try:
            listed = subprocess.run([command, "-L"], capture_output=True, text=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            listed = None
        if listed is not None and listed.returncode == 0:
            return tuple(line for line in listed.stdout.splitlines() if line.startswith("GPU "))
    try:
        return tuple(sorted(each.name for each in _DRIVER.iterdir()))
    except OSError:
        return ()
