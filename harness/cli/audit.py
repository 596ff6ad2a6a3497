"""`clonediff audit`: find constructor arguments that the config of a class loses."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from clonediff.harness.answers.audit import audit_all, classes_of
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import Progress, estimate, exit_code, say, say_json
from clonediff.harness.observation import AuditedClass
from clonediff.harness.trials.cloners import absolute_name
from clonediff.reports.markup import one_line

_MAX_REASON = 110


@click.command("audit")
@click.argument("target")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="How many processes to use.")
@shared.as_json("Print JSON, with an answer for each argument.")
def command(target: str, jobs: int, as_json: bool) -> None:
    """Find constructor arguments that the config of a class loses.

    TARGET is a package, a module, a class or a file: keras.layers, tf_keras.losses, my_package.layers.Scale,
    my_layers.py:Scale. For each argument of a class with a config, an object is created with a value other than
    the default. It is recreated by from_config(get_config()), directly and through JSON. All attributes of the objects
    are compared. An argument is kept, lost or unknown. It also counts as kept if the config has it in another form.
    Objects are created in processes with limits of time and memory.

    Exit codes: 0 no argument is lost; 1 an argument is lost; 2 the command failed; 130 interrupted.
    """
    with Progress(quiet=as_json) as progress:
        progress.show(f"looking at {target}")
        generation, classes = classes_of(absolute_name(target))
        if not classes:
            raise click.UsageError(f"{target}: found no class that has get_config and from_config; name another target")
        audits: list[AuditedClass] = []
        for result in audit_all(classes, generation, jobs):
            audits.append(result)
            if not as_json:
                progress.say(_lines(result))
            progress.show(f"{len(audits)} of {len(classes)}{estimate(len(audits), len(classes), progress.seconds)}")
    audits.sort(key=lambda result: result.name)
    answers = [argument.answer for result in audits for argument in result.arguments]
    counts = f"{answers.count('lost')} lost, {answers.count('kept')} kept, {answers.count('cannot tell')} unknown"
    total = f"{target}: {len(audits)} class{'' if len(audits) == 1 else 'es'}; arguments: {counts}"
    say_json(audits) if as_json else say(total)
    sys.exit(exit_code(breaks=any(result.lost_arguments for result in audits)))


def _lines(result: AuditedClass) -> Iterator[str]:
    """The lines for a class and its lost arguments."""
    name = result.name.rpartition("/")[2]  # without the folder of a file
    if result.reason:
        yield f"{name}: {one_line(result.reason, _MAX_REASON)}"
        return
    kept = sum(argument.answer == "kept" for argument in result.arguments)
    yield f"{name}: {kept} of {len(result.arguments)} arguments kept"
    for argument in result.lost_arguments:
        yield f"  lost: {one_line(argument.label, 60)}: {one_line(argument.reason, _MAX_REASON)}"
