"""Which tests run in one worker, one after another, and which of these groups begin first."""

from __future__ import annotations

import re

TOGETHER = {
    "tests/test_docs.py": "keras",
    "tests/answers/history/test_end_to_end.py": "keras",
    "tests/answers/history/test_question.py": "keras",
    "tests/campaign/test_reducing.py": "keras",
    "tests/campaign/test_bench_sizes.py": "keras",
    "tests/cli/test_check_arguments.py": "keras",
    "tests/cli/test_real.py": "keras",
    "tests/trials/test_calling.py": "keras",
    "tests/trials/test_copies.py": "keras",
    "tests/trials/test_cut_out.py": "keras",
    "tests/strategies/test_drawing.py": "keras",
    "tests/strategies/test_preparations.py": "keras",
    "tests/trials/test_other_layers.py": "keras",
    "tests/trials/test_preparations.py": "keras",
    "tests/trials/test_clone_arguments.py": "keras",
    "tests/trials/checks/test_planted.py": "keras",
    "tests/trials/devices/test_across.py": "keras",
    "tests/trials/devices/test_devices_end_to_end.py": "keras",
    "tests/trials/checks/test_initial_values.py": "keras",
    "tests/judge/test_trying.py": "keras",
    "tests/cli/test_check.py": "keras",
    "tests/cli/test_check_command.py": "keras",
    "tests/cli/test_doctor.py": "keras",
    "tests/cli/test_gallery.py": "keras",
    "tests/cli/test_replay.py": "keras",
    "tests/cli/test_repro.py": "keras",
    "tests/inside/test_serving.py": "tests/inside",
    "tests/inside/test_trials.py": "tests/inside",
    "tests/keras2/test_dialect.py": "keras==2.2.4",
    "tests/keras2/test_framework.py": "keras==2.2.4",
    "tests/keras2/test_reported_bug.py": "keras==2.2.4",
    "tests/cloners/keras2/test_multi_gpu.py": "keras==2.2.4",
    "tests/keras3_releases/test_corpus_replayed.py": "tests/keras3_releases",
    "tests/keras3_releases/test_releases.py": "tests/keras3_releases",
    "tests/property/test_clone_model.py": "keras",
    "tests/property/test_custom_classes.py": "keras",
    "tests/property/test_planted_faults.py": "keras",
    "tests/property/test_proposed.py": "keras==2.2.4",
    "tests/scripts/test_reproducer.py": "tf_keras",
    "tests/scripts/test_as_test.py": "keras",
    "tests/search/reducing/test_real.py": "keras",
    "tests/subjects/test_capabilities.py": "keras",
    "tests/answers/test_replay.py": "keras",
    "tests/trials/test_lambda_mask.py": "keras",
    "tests/answers/history/test_keeping.py": "keras",
    "tests/answers/history/test_one_release.py": "keras",
    "tests/source/test_forms.py": "keras",
    "tests/strategies/test_objects.py": "keras",
    "tests/trials/checks/test_fit.py": "keras",
    "tests/trials/checks/test_holdings.py": "keras",
    "tests/trials/checks/test_nested_results.py": "keras",
}
"""The modules that share warm subjects, with the group of their tests; one whose id names a subject is in its group."""

APART = ("tests/cloners/test_models.py", "tests/cloners/test_arguments.py")
"""The modules whose tests of one generation need not run beside those of another."""

LONGEST = (
    "keras",
    "tf_keras",
    "tests/campaign/test_campaign.py",
    "keras==2.2.4",
    "tests/strategies/test_reach.py",
    "tests/cloners/test_models.py of keras",
    "tests/cloners/test_models.py of tf_keras",
    "tests/subjects/releases/test_installs.py",
    "tests/reports/test_browser.py",
    "tests/tf_keras_releases/test_releases.py",
    "tests/inside",
)
"""The groups that take longest, the longest first: begun at the end, one would be waited for alone."""


def group(nodeid: str) -> str:
    """What a test runs together with: those of its subject, where they share one; otherwise those of its module."""
    module, _, test = nodeid.partition("::")
    named = re.search(r"\[((?:keras|tf_keras|tensorflow)(?:==[\d.]+)?)[-\]]", test)
    if named and module in APART:
        return f"{module} of {named[1]}"
    return named[1] if named and module in TOGETHER else TOGETHER.get(module, module)


def turn(nodeid: str) -> int:
    """When its group begins, beside those of other tests."""
    its = group(nodeid)
    return LONGEST.index(its) if its in LONGEST else len(LONGEST)
