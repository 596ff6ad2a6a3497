"""The script of a finding made anew, for its own subject or another one, and what a run of it on its own shows."""

from __future__ import annotations

import importlib.metadata
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import msgspec

from clonediff.harness.drawing.remembered_answers import asked
from clonediff.harness.inside.cloners.users import users_cloner
from clonediff.harness.scripts.alone import UNTOLD, ReplayAnswer, ScriptRunner
from clonediff.harness.scripts.comments import comment, named
from clonediff.harness.scripts.of_finding import script_from
from clonediff.harness.scripts.reproducer import Script
from clonediff.harness.source.other_layers import is_allowed
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.releases import open_subject, place_of
from clonediff.harness.subjects.subject import Subject, UnknownSubjectError
from clonediff.reports.records import Finding
from clonediff.strategies.asking import NoKeras, asking
from clonediff.strategies.graph import MalformedGraph, from_json


class UnwritableError(ValueError):
    """A script that this clonediff cannot write; the message says why."""


class ScriptShown(NamedTuple):
    """What a run of a script shows: the break, not the break, or None where it cannot be run; and why, in a line."""

    breaks: bool | None
    said: str


def script(finding: Finding, subject: Subject | None = None) -> Script:
    """The script, as this clonediff writes it."""
    own = subject_of(finding)
    other = subject is not None and subject != own
    chosen = subject if subject is not None and other else own
    if chosen.generation != own.generation:
        raise UnwritableError(
            f"{chosen} is of the generation {chosen.generation}, and the finding of {own.generation}: its script can "
            f"be written for a {own.generation} only"
        )
    users = users_cloner(finding.cloner)
    if users is not None and not is_allowed(users.name):
        raise UnwritableError(f"it is cloned by {users.name}, which is code of somebody's own")
    about = msgspec.structs.replace(finding, subject=str(chosen))
    if other:
        about = msgspec.structs.replace(about, versions=_versions(chosen))
    try:
        from_json(bytes(finding.graph), "`$.graph`")
        made = _written(about, chosen)
    except (MalformedGraph, UnknownSubjectError) as error:
        raise UnwritableError(str(error)) from None
    except (KeyError, ValueError) as error:
        raise UnwritableError(f"{type(error).__name__}: {error}") from None
    if other:
        found = comment(f"written for {chosen}; what stands here was found on {own}")
        made = replace(made, text=f"{made.text}# {found}:\n{named(finding.versions)}\n")
    return made


def _written(finding: Finding, subject: Subject) -> Script:
    """The script; what a model takes that begins at what a call gave, its Keras is asked."""
    try:
        return script_from(finding)
    except NoKeras:
        with open_subject(subject) as process, asking(asked(process)):
            return script_from(finding)


def subject_of(finding: Finding) -> Subject:
    """What a finding was found on."""
    found = finding.subject or finding.generation
    if not found:
        raise UnwritableError("does not say which release it was found on; name one with --subject")
    try:
        return Subject.parse(found)
    except UnknownSubjectError as error:
        raise UnwritableError(str(error)) from None


def run_on(script: Script, subject: Subject) -> ScriptShown:
    """Run a script in a fresh process of a subject's release, where nothing of ours can be imported."""
    if not script.raises:
        return ScriptShown(None, "it shows the model only and compares nothing, so that it cannot fail")
    if script.raises in UNTOLD:
        said = {"timed out": "it hangs", "out of memory": "it takes more memory than it may"}[script.raises]
        return ScriptShown(None, f"{said}, which a run on its own would not tell from a slow machine; run it by hand")
    if "\nfrom clonediff import " in script.text:
        return ScriptShown(
            None, "it clones with clonediff's own cloner, and nothing of clonediff is there when it runs alone"
        )
    try:
        with closing(ScriptRunner(subject, place_of(subject))) as runner:
            answer, reason = runner.answer(script)
    except SubjectError as error:
        return ScriptShown(None, str(error))
    if answer is ReplayAnswer.BREAKS:
        return ScriptShown(True, f"it ends in {script.raises}, as it should")
    if answer is ReplayAnswer.UNKNOWN:
        return ScriptShown(None, reason)
    return ScriptShown(False, f"it should end in {script.raises}, and {'ends in ' + reason if reason else 'passes'}")


def _versions(subject: Subject) -> dict[str, str]:
    """The versions that a script takes, as far as they are known without starting it."""
    if subject.version is None:
        versions = {}
        for package in dict.fromkeys((subject.package, subject.backend)):
            try:
                versions[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                continue
        return versions
    return {subject.package: subject.version}
