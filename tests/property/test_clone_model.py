"""The property tests: what `clone_model` promises, on graphs that Hypothesis draws.

They fail on a graph that cannot be built, on a fixed clone that is not faithful, on an upstream break that is not a
known issue, and on a known issue that no longer breaks.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.campaign.hunt import Hunt
from harness.campaign.search import search
from harness.campaign.telling import told
from harness.pytest_plugin import SHARDS
from harness.subjects.process import SubjectProcess
from reports.known import KnownIssue, load
from strategies import functional_graphs, read_example

KNOWN = load()


def test_every_clone_is_faithful_or_a_known_issue(
    clonediff_hunt: Hunt, clonediff_shard: int, request: pytest.FixtureRequest
) -> None:
    examples = max(1, request.config.getoption("--clonediff-examples") // SHARDS)
    seed = request.config.getoption("--clonediff-seed") * SHARDS + clonediff_shard
    found = search(
        clonediff_hunt, functional_graphs(generation=clonediff_hunt.generation), examples=examples, seed_=seed
    )
    if found is not None:
        pytest.fail(told(found, clonediff_hunt), pytrace=False)


@pytest.mark.parametrize("issue", [each for each in KNOWN.issues if each.example], ids=lambda each: each.id)
def test_a_known_issue_still_breaks(
    issue: KnownIssue, clonediff_processes: Callable[[str], SubjectProcess], request: pytest.FixtureRequest
) -> None:
    wanted = request.config.getoption("--clonediff-subject") or ["keras", "tf_keras"]
    if issue.generation not in wanted:
        pytest.skip(reason=f"--clonediff-subject leaves {issue.generation} out")
    process = clonediff_processes(issue.generation)
    if issue not in KNOWN.on(issue.generation, process.ready.keras).issues:
        pytest.skip(reason=f"not an issue of {issue.generation} {process.ready.keras}")
    hunt = Hunt(process, KNOWN, rate=1)
    accusations = hunt.look(read_example(issue.example or "", issue.id))
    assert [each for each in accusations if each.cloner == "fixed"] == []
    assert issue.id in {each.known.id for each in accusations if each.known}, (
        f"known issue {issue.id!r} no longer breaks on {issue.generation} {process.ready.keras}: "
        "give it `until`, or take it out of reports/known_issues.toml"
    )
