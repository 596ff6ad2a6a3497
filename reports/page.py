"""report.html: the whole run in one file that opens offline.

Owns what the page shows, and that every value in it is text. `page.html.j2` owns how it looks. The page runs nothing
and loads nothing.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from clonediff.reports.broken import broken, table_of_worst
from clonediff.reports.draws import never_accepted, refusals
from clonediff.reports.issue import issue
from clonediff.reports.known import load
from clonediff.reports.markup import cut, visible
from clonediff.reports.reading import RunRead
from clonediff.reports.summary import ran
from clonediff.reports.verdict import counted, in_words, seconds_of, severity_of, verdict


def page(read: RunRead) -> str:
    """The page of a run."""
    new, unproven, known = counted(read.findings)
    groups = [("New causes", new)]
    groups += [("Not counted: the script does not fail alone", unproven)] if unproven else []
    groups += [("Findings of known issues", known)] if known else []
    heads, counts = table_of_worst(read.run)
    refused = {name: [*refusals(name, draws), *never_accepted(draws)] for name, draws in read.run.draws.items()}
    return _template().render(
        name=read.path.name,
        run=read.run,
        verdict=verdict(read),
        what_ran=ran(read.run, seconds_of(read)),
        problems=read.problems,
        groups=groups,
        causes=broken(read),
        scripts={known.id: known.script for known in load().issues},
        heads=heads,
        counts=counts,
        refused={name: lines for name, lines in refused.items() if lines},
        issue=issue,
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
