"""`clonediff history`: release by release, or commit by commit, does it break? A table and an answer in a line.

Owns the arguments, which releases they stand for here and now, and the exit code.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from clonediff.harness.answers.history import answer as answers
from clonediff.harness.answers.history.bisection import Bisection, Place
from clonediff.harness.answers.history.commits import CommitCopies, changes, commit_answer, commit_survey, tried_rows
from clonediff.harness.answers.history.known_releases import known_releases, place
from clonediff.harness.answers.history.one_release import try_commit, try_release
from clonediff.harness.answers.history.question import HistoryQuestion, QuestionError, question_of
from clonediff.harness.answers.history.record import CLONED, TOLD, History, ReleaseRow
from clonediff.harness.answers.history.releases_option import ReleasesError, lines, parse
from clonediff.harness.answers.history.survey import survey, table
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, about_left, coloured, json_text
from clonediff.harness.cli.text.history import history_text
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.releases import ReleaseError, commit_range, split
from clonediff.harness.subjects.releases.commits import Commit
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
@click.option(
    "--commits",
    metavar="A..B",
    help="Which commits of --repo, instead of releases: those that came to B after A, by first parents.",
)
@click.option("--repo", metavar="FOLDER", help="The repository of the commits, such as ../keras or ../keras/jax.")
@click.option("--all", "all_", is_flag=True, help="Try every release or commit, not only those that tell.")
@shared.cloner("Who clones [the finding's, or upstream].")
@click.option("--jobs", type=click.IntRange(min=1), help="Releases or commits at a time [the cores at hand].")
@click.option("--no-install", is_flag=True, help="Install nothing: only the releases that are here.")
@shared.layers
@shared.as_json("Print the history as JSON.")
@shared.out_file("Write the history to a file, as JSON.")
@click.option("--keep", is_flag=True, help="Write the answer into the finding, and into the text of its issue.")
def command(
    what: str,
    specs: tuple[str, ...],
    commits: str | None,
    repo: str | None,
    all_: bool,
    cloner: str | None,
    jobs: int | None,
    no_install: bool,
    as_json: bool,
    out: Path | None,
    keep: bool,
) -> None:
    """Say in which releases a bug is, or which commit made it.

    FINDING is a finding's folder, its finding.json, or the id of a known issue; a release breaks where it shows the
    same cause, and "breaks otherwise" where it shows another that no known issue explains. It cannot be told of a
    release whose original cannot be run, trained or saved, where that is what it takes to see it, nor where something
    known stands before it. GRAPH is a graph's JSON, or a file of a campaign's corpus; a release breaks where the clone
    is not faithful, and every cause has an answer of its own.

    Of many releases, the first and the last of each branch (3.12, 3.13 ...) are tried, and those between where these
    two differ: fixes are carried to older branches, so that a bisection over all of them would lie. Up to 16 releases
    of a package, and those that are named, are all tried. What was not is said.

    With --commits, both ends are tried, and between two that differ as many as --jobs at once, until it is known which
    commit changed it. Where it was broken, mended and broken again, all changes are told that were seen. Commits of
    which it cannot be told are passed over and named. Their copies are removed once they are tried.

    Exit codes: 0 it could be told of one release or commit at least, whatever it is; 2 of none; 130 interrupted, and
    what is known by then is printed.
    """
    if (commits is None) != (repo is None):
        raise click.UsageError("--commits A..B and --repo FOLDER go together")
    if commits is not None and (specs or no_install):
        raise click.UsageError("--commits asks about commits: leave --releases and --no-install out")
    try:
        question = question_of(what, cloner)
    except QuestionError as error:
        raise click.UsageError(str(error)) from None
    if not shared.is_cloner(question.cloner):
        raise click.BadParameter(shared.no_cloner(question.cloner), param_hint="--cloner")
    if keep and question.file is None:
        raise click.BadParameter(f"expected a finding to write it into, found {what}", param_hint="--keep")
    if keep and question.apart:
        raise click.BadParameter(
            f"{question.apart}: its answer is not one about the finding; leave --keep out", param_hint="--keep"
        )
    asking = Asking(
        question, jobs or len(os.sched_getaffinity(0)), all_, StatusLine(quiet=as_json, soon=0.0, piped=None)
    )
    if commits is not None and repo is not None:
        history, answer = _of_commits(asking, commits, repo)
    else:
        history, answer = _of_releases(asking, specs, install=not no_install)
    told = any(row.verdict in (TOLD if commits is None else CLONED) for row in history.rows)
    if out is not None:
        write(out, history)
    if keep and question.file is not None and not history.interrupted and told:
        from clonediff.reports.writing import amend

        for line in amend(question.file.parent, **answer):
            asking.status.note(line)
    if as_json:
        click.echo(json_text(history))
    else:
        click.echo(history_text(history, colour=coloured(sys.stdout)))
    sys.exit(130 if history.interrupted else 0 if told else 2)


class Asking(NamedTuple):
    """What is asked, and how."""

    question: HistoryQuestion
    jobs: int
    all_: bool
    status: StatusLine

    def run(self, survey: Bisection[Place, ReleaseRow], attempt: Callable[[Place], ReleaseRow]) -> None:
        """Try what tells, and say how far it is."""

        def tell(under_way: Sequence[Place], row: ReleaseRow | None) -> None:
            left, tried = about_left(survey.seconds_left(self.jobs)), len(survey.answers)
            if row is not None:
                done = f"{tried} of {tried + len(survey.due())}"
                self.status.note(f"{row.commit or row.subject}: {row.verdict} ({row.seconds:.0f} s; {done}{left})")
            else:
                self.status.show(f"trying {', '.join(map(str, under_way))}; {tried} tried{left}", now=True)

        survey.run(attempt, self.jobs, tell)
        self.status.clear()


Answered = tuple[History, dict[str, str | None]]
"""A history, and what it says in the fields of a finding."""


def _of_releases(asking: Asking, specs: tuple[str, ...], *, install: bool) -> Answered:
    began = time.monotonic()
    question = asking.question
    try:
        named = specs or (_OF_GENERATION[question.graph.generation] + question.suffix,)
        items = parse(named, shared.subject_in_full)
    except (ReleasesError, UnknownSubjectError) as error:
        raise click.UsageError(str(error)) from None
    known, notes = known_releases(items, here_only=not install)
    asked = lines(items, known)
    for note in notes:
        asking.status.note(note)
    releases = survey(asked, all_=asking.all_, sought=question.sought)

    def find(subject: Subject) -> ReleasePlace:
        return place(subject, install=install, say=asking.status.note)

    asking.run(releases, lambda subject: try_release(question, subject, find))
    found = table(asked, releases)
    history = History(
        asked=question.about,
        cloner=question.cloner,
        answer=answers.answer(found),
        rows=tuple(row for _, each in found for row in each),
        by_cause={} if question.sought else answers.by_cause(found),
        notes=tuple(notes),
        interrupted=releases.interrupted,
        seconds=time.monotonic() - began,
    )
    return history, {"since": answers.since(found), "history": history.answer}


def _of_commits(asking: Asking, range_: str, repo: str) -> Answered:
    began = time.monotonic()
    question, status = asking.question, asking.status
    if question.graph.generation not in (None, "keras"):
        raise click.UsageError(f"--commits asks about Keras 3, and this is of {question.graph.generation}: --releases")
    tree, suffix = split(repo.strip())
    folder = Path(tree).expanduser().absolute()
    try:
        found = commit_range(tree, folder, range_)
    except ReleaseError as error:
        raise click.UsageError(str(error)) from None
    copies = CommitCopies(str(folder), suffix or question.suffix, status.show)
    commits = commit_survey(found, asking.jobs, all_=asking.all_, sought=question.sought)

    def attempt(commit: Commit) -> ReleaseRow:
        row = try_commit(question, commit, copies.of)
        copies.remove(row)
        return row

    try:
        asking.run(commits, attempt)
    finally:
        copies.close()
    rows = tried_rows(found, commits.answers)
    seen = changes(found, commits.answers, sought=question.sought)
    base = found.line[0].short
    notes = [f"{range_}: {len(found.line) - 1} commits after {base}, {len(rows)} tried"]
    if found.apart is not None:
        notes.append(f"{found.apart} of {range_.partition('..')[0]} is on another branch, and is tried beside them")
    history = History(
        asked=question.about,
        cloner=question.cloner,
        answer=commit_answer(found, commits.answers, seen),
        rows=rows,
        changes=seen,
        notes=tuple(notes),
        interrupted=commits.interrupted,
        seconds=time.monotonic() - began,
    )
    return history, {"commits": history.answer}
