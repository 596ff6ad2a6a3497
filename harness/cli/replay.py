"""`clonediff replay`: try a finding, a graph or a known issue once more, and say whether it is fixed.

Owns the arguments, what is said and the exit code. Must not import Keras.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reports.known import KNOWN_ISSUES, load

if TYPE_CHECKING:
    from harness.answers.replay.trying import ReplayRow


@click.command("replay")
@click.argument("what", nargs=-1, required=True, metavar="RUN|FINDING|GRAPH...")
@click.option("--subject", "subjects", multiple=True, metavar="SUBJECT", help="What to try it on [its own].")
@click.option("--cloner", metavar="NAME", help="Who clones [the finding's, or upstream].")
@click.option("--only", "only", metavar="ID", help="Only findings whose id begins so.")
@click.option(
    "--known-issues", type=click.Path(path_type=Path), default=KNOWN_ISSUES, help="What is known [that of clonediff]."
)
@click.option("--json", "as_json", is_flag=True, help="Print the answers as JSON.")
def command(
    what: tuple[str, ...],
    subjects: tuple[str, ...],
    cloner: str | None,
    only: str | None,
    known_issues: Path,
    as_json: bool,
) -> None:
    """Try findings and graphs once more: is it fixed?

    Takes a run's folder, a finding's folder or finding.json, a graph's JSON, a campaign's corpus or a file of it, a
    folder of these files, or the id of a known issue, whose example is tried. Without --subject, a finding, and a graph
    of a corpus, is tried on the subject it was found on, anything else on the installed Keras of its generation. Where
    a finding is of two subjects that differ, both are tried again, with --subject in that release.

    \b
    FIXED         what was found is gone; the clone is faithful, but for known issues, which are named
    STILL BROKEN  it shows: the same fingerprint, or a cause that the known issue explains
    CHANGED       it is gone, but something shows that is not known; or it cannot be seen behind something known
    ERROR         the model cannot be built, its process was lost, a subject or a file cannot be had
    HOLDS         a bare graph, of which nothing is expected, is cloned faithfully; else it is STILL BROKEN

    The costly checks are run where it takes them to see what was found, for bare graphs, and for one graph in eight, as
    in a search.

    Exit codes: 0 nothing is broken; 1 something is STILL BROKEN or CHANGED; 2 there is an ERROR; 130 interrupted, and
    what was replayed so far is told.
    """
    known = load(known_issues)
    if cloner is not None:
        _check(cloner)
    from harness.answers.history.telling import coloured
    from harness.answers.replay.reading import Reading
    from harness.answers.replay.telling import ReplayProgress, exit_code, line, summary, told
    from harness.answers.replay.trying import Replays
    from harness.subjects.subject import Subject

    chosen = list(dict.fromkeys(map(Subject.parse, subjects)))
    reading = Reading(known)
    items = reading.items(what)
    for problem in reading.problems:
        click.echo(f"clonediff: {line(problem)}", err=True)
    if only is not None:
        ids = sorted({item.id for item in items if item.id})
        items = [item for item in items if item.id.startswith(only)]
        if not items:
            raise click.UsageError(f"--only {line(only)}: no id begins so; there are {line(', '.join(ids)) or 'none'}")
    replays = Replays(items, known, subjects=chosen, cloner=cloner)
    began = time.monotonic()
    progress = ReplayProgress(len(replays))
    rows: list[ReplayRow] = []
    interrupted = False
    try:
        with contextlib.closing(replays.rows(progress.starting)) as answers:
            for row in answers:
                rows.append(row)
                progress.clear()
                if not as_json:
                    click.echo(told(row, colour=coloured(sys.stdout)))
                progress.one(row.seconds)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        progress.clear()
    seconds = time.monotonic() - began
    if as_json:
        click.echo(_as_json(rows, len(replays), seconds, interrupted))
    else:
        click.echo(summary(rows, len(replays), seconds, interrupted=interrupted))
    sys.exit(exit_code(rows, interrupted=interrupted))


def _check(cloner: str) -> None:
    from harness.cli.fuzz import CLONERS

    if cloner not in CLONERS and not cloner.startswith(("planted/", "proposed/")):
        raise click.BadParameter(f"expected one of {', '.join(CLONERS)}, found {cloner!r}", param_hint="--cloner")


def _as_json(rows: list[ReplayRow], total: int, seconds: float, interrupted: bool) -> str:
    from collections import Counter

    import msgspec

    summary = {
        "interrupted": interrupted,
        "seconds": round(seconds, 1),
        "total": total,
        "counts": Counter(row.outcome.value for row in rows),
        "replayed": rows,
    }
    return json.dumps(msgspec.to_builtins(summary), indent=2)
