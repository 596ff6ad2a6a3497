"""The bytecode of trees: laid beside each file, and taken over where another tree has the same file.

Two commits differ in a few files, and compiling all of Keras takes seconds. What is laid is never checked against its
file, since a copy of a tree does not change.
"""

from __future__ import annotations

import hashlib
import importlib.util
import py_compile
import threading
from collections.abc import Mapping
from pathlib import Path

_UNCHECKED = py_compile.PycInvalidationMode.UNCHECKED_HASH
_OF_TESTS = "_test.py"
"""What the files end with that no Keras imports."""


class Bytecode:
    """What was compiled so far, by the digest of its file. May be used by several threads."""

    def __init__(self) -> None:
        self._of: dict[bytes, bytes] = {}
        self._lock = threading.Lock()

    def lay(self, site: Path, files: Mapping[str, bytes]) -> None:
        """Lay the bytecode of the files of a tree, which are in the folder by now."""
        with self._lock:  # whoever comes second takes over what the first has compiled
            for name, content in files.items():
                if name.endswith(".py") and not name.endswith(_OF_TESTS):
                    self._lay(site / name, content)

    def _lay(self, file: Path, content: bytes) -> None:
        digest = hashlib.blake2b(content, digest_size=16).digest()
        name = Path(importlib.util.cache_from_source(str(file))).name
        its = file.parent / "__pycache__" / name  # also where a prefix puts all other bytecode elsewhere
        known = self._of.get(digest)
        if known is not None:
            its.parent.mkdir(exist_ok=True)
            its.write_bytes(known)
        elif py_compile.compile(str(file), str(its), quiet=2, invalidation_mode=_UNCHECKED):
            self._of[digest] = its.read_bytes()
