"""Searches Keras 2.2.4 for wrong clones, and judges fixes on the same models."""

from __future__ import annotations

import contextlib
import functools
import json
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clonediff.harness.judge.edits import PrivateCopy
from clonediff.harness.judge.proposals import ProposalError, read_proposal
from clonediff.harness.keras_12202 import RELEASE
from clonediff.harness.keras_12202.models import IMPORTS, MASK, Effects, search, source_of
from clonediff.harness.subjects import releases
from clonediff.harness.subjects.child import Child, scratch_folder
from clonediff.harness.subjects.environment import SearchPath, environment
from clonediff.harness.subjects.outcomes import Lost, ReleaseError
from clonediff.harness.subjects.subject import Subject

REPORTED_MODEL = source_of([((1, 2, "Lambda(lambda x: [x, x])"), [0]), ((2, 1, "Add()"), [1, 0])])
MASKED_LAMBDA = source_of([((1, 1, f"Lambda(lambda x: x + 1, {MASK})"), [0])])
MASKING_MODEL = source_of([((1, 1, "Masking()"), [0]), ((1, 1, "SimpleRNN(4, return_sequences=True)"), [0])])
SCRIPT = """\
import v1_mode  # for Keras 2.2.4 on TensorFlow 2
import numpy as np
{source}
from keras.models import clone_model

clone = clone_model(model)
clone.set_weights(model.get_weights())
numbers = np.arange(24.0).reshape(2, 3, 4) % 12
for tensors in zip(model.outputs, clone.outputs):
    histories = [tensor._keras_history for tensor in tensors]
    masks = [layer._inbound_nodes[node].output_masks[number] for layer, node, number in histories]
    assert (masks[0] is None) == (masks[1] is None), "the clone lost a mask"
np.testing.assert_array_equal(clone.predict(numbers), model.predict(numbers))
"""
CLONING_FUNCTIONS = ("clone_model", "_clone_functional_model", "_clone_sequential_model")
PACKAGES = (RELEASE, "keras_applications==1.0.8", "keras_preprocessing==1.1.2", "pyyaml", "scipy")
CPU_SUBJECT = Subject("keras")
START_SECONDS = 180.0
MEMORY_BYTES = 4 << 30
MAX_CRASHES = 3
"""After this many crashes, no child is started: the last crash is the result."""


def install() -> SearchPath:
    """Return the search path for Keras 2.2.4. Install it if necessary."""
    folder = releases.install_packages(f"keras_12202-{sys.implementation.cache_tag}", PACKAGES)
    shutil.copy(Path(__file__).with_name("v1_mode.py"), folder)
    return (str(folder),)


class OldKerasProcess:
    """A child process with Keras 2.2.4. If a model crashes it, that is the result."""

    def __init__(self, search_path: SearchPath, *proposal: str, limit: float = 20.0) -> None:
        """`proposal` replaces Keras' cloning functions. Each model has `limit` seconds."""
        command = [sys.executable, "-u", str(Path(__file__).with_name("child.py")), *proposal]
        self._start = functools.partial(Child, command, environment(CPU_SUBJECT, search_path))
        self._limit = limit
        self._child: Child | None = None
        self._answers: dict[str, dict[str, Any]] = {}
        self._crashes: list[dict[str, Any]] = []

    def try_source(self, source: str) -> dict[str, Any]:
        """How the clones of a model differ, by cloner, or why Keras refuses it."""
        if source not in self._answers:
            self._answers[source] = self._ask(source) if len(self._crashes) < MAX_CRASHES else self._crashes[-1]
        return self._answers[source]

    def upstream_effects(self, source: str) -> Effects:
        difference = self.try_source(source).get("clones", {}).get("upstream")
        return dict([difference] if difference else [])

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None

    def _ask(self, source: str) -> dict[str, Any]:
        if self._child is None:
            self._child = self._start()
            reply = self._child.ask(b"", START_SECONDS, MEMORY_BYTES)
            if isinstance(reply, Lost):
                raise ReleaseError(f"Keras 2.2.4 does not start on this TensorFlow: {reply.line}")
        reply = self._child.ask(f"{json.dumps(source)}\n".encode(), self._limit, MEMORY_BYTES)
        if not isinstance(reply, Lost):
            return dict(json.loads(reply))
        self.close()
        difference = [f"process: {reply.reason}", f"its process was lost: {reply.line}"]
        self._crashes.append({"clones": dict.fromkeys(("upstream", "repaired", "proposal"), difference)})
        return self._crashes[-1]


def fuzz(minutes: float | None, trials: int | None, seed: int) -> tuple[str, dict[str, Any], int]:
    """Draw models. Return findings as a text and a record, and an exit code."""
    search_path = install()
    max_models = trials or sys.maxsize
    deadline = time.monotonic() + 60.0 * (minutes or (float("inf") if trials else 2.0))
    models: list[str] = []
    smallest: dict[str, str] = {}
    with contextlib.closing(OldKerasProcess(search_path)) as keras:
        while time.monotonic() < deadline and len(models) < max_models:
            count = min(100, max_models - len(models))
            models += search(count, seed * 1_000_003 + len(models), keras.upstream_effects, smallest)
        record = _summary(models, keras)
        findings = _table(models, smallest, keras.upstream_effects)
    lines = [record["summary"]]
    variables = environment(CPU_SUBJECT, search_path)
    for finding in findings:
        finding["script"] = SCRIPT.format(source=finding["source"])
        command = [sys.executable, "-c", finding["script"]]
        try:
            subprocess.run(command, env=variables, capture_output=True, check=True, timeout=120)
            finding["fails_alone"] = False
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            finding["fails_alone"] = True
        text = "\n{text}\nIn {models} models. Its script fails without clonediff: {fails_alone}\n\n{script}"
        lines.append(text.format(**finding))
    lines.append(f"Set PYTHONPATH={search_path[0]} to run a script or {Path(__file__).with_name('multi_gpu.py')}")
    return "\n".join(lines), {**record, "findings": findings}, int(any(row["fails_alone"] for row in findings))


def judge(paths: Sequence[Path], trials: int | None, seed: int) -> tuple[str, dict[str, Any], int]:
    """Judge proposals. Return verdicts as a text and a record, and an exit code."""
    search_path = install()
    verdicts: list[dict[str, Any]] = []
    with contextlib.closing(OldKerasProcess(search_path)) as keras:
        known = {effect: model for model in (REPORTED_MODEL, MASKED_LAMBDA) for effect in keras.upstream_effects(model)}
        record = _summary(search(trials or 100, seed, keras.upstream_effects, known), keras)
        lines = [record["summary"]]
        for path in paths:
            with _proposal_process(path, search_path) as proposal:
                effects_of = functools.partial(_effects, proposal, keras, known)
                smallest: dict[str, str] = {}
                drawn_models = search(trials or 100, seed, effects_of, smallest)
                models = list(dict.fromkeys((REPORTED_MODEL, MASKING_MODEL, *known.values(), *drawn_models)))
                # An effect that no drawn model shows gets the first of these models.
                smallest = {effect: model for model in reversed(models) for effect in effects_of(model)} | smallest
                effects = _table(models, smallest, effects_of)
                fixes = "fixes" in effects_of(REPORTED_MODEL)
            reported = f"{'fixes' if fixes else 'does not fix'} the reported bug"
            accepted = fixes and "breaks" not in smallest
            verdicts.append({"file": str(path), "accepted": accepted, "reported": reported, "effects": effects})
            lines += ["", f"{path}: {'accepted' if accepted else 'rejected'}: {reported}"]
            for effect in effects:
                lines.append(f"  {effect['effect']} {effect['models']} models. The smallest: {effect['text']}")
                lines.append(textwrap.indent(effect["source"].removeprefix(IMPORTS), "    ").rstrip())
    return "\n".join(lines), {**record, "verdicts": verdicts}, int(not all(verdict["accepted"] for verdict in verdicts))


@contextlib.contextmanager
def _proposal_process(path: Path, search_path: SearchPath) -> Iterator[OldKerasProcess]:
    """Start a child that clones with the code of a proposal, or with a patched Keras.

    If a proposal cannot be applied, its clone function raises the reason.
    """
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        try:
            proposal = read_proposal(path.name, path.read_text("utf-8", "replace"), CLONING_FUNCTIONS)
            text = proposal.text
            if proposal.is_diff:
                copy = PrivateCopy("keras", search_path, Path(folder))
                copy.apply("fix.diff", text)
                text, search_path = "", copy.search_path
        except ProposalError as error:
            text = f"raise ValueError({str(error)!r})"
        with contextlib.closing(OldKerasProcess(search_path, text)) as process:
            yield process


def _effects(proposal: OldKerasProcess, keras: OldKerasProcess, known: Mapping[str, str], model: str) -> Effects:
    """Whether a proposal "fixes", "leaves" or "breaks" a model's clone, with a message."""
    upstream, answer = keras.upstream_effects(model), proposal.try_source(model)
    if "refused" in answer:
        return {} if "refused" in keras.try_source(model) else {"breaks": answer["refused"]}
    if answer["clones"]["proposal"] is None:
        return {"fixes": "the clone is faithful"} if upstream else {}
    key, text = answer["clones"]["proposal"]
    # If Keras' clone is wrong, it is no worse to make none, or one with another known bug.
    return {"leaves" if upstream and (key in known or key.startswith(("made", "process"))) else "breaks": text}


def _table(models: list[str], smallest: dict[str, str], effects_of: Callable[[str], Effects]) -> list[dict[str, Any]]:
    """Each effect with the number of its models, and the smallest."""
    rows = []
    for effect, model in smallest.items():
        count = sum(effect in effects_of(other) for other in models)
        rows.append({"effect": effect, "models": count, "text": effects_of(model)[effect], "source": model})
    return rows


def _summary(models: list[str], keras: OldKerasProcess) -> dict[str, Any]:
    """Counts of models: drawn, built, and cloned faithfully by each cloner."""
    built = [answer["clones"] for answer in map(keras.try_source, models) if "refused" not in answer]
    counts = {name: sum(clones[name] is None for clones in built) for name in ("upstream", "repaired")}
    summary = f"Keras 2.2.4 builds {len(built)} of {len(models)} models. It clones {counts['upstream']} of them "
    summary += f"faithfully, a repaired clone_model {counts['repaired']}"
    return {"models": len(models), "built": len(built), **counts, "summary": summary}
