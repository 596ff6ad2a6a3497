"""The verdict on a run: the sentences at the top of every report, the known causes, and the exit code.

Owns when a run fails, and the order of findings from the worst to the least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.reading import RunRead, StoredFinding
from clonediff.reports.records import AT_LEAST, DOES, LEFT_OUT, SEVERITIES, Run, Severity, cloner_said
from clonediff.reports.run_folder import example_file

REFUSED = 0.03
"""The share of a subject's graphs that may be refused. Such a graph is no finding: it says nothing about cloning."""

_DOES = {**DOES, Severity.NAME: "changes only a name"}
NEW = "New causes"
UNPROVEN = "Not counted: not known whether the script fails alone"
REFUTED = "Not counted: the script does not fail alone"
OF_KNOWN = "Findings of known issues"
_NAMES = {"keras": "Keras", "tf_keras": "tf_keras"}


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The headline, a sentence for each further cloner, and notes.

    It `breaks` if there is something new and proven, a finding cannot be read, or too many graphs could not be built.
    """

    headline: str
    others: tuple[str, ...]
    notes: tuple[str, ...]
    breaks: bool


def verdict(read: RunRead) -> RunVerdict:
    run = read.run
    new, unproven = (len(grouped(read.findings)[title]) for title in (NEW, UNPROVEN))
    sentences = [_sentence(run, cloner, row) for cloner, row in by_worst(run).items()]
    news = (f"{new:,} new" if new else "nothing new") + (f", {unproven:,} unproven" if unproven else "")
    if not read.whole:
        headline = "What ran cannot be read"
    elif not run.total.trials:
        headline = "Nothing was tried"
    elif sentences:
        known = f"{some(len(run.total.known), 'known cause')}, " if run.total.known else ""
        headline = f"{sentences[0]}: {known}{news}"
    else:
        headline = f"{news} in {some(run.total.trials, 'trial')}".capitalize()
    breaks = bool(new or read.unreadable or list(to_mend(run)))
    return RunVerdict(headline, tuple(f"{sentence}." for sentence in sentences[1:]), tuple(_notes(read)), breaks)


def _notes(read: RunRead) -> Iterator[str]:
    run = read.run
    yield from to_mend(run)
    yield from _faults(run)
    if run.total.unrun:
        graphs = f"{run.total.unrun:,} of {some(run.total.graphs, 'graph')} could not run"
        yield f"{graphs}: what needs no run was compared, and is in no cloner's numbers"
    if run.at_least is not Severity.NAME:
        less = [does for severity, does in DOES.items() if severity > run.at_least]
        only = [f"{row[LEFT_OUT]:,} with {cloner}" for cloner, row in by_worst(run).items() if row[LEFT_OUT]]
        graphs = f"graphs with only that: {', '.join(only)}" if only else "no graph had only that"
        yield f"left out by --at-least {run.at_least.word}: what only {' or '.join(less)}; {graphs}"
    groups = grouped(read.findings)
    unproven = Counter(f"not counted: {stored.finding.alone}" for stored in groups[UNPROVEN])
    for words, count in (
        ("not as small as it could be", sum(not stored.finding.smallest for stored in groups[NEW])),
        *unproven.items(),
        ("not counted: the script does not fail alone", len(groups[REFUTED])),
        ("of known issues", len(groups[OF_KNOWN])),
        ("cannot be read", len(read.unreadable)),
    ):
        if count:
            yield f"{some(count, 'finding')} {words}"
    if not run.ended:
        yield "it has not ended: it still runs, or it was stopped"
    elif run.interrupted:
        yield "it was interrupted"
    yield from (f"not tried: {' '.join(reason.split())}" for reason in run.lost.values())
    yield from (f"not done: {failure}" for failure in run.failures)
    yield from (f"not counted, since it did not show again: {title}" for title in run.unsteady)
    for name, counts in run.counts.items():
        for over, times in counts.losses.items():
            yield f"{name}: its process was lost {some(times, 'time')} over {over}"
    if read.problems:
        yield f"{some(len(read.problems), 'problem')} with the files of the run"


def to_mend(run: Run) -> Iterator[str]:
    """A line for each subject that refused more graphs than a sound generator draws."""
    for name, counts in run.counts.items():
        refused, graphs = sum(counts.refused.values()), counts.graphs
        if graphs >= 10 and refused >= 3 and refused > REFUSED * graphs:
            share = f"{refused:,} of {graphs:,} graphs ({refused / graphs:.1%})"
            yield f"{name} cannot build {share}, more than {REFUSED:.0%}: a fault of the generator"


def refusals(run: Run) -> Iterator[str]:
    """A line for each reason why a subject refused graphs, with the file of an example."""
    for name, counts in run.counts.items():
        for why, graphs in sorted(counts.refused.items(), key=lambda pair: -pair[1]):
            yield f"{name} refused {graphs:,}: {why} [{example_file('refused', name, why)}]"


def _faults(run: Run) -> Iterator[str]:
    """A line for each fault of clonediff that trials met, with the file of a graph."""
    for name, counts in run.counts.items():
        for why, graphs in counts.faults.items():
            example = example_file("faults", name, why)
            yield f"{name}: a fault of clonediff, over {graphs:,} of the trials: {why} [{example}]"


def by_worst(run: Run) -> dict[str, dict[str, int]]:
    """For each cloner, upstream first, the number of graphs that ran by the worst severity.

    "faithful" counts the graphs that were cloned faithfully, "left out" those whose causes are all left out.
    """
    total = run.total
    cloners = sorted(total.verdicts, key=lambda cloner: (cloner != "upstream", cloner != "fixed", cloner))
    return {
        cloner: {
            **{word: total.worst.get(cloner, {}).get(word, 0) for word in AT_LEAST},
            **{word: total.verdicts[cloner].get(word, 0) for word in (LEFT_OUT, "faithful")},
        }
        for cloner in cloners
    }


def table_of_worst(run: Run) -> tuple[list[str], list[list[str]]]:
    """The same as a table: its heads, and a row for each cloner."""
    rows = by_worst(run)
    words = [*AT_LEAST, *([LEFT_OUT] if run.at_least is not Severity.NAME else []), "faithful"]
    heads = [_DOES[AT_LEAST[word]] if word in AT_LEAST else word for word in words]
    counts = [[cloner_said(cloner), *(f"{row[word]:,}" for word in words)] for cloner, row in rows.items()]
    return ["cloner", *heads], counts


def _sentence(run: Run, cloner: str, row: Mapping[str, int]) -> str:
    """What a cloner does to how many graphs."""
    who, total = _called(run, cloner), sum(row.values())
    graphs = some(total, "graph") + (" that ran" if run.total.unrun else "")
    does = [f"{_DOES[severity]} on {row[word]:,}" for word, severity in AT_LEAST.items() if row[word]]
    if does:
        return ", ".join([f"{who} {does[0]} of {graphs}", *does[1:]])
    if row[LEFT_OUT]:
        return f"{who} is faithful on {row['faithful']:,} of {graphs}, but for what was left out"
    return f"{who} is faithful on {'all ' if total > 1 else ''}{graphs}"


def _called(run: Run, cloner: str) -> str:
    """A cloner as the subject of a sentence: "Keras 3.15.1's clone_model"."""
    if cloner == "fixed":
        return "clonediff's own cloner"
    if cloner != "upstream":
        return f"The cloner {cloner_said(cloner)}"
    releases = dict.fromkeys(
        f"{package} {versions[name]}"
        for versions in run.versions.values()
        for name, package in _NAMES.items()
        if name in versions
    )
    return f"{', '.join(releases)}'s clone_model" if len(releases) == 1 else f"clone_model of {', '.join(releases)}"


@dataclass(frozen=True, slots=True)
class KnownCause:
    """A known issue that a run met. `issue` is None where this clonediff does not have it.

    `severity` is that of the issue, or else what it did on most graphs; `worse` counts the graphs with more than that.
    """

    id: str
    title: str
    issue: KnownIssue | None
    subjects: tuple[str, ...]
    graphs: int
    severity: Severity
    worse: int


def known_causes(run: Run, known: KnownIssues) -> list[KnownCause]:
    """The known issues that were met, the worst first, then those that most graphs met."""
    causes = [_known_cause(name, known.get(name), run) for name in run.total.known]
    return sorted(causes, key=lambda cause: (cause.severity, -cause.graphs, cause.id))


def _known_cause(name: str, issue: KnownIssue | None, run: Run) -> KnownCause:
    graphs = {AT_LEAST[word]: count for word, count in run.total.known[name].items() if word in AT_LEAST}
    severity = issue.severity if issue and issue.script else max(graphs, key=graphs.__getitem__, default=Severity.NAME)
    return KnownCause(
        name,
        issue.title if issue else name,
        issue,
        tuple(subject for subject, counts in run.counts.items() if name in counts.known),
        sum(graphs.values()),
        severity,
        sum(count for worst, count in graphs.items() if worst < severity),
    )


def grouped(findings: Sequence[StoredFinding]) -> dict[str, list[StoredFinding]]:
    """New findings, whose scripts fail alone; those that do not count; those of known issues. The worst come first."""
    groups: dict[str, list[StoredFinding]] = {title: [] for title in (NEW, UNPROVEN, REFUTED, OF_KNOWN)}
    by_proof = {True: NEW, None: UNPROVEN, False: REFUTED}
    for stored in sorted(findings, key=_rank):
        groups[by_proof[stored.finding.proof] if stored.finding.known is None else OF_KNOWN].append(stored)
    return groups


def _rank(stored: StoredFinding) -> tuple[int, str, str]:
    severity = stored.finding.severity
    return len(Severity) if severity is None else severity, stored.finding.first_seen, stored.name


def severity_of(stored: StoredFinding) -> str:
    """How bad it is, for people; a finding with no differences is a model that could not be tried."""
    severity = stored.finding.severity
    return SEVERITIES[severity] if severity is not None else "it cannot be tried"


def ran(run: Run) -> str:
    """What ran, in a line."""
    trials = run.total.trials
    took = f" in {lasted(run.seconds)}, {trials / run.seconds:.1f} a second" if run.seconds else ""
    return f"{some(trials, 'trial')}{took}, seed {run.seed}, {some(run.jobs, 'job')}"


def some(count: int, thing: str) -> str:
    """A number of things: "1 trial", "1,204 trials"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def in_words(versions: Mapping[str, str]) -> str:
    """Versions by name, in a line."""
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def lasted(seconds: float) -> str:
    """A length of time for people."""
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
