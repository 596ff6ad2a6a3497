"""`clonediff history`: release by release, does it break? A table and an answer in a line.

Owns the arguments, which releases they stand for here and now, and the exit code.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from clonediff.harness.answers.history import answer as answers
from clonediff.harness.answers.history.known_releases import known_releases, place
from clonediff.harness.answers.history.one_release import try_release
from clonediff.harness.answers.history.question import QuestionError, question_of
from clonediff.harness.answers.history.record import TOLD, History, ReleaseRow
from clonediff.harness.answers.history.releases_option import ReleasesError, lines, parse
from clonediff.harness.answers.history.survey import survey, table
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, about_left, coloured, json_text
from clonediff.harness.cli.text.history import history_text
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.subject import Subject, UnknownSubjectError
from clonediff.reports.records import write

_OF_GENERATION = {"keras": "keras>=3", "tf_keras": "tf_keras", "keras2": "keras<3", None: "keras"}
"""What is tried where no release is named."""


@click.command("history")
@click.argument("what", metavar="FINDING|GRAPH")
@click.option(
    "--releases",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="Which releases [all of its generation]. Items with commas or blanks between: keras==3.12.4, "
    "'keras>=3.10,<=3.15.1', keras==3.10..3.15 (both ends included), 'keras>=3.14/jax', tensorflow==2.4.4, tf_keras "
    "(all of it), all; or what --subject takes elsewhere, such as ../keras#COMMIT. May be given several times.",
)
@click.option("--all", "all_", is_flag=True, help="Try every release, not only those that tell.")
@shared.cloner("Who clones [the finding's, or upstream].")
@click.option("--jobs", type=click.IntRange(min=1), help="Releases at a time [the cores at hand].")
@click.option("--no-install", is_flag=True, help="Install nothing: only the releases that are here.")
@shared.layers
@shared.as_json("Print the history as JSON.")
@shared.out_file("Write the history to a file, as JSON.")
@click.option("--keep", is_flag=True, help="Write the answer into the finding, and into the text of its issue.")
def command(
    what: str,
    specs: tuple[str, ...],
    all_: bool,
    cloner: str | None,
    jobs: int | None,
    no_install: bool,
    as_json: bool,
    out: Path | None,
    keep: bool,
) -> None:
    """Say in which releases a bug is.

    FINDING is a finding's folder, its finding.json, or the id of a known issue; a release breaks where it shows the
    same cause, and "breaks otherwise" where it shows another that no known issue explains. It cannot be told of a
    release whose original cannot be run, trained or saved, where that is what it takes to see it, nor where something
    known stands before it. GRAPH is a graph's JSON, or a file of a campaign's corpus; a release breaks where the clone
    is not faithful, and every cause has an answer of its own.

    Of many releases, the first and the last of each branch (3.12, 3.13 ...) are tried, and those between where these
    two differ: fixes are carried to older branches, so that a bisection over all of them would lie. Up to 16 releases
    of a package, and those that are named, are all tried. What was not is said.

    Exit codes: 0 it could be told of one release at least, whatever it is; 2 of none; 130 interrupted, and what is
    known by then is printed.
    """
    began = time.monotonic()
    try:
        question = question_of(what, cloner)
        named = specs or (_OF_GENERATION[question.graph.generation] + question.suffix,)
        items = parse(named, shared.subject_in_full)
    except (QuestionError, ReleasesError, UnknownSubjectError) as error:
        raise click.UsageError(str(error)) from None
    if not shared.is_cloner(question.cloner):
        raise click.BadParameter(shared.no_cloner(question.cloner), param_hint="--cloner")
    if keep and question.file is None:
        raise click.BadParameter(f"expected a finding to write it into, found {what}", param_hint="--keep")
    if keep and question.apart:
        raise click.BadParameter(
            f"{question.apart}: its answer is not one about the finding; leave --keep out", param_hint="--keep"
        )
    jobs = jobs or len(os.sched_getaffinity(0))
    status = StatusLine(quiet=as_json, soon=0.0, piped=None)
    known, notes = known_releases(items, here_only=no_install)
    asked = lines(items, known)
    for note in notes:
        status.note(note)
    releases = survey(asked, all_=all_, sought=question.sought)

    def find(subject: Subject) -> ReleasePlace:
        return place(subject, install=not no_install, say=status.note)

    def tell(under_way: Sequence[Subject], row: ReleaseRow | None) -> None:
        left, tried = about_left(releases.seconds_left(jobs)), len(releases.answers)
        if row is not None:
            done = f"{tried} of {tried + len(releases.due())}"
            status.note(f"{row.subject}: {row.verdict} ({row.seconds:.0f} s; {done}{left})")
        else:
            status.show(f"trying {', '.join(map(str, under_way))}; {tried} tried{left}", now=True)

    releases.run(lambda subject: try_release(question, subject, find), jobs, tell)
    status.clear()
    found = table(asked, releases)
    rows = tuple(row for _, each in found for row in each)
    history = History(
        asked=question.about,
        cloner=question.cloner,
        answer=answers.answer(found),
        rows=rows,
        by_cause={} if question.sought else answers.by_cause(found),
        notes=tuple(notes),
        interrupted=releases.interrupted,
        seconds=time.monotonic() - began,
    )
    if out is not None:
        write(out, history)
    if keep and question.file is not None and not history.interrupted and any(row.verdict in TOLD for row in rows):
        from clonediff.reports.writing import amend

        for line in amend(question.file.parent, answers.since(found), history.answer):
            status.note(line)
    if as_json:
        click.echo(json_text(history))
    else:
        click.echo(history_text(history, colour=coloured(sys.stdout)))
    sys.exit(130 if history.interrupted else 0 if any(row.verdict in TOLD for row in rows) else 2)
