"""Run campaigns in their own processes, as a user does, and read what they leave behind."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from msgspec import Raw
from msgspec.structs import replace

from clonediff.harness.campaign.corpus import NightlyCorpus
from clonediff.reports.run_folder import read_run
from clonediff.strategies.program import to_json
from tests.helpers.command_line import run_clonediff
from tests.helpers.example_graphs import graph_of_issue
from tests.helpers.example_runs import example_finding

HIDDEN_ISSUE = "model-trainable"
"""A known issue that is hidden from test campaigns. Its model is in their corpus, so they find it soon."""


def hide_issues(folder: Path, *ids: str) -> Path:
    """Copy the folder of known issues without the issues `ids`; return the copy."""
    known = folder / "known"
    shutil.copytree(Path(__file__).parents[2] / "reports" / "known", known, dirs_exist_ok=True)
    for id_ in ids:
        (known / f"{id_}.py").unlink()
    return known


def add_to_corpus(corpus: Path, *graphs: bytes) -> None:
    """Add graphs to a corpus, as findings of an earlier night."""
    for number, graph in enumerate(graphs):
        NightlyCorpus(corpus).write(replace(example_finding(0, id=f"id-{number}"), graph=Raw(graph)))


def add_hidden_issue(folder: Path) -> Path:
    """Add the model of `HIDDEN_ISSUE` to the corpus in a folder; return the folder."""
    add_to_corpus(folder / "corpus", to_json(graph_of_issue(HIDDEN_ISSUE)))
    return folder


def fuzz(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `clonediff fuzz` to its end."""
    return run_clonediff("fuzz", *arguments, cwd=folder)


def summary(run: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the JSON that a campaign printed."""
    assert "Traceback" not in run.stderr, run.stderr
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def findings(run: Path) -> dict[str, tuple[int, bool | None, bytes, str]]:
    """Return the findings of a run by folder: count, proof, graph and script."""
    return {
        stored.name: (stored.finding.count, stored.finding.proof, bytes(stored.finding.graph), stored.script)
        for stored in read_run(run).findings
    }


def processes(pid: int, program: str = "") -> list[psutil.Process]:
    """Return the descendants of a process that have `program` in their command lines."""
    with suppress(psutil.NoSuchProcess):
        return [child for child in psutil.Process(pid).children(recursive=True) if program in _command_line(child)]
    return []


def _command_line(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""
