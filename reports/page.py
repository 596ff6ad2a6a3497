"""report.html: the whole run in one file that opens offline.

Owns what the page shows, and that every value in it is text. `page.html.j2` owns how it looks. The page runs nothing
and loads nothing.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from clonediff.reports.draws import refusals
from clonediff.reports.issue import issue
from clonediff.reports.known import KnownIssues
from clonediff.reports.markup import cut, visible
from clonediff.reports.picture import picture
from clonediff.reports.reading import RunRead
from clonediff.reports.records import SEVERITIES
from clonediff.reports.verdict import NEW, grouped, in_words, known_causes, ran, severity_of, table_of_worst, verdict


def page(read: RunRead, known: KnownIssues) -> str:
    """The page of a run."""
    groups = grouped(read.findings)
    return _template().render(
        name=read.path.name,
        run=read.run,
        verdict=verdict(read),
        what_ran=ran(read.run),
        problems=read.problems,
        groups=[(title, findings) for title, findings in groups.items() if findings or title == NEW],
        causes=known_causes(read.run, known),
        severities=SEVERITIES,
        counts=table_of_worst(read.run),
        refusals=list(refusals(read.run)),
        issue=issue,
        picture=picture,
        severity_of=severity_of,
        in_words=in_words,
    )


def _text(value: Any) -> Any:
    """A value as the page shows it: no control character, and not too long."""
    return visible(cut(value)) if type(value) is str else value


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, finalize=_text, undefined=jinja2.StrictUndefined)
    return environment.from_string((Path(__file__).parent / "page.html.j2").read_text(encoding="utf-8"))
