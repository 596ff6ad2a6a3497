"""Trials of graphs and sources in a real process, and the titles of their causes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clonediff.harness.subjects import Case, SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.trial import Trial, run
from clonediff.strategies.program import Graph
from tests.helpers.waiting import PATIENCE


def run_trial(graph: Graph | Case, process: SubjectProcess, *cloners: str, costly: bool = False) -> Trial:
    """Run a trial; assert that the model could be built."""
    case = case_of(graph) if isinstance(graph, Graph) else graph
    trial = run(case, process, cloners, costly, timeout=PATIENCE)
    assert trial.is_built, (graph, trial.refusal, trial.lost)
    return trial


def assert_fixed_is_faithful(graph: Graph, process: SubjectProcess) -> None:
    """Assert that the fixed cloner clones a graph faithfully."""
    assert run_trial(graph, process, "fixed").clones["fixed"].differences == (), graph


_UNCLEAR = re.compile(r" differs|[{}]|  |, :| ,|\bfunctional\b(?! model|\.py)")


def unclear_titles(titles: Iterable[str]) -> list[str]:
    """Return the titles that are not a sentence."""
    return [title for title in titles if _UNCLEAR.search(title) or not title[0].isupper()]
