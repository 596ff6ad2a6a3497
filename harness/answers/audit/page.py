"""What came of an audit, as a page: what is lost, the worst first, with its scripts; what cannot be told; the counts.

It has no script of its own, and takes nothing from anywhere. Names come from packages that anybody may have written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from clonediff.harness.answers.audit.record import ArgumentAudited, Audited, ClassAudited, full_name
from clonediff.harness.answers.audit.table import given, totals, what
from clonediff.reports.html import head_of, section, style
from clonediff.reports.html.findings import badge, folded
from clonediff.reports.markup import Child, Markup, cell, facts, join, scrolled, tag
from clonediff.reports.records import Severity
from clonediff.reports.verdict import some

_SEVERITIES = {
    "computes": Severity.COMPUTES,
    "crashes": Severity.CRASHES,
    "weights": Severity.CRASHES,
    "holds": Severity.PROPERTY,
}
_NOTHING = "Nothing."


def audit_page(audited: Audited, baseline: Collection[str] = ()) -> str:
    """The page. What the baseline lists is there as well, and is said to be listed."""
    sections = [
        ("lost", "What is lost", _lost(audited, baseline)),
        ("not-told", "What cannot be told", _not_told(audited)),
        ("counts", "Counts", _counts(audited)),
    ]
    lost = list(audited.lost())
    classes = len({kind.name for kind, _ in lost})
    headline = f"{some(len(lost), 'argument')} of {classes:,} class{'' if classes == 1 else 'es'} lost"
    unlisted = list(audited.lost(baseline))
    listed = len(lost) - len(unlisted)
    told = [
        f"{totals(audited)}.",
        *([f"{listed} of the lost ones are in the baseline."] if listed else []),
        *(["It was interrupted: there are more classes."] if audited.interrupted else []),
    ]
    top = tag(
        "header",
        tag("p", f"clonediff audit \u00b7 {_on(audited)}", class_="where"),
        tag(
            "div",
            tag("h1", f"{audited.target}: {headline if lost else 'no argument is lost'}"),
            *(tag("p", each) for each in told),
            class_=f"verdict is-{'broken' if unlisted else 'nothing'}",
        ),
        tag("nav", *(tag("a", head, href=f"#{anchor}") for anchor, head, _ in sections), aria_label="Sections"),
    )
    body = tag("body", top, tag("main", *(section(*each) for each in sections)))
    title = f"clonediff audit: {audited.target}"
    return "<!doctype html>\n" + tag("html", head_of(title, style()), body, lang="en") + "\n"


def _on(audited: Audited) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in audited.versions.items())
    return f"{audited.subject} ({versions})" if versions else audited.subject


def _lost(audited: Audited, baseline: Collection[str]) -> Markup:
    pairs = list(audited.lost())
    if not pairs:
        return tag("p", _NOTHING, class_="none")
    said = "Worst first. Each opens to its script, which needs Keras and the package alone."
    return join([tag("p", said), *(_argument(number, *pair, baseline) for number, pair in enumerate(pairs))])


def _argument(number: int, kind: ClassAudited, argument: ArgumentAudited, baseline: Collection[str]) -> Markup:
    listed = full_name(kind, argument) in baseline
    head = tag(
        "summary",
        badge(argument.how, _SEVERITIES[argument.worst.how]),
        tag("span", given(argument), class_="title"),
        tag("span", kind.title, class_="subject"),
        tag("span", "in the baseline", class_="standing") if listed else "",
    )
    script = argument.script.rstrip("\n")
    proven = "it fails where it is run alone" if argument.proven else "it does not fail where it is run alone"
    told: list[tuple[str, Child]] = [
        ("Class", kind.title),
        ("Argument", argument.name or "none: whatever it is given"),
        ("Given", argument.tried),
        ("Lost", what(argument)),
        ("At", argument.worst.path),
        ("Taken by", argument.base),
        ("Script", proven if script else "none was written"),
    ]
    parts = [facts(told)]
    if script:
        parts.append(tag("pre", tag("code", script), tabindex="0", aria_label="Script"))
    return folded(f"lost-{number}", head, parts)


def _not_told(audited: Audited) -> Markup:
    rows = [
        (kind.title, each.name or "as it is", each.reason)
        for kind in audited.classes
        for each in kind.arguments
        if each.answer == "cannot tell"
    ]
    left_out = [(kind.title, "all of it", kind.reason) for kind in audited.classes if kind.reason]
    if not rows and not left_out:
        return tag("p", _NOTHING, class_="none")
    return _table("Arguments without an answer", ("Class", "Argument", "Why"), [*left_out, *rows])


def _counts(audited: Audited) -> Markup:
    rows: list[Sequence[Child]] = []
    for kind in audited.classes:
        counts = Counter(each.answer for each in kind.arguments)
        rows.append((kind.title, kind.sort, counts["lost"], counts["kept"], counts["cannot tell"]))
    whole = ("all", "", audited.count("lost"), audited.count("kept"), audited.count("cannot tell"))
    return _table("Arguments of each class", ("Class", "Sort", "Lost", "Kept", "Not told"), [whole, *rows])


def _table(name: str, heads: Sequence[str], rows: Sequence[Sequence[Child]]) -> Markup:
    head = tag("tr", *(tag("th", each, scope="col") for each in heads))
    body = [tag("tr", *map(cell, row)) for row in rows]
    table = tag("table", tag("caption", name), tag("thead", head), tag("tbody", *body))
    return scrolled(table, name, "scroll tall")
