"""The tasks of a campaign's worker: start a subject, try a shard, make a finding smaller.

Each is a plain function of data, so it gives the same on any worker, however often it runs.
"""

from __future__ import annotations

import functools
import itertools
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import ParamSpec, TypeVar

import msgspec

from clonediff.harness.campaign.reducing import piece
from clonediff.harness.campaign.shards import (
    MadeSmaller,
    RefusedGraph,
    Shard,
    ShardDone,
    SubjectStarted,
    WrittenFinding,
    count_refused,
)
from clonediff.harness.campaign.warm_subjects import warm_subjects
from clonediff.harness.drawing.drawable_kinds import graphs_on
from clonediff.harness.drawing.remembered_answers import asked
from clonediff.harness.scripts.of_finding import finding_of, script_of
from clonediff.harness.search.sampling import sample_graphs
from clonediff.harness.source.other_layers import is_allowed, other_kinds
from clonediff.harness.subjects import NoDeviceError, SubjectError
from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.trials.cloners import unsupported_cloner
from clonediff.harness.trials.graph_trials import new_hits
from clonediff.harness.trials.trial import Key
from clonediff.reports.draws import reason
from clonediff.strategies.graph import Graph, from_json, to_json


@dataclass(frozen=True, slots=True)
class SubjectGone:
    """A subject that started before does not start now. It may on another worker, or later."""

    reason: str


@dataclass(frozen=True, slots=True)
class MachineRefused:
    """The worker's machine refused something, such as writing a file to a full disk."""

    number: int | None
    reason: str
    file: str | None

    def error(self) -> OSError:
        """What it was."""
        return OSError(self.number, self.reason, self.file) if self.number is not None else OSError(self.reason)


@dataclass(frozen=True, slots=True)
class OurFault:
    """A bug of clonediff. It would happen again, so the task is given up, and the campaign goes on."""

    reason: str


P = ParamSpec("P")
T = TypeVar("T")


def _answering(task: Callable[P, T]) -> Callable[P, T | SubjectGone | MachineRefused | OurFault]:
    """A task that answers with what stopped it: not every exception can cross the network."""

    @functools.wraps(task)
    def run(*args: P.args, **kwargs: P.kwargs) -> T | SubjectGone | MachineRefused | OurFault:
        try:
            return task(*args, **kwargs)
        except SubjectError as error:
            return SubjectGone(str(error))
        except OSError as error:
            return MachineRefused(error.errno, error.strerror or str(error), error.filename)
        except Exception as error:
            frames = [f"{Path(each.filename).name}:{each.lineno}" for each in traceback.extract_tb(error.__traceback__)]
            return OurFault(f"{type(error).__name__}: {error} (at {' > '.join(frames[-4:])})")

    return run


@_answering
def start_subject(campaign: str, name: str) -> SubjectStarted:
    """Start a subject, and say what it is, or why it does not work."""
    own = version("clonediff")
    setup = warm_subjects(campaign).setup
    try:
        process = warm_subjects(campaign).process(name)
        for cloner in setup.cloners:
            reason = unsupported_cloner(cloner, process)
            if reason:
                return SubjectStarted(name, lost=reason, clonediff=own)
        return SubjectStarted(
            name,
            process.versions,
            process.ready.keras,
            clonediff=own,
        )
    except SubjectError as error:
        if not isinstance(error, (ReleaseError, NoDeviceError)) and error.failure is None:
            raise  # it was ended while it started, which may not happen again
        return SubjectStarted(name, lost=str(error), clonediff=own)


@_answering
def try_shard(campaign: str, shard: Shard) -> ShardDone:
    """Try each graph of a shard."""
    trials = warm_subjects(campaign).trials(shard.subject)
    process = trials.process
    before = process.losses.copy()
    began = time.perf_counter()
    raw_findings: dict[Key, WrittenFinding] = {}
    refusals: dict[str, RefusedGraph] = {}
    met: Counter[Key] = Counter()

    def look(graph: Graph) -> None:
        tried = trials.try_graph(graph)
        # A release of another day may lack what the corpus has of this one.
        refused = None if shard.graphs and process.subject.version is not None else tried.refused
        if refused is not None:
            why = reason(refused.type, refused.message)
            count_refused(refusals, RefusedGraph(why, msgspec.Raw(to_json(graph))))
        for each in new_hits(tried.hits):
            met[each.key] += 1
            if each.key not in raw_findings:
                finding = finding_of(each, process.subject, process.versions)
                script = script_of(each, process.subject.generation, process.versions).text
                raw_findings[each.key] = WrittenFinding(finding, script)

    with trials.asking():
        if shard.graphs:
            for each in shard.graphs:
                graph = from_json(bytes(each), "a graph of the corpus")
                if all(map(is_allowed, other_kinds(graph))):  # else it is one of a run with other --layers
                    look(graph)
        else:
            graphs = graphs_on(process, cloners=trials.cloners)
            # The first that is drawn is the simplest of all, which one shard is enough to try.
            for graph in itertools.islice(
                sample_graphs(graphs, shard.examples, shard.seed), 0 if shard.opens else 1, None
            ):
                look(graph)
    asked(process).keep()
    tally = trials.tally
    accepted, not_accepted = asked(process).since()
    return ShardDone(
        subject=shard.subject,
        turn=shard.turn,
        trials=tally.trials,
        seconds=time.perf_counter() - began,
        verdicts={f"{cloner}: {verdict}": count for (cloner, verdict), count in tally.verdicts.items()},
        worst={f"{cloner}: {severity.name.lower()}": count for (cloner, severity), count in tally.worst.items()},
        known=dict(tally.known),
        severities=dict(tally.severities),
        raw_findings=tuple(raw_findings.values()),
        refusals=tuple(refusals.values()),
        met=tuple(met.items()),
        losses=dict(process.losses - before),
        accepted=accepted,
        not_accepted=not_accepted,
    )


@_answering
def make_smaller(
    campaign: str, shard: Shard, raw_finding: WrittenFinding, before: MadeSmaller | None, seconds: float | None
) -> MadeSmaller:
    """Make what a shard found smaller, from where the piece `before` ended.

    `seconds` is how long that may take, but for the script; None for as long as it takes.
    """
    began, until = time.perf_counter(), None if seconds is None else time.monotonic() + seconds
    warm = warm_subjects(campaign)
    trials, scripts = warm.trials(shard.subject), warm.scripts(shard.subject)
    with trials.asking():
        done = piece(trials, shard, raw_finding, before, scripts=scripts, until=until)
    return msgspec.structs.replace(done, seconds=time.perf_counter() - began)
