"""Generates models: draws programs from a catalogue, and writes their source.

`choices` makes choices from a seed or from Hypothesis. `draw` turns them into instructions. `build` writes each
instruction as lines of Python and runs them in Keras. `prepare` adds lines that change the model before it is cloned.
The result is a `Graph`. This package does not import Keras; the caller passes it in.
"""

import sys

if __name__ == "strategies" and "clonediff" in sys.modules:
    raise ImportError("import it as `clonediff.strategies`: under a second name, each module would be loaded twice")
