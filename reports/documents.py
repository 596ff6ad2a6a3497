"""Write the reports of a run: report.html, summary.md, and an issue.md for each finding.

Every printed value is escaped. The page runs no code and loads no file.
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
from clonediff.reports.markup import code_block, escape_controls, escape_links, escape_markdown, inline_code, shorten
from clonediff.reports.picture import picture
from clonediff.reports.records import EFFECTS, Finding, cloner_name, write_bytes
from clonediff.reports.run_folder import StoredRun
from clonediff.reports.verdict import (
    NEW,
    effect_of,
    group_findings,
    known_causes,
    refusals,
    run_text,
    severity_table,
    verdict,
    versions_text,
)


def write_reports(stored: StoredRun, known: KnownIssues) -> None:
    variables = _variables(stored, known)
    summary = template("summary.md.j2", escape_links).render(variables)
    summary = re.sub(r"\n{3,}", "\n\n", summary).strip() + "\n"
    page = template("page.html.j2", _page_text).render(variables)
    texts = {stored.path / "report.html": page}
    texts[stored.path / "summary.md"] = escape_controls(summary)
    for item in stored.findings:
        text = issue(item.finding, item.script)
        if text != item.issue:
            texts[item.folder / "issue.md"] = text
    for path, text in texts.items():
        write_bytes(path, text.encode("utf-8", "replace"))


def issue(finding: Finding, script: str) -> str:
    script = script.rstrip("\n")
    text = template("issue.md.j2", escape_markdown).render(finding=finding, script=script, effects=EFFECTS)
    return escape_controls(text)


def _variables(stored: StoredRun, known: KnownIssues) -> dict[str, Any]:
    return {
        "name": stored.path.name,
        "run": stored.run,
        "verdict": verdict(stored),
        "run_text": run_text(stored.run),
        "problems": stored.problems,
        "groups": [*group_findings(stored.findings).items()],
        "new": NEW,
        "causes": known_causes(stored.run, known),
        "effects": EFFECTS,
        "counts": severity_table(stored.run),
        "refusals": list(refusals(stored.run)),
        "issue": issue,
        "picture": picture,
        "effect_of": effect_of,
        "versions_text": versions_text,
        "cloner_name": cloner_name,
    }


def _page_text(text: str) -> str:
    """Shorten a text and escape its control characters; Jinja escapes the rest."""
    return escape_controls(shorten(text))


@cache
def template(name: str, escape: Callable[[str], str]) -> jinja2.Template:
    """Load a template that calls `escape` on every printed text."""
    is_page = escape is _page_text

    def finalize(value: Any) -> Any:
        if type(value) is not str:  # a number, or markup
            return value
        return escape(value) if is_page else Markup(escape(value))

    environment = jinja2.Environment(
        autoescape=True,
        finalize=finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=not is_page,
        lstrip_blocks=not is_page,
        keep_trailing_newline=not is_page,
    )
    environment.filters["code"] = lambda text: Markup(inline_code(text))
    environment.filters["fenced"] = lambda text, language="": Markup(code_block(text, language))
    return environment.from_string(Path(__file__).with_name(name).read_text(encoding="utf-8"))
