"""`clonediff fuzz`: draw graphs and try them until the time is up; keep what is found.

Searches in rounds: each round draws from a seed of its own until something new shows, which Hypothesis shrinks; the
next round looks past it. Owns the rounds, the progress and the exit code.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from harness.across import AcrossHunt, others_of
from harness.campaign.folder import RunFolder, script_of
from harness.campaign.hunt import Accusation, Hunt, Key
from harness.campaign.proof import fails_alone
from harness.campaign.search import Interrupted, search
from harness.offers import graphs_on, unable
from harness.releases import place_of
from harness.subjects import SubjectError
from harness.subjects.place import Place
from harness.subjects.process import SubjectProcess
from harness.subjects.subject import Subject
from reports.known import KNOWN_ISSUES, load
from reports.records import Finding, Run

CLONERS = ("upstream", "fixed", "roundtrip", "saved", "multi_gpu", "multi_gpu/fixed")
"""The cloners that take a seat by name; "planted/" ones are for tests, "proposed/" ones for Keras 2.2."""

ROUND = 250
"""Graphs in a round: enough for Hypothesis to vary what it has drawn, few enough to start afresh often."""


@click.command("fuzz")
@click.option("--subject", "subjects", multiple=True, default=("keras",), show_default=True, help="What to try.")
@click.option(
    "--cloner", "cloners", multiple=True, default=("upstream", "fixed"), show_default=True, help="Who clones."
)
@click.option(
    "--across",
    multiple=True,
    metavar="SUBJECT",
    help="Run each graph there too, and compare: another backend or device of a --subject, such as keras/jax.",
)
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Stop drawing after this long [2].")
@click.option("--trials", type=click.IntRange(min=1), help="Stop after drawing this many graphs for each subject.")
@click.option("--seed", "seed_", default=0, show_default=True, help="The seed of the first round.")
@click.option(
    "--rate",
    type=click.IntRange(min=0),
    default=8,
    show_default=True,
    help="Costly checks on one graph in N; 0 for none.",
)
@click.option("--out", type=click.Path(path_type=Path), help="The run's folder [runs/<time>].")
@click.option(
    "--known-issues", type=click.Path(path_type=Path), default=KNOWN_ISSUES, help="What is known [that of clonediff]."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    subjects: tuple[str, ...],
    cloners: tuple[str, ...],
    across: tuple[str, ...],
    minutes: float | None,
    trials: int | None,
    seed_: int,
    rate: int,
    out: Path | None,
    known_issues: Path,
    as_json: bool,
) -> None:
    """Draw graphs and try them until the time is up; keep what is found.

    Every finding is shrunk and written to the run's folder with a script. A script against upstream is plain Keras, and
    is run on its own: if it should fail and does not, the finding does not count. What reports/known_issues.toml
    explains is counted, not reported. With --across, what two backends compute differently is a finding too, apart from
    those of cloning. A release that is not there is installed; a subject that cannot be had is told,
    the others are tried, and the exit code is 2.
    """
    chosen = [Subject.parse(name) for name in dict.fromkeys(subjects)]
    for cloner in cloners:
        if cloner not in CLONERS and not cloner.startswith(("planted/", "proposed/")):
            raise click.BadParameter(f"expected one of {', '.join(CLONERS)}, found {cloner!r}", param_hint="--cloner")
    others = {subject: others_of(subject, map(Subject.parse, across)) for subject in chosen}
    for name in across:
        if not any(Subject.parse(name) in its for its in others.values()):
            raise click.BadParameter(
                f"{name}: expected another backend or device of {' or '.join(map(str, chosen))}", param_hint="--across"
            )
    known = load(known_issues)
    if minutes is None and trials is None:
        minutes = 2.0
    had, lost = _had(chosen)
    if not had:
        sys.exit(2)
    folder = RunFolder(out)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    campaign = Campaign(folder, started, seed_, as_json, lost)
    share = None if minutes is None else minutes * 60 / len(had)
    interrupted = False
    try:
        for number, (subject, place) in enumerate(had.items()):
            worker = f"worker-{number}"
            process = SubjectProcess(subject, journal=folder.journal(worker), worker=worker, place=place)
            try:
                process.start()
            except SubjectError as error:
                campaign.lose(subject, error)
                continue
            with process, contextlib.ExitStack() as stack:
                _refuse_unable(cloners, process)
                beside = _beside(others[subject], campaign, stack)
                campaign.on(AcrossHunt(process, known, beside, cloners=cloners, rate=rate), share, trials)
    except KeyboardInterrupt:
        interrupted = True
    except SubjectError:
        campaign.finish(interrupted)
        raise
    summary = campaign.finish(interrupted)
    click.echo(json.dumps(summary, indent=2) if as_json else campaign.told())
    sys.exit(130 if interrupted else 2 if campaign.lost else 1 if campaign.proven() else 0)


def _had(subjects: list[Subject]) -> tuple[dict[Subject, Place], dict[str, str]]:
    """Where the subjects are, and why some cannot be had, which is told."""
    had: dict[Subject, Place] = {}
    lost: dict[str, str] = {}
    for subject in subjects:
        try:
            had[subject] = place_of(subject)
        except SubjectError as error:
            lost[str(subject)] = str(error)
            click.echo(f"clonediff: {error}", err=True)
    return had, lost


def _refuse_unable(cloners: Sequence[str], process: SubjectProcess) -> None:
    """A cloner that a release has nothing to make of is a mistake of the command line, not a clone that crashed."""
    for cloner in cloners:
        reason = unable(cloner, process)
        if reason:
            raise click.BadParameter(reason, param_hint="--cloner")


def _beside(others: list[Subject], campaign: Campaign, stack: contextlib.ExitStack) -> list[SubjectProcess]:
    """The processes of the subjects to compare with; one that cannot be had is told, and left out."""
    running = []
    for other in others:
        try:
            process = stack.enter_context(SubjectProcess(other, place=place_of(other)))
        except SubjectError as error:
            campaign.lose(other, error)
        else:
            running.append(process)
    return running


class Campaign:
    """The rounds on each subject, and what came of them."""

    def __init__(self, folder: RunFolder, started: str, seed_: int, quiet: bool, lost: dict[str, str]) -> None:
        self.folder = folder
        self.lost = lost
        self.findings: list[tuple[Finding, Accusation, bool | None]] = []
        self.hunts: dict[str, Hunt] = {}
        self._versions: dict[str, dict[str, str]] = {}
        self._run = Run(started=started, seed=seed_)
        self._quiet = quiet
        self._began = time.monotonic()
        self._line = ""

    def lose(self, subject: Subject, error: SubjectError) -> None:
        """Tell of a subject that does not start, and go on without it."""
        self.lost[str(subject)] = str(error)
        click.echo(f"clonediff: {error}", err=True)

    def on(self, hunt: Hunt, seconds: float | None, trials: int | None) -> None:
        """Search one subject until its share of the budget is spent."""
        name = str(hunt.process.subject)
        self.hunts[name] = hunt
        self._versions[name] = hunt.process.versions
        self.folder.event("subject", subject=name, versions=self._versions[name])
        until = None if seconds is None else time.monotonic() + seconds
        seen: set[Key] = set()
        graphs = graphs_on(hunt.process)
        turn = 0
        while (until is None or time.monotonic() < until) and (trials is None or hunt.tally.drawn < trials):
            left = ROUND if trials is None else min(ROUND, trials - hunt.tally.drawn)
            try:
                found = search(
                    hunt,
                    graphs,
                    examples=left,
                    seed_=self._run.seed * 1_000_003 + turn,
                    seen=seen,
                    until=until,
                    after_each=self._progress(name, hunt, until, trials),
                )
            except Interrupted as interrupted:
                if interrupted.found is not None:
                    self._keep(interrupted.found, hunt, prove=False)
                raise
            turn += 1
            if found is not None:
                seen.add(found.key)
                self._keep(found, hunt)
            self.folder.run(self._as_run())

    def _keep(self, found: Accusation, hunt: Hunt, *, prove: bool = True) -> None:
        subject = hunt.process.subject
        finding = self.folder.finding(found, subject, self._versions[str(subject)])
        reproduced: bool | None = None
        self.findings.append((finding, found, reproduced))
        if prove and (found.cloner in ("upstream", "multi_gpu") or found.across):
            reproduced = fails_alone(
                script_of(found, subject.dialect, hunt.process.versions), subject, hunt.process.place
            )
            self.findings[-1] = (self.folder.proven(finding, reproduced), found, reproduced)
        if not self._quiet:
            self._clear()
            proof = {True: "its script fails on its own", False: "its script does not fail on its own", None: ""}
            who = found.cloner or ("across" if found.across else "original")
            said = "".join(f" ({note})" for note in found.notes)
            click.echo(f"found: {found.title} [{who}: {found.fingerprint}]{said} {proof[reproduced]}")

    def _progress(self, name: str, hunt: Hunt, until: float | None, trials: int | None) -> Callable[[], None]:
        last = [0.0]

        def show() -> None:
            now = time.monotonic()
            if self._quiet or now - last[0] < (0.5 if sys.stderr.isatty() else 15.0):
                return
            last[0] = now
            tally = hunt.tally
            rate = tally.trials / max(tally.seconds, 1e-9)
            left = f"{max(0.0, until - now):.0f} s left" if until is not None else f"of {trials}"
            said = f"{name}: {tally.trials} trials, {rate:.1f} a second, {len(self.findings)} new, {left}"
            if sys.stderr.isatty():
                self._clear()
                self._line = said
                click.echo(said, nl=False, err=True)
            else:
                click.echo(said, err=True)

        return show

    def _clear(self) -> None:
        if self._line:
            click.echo("\r" + " " * len(self._line) + "\r", nl=False, err=True)
            self._line = ""

    def _as_run(self) -> Run:
        verdicts: dict[str, int] = {}
        for hunt in self.hunts.values():
            for (cloner, verdict), count in hunt.tally.verdicts.items():
                verdicts[f"{cloner}: {verdict}"] = verdicts.get(f"{cloner}: {verdict}", 0) + count
        return Run(
            started=self._run.started,
            subjects=self._versions,
            seed=self._run.seed,
            trials=sum(hunt.tally.trials for hunt in self.hunts.values()),
            verdicts=verdicts,
            findings=tuple(finding.id for finding, _, _ in self.findings),
        )

    def proven(self) -> list[Finding]:
        """The findings that count: all but those whose script does not fail on its own."""
        return [finding for finding, _, reproduced in self.findings if reproduced is not False]

    def finish(self, interrupted: bool) -> dict[str, Any]:
        """Write the run for the last time; the summary as plain data."""
        self._clear()
        run = self._as_run()
        self.folder.run(run)
        for subject, reason in self.lost.items():
            self.folder.event("lost", subject=subject, reason=reason)
        self.folder.event("end", interrupted=interrupted, trials=run.trials)
        known: dict[str, int] = {}
        for hunt in self.hunts.values():
            for issue, count in hunt.tally.known.items():
                known[issue] = known.get(issue, 0) + count
        return {
            "folder": str(self.folder.path),
            "interrupted": interrupted,
            "seconds": time.monotonic() - self._began,
            "trials": run.trials,
            "subjects": run.subjects,
            "lost": self.lost,
            "verdicts": run.verdicts,
            "known": known,
            "across": [line.strip() for hunt in self.hunts.values() for line in hunt.told()],
            "findings": [
                {"id": finding.id, "title": finding.title, "cloner": finding.cloner, "reproduced": reproduced}
                for finding, _, reproduced in self.findings
            ],
        }

    def told(self) -> str:
        """The summary for a person."""
        run = self._as_run()
        lines = [""]
        for name, hunt in self.hunts.items():
            tally = hunt.tally
            versions = ", ".join(f"{key} {value}" for key, value in self._versions[name].items())
            lines.append(f"{name} ({versions})")
            shrinking = tally.trials - tally.drawn
            lines.append(
                f"  {tally.trials} trials, {shrinking} of them for making findings smaller, "
                f"{tally.costly} with the costly checks; {tally.refused} graphs refused"
            )
            for (cloner, verdict), count in sorted(tally.verdicts.items()):
                lines.append(f"  {cloner:9} {verdict:10} {count}")
            if tally.known:
                lines.append("  known issues met: " + ", ".join(f"{key} {n}" for key, n in tally.known.most_common()))
            lines += hunt.told()
        for name, reason in self.lost.items():
            lines.append(f"not tried: {name}: {reason.splitlines()[0].removeprefix(f'{name}: ')}")
        if self.findings:
            proven = len(self.proven())
            lines.append(f"{proven} new, each with its script in {self.folder.path}/findings")
            if proven < len(self.findings):
                lines.append(
                    f"{len(self.findings) - proven} kept there that do not count: the script does not fail alone"
                )
        else:
            lines.append(f"nothing new in {run.trials} trials; the run is in {self.folder.path}")
        return "\n".join(lines)
