"""Defines, reads and writes records: differences, causes, findings and runs.

The module imports neither Keras nor `harness`, so that records can be read anywhere.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import os
import secrets
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

FORMAT = 3
"""The version of the format. It increases when older files can no longer be read."""

T = TypeVar("T")

UPSTREAM_AND_FIXED = ("upstream", "fixed")
"""The default cloners: the release's own `clone_model`, and ours."""


class Severity(enum.IntEnum):
    """How severe a difference is for a user; the worst has the lowest number."""

    CRASH = 0
    OUTPUT = 1
    TRAINING = 2
    PROPERTY = 3
    NAME = 4

    @property
    def word(self) -> str:
        """The severity's name on the command line and in JSON."""
        return _WORDS[self]


CRASH, OUTPUT, TRAINING, PROPERTY, NAME = Severity
EFFECTS = {
    Severity.CRASH: "crashes",
    Severity.OUTPUT: "gives wrong outputs",
    Severity.TRAINING: "trains differently",
    Severity.PROPERTY: "loses a property",
    Severity.NAME: "changes a name",
}
"""What the clone does, by severity."""

_WORDS = ("crash", "wrong-output", "wrong-training", "lost-property", "renamed")
SEVERITIES = dict(zip(_WORDS, Severity, strict=True))
"""The severities by their names on the command line."""

LEFT_OUT = "left out"
"""The verdict on a cloner if all its causes are less severe than `--at-least`."""


class Place(msgspec.Struct, frozen=True):
    """A layer of the original: its name, such as "inner/dense", and its kind.

    `layer` and `use` are the indices of the layer and of its call, -1 for the model; no fingerprint has them.
    A `container` holds other layers. `inside` is the class of the layer or model that holds it, "" for the model.
    """

    name: str
    kind: str
    layer: int = -1
    use: int = 0
    container: bool = False
    inside: str = ""


class Raised(msgspec.Struct, frozen=True):
    """An exception of a cloner or a clone.

    `frame` is the innermost frame of Keras or of the cloner, as "file:function". If a layer raised the exception,
    `calling` is the frame that called the layer, and `called` the aligned layer of the original.
    """

    type: str
    message: str
    frame: str = ""
    calling: str = ""
    called: Place | None = None


class Numbers(msgspec.Struct, frozen=True):
    """How two arrays differ: by how much, in how many elements, and where first."""

    max_abs: float | None
    differing: int
    total: int
    index: tuple[int, ...] = ()
    expected: str = ""
    found: str = ""

    @property
    def summary(self) -> str:
        limit = "" if self.max_abs is None else f", by {self.max_abs:g} at most"
        return f"{self.differing:,} of {self.total:,} numbers differ{limit}"

    @property
    def position(self) -> str:
        """The index of the first element that differs, or ""."""
        return f"at [{', '.join(map(str, self.index))}]" if self.index else ""


Part = Literal[
    "", "layer", "kind", "name", "trainable", "config", "attribute", "compiled", "call", "call.args",
    "call.kwargs", "input", "output", "input structure", "output structure", "weight", "state", "copied", "object",
    "object reached", "unshared", "merged", "mask", "step", "structure", "loss", "losses", "process",
]  # fmt: skip
"""The part that differs; "" for the object that the check is about: a clone, a tensor, a model."""
Change = Literal[
    "", "missing", "extra", "count", "order", "type", "shape", "dtype", "value", "tensor", "outputs", "name",
    "name alone", "scope", "path alone", "trainable", "optional", "shared", "shared by clones", "unshared", "merged",
    "not fresh", "clone dependent", "original dependent", "touched", "lost", "added", "raises",
    "no model", "no clone", "original refused", "constraint",
]  # fmt: skip
"""How the part differs; "" if that is unknown."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A difference that a check found.

    - `name`: an attribute or a setting ("kernel_initializer.seed"), or how a process was lost.
    - `model`: the model that differs from the original; "again" is a second clone.
    - `run`: "" for a model at rest; `in_step`: an intermediate value of the run, not an output of the model.
    - `location`: the path in the model or run; `expression`: the attribute or setting in Python, relative to its layer.
    - `argument`: the parameter of a call.
    - `first`: the layer of the original at which the difference shows first.
    """

    check: str
    part: Part
    change: Change
    name: str = ""
    model: Literal["clone", "original", "again"] = "clone"
    run: Literal["", "inference", "training", "trained"] = ""
    in_step: bool = False
    location: str = ""
    expression: str = ""
    argument: str = ""
    expected: str
    found: str
    severity: Severity
    first: Place | None = None
    raised: Raised | None = None
    digests: tuple[str, str] | None = None
    numbers: Numbers | None = None

    @property
    def aspect(self) -> str:
        """The part and the change, as in fingerprints and patterns."""
        separator = " " if self.part == "process" else "."
        part = f"{self.part}{separator}{self.name}" if self.name else self.part
        return f"{part} {self.change}".strip()

    @property
    def path(self) -> str:
        """The path, as in patterns of known issues: "again.layers['a'].config.mask"."""
        model = "" if self.model == "clone" else self.model
        return ".".join(filter(None, (model, self.run, self.location)))

    @property
    def lines(self) -> tuple[str, str, str]:
        """The difference in three lines."""
        return f"{self.check}: {self.path}", f"  original: {self.expected}", f"  clone:    {self.found}"


class Blame(enum.StrEnum):
    """Who is at fault, judged by how upstream and fixed clone the same graph.

    If both differ, both cloners may have the same bug, or cloning may be impossible.
    """

    UPSTREAM = "upstream bug"
    BOTH = "both break"
    FIXED = "our bug"
    CLONER = "the cloner's own"
    UNKNOWN = "unknown: there is no clone by upstream"


class Cause(msgspec.Struct, frozen=True):
    """A difference, the root, and those that follow from it.

    `severity` is the worst of all. `blame` is None if no cloner is at fault. `given` has facts that patterns of known
    issues can match:

    - the clone arguments and the preparations of the model
    - "Dense called more than once", for each kind of layer that is, or may be, called more than once
    - "a list of one tensor" and "a Lambda with a mask", if the model has such a call and cannot be cloned
    - "a function of the same name", if that replaced the function of the original
    - "a custom layer", "inside a layer" and others about the class of the layer at fault
    """

    fingerprint: str
    root: Difference
    followers: tuple[Difference, ...] = ()
    severity: Severity = Severity.NAME
    given: tuple[str, ...] = ()
    blame: Blame | None = None

    @property
    def differences(self) -> tuple[Difference, ...]:
        return (self.root, *self.followers)


class Box(msgspec.Struct, frozen=True):
    """A call of a layer in a picture.

    `call` has the name of the layer and the number of the call, which are the same in original and clone. `inputs` has
    for each tensor the call that returns it, and its number. `inside` is the nested model that has the call, or "".
    """

    call: str
    name: str
    kind: str
    inputs: tuple[str, ...] = ()
    inside: str = ""


class Finding(msgspec.Struct, frozen=True):
    """A cause to report, or a model that cannot be built or run.

    - `id`: the fingerprint; `graph`: the smallest graph that shows it; `source`: the script.
    - `proof`: whether the script failed when run alone; None if that is unknown, for the reason in `unproven`.
    - `smallest`: False if there was no time to reduce the graph.
    - `detail`: the reason if there are no differences.
    - `pictures`: the calls of the original and, if there is a clone, of the clone.
    """

    id: str
    title: str
    generation: str
    cloner: str
    graph: msgspec.Raw
    differences: tuple[Difference, ...]
    source: str
    versions: dict[str, str] = {}
    count: int = 1
    known: str | None = None
    subject: str = ""
    first_seen: str = ""
    proof: bool | None = None
    blame: str = ""
    detail: str = ""
    smallest: bool = True
    unproven: str = ""
    pictures: tuple[tuple[Box, ...], ...] = ()
    format: int = FORMAT

    @property
    def key(self) -> tuple[str, str]:
        return self.cloner, self.id

    @property
    def root(self) -> Difference | None:
        return self.differences[0] if self.differences else None

    @property
    def cloner_or_original(self) -> str:
        """The name of the cloner; "original" if that cannot be built or run."""
        return cloner_name(self.cloner) or "original"

    @property
    def confirmation(self) -> str:
        """In words, whether the script fails when run alone."""
        if self.proof is None:
            return f"unconfirmed: {self.unproven or 'its script was not run'}"
        return "confirmed" if self.proof else "refuted: its script does not fail when run alone"

    @property
    def severity(self) -> Severity | None:
        """The worst severity; None if there are no differences."""
        return min((difference.severity for difference in self.differences), default=None)


class Counts(msgspec.Struct, frozen=True):
    """The counts of a subject.

    - `graphs`, `seconds`: the graphs tried, and the time that workers spent on them.
    - `reducing`, `reducing_seconds`: the trials that reduced findings, and the time spent on them.
    - `verdicts`: graphs by cloner and verdict; `worst`: graphs by cloner and worst severity; both without `unrun`.
    - `known`: graphs by known issue and worst severity.
    - `refused`: graphs that could not be built, by reason; `unrun`: graphs that were built, but could not run.
    - `faults`: graphs on which clonediff failed, by reason.
    - `losses`: lost processes by request and ending, such as "a trial: timed out".
    """

    graphs: int = 0
    seconds: float = 0.0
    reducing: int = 0
    reducing_seconds: float = 0.0
    verdicts: dict[str, dict[str, int]] = {}
    worst: dict[str, dict[str, int]] = {}
    known: dict[str, dict[str, int]] = {}
    refused: dict[str, int] = {}
    faults: dict[str, int] = {}
    unrun: int = 0
    losses: dict[str, int] = {}

    @property
    def trials(self) -> int:
        return self.graphs + self.reducing

    def plus(self, other: Counts) -> Counts:
        return msgspec.convert(_sum(msgspec.to_builtins(self), msgspec.to_builtins(other)), Counts)


def _sum(first: Any, second: Any) -> Any:
    """Add two numbers, or two tables field by field."""
    if not isinstance(first, dict):
        return first + second
    return first | {key: _sum(first[key], value) if key in first else value for key, value in second.items()}


class Run(msgspec.Struct):
    """The file `run.json`, which is rewritten while the run lasts.

    A run ends after `minutes`, or after `trials` graphs on each subject; a run that was killed has not `ended`. Causes
    less severe than `at_least` are left out. `lost` has the subjects that could not be tried, with the reasons;
    `flaky` has the titles of flaky causes, and `failures` the tasks that failed.
    """

    started: str
    subjects: tuple[str, ...] = ()
    seed: int = 0
    minutes: float | None = None
    trials: int | None = None
    jobs: int = 1
    at_least: Severity = Severity.NAME
    clonediff: str = ""
    seconds: float = 0.0
    ended: bool = False
    interrupted: bool = False
    versions: dict[str, dict[str, str]] = {}
    counts: dict[str, Counts] = {}
    lost: dict[str, str] = {}
    flaky: list[str] = []
    failures: list[str] = []
    format: int = FORMAT

    @property
    def total(self) -> Counts:
        return functools.reduce(Counts.plus, self.counts.values(), Counts())


def cloner_name(name: str) -> str:
    """A cloner's name for display, without the folder of a user's module."""
    return name.rpartition("/")[2] if ":" in name else name


class RecordError(ValueError):
    """A file is missing or damaged. The message names the file and the field."""


def write(path: Path, record: Any) -> None:
    """Write a record as indented JSON, atomically."""
    write_bytes(path, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            with temporary.open("xb") as file:
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        # Name this file, not the temporary one.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


READ_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The exceptions for a file that is damaged, not UTF-8, or nested too deep."""


def read(path: Path, record: type[T]) -> T:
    """Read a record; raise `RecordError` with the file and the field."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        header = msgspec.json.decode(content, type=_Format)
        if header.format is not None and header.format != FORMAT:
            is_newer = header.format > FORMAT
            version, advice = ("a newer", "update this one") if is_newer else ("an older", "search again")
            raise RecordError(
                f"{path}: expected format {FORMAT}, found {header.format}, made by {version} clonediff; {advice}"
            )
        return msgspec.json.decode(content, type=record)
    except READ_ERRORS as error:
        is_too_deep = isinstance(error, RecursionError)
        raise RecordError(f"{path}: {'nested too deep to be a record' if is_too_deep else error}") from error


class _Format(msgspec.Struct):
    format: int | None = None
