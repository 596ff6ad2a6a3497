"""Create git repositories and fake Keras checkouts for tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

GIT = ("-c", "user.name=Tester", "-c", "user.email=tester@example.com", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; return its output."""
    # Ignore the user's settings, and the repository of a hook that runs the tests.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    variables |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    command = ["git", *GIT, "-C", str(folder), *arguments]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path, title: str = "a commit") -> str:
    """Commit all files of a folder; return the hash."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", title)
    return git(folder, "rev-parse", "HEAD")


def hash_of(folder: Path, name: str = "HEAD") -> str:
    """Return the first ten digits of the hash of a commit."""
    return git(folder, "rev-parse", name)[:10]


def put_keras(folder: Path, *, version: str = "3.16.0") -> None:
    """Write a fake Keras that has a version but no models."""
    (folder / "keras/src").mkdir(parents=True, exist_ok=True)
    (folder / "keras/__init__.py").write_text("from keras.src.version import __version__\n")
    (folder / "keras/src/version.py").write_text(f'# The version.\n__version__ = "{version}"\n')
    (folder / "keras/src/layers.py").write_text("first = 1\n")
    (folder / "pyproject.toml").write_text('[project]\nname = "keras"\ndependencies = ["numpy", "packaging>=1"]\n')
