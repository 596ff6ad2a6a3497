"""What to try: programs, the catalogue of kinds, and how a program is drawn and becomes the source of a model.

Nothing here imports Keras: it is handed in. The child of a subject imports this package as `strategies`.
"""

import sys

if __name__ == "strategies" and "clonediff" in sys.modules:
    raise ImportError("this is `clonediff.strategies`: by a second name, each of its modules would be there twice")
