"""`clonediff replay`: try a finding, a graph or a known issue once more, and say whether it is fixed."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from pathlib import Path

import click

from clonediff.harness.answers.replay import ReplayRow, replayed
from clonediff.harness.answers.targets import targets
from clonediff.harness.answers.text import replayed_text
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import Progress, estimate, exit_code, say, say_json, warn
from clonediff.harness.scripts.alone import ReplayAnswer
from clonediff.harness.subjects.outcomes import UnusableCodeError
from clonediff.harness.subjects.releases import pinned
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import load
from clonediff.reports.markup import one_line
from clonediff.strategies.program import GENERATIONS

CANNOT_TELL = 125
"""The exit code by which `git bisect run` passes over a commit."""


@click.command("replay")
@click.argument("what", nargs=-1, required=True, metavar="RUN|FINDING|GRAPH|ISSUE|known...")
@click.option("--subject", "names", metavar="SUBJECT", multiple=True, help="What to try it on [its own].")
@shared.cloner("Who clones [the finding's, or upstream].")
@click.option("--bisect", is_flag=True, help="End with the exit codes of `git bisect run`.")
@shared.known_issues
@shared.as_json("Print the answers as JSON.")
def command(
    what: tuple[str, ...], names: tuple[str, ...], cloner: str | None, bisect: bool, known_issues: Path, as_json: bool
) -> None:
    """Try findings and graphs once more: is it fixed?

    Takes runs, findings, graphs as JSON, corpora, folders of these, ids of known issues, or `known` for all of them.
    Without --subject, each is tried on the subject it was found on, or else on the installed Keras of its generation.

    \b
    breaks       it shows, by its fingerprint; or a script fails as it should, or a bare graph has an unfaithful clone
    gone         it does not show; the clone is faithful, but for known issues, which are named
    other        it is gone, but something shows that is not known; or it cannot be seen behind something known
    cannot tell  the model cannot be built, its process was lost, a subject or a file cannot be had

    Exit codes: 0 all is gone; 1 something breaks, or there is another; 2 something cannot be told; 130 interrupted.
    With --bisect, 125 skips a commit of which it cannot be told, and 128 stops. Run in a checkout of Keras:

    \b
    git bisect start v3.15.0 v3.14.1
    git bisect run clonediff replay lambda-refused --subject . --bisect
    """
    known = load(known_issues)
    if bisect and len(names) != 1:
        raise click.UsageError("--bisect: name what is bisected, and nothing else, as in --subject .")
    try:
        subjects = list(dict.fromkeys(Subject.parse(pinned(name)) for name in names))
    except UnusableCodeError as error:
        if not bisect:
            raise
        warn(str(error))
        sys.exit(CANNOT_TELL)
    items = targets(what, known, {subject.generation for subject in subjects} or GENERATIONS)
    untried = [one_line(item.problem) for item in items if item.problem]
    if bisect and (untried or not items):
        reason = ", ".join(untried) or "nothing to replay"
        raise click.UsageError(f"--bisect: there is something that cannot be tried on any commit: {reason}")
    total = len(items) * max(1, len(subjects))
    rows: list[ReplayRow] = []
    with Progress(quiet=as_json) as progress, contextlib.suppress(KeyboardInterrupt):
        answers = replayed(items, known, subjects=subjects, cloner=cloner, say=progress.show)
        with contextlib.closing(answers):
            for row in answers:
                rows.append(row)
                if not as_json:
                    progress.say(replayed_text(row))
                left = estimate(len(rows), total, sum(row.seconds for row in rows))
                progress.show(f"replayed {len(rows)} of {total}{left}")
    interrupted, seconds = len(rows) < total, round(progress.seconds, 1)
    counts = Counter(row.answer for row in rows)
    if as_json:
        result = {"interrupted": interrupted, "seconds": seconds, "total": total, "counts": counts, "replayed": rows}
        say_json(result)
    else:
        words = ", ".join(f"{counts[answer]} {answer.value}" for answer in ReplayAnswer if counts[answer])
        done = f"interrupted; {len(rows)} of {total} replayed" if interrupted else f"{total} replayed"
        say(f"{done} in {seconds:.0f} s: {words}".removesuffix(": ") if total else "nothing to replay")
    sys.exit(replay_exit_code(rows, interrupted=interrupted, bisect=bisect))


def replay_exit_code(rows: list[ReplayRow], *, interrupted: bool, bisect: bool = False) -> int:
    """That of `git bisect run`, where what breaks comes first, or that of any command."""
    answers = {row.answer for row in rows} - {ReplayAnswer.GONE}
    if bisect and not interrupted:
        return 1 if ReplayAnswer.BREAKS in answers else CANNOT_TELL if answers else 0
    return exit_code(interrupted=interrupted, failed=ReplayAnswer.UNKNOWN in answers, breaks=bool(answers))
