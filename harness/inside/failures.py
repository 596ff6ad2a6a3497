"""An exception as plain data: its type, what it said, and the frames from its package on."""

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
LONGEST_MESSAGE = 500
MOST_FRAMES = 60

Frames = list[tuple[str, str, Any]]
"""The file of each frame, its function and its line, the innermost last."""

_PACKAGE = re.compile(r".*/(?:site-packages|dist-packages|packages/[^/]+)/")
_STANDARD = re.compile(r".*/lib/python\d[.\d]*/")
_PLUMBING = re.compile(r"inside/(?:cloners/__init__|frameworks/\w+|trial|run)\.py$")
_INSIDE = re.compile(r".*/(?=(?:inside|server|fixed)/)")


def failure(error: BaseException, below: str = "") -> Failure:
    """The exception, with the frames below the function named `below` here, without ours that lead to Keras."""
    errors = [error, *_wrapped(error)]
    frames = _below(_frames(error), below)
    frames += [frame for inner in errors[1:] for frame in _frames(inner)]
    message = encodable(without_addresses(str(errors[-1])))[:LONGEST_MESSAGE]
    return Failure(encodable(type(error).__name__), message, plain_frames(frames))


def encodable(text: str) -> str:
    """The text as UTF-8 can have it: half of a surrogate pair, which no answer can hold, is written as its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def stack(frame: Any) -> Frames:
    """Where a frame is, the innermost last."""
    return _located(traceback.walk_stack(frame))[::-1]


def plain_frames(frames: Frames, below: str = "") -> tuple[Frame, ...]:
    """Frames as plain data; those that lie below the function of that name in this room, where there is one."""
    named = [(package_path(file), name, line) for file, name, line in _below(frames, below)]
    named = [frame for frame in named if not _PLUMBING.match(frame[0])]
    if len(named) > MOST_FRAMES:
        named = named[: MOST_FRAMES // 2] + named[-MOST_FRAMES // 2 :]
    return tuple(Frame(file, name, line or 0) for file, name, line in named)


def _below(frames: Frames, function: str) -> Frames:
    ours = [number for number, (file, name, _) in enumerate(frames) if name == function and _INSIDE.match(file)]
    return frames[ours[-1] + 1 :] if ours else frames


def _frames(error: BaseException) -> Frames:
    # Not `extract_tb`: that reads the source of every file on the way.
    return _located(traceback.walk_tb(error.__traceback__))


def _located(walk: Iterator[tuple[Any, int]]) -> Frames:
    return [(frame.f_code.co_filename, frame.f_code.co_name, line) for frame, line in walk]


def _wrapped(error: BaseException) -> Iterator[BaseException]:
    """The exceptions, from the outside in, that were caught and raised again in more words: theirs, and some around.

    What cannot be read back from a config is raised again as another type, with the whole config around it.
    """
    while not error.__suppress_context__ and error.__context__ is not None:
        inner = error.__context__
        alike = type(inner) is type(error) or _frames(error)[-1][1] == "from_config"
        if not alike or not str(inner) or str(inner) not in str(error):
            return
        yield inner
        error = inner


@functools.lru_cache(maxsize=10000)
def package_path(file: str) -> str:
    """A file from its package's name on: "keras/src/models/cloning.py"."""
    file = file.replace("\\", "/")
    for root in (_PACKAGE, _STANDARD, _INSIDE):
        if root.match(file):
            return root.sub("", file, count=1)
    # A release laid over others lies in a folder of any name, which is on the path.
    for folder in sys.path:
        if folder and file.startswith(folder.replace("\\", "/").rstrip("/") + "/"):
            return file[len(folder.rstrip("/\\")) + 1 :]
    return file if file.startswith("<") else file.rsplit("/", 1)[-1]
