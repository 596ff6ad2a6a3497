"""Clones models beside a release of Keras 2.2 or 2.3 and says, as a line of JSON, what was not faithful of each.

Arguments: the folder that has `inside`, the cloner ("fixed" or "upstream"), and then names of models; none is all.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings

warnings.simplefilter("ignore")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, sys.argv[1])
sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if "v1" in sys.argv[2]:
        from inside.v1 import give_names_back

        give_names_back()
    import keras
    import own_classes  # noqa: F401  # its models join the others
    from faithful import assert_faithful
    from models import MODELS, REFUSED

    if "fixed" in sys.argv[2]:
        from inside.cloners.fixed.keras2 import clone_model
    else:
        clone_model = keras.models.clone_model
    for name in sys.argv[3:] or MODELS:
        keras.backend.clear_session()
        try:
            assert_faithful(dict(MODELS, **REFUSED)[name], clone_model)
        except Exception as error:
            said = {"type": type(error).__name__, "message": str(error)[:600], "trace": traceback.format_exc()[-1500:]}
        else:
            said = None
        out.write(json.dumps({"model": name, "said": said}) + "\n")
        out.flush()


main()
