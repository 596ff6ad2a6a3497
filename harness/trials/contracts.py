"""The contract of each cloner: what its way of copying a model documents, which is less than `clone_model` promises."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from clonediff.harness.subjects.case import Case
from clonediff.reports.records import Cause, Severity

_BY_CONFIG = ("roundtrip", "deepcopy")
_NEVER_IN_A_CONFIG = ("attribute.", "weight scope", "weight path alone", "state scope")
"""What somebody sets on a layer once it is made, and within what it was built: a config has what the constructor takes
(`get_config`)."""
_POLICY = tuple(
    f"attribute.{name}"
    for name in ("dtype", "compute_dtype", "variable_dtype", "input_dtype", "dtype_policy", "dtype_policy.*")
)
"""What a layer makes of the dtype that its config has."""
_NOT_ASKED: Mapping[str, tuple[str, ...]] = {"not compiled": ("compiled",)}
"""The aspects that are not asked for: nobody says that the clone of a compiled model is compiled.

`clone_model` of tf_keras promises "An instance of `Model` reproducing the behavior of the original model, on top of new
inputs tensors, using newly instantiated weights", and says nothing of what it was compiled with.
"""


def exemptions_of(case: Case) -> tuple[str, ...]:
    """What is not asked for in a case."""
    return (case.promises, *case.arguments)


def breaks_contract(cloner: str, cause: Cause) -> bool:
    """Whether a cause breaks what the cloner's way of copying promises; each promises that the clone computes the same.

    In the place of a cloner there may be an exemption.
    """
    root = cause.root
    if cloner in _NOT_ASKED:
        return root.aspect not in _NOT_ASKED[cloner]
    if cloner in _BY_CONFIG:
        is_policy = any(fnmatchcase(root.aspect, each) for each in _POLICY)
        told_by_config = is_policy or not root.aspect.startswith(_NEVER_IN_A_CONFIG)
        return cause.severity < Severity.PROPERTY or told_by_config
    return True
