"""report.html: the whole run in one file that opens offline.

Owns the page: its order, its style and its script, and what keeps a record's text from becoming either. The page takes
nothing from anywhere: its policy allows this style and this script, by their hashes, and nothing else. It can be read
without the script, which sorts, searches, copies and changes the theme.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from clonediff.reports.broken import broken
from clonediff.reports.html.causes import causes
from clonediff.reports.html.charts import over_time
from clonediff.reports.html.findings import data, findings
from clonediff.reports.html.tables import coverage, known, mended_issues, problems, what_ran
from clonediff.reports.markup import Markup, raw, tag
from clonediff.reports.mended import mended
from clonediff.reports.reading import RunRead
from clonediff.reports.records import FORMAT
from clonediff.reports.shortening import fitting
from clonediff.reports.summary import ran
from clonediff.reports.svg import STYLE, Drawing, draw_all
from clonediff.reports.verdict import seconds_of, verdict

_MARKS = {"new": "\u2717", "broken": "\u2717", "nothing": "\u2713", "unknown": "?"}


def page(
    read: RunRead,
    drawings: Mapping[str, Drawing | str] | None = None,
    examples: Mapping[str, Drawing | str] | None = None,
) -> str:
    """The page of a run. `drawings` are those of its findings, `examples` of its known issues, if drawn already."""
    drawings = draw_all(read.findings) if drawings is None else drawings
    examples = draw_all(read.known) if examples is None else examples
    read = fitting(read)
    script = _script()
    found = verdict(read)
    sections = [
        ("broken", "What it breaks", causes(broken(read), examples)),
        ("findings", "What is new", findings(read, drawings)),
        ("ran", "What ran", what_ran(read)),
        ("time", "Over time", over_time(read)),
        ("coverage", "Coverage", coverage(read)),
        ("known", "Known issues", known(read.run)),
    ]
    good_news = mended(read.run)
    if good_news:
        sections.insert(0, ("mended", "What is mended", mended_issues(good_news)))
    if read.problems:
        sections.insert(0, ("problems", "Problems with the files", problems(read)))
    links = [tag("a", head, href=f"#{anchor}") for anchor, head, _ in sections]
    title = f"clonediff: {found.headline}"
    look = "broken" if found.state == "nothing" and found.broken else found.state
    head = head_of(f"{title} ({read.path.name})", style(), script)
    top = tag(
        "header",
        tag(
            "div",
            tag("p", f"clonediff \u00b7 {read.path.name}", class_="where"),
            tag("button", "Dark or light", type="button", id="theme", hidden=True),
            class_="bar",
        ),
        tag(
            "div",
            tag("h1", tag("span", _MARKS[look], class_="mark", aria_hidden="true"), found.headline),
            *(tag("p", tag("a", said, href="#mended"), ".", class_="holds") for said in good_news),
            *(tag("p", said, class_="holds" if " is faithful on " in said else "breaks") for said in found.holds),
            tag("p", ran(read.run, seconds_of(read))),
            tag("ul", *(tag("li", note) for note in found.notes)) if found.notes else "",
            id="verdict",
            class_=f"verdict is-{look}",
        ),
        tag("nav", *links, aria_label="Sections"),
    )
    body = tag(
        "body",
        tag("a", "Skip to the findings", href="#findings", class_="skip"),
        top,
        tag("main", *(section(*each) for each in sections)),
        tag("script", _json(data(read)), type="application/json", id="data"),
        tag("script", raw(script)),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def head_of(title: str, style: str, script: str = "") -> Markup:
    """The head of a page that runs this script, if there is one, and nothing else."""
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        # The policy stands before anything it is to hold for.
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="generator", content=f"clonediff, format {FORMAT}"),
        tag("title", title),
        tag("style", raw(style)),
    )


def section(anchor: str, head: str, content: Markup) -> Markup:
    """A part of a page, which a link leads to."""
    return tag("section", tag("h2", tag("a", head, href=f"#{anchor}")), content, id=anchor)


def _json(value: object) -> Markup:
    """JSON as the content of a script element: none of its text can end the element, or begin a comment in it."""
    text = json.dumps(value, separators=(",", ":"))
    return raw(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


@cache
def style() -> str:
    """How a page looks."""
    return STYLE + (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


@cache
def _script() -> str:
    return (Path(__file__).parent / "page.js").read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    scripts = f"script-src '{_hash(script)}'; " if script else ""
    return f"default-src 'none'; style-src '{_hash(style)}'; {scripts}base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
