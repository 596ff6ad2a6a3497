"""The reports of a run: the page, the summary, and the issues."""

from __future__ import annotations

import re
import textwrap
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from clonediff.harness.trials.checks import CHECKS
from clonediff.reports.documents import write_reports
from clonediff.reports.known import KnownIssues, load
from clonediff.reports.run_folder import read_run
from clonediff.reports.verdict import verdict
from tests.helpers.example_runs import PICTURES, Json, box, counts, difference, example_run, finding, write, write_run

pytestmark = pytest.mark.no_keras

KNOWN = load()
SENTENCE = "Keras 3.15.1's clone_model crashes on 12 of 300 graphs, trains differently on 8, changes only a name on 270"
LOADING_ELEMENTS = {"link", "img", "iframe", "object", "embed", "base", "form", "script"}
"""HTML elements that load or run other files."""


class Page(HTMLParser):
    """The elements of an HTML page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def links(self) -> set[str | None]:
        return {attrs["href"] for _, attrs in self.elements if "href" in attrs}


def keras_counts(**changes: Any) -> Json:
    return {"keras": counts(**changes)}


def reports(path: Path, findings: list[Json], known: KnownIssues = KNOWN, **changes: Any) -> tuple[Page, str, str]:
    """Return the page, the summary, and all issues of a run."""
    read_back = read_run(write_run(path, findings, example_run(**changes)))
    write_reports(read_back, known)
    issues = "".join(file.read_text() for file in sorted(path.glob("findings/*/issue.md")))
    return Page((path / "report.html").read_text()), (path / "summary.md").read_text(), issues


@pytest.mark.parametrize(
    ("changes", "findings", "headline", "fails"),
    [
        pytest.param({}, [], f"{SENTENCE}: 2 known causes, nothing new", False, id="known"),
        pytest.param({}, [finding(0), finding(1)], f"{SENTENCE}: 2 known causes, 2 new", True, id="new"),
        pytest.param({}, [finding(0, proof=False)], f"{SENTENCE}: 2 known causes, nothing new", False, id="refuted"),
        pytest.param({}, [finding(0, proof=None), finding(1, proof=None)],
                     f"{SENTENCE}: 2 known causes, nothing new, 2 unconfirmed", False, id="unconfirmed"),
        pytest.param({"counts": keras_counts(known={})}, [finding(0)], f"{SENTENCE}: 1 new", True, id="none known"),
        pytest.param({"counts": keras_counts(verdicts={"upstream": {"faithful": 1}}, worst={}, known={})}, [],
                     "Keras 3.15.1's clone_model is faithful on 1 graph: nothing new", False, id="faithful"),
        pytest.param({"counts": keras_counts(verdicts={"fixed": {"diverged": 2, "faithful": 1}},
                                       worst={"fixed": {"wrong-training": 2}}, known={})}, [],
                     "clonediff's own cloner trains differently on 2 of 3 graphs: nothing new", False, id="fixed"),
        pytest.param({"counts": keras_counts(unrun=20, graphs=320)}, [],
                     f"{SENTENCE.replace(',', ' that ran,', 1)}: 2 known causes, nothing new", False, id="unrun"),
        pytest.param({"counts": keras_counts(verdicts={})}, [], "Nothing new in 300 trials", False, id="no cloner"),
        pytest.param({"counts": {}}, [], "Nothing was tried", False, id="nothing"),
        pytest.param({"counts": keras_counts(refused={"ValueError: no": 9})}, [],
                     f"{SENTENCE}: 2 known causes, nothing new", False, id="few refused"),
        pytest.param({"counts": keras_counts(refused={"ValueError: no": 10})}, [],
                     f"{SENTENCE}: 2 known causes, nothing new", True, id="many refused"),
    ],
)  # fmt: skip
def test_every_report_begins_with_the_verdict(
    changes: dict[str, Any], findings: list[Json], headline: str, fails: bool, tmp_path: Path
) -> None:
    page, summary, _ = reports(tmp_path, findings, **changes)
    result = verdict(read_run(tmp_path))
    assert (result.headline, result.fails) == (headline, fails)
    assert summary.startswith(f"## clonediff: {headline}\n")
    assert headline in page.text
    assert ("a bug in the generator" in summary) is ("10" in str(changes.get("counts", "")) and fails and not findings)


def test_the_reports_say_that_a_run_has_not_ended(tmp_path: Path) -> None:
    page, summary, _ = reports(tmp_path, [], ended=False)
    for text in ("the run has not ended", "300 trials in 2 min, 3.0 a second, seed 7, 2 jobs"):
        assert text in page.text and text in summary
    write(tmp_path / "run.json", b"{")
    write_reports(read_run(tmp_path), KNOWN)
    assert (tmp_path / "summary.md").read_text().startswith("## clonediff: The run cannot be read\n")


RICH_RUN: Json = {
    "interrupted": True, "seconds": 8000.0, "at_least": 2, "jobs": 3,
    "lost": {"keras/jax": "keras/jax: jax\nis not installed"},
    "failures": ["keras: searching: no"],
    "flaky": ["keras: a title"],
    "counts": keras_counts(losses={"memory": 2, "time": 1}, refused={"ValueError: no": 10, "TypeError: b": 1},
       graphs=320, unrun=20,
       verdicts={"mine:cloner": {"faithful": 10, "left out": 290}, "fixed": {"faithful": 300},
                 "upstream": {"crashed": 12, "diverged": 8, "faithful": 10, "left out": 270}},
       worst={"upstream": {"crash": 12, "wrong-training": 8}}),
}  # fmt: skip
"""A run that gives every note of a report."""


def test_the_reports_of_a_run_equal_the_stored_text(tmp_path: Path) -> None:
    """Compare the summary, and the words of the page without the known issues."""
    followers = [difference("structure", f"layers[{number}]", "name", ("a", "b"), 4) for number in range(12)]
    findings = [finding(0), finding(1, smallest=False), finding(2, proof=False), finding(4, known="lambda-refused")]
    findings += [finding(3, proof=None, unproven="it hangs", differences=[CLONE_LOST, *followers])]
    write_run(tmp_path / "run", findings, example_run(**RICH_RUN))
    write(tmp_path / "run" / "findings" / "cut" / "finding.json", b"{")
    write_reports(read_run(tmp_path / "run"), KNOWN)
    page = Page((tmp_path / "run" / "report.html").read_text()).text.partition("clonediff \N{MIDDLE DOT}")[2]
    words = " ".join(re.sub(r"(?s)\sKnown causes\s.*\sWhat ran\s", " What ran ", page).split())
    words = textwrap.fill(words, 118, break_long_words=False, break_on_hyphens=False)
    summary = (tmp_path / "run" / "summary.md").read_text()
    assert f"{summary}\n{words}\n" == Path(__file__).with_name("whole.txt").read_text()


@pytest.mark.parametrize("count", [0, 1, 60])
def test_a_report_has_every_cause_and_a_short_summary(count: int, tmp_path: Path) -> None:
    page, summary, issues = reports(tmp_path, [finding(number) for number in range(count)])
    assert sum(attrs.get("class") == "cause" for _, attrs in page.elements) == count + 2, "two known issues were found"
    assert page.text.count("import keras\n\nprint(") == 2 * count, "in the script and in the text of the issue"
    assert "clone = keras.models.clone_model(model)" in page.text, "the script of a known issue"
    assert issues.count("## What should happen") == count
    assert len(summary) < 100_000
    assert ("and 10 more, in the report" in summary) is (count == 60)
    assert not LOADING_ELEMENTS & {name for name, _ in page.elements}


DENSE = {"name": "dense", "kind": "Dense"}
CLONE_LOST = difference("made", "clone", "raises", ("a clone", "ValueError: no"), 0, first=DENSE)
CELL_FROZEN = difference(
    *("structure", "", "trainable", ("true", "false"), 2), first={"name": "inner/lstm/cell", "kind": "LSTMCell"}
)
MODEL_RENAMED = difference("structure", "model.name", "name", ("a", "b"), 4, first={"name": "it", "kind": "Functional"})
MASK_LOST = difference(
    *("masks", "clone", "mask lost", ("a mask", "no mask"), 3),
    first={"name": "dense", "kind": "", "layer": 2, "use": 1},
)
MANY_CALLS = [box(f"dense#{use}", "Dense", "x#0.0") for use in range(10_000)]
CIRCULAR_CALLS = [box("dense#0", "Dense", *["dense#1.0"] * 1000), *(PICTURES[0][number] for number in (2, 1, 2))]


@pytest.mark.parametrize(
    ("pictures", "differences", "titles", "marked", "wires"),
    [
        pytest.param(PICTURES[:1], (CLONE_LOST,), "original", "dense Dense raises: ValueError: no", 4, id="no clone"),
        pytest.param((PICTURES[0],) * 2, (CLONE_LOST,), "original clone",
                     "dense Dense raises: a clone|dense Dense raises: ValueError: no", 8, id="at a layer"),
        pytest.param((PICTURES[0],) * 2, (MASK_LOST,), "original clone",
                     "dense Dense, use 1 mask lost: a mask|dense Dense, use 1 mask lost: no mask", 8, id="at a call"),
        pytest.param((PICTURES[0],) * 2, (CELL_FROZEN,), "original clone",
                     "lstm LSTM trainable: true|lstm LSTM trainable: false", 8, id="in a layer"),
        pytest.param((PICTURES[0],) * 2, (MODEL_RENAMED,), "original name: a clone name: b", "", 8, id="the model"),
        pytest.param((PICTURES[0],) * 2, (CLONE_LOST, MASK_LOST) + (CLONE_LOST,) * 4, "original clone",
                     "dense Dense raises: a clone raises: a clone raises: a clone and 2 more|"
                     "dense Dense, use 1 mask lost: a mask|"
                     "dense Dense raises: ValueError: no raises: ValueError: no raises: ValueError: no and 2 more|"
                     "dense Dense, use 1 mask lost: no mask", 8, id="many"),
        pytest.param(PICTURES, (), "original clone", "y InputLayer only here|lstm LSTM only here|add Add only here", 7,
                     id="another graph"),
        pytest.param((MANY_CALLS,), (), "original", "", 0, id="huge"),
        pytest.param((CIRCULAR_CALLS,), (), "original", "", 1, id="no order"),
        pytest.param((), (), "", "", 0, id="none"),
    ],
)  # fmt: skip
def test_a_picture_shows_both_models_and_marks_the_differences(
    pictures: Any, differences: Any, titles: str, marked: str, wires: int, tmp_path: Path
) -> None:
    reports(tmp_path, [finding(0, pictures=pictures, differences=differences)])
    text = (tmp_path / "report.html").read_text()
    assert len(text) < 60_000
    words = [
        re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", shown)).strip()
        for shown in re.findall(r"(?s)<figcaption>.*?(?=<div|<p class=.soft)", text)
    ]
    assert " ".join(words) == titles
    boxes = re.findall(r"(?s)<g class=.differs.>.*?</g>", text)
    assert "|".join(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", box)).strip() for box in boxes) == marked
    assert text.count("<path") == wires
    assert text.count('<path d="M') == wires
    assert text.count('class="differs"/>') == (2 if pictures is PICTURES else 0), "one wire differs in each picture"


def test_a_removed_known_issue_is_shown_by_its_id(tmp_path: Path) -> None:
    page, summary, _ = reports(tmp_path, [], KnownIssues())
    assert "lambda-refused" in page.text and "290 graphs, worse on 4" in page.text
    assert "| crashes | lambda-refused | 12 | 0 | lambda-refused |" in summary
    assert "| changes a name | input-name | 290 | 4 | input-name |" in summary


ISSUE = Path(__file__).with_name("issue.txt").read_text()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        pytest.param({}, ISSUE, id="whole"),
        pytest.param({"proof": False}, "does not fail when run alone; check it before you report it", id="refuted"),
        pytest.param({"cloner": "fixed"}, "`clonediff.clone_model` of clonediff does not clone", id="ours"),
        pytest.param({"differences": (), "detail": "ValueError: no"}, "The model cannot be built or run", id="refused"),
    ],
)
def test_the_issue_of_a_finding_has_the_expected_text(changes: dict[str, Any], text: str, tmp_path: Path) -> None:
    assert text in reports(tmp_path, [finding(0, **changes)])[2]


def test_issues_state_the_promise_of_every_check(tmp_path: Path) -> None:
    broken = [difference(check, "clone", "raises", ("a", "b"), 0) for check in CHECKS]
    _, _, issues = reports(tmp_path, [finding(0, differences=[root]) for root in broken])
    assert issues.count("## What should happen") == len(broken)
    assert "should find no difference" not in issues


POISON = " ".join(
    (
        "</script></style></title></textarea><script>window.hacked=1;alert(1)</script>",
        '"><img src=x onerror="window.hacked=1"><svg onload=window.hacked=1><details open ontoggle=hacked=1>',
        "' onmouseover='window.hacked=1' autofocus onfocus='window.hacked=1' x='",
        "javascript:window.hacked=1//https://evil.example/x www.evil.example data:text/html,<script>1</script>",
        "<!--<script>--!><![CDATA[ ]]> <?xml version='1.0'?> <!DOCTYPE x [<!ENTITY a 'b'>]> &a; &#x3c;b&#x3e;",
        "safe\u202e\u2066\u200f\u061c\ufeff\U000e0041evil\x00\x08\x1b[31m\x7f\x85\uffff end",
        "[a](javascript:window.hacked=1) ![b](http://evil.example) <http://c.example> `d` **e** | f\n# g @org",
        "${window.hacked=1} {{constructor.constructor('window.hacked=1')()}} %3Cscript%3E \\u003cscript\\u003e",
    )
)
"""A text that tries to close an element, run code, add a link, or change the direction of text."""
UNSAFE_CHARS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200f\u202a-\u202e\u2066-\u2069\ufeff\uffff\U000e0041]")
"""Characters that change the direction of text, hide it or end it."""
MARKDOWN_TOKENS = {
    "heading_open", "heading_close", "inline", "text", "paragraph_open", "paragraph_close", "softbreak",
    "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close", "text_special",
    "code_inline", "fence",
    *(f"{part}_{end}" for part in ("table", "thead", "tbody", "tr", "th", "td") for end in ("open", "close")),
}  # fmt: skip
"""The Markdown tokens that a report may have: no link, image, HTML or emphasis."""


CODED_FIELDS = ("graph", "part", "change")
"""Fields that are not free text."""


def poison(value: Any, text: str) -> Any:
    """Return a record in which every text is replaced by `text`."""
    if isinstance(value, dict):
        return {key: item if key in CODED_FIELDS else poison(item, text) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [poison(item, text) for item in value]
    return text if isinstance(value, str) else value


def hostile_reports(path: Path, text: str = POISON) -> tuple[Page, str, str]:
    """Return the reports of a run with this text in every field."""
    hostile = {**poison(finding(0), text), "generation": "keras", "subject": "keras", "cloner": text[:50]}
    hostile["versions"] = {text: text}
    findings = [{**hostile, "id": "a", "known": text}, {**hostile, "id": "b", "proof": False}, {**hostile, "id": "c"}]
    causes = counts(verdicts={text: {"crashed": 1}}, worst={text: {"crash": 1}}, known={text: {"crash": 1}})
    run = {
        **poison(example_run(failures=[""], flaky=[""]), text),
        "lost": {text: text},
        "versions": {text: {text: text}},
        "counts": {"keras": {**causes, "refused": {text: 1}}, text: counts(known={"lambda-refused": {"crash": 1}})},
    }
    known = KnownIssues((replace(KNOWN.get("lambda-refused"), title=text, reason=text, link=f"https://x/{text}"),))
    return reports(path, findings, known, **run)


def test_the_page_escapes_every_text(tmp_path: Path) -> None:
    page, _, _ = hostile_reports(tmp_path)
    assert page.text.count("onerror") > 20
    assert len(page.links) == 1, "the link of the known issue"
    assert not LOADING_ELEMENTS & {name for name, _ in page.elements}
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "style")]


def test_markdown_escapes_every_text(tmp_path: Path) -> None:
    _, *texts = hostile_reports(tmp_path)
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for text in texts:
        tokens = [token for outer in parser.parse(text) for token in (outer, *(outer.children or ()))]
        assert {token.type for token in tokens} <= MARKDOWN_TOKENS
        assert not [token for token in tokens if token.type == "text" and re.search(r"@\w", token.content)]
    assert not re.search(r"(?i)(https?|ftp)://|\bwww\.\w", texts[0]), "GitHub makes links of bare addresses"
    for path in (*tmp_path.glob("*.[hm]*"), *tmp_path.rglob("issue.md")):
        assert not UNSAFE_CHARS.search(path.read_text())


def test_long_texts_are_cut_and_say_so(tmp_path: Path) -> None:
    hostile_reports(tmp_path, (POISON.replace("\x00", "") * 1_000)[:200_000])
    for name in ("report.html", "summary.md"):
        assert (tmp_path / name).stat().st_size < 2_000_000
        assert "cut: 200,000 characters in all" in (tmp_path / name).read_text()
