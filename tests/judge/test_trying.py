"""Candidates in the place of the release's own functions, in a process with limits: whatever they do is a verdict."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clonediff.harness.cli.text.judge import judged_text
from clonediff.harness.judge import trying
from clonediff.harness.judge.effects import FixEffect, KnownBugs
from clonediff.harness.judge.graphs import PLAIN
from clonediff.harness.judge.patching import Applied, apply
from clonediff.harness.judge.processes import CandidateProcess, NotLoadedError, Prepared
from clonediff.harness.judge.reading import FilePart
from clonediff.harness.judge.record import Judged
from clonediff.harness.judge.scripts import script_for
from clonediff.harness.judge.trying import Candidate, GivenUpError, GraphTried, JudgeBudget, Reference
from clonediff.harness.judge.verdicts import in_order, verdict
from clonediff.harness.scripts.run_alone import raised_in, run_alone
from clonediff.harness.subjects.outcomes import CloningFunctions, SubjectError
from clonediff.harness.subjects.place import BESIDE, ReleasePlace
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.subjects.subject import Subject
from clonediff.harness.subjects.warm_child import GIB, Limits
from clonediff.strategies.graph import Graph
from tests.waiting import PATIENCE

SUBJECT = Subject.parse("keras")
LIMITS = Limits(trial=PATIENCE, memory=2 * GIB)
STACK = PLAIN["a stack of Dense"]
FROZEN = Graph(STACK.inputs, STACK.layers, STACK.calls, STACK.takes, STACK.gives, trainable=False)

WRONG = "def clone_model(model, *args, **kwargs):\n    return model\n"
RAISES = "def clone_model(model, *args, **kwargs):\n\n    raise KeyError('here')\n"
HELPER = """\
def _clone_sequential_model(*args, **kwargs):
    assert Functional and Input and tree, "the names of the module"
    raise KeyError('sequential')
"""


@pytest.fixture(scope="session")
def reference(keras: SubjectProcess) -> Reference:
    return Reference(keras)


@pytest.fixture
def seat(reference: Reference) -> Iterator[Callable[..., Candidate]]:
    """A candidate, seated; ended after the test."""
    processes: list[CandidateProcess] = []

    def seated(
        text: str, place: ReleasePlace = BESIDE, loading: float = PATIENCE, limits: Limits = LIMITS
    ) -> Candidate:
        process = CandidateProcess(SUBJECT, Prepared(place, (FilePart(text),) if text else ()), limits, loading)
        processes.append(process)
        process.start()
        return Candidate(process, reference, KnownBugs())

    yield seated
    for process in processes:
        process.close()


def patched(reference: Reference, change: Callable[[str], str], private: Path) -> Applied:
    """The release with a diff of the file that clones applied to it."""
    cloning = reference.process.cloning()
    assert isinstance(cloning, CloningFunctions)
    file, package = Path(cloning.file), Path(cloning.package)
    before = file.read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    name = str(file.relative_to(package.parent))
    text = "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{name}", f"b/{name}"))
    return apply(text, package, private)


def causes(tried: GraphTried, effect: FixEffect) -> list[str]:
    return [cause.root.aspect for cause, one in tried.causes if one is effect]


def test_the_reference_says_what_it_clones_with(reference: Reference) -> None:
    cloning = reference.process.cloning()
    assert isinstance(cloning, CloningFunctions)
    assert cloning.module == "keras.src.models.cloning"
    assert {"clone_model", "_clone_functional_model"} <= set(cloning.functions)
    assert Path(cloning.file).is_relative_to(cloning.package)
    assert Path(cloning.package).name == "keras"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("def clone_model(model)\n    pass\n", "SyntaxError", id="syntax"),
        pytest.param("x = 1\0", "null bytes", id="null"),
        pytest.param("import sys\nsys.exit(0)\n", "SystemExit: 0", id="sys.exit"),
        pytest.param("\nraise KeyError('x')\n", "KeyError: 'x'", id="raises"),
        pytest.param("from . import nothing_of_the_kind\n", "ImportError", id="import"),
    ],
)
def test_what_cannot_be_put_in_place_is_an_answer(text: str, said: str, reference: Reference) -> None:
    outcome = reference.process.cloning([{"text": text, "line": 40}])
    assert isinstance(outcome, CloningFunctions)
    assert outcome.failure is not None
    assert said in f"{outcome.failure.type}: {outcome.failure.message}"
    if outcome.failure.frames:
        assert outcome.failure.frames[-1].file == "<candidate>"
        assert outcome.failure.frames[-1].line >= 40
    assert not outcome.replaced


class GuestProcess(CandidateProcess):
    """A candidate in the reference's own child, which a text that replaces nothing leaves as it was."""

    def __init__(self, text: str, reference: Reference) -> None:
        super().__init__(SUBJECT, Prepared(BESIDE, (FilePart(text),)), LIMITS)
        self._child, self._ready = reference.process._child, reference.process.ready

    def close(self) -> None:
        self._child = self._ready = None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("raise KeyError('x')\n", "KeyError: 'x' (line 1)", id="raises"),
        pytest.param("def other(model):\n    pass\n", "replaces none of the release's functions", id="without"),
    ],
)
def test_what_replaces_nothing_is_a_verdict(text: str, said: str, reference: Reference) -> None:
    before = reference.process.start(), reference.process.pid
    with pytest.raises(NotLoadedError) as raised:
        GuestProcess(text, reference).start()
    assert said in str(raised.value)
    assert (reference.process.start(), reference.process.pid) == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("import os\nos._exit(3)\n", "it ends its process (exit code 3)", id="os._exit"),
        pytest.param(
            "while True:\n    pass\n",
            "it does not come to an end: no answer in 3 s",
            id="loops",
            marks=pytest.mark.slow(reason="a Keras of its own; os._exit loses its process, too"),
        ),
    ],
)
def test_what_does_not_load_is_a_verdict(text: str, said: str, seat: Callable[..., Candidate]) -> None:
    with pytest.raises(NotLoadedError) as raised:
        seat(text, loading=3.0 if "no answer" in said else PATIENCE)
    assert said in str(raised.value)


@pytest.mark.slow(reason="a Keras of its own; os._exit loses its process, too, and test_process takes memory")
def test_memory_without_end_is_a_verdict(seat: Callable[..., Candidate]) -> None:
    with pytest.raises(NotLoadedError, match="it takes memory without end: "):
        seat("held = []\nwhile True:\n    held.append(b'x' * (1 << 26))\n")


def test_a_candidate_stands_wherever_the_release_refers_to_its_own_and_after_a_new_start(
    seat: Callable[..., Candidate],
) -> None:
    candidate = seat("print('{\"id\": 1}')\n" + RAISES)  # what it prints does not reach the protocol
    assert isinstance(candidate.process, CandidateProcess)
    assert candidate.process.cloning_now.replaced == ("clone_model",)
    for _ in range(2):
        tried = candidate.try_from(STACK, "a stack")
        assert causes(tried, FixEffect.BREAKS) == ["raises"]
        assert tried.causes[0][0].root.raised is not None
        assert tried.causes[0][0].root.raised.frame == "<candidate>:clone_model"
        candidate.process.close()  # the next one has it in place as well


def test_a_helper_is_replaced_alone_and_finds_the_names_of_the_module(seat: Callable[..., Candidate]) -> None:
    candidate = seat(HELPER)
    assert candidate.try_from(STACK, "").worst() is not FixEffect.BREAKS
    tried = candidate.try_from(PLAIN["a Sequential"], "")
    assert tried.worst() is FixEffect.BREAKS
    assert tried.causes[0][0].root.raised is not None
    assert tried.causes[0][0].root.raised.type == "KeyError"


@pytest.mark.slow(reason="a Keras of its own; test_effects tells them apart, and what gets worse is tried below")
def test_what_breaks_is_told_apart_from_what_stays_broken(seat: Callable[..., Candidate], reference: Reference) -> None:
    frozen = [cause.root.aspect for cause in reference.trial(FROZEN).clones["upstream"].causes]
    assert "trainable" in frozen, "this Keras has mended it: choose another graph that it breaks on"
    text = "def _wrap(plain):\n    def clone_model(model, *args, **kwargs):\n        clone = plain(model)\n"
    text += "        clone.layers[-1].trainable = False\n        return clone\n    return clone_model\n"
    text += "clone_model = _wrap(clone_model)\n"
    candidate = seat(text)
    tried = candidate.try_from(FROZEN, "a frozen model")
    assert "trainable" in causes(tried, FixEffect.LEAVES)
    assert candidate.try_from(STACK, "a stack").worst() is FixEffect.BREAKS
    left = [shown for shown in in_order(candidate) if shown.effect is FixEffect.LEAVES]
    assert {shown.first_on for shown in left} <= {"a frozen model", "a stack"}


@pytest.mark.parametrize(
    ("body", "word"),
    [
        pytest.param(
            "raise SystemExit(5)",
            "exit code 5",
            id="SystemExit",
            marks=pytest.mark.slow(reason="two Keras of its own; one that ends its process where it loads is above"),
        ),
        pytest.param(
            "while True: pass",
            "timed out",
            id="loops",
            marks=pytest.mark.slow(reason="two Keras of its own; one that ends its process where it loads is above"),
        ),
    ],
)
def test_a_candidate_that_takes_its_process_with_it_is_given_up(
    body: str, word: str, seat: Callable[..., Candidate], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trying, "MOST_LOST", 1)
    limits = Limits(trial=5.0, memory=2 * GIB) if word == "timed out" else LIMITS
    candidate = seat(f"def clone_model(model, *args, **kwargs):\n    {body}\n", limits=limits)
    (cause, effect), *_ = candidate.try_from(STACK, "").causes
    assert effect is FixEffect.BREAKS
    assert cause.root.raised is not None
    assert cause.root.raised.type == word
    with pytest.raises(GivenUpError, match="given up"):
        candidate.try_from(FROZEN, "")


@pytest.mark.slow(reason="a patched Keras more; the one whose exceptions are swallowed is tried from its place, too")
def test_a_patch_that_mends_something_mends_it(
    seat: Callable[..., Candidate], reference: Reference, tmp_path: Path
) -> None:
    applied = patched(
        reference,
        lambda before: (
            before
            + (
                "\n\n_plain_clone = _clone_functional_model\n\n\n"
                "def _clone_functional_model(model, *args, **kwargs):\n"
                "    clone = _plain_clone(model, *args, **kwargs)\n"
                "    clone.trainable = model.trainable\n"
                "    return clone\n"
            )
        ),
        tmp_path / "private",
    )
    candidate = seat("", ReleasePlace(path=(str(applied.folder),)))
    assert isinstance(candidate.process, CandidateProcess)
    assert Path(candidate.process.cloning_now.file) == applied.changed[0].resolve()
    broken = [cause.root.aspect for cause in reference.trial(FROZEN).clones["upstream"].causes]
    assert "trainable" in broken
    tried = candidate.try_from(FROZEN, "a frozen model")
    assert tried.worst() is not FixEffect.BREAKS
    assert "trainable" not in causes(tried, FixEffect.LEAVES)


def test_a_release_that_does_not_start_was_not_patched_by_a_python_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(process: SubjectProcess) -> None:
        raise SubjectError("keras: no memory")

    monkeypatch.setattr(SubjectProcess, "start", start)
    with pytest.raises(NotLoadedError, match="^the release does not start: no memory$"):
        CandidateProcess(SUBJECT, Prepared(BESIDE, (FilePart(WRONG),)), LIMITS).start()


def test_a_patch_after_which_the_release_does_not_start_is_a_verdict(tmp_path: Path) -> None:
    package = tmp_path / "private" / "keras"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('spoilt')\n")
    prepared = Prepared(ReleasePlace(path=(str(package.parent),)))
    process = CandidateProcess(SUBJECT, prepared, LIMITS)
    with pytest.raises(NotLoadedError, match="the patched release does not start: RuntimeError: spoilt"):
        process.start()


REFUSED_LAMBDA = "a Lambda with a mask function"
"""Keras 3.15.1 deserializes no Python lambda: `Lambda.from_config` raises."""


def swallowing(before: str) -> str:
    """The file that clones, with the cloning of a layer in `try ... except Exception: return layer`."""
    line = "return layer.__class__.from_config(layer.get_config())\n"
    (at,) = [each for each in before.splitlines(True) if each.lstrip() == line]
    indent = at[: -len(line)]
    return before.replace(at, f"{indent}try:\n    {at}{indent}except Exception:\n{indent}    return layer\n")


def test_an_exception_that_is_swallowed_is_worse(
    seat: Callable[..., Candidate], reference: Reference, tmp_path: Path
) -> None:
    applied = patched(reference, swallowing, tmp_path / "private")
    place = ReleasePlace(path=(str(applied.folder),))
    candidate = seat("", place)
    graphs = {name: PLAIN[name] for name in ("a stack of Dense", "a nested model", REFUSED_LAMBDA)} | {"frozen": FROZEN}
    candidate.try_all(graphs, JudgeBudget(), lambda what, part: None, fresh=False)
    blank = Judged("swallow.diff", "swallow.diff", "diff", "keras", {}, "the whole file, a diff", loads=True)
    judged = verdict(blank, candidate)
    assert judged.word == "worse"
    assert not judged.holds
    assert not judged.fixes, "the model of the report is cloned with the original's own layer in it"
    assert (judged.worse, judged.broken) == (2, 0)
    said = "It makes 2 graphs that could not be cloned share layers with the original, without a word."
    assert judged.sentence.startswith(said)
    assert judged.left_lost >= 1, "what was lost before is lost as before"
    first = judged.breaks[0]
    assert first.effect is FixEffect.SILENCES
    assert (first.differences[0].check, first.differences[0].aspect) == ("own", "layer shared")
    assert first.before.startswith("ValueError: Requested the deserialization of a `Lambda` layer")
    head, reason, *lines = judged_text([judged], "keras")
    assert head == "swallow.diff: worse"
    assert said in reason
    assert lines.index(next(line for line in lines if "worse: " in line)) < lines.index(
        next(line for line in lines if "leaves a property or a name lost" in line)
    )
    script = script_for(first.source, "keras", first.differences[0], "", Prepared(place), "swallow.diff")
    done = run_alone(script.text, SUBJECT, place)
    assert raised_in(done.stderr)[-1] == "AssertionError", done.stderr
    assert "are the original's own" in done.stderr
