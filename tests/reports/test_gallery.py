"""The gallery of known causes: its order, what it says, and that the one in the repository is up to date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from clonediff.reports.exhibits import Exhibit, Gallery, Standing, digest, digest_in, markdown
from clonediff.reports.known import KnownIssue, KnownIssues, Pattern, load
from clonediff.reports.records import Severity

README = Path(__file__).parents[2] / "reports" / "gallery" / "README.md"
MATCH = (Pattern(check="structure", aspect="trainable"),)
FROZEN = KnownIssue(
    "frozen", "keras", "A frozen model is not frozen", "keras/src/models/cloning.py:414 makes it", MATCH
)
HOSTILE = "<script>x</script> `a` [b](c) @keras-team \x1b[31m"


def gallery(*exhibits: Exhibit) -> Gallery:
    return Gallery("keras", {"keras": "3.15.1", "tensorflow": "2.21.0"}, exhibits)


def exhibit(issue: KnownIssue = FROZEN, severity: Severity = Severity.TRAINS, **fields: str) -> Exhibit:
    return Exhibit(issue, severity, "structure", script="import keras\n", fixed="holds", **fields)


def test_the_gallery_is_of_the_known_issues_of_today() -> None:
    assert digest_in(README.read_text(encoding="utf-8")) == digest(load()), (
        "reports/known_issues.toml has changed: write the gallery anew with `clonediff gallery --out reports/gallery`"
    )


def test_every_issue_of_today_is_in_the_gallery() -> None:
    text = README.read_text(encoding="utf-8")
    tried = re.findall(r"Tried with (keras|tf_keras) ([\w.]+),", text)
    today = [issue for generation, release in tried for issue in load().on(generation, release).issues]
    assert [each.id for each in today if f"`{each.id}`" not in text] == []


def test_another_entry_has_another_digest() -> None:
    known = KnownIssues((FROZEN,))
    assert digest(known) != digest(KnownIssues((replace(FROZEN, link="https://x.org"),)))
    assert digest_in(markdown([gallery(exhibit())], known)) == digest(known)


def test_the_worst_comes_first() -> None:
    issues = [
        (replace(FROZEN, id=each.name.lower()), each) for each in (Severity.NAME, Severity.CRASHES, Severity.TRAINS)
    ]
    found = gallery(*(exhibit(issue, severity) for issue, severity in issues))
    for text in (markdown([found], KnownIssues()),):
        assert text.index("crashes") < text.index("trains") < text.rindex("name")
    assert [each.issue.id for each in found.of(Standing.BREAKS)] == ["crashes", "trains", "name"]


def test_a_cause_says_what_happens_what_should_and_why() -> None:
    issue = replace(FROZEN, since="3.9.0", until="3.99.0", link="https://example.org/1", documented=True)
    for text in (markdown([gallery(exhibit(issue))], KnownIssues()),):
        for said in (
            "A frozen model is not frozen",
            "What should be: A clone has the same layers",
            "Why: keras/src/models/cloning.py:414 makes it.",
            "Keras documents it",
            "since 3.9.0, gone in 3.99.0",
            "https://example.org/1",
            "import keras\n",
            "holds",
            "keras 3.15.1, tensorflow 2.21.0",
        ):
            assert said in text


@pytest.mark.parametrize("standing", [each for each in Standing if each is not Standing.BREAKS])
def test_what_does_not_break_is_listed_with_the_reason(standing: Standing) -> None:
    found = gallery(exhibit(standing=standing, said="seen to hold"))
    for text in (markdown([found], KnownIssues()),):
        assert standing in text
        assert "seen to hold" in text
        assert "0 causes" in text


def test_no_text_of_an_entry_is_markup() -> None:
    issue = replace(FROZEN, id="x` <script>", title=HOSTILE, because=HOSTILE, link="javascript:alert(1)")
    found = gallery(exhibit(issue, said=HOSTILE))
    text = markdown([found], KnownIssues())
    assert "``x` <script>``" in text, "it is code there, whatever is in it"
    assert "<script" not in text.replace("``x` <script>``", "")
    assert "javascript:" not in text
    assert "@keras" not in text
    assert "\x1b" not in text
