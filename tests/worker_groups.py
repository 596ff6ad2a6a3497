"""Which tests run in one worker, one after another, and which of these groups begin first."""

from __future__ import annotations

import re

DRAWN = "drawn graphs"
"""The group of tests that look at what is drawn: they share graphs, and what Keras has said to their calls."""

TOGETHER = {
    "tests/test_docs.py": "keras",
    "tests/campaign/test_reducing.py": "keras",
    "tests/trials/test_copies.py": "keras",
    "tests/strategies/test_drawing.py": "keras",
    "tests/strategies/test_preparations.py": "keras",
    "tests/campaign/test_corpus.py": DRAWN,
    "tests/search/reducing/test_minima.py": DRAWN,
    "tests/search/reducing/test_preparations.py": DRAWN,
    "tests/search/reducing/test_reduce.py": DRAWN,
    "tests/search/test_sampling.py": DRAWN,
    "tests/source/test_index.py": DRAWN,
    "tests/source/test_writer.py": DRAWN,
    "tests/strategies/test_clone_arguments.py": DRAWN,
    "tests/strategies/test_graph_json.py": DRAWN,
    "tests/strategies/test_left_out.py": DRAWN,
    "tests/strategies/test_reach.py": DRAWN,
    "tests/trials/test_other_layers.py": "keras",
    "tests/trials/test_users_cloners.py": "keras",
    "tests/trials/test_preparations.py": "keras",
    "tests/trials/test_clone_arguments.py": "keras",
    "tests/judge/test_trying.py": "keras",
    "tests/judge/test_two_trees.py": "keras",
    "tests/cli/test_audit.py": "audit",
    "tests/cli/test_check.py": "keras",
    "tests/cli/test_check_command.py": "keras",
    "tests/cli/test_replay.py": "keras",
    "tests/cli/test_repro.py": "keras",
    "tests/inside/test_serving.py": "tests/inside",
    "tests/inside/test_trials.py": "tests/inside",
    "tests/keras3_releases/test_corpus_replayed.py": "tests/keras3_releases",
    "tests/keras3_releases/test_releases.py": "tests/keras3_releases",
    "tests/property/test_clone_model.py": "keras",
    "tests/property/test_custom_classes.py": "keras",
    "tests/scripts/test_reproducer.py": "tf_keras",
    "tests/search/reducing/test_real.py": "keras",
    "tests/answers/test_replay.py": "keras",
    "tests/trials/test_lambda_mask.py": "keras",
    "tests/source/test_forms.py": "keras",
    "tests/strategies/test_objects.py": "keras",
    "tests/trials/checks/test_holdings.py": "keras",
    "tests/trials/checks/test_nested_results.py": "keras",
}
"""The modules that share warm subjects, with the group of their tests; one whose id names a subject is in its group."""

APART = ("tests/cloners/test_models.py", "tests/cloners/test_arguments.py", "tests/known/test_scripts.py")
"""The modules whose tests of one generation need not run beside those of another."""

LONGEST = (
    "keras",
    "tests/known/test_scripts.py of keras",
    "tests/known/test_scripts.py of tf_keras",
    DRAWN,
    "tf_keras",
    "tests/campaign/test_campaign.py",
    "tests/cloners/test_models.py of keras",
    "tests/cloners/test_models.py of tf_keras",
    "tests/subjects/releases/test_installs.py",
    "tests/reports/test_browser.py",
    "tests/keras3_releases",
    "tests/scripts/test_running.py",
    "tests/inside",
    "audit",
    "tests/answers/audit/test_asking.py",
)
"""The groups that take longest, the longest first: begun at the end, one would be waited for alone."""


def group(nodeid: str) -> str:
    """What a test runs together with: those of its subject, where they share one; otherwise those of its module."""
    module, _, test = nodeid.partition("::")
    found = re.search(r"\[((?:keras|tf_keras)(?:==[\d.]+)?)[-\]]", test)
    named = found[1] if found else ""
    if named and module in APART:
        return f"{module} of {named}"
    its = TOGETHER.get(module, module)
    return named if named and module in TOGETHER and (named, its) != ("keras", DRAWN) else its


def turn(nodeid: str) -> int:
    """When its group begins, beside those of other tests."""
    its = group(nodeid)
    return LONGEST.index(its) if its in LONGEST else len(LONGEST)
