"""The property tests: what `clone_model` promises, on graphs that Hypothesis draws.

They fail on a fixed clone that is not faithful, on an upstream break that is not a known issue, on a known issue that
no longer breaks, and where more than a few graphs cannot be built.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clonediff.harness.scripts.of_finding import script_of
from clonediff.harness.search.draw_and_reduce import search
from clonediff.harness.subjects.process import SubjectProcess
from clonediff.harness.trials.drawable_kinds import graphs_on
from clonediff.harness.trials.expected import Expected
from clonediff.harness.trials.graph_trials import GraphTrials
from clonediff.harness.trials.trial import Hit
from clonediff.reports.draws import too_many
from clonediff.reports.known import KnownIssue, load
from clonediff.strategies import from_json
from tests.example_counts import SHARDS, everything

KNOWN = load()


def test_every_clone_is_faithful_or_a_known_issue(
    property_trials: GraphTrials, shard: int, request: pytest.FixtureRequest
) -> None:
    process, seed = property_trials.process, request.config.option.seed
    found = search(
        property_trials,
        graphs_on(process, cloners=property_trials.cloners),
        examples=max(1, request.config.option.examples // SHARDS),
        seed_=seed * SHARDS + shard,
    )
    if found is not None:
        script = script_of(found, process.subject.generation, process.versions)
        message = f"{found.title} [{found.fingerprint}] on {process.subject}: {found.blame}; --seed {seed}"
        pytest.fail(f"{message}\n\n{script.text}", pytrace=False)
    tally = property_trials.tally
    assert not too_many(tally.refused, tally.trials), f"{tally.refused} of {tally.trials} graphs cannot be built"


HitsOfExample = Callable[[str, KnownIssue], tuple[Hit, ...]]


@pytest.fixture(scope="session")
def example_of(warm: Callable[[str], SubjectProcess]) -> HitsOfExample:
    """What the example of a known issue shows on a subject; each is tried once."""
    tried: dict[tuple[str, str], tuple[Hit, ...]] = {}

    def hits(subject: str, issue: KnownIssue) -> tuple[Hit, ...]:
        if (subject, issue.id) not in tried:
            graph = from_json(issue.example or "", issue.id)
            expected = Expected(issue=issue)
            costly = everything() or expected.costly
            trials = GraphTrials(warm(subject), KNOWN, private=expected.private)
            tried[subject, issue.id] = trials.try_graph(graph, costly=costly).hits
        return tried[subject, issue.id]

    return hits


EXAMPLES = [each for each in KNOWN.issues if each.example]
ONE_IN = 4
"""So many issues have one that is tried by day."""
ONE_OF_MANY = pytest.mark.slow(reason="one of hundreds of issues; every few are tried by day, and one that is named")


@pytest.mark.parametrize(
    ("subject", "issue"),
    [
        pytest.param(
            each.generation,
            each,
            id=f"{each.generation}-{each.id}",
            marks=[ONE_OF_MANY] if place % ONE_IN else [],
        )
        for place, each in enumerate(EXAMPLES)
    ],
)
def test_a_known_issue_still_breaks(
    subject: str,
    issue: KnownIssue,
    warm: Callable[[str], SubjectProcess],
    example_of: HitsOfExample,
    request: pytest.FixtureRequest,
) -> None:
    if subject not in (request.config.option.subject or ("keras", "tf_keras")):
        pytest.skip(reason=f"--subject leaves {subject} out")
    process = warm(subject)
    if issue not in KNOWN.on(issue.generation, process.ready.keras).issues:
        pytest.skip(reason=f"not an issue of {issue.generation} {process.ready.keras}")
    hits = example_of(subject, issue)
    assert [each for each in hits if each.cloner == "fixed"] == []
    assert issue.id in {each.known.id for each in hits if each.known}, (
        f"known issue {issue.id!r} no longer breaks on {issue.generation} {process.ready.keras}: "
        "give it `until`, or take it out of reports/known_issues.toml"
    )


ONE_NAME = [
    {
        "sequential-operation-names",
        "unnamed-sublayers",
        "unnamed-lookup",
        "unnamed-jitter",
        "augmentation-names",
        "patches-name",
    },
    {"tf-unnamed-sublayers", "tf-unnamed-lookup"},
    # One line of the serialization raises for each of these; the message says for which.
    {"compile-method", "compile-own-function"},
    {"function-of-layer", "function-out-of-scope"},
    {"activation-layer-class", "lambda-named"},
    {"function-named-like-a-class", "lambda-method", "operation-partial"},
    {"tf-function-of-layer", "tf-function-out-of-scope"},
    {"tf-callable-of-layer", "tf-ellipsis"},
    {
        "spatial-dropout-trainable",
        "pipeline-trainable",
        "hashed-crossing-trainable",
        "discretization-trainable",
        "lookup-trainable",
    },
    {"lambda-method", "operation-partial"},
    {"tf-constant-dtype", "tf-equal"},
    {"given-list", "given-input-layer"},
    {"given-input-name", "input-name"},
    {"clone-function-gives-none", "call-function-uncallable"},
    {"open-name-scope", "wrapped-weight-path"},
    {"quantized-inside", "policy-in-layer", "policy-of-lookup", "policy-class"},
    {"discretization-policy", "policy-of-model", "policy-of-pipeline", "spatial-dropout-policy"},
    {"random-shear", "function-out-of-scope"},
    {"tf-kept-calls", "tf-layer-twice"},
]
"""The issues that no fingerprint tells apart: a layer inside another was given no name, or its config has none, and it
takes the next one, or the name of its weights has another scope before it; or a layer's own config leaves out that it
is frozen; or a config that cannot be read, or what has become of the arguments of a call, or what a clone is to begin
with, is refused at one place; or what is called there is no layer, or no function; or no config has the policy of a
layer; or a layer has more calls, or fewer.
"""


SEVERAL = {
    "tf-layer-hung-on": "what is hung on a model is not built in the clone, or where a function gives it, on no model"
}
"""The issues that show in several ways, and why."""


@pytest.mark.slow(reason="it takes what every issue shows, and by day only some are tried")
@pytest.mark.parametrize("subject", ["keras", "tf_keras"])
def test_a_known_issue_has_one_fingerprint_and_no_other_issue_has_it(
    subject: str, warm: Callable[[str], SubjectProcess], example_of: HitsOfExample, request: pytest.FixtureRequest
) -> None:
    if subject not in (request.config.option.subject or ("keras", "tf_keras")):
        pytest.skip(reason=f"--subject leaves {subject} out")
    of_issues: dict[str, set[str]] = {}
    of_fingerprints: dict[str, set[str]] = {}
    for issue in GraphTrials(warm(subject), KNOWN).known("upstream").issues:
        if issue.example is not None:
            for each in example_of(subject, issue):
                if each.known is not None and each.cloner == "upstream":
                    of_issues.setdefault(each.known.id, set()).add(each.fingerprint)
                    of_fingerprints.setdefault(each.fingerprint, set()).add(each.known.id)
    assert {id_ for id_, names in of_issues.items() if len(names) > 1} == {
        each for each in SEVERAL if each in of_issues
    }
    assert [ids for ids in of_fingerprints.values() if len(ids) > 1 and ids not in ONE_NAME] == []
