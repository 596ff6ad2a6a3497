"""What is drawn: programs, the catalogue of kinds, and how a program becomes the source of a model.

`choices` has the numbers of a seed, or those of Hypothesis, and `draw` makes instructions of them. `build` writes each
instruction as lines of Python and runs them beside Keras, and `prepare` adds what is done to the model before it is
cloned. The result is a `Graph`, in `program`. Nothing here imports Keras: it is handed in. The child of a subject
imports this package as `strategies`.
"""

import sys

if __name__ == "strategies" and "clonediff" in sys.modules:
    raise ImportError("this is `clonediff.strategies`: by a second name, each of its modules would be there twice")
