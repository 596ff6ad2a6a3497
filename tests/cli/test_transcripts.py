"""The output and exit code of commands are those in `transcripts`, where `...` is any text."""

from __future__ import annotations

import doctest
import json
import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from clonediff.harness.subjects import SubjectProcess
from clonediff.strategies.program import to_json
from tests.cli.finding_folders import DENSE, finding_of, folder_of, write_run
from tests.helpers.command_line import Command
from tests.helpers.example_graphs import KNOWN, graph_of_issue
from tests.helpers.example_runs import write
from tests.helpers.git_repositories import commit, git, put_keras

TRANSCRIPTS = Path(__file__).with_name("transcripts")
HOSTILE = "\x1b[31mred\x1b]0;title\x07\x9b2J\u202eback"
_CLASSES = """
import os

import keras


class Aborts(keras.layers.Layer):
    def __init__(self):
        os.abort()


class Faultless(keras.layers.Layer):
    pass


class LossyLayer(keras.layers.Layer):
    def __init__(self, factor=1.0, **options):
        super().__init__(**options)
        self.factor = factor

    def get_config(self):
        return super().get_config()
"""


def _write_errors(folder: Path, keras: SubjectProcess) -> None:
    """Write a folder that is not empty, damaged files, and folders that are not Keras."""
    write(folder / "full" / "mine.txt", b"mine")
    write(folder / "cut.json", b'{"graph": {"prog')
    write(folder / "broken.py", b"no python\n")
    write(folder / "mine.py", b"def make(): import keras; x = keras.Input((1,)); return keras.Model(x, x)\n")
    (folder / "checkout").mkdir()
    (folder / "issues" / "folder.py").mkdir(parents=True)
    write(folder / "latin" / "one.py", b"'\xe9'")


def _write_replay(folder: Path, keras: SubjectProcess) -> None:
    """Write graphs, a run with a damaged finding, and a run with hostile texts."""
    refused, renamed = finding_of(keras, "lambda-refused"), finding_of(keras, "input-name")
    write_run(folder / "run", refused, renamed)
    write_run(folder / "one", renamed)
    write_run(folder / "none")
    write_run(folder / "no-bug", msgspec.structs.replace(renamed, source="import keras\n"))
    write_run(folder / "nothing-compared", msgspec.structs.replace(renamed, differences=(), detail=""))
    cut = folder_of(write_run(folder / "cut", refused, renamed), refused) / "finding.json"
    cut.write_bytes(cut.read_bytes()[:200])
    write(folder / "graphs" / "a-holds.json", to_json(DENSE))
    write(folder / "graphs" / "b-breaks.json", to_json(graph_of_issue("lambda-refused")))
    graph = json.loads(bytes(refused.graph))
    graph["program"]["body"][0]["kind"] = HOSTILE
    hostile = msgspec.structs.replace(
        refused, title=HOSTILE, id=f"made-{HOSTILE}", subject="", versions={"keras\nimport os\n": HOSTILE}
    )
    broken = msgspec.structs.replace(hostile, graph=msgspec.Raw(json.dumps(graph).encode()), cloner=HOSTILE)
    for number, finding in enumerate((hostile, broken)):
        write(folder / "hostile" / "findings" / f"{number}{HOSTILE}" / "finding.json", msgspec.json.encode(finding))


_MODEL_SOURCE = "import keras\nfrom keras import layers\n\n{}\nx = keras.Input((4,))\nmodel = keras.Model(x, {}(x))\n"
_FAILING_FUNCTION = "import tensorflow as tf\ndef no(x):\n    tf.debugging.assert_less(x, -9.0)\n    return x"


def _write_answers(folder: Path, keras: SubjectProcess) -> None:
    """Write findings, in each of which the graph or the first difference was changed."""
    (folder / "nothing-known").mkdir()
    refused, renamed = (
        json.loads(msgspec.json.encode(finding_of(keras, name))) for name in ("lambda-refused", "input-name")
    )
    (crash, *_), (name, follower, *_) = refused["differences"], renamed["differences"]
    value = {**name, "check": "outputs", "part": "", "change": "value", "run": "inference", "location": "outputs[0]"}
    dense, named = json.loads(to_json(DENSE)), renamed["graph"]
    lost = {"differences": [], "id": "process-lost-sigabrt", "detail": "SIGABRT: no"}

    def built(layer: str, before: str = "") -> dict[str, object]:
        return {**dense, "source": _MODEL_SOURCE.format(before, layer)}

    rows: dict[str, dict[str, object]] = {
        "as-found": {},
        "faithful": {"graph": dense},
        "known-remains": {"graph": named},
        "elsewhere": {
            "differences": [
                {**crash, "raised": {**crash["raised"], "frame": "keras/src/layers/core/lambda_layer.py:other"}}
            ]
        },
        "behind-a-crash": {"differences": [value]},
        "follows": {"graph": named, "differences": [follower]},
        "not-built": {"graph": built("layers.Dense(-1)")},
        "original-fails": {"graph": built("layers.Lambda(no)", _FAILING_FUNCTION), "differences": [value]},
        "lost-no-more": {"graph": dense, **lost},
        "lost": {"graph": built("layers.ReLU()", "import os\nos.abort()"), **lost},
    }
    for number, (title, fields) in enumerate(rows.items()):
        # The script compares nothing, so a trial decides.
        changed = {**refused, "source": "", "title": title, **fields}
        write(folder / "findings" / f"{number}.json", json.dumps(changed).encode())
    fixed = {**refused, "graph": dense, "cloner": "fixed"}
    write(folder / "corpus" / "keras" / "one.json", json.dumps(fixed).encode())
    write(folder / "corpus" / "keras" / ".half.json", b'{"gra')
    damaged = (
        b'{"source": "\xff"}',
        b"[" * 100_000,
        json.dumps({**refused, "graph": {"inputs": []}}).encode(),
        b'{"graph": 1, "format": 99}',
        b'{"graph": 1, "id": 2}',
    )
    for number, content in enumerate((*damaged, to_json(DENSE))):
        write(folder / "wrong" / f"{number}.json", content)
    (folder / "wrong" / "6.json").mkdir()
    write(folder / "one-known" / "lambda-refused.py", KNOWN.get("lambda-refused").script.encode())


def _write_bisect(folder: Path, keras: SubjectProcess) -> None:
    """Write a folder without git, and a checkout whose version is unknown."""
    (folder / "tree").mkdir()
    put_keras(folder / "next", version="next")
    git(folder / "next", "init", "-q")
    commit(folder / "next")


def _write_audit(folder: Path, keras: SubjectProcess) -> None:
    """Write a class that ends its process, a class that loses an argument, and a faultless class."""
    (folder / "mine.py").write_text(_CLASSES)


def _write_check(folder: Path, keras: SubjectProcess) -> None:
    """Write typical models of users, for both generations."""
    text = Path(__file__).with_name("users_models.py").read_text()
    write(folder / "mine.py", text.encode())
    text = text.replace("import keras\n", "import tf_keras as keras\n").replace("from keras", "from tf_keras")
    write(folder / "tf_mine.py", text.encode())


WRITERS: dict[str, Callable[[Path, SubjectProcess], None]] = {
    "answers": _write_answers,
    "errors": _write_errors,
    "replay": _write_replay,
    "repro": _write_replay,
    "bisect": _write_bisect,
    "audit": _write_audit,
    "check": _write_check,
}
"""By transcript: the function that writes the files for its commands."""


@pytest.mark.usefixtures("warm_commands")
@pytest.mark.parametrize("name", sorted(path.stem for path in TRANSCRIPTS.glob("*.txt")))
def test_commands_print_what_the_transcript_shows(
    name: str, keras: SubjectProcess, clonediff: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clonediff.harness.cli.terminal._FIRST_PAUSE", math.inf)  # no progress: it depends on the time
    prepare = WRITERS.get(name)
    if prepare is not None:
        prepare(tmp_path, keras)
    checker = doctest.OutputChecker()
    for expected in re.split(r"(?m)^(?=\$ )", (TRANSCRIPTS / f"{name}.txt").read_text())[1:]:
        printed = _run_line(expected.partition("\n")[0], clonediff)
        assert not set("\x1b\x07\x9b\u202e") & set(printed), "a terminal would obey these characters"
        if not checker.check_output(expected.rstrip() + "\n", printed.rstrip() + "\n", doctest.ELLIPSIS):
            pytest.fail(checker.output_difference(doctest.Example("", expected), printed, doctest.ELLIPSIS))


def _run_line(line: str, clonediff: Command) -> str:
    """Run a command; return its line, its output, and its exit code unless that is 0."""
    program, *arguments = shlex.split(line.removeprefix("$ "))
    assert program == "clonediff"
    code, out, err = clonediff(*arguments)
    return f"{line}\n{out}{err}" + (f"[{code}]\n" if code else "")
