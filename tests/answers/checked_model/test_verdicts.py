"""What a check comes to: what happens to whose clone, and what to do. No Keras is started."""

from __future__ import annotations

import pytest
from msgspec import structs

from clonediff.harness.answers.causes import CauseShown, follows, happens, headline
from clonediff.harness.answers.checked_model.record import Cloned
from clonediff.harness.answers.checked_model.verdicts import minded, outcome, refusal, summary, to_try
from clonediff.harness.subjects.subject import Subject
from clonediff.reports.records import SEVERITIES, Blame, Cause, Difference, Place, Raised, Severity

KERAS = Subject.parse("keras")
AT = Place("outer/inner", "Inner", 1)
RAISED = Raised("TypeError", "no argument `b`", "keras/src/models/functional.py:call")


def difference(check: str, path: str, aspect: str, severity: Severity, raised: Raised | None = None) -> Difference:
    return Difference(check, path, aspect, "this", "that", severity, AT, raised)


def cause(*members: Difference) -> Cause:
    return Cause("id", members[0], members[1:], min(each.severity for each in members))


KIND = difference("structure", "layers['inner'].kind", "kind", Severity.PROPERTY)
CALLED = difference("outputs", "inference", "raises", Severity.CRASHES, RAISED)


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        pytest.param(difference("made", "clone", "raises", Severity.CRASHES, RAISED), "cannot be cloned", id="made"),
        pytest.param(
            difference("made", "process", "process SIGSEGV", Severity.CRASHES, RAISED),
            "cloning it ends its process",
            id="lost",
        ),
        pytest.param(CALLED, "the clone crashes when called", id="called"),
        pytest.param(
            difference("outputs", "training", "raises", Severity.CRASHES, RAISED),
            "the clone crashes when called in training mode",
            id="called-in-training",
        ),
        pytest.param(
            difference("training", "trained", "raises", Severity.CRASHES, RAISED),
            "the clone crashes when trained",
            id="trained",
        ),
        pytest.param(
            difference("weights", "set_weights", "raises", Severity.CRASHES, RAISED),
            "the clone does not take the original's weights",
            id="weights",
        ),
        pytest.param(
            difference("again", "again", "raises", Severity.CRASHES, RAISED), "cannot be cloned twice", id="again"
        ),
        pytest.param(
            difference("again", "twice", "raises", Severity.CRASHES, RAISED), "the clone cannot be cloned", id="twice"
        ),
        pytest.param(
            difference("again", "twice.inference", "raises", Severity.CRASHES, RAISED),
            "a clone of the clone crashes when called",
            id="twice-called",
        ),
        pytest.param(
            difference("again", "again.weights", "weight order", Severity.COMPUTES),
            "a second clone has other weights",
            id="again-at-rest",
        ),
        pytest.param(
            difference("again", "twice.inference.outputs[0]", "value", Severity.COMPUTES),
            "a clone of the clone computes something else",
            id="twice-computes",
        ),
        pytest.param(
            difference("saved", "saved.loading", "raises", Severity.CRASHES, RAISED),
            "the saved clone cannot be loaded",
            id="loaded",
        ),
        pytest.param(
            difference("outputs", "inference.outputs[0]", "value", Severity.COMPUTES),
            "the clone computes something else",
            id="computes",
        ),
        pytest.param(
            difference("weights", "weights", "weight order", Severity.COMPUTES),
            "the clone has other weights",
            id="other-weights",
        ),
        pytest.param(
            difference("structure", "model.trainable", "trainable", Severity.TRAINS),
            "the clone trains differently",
            id="trains",
        ),
        pytest.param(
            difference("structure", "model.compiled", "compiled", Severity.TRAINS),
            "the clone is not compiled",
            id="compiled",
        ),
        pytest.param(
            difference("untouched", "original.weights[0]", "weight value", Severity.COMPUTES),
            "cloning changes the original",
            id="touched",
        ),
    ],
)
def test_what_happens_is_said_as_it_was_seen(seen: Difference, said: str) -> None:
    assert happens(cause(seen)) == said


def test_a_headline_says_what_happens_and_names_the_cause_of_it() -> None:
    lost_its_class = cause(KIND, CALLED)
    assert headline(lost_its_class) == "crashes when called: An Inner is of another class in the clone"
    assert follows(lost_its_class) == "TypeError: no argument `b`"
    assert headline(cause(CALLED)) == "crashes when called: TypeError in functional.py:call"
    assert follows(cause(CALLED)) == ""
    raised = difference("made", "clone", "raises", Severity.CRASHES, RAISED)
    assert headline(cause(raised)) == "A model cannot be cloned: TypeError in functional.py:call"


def test_a_name_is_named_once() -> None:
    renamed = difference("structure", "layers['inner'].name", "name", Severity.NAME)
    assert headline(cause(renamed)) == "A layer has another name in the clone"


def test_what_was_seen_in_a_run_is_said_before_what_was_not() -> None:
    order = difference("weights", "weights", "weight order", Severity.COMPUTES)
    output = difference("outputs", "inference.outputs[0]", "value", Severity.COMPUTES)
    assert happens(cause(order, output)) == "the clone computes something else"


def broken(
    blame: Blame, what: str = "the clone crashes when called", severity: Severity = Severity.CRASHES
) -> CauseShown:
    return CauseShown("id", "Title", SEVERITIES[severity], blame.value, KIND, what)


def cloned(cloner: str, *breaks: CauseShown) -> Cloned:
    return Cloned(cloner, "diverged" if breaks else "faithful", outcome(breaks), breaks)


NAME = broken(Blame.UPSTREAM, "the clone has another name", Severity.NAME)
CRASH, WRONG = broken(Blame.UPSTREAM), broken(Blame.OURS, "the clone computes something else", Severity.COMPUTES)
BOTH, BESIDE = broken(Blame.BOTH), broken(Blame.UNKNOWN, "the clone trains differently", Severity.TRAINS)


@pytest.mark.parametrize(
    ("clones", "remedies", "said"),
    [
        pytest.param([cloned("upstream"), cloned("fixed")], [], "cloned faithfully; nothing to do", id="faithful"),
        pytest.param(
            [cloned("upstream", NAME), cloned("fixed")],
            [],
            "only a name differs (Keras' clone_model); nothing to do",
            id="name",
        ),
        pytest.param(
            [cloned("upstream", CRASH, NAME), cloned("fixed")],
            [],
            "the clone crashes when called (Keras' clone_model); what works: `from clonediff import clone_model`",
            id="fixed-holds",
        ),
        pytest.param(
            [cloned("upstream", BOTH), cloned("fixed", BOTH)],
            [cloned("from_config")],
            "the clone crashes when called (Keras' clone_model and clonediff's clone_model); "
            "what works: `model.__class__.from_config(model.get_config())`",
            id="config-holds",
        ),
        pytest.param(
            [cloned("upstream", BOTH), cloned("fixed", BOTH)],
            [cloned("from_config", CRASH)],
            "the clone crashes when called (Keras' clone_model and clonediff's clone_model); "
            "both break alike, and nothing else that was tried works",
            id="alike",
        ),
        pytest.param(
            [cloned("upstream", CRASH), cloned("fixed", BESIDE)],
            [cloned("from_config", CRASH)],
            "the clone crashes when called (Keras' clone_model); the clone trains differently "
            "(clonediff's clone_model); nothing that was tried works",
            id="otherwise",
        ),
        pytest.param(
            [cloned("upstream"), cloned("fixed", WRONG)],
            [],
            "the clone computes something else (clonediff's clone_model); what works: `keras.models.clone_model`; "
            "what clonediff's breaks is its own fault: please report it, with this model if you can",
            id="ours",
        ),
        pytest.param(
            [cloned("fixed", BESIDE)],
            [],
            "the clone trains differently (clonediff's clone_model); "
            "add --cloner upstream to compare, and to have tried what may work",
            id="fixed-alone",
        ),
        pytest.param([cloned("fixed")], [], "cloned faithfully; nothing to do", id="fixed-alone-holds"),
    ],
)
def test_the_first_line(clones: list[Cloned], remedies: list[Cloned], said: str) -> None:
    assert summary(clones, remedies, KERAS) == said


@pytest.mark.parametrize(
    ("clones", "said"),
    [
        ([cloned("upstream"), cloned("fixed")], "cloned faithfully in what was compared; nothing to do"),
        ([cloned("upstream", NAME), cloned("fixed")], "only a name differs (Keras' clone_model); nothing to do"),
    ],
    ids=["faithful", "name"],
)
def test_a_model_that_was_compared_in_part_is_not_called_faithful_in_all(clones: list[Cloned], said: str) -> None:
    assert summary(clones, [], KERAS, in_part=True) == said


def test_who_minds_a_changed_name_is_told_what_keeps_it() -> None:
    clones = [cloned("upstream", NAME), cloned("fixed")]
    assert summary(clones, [], KERAS).endswith("(Keras' clone_model); nothing to do")
    assert summary(clones, [], KERAS, strict=True).endswith("what works: `from clonediff import clone_model`")
    assert to_try([cloned("upstream", NAME)], KERAS) == ""
    assert to_try([cloned("upstream", NAME)], KERAS, strict=True) == "fixed"


def test_who_is_refused_is_told_what_to_do_first() -> None:
    told = "Layer 'mine' (class `Mine`) cannot be cloned: its `get_config()` gave None instead of a dictionary. Do."
    seen = difference("made", "clone", "raises", Severity.CRASHES, Raised("TypeError", told))
    broke = structs.replace(broken(Blame.BOTH, "cannot be cloned"), root=seen)
    assert refusal(cloned("fixed", broke)) == told
    assert refusal(cloned("fixed", CRASH)) == ""
    said = summary([cloned("upstream", BOTH), cloned("fixed", broke)], [cloned("from_config", CRASH)], KERAS)
    assert said.endswith(f"nothing that was tried works; clonediff's clone_model says what to do: {told}")
    assert summary([cloned("fixed", broke)], [], KERAS).endswith(f"; {told}")


def test_what_works_is_something_that_the_release_can_use() -> None:
    """`clonediff.clone_model` is for Keras 3 and tf_keras, and needs a Python that Keras 2.2 never saw."""
    old, clones = Subject.parse("keras==2.2.4"), [cloned("upstream", CRASH), cloned("fixed")]
    assert to_try(clones, old) == "from_config"
    assert summary(clones, [cloned("from_config", CRASH)], old).endswith("nothing that was tried works")


@pytest.mark.parametrize(
    ("clones", "next_"),
    [
        pytest.param([cloned("upstream", CRASH)], "fixed", id="upstream-alone"),
        pytest.param([cloned("upstream", CRASH), cloned("fixed", BOTH)], "from_config", id="neither"),
        pytest.param([cloned("upstream", CRASH), cloned("fixed")], "", id="fixed-holds"),
        pytest.param([cloned("upstream", NAME)], "", id="a-name"),
        pytest.param([cloned("fixed", BESIDE)], "", id="fixed-alone"),
        pytest.param([cloned("upstream", CRASH), cloned("fixed", BOTH), cloned("from_config", CRASH)], "", id="all"),
    ],
)
def test_what_is_tried_besides(clones: list[Cloned], next_: str) -> None:
    assert to_try(clones, KERAS) == next_


def test_a_name_is_minded_where_one_is_strict() -> None:
    assert minded([NAME]) == []
    assert minded([NAME], strict=True) == [NAME]


def test_an_exception_is_minded_though_it_is_documented() -> None:
    none = structs.replace(CRASH, happens="cannot be cloned", documented=True)
    less = structs.replace(WRONG, documented=True)
    assert minded([none, less]) == [none]
    assert summary([cloned("upstream", none)], [cloned("fixed")], KERAS).startswith("cannot be cloned")
    assert summary([cloned("upstream", less)], [cloned("fixed")], KERAS).endswith("nothing to do")
