"""The protocol of a child: its first line, its answers, and that nothing it is sent or prints breaks it."""

from __future__ import annotations

import json

import msgspec
import pytest

from clonediff.harness.subjects.observation import Answer

from .child import Child, serving
from .models import CHAIN, FLOATS, NO_LAMBDA, STEPS, UNBUILDABLE, case


def _case(child: Child, body: str, *inputs: dict) -> dict:
    return case(body, child.generation, *inputs)


def test_first_line_says_what_it_is(child: Child) -> None:
    ready = child.first["ready"]
    said = {
        "generation",
        "keras",
        "backend",
        "backend_version",
        "numpy",
        "python",
        "devices",
        "seconds",
        "capabilities",
    }
    assert set(ready) == said
    dense, dropout = ready["capabilities"]["layers"]["Dense"], ready["capabilities"]["layers"]["Dropout"]
    assert {"units", "activation"} <= {each["name"] for each in dense["constructor"]}
    assert "training" in {each["name"] for each in dropout["call"]}
    missing = ready["capabilities"]["missing"]
    assert child.generation != "keras" or missing == [], "the newest has all the rest"
    assert ready["generation"] == child.generation
    assert ready["devices"][0] == "cpu:0"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{no json", "Expecting property name"),
        ("[1]", "a request is a JSON object"),
        ('{"do": "dance"}', "choose one of cloner"),
        ('{"do": "trial", "id": 3}', "needs the field `source`"),
    ],
)
def test_what_cannot_be_answered_is_an_error(child: Child, line: str, message: str) -> None:
    assert message in json.loads(child.line(line))["error"]["message"]


def test_answer_decodes(child: Child) -> None:
    request = _case(child, CHAIN, STEPS)
    line = child.line(json.dumps({"do": "trial", "id": "a", "cloners": ["upstream", "fixed"], **request}))
    assert msgspec.json.decode(line)["id"] == "a"
    answer = msgspec.json.decode(msgspec.json.encode(msgspec.json.decode(line)["answer"]), type=Answer)
    assert answer.original is not None
    assert answer.seconds > 0


def test_prints_do_not_break_the_protocol(child: Child) -> None:
    request = _case(child, "print('{')\nimport os\nos.write(1, b'{')\n" + NO_LAMBDA)
    assert child.answer(request, [])["original"]


def test_refused_graph_says_where(child: Child) -> None:
    refused = child.answer(_case(child, UNBUILDABLE), ["fixed"])["refused"]
    assert refused["type"] == "ValueError"
    assert refused["frames"][0] == {"file": "<graph>", "function": "<module>", "line": 4}
    assert not [frame for frame in refused["frames"] if frame["file"].startswith("/")]


def test_same_request_same_answer(child: Child) -> None:
    request = _case(child, NO_LAMBDA, FLOATS)
    first, second = (child.answer(request, ["fixed"], costly=True) for _ in range(2))
    for answer in (first, second):
        del answer["seconds"]
    assert first == second


def test_values_behind_digests(child: Child) -> None:
    original = child.answer(_case(child, NO_LAMBDA, FLOATS), [])["original"]
    before, after = (step["outputs"][0]["digest"] for step in original["training"]["steps"][:2])
    same, other, gone = child.ask(do="values", digests=[[before, before], [before, after], [before, "gone"]])["values"]
    assert (same["count"], same["first"]) == (0, None)
    assert other["count"] > 0
    assert len(other["values"]) == 2
    assert gone == {"missing": ["gone"]}


def test_keras_that_is_not_there_is_said() -> None:
    with serving("keras", KERAS_BACKEND="no_such_backend") as child:
        assert "no_such_backend" in child.first["broken"]["message"]
