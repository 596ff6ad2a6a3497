"""A candidate in the place of the release's own code: a proposal made ready, and the process in which it stands there.

Owns that a candidate's process never answers without the candidate, also after it had to be started again.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import msgspec

from clonediff.harness.inside.failures import CANDIDATE_FILE
from clonediff.harness.judge.patching import apply
from clonediff.harness.judge.reading import FilePart, Proposal, parsed, statement
from clonediff.harness.subjects.environment import Place
from clonediff.harness.subjects.observation import Failure, Frame
from clonediff.harness.subjects.outcomes import CloningFunctions, Ready, SubjectError
from clonediff.harness.subjects.process import Limits, SubjectProcess
from clonediff.harness.subjects.subject import Subject

_CLONE = re.compile(r"^clone = .*$", re.MULTILINE)
LOADING = 10.0
"""The seconds that a candidate's own lines may take to run once: they define functions."""


class NotLoadedError(RuntimeError):
    """A candidate that cannot be put in place; the message says why. That is a verdict on it."""


class Prepared(msgspec.Struct, frozen=True):
    """A proposal ready to be tried: the release that it runs in, and the parts put in the place of its functions.

    Of a diff there are no parts: the release is a patched copy. `code` is what a script puts in place; where it is "",
    the script runs on a patched release.
    """

    place: Place
    parts: tuple[FilePart, ...] = ()
    code: str = ""

    def in_script(self, script: str, module: str) -> str:
        """A script in which `module` of the release clones as is proposed."""
        if not self.code:
            return f"# Run it on the patched release.\n{script}"
        proposed = (
            f"PROPOSED = {self.code!r}\n\nimport importlib\n\n"
            f'cloning = importlib.import_module("{module}")\nexec(PROPOSED, vars(cloning))\n\n'
            "clone = cloning.clone_model(model)"
        )
        return _CLONE.sub(lambda match: proposed, script, count=1)


def prepare(proposal: Proposal, place: Place, cloning: CloningFunctions, folder: Path) -> Prepared:
    """Make a proposal ready for the release at `place`; a patched copy of that is put into `folder`."""
    if proposal.form != "diff":
        return Prepared(place, proposal.parts, proposal.text)
    package, file = Path(cloning.package), Path(cloning.file)
    private = folder.resolve() / "patched"
    applied = apply(proposal.text, package, private)
    patched = (str(private), *place)
    own = private / file.relative_to(package.parent)
    if applied.changed == (own,):
        changed = changed_statements(file.read_text(encoding="utf-8"), own.read_text(encoding="utf-8"))
        return Prepared(patched, code=changed)
    return Prepared(patched)


def changed_statements(before: str, after: str) -> str:
    """The statements at the top of a module that a change made new, as text, in their order."""
    old, new = parsed(before), parsed(after)
    if old is None or new is None:
        return after
    known = {ast.dump(node) for node in old.body}
    lines = after.split("\n")
    return "\n\n".join(statement(node, lines).text for node in new.body if ast.dump(node) not in known)


class CandidateProcess(SubjectProcess):
    """A subject's process in which a candidate stands in the place of the release's own functions."""

    def __init__(self, subject: Subject, prepared: Prepared, limits: Limits, loading: float = LOADING) -> None:
        """Nothing is started until it is needed."""
        super().__init__(subject, place=prepared.place, limits=limits)
        self._parts = msgspec.to_builtins(prepared.parts)
        self._loading = loading
        self._loaded: int | None = None
        self.cloning_now = CloningFunctions("", "", "")

    def start(self) -> Ready:
        """Start the child, if none runs, and put the candidate in its place there."""
        try:
            ready = super().start()
        except SubjectError as error:
            patched = "" if self._parts else "patched "
            raise NotLoadedError(f"the {patched}release does not start: {_why(error)}") from error
        if self.pid is not None and self.pid != self._loaded:
            self.cloning_now = self._put()
            self._loaded = self.pid
        return ready

    def _put(self) -> CloningFunctions:
        outcome = self.cloning(self._parts, self._loading)
        if not isinstance(outcome, CloningFunctions):
            raise NotLoadedError(f"{ended(outcome.how)}: {outcome.message}".removesuffix(": "))
        if outcome.failure is not None:
            self.close()
            raise NotLoadedError(f"{outcome.failure.type}: {outcome.failure.message}{_line_of(outcome.failure)}")
        if self._parts and not outcome.replaced:
            self.close()
            own = ", ".join(outcome.functions)
            raise NotLoadedError(f"it runs, and replaces none of the release's functions ({own})")
        return outcome


def ended(how: str) -> str:
    """How a candidate's process was lost, in words."""
    words = {"timed out": "it does not come to an end", "out of memory": "it takes memory without end"}
    return words.get(how, f"it ends its process ({how})")


def _why(error: SubjectError) -> str:
    """Why a release does not start, now that a diff was applied to it."""
    failure = error.failure
    if failure is None:
        return str(error).partition("\n")[0].partition(": ")[2].partition("; started")[0]
    frame = f" in {failure.frames[-1].file}, line {failure.frames[-1].line}" if failure.frames else ""
    return f"{failure.type}: {failure.message}{frame}"


def _line_of(failure: Failure) -> str:
    """Where in the candidate's file something was raised, "" where it was not there."""
    frame = own_frame(failure)
    return f" (line {frame.line}, in {frame.function})".replace(", in <module>", "") if frame is not None else ""


def own_frame(failure: Failure) -> Frame | None:
    """The innermost frame in the candidate's own file, None where there is none."""
    return next((frame for frame in reversed(failure.frames) if frame.file == CANDIDATE_FILE), None)
