"""Keras in the process of the command line itself: how it is set up and imported."""

from __future__ import annotations

import os
from typing import Any

from clonediff.harness.subjects.environment import environment
from clonediff.harness.subjects.subject import Subject
from clonediff.strategies.program import Generation


def keras_here(generation: Generation) -> Any:
    """The framework of a generation, set up as a subject's process is. What TensorFlow says when it starts is left out.

    A variable of the environment that is set already is left alone.
    """
    for name, value in environment(Subject.parse(generation)).items():
        os.environ.setdefault(name, value)
    before, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        from clonediff.harness.inside.frameworks import framework

        return framework(generation)
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)
