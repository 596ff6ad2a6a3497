"""A trial: from a subject's outcome to a verdict on each cloner, and to hits; whoever took the process with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from clonediff.harness.subjects.observation import Answer, Clone, Failure, Frame
from clonediff.harness.subjects.outcomes import Loss, Lost, Outcome, ValuesReport
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.trials.checks import takes_costly
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.triage import Verdict
from clonediff.harness.trials.trial import Case, run
from clonediff.reports.known import KnownIssues
from clonediff.reports.records import LEFT_OUT, Blame, Severity
from tests.example_graphs import of_layer

from .making import altered, chain, faithful

ORIGINAL = chain("Lambda", "Dense")
GOOD = faithful(ORIGINAL)
BAD = altered(GOOD, ("observation.inference.outputs.0.digest", "other"))
REFUSED = Clone(failure=Failure("ValueError", "no Lambda"))
CASE = Case("model = 1", ())
FRAMES = (Frame("inside/serve.py", "main", 1), Frame("keras/src/layers/rnn/lstm.py", "call", 2))
GRAPH = of_layer("layers.ReLU()", (3,))


class Played:
    """A subject that plays what it is given for each list of cloners."""

    def __init__(self, outcome: Callable[[tuple[str, ...]], Outcome]) -> None:
        self.subject = Subject.parse("keras")
        self.outcome = outcome
        self.cloners: list[tuple[str, ...]] = []
        self.limits: list[float | None] = []

    def trial(
        self, case: Case, *, cloners: Iterable[str], costly: bool = False, timeout: float | None = None
    ) -> Outcome:
        self.cloners.append(tuple(cloners))
        self.limits.append(timeout)
        return self.outcome(tuple(cloners))

    def values(self, digests: Iterable[tuple[str, str]]) -> list[ValuesReport]:
        return [
            ValuesReport(shape=((2, 3), (2, 3)), count=2, max_abs=0.5, first=(0, 1), values=("1", "2")) for _ in digests
        ]


def answering(**clones: Clone) -> Played:
    return Played(lambda cloners: Answer(original=ORIGINAL, clones={name: clones[name] for name in cloners}))


def test_each_cloner_has_its_verdict_and_its_blame_and_what_differs_has_numbers() -> None:
    trial = run(CASE, answering(upstream=REFUSED, fixed=GOOD, mine=BAD), ("upstream", "fixed", "mine"))
    verdicts = {"upstream": Verdict.CRASHED, "fixed": Verdict.FAITHFUL, "mine": Verdict.DIVERGED}
    assert {name: clone.verdict for name, clone in trial.clones.items()} == verdicts
    assert {cause.blame for clone in trial.clones.values() for cause in clone.causes} == {Blame.UPSTREAM, Blame.ITS_OWN}
    (value,) = trial.clones["mine"].differences
    assert value.numbers is not None
    assert (value.numbers.total, value.numbers.differing, value.numbers.max_abs) == (6, 2, 0.5)


def test_the_cloners_after_one_that_changed_the_original_have_a_trial_of_their_own() -> None:
    both = answering(upstream=GOOD, fixed=GOOD).outcome
    subject = Played(lambda cloners: both(cloners[:1]))
    assert list(run(CASE, subject).clones) == ["upstream", "fixed"]
    assert subject.cloners == [("upstream", "fixed"), ("fixed",)]


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (Lost(how=Loss.TIMED_OUT, seconds=9, frames=FRAMES), Verdict.TIMED_OUT),
        (Lost(how="SIGSEGV", frames=FRAMES), Verdict.KILLED),
        (Lost(how="exit code 3", frames=FRAMES), Verdict.KILLED),
        (Lost(how=Loss.OUT_OF_MEMORY, frames=FRAMES), Verdict.KILLED),
    ],
)
def test_the_cloner_that_took_the_process_is_found(outcome: Lost, verdict: Verdict) -> None:
    good = answering(fixed=GOOD).outcome
    subject = Played(lambda cloners: outcome if "upstream" in cloners else good(cloners))
    trial = run(CASE, subject)
    assert subject.cloners == [("upstream", "fixed"), (), ("upstream",), ("fixed",)]
    assert (trial.clones["upstream"].verdict, trial.clones["fixed"].verdict) == (verdict, Verdict.FAITHFUL)
    (cause,) = trial.clones["upstream"].causes
    assert (cause.severity, cause.blame) == (Severity.CRASHES, Blame.UPSTREAM)
    assert cause.root.raised is not None
    assert (cause.root.raised.type, cause.root.raised.frame) == (outcome.how, "keras/src/layers/rnn/lstm.py:call")


@pytest.mark.parametrize(("seconds", "limit"), [(0.5, 20.0), (2.0, 40.0), (60.0, 600.0)])
def test_where_a_cloner_does_not_end_its_limit_is_by_the_time_of_the_model(seconds: float, limit: float) -> None:
    late = Lost(how=Loss.TIMED_OUT, seconds=600.0)
    alone = Answer(original=ORIGINAL, clones={"fixed": GOOD}, seconds=seconds)
    subject = Played(lambda cloners: late if "upstream" in cloners else alone)
    run(CASE, subject, timeout=600.0)
    assert subject.limits == [600.0, 600.0, limit, limit]


def test_an_original_that_is_refused_is_counted_and_no_hit() -> None:
    refused = Answer(refused=Failure("ValueError", "why"))
    trials = GraphTrials(Played(lambda _: refused), KnownIssues())  # type: ignore[arg-type]  # it plays one
    assert trials.try_graph(GRAPH).hits == ()
    assert trials.tally.refused == 1
    lost_once = {("upstream", "fixed"): Lost(how=Loss.TIMED_OUT, seconds=9), (): Answer(original=ORIGINAL)}
    trial = run(CASE, Played(lambda cloners: lost_once.get(cloners, refused)))
    assert (trial.built, trial.refused, trial.clones) == (False, refused.refused, {})


def test_an_original_that_takes_the_process_is_nobodys_clone() -> None:
    trial = run(CASE, Played(lambda _: Lost(how="SIGABRT")))
    assert trial.lost is not None
    assert (trial.clones, trial.built) == ({}, False)


def test_an_answer_without_a_cloner_that_was_asked_for_is_our_own_fault() -> None:
    with pytest.raises(ValueError, match="says nothing of the cloners"):
        run(CASE, Played(lambda _: Answer(original=ORIGINAL, clones={"other": GOOD})))


@pytest.mark.parametrize(
    ("check", "path", "costly"),
    [
        ("outputs", "inference.outputs[0]", False),
        ("training", "trained.loss", True),
        ("untouched", "original.layers[0]", True),
        ("made", "process", True),
    ],
)
def test_what_was_found_is_looked_for_in_the_part_that_may_show_it(check: str, path: str, costly: bool) -> None:
    assert takes_costly(check, path) is costly


FROZEN = altered(
    GOOD, ("observation.shape.layers.2.trainable", False), ("observation.shape.weights.0.trainable", False)
)
CLONES = {
    "crashes": REFUSED,
    "computes": BAD,
    "trains": FROZEN,
    "property": altered(GOOD, ("observation.shape.layers.2.config.units", "4")),
    "name": altered(GOOD, ("observation.shape.layers.1.name", "other")),
    "faithful": GOOD,
    "both": altered(FROZEN, ("observation.shape.layers.1.name", "other")),
}


@pytest.mark.parametrize("at_least", Severity)
def test_a_cause_that_costs_less_is_left_out(at_least: Severity) -> None:
    subject = answering(**CLONES)
    trials = GraphTrials(subject, KnownIssues(), cloners=tuple(CLONES), at_least=at_least)  # type: ignore[arg-type]
    hits = [hit.cloner for hit in trials.try_graph(GRAPH).hits if hit.cloner != "both"]
    names = [severity.name.lower() for severity in Severity]
    counted, less = names[: at_least + 1], names[at_least + 1 :]
    assert hits == counted
    worst = {name: severity.name.lower() for name, severity in trials.tally.worst}
    assert worst == {**dict(zip(counted, counted, strict=True)), **({"both": "trains"} if "trains" in counted else {})}
    assert {name for name, verdict in trials.tally.verdicts if verdict == LEFT_OUT} - {"both"} == set(less)
    assert trials.tally.verdicts["faithful", "faithful"] == 1
