"""What people read of a run: report.html in one file that opens offline, summary.md, and an issue.md for each finding.

The template of each owns its words and its looks. Owns that every value in them is text, and that a file is written
whole or not at all. The page runs nothing and loads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from clonediff.reports.known import KnownIssues
from clonediff.reports.markup import code, cut, escaped, fenced, unlinked, visible
from clonediff.reports.picture import picture
from clonediff.reports.reading import RunRead
from clonediff.reports.records import SEVERITIES, Finding, cloner_said, write_bytes
from clonediff.reports.verdict import (
    NEW,
    grouped,
    in_words,
    known_causes,
    ran,
    refusals,
    severity_of,
    table_of_worst,
    verdict,
)


def write_reports(read: RunRead, known: KnownIssues) -> None:
    """Write report.html, summary.md, and the issue.md of each finding."""
    facts = _facts(read, known)
    summary = re.sub(r"\n{3,}", "\n\n", template("summary.md.j2", unlinked).render(facts)).strip() + "\n"
    texts = {read.path / "report.html": template("page.html.j2", _shown).render(facts)}
    texts[read.path / "summary.md"] = visible(summary)
    for stored in read.findings:
        text = issue(stored.finding, stored.script)
        if text != stored.issue:
            texts[stored.folder / "issue.md"] = text
    for path, text in texts.items():
        write_bytes(path, text.encode("utf-8", "replace"))


def issue(finding: Finding, script: str) -> str:
    """The text of an issue for a finding, in Markdown. `script` is what shows it, a screen of plain Keras."""
    facts = {"finding": finding, "script": script.rstrip("\n"), "severities": SEVERITIES}
    return visible(template("issue.md.j2", escaped).render(facts))


def _facts(read: RunRead, known: KnownIssues) -> dict[str, Any]:
    """What the templates of a run are made of."""
    return {
        "name": read.path.name,
        "run": read.run,
        "verdict": verdict(read),
        "what_ran": ran(read.run),
        "problems": read.problems,
        "groups": [*grouped(read.findings).items()],
        "new": NEW,
        "causes": known_causes(read.run, known),
        "severities": SEVERITIES,
        "counts": table_of_worst(read.run),
        "refusals": list(refusals(read.run)),
        "issue": issue,
        "picture": picture,
        "severity_of": severity_of,
        "in_words": in_words,
        "cloner_said": cloner_said,
    }


def _shown(text: str) -> str:
    """A text as the page shows it, where Jinja escapes it: no control character, and not too long."""
    return visible(cut(text))


@cache
def template(name: str, safe: Callable[[str], str]) -> jinja2.Template:
    """A template, each text of which is made `safe`. In one of Markdown, the tags of a block take no line."""
    of_page = safe is _shown

    def shown(value: Any) -> Any:
        if type(value) is not str:  # a number, or what is markup already
            return value
        return safe(value) if of_page else Markup(safe(value))

    environment = jinja2.Environment(
        autoescape=True,
        finalize=shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=not of_page,
        lstrip_blocks=not of_page,
        keep_trailing_newline=not of_page,
    )
    environment.filters["code"] = lambda text: Markup(code(text))
    environment.filters["fenced"] = lambda text, language="": Markup(fenced(text, language))
    return environment.from_string(Path(__file__).with_name(name).read_text(encoding="utf-8"))
