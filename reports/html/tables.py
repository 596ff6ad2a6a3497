"""What ran, which kinds met which features, known issues, and problems with the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from clonediff.reports.broken import left_out, table_of_worst
from clonediff.reports.draws import frequencies, never_accepted, refusals
from clonediff.reports.html.causes import linked
from clonediff.reports.kinds_and_features import FEATURES, Counting
from clonediff.reports.markup import Child, Markup, cell, facts, join, scrolled, tag
from clonediff.reports.reading import RunRead
from clonediff.reports.records import Coverage, FileReached, KnownMet, Run, by_cloner, cloner_said
from clonediff.reports.shortening import shortened
from clonediff.reports.summary import still
from clonediff.reports.verdict import lasted, seconds_of, some
from clonediff.strategies.kinds import CATALOGUE


def what_ran(read: RunRead) -> Markup:
    """The subjects with their versions, the verdicts on each cloner, and the facts of the run."""
    run = read.run
    packages = list(dict.fromkeys(name for versions in run.subjects.values() for name in versions))
    rows: list[list[Child]] = []
    for subject, versions in run.subjects.items():
        state = run.how.get(subject, "tried")
        rows.append([subject, *(versions.get(name, "") for name in packages), state])
    for subject, reason in run.lost.items():
        rows.append([subject, *("" for _ in packages), f"not tried: {reason}"])
    parts = [
        _table("Subjects", ["Subject", *packages, "How"], rows)
        if rows
        else tag("p", "No subject is recorded.", class_="none")
    ]
    if run.verdicts:
        parts.append(_verdicts(run))
    heads, counts = table_of_worst(run)
    if counts:
        rows = [[cloner, *its] for cloner, its in counts]
        parts.append(_table("Graphs by the worst that happens to them", ["Cloner", *heads], rows))
    return join([*parts, *_refused(run), _facts(read)])


def coverage(read: RunRead) -> Markup:
    """Kinds by features; of the findings' own graphs if the run recorded none."""
    recorded = read.run.coverage
    if recorded is not None:
        said = f"How many of {some(recorded.graphs, 'graph')} have a layer of a kind with a feature."
        drawn = [tag("p", f"{name}: {frequencies(each)}.") for name, each in read.run.draws.items()]
        return join([_sizes(recorded), *drawn, tag("p", said), _matrix(recorded), *_reach(read.run)])
    none = tag("p", "This run did not record its coverage.", class_="none")
    counting = Counting()
    deep = []
    for kept in read.findings:
        try:
            if kept.graph is not None:
                counting.add(kept.graph)
        except RecursionError:
            deep.append(kept.finding.id)
    found = shortened(counting.coverage())
    left = [tag("p", f"Left out: {id_}, whose arguments are nested too deep.") for id_ in deep]
    if not found.kinds:
        return join([none, *left])
    said = f"Below is the coverage of the findings alone: {some(found.graphs, 'graph')}, made as small as possible."
    return join([none, tag("p", said), *left, _matrix(found)])


def known(run: Run) -> Markup:
    """Known issues, how often they were met, and whether each still breaks."""
    if run.known is None:
        return tag("p", "This run did not record which known issues it met.", class_="none")
    if not run.known:
        return tag("p", "No known issue applies to what was tried.", class_="none")
    gone = sum(each.breaks is False and not each.count for each in run.known)
    said = f"{some(len(run.known), 'known issue')}; {gone} no longer {'breaks' if gone == 1 else 'break'}."
    heads = ["Issue", "What", "Subject", "Since", "Met", "Still breaks", "Why"]
    return join([tag("p", said), _table("Known issues", heads, [_known(each) for each in run.known])])


def mended_issues(issues: Mapping[str, Sequence[KnownMet]]) -> Markup:
    """What is mended, by name, under the sentences that say since when."""
    parts: list[Markup] = []
    for said, its in issues.items():
        parts += [tag("p", f"{said}."), tag("ul", *(tag("li", each.title, " ", tag("code", each.id)) for each in its))]
    return join(parts)


def problems(read: RunRead) -> Markup:
    """What could not be read."""
    return tag("ul", *(tag("li", problem) for problem in read.problems), class_="problems")


def _facts(read: RunRead) -> Markup:
    run = read.run
    seconds = seconds_of(read)
    budget = ""
    if run.budget is not None:
        minutes = f"{run.budget.minutes:g} minutes" if run.budget.minutes is not None else ""
        trials = f"{some(run.budget.trials, 'trial')} for each subject" if run.budget.trials is not None else ""
        budget = " or ".join(each for each in (minutes, trials) if each)
    told = [
        ("Started", run.started),
        ("Ended", run.ended or "not recorded"),
        ("Took", "not recorded" if seconds is None else lasted(seconds)),
        ("Budget", budget or "not recorded"),
        ("Jobs", "not recorded" if run.jobs is None else str(run.jobs)),
        ("Seed", str(run.seed)),
        ("Trials", f"{run.trials:,}" + (f", {run.drawn:,} of them drawn" if run.drawn is not None else "")),
        ("Making findings smaller", _share(run)),
        ("Trained, quantized or saved before cloning", _of_prepared(run)),
        ("Graphs refused", "" if run.refused is None else str(run.refused)),
        ("Cloners", ", ".join(map(cloner_said, run.cloners))),
        ("Left out", left_out(run)),
        ("Private attributes", "compared, too" if run.private else ""),
        ("clonediff", run.clonediff),
    ]
    return facts(told)


def _share(run: Run) -> str:
    if not run.reducing or run.drawing is None:
        return ""
    return f"{run.reducing / (run.reducing + run.drawing):.0%} of the workers' time"


def _of_prepared(run: Run) -> str:
    if not run.prepared or not run.preparing or run.drawing is None:
        return ""
    return (
        f"{some(run.prepared, 'graph')}, {run.preparing / (run.drawing + (run.reducing or 0)):.0%} of the workers' time"
    )


def _refused(run: Run) -> list[Markup]:
    """What each subject could not build."""
    return [
        tag(
            "div",
            tag("p", f"{name} could not build {each.refused:,} of {some(each.graphs, 'graph')}."),
            tag("ul", *lines),
        )
        for name, each in run.draws.items()
        if (lines := [tag("li", line) for line in (*refusals(name, each), *never_accepted(each))])
    ]


def _verdicts(run: Run) -> Markup:
    counts = by_cloner(run.verdicts)
    verdicts = list(dict.fromkeys(verdict for each in counts.values() for verdict in each))
    rows: list[list[Child]] = [
        [cloner_said(who), *(its.get(each, 0) for each in verdicts)] for who, its in counts.items()
    ]
    return _table("Verdicts on each cloner, in trials", ["Cloner", *verdicts], rows)


def _matrix(found: Coverage) -> Markup:
    ordered = [name for name in CATALOGUE if name in found.kinds]
    ordered += [name for name in found.kinds if name not in CATALOGUE]
    met = {feature for its in found.met.values() for feature in its}
    features = [*FEATURES, *sorted(met - set(FEATURES))]
    most = max([*found.kinds.values(), 1])
    heads = [_head("Kind"), _head("Graphs"), *(_head(feature, "turned") for feature in features)]
    rows = []
    for kind in ordered:
        counts = [found.kinds[kind], *(found.met.get(kind, {}).get(feature, 0) for feature in features)]
        cells = [
            _count(count, most, f"{kind}, {name}") for count, name in zip(counts, ("graphs", *features), strict=True)
        ]
        rows.append(tag("tr", tag("th", kind, scope="row"), *cells))
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="matrix sortable")
    return scrolled(table, "Kinds and features", "scroll tall")


def _reach(run: Run) -> list[Markup]:
    """How far into Keras' own cloning code the trials came, for each subject; empty where that was not counted."""
    return [
        tag(
            "div",
            tag("p", f"The cloning code of {subject} that trials ran. Below each file is what they did not run."),
            *map(_file, files),
            class_="reach",
        )
        for subject, files in run.reach.items()
    ]


def _file(file: FileReached) -> Markup:
    head = tag("summary", f"{file.file}: {file.said}")
    aside = [tag("li", f"{count} left aside: {why}") for why, count in file.aside.items()]
    lines = "\n".join(f"{each.line:5}  {each.function}  {each.text}" for each in file.missed)
    return tag("details", head, *([tag("ul", *aside)] if aside else []), *([tag("pre", lines)] if lines else []))


def _sizes(found: Coverage) -> Markup:
    """How large and how varied the graphs were; nothing if the run did not count that."""
    if not found.calls or not found.kinds:
        return join([])
    calls = sorted(found.calls.items())
    return facts(
        [
            ("Calls in a graph", f"{_median(calls)} in the median one, {calls[-1][0]} in the largest"),
            ("Kinds drawn", str(len(found.kinds))),
            ("Kind called on what a kind gave", some(sum(map(len, found.after.values())), "pair")),
            ("Kind with feature", some(sum(map(len, found.met.values())), "pair")),
        ]
    )


def _median(counts: Sequence[tuple[int, int]]) -> int:
    """Of numbers in order, each with how often it is there."""
    middle = sum(count for _, count in counts) / 2
    passed = 0
    for number, count in counts:
        passed += count
        if passed >= middle:
            return number
    return 0


def _count(count: int, most: int, title: str) -> Markup:
    if not count:
        return tag("td", "\u00b7", class_="h0", title=f"{title}: never", data_sort="0")
    level = 1 + round(4 * log(count) / log(most)) if most > 1 else 3
    return tag("td", f"{count:,}", class_=f"h{min(max(level, 1), 5)}", title=f"{title}: {count:,}", data_sort=count)


def _known(each: KnownMet) -> list[Child]:
    name = linked(each, each.id)
    said = still(each)
    class_ = {"yes": "yes", "yes, met": "yes", "no longer": "gone"}.get(said, "unsure")
    state = tag("span", said, class_=f"still {class_}")
    return [name, each.title, each.where, each.since or "", each.count, state, each.because]


def _table(name: str, heads: Sequence[str], rows: Sequence[Sequence[Child]]) -> Markup:
    """A table whose columns can be sorted by."""
    head = tag("tr", *(_head(each) for each in heads))
    body = [tag("tr", *(cell(each) for each in row)) for row in rows]
    table = tag("table", tag("caption", name), tag("thead", head), tag("tbody", *body), class_="sortable")
    return scrolled(table, name)


def _head(name: str, class_: str | None = None) -> Markup:
    return tag("th", tag("span", name), scope="col", class_=class_)
