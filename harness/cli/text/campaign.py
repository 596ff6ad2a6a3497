"""What a person reads of a campaign: where it is, what it finds, and what it came to."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from clonediff.harness.campaign.campaign import Campaign
from clonediff.harness.campaign.record import Record, SubjectTotals
from clonediff.harness.campaign.shards import Plan
from clonediff.harness.cli.terminal import StatusLine, cut, lines
from clonediff.harness.subjects.process import TRIAL
from clonediff.reports.broken import broken, by_worst
from clonediff.reports.draws import never_accepted, refusals
from clonediff.reports.markup import visible
from clonediff.reports.reading import RunRead
from clonediff.reports.records import Finding, cloner_said
from clonediff.reports.verdict import in_words, lasted, some, verdict

CAUSES = 10
"""As many known causes are told at the end: a screen has room for them."""
REASONS = 3
"""As many reasons are told for which a release refused graphs."""
FAILURES = 5
"""As many things that could not be done are told."""
RECENT = 60.0
"""A rate is that of the last so many seconds."""


class CampaignText:
    """Progress goes to standard error, what was found to standard output, unless `quiet`."""

    def __init__(self, plan: Plan, *, quiet: bool) -> None:
        self._plan = plan
        self._quiet = quiet
        self._status = StatusLine(soon=0.0)
        self._shown = not quiet or self._status.terminal
        self._recent: deque[tuple[float, int]] = deque()

    def found(self, finding: Finding) -> None:
        """A finding is seen first, or is as small as it gets."""
        if not self._quiet:
            self._status.say(small_line(finding) if finding.smallest else found_line(finding))

    def unsteady(self, finding: Finding) -> None:
        """A finding did not show again."""
        if not self._quiet:
            self._status.say(
                f"not counted, since it did not show again: {visible(finding.title)} [{visible(finding.subject)}]"
            )

    def warn(self, problem: str) -> None:
        """Something went wrong."""
        self._status.say(f"clonediff: {lines(problem)}", error=True)

    def clear(self) -> None:
        """Take the status away."""
        self._status.clear()

    def progress(self, record: Record, left: float | None, reducing: Sequence[str]) -> None:
        """Show where it is, with an estimate."""
        now = time.monotonic()
        self._recent.append((now, record.trials))
        while now - self._recent[0][0] > RECENT:
            self._recent.popleft()
        if self._shown:
            self._status.show(lambda: ", ".join(self._parts(record, left, reducing)))

    def _parts(self, record: Record, left: float | None, reducing: Sequence[str]) -> list[str]:
        if not record.subjects:
            return ["starting"]
        (then, before), (now, trials) = self._recent[0], self._recent[-1]
        parts = [some(trials, "trial")]
        if now > then and trials > before:
            parts.append(f"{(trials - before) / (now - then):.1f} a second")
        parts.append(f"{len(record.new)} new, {sum(record.drawn.known.values())} known")
        if reducing:
            more = f" and {len(reducing) - 1} more" if len(reducing) > 1 else ""
            parts.append(f"making smaller: {visible(reducing[0])[:60]}{more}")
        if left is not None:
            parts.append(f"{lasted(left)} left" if left > 0 else "finishing")
        elif self._plan.budget.trials is not None:
            parts.append(self._of_trials(record))
        return parts

    def _of_trials(self, record: Record) -> str:
        drawn = record.drawn.trials
        first = sum(map(len, self._plan.first.values()))
        missing = max(0, self._plan.budget.trials * len(record.subjects) + first - drawn)  # type: ignore[operator]
        if not missing:
            return "finishing"
        return f"{missing:,} to go" + (
            f", about {lasted(self._status.seconds * missing / drawn)} left" if drawn else ""
        )


def found_line(finding: Finding) -> str:
    """A finding in a line, when it is seen."""
    return visible(f"found: {_named(finding)}")


def small_line(finding: Finding) -> str:
    """The same when it is as small as it gets, with what its script shows."""
    return visible(f"as small as it gets: {_named(finding)}; {finding.alone}")


def _named(finding: Finding) -> str:
    return f"{finding.title} [{finding.who}: {finding.id}]"


def summary(campaign: Campaign, record: Record, read: RunRead, seconds: float) -> dict[str, Any]:
    """The result for a script, as `--json` prints it."""
    text, run, folder = verdict(read), read.run, record.folder
    return {
        "headline": text.headline,
        "holds": list(text.holds),
        "worst": by_worst(run),
        "at_least": run.at_least.name.lower(),
        "broken": [
            {
                "id": cause.issue.id,
                "title": cause.issue.title,
                "severity": cause.severity.name.lower() if cause.severity is not None else None,
                "graphs": cause.graphs,
            }
            for cause in broken(read)
        ],
        "folder": str(folder.path),
        "report": str(folder.path / "report.html"),
        "interrupted": campaign.interrupted,
        "seconds": round(seconds, 3),
        "trials": run.trials,
        "drawn": run.drawn,
        "drawing": run.drawing,
        "reducing": run.reducing,
        "not_accepted": {name: draws.not_accepted for name, draws in run.draws.items() if draws.not_accepted},
        "subjects": run.subjects,
        "draws": msgspec.to_builtins(run.draws),
        "to_mend": list(text.mend),
        "lost": record.lost,
        "failures": campaign.failures,
        "verdicts": run.verdicts,
        "known": record.drawn.known,
        "unsteady": record.unsteady_titles,
        "findings": [
            {
                "id": finding.id,
                "title": finding.title,
                "subject": finding.subject,
                "cloner": finding.cloner,
                "count": finding.count,
                "reproduced": finding.proof,
                "smallest": finding.smallest,
                "script": finding.alone,
                "folder": str(folder.of(finding)),
            }
            for finding in record.findings.values()
        ],
    }


def result_text(campaign: Campaign, record: Record, read: RunRead) -> str:
    """The result for a person: what is broken, new and holds, subject by subject, and what could not be done."""
    failures = campaign.failures
    text = [summary_text(record, read)]
    text += [f"not done: {visible(failure)}" for failure in failures[:FAILURES]]
    if len(failures) > FAILURES:
        text.append(f"and {len(failures) - FAILURES} more that could not be done: `--json` has all of them")
    if campaign.interrupted:
        text.append("interrupted")
    return "\n".join(text)


def summary_text(record: Record, read: RunRead) -> str:
    """What is broken, what is new and what holds; then subject by subject."""
    folder = record.folder.path
    said = verdict(read)
    notes = filter(None, (*said.mend, said.left_out))
    text = ["", f"{said.headline}.", *said.holds, *(f"{each}." for each in notes), ""]
    causes = broken(read)
    if causes:
        text.append("Known causes, worst first, with the graphs that met each. `clonediff repro ID` prints a script:")
        severity = ""
        for each in causes[:CAUSES]:
            if each.severity_said != severity:
                severity = each.severity_said
                text.append(f"  {severity}")
            text.append(f"  {each.graphs:7,}  {' '.join(each.issue.title.split())[:160]} [{each.issue.id}]")
        if len(causes) > CAUSES:
            text.append(f"  and {len(causes) - CAUSES} more: in {folder}/report.html")
        text.append("")
    found, new = len(record.findings), len(record.new)
    if new:
        text.append(f"{new} new, each with its script in {folder}/findings")
        large = sum(not each.smallest for each in record.new)
        if large:
            text.append(f"{large} of them not as small as they could be")
    if new < found:
        text.append(f"{found - new} kept in {folder}/findings that do not count: the script does not fail alone")
    text += [*([""] if found else []), *_by_subject(record), f"All of it: {folder}/report.html"]
    return "\n".join(visible(" ".join(each.splitlines())) for each in text)


def _by_subject(record: Record) -> Iterator[str]:
    for name, each in record.subjects.items():
        yield f"{name} ({in_words(each.drawn.versions)})"
        yield (
            f"  {each.trials:,} trials, {each.reducing:,} of them for making findings smaller{_time(each)}, "
            f"{some(each.draws().refused, 'graph')} refused"
        )
        yield from (f"  {line}" for line in refusals(name, each.draws(), REASONS))
        yield from (cut(f"  {line}") for line in never_accepted(each.draws()))
        for key, count in sorted(each.drawn.verdicts.items()):
            cloner, _, verdict = key.rpartition(": ")
            yield (f"  {cloner_said(cloner):9} {verdict:10} {count:,}")
        if each.drawn.losses:
            losses = (f"{some(count, 'time')} over {what}" for what, count in sorted(each.drawn.losses.items()))
            again = "; such a trial is run once more" if TRIAL in each.drawn.losses else ""
            yield f"  its process was lost {', '.join(losses)}{again}"
    for name, reason in record.lost.items():
        yield (f"not tried: {name}: {visible(reason.splitlines()[0].removeprefix(f'{name}: '))}")


def _time(sum_: SubjectTotals) -> str:
    """How much of the workers' time went into making findings smaller."""
    whole = sum_.drawn.seconds + sum_.seconds
    return f" ({sum_.seconds / whole:.0%} of the time)" if sum_.seconds and whole else ""
