"""Checks failures and warnings, and finds an exception's frame and layer.

made: the cloner does not raise on a model that built and ran.

warned: cloning gives no warning that building the model did not give.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from clonediff.harness.inside.cloners.users import NO_MODEL
from clonediff.harness.observation import Failure, Frame, Structure
from clonediff.harness.subjects.outcomes import OUT_OF_MEMORY, TIMED_OUT
from clonediff.harness.trials.checks.alignment import Pair
from clonediff.harness.trials.checks.aspects import Aspect
from clonediff.harness.trials.checks.paths import place, shorten
from clonediff.reports.records import CRASH, PROPERTY, Difference, Place, Raised

_made = functools.partial(Aspect, "made", "derived", CRASH)
CLONING_REFUSED = _made("", "raises", "{refused} cannot be cloned", "raises", exclusive=True)
NOT_A_MODEL = _made("", "no model", "the cloner returns no Functional or Sequential model", "is a model")
NOT_BUILT = _made("", "original refused", "the original cannot be built or run", "raises")
_CLONING = "cloning a model, or running the clone, "
PROCESS_LOST = (
    _made("process", "", _CLONING + "does not end in time", "raises", names=TIMED_OUT),
    _made("process", "", _CLONING + "takes too much memory", "raises", names=OUT_OF_MEMORY),
    _made("process", "", _CLONING + "ends its process", "raises", names="*"),
)
_WARNING = "cloning warns of something that building does not"
WARNING = Aspect("warned", "derived", PROPERTY, "", "raises", _WARNING, "raises", exclusive=True)

_FRAMEWORK_FILES = re.compile(r"^(keras|tf_keras|keras_core|tensorflow(_core)?/python/keras|inside/cloners|fixed)/")
_HELPER_FILES = re.compile(r"/traceback_utils\.py$|/src/backend/(?!common/)[a-z]+/|/autograph/|/optree/|/tree/")

_CALL_FILES = re.compile(r"/engine/base_layer\w*\.py$|/layers/|/ops/operation\.py$")
"""Files with the `__call__` of layers and operations."""

_COMPILING_FUNCTION = "compile_from_config"
"""This function may deserialize any object: failures in it get its frame."""

_DESERIALIZERS = ("from_config", "deserialize_keras_object")
"""The last functions on the stack if a class cannot read its own config."""


def check_cloning(pair: Pair) -> Iterator[Difference]:
    structure, failure = pair.original.structure, pair.clone.failure
    if failure is not None and failure.type != NO_MODEL:
        yield failure_difference(CLONING_REFUSED, "clone", "a clone", failure, structure)
    elif failure is not None or pair.clone.observation is None:
        expected, found = (f"a {structure.kind} model", failure.message) if failure else ("a clone", "nothing")
        yield NOT_A_MODEL.difference("clone", expected, found, place(structure, -1))


def check_warnings(pair: Pair) -> Iterator[Difference]:
    for number, warning in enumerate(pair.clone.warnings):
        yield failure_difference(WARNING, f"warned[{number}]", "no warning", warning, pair.original.structure)


def innermost_frame(frames: Sequence[Frame]) -> str:
    """The innermost frame of Keras or cloner outside helpers, as "file:function"."""
    keras_frames = [frame for frame in frames if _FRAMEWORK_FILES.match(frame.file)]
    compile_numbers = [number for number, frame in enumerate(keras_frames) if frame.function == _COMPILING_FUNCTION]
    keras_frames = keras_frames[: compile_numbers[0] + 1] if compile_numbers else keras_frames
    inner_frames = [
        frame
        for frame in keras_frames
        if not _HELPER_FILES.search("/" + frame.file) and not frame.function.lstrip("_").startswith("raise_")
    ]
    frame = next((candidates[-1] for candidates in (inner_frames, keras_frames, frames) if candidates), None)
    if len(inner_frames) > 1 and (inner_frames[-2].function, inner_frames[-1].function) == _DESERIALIZERS:
        frame = inner_frames[-2]
    return "" if frame is None else f"{frame.file}:{frame.function}"


def looping_frame(frames: Sequence[Frame]) -> str:
    """The innermost frame of an endless loop outside `utils` of Keras."""
    return innermost_frame([frame for frame in frames if "/utils/" not in frame.file]) or innermost_frame(frames)


def calling_frame(frames: Sequence[Frame]) -> str:
    """The outermost frame that calls a layer, as "file:function"."""
    caller = ""
    for frame in frames:
        if _FRAMEWORK_FILES.match(frame.file) and frame.function == "__call__" and _CALL_FILES.search(frame.file):
            return caller
        if _FRAMEWORK_FILES.match(frame.file) and not _HELPER_FILES.search("/" + frame.file):
            caller = f"{frame.file}:{frame.function}"
    return ""


def layer_in_message(failure: Failure, structure: Structure) -> Place | None:
    """The layer that a message quotes, or else the one whose class it names first."""
    called_names = re.findall(r'calling layer "([^"\s]+)"', failure.message)
    quoted_names = set(called_names or re.findall(r"[\"'`]([^\"'`\s]+)[\"'`]", failure.message))
    for index, layer in enumerate(structure.layers):
        if layer.name in quoted_names:
            return place(structure, index)
    message = re.sub(r"\bFull (object )?config\b", "", failure.message)  # words of Keras, not classes
    matches = (re.search(rf"\b{re.escape(layer.kind)}\b", message) for layer in structure.layers)
    positions = [(match.start(), index) for index, match in enumerate(matches) if match is not None]
    return place(structure, min(positions)[1]) if positions else None


def failure_difference(
    row: Aspect, path: str, expected: str, failure: Failure, structure: Structure, layer: int = -1, **fields: Any
) -> Difference:
    """The difference for an exception; `layer` was called, or is -1."""
    message = shorten(failure.message.strip().partition("\n")[0], 300)
    called = place(structure, layer) if layer >= 0 else None
    raised = Raised(failure.type, message, innermost_frame(failure.frames), calling_frame(failure.frames), called)
    found = f"{raised.type}: {message}"
    return row.difference(path, expected, found, layer_in_message(failure, structure), raised=raised, **fields)
