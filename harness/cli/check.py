"""`clonediff check`: a model of your own through upstream and fixed, all checks."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator

import click

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.check import Checked, ModelError, check, ignored_by, minded
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import exit_code, say, say_json
from clonediff.reports.markup import one_line, visible
from clonediff.reports.records import cloner_said


@click.command("check")
@click.argument("model", metavar="FILE.keras|FILE.py:FUNCTION")
@shared.cloners
@click.option(
    "--ignore", "ignored", metavar="ID", multiple=True, help="A fingerprint or known issue that may be there."
)
@click.option("--script", is_flag=True, help="Print a script of plain Keras that shows the worst break, only.")
@shared.as_json("Print JSON, with a script for each break.")
def command(model: str, cloners: tuple[str, ...], ignored: tuple[str, ...], script: bool, as_json: bool) -> None:
    """Say whether a model of your own is cloned faithfully.

    The model is a saved file, or what a function of a file returns. The code of that file is run. A saved file is
    loaded as Keras loads it by default, so one with a Python lambda is refused: let a function load it. Inputs are
    random numbers of the shapes that the model takes.

    Where upstream makes no clone, each layer, loss, metric and optimizer is revived alone from its config, so that what
    a config loses is told as well.

    Exit codes: 0 every clone is as good as the original, but for names, for what Keras documents that clone_model
    leaves out, and for what --ignore names; 1 a cloner breaks something else, known issue or not; 2 the model could not
    be loaded or checked; 130 interrupted.
    """
    try:
        checked = check(model, tuple(dict.fromkeys(cloners)))
    except ModelError as error:
        raise click.ClickException(one_line(str(error))) from None
    if as_json:
        say_json(checked)
    else:
        say(checked_text(checked, ignored), err=script)
    if script:
        worst = next(iter(checked.causes), None)
        click.echo("no break to show" if worst is None else visible(worst.script), nl=worst is None, err=worst is None)
    sys.exit(exit_code(breaks=checked.fails(ignored)))


def checked_text(checked: Checked, ignored: Collection[str] = ()) -> Iterator[str]:
    """The lines on a model. Names come out of files that anybody may have written."""
    yield f"{one_line(checked.model)}: {one_line(_summary(checked))}"
    versions = ", ".join(f"{name} {version}" for name, version in checked.versions.items())
    yield f"  {one_line(checked.kind)}; {versions}"
    yield from (f"  input {one_line(line)}" for line in checked.inputs)
    for cloner, causes in checked.clones.items():
        yield f"  {cloner_said(cloner)}: {_outcome(causes)}"
        yield from _causes_text(causes, ignored)
    if checked.alone:
        yield "  revived alone from their configs:"
        yield from _causes_text(checked.alone, ignored)


def _summary(checked: Checked) -> str:
    """What happens to whose clone, and what works."""
    broken = [name for name, causes in checked.clones.items() if minded(causes)]
    if not broken:
        return "cloned faithfully; nothing to do"
    said = "; ".join(f"{_outcome(checked.clones[name])} ({cloner_said(name)})" for name in broken)
    works = checked.clones.keys() - broken
    return f"{said}; what works: `from clonediff import clone_model`" if "fixed" in works else said


def _outcome(causes: Collection[CauseShown]) -> str:
    """What a cloner makes of the model, by the worst that it breaks."""
    if counted := minded(causes):
        return counted[0].happens
    if any(cause.name_only for cause in causes):
        return "only a name differs"
    return "faithful but for what is documented to be left out" if causes else "faithful"


def _causes_text(causes: Collection[CauseShown], ignored: Collection[str]) -> Iterator[str]:
    for cause in causes:
        root = cause.root
        word = "documented" if cause.documented else "known"
        known = f"{word}: {cause.known}" if cause.known else f"not a known issue: {cause.id}"
        yield f"    {one_line(cause.headline)} ({known}{', ignored' if ignored_by(cause, ignored) else ''})"
        at = f"{root.first.said}: {root.path}" if root.first else root.path
        yield f"      at {one_line(at)}"
        yield f"      original: {one_line(root.expected)}"
        yield f"      clone:    {one_line(root.found)}"
        if cause.because:
            yield f"      why: {one_line(cause.because)}" + (f" ({cause.link})" if cause.link else "")
        if cause.followers:
            first = ", ".join(follower.path for follower in cause.followers[:3])
            yield f"      {len(cause.followers)} more: {one_line(first)}{', ...' if len(cause.followers) > 3 else ''}"
