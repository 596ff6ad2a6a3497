"""A seed draws the same graphs in any process."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis.internal.conjecture import providers

from clonediff.harness.search.deterministic import deterministic
from tests.waiting import PATIENCE

DRAW = """
import hashlib, importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
from clonediff.harness.search.draw_and_shrink import draw
from clonediff.strategies import to_json
from tests.asked import graphs_of
digest = hashlib.sha256()
draw(graphs_of("keras"), 120, 7, lambda graph: digest.update(to_json(graph)))
print(digest.hexdigest())
"""


@pytest.mark.parametrize(
    "more",
    [
        ("clonediff.reports.writing",),
        ("clonediff.harness.subjects.releases", "clonediff.harness.cli.fuzz", "clonediff.harness.campaign.tasks"),
    ],
)
def test_what_is_drawn_does_not_depend_on_what_is_imported(more: tuple[str, ...]) -> None:
    assert _drawn() == _drawn(*more)


def _drawn(*modules: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", DRAW, *modules], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    return done.stdout


def test_the_last_of_several_threads_puts_back_what_was_there() -> None:
    before = providers._get_local_constants
    first, second = deterministic(), deterministic()
    first.__enter__()
    replaced = providers._get_local_constants
    second.__enter__()
    first.__exit__(None, None, None)
    assert providers._get_local_constants is replaced is not before, "the other one still draws"
    second.__exit__(None, None, None)
    assert providers._get_local_constants is before
