"""A trial: from a subject's outcome to a verdict on each cloner, whoever took the process with it."""

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
from clonediff.reports.records import Blame, Severity
from clonediff.strategies.graph import Call, Graph, Input, Layer, Ref

from .checks.making import altered, chain, faithful

ORIGINAL = chain("Lambda", "Dense")
GOOD = faithful(ORIGINAL)
BAD = altered(GOOD, ("observation.inference.outputs.0.digest", "other"))
REFUSED = Clone(failure=Failure("ValueError", "no Lambda"))
CASE = Case("model = 1", ())
FRAMES = (Frame("inside/serve.py", "main", 1), Frame("keras/src/layers/rnn/lstm.py", "call", 2))


class Played:
    """A subject that plays what it is given for each list of cloners."""

    def __init__(self, outcome: Callable[[tuple[str, ...]], Outcome]) -> None:
        self.subject = Subject.parse("keras")
        self.outcome = outcome
        self.asked: list[tuple[str, ...]] = []
        self.limits: list[float | None] = []
        self.costly: list[bool] = []

    def trial(
        self, case: Case, *, cloners: Iterable[str], costly: bool = False, timeout: float | None = None
    ) -> Outcome:
        self.asked.append(tuple(cloners))
        self.limits.append(timeout)
        self.costly.append(costly)
        return self.outcome(tuple(cloners))

    def values(self, digests: Iterable[tuple[str, str]]) -> list[ValuesReport]:
        return [
            ValuesReport(shape=((2, 3), (2, 3)), count=2, max_abs=0.5, first=(0, 1), values=("1", "2")) for _ in digests
        ]


def answering(**clones: Clone) -> Played:
    return Played(lambda cloners: Answer(original=ORIGINAL, clones={name: clones[name] for name in cloners}))


def test_each_cloner_has_its_verdict_and_its_blame() -> None:
    trial = run(CASE, answering(upstream=REFUSED, fixed=GOOD, mine=BAD), ("upstream", "fixed", "mine"))
    assert {name: clone.verdict for name, clone in trial.clones.items()} == {
        "upstream": Verdict.CRASHED,
        "fixed": Verdict.FAITHFUL,
        "mine": Verdict.DIVERGED,
    }
    assert {cause.blame for clone in trial.clones.values() for cause in clone.causes} == {Blame.UPSTREAM, Blame.ITS_OWN}


def test_the_cloners_after_one_that_changed_the_original_have_a_trial_of_their_own() -> None:
    both = answering(upstream=GOOD, fixed=GOOD).outcome

    def one_at_a_time(cloners: tuple[str, ...]) -> Outcome:
        return both(cloners[:1])

    subject = Played(one_at_a_time)
    assert list(run(CASE, subject).clones) == ["upstream", "fixed"]
    assert subject.asked == [("upstream", "fixed"), ("fixed",)]


def test_differences_carry_numbers() -> None:
    trial = run(CASE, answering(upstream=REFUSED, fixed=BAD))
    (value,) = trial.clones["fixed"].differences
    assert value.numbers is not None
    assert (value.numbers.total, value.numbers.differing, value.numbers.max_abs) == (6, 2, 0.5)


def test_an_original_that_is_refused_is_the_generators_fault() -> None:
    trial = run(CASE, Played(lambda _: Answer(refused=Failure("ValueError", "no"))))
    assert not trial.built
    assert trial.clones == {}


@pytest.mark.parametrize(
    ("outcome", "verdict", "word"),
    [
        (Lost(how=Loss.TIMED_OUT, seconds=9, frames=FRAMES), Verdict.TIMED_OUT, "timed out"),
        (Lost(how="SIGSEGV", frames=FRAMES), Verdict.KILLED, "SIGSEGV"),
        (Lost(how="exit code 3", frames=FRAMES), Verdict.KILLED, "exit code 3"),
        (Lost(how=Loss.OUT_OF_MEMORY, frames=FRAMES), Verdict.KILLED, "out of memory"),
    ],
)
def test_the_cloner_that_took_the_process_is_found(outcome: Outcome, verdict: Verdict, word: str) -> None:
    good = answering(fixed=GOOD).outcome
    subject = Played(lambda cloners: outcome if "upstream" in cloners else good(cloners))
    trial = run(CASE, subject)
    assert subject.asked == [("upstream", "fixed"), (), ("upstream",), ("fixed",)]
    assert trial.clones["upstream"].verdict is verdict
    assert trial.clones["fixed"].verdict is Verdict.FAITHFUL
    (cause,) = trial.clones["upstream"].causes
    assert cause.severity is Severity.CRASHES
    assert cause.root.raised is not None
    assert (cause.root.raised.type, cause.root.raised.frame) == (word, "keras/src/layers/rnn/lstm.py:call")
    assert [each.blame for each in trial.clones["upstream"].causes] == [Blame.UPSTREAM]


def test_an_original_that_is_refused_beside_one_cloner_is_nobodys_clone() -> None:
    refused = Answer(refused=Failure("RuntimeError", "out of luck"))
    outcomes = {
        ("upstream",): refused,
        ("upstream", "fixed"): Lost(how=Loss.TIMED_OUT, seconds=9),
        (): Answer(original=ORIGINAL),
    }
    trial = run(CASE, Played(outcomes.__getitem__))
    assert trial.refused is not None
    assert (trial.refused.type, trial.clones) == ("RuntimeError", {})


def test_an_original_of_which_nothing_can_be_said_is_counted_and_no_hit() -> None:
    process = Played(lambda cloners: Answer(refused=Failure("ValueError", "why")))
    graph = Graph((Input((3,)),), (Layer("ReLU"),), (Call(0, (Ref(0),)),), Ref(0), Ref(1))
    trials = GraphTrials(process, KnownIssues())  # type: ignore[arg-type]  # it plays one
    assert trials.try_graph(graph).hits == ()
    assert trials.tally.refused == 1


@pytest.mark.parametrize(
    ("check", "path", "costly"),
    [
        ("outputs", "inference.outputs[0]", False),
        ("training", "trained.loss", True),
        ("again", "twice.layers[0]", True),
        ("untouched", "original.layers[0]", True),
        ("made", "process", True),
    ],
)
def test_what_was_found_is_looked_for_in_the_part_that_may_show_it(check: str, path: str, costly: bool) -> None:
    assert takes_costly(check, path) is costly


@pytest.mark.parametrize(("takes", "limit"), [(0.5, 20.0), (2.0, 40.0), (60.0, 600.0)])
def test_where_a_cloner_does_not_end_each_alone_has_what_the_model_is_worth(takes: float, limit: float) -> None:
    late = Lost(how=Loss.TIMED_OUT, seconds=600.0)
    alone = Answer(original=ORIGINAL, clones={"fixed": GOOD}, seconds=takes)
    subject = Played(lambda cloners: late if "upstream" in cloners else alone)
    run(CASE, subject, timeout=600.0)
    assert subject.limits == [600.0, 600.0, limit, limit]


def test_an_original_that_takes_the_process_is_nobodys_clone() -> None:
    trial = run(CASE, Played(lambda _: Lost(how="SIGABRT")))
    assert trial.lost is not None
    assert (trial.clones, trial.built) == ({}, False)


def test_an_answer_without_a_cloner_that_was_asked_for_is_our_own_fault() -> None:
    with pytest.raises(ValueError, match="says nothing of the cloner 'fixed'"):
        run(CASE, Played(lambda _: Answer(original=ORIGINAL, clones={"upstream": GOOD})))
