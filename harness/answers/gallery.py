"""The example of each known issue of a release, tried once: what the gallery shows of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec

from clonediff.harness.scripts.of_finding import script_of
from clonediff.harness.scripts.run_alone import tried_alone
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.checks import CHECKS
from clonediff.harness.trials.expected import Expected, LookResult, look_for
from clonediff.harness.trials.expressible import unsupported_cloner
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.triage import title
from clonediff.harness.trials.trial import Hit, Trial
from clonediff.reports.exhibits import Exhibit, Gallery, Standing
from clonediff.reports.known import KnownIssue, KnownIssues, Pattern
from clonediff.reports.records import Severity
from clonediff.strategies.graph import from_json

_STANDINGS = {
    LookResult.SHOWS: Standing.BREAKS,
    LookResult.GONE: Standing.MENDED,
    LookResult.ANOTHER: Standing.OTHERWISE,
}
"""Of all others it is not known."""
_OURS = "fixed"
_NO_EXAMPLE = "no small model shows it alone, so that nothing was tried"
_INCOMPLETE = "No few lines compare what differs here; the script makes the model and its clone."


def gallery_of(subject: Subject, known: KnownIssues, say: Callable[[int, int], None]) -> Gallery:
    """What is known to break in a release, tried there. `say` hears how many examples were tried, and of how many."""
    with SubjectProcess(subject, place=place_of(subject)) as process:
        issues = known.on(subject.generation, process.ready.keras).issues
        exhibits: list[Exhibit] = []
        for issue in issues:
            say(len(exhibits), len(issues))
            exhibits.append(_exhibit(issue, process, known))
        return Gallery(str(subject), process.versions, exhibits)


def declared_severity(issue: KnownIssue) -> Severity:
    """How bad what it matches is at worst, as the checks declare it."""
    return min(map(_declared, issue.match))


def _declared(pattern: Pattern) -> Severity:
    check = CHECKS.get(pattern.check or "")
    aspect = check.aspects.of(pattern.aspect, pattern.path or "") if check and pattern.aspect else None
    if aspect is not None:
        return aspect.severity
    return Severity.CRASHES if check is None or pattern.exception is not None else check.severity


def _exhibit(issue: KnownIssue, process: SubjectProcess, known: KnownIssues) -> Exhibit:
    found = Exhibit(issue, declared_severity(issue), issue.match[0].check or "")
    if issue.example is None:
        return replace(found, said=_NO_EXAMPLE, standing=Standing.UNTOLD)
    expected = Expected(issue=issue)
    graph = from_json(issue.example, issue.id)
    cloners = [each for each in (issue.cloner, _OURS) if not unsupported_cloner(each, process, graph)]
    trials = GraphTrials(process, known, cloners=cloners, private=expected.private)
    both = trials.try_or_say_why_not(graph, costly=expected.parts_of_its_example)
    found = replace(found, fixed=_ours(both))
    tried = msgspec.structs.replace(both, hits=tuple(hit for hit in both.hits if hit.cloner == issue.cloner))
    shown = next((hit for hit in tried.hits if hit.cause is not None and expected.is_it(hit.cause)), None)
    if shown is not None:
        return _shown(found, shown, trials)
    looked = look_for(expected, tried)
    said = looked.because or "its example is cloned faithfully"
    return replace(found, standing=_STANDINGS.get(looked.result, Standing.UNTOLD), said=said)


def _shown(found: Exhibit, shown: Hit, trials: GraphTrials) -> Exhibit:
    assert shown.cause is not None
    process = trials.process
    with trials.asking():
        script = script_of(shown, process.subject.dialect, process.versions)
    shows = True if script.sure and script.raises else tried_alone(script, process.subject, process.place)[0]
    return replace(
        found,
        severity=shown.cause.severity,
        check=shown.cause.root.check,
        script=script.text,
        incomplete="" if shows else _INCOMPLETE,
    )


def _ours(tried: Trial) -> str:
    """What clonediff's own cloner makes of a model; "" where it was not tried."""
    if _OURS not in tried.clones:
        return ""
    causes = tried.clones[_OURS].causes
    if not causes:
        return "holds"
    root = causes[0].root
    if root.check == "made" and root.raised is not None:
        return f"refuses: {root.raised.type}: {root.raised.message}"
    return "does not hold: " + "; ".join(map(title, causes))
