"""Hypothesis profiles of clonediff: how many graphs, which, and what is remembered of those that failed.

Owns the three profiles and their names. They are registered here, and loaded nowhere: whoever wants one takes it,
`@settings(profile("nightly").settings)`, and the profile of a project that uses clonediff stays what it is. Must not
import Keras.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hypothesis import Phase, Verbosity, settings
from hypothesis.database import DirectoryBasedExampleDatabase

Name = Literal["dev", "ci", "nightly"]

FOLDER = Path(".hypothesis")
"""Where Hypothesis keeps its own things, too: relative to where the tests are run, and in no one's repository."""

SEED = 0


@dataclass(frozen=True, slots=True)
class Profile:
    """`settings` for any test on graphs; `seed` for the searches of the property tests, None for another each time."""

    settings: settings
    seed: int | None

    def some_seed(self) -> int:
        """The seed, or one that was not there before."""
        return secrets.randbelow(2**32) if self.seed is None else self.seed


def profile(name: Name) -> Profile:
    """A profile by its name.

    `dev`: 200 graphs, the same each time, so that a test fails for what was changed; what failed before is tried first.
    `ci`: the same 200, and nothing is remembered. `nightly`: 2,000 others each time, with a memory of its own.
    """
    return _PROFILES[name]


def _registered(name: Name, seed: int | None, graphs: int, *, remembers: bool = True, same: bool = False) -> Profile:
    """The profile, which draws so many graphs; the `same` ones each time."""
    # Under CI, Hypothesis loads a profile that is derandomized and has no database, and one that is registered without
    # a parent has both from there: a nightly job would try the same graphs for ever.
    full = f"clonediff-{name}"
    settings.register_profile(
        full,
        parent=settings.get_profile("default"),
        max_examples=graphs,
        derandomize=same,
        database=DirectoryBasedExampleDatabase(FOLDER / full) if remembers else None,
        print_blob=True,
        deadline=None,  # the first trial starts a process, and some layers compile
        phases=tuple(Phase),
        verbosity=Verbosity.normal,
        suppress_health_check=(),
    )
    return Profile(settings.get_profile(full), seed)


_PROFILES: dict[Name, Profile] = {
    "dev": _registered("dev", SEED, 200),
    "ci": _registered("ci", SEED, 200, remembers=False, same=True),
    "nightly": _registered("nightly", None, 2000),
}
