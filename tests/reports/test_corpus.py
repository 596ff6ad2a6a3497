"""The corpus of past bugs as it is shipped, and the errors of an index that is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.version import Version

from clonediff.reports.corpus import INDEX, Bug, load, shows
from clonediff.reports.records import Cause, Difference, RecordError, Severity

CORPUS = load()
GOOD = """
format = 1
[[bug]]
id = "one"
title = "t"
package = "keras"
graph = "one.json"
broken_in = ["3.4.0"]
fixed_in = ["3.5.0"]
because = "b"
[[bug.match]]
check = "masks"
"""


@pytest.mark.parametrize("bug", CORPUS.bugs, ids=lambda bug: bug.id)
def test_a_bug_has_a_graph_of_its_generation_and_two_sides(bug: Bug) -> None:
    generation = CORPUS.graph(bug).generation
    # One that both generations build belongs to neither.
    assert generation in (None, bug.package)
    assert bug.fixed_in
    assert all(Version(release) for release in (*bug.broken_in, *bug.fixed_in))
    assert re.search(r"\w+\.py:\d+", bug.because)


def test_no_graph_is_left_over() -> None:
    assert {path.name for path in INDEX.parent.glob("*.json")} == {bug.graph for bug in CORPUS.bugs}


@pytest.mark.parametrize(("check", "shown"), [("masks", True), ("outputs", False)])
def test_a_cause_is_the_bug_where_it_is_like_its_match(tmp_path: Path, check: str, shown: bool) -> None:
    bug = load(written(tmp_path, GOOD))["one"]
    cause = Cause("x", Difference(check, "p", "value", "", "", Severity.COMPUTES))
    assert shows(bug, [cause]) == shown


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('title = "t"\n', ""), "bug 1 (one): Object missing required field `title`"),
        (('title = "t"', 'title = " "'), "`title` is empty"),
        (('"one.json"', '"../one.json"'), "expected the name of a JSON file beside the index"),
        (('["3.4.0"]', "[]"), "`broken_in` is empty"),
        (('["3.5.0"]', '["3.4.0"]'), "3.4.0 stands in `broken_in` and in `fixed_in`"),
        (("[[bug]]\n", "[bug]\n"), "`bug` must be a list of tables: write [[bug]], not [bug]"),
        (("format = 1", "format = "), "not TOML"),
        (("format = 1", "format = 2"), "`format` must be 1, got 2"),
        (("format = 1", "format = 1\nbugs = 3"), "`bugs` is not a field of this file: it has `format` and [[bug]]"),
        (("graph =", "grahp ="), "unknown field `grahp`; it may have id, title"),
        (("check =", "chekc ="), "unknown field `chekc` - at `$.match[0]`; it may have check, aspect, kind"),
    ],
)
def test_a_wrong_index_is_told_by_file_and_bug(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    assert change[0] in GOOD
    path = written(tmp_path, GOOD.replace(*change))
    with pytest.raises(RecordError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert says in str(caught.value)


def test_an_id_stands_once(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"bug 2 \(one\): `id` 'one' stands twice"):
        load(written(tmp_path, GOOD + GOOD.replace("format = 1", "")))


def test_a_graph_that_is_not_there(tmp_path: Path) -> None:
    corpus = load(written(tmp_path, GOOD))
    with pytest.raises(RecordError, match=r"one\.json: the graph of 'one' cannot be read"):
        corpus.graph(corpus["one"])


def written(folder: Path, text: str) -> Path:
    path = folder / "index.toml"
    path.write_text(text)
    return path
