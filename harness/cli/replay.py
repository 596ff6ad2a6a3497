"""`clonediff replay`: try a finding, a graph or a known issue once more, and say whether it is fixed.

Owns the arguments, what is said and the exit code.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, about_left, coloured, json_text, lines
from clonediff.reports.known import load
from clonediff.reports.markup import one_line

if TYPE_CHECKING:
    from clonediff.harness.answers.replay import ReplayRow


@click.command("replay")
@click.argument("what", nargs=-1, required=True, metavar="RUN|FINDING|GRAPH|ISSUE|known...")
@click.option("--subject", "named", metavar="SUBJECT", multiple=True, help="What to try it on [its own].")
@shared.cloner("Who clones [the finding's, or upstream].")
@shared.layers
@click.option("--bisect", is_flag=True, help="End with the exit codes of `git bisect run`.")
@shared.known_issues
@shared.as_json("Print the answers as JSON.")
def command(
    what: tuple[str, ...],
    named: tuple[str, ...],
    cloner: str | None,
    bisect: bool,
    known_issues: Path,
    as_json: bool,
) -> None:
    """Try findings and graphs once more: is it fixed?

    Takes a run's folder, a finding's folder or finding.json, a graph's JSON, a campaign's corpus or a file of it, a
    folder of these files, the id of a known issue, whose example is tried, or `known` for all of them. Without
    --subject, a finding, and a graph of a corpus, is tried on the subject it was found on, anything else on the
    installed Keras of its generation. With several, there is an answer for each subject, worst last.

    \b
    breaks       it shows, by its fingerprint; or a script fails as it should, or a bare graph has an unfaithful clone
    gone         it does not show; the clone is faithful, but for known issues, which are named
    other        it is gone, but something shows that is not known; or it cannot be seen behind something known
    cannot tell  the model cannot be built, its process was lost, a subject or a file cannot be had

    The costly checks are run where it takes them to see what was found, for bare graphs, and for one graph in eight, as
    in a search.

    Exit codes: 0 all is gone; 1 something breaks, or there is another; 2 something cannot be told; 130 interrupted, and
    what was replayed so far is told.

    With --bisect they are those of `git bisect run`: 0 all is gone, the commit is good; 1 something breaks, it
    is bad; 125 it cannot be told, such as of a commit that cannot be imported; 128 and more, at which the
    bisection stops: a bad argument, an interrupt, a fault, a checkout that cannot be read. Run in a checkout of Keras:

    \b
    git bisect start v3.15.0 v3.14.1
    git bisect run clonediff replay lambda-refused --subject . --bisect
    """
    known = load(known_issues)
    from clonediff.harness.answers.replay import Replays, worst_last
    from clonediff.harness.answers.targets import targets
    from clonediff.harness.cli.text.replay import CANNOT_BE_TOLD, answer_text, answers_text, exit_code, summary
    from clonediff.harness.subjects.outcomes import UnusableCodeError
    from clonediff.harness.subjects.subject import Subject
    from clonediff.strategies.kinds import GENERATIONS

    if bisect and len(named) != 1:
        raise click.UsageError("--bisect: name what is bisected, and nothing else, as in --subject .")
    try:
        chosen = list(dict.fromkeys(Subject.parse(shared.subject_in_full(each)) for each in named))
    except UnusableCodeError as error:
        if not bisect:
            raise
        click.echo(f"clonediff: {lines(str(error))}", err=True)
        sys.exit(CANNOT_BE_TOLD)
    items, problems = targets(what, known, {each.generation for each in chosen} or GENERATIONS)
    for problem in problems:
        click.echo(f"clonediff: {one_line(problem)}", err=True)
    if bisect and (problems or not items or any(item.problem for item in items)):
        said = next((one_line(item.problem) for item in items if item.problem), "")
        raise click.UsageError(
            f"--bisect: there is something that cannot be tried on any commit: {said or 'see above'}"
        )
    replays = Replays(items, known, subjects=chosen, cloner=cloner)
    began = time.monotonic()
    status = StatusLine()
    rows: list[ReplayRow] = []
    interrupted = False

    def starting(what: str) -> None:
        status.show(what, now=True)

    try:
        with contextlib.closing(replays.rows(starting)) as answers:
            for row in answers:
                rows.append(row)
                if not as_json and len(chosen) < 2:
                    status.say(answer_text(row, colour=coloured(sys.stdout)))
                status.show(lambda: _so_far(rows, len(replays)))
    except KeyboardInterrupt:
        interrupted = True
    finally:
        status.clear()
    seconds = time.monotonic() - began
    if len(chosen) > 1:
        by_target = worst_last(rows)
        rows = [row for answers in by_target for row in answers]
        if not as_json:
            click.echo("\n".join(answers_text(answers, colour=coloured(sys.stdout)) for answers in by_target))
    if as_json:
        counts = Counter(row.answer.value for row in rows)
        found = {"interrupted": interrupted, "seconds": round(seconds, 1), "total": len(replays), "counts": counts}
        click.echo(json_text({**found, "replayed": rows}))
    else:
        click.echo(summary(rows, len(replays), seconds, interrupted=interrupted))
    sys.exit(exit_code(rows, interrupted=interrupted, bisect=bisect))


def _so_far(rows: list[ReplayRow], total: int) -> str:
    """An estimate from the trials alone: another subject takes seconds more to start."""
    left = sum(row.seconds for row in rows) / len(rows) * (total - len(rows))
    return f"replayed {len(rows)} of {total}{about_left(left)}"
