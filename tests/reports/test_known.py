"""Known issues: how scripts are read, the errors in them, and the causes that they explain."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clonediff.harness.subjects import SubjectProcess
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import LIMITS_FILE, load
from clonediff.reports.records import Severity
from clonediff.strategies.program import Input
from tests.helpers.example_graphs import graph_of_layer, graph_of_source

pytestmark = pytest.mark.no_keras

LINK = "https://github.com/keras-team/keras/blob/v3.15.1/keras/src/x.py#L1"
SCRIPT = f"""\
\"\"\"A title.

It forgets.
{LINK}
\"\"\"

import keras

model = keras.Sequential()
clone = keras.models.clone_model(model)

# /// clonediff
# generation = "keras"
# root = "settings"
# verdict = "minor"
# severity = "lost-property"
# since = "3.4.0"
# until = "3.13.0"
# fingerprint = "structure-config"
#
# [[match]]
# check = "structure"
# aspect = ["config.a", "config.b*"]
# kind = "Lambda"
# ///
"""
LIMIT = """\
[one-more]
generation = "keras"
title = "A limit"
reason = "It is documented"

[[one-more.match]]
check = "structure"
"""


def write_issue(folder: Path, text: str, name: str = "one.py") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_script_and_its_header_are_read(tmp_path: Path) -> None:
    (issue,) = load(write_issue(tmp_path, SCRIPT)).issues
    assert (issue.id, issue.title, issue.reason) == ("one", "A title", "It forgets")
    assert (issue.root, issue.verdict, issue.lines, issue.files) == ("settings", "minor", (LINK,), ("x.py",))
    assert issue.code.endswith("clone = keras.models.clone_model(model)\n")
    assert (issue.severity, issue.raises, issue.script) == (Severity.PROPERTY, "AssertionError", SCRIPT)
    assert [issue.is_in(release) for release in ("3.3.3", "3.4.0", "3.13.0.dev1")] == [False, True, False]


def test_limits_come_after_bugs_and_have_no_script(tmp_path: Path) -> None:
    write_issue(tmp_path, LIMIT, LIMITS_FILE)
    known = load(write_issue(tmp_path, SCRIPT))
    assert ([issue.id for issue in known.issues], [issue.id for issue in known.bugs]) == (["one", "one-more"], ["one"])
    assert known.get("one-more").verdict == "limit"


RENAMED_GRAPH = graph_of_source(
    """\
import keras
from keras import layers

x = keras.Input((4,))
dense = layers.Dense(4, name="dense")
model = keras.Model(x, dense(dense(x)), name="twice")
""",
    Input((4,)),
)
"""A model whose input upstream renames."""
REFUSED_GRAPH = graph_of_layer("layers.Lambda(lambda x: x * 2.0)")
"""A model on which upstream raises an error."""


@pytest.mark.parametrize(
    ("fields", "matched"),
    [
        ('check = "structure"', {"name"}),
        ('check = "made"', {"raised"}),
        ('check = "structure"\naspect = ["config.a", "na*"]', {"name"}),
        ('check = "structure"\npath = "layers[\'*\'].name"', {"name"}),
        ('check = "structure"\npath = "layers[\'d*\'].name"', set()),
        ('check = "*"\ninside = ""', {"name", "raised"}),
        ('check = "structure"\ninside = "?*"', set()),
        ('check = "structure"\nkind = "Dense"', set()),
        ('check = "structure"\nkind = "Input*"', {"name"}),
        ('check = "*"\ngiven = "Dense called more than once"', {"name"}),
        ('check = "*"\nexception = "Value*"', {"raised"}),
        ('check = "made"\nexception = "*Error"\nframe = "keras/src/layers/core/*"', {"raised"}),
        ('check = "made"\nexception = "ValueError"\nframe = "keras/src/b.py:f"', set()),
    ],
)
def test_a_match_explains_a_cause_if_every_field_matches(
    fields: str, matched: set[str], keras: SubjectProcess, tmp_path: Path
) -> None:
    head, _, rest = SCRIPT.replace('# since = "3.4.0"\n# until = "3.13.0"\n', "").partition("# [[match]]\n")
    lines = "".join(f"# {line}\n" for line in fields.splitlines())
    text = f"{head}# [[match]]\n{lines}# ///{rest.partition('# ///')[2]}"
    trials = GraphTrials(keras, load(write_issue(tmp_path, text)), cloners=("upstream",))
    graphs = {"name": RENAMED_GRAPH, "raised": REFUSED_GRAPH}
    causes = {key: trials.try_graph(graph, costly=False).found_causes for key, graph in graphs.items()}
    assert {key for key, items in causes.items() if any(item.known for item in items)} == matched


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("A title.", "", "its docstring needs a title", id="no title"),
        pytest.param(LINK, "", "its docstring needs a title", id="no link"),
        pytest.param('"settings"', '"other"', "`root` is 'other', expected one of file-format", id="root"),
        pytest.param('"minor"', '"fixed"', "Invalid enum value 'fixed' - at `$.verdict`", id="verdict"),
        pytest.param('"minor"', '"limit"', "a limit has no script", id="a limit"),
        pytest.param("# /// clonediff", "# /// script", "found 0", id="no block"),
        pytest.param('"keras"', '"keras1"', "Invalid enum value 'keras1' - at `$.generation`", id="generation"),
        pytest.param('"lost-property"', '"bad"', "`severity` is 'bad', expected one of crash", id="severity"),
        pytest.param("since =", "sinse =", "unknown field `sinse`", id="unknown field"),
        pytest.param("kind =", "kidn =", "unknown field `kidn` - at `$.match[0]`", id="unknown field of a match"),
        pytest.param('"3.4.0"', '"soon"', "`since` is 'soon', expected a release", id="no release"),
        pytest.param('"3.13.0"', '"3.4.0"', "`until` 3.4.0 is not after `since` 3.4.0", id="an empty range"),
        pytest.param(SCRIPT[SCRIPT.index("# [[") : SCRIPT.index("# ///\n")], "", "but no [[match]]", id="no match"),
        pytest.param('# check = "structure"\n', "", "[[match]] 1 has no `check`", id="no check"),
        pytest.param('kind = "Lambda"', "kind = ", "not TOML", id="no TOML"),
        pytest.param("import keras", "import", "not Python", id="no Python"),
        pytest.param("reason", "because", "one-more: Object contains unknown field `because`", id="field of a limit"),
        pytest.param("[one-more]\n", "one = 1\n[one-more]\n", "found the value `one`", id="no table"),
    ],
)
def test_the_error_names_the_wrong_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    name, text = ("one.py", SCRIPT) if old in SCRIPT else (LIMITS_FILE, LIMIT)
    assert old in text
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        load(write_issue(tmp_path, text.replace(old, new), name))
    assert str(caught.value).startswith(f"{tmp_path / name}: ")


def test_a_missing_folder_is_an_error_and_an_empty_folder_is_not(tmp_path: Path) -> None:
    assert load(tmp_path).issues == ()
    with pytest.raises(ValueError, match="nowhere: not a folder"):
        load(tmp_path / "nowhere")
