"""What a person sees of a campaign while it runs, and when it ends.

On a terminal one line that is written again and again; elsewhere a plain line now and then.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections import deque

import click

from harness.campaign.events import (
    Event,
    Found,
    NewCause,
    Settling,
    ShardEnded,
    ShardLost,
    Stopping,
    SubjectLost,
    SubjectReady,
    Tick,
    Unsteady,
)
from harness.campaign.shards import Plan
from harness.campaign.totals import SubjectTotals, Totals, compared
from reports.broken import broken
from reports.markup import visible
from reports.proof import alone
from reports.records import Finding
from reports.store import RunRead
from reports.verdict import lasted, some, verdict

EVERY = 0.5, 15.0
"""The seconds between two lines of progress: on a terminal, and elsewhere."""
CAUSES = 10
"""As many known causes are told at the end: a screen has room for them."""
RECENT = 60.0
"""A rate is that of the last so many seconds."""


class Console:
    """A listener that tells. Progress goes to standard error, what was found to standard output, unless `quiet`."""

    def __init__(self, plan: Plan, totals: Totals, *, quiet: bool) -> None:
        self._plan = plan
        self._totals = totals
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._settling: dict[tuple[str, ...], str] = {}
        self._recent: deque[tuple[float, int]] = deque()
        self._began = time.monotonic()
        self._last = 0.0
        self._line = ""

    def __call__(self, event: Event) -> None:
        """Tell of it, where it is for people."""
        match event:
            case SubjectLost(reason=reason):
                self._say(f"clonediff: {visible_lines(reason)}", error=True)
            case ShardLost(subject=subject, turn=turn, reason=reason):
                self._say(f"clonediff: {subject}: shard {turn} cannot be tried: {visible_lines(reason)}", error=True)
            case Settling(subject=subject, key=key, title=title, begins=True):
                self._settling[subject, *key] = title
            case Settling(subject=subject, key=key):
                self._settling.pop((subject, *key), None)
            case NewCause(finding=finding, fresh=True) if not self._quiet:
                self._say(told(finding))
            case Found(finding=finding, fresh=True) if finding.smallest and not self._quiet:
                self._say(told_small(finding))
            case Unsteady(subject=subject, title=title) if not self._quiet:
                self._say(f"not counted: {visible(title)} [{subject}] showed once and not again")
            case Stopping(running=running):
                self._say(
                    f"stopping: {some(running, 'task')} under way, to be finished first; Ctrl-C again ends it now",
                    error=True,
                )
            case SubjectReady(met=met):
                for problem in met.problems:
                    self.warn(problem)
            case ShardEnded(fresh=True) | Tick():
                self._progress(event.left if isinstance(event, Tick) else None, timed=isinstance(event, Tick))
            case _:
                pass

    def warn(self, problem: str) -> None:
        """Something that the user should know of."""
        self._say(f"clonediff: {visible_lines(problem)}", error=True)

    def clear(self) -> None:
        """Take the line of progress away."""
        if self._line:
            click.echo("\r" + " " * len(self._line) + "\r", nl=False, err=True)
            self._line = ""

    def _say(self, line: str, *, error: bool = False) -> None:
        self.clear()
        click.echo(line, err=error)

    def _progress(self, left: float | None, *, timed: bool) -> None:
        now = time.monotonic()
        self._recent.append((now, self._totals.trials))
        while now - self._recent[0][0] > RECENT:
            self._recent.popleft()
        every = EVERY[0] if self._terminal else EVERY[1]
        if not timed or (self._quiet and not self._terminal) or now - self._last < every:
            return
        self._last = now
        line = ", ".join(self._parts(left))
        if not self._terminal:
            click.echo(line, err=True)
            return
        room = shutil.get_terminal_size().columns - 1
        self.clear()
        self._line = line[:room]
        click.echo(self._line, nl=False, err=True)

    def _parts(self, left: float | None) -> list[str]:
        totals = self._totals
        if not totals.of:
            return ["starting"]
        (then, before), (now, trials) = self._recent[0], self._recent[-1]
        parts = [some(trials, "trial")]
        rate = (trials - before) / (now - then) if now > then else 0.0
        if rate:
            parts.append(f"{rate:.1f} a second")
        parts.append(f"{len(totals.news())} new, {sum(totals.known.values())} known")
        if self._settling:
            more = f" and {len(self._settling) - 1} more" if len(self._settling) > 1 else ""
            parts.append(f"making smaller: {visible(next(iter(self._settling.values())))[:60]}{more}")
        if left is not None:
            parts.append(f"{lasted(left)} left" if left > 0 else "finishing")
        elif self._plan.budget.trials is not None:
            parts.append(self._of_trials(now - self._began))
        return parts

    def _of_trials(self, seconds: float) -> str:
        wanted = (self._plan.budget.trials or 0) * len(self._totals.of)
        drawn = sum(each.drawn for each in self._totals.of.values())
        missing = max(0, wanted - drawn)
        if not missing:
            return "finishing"
        return f"{missing:,} to go" + (f", about {lasted(seconds * missing / drawn)} left" if drawn else "")


def visible_lines(text: str) -> str:
    """Lines with nothing in them that a terminal obeys."""
    return "\n".join(visible(line) for line in text.splitlines())


def told(finding: Finding) -> str:
    """A finding in a line, when it is seen."""
    notes = "".join(f" ({note})" for note in finding.notes)
    return visible(f"found: {_named(finding)}{notes}")


def told_small(finding: Finding) -> str:
    """The same when it is as small as it gets, with what its script shows."""
    return visible(f"as small as it gets: {_named(finding)}; {alone(finding)}")


def _named(finding: Finding) -> str:
    who = finding.cloner or ("across" if finding.across else "original")
    return f"{finding.title} [{who}: {finding.id}]"


def summary(totals: Totals, read: RunRead, folder: str) -> str:
    """What it came to, for a person: what is broken, what is new and what holds, then subject by subject."""
    said = verdict(read)
    lines = ["", f"{said.headline}.", *said.holds, ""]
    causes = broken(read)
    if causes:
        lines.append(f"Known causes, worst first, with the graphs that met each. Reasons and scripts: {folder}/known")
        cost = ""
        for each in causes[:CAUSES]:
            if each.cost_said != cost:
                cost = each.cost_said
                lines.append(f"  {cost}")
            where = f" [{each.shown.name}]" if each.shown is not None else ""
            lines.append(f"  {each.graphs:7,}  {' '.join(each.issue.title.split())[:160]}{where}")
        if len(causes) > CAUSES:
            lines.append(f"  and {len(causes) - CAUSES} more: in {folder}/report.html")
        lines.append("")
    found, news = len(totals.findings), len(totals.news())
    if news:
        lines.append(f"{news} new, each with its script in {folder}/findings")
        large = sum(not each.smallest for each in totals.news())
        if large:
            lines.append(f"{large} of them not as small as they could be")
    if news < found:
        lines.append(f"{found - news} kept in {folder}/findings that do not count: the script does not fail alone")
    lines += [*([""] if found else []), *_by_subject(totals), f"All of it: {folder}/report.html"]
    return "\n".join(visible(" ".join(each.splitlines())) for each in lines)


def _by_subject(totals: Totals) -> list[str]:
    lines: list[str] = []
    for name, each in totals.of.items():
        versions = ", ".join(f"{key} {value}" for key, value in each.met.versions.items())
        lines.append(f"{name} ({versions})")
        lines.append(
            f"  {each.trials:,} trials, {each.settling:,} of them for making findings smaller{_time(each)}, "
            f"{each.costly:,} with the costly checks; {each.refused:,} graphs refused"
        )
        for key, count in sorted(each.verdicts.items()):
            cloner, _, verdict = key.partition(": ")
            lines.append(f"  {cloner:9} {verdict:10} {count:,}")
        gone = [key for key, breaks in each.breaks.items() if breaks is False]
        if gone:
            lines.append(f"  known issues that no longer break: {', '.join(gone)}")
        if each.restarts:
            lines.append(f"  {some(each.restarts, 'process')} of it lost on the way".replace("processs", "processes"))
        lines += [f"  {line}" for line in compared(each)]
    for name, reason in totals.lost.items():
        lines.append(f"not tried: {name}: {visible(reason.splitlines()[0].removeprefix(f'{name}: '))}")
    return lines


def _time(sum_: SubjectTotals) -> str:
    """How much of the workers' time went into making findings smaller."""
    whole = sum_.seconds + sum_.shrinking
    return f" ({sum_.shrinking / whole:.0%} of the time)" if sum_.shrinking and whole else ""
