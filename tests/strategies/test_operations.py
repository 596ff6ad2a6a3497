"""Operations are made of what a release says of its functions; none has to be in a table."""

from __future__ import annotations

import ast

import pytest

from clonediff.harness.source import DIALECTS
from clonediff.harness.source.writer import write_question
from clonediff.strategies.asking import Question
from clonediff.strategies.graph import Array, Call, Layer, Ref, Seq
from clonediff.strategies.kinds.kind import LEFT_OUT, Kind, Parameter, Parameters, Spec
from clonediff.strategies.kinds.operations import OPERATORS, TENSORFLOW, operations_of

X, X1, X2 = (Parameter(name, required=True) for name in ("x", "x1", "x2"))
AXIS = Parameter("axis", default=None)
SIGNATURES: dict[str, Parameters] = {
    "ops.column_stack": (Parameter("xs", required=True),),
    "ops.matrix_power": (X, Parameter("n", required=True)),
    "ops.fresh": (
        Parameter("inputs", required=True),
        Parameter("strength", default=2.0),
        Parameter("sure", default=True),
    ),
    "ops.sum": (X, AXIS, Parameter("keepdims", default=False)),
    "ops.softmax": (X, Parameter("axis", default=-1)),
    "ops.maximum": (X1, X2),
    "ops.reshape": (X, Parameter("newshape", required=True)),
    "ops.einsum": (Parameter("subscripts", required=True), Parameter("*operands")),
    "ops.take_along_axis": (X, Parameter("indices", required=True), AXIS),
    "ops.get_item": (X, Parameter("key", required=True)),
    "ops.zeros": (),
    "tf.math.log": (X, Parameter("name", default=None)),
    "tf.py_function": (X,),
}
KINDS = operations_of(SIGNATURES)


def text_of(kind: Kind, specs: tuple[Spec, ...] = (Spec((3, 4)),), place: int = 0) -> str:
    """The text of a call with the values in that place, and all that may be left out."""
    drawn = {key: values[place % len(values)] for key, values in {**kind.options, **kind.more}.items()}
    assert kind.arrange is not None
    args = kind.arrange(specs, drawn)
    assert args is not None
    layer = Layer(kind.name, tuple((key, value) for key, value in args.items() if value != LEFT_OUT))
    call = Call(0, kind.packed(tuple(Ref(number) for number in range(len(specs)))))
    dialect = DIALECTS["tf_keras" if kind.name.startswith("tf.") else "keras"]
    return write_question(Question(layer, specs, (call,)), dialect)


def test_a_function_that_is_new_is_drawn_by_what_it_takes() -> None:
    stack, power, fresh = (KINDS[f"ops.{name}"] for name in ("column_stack", "matrix_power", "fresh"))
    assert (stack.pass_as, stack.takes) == ("list", (1, 3))
    assert text_of(stack, (Spec((3,)),) * 2).endswith(": ops.column_stack([tensors[0], tensors[1]])]\n")
    assert text_of(power).endswith("calls = [lambda tensors: ops.matrix_power(tensors[0], n=1)]\n")
    assert text_of(fresh).endswith("calls = [lambda tensors: ops.fresh(tensors[0], strength=0.5, sure=False)]\n")
    assert fresh.options == {}


def test_what_takes_no_tensor_or_is_known_to_be_nothing_is_no_kind() -> None:
    assert not {"ops.zeros", "ops.get_item", "tf.py_function"} & set(KINDS)
    assert "tf.math.log" in TENSORFLOW & set(KINDS)


def test_an_axis_is_always_said_where_it_would_be_the_batch_too() -> None:
    assert "axis" in KINDS["ops.sum"].options
    assert "axis" in KINDS["ops.softmax"].more


def test_a_number_stands_for_a_second_tensor_only_where_there_is_none() -> None:
    kind = KINDS["ops.maximum"]
    assert kind.takes == (1, 2)
    assert text_of(kind).endswith(": ops.maximum(tensors[0], 2.0)]\n")
    assert text_of(kind, (Spec((3, 4)),) * 2).endswith(": ops.maximum(tensors[0], tensors[1])]\n")
    assert KINDS["ops.take_along_axis"].takes == (2, 2)


def test_a_value_may_follow_from_the_tensor() -> None:
    arrange = KINDS["ops.reshape"].arrange
    assert arrange is not None
    assert arrange((Spec((3, 4)),), {"newshape": "<flat>"}) == {"newshape": Seq((-1, 12), "tuple")}
    assert arrange((Spec((None, 4)),), {"newshape": "<flat>"}) is None
    one = KINDS["ops.maximum"].arrange
    assert one is not None
    assert one((Spec((3,), "int32"),), {"x2": "<one>"}) == {"x2": Array((1,), "int32")}


@pytest.mark.parametrize("name", [*KINDS])
def test_what_is_written_of_an_operation_is_python(name: str) -> None:
    kind = KINDS[name]
    for count in range(kind.takes[0], kind.takes[1] + 1):
        for place in range(max(map(len, {**kind.options, **kind.more}.values()), default=1)):
            ast.parse(text_of(kind, (Spec((3, 4)),) * count, place))


def test_operators_are_there_whatever_a_release_says() -> None:
    assert set(OPERATORS) <= set(operations_of({}))
