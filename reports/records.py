"""What was found, as it is kept: a difference, the cause behind several, a finding.

Owns the shape of every record, the version of its format, and how a file is written whole and read back. Must not
import Keras, nor anything of `harness`: the records are read where no subject can run.
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

FORMAT = 2
"""The version of the files below; one that cannot be read any more raises it."""

T = TypeVar("T")


UPSTREAM_AND_FIXED = ("upstream", "fixed")
"""The default cloners: the release's own `clone_model`, and ours."""


class Severity(enum.IntEnum):
    """How bad a difference is for a user, the worst first."""

    CRASHES = 0
    COMPUTES = 1
    TRAINS = 2
    PROPERTY = 3
    NAME = 4

    @property
    def word(self) -> str:
        """Its name on the command line and in JSON."""
        return self.name.lower()


CRASHES, COMPUTES, TRAINS, PROPERTY, NAME = Severity
DOES = {
    Severity.CRASHES: "crashes",
    Severity.COMPUTES: "computes something else",
    Severity.TRAINS: "trains differently",
    Severity.PROPERTY: "loses a property",
    Severity.NAME: "changes a name",
}
"""What a clone does that costs so much."""

SEVERITIES = {severity: f"it {does}" for severity, does in DOES.items()}

AT_LEAST = {severity.word: severity for severity in Severity}
"""The severities by their names."""

LEFT_OUT = "left out"
"""The verdict on a cloner all of whose causes are less severe than `--at-least`."""


class Place(msgspec.Struct, frozen=True):
    """A layer of the original: its name (nested ones as "inner/dense") and its kind in the graph's terms.

    `layer` and `use` find it in the observation it came from (-1: the model itself); no fingerprint reads them.
    `container` says that the layer holds others, `inside` is the class
    of what holds it, "" for the model itself.
    """

    name: str
    kind: str
    layer: int = -1
    use: int = 0
    container: bool = False
    inside: str = ""

    @property
    def said(self) -> str:
        """For people: "dense (Dense)"."""
        return f"{self.name or 'the model itself'} ({self.kind})"


class Raised(msgspec.Struct, frozen=True):
    """An exception of a cloner: `frame` is "file:function", the innermost of the framework's or the cloner's own.

    `calling` is the frame, likewise, that called a layer which then raised it; "" where no layer was being called.
    `called` is the layer of the original whose counterpart was being called when the clone raised it, as it was seen.
    """

    type: str
    message: str
    frame: str = ""
    calling: str = ""
    called: Place | None = None


class Numbers(msgspec.Struct, frozen=True):
    """Two arrays where they differ: how much, how often, and the first element that does."""

    max_abs: float | None
    differing: int
    total: int
    index: tuple[int, ...] = ()
    expected: str = ""
    found: str = ""

    @property
    def said(self) -> str:
        """How many differ, and by how much."""
        most = "" if self.max_abs is None else f", by {self.max_abs:g} at most"
        return f"{self.differing:,} of {self.total:,} numbers differ{most}"

    @property
    def at(self) -> str:
        """Where the first is, "" where that is not known or where there is one number."""
        return f"at [{', '.join(map(str, self.index))}]" if self.index else ""


Part = Literal[
    "", "layer", "kind", "name", "trainable", "config", "attribute", "compiled", "call", "call.args",
    "call.kwargs", "input", "output", "input structure", "output structure", "weight", "state", "copied", "object",
    "object reached", "unshared", "merged", "mask", "step", "structure", "loss", "losses", "process",
]  # fmt: skip
"""What differs; "" for all that a check looks at: a clone, a tensor, a model."""
Change = Literal[
    "", "missing", "extra", "count", "order", "type", "shape", "dtype", "value", "tensor", "outputs", "name",
    "name alone", "scope", "path alone", "trainable", "optional", "shared", "shared by clones", "unshared", "merged",
    "not fresh", "clone dependent", "original dependent", "touched", "lost", "added", "raises",
    "no model", "no clone", "original refused", "constraint",
]  # fmt: skip
"""How it differs; "" where no more can be said than that it does."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One broken promise: what differs, in which model, in which of its runs, and where in that.

    `name` is that of an attribute or a setting ("kernel_initializer.seed"), or how a process was lost. `model` is the
    one that is not as the original was: "again" is a second clone. `run` is "" for a
    model at rest, `in_step` says that a layer gave it in the run, and not the model. `within` is the path for people.
    `expression` is an attribute or a setting as Python has it, behind its layer; `argument` the name that Keras has for
    an argument of a call.
    """

    check: str
    part: Part
    change: Change
    name: str = ""
    model: Literal["clone", "original", "again"] = "clone"
    run: Literal["", "inference", "training", "trained"] = ""
    in_step: bool = False
    within: str = ""
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
        """What differs, in words that stay: those of fingerprints and of the patterns of known issues."""
        joint = " " if self.part == "process" else "."
        part = f"{self.part}{joint}{self.name}" if self.name else self.part
        return f"{part} {self.change}".strip()

    @property
    def path(self) -> str:
        """Where it differs, for people and for the patterns of known issues: "again.layers['a'].config.mask"."""
        model = "" if self.model == "clone" else self.model
        return ".".join(filter(None, (model, self.run, self.within)))

    @property
    def lines(self) -> tuple[str, str, str]:
        """For people: what differs, in the original and in the clone."""
        return f"{self.check}: {self.path}", f"  original: {self.expected}", f"  clone:    {self.found}"


class Blame(enum.StrEnum):
    """Whose fault a cause is, by what upstream and fixed do with the same graph.

    What both break may be a bug of Keras that both have, or a limit, as its documentation may say.
    """

    UPSTREAM = "upstream bug"
    BOTH = "both break"
    OURS = "our bug"
    ITS_OWN = "the cloner's own"
    UNKNOWN = "not known without upstream's answer"


class Cause(msgspec.Struct, frozen=True):
    """Differences with one root: the first, and those that only follow from it. `severity` is the worst of all.

    `given` has the arguments, beside the model, that `clone_model` was given, the preparations of the model, and for
    each kind of layer of which one is called more than once, or may have been, "Dense called more than once"; of an
    exception while the clone is made "a list of one tensor", where the model calls a layer on that, and "a Lambda with
    a mask"; of a function "a function of the same name", where another of its name is in its place; and whose class the
    layer at fault is of.
    `blame` is None where no cloner is at fault.
    """

    fingerprint: str
    root: Difference
    followers: tuple[Difference, ...] = ()
    severity: Severity = Severity.NAME
    given: tuple[str, ...] = ()
    blame: Blame | None = None

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The root, then what follows from it."""
        return (self.root, *self.followers)


class Box(msgspec.Struct, frozen=True):
    """A call of a layer, as a picture shows it.

    `call` is the layer's name and the number of the call, the same for a call of the original and that of its clone.
    `inputs` are the tensors that it takes: the call that gives each, and the number among what that gives. `inside`
    names the nested model of the call, "" for the model itself.
    """

    call: str
    name: str
    kind: str
    inputs: tuple[str, ...] = ()
    inside: str = ""


class Finding(msgspec.Struct, frozen=True):
    """A divergence worth a person's time. `id` is its fingerprint, `graph` the smallest graph known to show it.

    `source` is its script. `proof` says whether that failed alone, as it should: None where that is not known, and then
    `unproven` says why. `blame` is whose fault it is, `detail` what was said where there are no differences. `smallest`
    is False as long as its graph may get smaller: it is as it was drawn, or as small as there was time for.
    `pictures` has the calls of the original, and those of the clone where there is one.
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
        """The same for all findings of one cause and cloner."""
        return self.cloner, self.id

    @property
    def root(self) -> Difference | None:
        """The difference that the others follow from."""
        return self.differences[0] if self.differences else None

    @property
    def who(self) -> str:
        """Who breaks it: a cloner, or the original."""
        return cloner_said(self.cloner) or "original"

    @property
    def alone(self) -> str:
        """Whether its script fails where there is nothing but Keras, or why that is not known: in words."""
        if self.proof is None:
            return f"not known whether its script fails alone: {self.unproven or 'it was not run'}"
        return "its script fails alone" if self.proof else "its script does not fail alone, so it does not count"

    @property
    def severity(self) -> Severity | None:
        """The worst that it does to a user."""
        return min((difference.severity for difference in self.differences), default=None)


class Counts(msgspec.Struct, frozen=True):
    """What was tried on a subject, in numbers.

    `graphs` were tried in `seconds` of the workers; `reducing` trials made findings smaller in `reducing_seconds`.
    `verdicts` counts graphs by cloner and verdict, `worst` by cloner and the worst severity, both without the `unrun`,
    which do not run; `known` counts graphs by known issue and the worst severity, `refused` by the reason why the
    release cannot build them, `faults` by the fault of clonediff that ended their trial. `losses` counts how often the
    subject's process was lost, by what it was doing and how it ended: "a trial: timed out".
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
        """All trials."""
        return self.graphs + self.reducing

    def plus(self, more: Counts) -> Counts:
        """The sum of both."""
        return msgspec.convert(_sum(msgspec.to_builtins(self), msgspec.to_builtins(more)), Counts)


def _sum(first: Any, second: Any) -> Any:
    """The sum of two numbers, or of two tables, field by field."""
    if not isinstance(first, dict):
        return first + second
    return first | {key: _sum(first[key], value) if key in first else value for key, value in second.items()}


class Run(msgspec.Struct):
    """A run: `run.json` of its folder. It is written again and again while the run lasts.

    It ends after `minutes`, or after `trials` graphs on each subject. `lost` has the subjects that could not be tried,
    and why; `unsteady` the titles of what did not show again; `failures` the tasks that could not be done. A run that
    was killed has not `ended`. What is less severe than `at_least` is left out.
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
    unsteady: list[str] = []
    failures: list[str] = []
    format: int = FORMAT

    @property
    def total(self) -> Counts:
        """The counts of all subjects."""
        return functools.reduce(Counts.plus, self.counts.values(), Counts())


def cloner_said(name: str) -> str:
    """A cloner for people: one of the user's own without the folder that its module is imported from."""
    return name.rpartition("/")[2] if ":" in name else name


class RecordError(ValueError):
    """A file is missing or not what it should be; the message names the file and the field."""


def write(path: Path, record: Any) -> None:
    """Write a record as indented JSON, whole or not at all."""
    write_bytes(path, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def write_bytes(path: Path, content: bytes) -> None:
    """Write to a file beside it, then put that in its place: a reader sees the old content or the new, never half."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            with beside.open("xb") as file:
                file.write(content)
            os.replace(beside, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
    except OSError as error:
        # The name of the file beside it would say nothing to a reader, and a full disk names none.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises of JSON that is none, or not what it should be, has a text that is not UTF-8, or is too deep."""


def read(path: Path, record: type[T]) -> T:
    """Read a record back; an `RecordError` names the file and the field where it is wrong."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        head = msgspec.json.decode(content, type=_Format)
        if head.format is not None and head.format != FORMAT:
            by, repair = ("a newer", "update this one") if head.format > FORMAT else ("an older", "search again")
            raise RecordError(f"{path}: made by {by} clonediff, in format {head.format} and not {FORMAT}; {repair}")
        return msgspec.json.decode(content, type=record)
    except UNREADABLE as error:
        deep = isinstance(error, RecursionError)
        raise RecordError(f"{path}: {'nested too deep to be a record' if deep else error}") from error


class _Format(msgspec.Struct):
    format: int | None = None
