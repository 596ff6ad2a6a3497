"""Known issues: the file that ships, the errors of one that is wrong, and what an issue explains."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonediff.reports.known import KnownIssue, KnownIssues, Pattern, load
from clonediff.reports.records import Cause, Difference, Place, Raised, RecordError, Severity

GOOD = """
format = 1
[[issue]]
id = "one"
generation = "keras"
title = "t"
because = "keras/src/x.py:1 forgets"
since = "3.4.0"
until = "3.13.0"
[[issue.match]]
check = "structure"
aspect = "config.*"
kind = "Lambda"
"""


def cause(check: str = "structure", aspect: str = "config.mask", kind: str = "Lambda", *followers: str) -> Cause:
    root = Difference(
        check,
        "p",
        aspect,
        "",
        "nothing",
        Severity.PROPERTY,
        Place("l", kind, 1, inside="Holder"),
        Raised("ValueError", "", "k.py:f"),
    )
    return Cause("x", root, tuple(Difference(name, "p", "value", "", "", Severity.COMPUTES) for name in followers))


def test_the_file_that_ships_is_right() -> None:
    assert len(load().issues) >= 2


def test_an_issue_explains_a_cause_by_its_root(tmp_path: Path) -> None:
    known = load(_written(tmp_path, GOOD))
    found = [known.of(each) for each in (cause(), cause(kind="Dense"), cause(aspect="name"))]
    assert [issue and issue.id for issue in found] == ["one", None, None]


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        (Pattern(check="structure"), True),
        (Pattern(check="masks"), False),
        (Pattern(exception="ValueError", frame="k.py:*"), True),
        (Pattern(exception="KeyError", frame="k.py:*"), False),
        (Pattern(kind="Lam*", path="p"), True),
        (Pattern(kind="Lambda", inside="Hold*"), True),
        (Pattern(kind="Lambda", inside=""), False),
        (Pattern(check="structure", place="l"), True),
        (Pattern(check="structure", place="*/*"), False),
        (Pattern(check="structure", found="no*"), True),
        (Pattern(check="structure", found="some*"), False),
        (Pattern(check="structure", leads_to=("outputs",)), True),
        (Pattern(check="structure", leads_to=("masks",)), False),
    ],
)
def test_all_fields_of_a_pattern_must_match(pattern: Pattern, matches: bool) -> None:
    issue = KnownIssue("one", "keras", "t", "b", (pattern,))
    explained = KnownIssues((issue,)).of(cause("structure", "config.mask", "Lambda", "outputs"))
    assert (explained is issue) == matches


@pytest.mark.parametrize(
    ("generation", "release", "cloner", "applies"),
    [
        ("keras", "3.4.0", "upstream", True),
        ("keras", "3.12.4", "upstream", True),
        ("keras", "3.13.0", "upstream", False),
        ("keras", "3.3.3", "upstream", False),
        ("keras", "3.5", "upstream", True),
        ("keras", None, "upstream", True),
        ("tf_keras", None, "upstream", False),
        ("keras", "3.5.0", "fixed", False),
    ],
)
def test_an_issue_has_a_range_of_releases(
    tmp_path: Path, generation: str, release: str | None, cloner: str, applies: bool
) -> None:
    assert bool(load(_written(tmp_path, GOOD)).on(generation, release, cloner).issues) == applies


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('title = "t"\n', ""), "issue 1 (one): Object missing required field `title`"),
        (('"keras"', '"keras1"'), "issue 1 (one): Invalid enum value 'keras1' - at `$.generation`"),
        (("since =", "sinse ="), "unknown field `sinse`; it may have id, generation, title"),
        (("kind =", "kidn ="), "unknown field `kidn` - at `$.match[0]`; it may have check, aspect, kind"),
        (('"3.4.0"', '"soon"'), "`since` is 'soon', expected a release such as '3.12.0'"),
        (('"3.4.0"', "3"), "Expected `str | null`, got `int` - at `$.since`"),
        (('"3.13.0"', '"3.4.0"'), "`until` 3.4.0 is not after `since` 3.4.0"),
        (("format = 1", "format = 2"), "`format` must be 1, got 2"),
        (("format = 1", "format = 1\nissues = 3"), "`issues` is not a field of this file: it has `format`, `read_in`"),
        (("format = 1", "format = 1\nread_in = 3"), "`read_in`: Expected `object`, got `int`"),
        (
            ("format = 1", 'format = 1\nread_in = { keras = "latest" }'),
            "`read_in` has 'latest' for keras, expected a rel",
        ),
        (("format = 1", 'format = 1\nread_in = { kras = "3.15.1" }'), "`read_in` has 'kras', expected one of keras, "),
        (("[[issue]]", "[issue]"), "must be a list of tables: write [[issue]], not [issue]"),
        (('kind = "Lambda"', "kind = "), "not TOML"),
        (('check = "structure"\naspect = "config.*"\nkind = "Lambda"\n', ""), "`match` 1 gives no field"),
        (('because = "keras/src/x.py:1 forgets"', 'because = " "'), "`because` is empty"),
        (('title = "t"', 'title = "t"\nexample = "{"'), "`example` is not JSON"),
    ],
)
def test_a_wrong_file_is_told_by_file_entry_and_field(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    assert change[0] in GOOD
    path = _written(tmp_path, GOOD.replace(*change))
    with pytest.raises(RecordError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert says in str(caught.value)


def test_an_id_stands_once(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"issue 2 \(one\): `id` 'one' stands twice"):
        load(_written(tmp_path, GOOD + GOOD.replace("format = 1", "")))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no.toml: cannot be read"):
        load(tmp_path / "no.toml")


def _written(folder: Path, text: str) -> Path:
    path = folder / "known.toml"
    path.write_text(text)
    return path
