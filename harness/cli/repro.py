"""`clonediff repro`: the script of a finding; or a run of it; or the text of its issue; or a test of it.

Owns the arguments, what is said and the exit code.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clonediff.harness.cli import options as shared
from clonediff.reports.known import KnownIssue
from clonediff.reports.markup import one_line, visible
from clonediff.reports.records import RecordError

if TYPE_CHECKING:
    from clonediff.harness.scripts.reproducer import Script
    from clonediff.reports.reading import StoredFinding


class NoScript(click.ClickException):
    """No script can be had; a line says why."""

    exit_code = 2


@click.command("repro")
@click.argument("what", type=click.Path(path_type=Path), metavar="FINDING|RUN|ISSUE")
@click.argument("id_", default="", metavar="[ID]")
@click.option("--run", is_flag=True, help="Run it, and say whether it fails as it should.")
@click.option("--issue", is_flag=True, help="The text of the issue instead.")
@click.option("--as-pytest", is_flag=True, help="A test for any project that runs pytest instead.")
@click.option("--subject", "subject_name", type=shared.SubjectName(), help="Run it on this [the finding's own].")
@shared.known_issues
def command(what: Path, id_: str, subject_name: str | None, known_issues: Path, **forms: bool) -> None:
    """Print the script of a finding: a screen of plain Keras that fails.

    FINDING is a finding's folder or its finding.json. In a RUN, such as runs/latest, ID is a finding's id or the
    beginning of it; without ID the run has to have one finding. ISSUE is the id of a known issue, such as
    lambda-refused.

    With --run it is run in a fresh process where nothing of clonediff can be imported, and is not printed. A release
    that is not there is installed.

    --as-pytest prints the script as a test that is marked as an expected failure, so that it says when the bug is
    mended.

    Exit codes: 0 done; with --run, the script fails as it should. 1 with --run, it does not. 2 there is no such
    finding, or it cannot be read or run.
    """
    chosen = [name.replace("_", "-") for name, given in forms.items() if given]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(f'--{name}' for name in chosen)}: choose one")
    form = chosen[0] if chosen else ""
    from clonediff.harness.answers.repro import run_on, script_of
    from clonediff.harness.scripts.reproducer import Script
    from clonediff.harness.subjects.subject import Subject

    subject = Subject.parse(subject_name) if subject_name is not None else None
    found = _found(what, id_, known_issues)
    if isinstance(found, KnownIssue):
        name, title, own = found.id, found.title, str(found.generation)
        script = Script(found.script, found.raises, sure=True)
    else:
        name, title, own = found.finding.known or found.finding.id, found.finding.title, found.finding.where
        script = script_of(found)
    text = script.text
    if form == "issue":
        text = _issue(found, text)
    elif form == "as-pytest":
        text = _as_pytest(script, name, title)
    text = visible(text)
    if form == "run":
        shown = run_on(script, subject or Subject.parse(own))
        word = {True: "reproduced", False: "does not fail as it should", None: "cannot be run"}[shown.breaks]
        click.echo(f"{one_line(name)} on {subject or own}: {word}: {one_line(shown.reason)}")
        sys.exit({True: 0, False: 1, None: 2}[shown.breaks])
    click.echo(text, nl=not text.endswith("\n"))


def _found(what: Path, id_: str, known_issues: Path) -> StoredFinding | KnownIssue:
    """The finding or the known issue of that name."""
    from clonediff.harness.answers.targets import NotFoundError, finding_at, issue_named

    try:
        issue = None if id_ or what.exists() else issue_named(str(what), known_issues)
        return issue or finding_at(what, id_)
    except (NotFoundError, RecordError) as error:
        raise NoScript(one_line(str(error), 2000)) from None


def _issue(found: StoredFinding | KnownIssue, script: str) -> str:
    """The text of an issue for Keras' tracker."""
    from clonediff.reports.issue import fenced, issue

    if isinstance(found, KnownIssue):
        link = f"See {found.link}\n\n" if found.link else ""
        return f"# {found.title}\n\n{found.because}.\n\n{link}{fenced(script.rstrip(), 'python')}\n"
    return found.issue or issue(found.finding, script)


def _as_pytest(script: Script, name: str, title: str) -> str:
    from clonediff.harness.scripts.as_pytest import NoTestError, pytest_test

    try:
        return pytest_test(script, name, title)
    except NoTestError as error:
        raise NoScript(one_line(f"{name}: {error}")) from None
