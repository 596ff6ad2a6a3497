"""`clonediff gallery`: what is known to break in a release, each cause with its script, in Markdown.

Owns the arguments, where the files are written, and what is said meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import click

from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, about_left
from clonediff.reports.known import load
from clonediff.reports.records import write_bytes


@click.command("gallery")
@click.option("--subject", "subjects", multiple=True, metavar="SUBJECT", help="What to try [keras and tf_keras].")
@shared.known_issues
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("gallery"),
    show_default=True,
    help="The folder to write to.",
)
def command(subjects: tuple[str, ...], known_issues: Path, out: Path) -> None:
    """Write a page of all that is known to break: the causes, worst first, each with a script.

    The example of each known issue of a release is tried once, for a few minutes in all, and what it shows is written
    to README.md in the folder. With --subject, another release or your own checkout is tried: what is
    mended there is listed, and so is what breaks in another way.

    Exit codes: 0 written; 2 a subject does not start, or a file cannot be read or written; 130 interrupted, and nothing
    is written.
    """
    from clonediff.harness.answers.gallery import gallery_of
    from clonediff.harness.subjects.subject import Subject
    from clonediff.reports.exhibits import GENERATIONS, Gallery, counted, markdown

    known = load(known_issues)
    status = StatusLine()
    galleries: list[Gallery] = []
    try:
        for subject in dict.fromkeys(map(Subject.parse, subjects or GENERATIONS)):
            status.show(f"starting {subject}", now=True)
            galleries.append(gallery_of(subject, known, _progress(status, str(subject))))
            status.say(f"{galleries[-1].name}: {counted(galleries[-1])}")
    finally:
        status.clear()
    write_bytes(out / "README.md", markdown(galleries, known).encode("utf-8", "replace"))
    click.echo(f"written to {out / 'README.md'}", err=True)


def _progress(status: StatusLine, subject: str) -> Callable[[int, int], None]:
    """Says how far a subject is, with an estimate from the examples that were tried already."""
    began = time.monotonic()

    def show(done: int, total: int) -> None:
        left = (time.monotonic() - began) / done * (total - done) if done else 0.0
        status.show(f"{subject}: tried {done} of {total} examples{about_left(left)}")

    return show
