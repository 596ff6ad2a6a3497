"""The command line, run in the process of a test."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main

Command = Callable[..., tuple[int, str, str]]
"""Arguments, and `cwd` for another folder than the test's own, to the exit code and what was printed on each side."""


def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> Command:
    """The command line for a test that starts nothing, such as that of a wrong argument: no process is waited for."""

    def run(*arguments: str, cwd: Path = folder) -> tuple[int, str, str]:
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["clonediff", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err, err
        return int(ended.value.code or 0), out, err

    return run
