"""`clonediff check`: a model of your own, or those that come with Keras, through upstream and fixed, all checks.

Owns the arguments, the progress and the exit code.
"""

from __future__ import annotations

import dataclasses
import datetime
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import click
import msgspec

from clonediff.harness.answers.causes import CauseShown
from clonediff.harness.answers.checked_model.applications import IMAGE, how_large, smallest_first
from clonediff.harness.answers.checked_model.baseline import (
    held_against,
    read_baseline,
    untried,
    updated,
    with_what_is_gone,
)
from clonediff.harness.answers.checked_model.inputs import InputsError, sized
from clonediff.harness.answers.checked_model.looking import CheckWanted, look, not_looked_at, second_for
from clonediff.harness.answers.checked_model.models import APPLICATIONS, Model, ModelError, custom_file, parse
from clonediff.harness.answers.checked_model.record import Accepted, BreakSeen, CheckedModel, Status
from clonediff.harness.answers.checked_model.several import gather
from clonediff.harness.answers.checked_model.user_arguments import user_arguments
from clonediff.harness.answers.checked_model.verdicts import fails
from clonediff.harness.cli import options as shared
from clonediff.harness.cli.terminal import StatusLine, json_text
from clonediff.harness.cli.text.baseline import baseline_text
from clonediff.harness.cli.text.check import checked_text, models_text, summed_up
from clonediff.harness.scripts.comments import comment
from clonediff.harness.subjects.case import takes_arguments
from clonediff.harness.subjects.outcomes import SubjectError
from clonediff.harness.subjects.releases import open_subject
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.subjects.warm_child import Limits
from clonediff.reports.known import KnownIssues, load
from clonediff.reports.markup import one_line, visible
from clonediff.reports.records import RecordError, write_bytes

_PIPED = 15.0

Tell: TypeAlias = Callable[[str], None]


@click.command("check")
@click.argument("models", metavar="MODEL...", nargs=-1)
@shared.subjects("Whose clone_model.")
@shared.cloners
@click.option(
    "--custom", type=click.Path(path_type=Path), help="FILE.py with the model's own classes; it is imported first."
)
@click.option("--unsafe", is_flag=True, help="Load files that hold code, such as lambdas: they may do anything.")
@click.option("--inputs", "arrays", type=click.Path(path_type=Path), help="FILE.npz with an array for each input.")
@click.option(
    "--size",
    "sizes",
    metavar="[NAME=]N",
    multiple=True,
    help="What the open dimensions, or those of the input NAME, are taken as [a size that the model takes].",
)
@click.option(
    "--way",
    "arguments",
    metavar="WAY",
    multiple=True,
    help="What clone_model is given beside the model: new-inputs, remade, plain-calls, recursive, ARGUMENT=EXPRESSION, "
    "or FILE.py:FUNCTION that takes the model and gives a dict of arguments. Several are one call.",
)
@click.option("--batch", type=click.IntRange(min=1), help="Samples in a batch [2; 1 for applications].")
@click.option(
    "--costly/--no-costly", default=True, show_default=True, help="A second clone and a training step as well."
)
@click.option("--seed", default=0, show_default=True, help="The seed of weights and inputs.")
@click.option("--timeout", type=click.FloatRange(min=1), default=600.0, show_default=True, help="Seconds for a model.")
@click.option("--memory", type=click.FloatRange(min=0.5), help="GiB for a model [four fifths of what is free].")
@click.option("--allow-known", is_flag=True, help="Exit with 0 where all that breaks is a known issue.")
@click.option("--strict", is_flag=True, help="Exit with 1 where only a name differs, too.")
@click.option(
    "--baseline",
    "baseline_file",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="The breaks that the project lives with: exit with 0 where nothing else breaks.",
)
@click.option(
    "--update-baseline", is_flag=True, help="Write what breaks now into that file, and take out what no longer does."
)
@click.option("--reason", metavar="TEXT", help="Why what is added to the baseline is acceptable.")
@shared.private
@shared.known_issues
@click.option("--script", is_flag=True, help="Print a script of plain Keras that shows the worst break, only.")
@shared.as_json("Print JSON.")
@shared.out_file("Write the JSON to a file.")
@click.option("--list", "list_", is_flag=True, help="List the applications of the subject, smallest first.")
def command(
    models: tuple[str, ...],
    subjects: tuple[str, ...],
    cloners: tuple[str, ...],
    custom: Path | None,
    unsafe: bool,
    arrays: Path | None,
    sizes: tuple[str, ...],
    arguments: tuple[str, ...],
    batch: int | None,
    costly: bool,
    seed: int,
    timeout: float,
    memory: float | None,
    allow_known: bool,
    strict: bool,
    baseline_file: Path | None,
    update_baseline: bool,
    reason: str | None,
    private: bool,
    known_issues: Path,
    script: bool,
    as_json: bool,
    out: Path | None,
    list_: bool,
) -> None:
    """Say whether models of your own are cloned faithfully, and what to do where they are not.

    MODEL is a file (.keras, .h5; a SavedModel's folder on a subject that loads one), FILE.py:FUNCTION that makes the
    model, or applications:NAME of keras.applications with random weights, and options as its function takes them:
    applications:MobileNetV2:alpha=0.35:input_shape=96,96,3. `applications` alone is all of them. FILE.py alone is a
    model for each of its functions make_...() that needs no arguments, and a folder all such files and all .keras and
    .h5 files in it, without those of folders within it.
    Weights and inputs are set to random numbers; the files are only read. Whole numbers stay within the embeddings that
    they are looked up in, and those of an input that is named as a mask are 0 and 1.

    With --way, clone_model is given arguments. What new-inputs, remade, plain-calls and recursive ask for is a model
    like the one that is cloned, and the clone is held against that; of arguments of your own it is checked that they
    are used as clone_model documents. --way 'input_tensors=keras.Input((32, 32, 3))' sees keras, model, and what the
    model's own file defines as `theirs`. They are code that you name, and are run.

    A model is loaded in a process of its own, within --timeout and --memory. That bounds it and is no sandbox: a file
    that holds code (a Lambda of a Python lambda, a SavedModel), or cannot be searched for it, is not loaded without
    --unsafe, while FILE.py and --custom are code that you name, and are run.

    With --cloner module:function a function of your own clones, which takes a model and gives its clone. A module is
    looked for in the current folder first.

    With --baseline, what fails is what is not in that file. An entry [[accepted]] names a model, the cause of a break
    (a fingerprint or a known issue) and a reason, and may have a day on which it `expires`. An entry that has expired
    counts no more; one that nothing shows any more is told. What --way said is in an entry as its `way`: one without it
    is of clone_model(model) alone. --update-baseline alone writes the file.

    Exit codes: 0 every clone is as good as the original, but for names (see --strict) and for what Keras documents
    that clone_model leaves out; 1 a cloner breaks something else, known issue or not (but see --allow-known and
    --baseline); 2 a model could not be loaded or checked; 130 interrupted.
    """
    if script and as_json:
        raise click.UsageError("--script or --json: in JSON, each break has its script")
    chosen = [Subject.parse(each) for each in dict.fromkeys(subjects)]
    if list_:
        for subject in chosen:
            click.echo("\n".join(f"{name}  {how_large(name)}" for name in _applications(subject)))
        return
    if not models:
        raise click.UsageError("name a MODEL, or --list")
    if baseline_file is None and (update_baseline or reason is not None):
        raise click.UsageError(
            "--update-baseline and --reason: which file? Add --baseline clonediff-baseline.toml, say"
        )
    if reason is not None and not (update_baseline and reason.strip()):
        raise click.UsageError("--reason: expected a text, and --update-baseline, which writes it into the baseline")
    if reason is not None and _has_lone_surrogates(reason):
        raise click.UsageError("--reason: expected a text in UTF-8")
    try:
        chosen_sizes = dict(sized(each) for each in sizes)
        gathered = gather(dict.fromkeys(models))
        wanted = CheckWanted(
            cloners=tuple(dict.fromkeys(cloners)),
            costly=costly,
            custom=None if custom is None else custom_file(custom),
            unsafe=unsafe,
            arrays=_arrays(arrays),
            size=chosen_sizes.pop("", None),
            sizes=tuple(chosen_sizes.items()),
            batch=batch,
            seed=seed,
            seconds=timeout,
            clone_arguments=user_arguments(arguments),
            strict=strict,
            private=private,
        )
        if wanted.clone_arguments is not None and (
            others := [each for each in wanted.cloners if not takes_arguments(each)]
        ):
            raise ModelError(f"--way: the cloner {others[0]} takes a model and nothing else")
    except (ModelError, InputsError) as error:
        raise click.UsageError(str(error)) from None
    limit = shared.memory_limit(memory)
    limits = Limits(trial=timeout, memory=limit, recycle=limit, cloning=0)
    known = load(known_issues)
    today = datetime.date.today()
    baseline = None if baseline_file is None else read_baseline(baseline_file, today, to_update=update_baseline)
    for each in gathered.left_out:
        click.echo(one_line(each), err=True)
    done: list[CheckedModel] = []
    interrupted = False
    # Off a terminal nobody waits for a line on what is over soon, and starting Keras alone takes seconds.
    status = StatusLine() if sys.stderr.isatty() else StatusLine(soon=_PIPED)
    try:
        for model, checked in _all_checked(gathered.models, chosen, wanted, limits, known, status):
            if baseline is not None:
                given = wanted.clone_arguments
                checked = held_against(checked, model, baseline, given, strict=strict, allow_known=allow_known)
            done.append(checked)
            status.clear()
            if not as_json:
                # What is about to be added to the baseline is told once, at the end.
                told = msgspec.structs.replace(checked, baseline=None) if update_baseline else checked
                click.echo("\n".join((*checked_text(told), "")), err=script)
    except KeyboardInterrupt:
        interrupted = True
        status.clear()
        click.echo("interrupted", err=True)
    unwritten: OSError | RecordError | None = None
    if baseline is not None and not interrupted:
        done = with_what_is_gone(done, baseline, known)
        if update_baseline:
            try:
                done = updated(done, baseline, (reason or "").strip())
            except (OSError, RecordError) as error:  # what was found is told first
                unwritten = error
    text = json_text(done)
    if out is not None:
        write_bytes(out, f"{text}\n".encode())
    if as_json:
        click.echo(text)
    elif len(done) > 1:
        click.echo("\n".join(models_text(done, wanted.cloners)), err=script)
    aside = script or as_json
    if baseline is not None:
        left_out = untried(done, baseline)
        update = update_baseline and unwritten is None
        lines = baseline_text(done, baseline, left_out, update=update, interrupted=interrupted)
        click.echo("\n".join(lines), err=aside)
    asked = len(gathered.models) * len(chosen) if interrupted else len(done)
    if asked > 1:
        click.echo(summed_up(done, asked, status.seconds, strict=strict, allow_known=allow_known), err=aside)
    if script:
        _print_script(done)
    if unwritten is not None:
        raise unwritten
    sys.exit(130 if interrupted else _code(done, allow_known=allow_known, strict=strict))


def _all_checked(
    named: Sequence[Model],
    subjects: Sequence[Subject],
    wanted: CheckWanted,
    limits: Limits,
    known: KnownIssues,
    status: StatusLine,
) -> Iterator[tuple[Model, CheckedModel]]:
    """What came of each model on each subject, as it comes; the status says how many there are and were."""
    number = 0
    for at, subject in enumerate(subjects):
        models = list(_each_model(named, subject))
        total = number + len(models) * (len(subjects) - at)
        for model, failed in models:
            number += 1
            count = f"{number} of {total}, " if total > 1 else ""

            def tell(what: str, model: Model = model, count: str = count, subject: Subject = subject) -> None:
                status.show(f"{count}{model.spec} on {subject}: {what}")

            yield model, failed or _check(model, subject, _first(wanted, model), limits, known, tell)


def _each_model(named: Sequence[Model], subject: Subject) -> Iterator[tuple[Model, CheckedModel | None]]:
    """The models that were named, or that `applications` stands for. A subject that fails is an answer as well."""
    for model in named:
        try:
            yield from ((each, None) for each in _each(model, subject))
        except SubjectError as error:
            yield model, CheckedModel(model.spec, str(subject), Status.NO_SUBJECT, reason=str(error))


def _check(
    model: Model, subject: Subject, wanted: CheckWanted, limits: Limits, known: KnownIssues, tell: Tell
) -> CheckedModel:
    """Check a model in a process of its own, so that none is held to what another left behind."""
    began, versions = time.monotonic(), dict[str, str]()
    try:
        tell("starting")
        process = open_subject(subject, limits=limits)
        with second_for(model, process, wanted) as second, process:  # both start at once
            versions = process.versions
            tell("building the model")
            return look(model, process, wanted, known, tell, second)
    except (InputsError, SubjectError) as error:
        return not_looked_at(model.spec, str(subject), error, versions, began)


def _first(wanted: CheckWanted, model: Model) -> CheckWanted:
    """Applications are large, and made for images."""
    if model.how != "application":
        return wanted
    return dataclasses.replace(wanted, batch=wanted.batch or 1, first=IMAGE)


def _each(model: Model, subject: Subject) -> list[Model]:
    """The model, or for `applications` all of them."""
    if model.how == "application" and not model.name:
        return [parse(f"{APPLICATIONS}:{name}") for name in _applications(subject)]
    return [model]


def _applications(subject: Subject) -> list[str]:
    with open_subject(subject) as process:
        return smallest_first(process.applications())


def _arrays(file: Path | None) -> Path | None:
    if file is None:
        return None
    if not file.is_file():
        raise ModelError(f"--inputs {file}: no such file: expected a .npz, as numpy.savez writes it")
    return file.absolute()


def _code(done: Sequence[CheckedModel], *, allow_known: bool, strict: bool) -> int:
    if any(each.status is not Status.CHECKED for each in done):
        return 2
    return 1 if any(fails(each, allow_known=allow_known, strict=strict) for each in done) else 0


def _print_script(done: Sequence[CheckedModel]) -> None:
    """The script of the worst break of the first model that has one, upstream's before others'.

    What is new to a baseline comes before what it has accepted.
    """
    breaks: list[tuple[bool, str, CauseShown]] = [
        (_is_new(checked, cloned.cloner, each), checked.model, each)
        for checked in done
        for cloned in sorted(checked.clones, key=lambda cloned: cloned.cloner != "upstream")
        for each in cloned.breaks
    ]
    if not breaks:
        click.echo("no break to show", err=True)
        return
    _, model, shown = next((each for each in breaks if each[0]), breaks[0])
    head = comment(f"# {one_line(model)}: {one_line(shown.headline)}")
    click.echo(f"{head}\n{visible(shown.script)}", nl=False)


def _is_new(checked: CheckedModel, cloner: str, shown: CauseShown) -> bool:
    """Whether a break is new to the baseline, or was until this update of it."""
    if checked.baseline is None:
        return False
    seen: tuple[BreakSeen | Accepted, ...] = (*checked.baseline.new, *checked.baseline.added)
    return (cloner, shown.known or shown.id) in [(each.cloner, each.cause) for each in seen]


def _has_lone_surrogates(text: str) -> bool:
    """Whether a text was read from bytes that are no UTF-8: no file can hold it."""
    return any("\ud800" <= each <= "\udfff" for each in text)
