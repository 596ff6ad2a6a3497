"""Exceptions as plain data: type, message, and frames."""

from __future__ import annotations

import functools
import re
import sys
import traceback
from collections.abc import Iterator
from typing import Any

from clonediff.harness.inside.canonical import without_addresses
from clonediff.harness.observation import Failure, Frame

GRAPH_FILE = "<graph>"
MAX_MESSAGE_LENGTH = 500
MAX_FRAMES = 60

Frames = list[tuple[str, str, Any]]
"""File, function and line of each frame, the innermost last."""

_PACKAGE = re.compile(r".*/(?:site-packages|dist-packages|packages/[^/]+)/")
_STANDARD_LIBRARY = re.compile(r".*/lib/python\d[.\d]*/")
_OUR_FILES = re.compile(r"inside/(?:cloners/__init__|frameworks/\w+|trial|run)\.py$")
_OUR_PACKAGES = re.compile(r".*/(?=(?:inside|server|fixed)/)")


def failure(error: BaseException, function: str = "") -> Failure:
    """The record of an exception, with frames below our `function`."""
    errors = [error, *_inner_errors(error)]
    frames = _frames_below(_frames_of(error), function)
    frames += [frame for inner in errors[1:] for frame in _frames_of(inner)]
    message = escape_surrogates(without_addresses(str(errors[-1])))[:MAX_MESSAGE_LENGTH]
    return Failure(escape_surrogates(type(error).__name__), message, plain_frames(frames))


def escape_surrogates(text: str) -> str:
    """Escape lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def stack(frame: Any) -> Frames:
    """The stack of a frame, the innermost frame last."""
    return _as_frames(traceback.walk_stack(frame))[::-1]


def plain_frames(frames: Frames, function: str = "") -> tuple[Frame, ...]:
    """Frames as plain data; with `function`, only those below it."""
    package_frames = [(package_path(file), name, line) for file, name, line in _frames_below(frames, function)]
    frames = [frame for frame in package_frames if not _OUR_FILES.match(frame[0])]
    if len(frames) > MAX_FRAMES:
        frames = frames[: MAX_FRAMES // 2] + frames[-MAX_FRAMES // 2 :]
    return tuple(Frame(file, name, line or 0) for file, name, line in frames)


def _frames_below(frames: Frames, function: str) -> Frames:
    found = [index for index, (file, name, _) in enumerate(frames) if name == function and _OUR_PACKAGES.match(file)]
    return frames[found[-1] + 1 :] if found else frames


def _frames_of(error: BaseException) -> Frames:
    # `extract_tb` would read the source file of every frame.
    return _as_frames(traceback.walk_tb(error.__traceback__))


def _as_frames(walk: Iterator[tuple[Any, int]]) -> Frames:
    return [(frame.f_code.co_filename, frame.f_code.co_name, line) for frame, line in walk]


def _inner_errors(error: BaseException) -> Iterator[BaseException]:
    """The exceptions that an exception only repeats, the outermost first.

    Deserialization raises an error again, as another type and with the whole config in the message.
    """
    while not error.__suppress_context__ and error.__context__ is not None:
        inner = error.__context__
        repeats = type(inner) is type(error) or _frames_of(error)[-1][1] == "from_config"
        if not repeats or not str(inner) or str(inner) not in str(error):
            return
        yield inner
        error = inner


@functools.lru_cache(maxsize=10000)
def package_path(file: str) -> str:
    """A file's path from its package on: "keras/src/models/cloning.py"."""
    for prefix in (_PACKAGE, _STANDARD_LIBRARY, _OUR_PACKAGES):
        if prefix.match(file):
            return prefix.sub("", file, count=1)
    # A release under test is in its own folder on the path.
    for folder in sys.path:
        if folder and file.startswith(folder.rstrip("/") + "/"):
            return file[len(folder.rstrip("/")) + 1 :]
    return file if file.startswith("<") else file.rsplit("/", 1)[-1]
