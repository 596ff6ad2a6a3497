"""Whether Keras accepts a call, and what comes out: tried on symbolic tensors, then on numbers.

A call that fails on numbers, gives another shape than Keras said, or whose weights are not regularized as they are to
be, is refused as well: no model with it could be compared. A warning refuses nothing, where warnings are errors.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any, Iterator

import numpy

from .build import build, build_after, script
from .failures import GRAPH_FILE
from .frameworks.interface import Framework
from .observer import QUESTION, tidy
from .values import input_array
from .warned import Warned

LARGE = 50
"""Whole numbers that no lookup was made for are below."""
_LONGEST = 200
_WORD = re.compile(r"\w+")
ROWS = 2


class _Refused(Exception):
    """Keras accepts the call, but what it gives cannot stand in a model that is compared."""


def answer(question: dict[str, Any], framework: Framework) -> dict[str, Any]:
    """What a call gives, or why Keras refuses it."""
    tidy(framework, QUESTION)
    framework.reseed(0)
    specs = question["tensors"]
    try:
        with Warned().listening(), script(question["text"]) as module:
            exec(compile(question["text"], GRAPH_FILE, "exec"), module.__dict__)  # noqa: S102 - the text is the question
            tensors = [framework.symbolic(spec) for spec in specs]
            said = [call(tensors) for call in module.calls][-1]
            gives = [_told(tensor, framework) for tensor in _flat(said)]
            if not gives:
                raise _Refused("it gives no tensor at all")
            _refuse_without_config(said)
            if any(tensor is given for tensor in _flat(said) for given in tensors):
                raise _Refused("it gives back a tensor that it is given")
            if _packed(said) not in (question.get("packed_in") or ("one" if len(gives) == 1 else "list",)):
                raise _Refused("it gives %d tensors in a way that no script has words for" % len(gives))
            numbers = numbers_like(specs, framework)
            found = module.calls[-1](numbers)
            _hold_against(list(_flat(found)), gives)
            for maker in _makers(said):
                list(getattr(maker, "losses", ()))
    except _Refused as error:
        return {"why": str(error)}
    except Exception as error:  # whatever Keras says to it
        return {"why": _said(error)}
    return {"gives": gives}


def _said(error: Exception) -> str:
    """The exception in a line: what the layer raised, where Keras says around it which layer that was."""
    text = re.sub(r"\x1b\[[\d;]*m", "", str(error)).rpartition("Error encountered:")[2]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith("Exception encountered when calling")]
    return ("%s: %s" % (type(error).__name__, "".join(told[:1])))[:_LONGEST]


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            for leaf in _flat(item):
                yield leaf
    elif isinstance(value, dict):
        for key in sorted(value):
            for leaf in _flat(value[key]):
                yield leaf
    else:
        yield value


def _packed(value: Any) -> str:
    """What the tensors are given in, by the word that a graph has for it."""
    if isinstance(value, dict):
        return "dict"
    if not isinstance(value, (list, tuple)):
        return "one"
    return "nested" if any(isinstance(item, (list, tuple, dict)) for item in value) else "list"


def _told(tensor: Any, framework: Framework) -> dict[str, Any]:
    if not framework.is_symbolic(tensor):
        raise _Refused("it gives %s, which is no tensor of a model" % type(tensor).__name__)
    shape = framework.shape(tensor)
    if shape is None or not shape or shape[0] is not None:
        raise _Refused("it gives a tensor of shape %s, without the batch" % (shape,))
    optional, sparse, ragged = framework.end_options(tensor)
    sizes = [None if size is None else int(size) for size in shape[1:]]
    told: dict[str, Any] = {"shape": sizes, "dtype": framework.dtype(tensor)}
    told.update((key, True) for key, is_so in (("mask", framework.has_mask(tensor)), ("ragged", ragged)) if is_so)
    if sparse:
        told["told_sparse"] = True
    return told


def _refuse_without_config(said: Any) -> None:
    """Raise where a custom class has no config, and Keras says of it that it has to have one."""
    for maker in _makers(said):
        if type(maker).__module__ == "__main__" and not hasattr(maker, "fit"):
            try:
                maker.get_config()
            except NotImplementedError as error:
                raise _Refused(str(error)) from error


def _makers(said: Any) -> Iterator[Any]:
    """The layer that gave each tensor."""
    for tensor in _flat(said):
        yield getattr(tensor, "_keras_history", (None,))[0]


def numbers_like(specs: list[dict[str, Any]], framework: Framework) -> list[Any]:
    """Tensors of numbers like these, each time the same."""
    random = numpy.random.default_rng(0)
    tensors: list[Any] = []
    for spec in specs:
        filled = dict(spec, fill="ids", high=LARGE) if spec.get("large") else spec
        tensor = framework.number(input_array(filled, ROWS, random), spec)
        if spec.get("mask"):
            mask = input_array({"shape": spec["shape"][:1], "dtype": "bool", "fill": "mask"}, ROWS, random)
            with contextlib.suppress(AttributeError):
                tensor._keras_mask = framework.number(mask, {})
        tensors.append(tensor)
    return tensors


def _hold_against(found: list[Any], said: list[dict[str, Any]]) -> None:
    if len(found) != len(said):
        raise _Refused("it says %d tensors and gives %d" % (len(said), len(found)))
    for tensor, told in zip(found, said):
        if told.get("ragged") or told.get("told_sparse"):
            continue
        shape, wanted = tuple(tensor.shape), [ROWS] + told["shape"]
        same = len(shape) == len(wanted) and all(size in (None, have) for size, have in zip(wanted, shape))
        if not same:
            raise _Refused("it says the shape %s and gives %s" % (wanted, list(shape)))
        dtype = _WORD.findall(str(tensor.dtype))[-1]
        if dtype != told["dtype"]:
            raise _Refused("it says %s and gives %s" % (told["dtype"], dtype))


def refusal(request: dict[str, Any], framework: Framework) -> str:
    """Why a model cannot be built, nor the one that is asked for beside it; "" where they can."""
    tidy(framework)
    framework.reseed(0)
    try:
        with Warned().listening(), framework.hooked(), script(request["source"]) as module:
            build(request["source"], module)
            if request.get("asked"):
                build_after(request["source"], request["asked"], module)
    except Exception as error:  # whatever Keras says to it
        return _said(error)
    return ""
