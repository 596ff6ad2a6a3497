"""`clonediff subjects list | install | remove`: the releases that are installed to be tried.

Owns what is printed.
"""

from __future__ import annotations

import contextlib
import platform
import sys
import time
from collections.abc import Callable, Iterator
from typing import cast

import click

from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, json_text, table
from clonediff.harness.subjects.place import How
from clonediff.harness.subjects.releases import ReleaseError, in_full, installed, place_of, remove
from clonediff.harness.subjects.releases.requirements import version_beside
from clonediff.harness.subjects.releases.store import cache
from clonediff.harness.subjects.subject import BACKENDS, Subject, UnknownSubjectError

WAYS = ("laid over", "own stack", "v1 mode")


@click.group("subjects")
def command() -> None:
    """List, install and remove the releases that can be tried.

    A release is installed once, in a cache folder (that of the user, or the one that CLONEDIFF_CACHE names); the
    environment of clonediff is never touched. Every --subject installs its release by itself, so there is no need to.
    """


@command.command("list")
@shared.as_json("Print JSON.")
def list_(as_json: bool) -> None:
    """What is installed, how, on which Python and TensorFlow, how large and where; and what is beside clonediff."""
    found = installed()
    beside = {name: version for name in _beside_names() if (version := version_beside(name)) is not None}
    if as_json:
        told = {
            "cache": str(cache()),
            "beside": {"python": platform.python_version(), "folder": sys.prefix, "versions": beside},
            "installed": found,
        }
        click.echo(json_text(told))
        return
    rows = [("release", "how", "Python", "on", "size", "folder")]
    on = ", ".join(f"{name} {beside[name]}" for name in ("tensorflow", "jax", "torch") if name in beside)
    for package in ("keras", "tf_keras"):
        if package in beside:
            rows.append((f"{package}=={beside[package]}", "beside", platform.python_version(), on, "", sys.prefix))
    rows += [
        (each.release, each.how or "", each.python, each.on, _megabytes(each.bytes), each.folder)
        for each in found
        if each.broken is None
    ]
    click.echo("\n".join(table(rows)))
    for each in found:
        if each.broken is not None:
            click.echo(f"broken: {each.broken}")
    if not found:
        click.echo(f"nothing is installed in {cache()}: clonediff subjects install 'keras==3.14.1', say")


@command.command("install")
@click.argument("specs", metavar="SPEC...", nargs=-1, required=True)
@click.option("--stack", type=click.Choice(WAYS), help="The way to have them, where there is a choice (Keras 2).")
def install(specs: tuple[str, ...], stack: str | None) -> None:
    """Install releases, such as keras==3.14.1, tf_keras==2.20.1, keras==2.2.4, tensorflow==2.4.4, or keep a tree.

    One that cannot be had is a line, and exit code 2 at the end; the others are installed all the same.
    """
    failed = 0
    for spec in dict.fromkeys(specs):
        began = time.monotonic()
        try:
            with _progress() as say:
                subject = Subject.parse(in_full(spec, say))
            if subject.version is None:
                raise ReleaseError(f"{spec}: name a release, {spec}==VERSION: what is beside clonediff is there")
            with _progress() as say:
                place = place_of(subject, say=say, stack=cast("How | None", stack))
        except (ReleaseError, UnknownSubjectError) as error:
            failed += 1
            click.echo(f"clonediff: {error}", err=True)
        else:
            where = place.path[0] if place.path else place.python
            click.echo(f"{subject.release}: {place.how}, {time.monotonic() - began:.1f} s, {where}")
    sys.exit(2 if failed else 0)


@command.command("remove")
@click.argument("specs", metavar="SPEC...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Remove all that is installed, and what is left of installs.")
def remove_(specs: tuple[str, ...], everything: bool) -> None:
    """Remove releases, in whatever way they are had. The copies of trees are removed by 'keras==*+*'.

    What stands on a stack goes with it, and a TensorFlow 1 goes with the last Keras that stands on it.
    """
    if everything == bool(specs):
        raise click.UsageError("name the releases to remove, or give --all")
    failed = 0
    for spec in dict.fromkeys(specs) if specs else (None,):
        try:
            with _progress() as say:
                gone = remove(spec, say)
        except ReleaseError as error:
            failed += 1
            click.echo(f"clonediff: {error}", err=True)
        else:
            click.echo("\n".join(f"removed {name}" for name in gone) or "nothing is installed")
    sys.exit(2 if failed else 0)


def _beside_names() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*BACKENDS, *(each for backends in BACKENDS.values() for each in backends))))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size < 1e7 else f"{size / 1e6:.0f} MB"


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """What is being done: a line that is written over for a person, a line each where the output is piped."""
    status = StatusLine(soon=0.0)
    try:
        yield lambda what: status.show(what, now=True) if status.terminal else status.note(what)
    finally:
        status.clear()
