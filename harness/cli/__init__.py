"""The command line: a module for each command.

A module parses `options`, calls another package of the harness, and prints the result through `terminal`. No module
here imports Keras.
"""

from __future__ import annotations

import sys
import traceback

import click

if sys.platform != "linux":
    sys.exit("clonediff: its commands run on Linux only; `from clonediff import clone_model` works elsewhere, too")

from clonediff.harness.cli import audit, check, fuzz, judge, replay, repro
from clonediff.harness.cli.terminal import say, warn
from clonediff.harness.subjects import SubjectError
from clonediff.harness.subjects.subject import UnknownSubjectError
from clonediff.reports.records import RecordError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="clonediff")
def cli() -> None:
    """Find differences between Keras models and their clones.

    Exit codes: 0 nothing new, 1 a cause that no known issue explains, 2 the command failed, 130 interrupted (the
    findings so far are kept).
    """


for module in (audit, check, fuzz, judge, replay, repro):
    cli.add_command(module.command)


def main() -> None:
    """Run the command line. Print an expected error as one line, and exit with 2.

    With --bisect, exit with 128, which stops `git bisect run`; 2 would mean a bad commit.
    """
    failure_code = 128 if "--bisect" in sys.argv else 2
    try:
        code = cli.main(prog_name="clonediff", standalone_mode=False)
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        say(f"{context.command_path if context else 'clonediff'}: {error.format_message()}", err=True)
        code = failure_code
    except click.Abort:
        click.echo("interrupted", err=True)
        code = 130
    except Exception as error:
        if not isinstance(error, (SubjectError, UnknownSubjectError, RecordError, OSError)):
            traceback.print_exc()
            error = RuntimeError("this is a bug in clonediff; please report it with the lines above")
        if isinstance(error, OSError) and error.filename:
            advice = "free disk space, change its permissions, or name another file or folder"
            error = RuntimeError(f"{error.filename}: {error.strerror}: {advice}")
        warn(str(error))
        code = failure_code
    sys.exit(code if isinstance(code, int) else 0)
