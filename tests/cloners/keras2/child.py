"""Clones the models of tables beside a release of Keras 2.2 or 2.3 and says, as a line of JSON, what became of each.

Arguments: the folder that has `inside`, the cloner ("fixed" or "upstream", and "v1" where the release runs on today's
TensorFlow), the tables, with commas between them, and then names of their models; none is all.
"""

from __future__ import annotations

import json
import os
import sys
import warnings

warnings.simplefilter("ignore")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, sys.argv[1])
sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def unlike_model(builder, clone_model):
    from oracle import unlike

    return unlike(builder.build(), clone_model, builder.given(), again=True, begins=builder.begins)


def unlike_asked(builder, clone_model):
    from oracle import unlike_calls, unlike_clone

    clone, by_hand = clone_model(builder.build(), **builder.arguments()), builder.by_hand()
    return unlike_clone(by_hand, clone) + unlike_calls(by_hand, [clone])


def misused(builder, clone_model):
    clone_model(builder.build(), **builder.arguments())


TRIED = {"MODELS": unlike_model, "REFUSED": unlike_model, "ASKED": unlike_asked, "MISUSED": misused}


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if "v1" in sys.argv[2]:
        from inside.v1 import give_names_back

        give_names_back()
    import keras
    from loading import load

    if "fixed" in sys.argv[2]:
        from inside.cloners.fixed.keras2 import clone_model
    else:
        clone_model = keras.models.clone_model
    for table in sys.argv[3].split(","):
        builders = getattr(load("keras2"), table)
        for name in sys.argv[4:] or builders:
            keras.backend.clear_session()
            try:
                said = TRIED[table](builders[name], clone_model)
            except Exception as error:
                said = [f"{type(error).__name__}: {error}"]
            out.write(json.dumps([table, name, said]) + "\n")
            out.flush()


main()
