"""What a person reads of a campaign: where it is, what it finds, and what it came to."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator

from clonediff.harness.campaign.events import (
    Event,
    Found,
    MakingSmaller,
    ShardEnded,
    ShardLost,
    Stopping,
    SubjectLost,
    Tick,
    Unsteady,
)
from clonediff.harness.campaign.session import CampaignResult
from clonediff.harness.campaign.shards import Plan
from clonediff.harness.campaign.totals import SubjectTotals, Totals
from clonediff.harness.cli.terminal import StatusLine, cut, lines
from clonediff.harness.subjects.process import TRIAL
from clonediff.reports.broken import broken
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
    """A listener. Progress goes to standard error, what was found to standard output, unless `quiet`."""

    def __init__(self, plan: Plan, totals: Totals, *, quiet: bool) -> None:
        self._plan = plan
        self._totals = totals
        self._quiet = quiet
        self._status = StatusLine(soon=0.0)
        self._shown = not quiet or self._status.terminal
        self._reducing: dict[tuple[str, ...], str] = {}
        self._recent: deque[tuple[float, int]] = deque()

    def __call__(self, event: Event) -> None:
        """Say what of it is for people."""
        match event:
            case SubjectLost(reason=reason):
                self._status.say(f"clonediff: {lines(reason)}", error=True)
            case ShardLost(subject=subject, turn=turn, reason=reason):
                self._status.say(f"clonediff: {subject}: shard {turn} cannot be tried: {lines(reason)}", error=True)
            case MakingSmaller(subject=subject, key=key, title=title, begins=True):
                self._reducing[subject, *key] = title
            case MakingSmaller(subject=subject, key=key):
                self._reducing.pop((subject, *key), None)
            case Found(finding=finding, first=True) if not self._quiet:
                self._status.say(found_line(finding))
            case Found(finding=finding) if finding.smallest and not self._quiet:
                self._status.say(small_line(finding))
            case Unsteady(subject=subject, title=title) if not self._quiet:
                self._status.say(f"not counted, since it did not show again: {visible(title)} [{subject}]")
            case Stopping(running=running):
                self._status.say(
                    f"stopping once {some(running, 'task')} under way {'is' if running == 1 else 'are'} finished; "
                    "Ctrl-C again stops now",
                    error=True,
                )
            case ShardEnded() | Tick():
                self._progress(event.left if isinstance(event, Tick) else None, timed=isinstance(event, Tick))
            case _:
                pass

    def warn(self, problem: str) -> None:
        """Something that the user should know of."""
        self._status.say(f"clonediff: {lines(problem)}", error=True)

    def clear(self) -> None:
        """Take the status away."""
        self._status.clear()

    def _progress(self, left: float | None, *, timed: bool) -> None:
        now = time.monotonic()
        self._recent.append((now, self._totals.trials))
        while now - self._recent[0][0] > RECENT:
            self._recent.popleft()
        if timed and self._shown:
            self._status.show(lambda: ", ".join(self._parts(left)))

    def _parts(self, left: float | None) -> list[str]:
        totals = self._totals
        if not totals.of:
            return ["starting"]
        (then, before), (now, trials) = self._recent[0], self._recent[-1]
        parts = [some(trials, "trial")]
        rate = (trials - before) / (now - then) if now > then else 0.0
        known = sum(sum(each.drawn.known.values()) for each in totals.of.values())
        if rate:
            parts.append(f"{rate:.1f} a second")
        parts.append(f"{len(totals.new())} new, {known} known")
        if self._reducing:
            more = f" and {len(self._reducing) - 1} more" if len(self._reducing) > 1 else ""
            parts.append(f"making smaller: {visible(next(iter(self._reducing.values())))[:60]}{more}")
        if left is not None:
            parts.append(f"{lasted(left)} left" if left > 0 else "finishing")
        elif self._plan.budget.trials is not None:
            parts.append(self._of_trials(self._status.seconds))
        return parts

    def _of_trials(self, seconds: float) -> str:
        wanted = (self._plan.budget.trials or 0) * len(self._totals.of)
        drawn = sum(each.drawn.trials for each in self._totals.of.values())
        missing = max(0, wanted - drawn)
        if not missing:
            return "finishing"
        return f"{missing:,} to go" + (f", about {lasted(seconds * missing / drawn)} left" if drawn else "")


def found_line(finding: Finding) -> str:
    """A finding in a line, when it is seen."""
    return visible(f"found: {_named(finding)}")


def small_line(finding: Finding) -> str:
    """The same when it is as small as it gets, with what its script shows."""
    return visible(f"as small as it gets: {_named(finding)}; {finding.alone}")


def _named(finding: Finding) -> str:
    return f"{finding.title} [{finding.who}: {finding.id}]"


def result_text(result: CampaignResult) -> str:
    """What it came to: what is broken, what is new and what holds, subject by subject, and what could not be done."""
    ending, folder = result.ending, result.folder
    said = [summary(result.totals, result.read, folder)]
    said += [f"not done: {visible(each)}" for each in ending.failures[:FAILURES]]
    if len(ending.failures) > FAILURES:
        said.append(f"and {len(ending.failures) - FAILURES} more that could not be done: `--json` has all of them")
    if ending.interrupted:
        said.append("interrupted")
    return "\n".join(said)


def summary(totals: Totals, read: RunRead, folder: str) -> str:
    """What is broken, what is new and what holds; then subject by subject."""
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
    found, new = len(totals.findings), len(totals.new())
    if new:
        text.append(f"{new} new, each with its script in {folder}/findings")
        large = sum(not each.smallest for each in totals.new())
        if large:
            text.append(f"{large} of them not as small as they could be")
    if new < found:
        text.append(f"{found - new} kept in {folder}/findings that do not count: the script does not fail alone")
    text += [*([""] if found else []), *_by_subject(totals), f"All of it: {folder}/report.html"]
    return "\n".join(visible(" ".join(each.splitlines())) for each in text)


def _by_subject(totals: Totals) -> Iterator[str]:
    for name, each in totals.of.items():
        yield f"{name} ({in_words(each.met.versions)})"
        yield (
            f"  {each.trials:,} trials, {each.settling:,} of them for making findings smaller{_time(each)}, "
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
    for name, reason in totals.lost.items():
        yield (f"not tried: {name}: {visible(reason.splitlines()[0].removeprefix(f'{name}: '))}")


def _time(sum_: SubjectTotals) -> str:
    """How much of the workers' time went into making findings smaller."""
    whole = sum_.drawn.seconds + sum_.reducing
    return f" ({sum_.reducing / whole:.0%} of the time)" if sum_.reducing and whole else ""
