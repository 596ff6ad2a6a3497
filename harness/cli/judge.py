"""`clonediff judge`: proposed fixes of `clone_model`, put in the place of the release's own and tried.

Owns the options, the progress and the exit code.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, about_left, json_text
from clonediff.harness.cli.text.judge import judged_text
from clonediff.harness.judge.patching import find_git
from clonediff.harness.judge.reading import Proposal, UnreadableError, read_proposal, read_text
from clonediff.harness.judge.releases import is_release, proposal_of
from clonediff.harness.judge.session import JudgeSession
from clonediff.harness.judge.trying import JudgeBudget
from clonediff.harness.subjects.outcomes import CloningFunctions
from clonediff.harness.subjects.process import Limits
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import KNOWN_ISSUES, load
from clonediff.reports.records import Run
from clonediff.reports.run_folder import RunFolder
from clonediff.reports.verdict import in_words


@click.command("judge")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--subject",
    "subject_name",
    type=shared.SubjectName(),
    default="keras",
    show_default=True,
    help="The release to be fixed, or a tree.",
)
@click.option(
    "--minutes", type=click.FloatRange(min=0), help="Draw fresh graphs this long for each candidate [8 seconds]."
)
@click.option("--trials", type=click.IntRange(min=0), help="Draw at most this many for each candidate [400].")
@click.option("--seed", "seed_", default=0, show_default=True, help="The seed of the fresh graphs.")
@click.option(
    "--limit",
    type=click.FloatRange(min=0, min_open=True),
    default=15.0,
    show_default=True,
    help="The seconds that one graph may take.",
)
@shared.out_folder
@shared.as_json("Print the verdicts as JSON.")
def command(
    files: tuple[str, ...],
    subject_name: str,
    minutes: float | None,
    trials: int | None,
    seed_: int,
    limit: float,
    out: Path | None,
    as_json: bool,
) -> None:
    """Try proposed fixes of clone_model in the place of the release's own code.

    FILE is a Python file, a unified diff against the release, or a text with code blocks, such as an answer from a
    forum or from a model. A release's name, such as keras==2.2.5, stands for its cloning functions. Nothing in a file
    is run in this process, but in one with limits of time and memory.

    Each is tried on the regression from the bug report, the release's own tests for cloning, the corpus of known
    graphs, and fresh ones. Exit code 0: all hold. 1: one does not.
    """
    subject = Subject.parse(subject_name)
    texts = [(name, None if is_release(name) else _read(name)) for name in dict.fromkeys(files)]
    # Of a text with code blocks, only the functions of the release say which block is the proposal.
    whole = (read_proposal(name, text, ()) for name, text in texts if text is not None)
    if any(each.form == "diff" and each.taken.startswith("the whole file") for each in whole):
        find_git()
    known = load(KNOWN_ISSUES)
    place = place_of(subject)
    budget = JudgeBudget(seed=seed_, limits=Limits(trial=limit, cloning=0))
    if minutes is not None:
        budget = replace(budget, seconds=minutes * 60, graphs=trials or 1_000_000)
    if trials is not None:
        budget = replace(budget, graphs=trials, seconds=budget.seconds if minutes is not None else 600.0)
    folder = RunFolder(out)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    progress = JudgeProgress(len(texts), quiet=as_json and not sys.stderr.isatty())
    session = JudgeSession(subject, place, folder, budget, known, progress.say)
    interrupted = False
    try:
        session.open()
        proposals = list(_proposals(texts, session.cloning))  # before the references, which take minutes
        progress.on("the release itself")
        session.references()
        for name, text, proposal in proposals:
            progress.on(name)
            session.judge(name, text, proposal)
        progress.on("the scripts")
        session.settle()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        progress.status.clear()
        session.close(interrupted=interrupted)
    about = f"{subject} ({in_words(session.versions)})"
    judged = [one.judged for one in session.candidates]
    verdicts = dict(Counter(each.word for each in judged))
    tried = sum(each.tried for each in judged)
    subjects = {str(subject): session.versions}
    folder.run(Run(started, subjects=subjects, seed=seed_, trials=tried, verdicts=verdicts))
    all_of_it = session.write_summary(about)
    folder.event("end", interrupted=interrupted)
    if as_json:
        click.echo(_summary(session, folder.path, interrupted, progress.status.seconds))
    else:
        click.echo("\n".join(judged_text(judged, about)))
        click.echo(f"{'interrupted; ' if interrupted else ''}all of it is in {all_of_it}, with a script for the worst")
    holds = all(one.judged.holds for one in session.candidates if one.folder is not None)
    sys.exit(130 if interrupted else 0 if holds else 1)


def _read(name: str) -> str:
    try:
        return read_text(Path(name))
    except UnreadableError as error:
        raise click.UsageError(str(error)) from None


def _proposals(
    texts: Sequence[tuple[str, str | None]], cloning: CloningFunctions
) -> Iterator[tuple[str, str, Proposal]]:
    """What each file or release proposes, with its name and its text."""
    for name, text in texts:
        proposal = proposal_of(name, cloning) if text is None else read_proposal(name, text, cloning.functions)
        if proposal.form == "diff":
            find_git()
        yield name, text or proposal.text, proposal


class JudgeProgress:
    """Which candidate is tried, what is being done with it, and about how long all will take."""

    def __init__(self, candidates: int, *, quiet: bool) -> None:
        """`candidates` is how many files there are; the release itself and the scripts come on top."""
        self.status = StatusLine(quiet=quiet, soon=0.0, piped=5.0)
        self._parts = candidates + 2
        self._done = -1
        self._name = "judging"

    def on(self, name: str) -> None:
        """The next part begins."""
        self._done += 1
        self._name = name

    def say(self, what: str, part: float) -> None:
        """What is being done, and how much of this part is."""
        done = max(0.0, self._done + part)
        left = about_left(self.status.seconds * (self._parts - done) / done) if done > 0.5 else ""
        self.status.show(f"{self._name}: {what}{left}")


def _summary(session: JudgeSession, folder: Path, interrupted: bool, seconds: float) -> str:
    rows = []
    for one in session.candidates:
        more = {"verdict": one.judged.word, "holds": one.judged.holds, "fixes": one.judged.fixes}
        # Of each graph the text, as it stands in verdict.json.
        plain = msgspec.json.decode(msgspec.json.encode(one.judged))
        rows.append({**plain, **more, "reference": one.folder is None})
    about = {"folder": str(folder), "subject": str(session.subject), "interrupted": interrupted}
    return json_text({**about, "seconds": round(seconds, 1), "candidates": rows})
