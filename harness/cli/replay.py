"""`clonediff replay`: try a finding, a graph or a known issue again."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from pathlib import Path

import click

from clonediff.harness.answers.replay import ReplayRow, replay, row_lines
from clonediff.harness.answers.targets import targets
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import Progress, estimate, exit_code, say, say_json, warn
from clonediff.harness.scripts.runner import ReplayAnswer
from clonediff.harness.subjects.outcomes import UnusableCodeError
from clonediff.harness.subjects.releases import pin
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.known import load
from clonediff.reports.markup import one_line
from clonediff.strategies.program import GENERATIONS

SKIP_COMMIT = 125
"""The exit code with which `git bisect run` skips a commit."""


@click.command("replay")
@click.argument("args", nargs=-1, required=True, metavar="RUN|FINDING|GRAPH|ISSUE|known...")
@click.option("--subject", "names", metavar="SUBJECT", multiple=True, help="The subject [the one of the finding].")
@shared.cloner("The cloner [the cloner of the finding, or upstream].")
@click.option("--bisect", is_flag=True, help="Use the exit codes of `git bisect run`.")
@shared.known_issues
@shared.as_json("Print the answers as JSON.")
def command(
    args: tuple[str, ...], names: tuple[str, ...], cloner: str | None, bisect: bool, known_issues: Path, as_json: bool
) -> None:
    """Try findings, graphs and known issues again.

    Arguments are runs, findings, graphs as JSON, corpora, folders of these, ids of known issues, or `known` for all
    known issues. Without --subject, each is tried on the subject on which it was found, or else on the installed Keras.

    \b
    breaks       its script fails again, or a trial shows its fingerprint; the clone of a graph is unfaithful
    gone         its script passes; the clone is faithful, except for known issues, which are listed
    other        it fails in another way: a new cause shows instead, or another cause hides it
    cannot tell  the model cannot be built, its process was lost, or a subject or file is not available

    Exit codes: 0 all are gone; 1 one breaks, or fails in another way; 2 one cannot be decided; 130 interrupted. With
    --bisect, 125 skips a commit that cannot be decided, and 128 stops the search. Run it in a checkout of Keras:

    \b
    git bisect start v3.15.0 v3.14.1
    git bisect run clonediff replay lambda-refused --subject . --bisect
    """
    known = load(known_issues)
    if bisect and len(names) != 1:
        raise click.UsageError("--bisect needs exactly one subject, such as --subject ../keras")
    try:
        subjects = list(dict.fromkeys(Subject.parse(pin(name)) for name in names))
    except UnusableCodeError as error:
        if not bisect:
            raise
        warn(str(error))
        sys.exit(SKIP_COMMIT)
    items = targets(args, known, {subject.generation for subject in subjects} or GENERATIONS)
    problems = [one_line(item.problem) for item in items if item.problem]
    if bisect and (problems or not items):
        reason = ", ".join(problems) or "nothing to replay"
        raise click.UsageError(f"--bisect: nothing can be tried on any commit: {reason}")
    total = len(items) * max(1, len(subjects))
    rows: list[ReplayRow] = []
    with Progress(quiet=as_json) as progress, contextlib.suppress(KeyboardInterrupt):
        answer_rows = replay(items, known, subjects=subjects, cloner=cloner, report=progress.show)
        with contextlib.closing(answer_rows):
            for row in answer_rows:
                rows.append(row)
                if not as_json:
                    progress.say(row_lines(row))
                time_left = estimate(len(rows), total, sum(row.seconds for row in rows))
                progress.show(f"replayed {len(rows)} of {total}{time_left}")
    interrupted, seconds = len(rows) < total, round(progress.seconds, 1)
    counts = Counter(row.answer for row in rows)
    if as_json:
        result = {"interrupted": interrupted, "seconds": seconds, "total": total, "counts": counts, "replayed": rows}
        say_json(result)
    else:
        answers = ", ".join(f"{counts[answer]} {answer.value}" for answer in ReplayAnswer if counts[answer])
        text = f"interrupted; {len(rows)} of {total} replayed" if interrupted else f"{total} replayed"
        say(f"{text} in {seconds:.0f} s: {answers}".removesuffix(": ") if total else "nothing to replay")
    sys.exit(replay_exit_code(rows, interrupted=interrupted, bisect=bisect))


def replay_exit_code(rows: list[ReplayRow], *, interrupted: bool, bisect: bool = False) -> int:
    """The exit code for the answers; with `bisect`, for `git bisect run`."""
    answers = {row.answer for row in rows} - {ReplayAnswer.GONE}
    if bisect and not interrupted:
        return 1 if ReplayAnswer.BREAKS in answers else SKIP_COMMIT if answers else 0
    return exit_code(interrupted=interrupted, failed=ReplayAnswer.UNKNOWN in answers, breaks=bool(answers))
