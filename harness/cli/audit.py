"""`clonediff audit`: does the config of each class keep every argument of its constructor?

Owns the arguments, the progress, the files of results and the exit code.
"""

from __future__ import annotations

import ast
import re
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import click
from msgspec.structs import replace

from clonediff.harness.answers.audit.hub import made_with
from clonediff.harness.answers.audit.jobs import OfBases, Values, audit_all, with_bases
from clonediff.harness.answers.audit.record import Audited, ClassAudited, full_name
from clonediff.harness.answers.audit.scripts import prove
from clonediff.harness.answers.audit.table import markdown
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, about_left, json_text
from clonediff.harness.cli.text.audit import audited_text, class_text
from clonediff.harness.source.other_layers import absolute
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.subjects.warm_child import Limits
from clonediff.harness.trials.drawable_kinds import value_of
from clonediff.reports.records import write, write_bytes

_FILE = re.compile(r"[^\w.-]+")
_SECONDS = 60.0
"""The limit of one construction."""


@click.command("audit")
@click.argument("target")
@click.option(
    "--subject", type=shared.SubjectName(), default="keras", show_default=True, help=f"On what. {shared.SUBJECT_HELP}"
)
@click.option(
    "--values", multiple=True, metavar="NAME=VALUE", help="One more value to try for arguments of that name, as Python."
)
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="How many classes at once.")
@click.option("--scripts/--no-scripts", default=True, show_default=True, help="Write and run a script for each.")
@click.option("--out", type=click.Path(path_type=Path), help="The folder of results [runs/audit-<time>].")
@shared.as_json("Print JSON.")
def command(
    target: str,
    subject: str,
    values: tuple[str, ...],
    jobs: int,
    scripts: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Say of each argument of each class whether its config keeps it.

    TARGET is a package, a module, a class or a file: keras.layers, keras_hub.models, my_package.layers.Scale,
    my_layers.py:Scale. Its classes that have a config are made with one argument at a time away from its default, and
    revived by from_config(get_config()), through JSON as well. The two are compared: what they hold, their weights,
    what they compute with equal weights, in inference and in training, what they cost, what they mask. An argument is
    kept, or lost, or it cannot be told. A value that the config writes in another form is not lost.

    The folder of results has all of it as JSON and in Markdown, and a script for each lost argument.

    Exit codes: 0 nothing is lost; 1 something is; 2 the command could not do its work; 130 interrupted.
    """
    where = absolute(target)
    began = time.monotonic()
    on = Subject.parse(subject)
    limits = Limits(trial=_SECONDS, memory=shared.memory_limit(jobs))
    further = _values(values)
    status = StatusLine(quiet=as_json and not sys.stderr.isatty())
    with open_subject(on, limits=limits) as process:
        status.show(f"looking at {target}", now=True)
        found = process.auditable(where)
        if not found:
            raise click.UsageError(f"{target}: expected classes that have get_config and from_config, found none")
        audited = Audited(target, subject, process.versions)
        of_bases: OfBases = {}
        run = _Run(audited, len(found), status, quiet=as_json)
        made = made_with(target, found, process)
        try:
            run.take(
                audit_all(
                    found,
                    on,
                    limits,
                    values=further,
                    made_with=made,
                    of_bases=of_bases,
                    jobs=jobs,
                    tell=run.at,
                )
            )
        except KeyboardInterrupt:
            run.audited = replace(run.audited, interrupted=True)
        audited = with_bases(run.audited, of_bases)
        if scripts and not audited.interrupted:
            status.show(f"running the scripts of {len(audited.lost())} arguments", now=True)
            audited = prove(audited, on, process.place)
        audited = replace(audited, seconds=round(time.monotonic() - began, 1))
    folder = out or Path("runs") / f"audit-{datetime.now(UTC).strftime('%Y-%m-%dT%H-%M-%S')}"
    _keep(audited, folder)
    if as_json:
        click.echo(json_text(audited))
    else:
        status.say("\n".join(("", *audited_text(audited, scripts=scripts))))
    status.note(f"results and scripts: {folder}")
    sys.exit(130 if audited.interrupted else 1 if audited.lost() else 0)


def _values(given: Iterable[str]) -> Values:
    """The values that are given, by the name of an argument."""
    found: dict[str, tuple[object, ...]] = {}
    for each in given:
        name, equals, text = each.partition("=")
        try:
            value = value_of(ast.literal_eval(text), name)
        except (ValueError, SyntaxError) as error:
            raise click.UsageError(f"--values {each}: expected NAME=VALUE, a value as Python writes it") from error
        if not equals or not name.isidentifier():
            raise click.UsageError(f"--values {each}: expected NAME=VALUE")
        found[name] = (*found.get(name, ()), value)
    return found  # type: ignore[return-value]


def _keep(audited: Audited, folder: Path) -> None:
    """Write everything as JSON and in Markdown, and a file for each script."""
    write(folder / "audit.json", audited)
    write_bytes(folder / "audit.md", markdown(audited).encode())
    for kind, argument in audited.lost():
        if argument.script:
            name = _FILE.sub("_", full_name(kind, argument))
            write_bytes(folder / "scripts" / f"{name}.py", argument.script.encode())


class _Run:
    """What is printed and kept as classes come."""

    def __init__(self, audited: Audited, count: int, status: StatusLine, *, quiet: bool) -> None:
        self.audited = audited
        self._count = count
        self._status = status
        self._quiet = quiet
        self._began = time.monotonic()

    def at(self, where: str) -> None:
        """Show where a job is."""
        came = len(self.audited.classes)
        left = (time.monotonic() - self._began) / came * (self._count - came) if came else 0.0
        self._status.show(lambda: f"{came} of {self._count} classes{about_left(left)}; {where}")

    def take(self, classes: Iterable[ClassAudited]) -> None:
        """Print and keep each class as it comes."""
        for each in classes:
            found = sorted((*self.audited.classes, each), key=lambda kind: kind.name)
            self.audited = replace(self.audited, classes=tuple(found))
            if not self._quiet:
                self._status.say(class_text(each))
