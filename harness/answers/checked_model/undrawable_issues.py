"""Known issues that no drawn graph can show, and that a model of somebody's own can.

Where nobody promises that a clone is compiled, no graph is.
"""

from __future__ import annotations

from clonediff.reports.known import KnownIssue, KnownIssues, Pattern

_NOT_COMPILED = (Pattern(check="structure", aspect="compiled"),)
_TITLE = "The clone of a compiled model is not compiled"
_BECAUSE = (
    "tf_keras/src/models/cloning.py:465 makes layers and weights and compiles nothing; what it was compiled with is "
    "the caller's, or for clone_and_build_model, at :741, which is exported in __internal__ only"
)

UNDRAWABLE = KnownIssues(
    (
        KnownIssue("not-compiled", "tf_keras", _TITLE, _BECAUSE, _NOT_COMPILED),
        KnownIssue(
            "not-compiled", "tf_keras", _TITLE, f"{_BECAUSE}; ours leaves it out too", _NOT_COMPILED, cloner="fixed"
        ),
    )
)
