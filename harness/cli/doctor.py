"""`clonediff doctor`: what is installed, which subjects work, and what is missing for the rest.

Owns what is printed and the exit code.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click
import msgspec

from clonediff.harness.answers.doctor import GIB, Diagnosis, diagnose
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, json_text
from clonediff.reports.verdict import in_words


@click.command("doctor")
@click.option("--start/--no-start", default=True, show_default=True, help="Start each subject, and try a small graph.")
@shared.as_json("Print JSON.")
def command(start: bool, as_json: bool) -> None:
    """Say what is installed, which subjects work, and what is missing for the rest. Needs no network.

    Exit codes: 0 the installed Keras works, whatever else is missing, or with --no-start, it is here; 2 it does not.
    """
    status = StatusLine(quiet=as_json, piped=None)
    found = diagnose(start=start, say=lambda what: status.show(what, now=True))
    status.clear()
    if as_json:
        click.echo(json_text({**msgspec.to_builtins(found), "works": found.works}))
    else:
        click.echo("\n".join(diagnosis_text(found)))
    sys.exit(2 if found.works is False else 0)


def diagnosis_text(found: Diagnosis) -> Iterator[str]:
    """The lines for a person."""
    yield f"Python {found.python}"
    for name, version in found.packages.items():
        yield f"  {name:12} {version or 'not installed'}"
    yield "subjects"
    for each in found.subjects:
        if each.works:
            told = "; ".join((in_words(each.versions), f"sees {', '.join(each.devices)}", in_words(each.verdicts)))
            yield f"  {each.subject:14} works, {each.seconds:.1f} s: {told}"
        else:
            yield f"  {each.subject:14} {'is here, not started' if each.works is None else each.reason}"
    yield f"releases in the cache: {len(found.releases)}" + (": " if found.releases else "") + ", ".join(found.releases)
    yield "interpreters for stacks of old releases"
    for python, path in found.pythons.items():
        yield f"  Python {python:7} {path or 'not found'}"
    yield "GPU: " + ("; ".join(found.gpus) or "none")
    yield f"browser: {found.browser or 'none'}"
    yield f"git: {found.git or 'none'}"
    yield f"{found.cores} cores, {found.memory / GIB:.1f} GiB of memory, {found.available / GIB:.1f} GiB of it free"
    for name, folder in found.folders.items():
        state = folder.problem or "can be written to"
        yield f"{name}: {folder.path}, {folder.free / GIB:.1f} GiB free, {state}"
    if found.advice:
        yield "advice"
        yield from (f"  {line}" for line in found.advice)
    yield {
        True: "the installed Keras works",
        False: "the installed Keras does not work",
        None: "the installed Keras is here; it was not started, so whether it works is not known",
    }[found.works]
