"""Record trials again: of all known issues, of planted faults, and of drawn graphs of both generations.

`python -m tests.recorded.record` writes the file, and prints the old and new number of causes for each group of trials.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from clonediff.harness.observation import Case
from clonediff.harness.scripts.known_scripts import case_of_script
from clonediff.harness.search.search import draw_graphs
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.cases import case_of
from clonediff.harness.trials.checks.flow import Flow
from clonediff.harness.trials.triage import group_by_fingerprint
from clonediff.harness.trials.trial import run
from clonediff.reports.known import load
from tests.helpers.drawn_graphs import process_of
from tests.planted import cloner_of, models
from tests.planted.test_planted import FAULTS_BY_MODEL
from tests.recorded import FILE, RecordedTrial, read, texts_of, write

GRAPH_COUNTS = {"keras": 400, "tf_keras": 150}
SEED = 3
HANGING_ISSUES = ("tf-given-made",)
"""Known issues whose models make Keras hang."""


def _trials(process: SubjectProcess) -> Iterator[tuple[str, Case, list[str]]]:
    generation = process.subject.generation
    for issue in load().select(generation).bugs:
        if issue.id not in HANGING_ISSUES:
            yield f"known {issue.id}", case_of_script(issue), ["upstream"]
    for model, faults in FAULTS_BY_MODEL.items():
        for fault in faults.split():  # in separate trials: a changed original ends a trial
            yield f"planted {generation} {model}", models.case(model, generation), [cloner_of(fault)]
    for number, graph in enumerate(draw_graphs(process, SEED, GRAPH_COUNTS[generation], cloners=("upstream",))):
        yield f"drawn {generation} {number}", case_of(graph), ["upstream"]


def _record(process: SubjectProcess) -> Iterator[RecordedTrial]:
    for name, case, cloners in _trials(process):
        trial = run(case, process, cloners, costly=True)
        if trial.original is None:
            sys.stdout.write(f"not recorded: {name}\n")
            continue
        for cloner, clone in trial.clones.items():
            differences = tuple(replace(difference, digests=None, numbers=None) for difference in clone.differences)
            flow, fault = Flow.find(trial.original), cloner.rpartition(":")[2]
            if differences:
                texts = texts_of(group_by_fingerprint(flow, differences))
                yield RecordedTrial(f"{name} {fault}", flow, differences, texts)


def main() -> None:
    previous = read() if FILE.exists() else []
    trials = [trial for generation in GRAPH_COUNTS for trial in _record(process_of(generation))]
    write(trials)
    old_counts, new_counts = (Counter[str](), Counter[str]())
    for counter, recording in ((old_counts, previous), (new_counts, trials)):
        for trial in recording:
            counter[trial.name.partition(" ")[0]] += len(trial.causes)
    for group in new_counts:
        sys.stdout.write(f"{group}: {old_counts[group]} causes before, {new_counts[group]} now\n")


if __name__ == "__main__":
    main()
