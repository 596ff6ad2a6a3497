"""Real models for a person: a line a model as it comes, and the totals."""

from __future__ import annotations

from collections.abc import Sequence

from clonediff.harness.answers.real_models.recipes import Recipe
from clonediff.harness.answers.real_models.results import RealModel, by_suite
from clonediff.harness.answers.real_models.table import cells, layers, sentence
from clonediff.reports.markup import one_line

_MOST = 100
_WIDEST = 48


class Rows:
    """The rows of a table whose models are known and whose results are not, so that each is printed as it comes."""

    def __init__(self, recipes: Sequence[Recipe]) -> None:
        """The width of the first column follows from all names."""
        self._width = min(max((len(each.name) for each in recipes), default=5), _WIDEST)

    def head(self) -> str:
        return self._row("model", "layers", "seconds", "upstream", "fixed")

    def of(self, model: RealModel) -> str:
        """One model. Where upstream is faithful too, or nobody was asked, one column says it."""
        upstream, fixed = (one_line(each, _MOST) for each in cells(model))
        return self._row(one_line(model.name), layers(model), f"{model.checked.seconds:.1f}", upstream, fixed)

    def _row(self, name: str, count: str, seconds: str, upstream: str, fixed: str) -> str:
        both = upstream if not fixed or upstream == fixed else f"{fixed} | upstream {upstream}"
        if (name, fixed) == ("model", "fixed"):
            both = "fixed | upstream"
        return f"{name.ljust(self._width)}  {count.rjust(6)}  {seconds.rjust(7)}  {both}"


def totals_text(models: Sequence[RealModel], seconds: float) -> list[str]:
    """What came of all of them."""
    lines = [sentence(each) for each in by_suite(models)]
    untried = [each.name for each in models if not each.tried]
    if untried:
        lines.append(f"not tried: {', '.join(untried)}")
    return [*lines, f"{seconds:.0f} s"]
