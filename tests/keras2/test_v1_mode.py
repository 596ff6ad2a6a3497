"""Keras 2.2 on the TensorFlow at hand, in v1 mode: the same bug, and a script that anyone can run."""

from __future__ import annotations

import pytest

from clonediff.harness.scripts.of_finding import script_of
from clonediff.harness.scripts.run_alone import tried_alone
from clonediff.harness.subjects import Subject, SubjectProcess
from clonediff.harness.subjects.place import ReleasePlace
from clonediff.harness.subjects.releases import place_of
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.reports.known import load
from clonediff.strategies import from_json
from tests.required_releases import had

SUBJECT = Subject.parse("keras==2.2.4")


@pytest.fixture(scope="module")
def v1_mode() -> ReleasePlace:
    return had(lambda: place_of(SUBJECT, stack="v1 mode"))


@pytest.mark.slow(reason="two Keras more; where Python 3.7 is missing, all else of Keras 2.2 is in v1 mode")
def test_the_reported_bug_shows_in_v1_mode_and_its_script_fails_alone(v1_mode: ReleasePlace) -> None:
    known = load()
    issue = next(each for each in known.issues if each.id == "keras2-two-outputs")
    with SubjectProcess(SUBJECT, place=v1_mode) as process:
        assert process.ready.keras == "2.2.4"
        assert process.ready.backend_version.startswith("2.")
        (hit,) = GraphTrials(process, known, rate=0).try_graph(from_json(issue.example or "", issue.id)).hits
        assert hit.known == issue
        script = script_of(hit, "keras2", process.versions)
    assert "tf.disable_v2_behavior()" in script.text
    assert tried_alone(script, SUBJECT, v1_mode)[0] is True
