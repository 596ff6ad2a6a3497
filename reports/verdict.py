"""The verdict on a run: sentences that all reports show, and known causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clonediff.reports.known import KnownIssue, KnownIssues
from clonediff.reports.records import EFFECTS, LEFT_OUT, SEVERITIES, Run, Severity, cloner_name
from clonediff.reports.run_folder import StoredFinding, StoredRun, example_file

MAX_REFUSED_SHARE = 0.03
"""A subject may refuse this share of its graphs; more is a bug in the generator."""

_GRAPH_EFFECTS = {**EFFECTS, Severity.NAME: "changes only a name"}
NEW = "New findings"
UNCONFIRMED = "Unconfirmed findings, not counted"
REFUTED = "Refuted findings, not counted"
KNOWN = "Findings of known issues"
_PACKAGES = {"keras": "Keras", "tf_keras": "tf_keras"}


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The headline, on the first cloner; `sentences` on the other cloners; and notes.

    It `fails` if a new finding is confirmed, a finding cannot be read, or too many graphs could not be built.
    """

    headline: str
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    fails: bool


def verdict(stored: StoredRun) -> RunVerdict:
    run = stored.run
    new_count, unconfirmed_count = (len(group_findings(stored.findings)[title]) for title in (NEW, UNCONFIRMED))
    sentences = [_sentence(run, cloner, row) for cloner, row in graphs_by_severity(run).items()]
    new_text = f"{new_count:,} new" if new_count else "nothing new"
    new_text += f", {unconfirmed_count:,} unconfirmed" if unconfirmed_count else ""
    if not stored.is_readable:
        headline = "The run cannot be read"
    elif not run.total.trials:
        headline = "Nothing was tried"
    elif sentences:
        known = f"{quantity(len(run.total.known), 'known cause')}, " if run.total.known else ""
        headline = f"{sentences[0]}: {known}{new_text}"
    else:
        headline = f"{new_text} in {quantity(run.total.trials, 'trial')}".capitalize()
    fails = bool(new_count or stored.damaged_folders or list(_generator_bugs(run)))
    return RunVerdict(headline, tuple(f"{sentence}." for sentence in sentences[1:]), tuple(_notes(stored)), fails)


def _notes(stored: StoredRun) -> Iterator[str]:
    run = stored.run
    yield from _generator_bugs(run)
    yield from _faults(run)
    if run.total.unrun:
        graphs = f"{run.total.unrun:,} of {quantity(run.total.graphs, 'graph')} could not run"
        yield f"{graphs}: they were compared without a run, and are not counted for any cloner"
    if run.at_least is not Severity.NAME:
        effects = [effect for severity, effect in EFFECTS.items() if severity > run.at_least]
        rows = graphs_by_severity(run).items()
        parts = [f"{row[LEFT_OUT]:,} with {cloner}" for cloner, row in rows if row[LEFT_OUT]]
        graphs = f"graphs with nothing worse: {', '.join(parts) or 'none'}"
        yield f"left out by --at-least {run.at_least.word}: a clone that only {' or '.join(effects)}; {graphs}"
    groups = group_findings(stored.findings)
    unconfirmed = Counter(item.finding.confirmation for item in groups[UNCONFIRMED])
    for state, count in (
        ("not fully reduced", sum(not item.finding.smallest for item in groups[NEW])),
        *unconfirmed.items(),
        ("refuted: the script does not fail when run alone", len(groups[REFUTED])),
        ("of known issues", len(groups[KNOWN])),
        ("cannot be read", len(stored.damaged_folders)),
    ):
        if count:
            yield f"{quantity(count, 'finding')} {state}"
    if not run.ended:
        yield "the run has not ended: it is still running, or it was stopped"
    elif run.interrupted:
        yield "the run was interrupted"
    yield from (f"not tried: {' '.join(reason.split())}" for reason in run.lost.values())
    yield from (f"not done: {failure}" for failure in run.failures)
    yield from (f"flaky, so not counted: {title}" for title in run.flaky)
    for name, counts in run.counts.items():
        for ending, count in counts.losses.items():
            yield f"{name}: its process was lost {quantity(count, 'time')}: {ending}"
    if stored.problems:
        yield f"{quantity(len(stored.problems), 'problem')} with the files of the run"


def _generator_bugs(run: Run) -> Iterator[str]:
    """Yield a line for each subject that refused too many graphs."""
    for name, counts in run.counts.items():
        refused, graphs = sum(counts.refused.values()), counts.graphs
        if graphs >= 10 and refused >= 3 and refused > MAX_REFUSED_SHARE * graphs:
            share = f"{refused:,} of {graphs:,} graphs ({refused / graphs:.1%}, limit {MAX_REFUSED_SHARE:.0%})"
            yield f"{name} cannot build {share}: a bug in the generator"


def refusals(run: Run) -> Iterator[str]:
    """Yield a line for each reason of a refusal, with an example file."""
    for name, counts in run.counts.items():
        for reason, graphs in sorted(counts.refused.items(), key=lambda pair: -pair[1]):
            yield f"{name} refused {graphs:,}: {reason} [{example_file('refused', name, reason)}]"


def _faults(run: Run) -> Iterator[str]:
    for name, counts in run.counts.items():
        for reason, graphs in counts.faults.items():
            example = example_file("faults", name, reason)
            yield f"{name}: clonediff failed in {quantity(graphs, 'trial')}: {reason} [{example}]"


def graphs_by_severity(run: Run) -> dict[str, dict[str, int]]:
    """By cloner, how many graphs have each worst severity, "left out" and "faithful"."""
    total = run.total
    cloners = sorted(total.verdicts, key=lambda cloner: (cloner != "upstream", cloner != "fixed", cloner))
    return {
        cloner: {
            **{word: total.worst.get(cloner, {}).get(word, 0) for word in SEVERITIES},
            **{word: total.verdicts[cloner].get(word, 0) for word in (LEFT_OUT, "faithful")},
        }
        for cloner in cloners
    }


def severity_table(run: Run) -> tuple[list[str], list[list[str]]]:
    """The header and rows of a table of `graphs_by_severity`."""
    rows = graphs_by_severity(run)
    words = [*SEVERITIES, *([LEFT_OUT] if run.at_least is not Severity.NAME else []), "faithful"]
    headings = [_GRAPH_EFFECTS[SEVERITIES[word]] if word in SEVERITIES else word for word in words]
    counts = [[cloner_name(cloner), *(f"{row[word]:,}" for word in words)] for cloner, row in rows.items()]
    return ["cloner", *headings], counts


def _sentence(run: Run, cloner: str, row: Mapping[str, int]) -> str:
    """A sentence on how well a cloner clones."""
    subject, total = _cloner_in_sentence(run, cloner), sum(row.values())
    graphs = quantity(total, "graph") + (" that ran" if run.total.unrun else "")
    effects = [f"{_GRAPH_EFFECTS[severity]} on {row[word]:,}" for word, severity in SEVERITIES.items() if row[word]]
    if effects:
        return ", ".join([f"{subject} {effects[0]} of {graphs}", *effects[1:]])
    if row[LEFT_OUT]:
        return f"{subject} is faithful on {row['faithful']:,} of {graphs}, except for what was left out"
    return f"{subject} is faithful on {'all ' if total > 1 else ''}{graphs}"


def _cloner_in_sentence(run: Run, cloner: str) -> str:
    """A cloner in a sentence: "Keras 3.15.1's clone_model"."""
    if cloner == "fixed":
        return "clonediff's own cloner"
    if cloner != "upstream":
        return f"The cloner {cloner_name(cloner)}"
    releases = dict.fromkeys(
        f"{package} {versions[name]}"
        for versions in run.versions.values()
        for name, package in _PACKAGES.items()
        if name in versions
    )
    return f"{', '.join(releases)}'s clone_model" if len(releases) == 1 else f"clone_model of {', '.join(releases)}"


@dataclass(frozen=True, slots=True)
class KnownCause:
    """The causes in a run that one known issue explains.

    `issue` is None if this version of clonediff does not have it. `severity` is the severity of the issue, or else the
    most frequent severity; `worse` counts the graphs with a worse severity.
    """

    id: str
    title: str
    issue: KnownIssue | None
    subjects: tuple[str, ...]
    graphs: int
    severity: Severity
    worse: int


def known_causes(run: Run, known: KnownIssues) -> list[KnownCause]:
    """A run's known causes, by severity, then by number of graphs."""
    causes = [_known_cause(name, known.get(name), run) for name in run.total.known]
    return sorted(causes, key=lambda cause: (cause.severity, -cause.graphs, cause.id))


def _known_cause(name: str, issue: KnownIssue | None, run: Run) -> KnownCause:
    graphs = {SEVERITIES[word]: count for word, count in run.total.known[name].items() if word in SEVERITIES}
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


def group_findings(findings: Sequence[StoredFinding]) -> dict[str, list[StoredFinding]]:
    """Group findings under the headings of a report, the worst first."""
    groups: dict[str, list[StoredFinding]] = {title: [] for title in (NEW, UNCONFIRMED, REFUTED, KNOWN)}
    titles = {True: NEW, None: UNCONFIRMED, False: REFUTED}
    for item in sorted(findings, key=_rank):
        groups[titles[item.finding.proof] if item.finding.known is None else KNOWN].append(item)
    return groups


def _rank(item: StoredFinding) -> tuple[int, str, str]:
    severity = item.finding.severity
    return len(Severity) if severity is None else severity, item.finding.first_seen, item.name


def effect_of(item: StoredFinding) -> str:
    """A finding's effect on the clone, or "cannot be tried"."""
    severity = item.finding.severity
    return EFFECTS[severity] if severity is not None else "cannot be tried"


def run_text(run: Run) -> str:
    """A line with the number of trials, the time, the seed and the jobs."""
    trials = run.total.trials
    time = f" in {duration(run.seconds)}, {trials / run.seconds:.1f} a second" if run.seconds else ""
    return f"{quantity(trials, 'trial')}{time}, seed {run.seed}, {quantity(run.jobs, 'job')}"


def quantity(count: int, noun: str) -> str:
    """A number with its noun: "1 trial", "1,204 trials"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def versions_text(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def duration(seconds: float) -> str:
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
