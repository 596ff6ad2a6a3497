"""Keras 2.2.4 searched for clones that are not faithful, and proposed fixes judged on the same models."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from clonediff.harness.keras_12202.models import HEAD, Effects, search
from clonediff.harness.keras_12202.release import environment, installed
from clonediff.harness.subjects.child import Child, ChildEnded, ChildLate, ChildTooLarge
from clonediff.harness.subjects.outcomes import ReleaseError
from clonediff.harness.subjects.releases.store import tell

REPORTED = f"""{HEAD}x0 = Input(shape=(1,))
x1, x2 = Lambda(lambda x: [x, x])(x0)
x3 = Add()([x1, x2])
model = Model([x0], [x3])
"""
MASKED = f"""{HEAD}x0 = Input(shape=(3, 4))
x1 = Masking()(x0)
x2 = SimpleRNN(4, return_sequences=True)(x1)
model = Model([x0], [x2])
"""
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
LOST = {ChildEnded: "ends its process", ChildLate: "takes too long", ChildTooLarge: "takes too much memory"}


Report = tuple[str, dict[str, Any], int]
"""What a command prints, for people and as a record, and its exit code."""


class Answer(msgspec.Struct, frozen=True):
    """What the child says: its versions, why it refuses a model or a proposal, or how the clones of a model differ."""

    versions: tuple[str, ...] = ()
    refused: str | None = None
    clones: dict[str, tuple[str, str] | None] = {}


class Keras224:
    """A child with Keras 2.2.4. If it hangs or dies, only the model that it was asked about is lost."""

    def __init__(self, folder: Path, proposal: str | None = None, limit: float = 20.0) -> None:
        """A proposal is code for the place of Keras' cloning functions; `limit` is in seconds for each model."""
        self._folder, self._proposal, self._limit = folder, proposal, limit
        self._child: Child | None = None
        self._answers: dict[str, Answer] = {}
        self._losses: list[Answer] = []

    def start(self) -> Answer:
        """Start a child; what it says of itself and of the proposal."""
        script = str(Path(__file__).with_name("child.py"))
        self._child = Child([sys.executable, "-u", script], environment(self._folder))
        answer = self._ask({"proposal": self._proposal}, START)
        if self._proposal is None and not answer.versions:
            raise ReleaseError(f"Keras 2.2.4 does not start on this TensorFlow: {answer.refused or 'no answer'}")
        return answer

    def try_source(self, source: str) -> Answer:
        """What the child says of a model."""
        if source not in self._answers:
            if self._child is None and len(self._losses) < MOST_LOST:
                self.start()
            self._answers[source] = self._ask({"source": source}, self._limit)
        return self._answers[source]

    def upstream(self, source: str) -> Effects:
        """What is wrong with the clone that Keras makes of a model."""
        difference = self.try_source(source).clones.get("upstream")
        return {} if difference is None else dict([difference])

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def _ask(self, request: dict[str, str | None], seconds: float) -> Answer:
        if self._child is None:
            return self._losses[-1]
        line = msgspec.json.encode(request) + b"\n"
        try:
            answer = self._child.ask(line, seconds, MEMORY, lambda line: line[:1] == b"{")
            return msgspec.json.decode(answer, type=Answer)
        except (ChildEnded, ChildLate, ChildTooLarge) as error:
            self.close()
            lost = f"process: {type(error).__name__}", LOST[type(error)]
            self._losses.append(Answer(clones=dict.fromkeys(("upstream", "repaired", "proposal"), lost)))
            return self._losses[-1]


def fuzz(minutes: float | None, trials: int | None, seed: int) -> Report:
    """Draw models until the time is up; each cause is made small, and counts if its script fails alone."""
    folder = installed()
    until = time.monotonic() + 60.0 * (minutes or (60.0 if trials else 1.0))
    models: list[str] = []
    smallest: dict[str, str] = {}
    with contextlib.closing(Keras224(folder)) as keras:
        while time.monotonic() < until and len(models) < (trials or sys.maxsize):
            count = min(100, (trials or sys.maxsize) - len(models))
            drawn, smallest = search(keras.upstream, count, seed * 1_000_003 + len(models), smallest)
            models += drawn
        findings = _table(models, smallest, keras.upstream)
        record = {**_summary(models, keras), "findings": findings}
    lines = [record["summary"]]
    for finding in findings:
        finding["script"] = SCRIPT.format(source=finding["source"])
        command = [sys.executable, "-c", finding["script"]]
        ended = subprocess.run(command, env=environment(folder), capture_output=True, check=False, timeout=120)
        finding["fails_alone"] = ended.returncode != 0
        alone = "this script fails alone" if finding["fails_alone"] else "does not count: this script does not fail"
        lines += ["", f"{finding['text']}", f"In {finding['models']} models; {alone}:", "", finding["script"]]
    lines.append(f"Scripts run with PYTHONPATH={folder}, as does {Path(__file__).with_name('multi_gpu.py')}")
    return "\n".join(lines), record, int(any(finding["fails_alone"] for finding in findings))


def judge(paths: Sequence[Path], trials: int | None, seed: int) -> Report:
    """Try each proposal beside untouched Keras, on the reported model and on models that are drawn."""
    folder = installed()
    with contextlib.closing(Keras224(folder)) as keras:
        models, known = search(keras.upstream, trials or 100, seed, {})
        models = [REPORTED, MASKED, *known.values(), *models]
        record = {**_summary(models, keras), "verdicts": []}
        lines = [record["summary"]]
        for path in paths:
            tell(str(path))
            with contextlib.closing(Keras224(folder, code_of(path))) as proposal:
                verdict = {"file": str(path), **_judge(proposal, keras, models, set(known), seed)}
            record["verdicts"].append(verdict)
            lines += ["", f"{path}: {'holds' if verdict['holds'] else 'does not hold'}: {verdict['reported']}"]
            for effect in verdict["effects"]:
                lines.append(f"  {effect['effect']} {effect['models']} models, such as: {effect['text']}")
                lines.append(textwrap.indent(effect["source"].removeprefix(HEAD), "    ").rstrip())
    return "\n".join(lines), record, int(not all(verdict["holds"] for verdict in record["verdicts"]))


def _judge(proposal: Keras224, keras: Keras224, models: list[str], known: set[str], seed: int) -> dict[str, Any]:
    started = proposal.start()
    if not started.versions:
        problem = f"cannot be used: {started.refused or 'its process does not start'}"
        return {"holds": False, "reported": problem, "effects": []}

    def effects_of(model: str) -> Effects:
        reference, answer = keras.try_source(model), proposal.try_source(model)
        if reference.refused is not None:
            return {}
        if answer.refused is not None:
            return {"breaks": answer.refused}
        upstream, clone = reference.clones["upstream"], answer.clones["proposal"]
        if clone is None:
            return {"mends": "the clone is faithful"} if upstream is not None else {}
        # A clone with another of the faults of 2.2.4 is no worse than none.
        no_worse = clone[0] in known or clone[0].startswith(("made", "process"))
        return {"leaves" if upstream is not None and no_worse else "breaks": clone[1]}

    _, smallest = search(effects_of, len(models), seed, {})
    for model in models:
        smallest = {**dict.fromkeys(effects_of(model), model), **smallest}
    mends = "mends" in effects_of(REPORTED)
    reported = f"{'mends' if mends else 'does not mend'} the reported model"
    effects = _table(models, smallest, effects_of)
    return {"holds": mends and "breaks" not in smallest, "reported": reported, "effects": effects}


def code_of(path: Path) -> str:
    """The code in a file: of a text, the last code block that defines one of the functions."""
    text = path.read_text(encoding="utf-8", errors="replace")
    for block in reversed(list(FENCED.finditer(text))):
        if FUNCTION.search(block[2]):
            return textwrap.dedent(block[2])
    match = FUNCTION.search(text)
    return text[match.start() :] if match and path.suffix != ".py" else text


def _table(models: list[str], smallest: dict[str, str], effects_of: Callable[[str], Effects]) -> list[dict[str, Any]]:
    """Each effect with the number of models that have it and the smallest of them."""
    rows = []
    for effect, model in smallest.items():
        count = sum(effect in effects_of(other) for other in models)
        rows.append({"effect": effect, "models": count, "text": effects_of(model)[effect], "source": model})
    return rows


def _summary(models: list[str], keras: Keras224) -> dict[str, Any]:
    """How many models there are, and how many of them are cloned faithfully."""
    built = [answer.clones for answer in map(keras.try_source, models) if answer.refused is None]
    upstream, repaired = (sum(clones[name] is None for clones in built) for name in ("upstream", "repaired"))
    text = f"Keras 2.2.4: {len(models)} models, of which it builds {len(built)}; it clones {upstream} faithfully, "
    text += f"its repaired clone_model {repaired}"
    return {"models": len(models), "built": len(built), "upstream": upstream, "repaired": repaired, "summary": text}
