"""The command line: a module for each command, imported when the command is run.

A module reads the options (`options`), calls a room of the harness, and prints what it returns through `terminal`,
which has the tables, the progress and the exit codes. Nothing here imports Keras.
"""

from __future__ import annotations

import importlib
import sys
import traceback

import click

from clonediff.harness.cli.terminal import say, warn

_COMMANDS = {
    "audit": "Say of each argument of a package's classes whether a config keeps it.",
    "check": "Say whether models of your own are cloned faithfully, and what to do if not.",
    "fuzz": "Draw graphs and try them until the time is up; keep what is found.",
    "judge": "Try proposed fixes of clone_model in the place of the release's own code.",
    "replay": "Try findings and graphs once more: is it fixed?",
    "repro": "Print the script of a finding, run it, or print a test or an issue of it.",
}


class _LazyGroup(click.Group):
    """A group that imports a command's module when it is needed, so that `--help` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = importlib.import_module(f"clonediff.harness.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="clonediff")
def cli() -> None:
    """Find where a clone of a Keras model is not the model it was cloned from.

    Exit codes: 0 nothing new, 1 something that is not a known issue, 2 the command could not do its work, 130
    interrupted (what was found so far is kept).
    """


def main() -> None:
    """The console script. A fault of the caller or of the machine is one line and exit code 2.

    For `git bisect run`, 2 would be a bad commit: at 128 it stops.
    """
    failed = 128 if "--bisect" in sys.argv else 2
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        say(f"{context.command_path if context else 'clonediff'}: {error.format_message()}", err=True)
        code = failed
    except click.Abort:
        click.echo("interrupted", err=True)
        code = 130
    except Exception as error:
        from clonediff.harness.subjects import SubjectError
        from clonediff.harness.subjects.subject import UnknownSubjectError
        from clonediff.reports.records import RecordError

        if not isinstance(error, (SubjectError, UnknownSubjectError, RecordError, OSError)):
            traceback.print_exc()
            error = RuntimeError("this is a fault of clonediff itself; please report it with the lines above")
        warn(str(error))
        code = failed
    sys.exit(code if isinstance(code, int) else 0)
