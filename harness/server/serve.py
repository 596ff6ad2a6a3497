"""The main loop of the child process: reads requests and writes answers.

What Keras or a graph prints goes to standard error, so that it cannot break the protocol.
"""

from __future__ import annotations

import gc
import os
import platform
import sys
from collections.abc import Callable
from typing import Any, TextIO

import msgspec
import numpy as np

from clonediff.harness.inside.cloners.users import cloner_problem
from clonediff.harness.inside.context import Context, freeze_gc
from clonediff.harness.inside.failures import failure
from clonediff.harness.inside.frameworks import framework as framework_of
from clonediff.harness.inside.frameworks.interface import Framework
from clonediff.harness.inside.trial import run_trial
from clonediff.harness.observation import Answer, Case, Request
from clonediff.harness.server.audit import audit_by_name, find_classes
from clonediff.harness.server.drawing import GraphDrawer

_WARM_UP = "import %s as keras\nmodel = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])\n"
"""The model of a first trial, in which Keras and its backend initialize themselves."""


def main(arguments: list[str] | None = None) -> int:
    """Serve until the parent closes the pipe. The argument is the generation."""
    arguments = sys.argv[1:] if arguments is None else arguments
    generation = arguments[0] if arguments else "keras"
    with os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n") as output:
        os.dup2(2, 1)
        try:
            gc.disable()  # collecting during the import frees nothing
            framework = framework_of(generation)
            gc.freeze()  # Keras collects garbage when it quantizes a model
            framework.tensors.make_deterministic()
            framework.speed_up()
            case = Case(_WARM_UP % generation, ({"shape": [2], "dtype": "float32", "fill": "normal"},))
            run_trial(Request(case), framework)
        except BaseException as error:  # an import may raise anything, such as SystemExit
            send(output, {"error": failure(error)})
            return 2
        send(output, {"ready": ready_message(framework)})
        freeze_gc()
        framework.keeps_hooks = True
        RequestHandler(framework, output).serve(sys.stdin)
    return 0


def ready_message(framework: Framework) -> dict[str, Any]:
    return {
        "generation": framework.generation,
        **framework.versions(),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "devices": framework.tensors.devices(),
    }


def send(output: TextIO, message: dict[str, Any]) -> None:
    output.write(msgspec.json.encode(message).decode() + "\n")
    output.flush()


class RequestHandler:
    """Answers requests one at a time. Keeps the arrays of the last trial."""

    def __init__(self, framework: Framework, output: TextIO) -> None:
        self._framework = framework
        self._output = output
        self._last_context = Context(framework, 0)
        self._handlers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "trial": self._run_trial,
            "values": self._compare_values,
            "draw": GraphDrawer(framework).draw,
            "cloner": lambda request: cloner_problem(str(request.get("name"))),
            "classes": lambda request: find_classes(request["target"]),
            "audit": lambda request: audit_by_name(request["name"], framework),
        }

    def serve(self, requests: TextIO) -> None:
        """Answer each line of `requests`. If one raises, answer with the error."""
        for line in requests:
            try:
                request = msgspec.json.decode(line)
                send(self._output, {"answer": self._handlers[request["do"]](request)})
            except Exception as error:
                send(self._output, {"error": failure(error, function="serve")})

    def _run_trial(self, request: dict[str, Any]) -> Answer:
        trial_request = msgspec.convert(request["request"], Request)
        self._last_context = context = Context(self._framework, trial_request.case.seed)
        answer = run_trial(trial_request, self._framework, context)
        context.release()
        return answer

    def _compare_values(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        return [self._last_context.digests.compare(left, right) for left, right in request["digests"]]
