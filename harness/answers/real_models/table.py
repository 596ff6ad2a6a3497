"""What came of real models, in words: a cell for each cloner, and the table in Markdown that the docs keep."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from clonediff.harness.answers.checked_model.record import Cloned
from clonediff.harness.answers.checked_model.verdicts import DOCUMENTED, minded, refusal
from clonediff.harness.answers.real_models.results import CloneOutcome, RealModel, SuiteTotals, by_suite, made
from clonediff.harness.answers.real_models.suites import SUITES
from clonediff.reports.markup import one_line

_LONGEST = 160
_COMMAND = "clonediff real --table REAL_MODELS.md"
_MARKUP = re.compile(r"([\\|*_<>\[\]`])")


def layers(model: RealModel) -> str:
    """How many layers it has, "" where nobody has seen it."""
    return str(model.checked.layers or "")


def clone_text(cloned: Cloned | None) -> str:
    """What a cloner makes of a model, in a few words: the first of what it breaks."""
    if cloned is None:
        return ""
    what = made(cloned)
    if what is CloneOutcome.FAITHFUL:
        return DOCUMENTED.replace("cloned ", "") if cloned.breaks else "faithful"
    if what is CloneOutcome.REFUSED:
        return f"refused: {refusal(cloned)}"
    broken = minded(cloned.breaks, strict=True)
    more = f"; {len(broken) - 1} more" if len(broken) > 1 else ""
    return f"{broken[0].headline}{more}"


def cells(model: RealModel) -> tuple[str, str]:
    """What upstream and fixed make of a model, or why neither was asked."""
    if not model.tried:
        return f"{model.checked.status}: {model.checked.reason}", ""
    return clone_text(model.by("upstream")), clone_text(model.by("fixed"))


def sentence(its: SuiteTotals) -> str:
    """Totals in a line."""
    share = f" ({its.fixed / its.tried:.0%})" if its.tried else ""
    refused = f", refuses {its.refused}" if its.refused else ""
    return (
        f"{its.suite}: {its.models} models, {its.tried} tried; "
        f"upstream is faithful on {its.upstream}, fixed on {its.fixed}{share}{refused}"
    )


def markdown(models: Sequence[RealModel]) -> str:
    """The table of the docs."""
    versions = _versions(models)
    lines = [
        "# Real models",
        "",
        "Models that nobody here wrote, each cloned by the `clone_model` of its own Keras (upstream) and by the one of",
        "clonediff (fixed), with random weights and all checks. What breaks is told by its first cause.",
        f"Written by `{_COMMAND}`.",
        "",
        f"On {', '.join(f'{name} {version}' for name, version in versions.items())}." if versions else "",
        "",
        *_table(
            ("suite", "models", "tried", "upstream faithful", "fixed faithful", "fixed refuses"),
            [
                (each.suite, *map(str, (each.models, each.tried, each.upstream, each.fixed, each.refused)))
                for each in by_suite(models)
            ],
        ),
    ]
    about = {each.name: each.about for each in SUITES}
    for suite in dict.fromkeys(each.suite for each in models):
        rows = [(each.name.partition(":")[2], layers(each), *cells(each)) for each in models if each.suite == suite]
        lines += ["", f"## {suite}", "", f"{_sentence_case(about.get(suite, ''))}.", ""]
        lines += _table(("model", "layers", "upstream", "fixed"), rows)
    return "\n".join(lines) + "\n"


def _versions(models: Iterable[RealModel]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in models:
        found.update(each.checked.versions)
    return {name: version for name, version in found.items() if name != "numpy"}


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [_row(head), _row(["---"] * len(head))]
    return lines + [_row([_escaped(each) for each in row]) for row in rows]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Text on one line, in which nothing is markup: a reason may quote whatever a model says."""
    return _MARKUP.sub(r"\\\1", one_line(text, _LONGEST))


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]
