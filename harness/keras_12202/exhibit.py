"""Keras 2.2.4 searched for clones that are not faithful, and proposed fixes judged on the same models."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from clonediff.harness.keras_12202.models import HEAD, Effects, search, source_of
from clonediff.harness.keras_12202.release import environment, installed
from clonediff.harness.subjects.child import Child, ChildLost
from clonediff.harness.subjects.outcomes import ReleaseError

REPORTED = source_of([((1, 2, "Lambda(lambda x: [x, x])"), [0]), ((2, 1, "Add()"), [1, 0])], [0])
MASKED = source_of([((1, 1, "Masking()"), [0]), ((1, 1, "SimpleRNN(4, return_sequences=True)"), [0])], [0])
FENCED = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
FUNCTION = re.compile(r"^[ \t]*(def[ \t]+)?(clone_model|_clone_functional_model)[ \t]*[(=]", re.MULTILINE)
SCRIPT = """\
import v1_mode  # Keras 2.2.4 on the TensorFlow of today
import numpy as np
{source}
from keras.models import clone_model

clone = clone_model(model)
clone.set_weights(model.get_weights())
numbers = [np.arange(24.0).reshape(2, 3, 4) % 12 for _ in model.inputs]
for expected, output in zip(model.outputs, clone.outputs):
    masks = []
    for layer, node, place in (expected._keras_history, output._keras_history):
        masks.append(layer._inbound_nodes[node].output_masks[place])
    assert (masks[0] is None) == (masks[1] is None), "the clone lost a mask"
np.testing.assert_array_equal(clone.predict(numbers), model.predict(numbers))
"""
START, MEMORY, MOST_LOST = 180.0, 4 << 30, 3
Draw = Callable[[Callable[[str], Effects], dict[str, str]], list[str]]


class Keras224:
    """A child with Keras 2.2.4. If it hangs or dies, only the model that it was asked about is lost."""

    def __init__(self, folder: Path, proposal: str | None = None, limit: float = 20.0) -> None:
        """A proposal is code for the place of Keras' cloning functions; `limit` is in seconds for each model."""
        self._folder, self._proposal, self._limit = folder, proposal, limit
        self._child: Child | None = None
        self._answers: dict[str, dict[str, Any]] = {}
        self._losses: list[dict[str, Any]] = []

    def start(self) -> dict[str, Any]:
        """Start a child: its versions, or why it refuses the proposal."""
        script = str(Path(__file__).with_name("child.py"))
        self._child = Child([sys.executable, "-u", script], environment(self._folder))
        answer = self._ask({"proposal": self._proposal}, START)
        if self._proposal is None and "versions" not in answer:
            raise ReleaseError(f"Keras 2.2.4 does not start on this TensorFlow: {answer.get('refused', 'no answer')}")
        return answer

    def try_source(self, source: str) -> dict[str, Any]:
        """How the clones of a model differ from it, by cloner, or why Keras refuses the model."""
        if source not in self._answers:
            if self._child is None and len(self._losses) < MOST_LOST:
                self.start()
            self._answers[source] = self._ask({"source": source}, self._limit)
        return self._answers[source]

    def upstream(self, source: str) -> Effects:
        """What is wrong with the clone that Keras makes of a model."""
        difference = self.try_source(source).get("clones", {}).get("upstream")
        return dict([difference] if difference else [])

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def _ask(self, request: dict[str, str | None], seconds: float) -> dict[str, Any]:
        if self._child is None:
            return self._losses[-1]
        line = f"{json.dumps(request)}\n".encode()
        try:
            return dict(json.loads(self._child.ask(line, seconds, MEMORY)))
        except ChildLost as error:
            self.close()
            lost = [f"process: {error.lost.how}", f"it loses its process: {error.lost.said}"]
            self._losses.append({"clones": dict.fromkeys(("upstream", "repaired", "proposal"), lost)})
            return self._losses[-1]


def fuzz(minutes: float | None, trials: int | None, seed: int) -> tuple[str, dict[str, Any], int]:
    """Draw models until the time is up: what is found, as a text and as a record, and an exit code."""
    folder = installed()
    until = time.monotonic() + 60.0 * (minutes or (60.0 if trials else 1.0))
    models: list[str] = []
    smallest: dict[str, str] = {}
    with contextlib.closing(Keras224(folder)) as keras:
        while time.monotonic() < until and len(models) < (trials or sys.maxsize):
            count = min(100, (trials or sys.maxsize) - len(models))
            models += search(count, seed * 1_000_003 + len(models), keras.upstream, smallest)
        findings = _table(models, smallest, keras.upstream)
        record = {**_summary(models, keras), "findings": findings}
    lines = [record["summary"]]
    for finding in findings:
        finding["script"] = SCRIPT.format(source=finding["source"])
        command = [sys.executable, "-c", finding["script"]]
        ended = subprocess.run(command, env=environment(folder), capture_output=True, check=False, timeout=120)
        finding["fails_alone"] = ended.returncode != 0
        text = "\n{text}\nIn {models} models. Its script fails alone: {fails_alone}\n\n{script}"
        lines.append(text.format(**finding))
    lines.append(f"Scripts run with PYTHONPATH={folder}, as does {Path(__file__).with_name('multi_gpu.py')}")
    return "\n".join(lines), record, int(any(finding["fails_alone"] for finding in findings))


def judge(paths: Sequence[Path], trials: int | None, seed: int) -> tuple[str, dict[str, Any], int]:
    """Try each proposal beside untouched Keras: the verdicts, as a text and as a record, and an exit code."""
    folder = installed()
    with contextlib.closing(Keras224(folder)) as keras:
        known: dict[str, str] = {}
        draw = functools.partial(search, trials or 100, seed)
        record = {**_summary(draw(keras.upstream, known), keras), "verdicts": []}
        lines = [record["summary"]]
        for path in paths:
            code = code_of(path) or "raise ValueError('it defines neither clone_model nor _clone_functional_model')"
            with contextlib.closing(Keras224(folder, code)) as proposal:
                verdict = _verdict(proposal, keras, known, draw)
            record["verdicts"].append({"file": str(path), **verdict})
            lines += ["", f"{path}: {'holds' if verdict['holds'] else 'does not hold'}: {verdict['reported']}"]
            for effect in verdict["effects"]:
                lines.append(f"  {effect['effect']} {effect['models']} models, such as: {effect['text']}")
                lines.append(textwrap.indent(effect["source"].removeprefix(HEAD), "    ").rstrip())
    return "\n".join(lines), record, int(not all(verdict["holds"] for verdict in record["verdicts"]))


def _verdict(proposal: Keras224, keras: Keras224, known: dict[str, str], draw: Draw) -> dict[str, Any]:
    started = proposal.start()
    if "versions" not in started:
        return {"holds": False, "reported": started.get("refused", "its process does not start"), "effects": []}

    def effects_of(model: str) -> Effects:
        upstream, answer = keras.upstream(model), proposal.try_source(model)
        if "refused" in answer:
            return {} if "refused" in keras.try_source(model) else {"breaks": answer["refused"]}
        if answer["clones"]["proposal"] is None:
            return {"mends": "the clone is faithful"} if upstream else {}
        key, text = answer["clones"]["proposal"]
        # A clone with another of the faults of 2.2.4 is no worse than none.
        return {"leaves" if upstream and (key in known or key.startswith(("made", "process"))) else "breaks": text}

    smallest: dict[str, str] = {}
    models = [REPORTED, MASKED, *known.values(), *draw(effects_of, smallest)]
    smallest = {effect: model for model in reversed(models) for effect in effects_of(model)} | smallest
    mends = "mends" in effects_of(REPORTED)
    reported = "mends the reported model" if mends else "does not mend the reported model"
    holds = mends and "breaks" not in smallest
    return {"holds": holds, "reported": reported, "effects": _table(models, smallest, effects_of)}


def code_of(path: Path) -> str:
    """The code in a file: of a text, the last code block that defines one of the functions; "" if there is none."""
    text = path.read_text(encoding="utf-8", errors="replace")
    blocks = [textwrap.dedent(block[2]) for block in FENCED.finditer(text)]
    for code in [*reversed(blocks), text]:
        match = FUNCTION.search(code)
        if match:
            return code if code in blocks or path.suffix == ".py" else code[match.start() :]
    return ""


def _table(models: list[str], smallest: dict[str, str], effects_of: Callable[[str], Effects]) -> list[dict[str, Any]]:
    """Each effect with the number of models that have it and the smallest of them."""
    counts = {effect: sum(effect in effects_of(model) for model in models) for effect in smallest}
    texts = {effect: effects_of(model)[effect] for effect, model in smallest.items()}
    return [{"effect": e, "models": counts[e], "text": texts[e], "source": smallest[e]} for e in smallest]


def _summary(models: list[str], keras: Keras224) -> dict[str, Any]:
    """How many models there are, and how many of them are cloned faithfully."""
    built = [answer["clones"] for answer in map(keras.try_source, models) if "refused" not in answer]
    counts = {name: sum(clones[name] is None for clones in built) for name in ("upstream", "repaired")}
    text = (
        "Keras 2.2.4 builds {} of {} models. It clones {upstream} of them faithfully, a repaired clone_model {repaired}"
    )
    summary = text.format(len(built), len(models), **counts)
    return {"models": len(models), "built": len(built), **counts, "summary": summary}
