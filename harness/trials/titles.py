"""What is wrong, as a sentence for someone who knows Keras and has never heard of clonediff.

A sentence is made of what a fingerprint is made of, and of the form of what differs: a tuple, a flag that was set. It
has no layer's name, number or message in it, so a cause is called alike in every run.
"""

from __future__ import annotations

import re

from clonediff.reports.records import Difference
from clonediff.strategies.kinds import CATALOGUE

UNKNOWN = "{a} differs{inside}: {aspect}"
"""For an aspect that no check has today."""

_VARIABLES = {
    f"{word} {aspect}": said.replace("WORD", word)
    for word in ("weight", "state")
    for aspect, said in {
        "missing": "a WORD of {a} is missing{inside}",
        "extra": "{a} has one WORD more{inside}",
        "order": "the WORDs of a model come in another order{inside}",
        "name": "a WORD of {a} has another name{inside}",
        "scope": "a WORD of {a} has another path before its name{inside}",
        "name alone": "a WORD of {a} has another name under the same path{inside}",
        "path alone": "a WORD of {a} has another path under the same name{inside}",
        "shape": "a WORD of {a} has another shape{inside}",
        "dtype": "a WORD of {a} has another dtype{inside}",
        "trainable": "a {frozen} WORD of {a} is {thawed}{inside}",
        "shared": "{clone} shares a WORD of {a} with the original",
        "shared by clones": "{clone} shares a WORD of {a} with the first clone",
        "unshared": "a shared WORD of {a} is two{inside}",
        "merged": "two WORDs are one{inside}",
    }.items()
}
_ENDS = {
    f"{end} {aspect}": said.replace("END", end)
    for end in ("input", "output")
    for aspect, said in {
        "count": "a model has another number of ENDs{inside}",
        "order": "the ENDs of a model come in another order{inside}",
        "name": "an END of a model has another name{inside}",
        "shape": "an END of a model has another shape{inside}{at}",
        "dtype": "an END of a model has another dtype{inside}{at}",
        "optional": "an END of a model that is {was}optional is {now}optional{inside}",
        "sparse": "an END of a model that is {was}sparse is {now}sparse{inside}",
        "ragged": "an END of a model that is {was}ragged is {now}ragged{inside}",
        "tensor": "an END of a model is another tensor{inside}{at}",
    }.items()
}
_NESTED = {
    f"{part} {aspect}": said.replace("WHOLE", whole).replace("ITEM", item)
    for part, whole, item in (
        ("input structure", "inputs of a model", "an input of a model"),
        ("output structure", "outputs of a model", "an output of a model"),
        ("structure", "outputs of a call", "an output of a call"),
        ("call.args", "arguments of a call{of}", "an argument of a call{of}"),
        ("call.kwargs", "keyword arguments of a call{of}", "a keyword argument of a call{of}"),
    )
    for aspect, said in {
        "missing": "ITEM is lost{inside}",
        "extra": "there is one more of the WHOLE{inside}",
        "type": "{form} in the WHOLE is {found_form}{inside}",
        "order": "the WHOLE come in another order{inside}",
        "tensor": "ITEM is another tensor{inside}",
        "value": "ITEM has another value{inside}",
    }.items()
}
_ARGUMENTS = {
    "missing": "the NAME of a call is lost{inside}",
    "extra": "there is WITH_ARTICLE among the arguments of a call{inside}, where there was none",
    "order": "the NAME of a call comes in another order{inside}",
    "tensor": "the NAME of a call is another tensor{inside}",
    "value": "the NAME of a call has another value{inside}",
}
"""For an argument that Keras has a name for."""
_AT_REST = {
    **_VARIABLES,
    **_ENDS,
    **_NESTED,
    "kind": "{a} is of another class{inside}",
    "name": "{a} has another name{inside}",
    "role": "{a} has another role in the layer that holds it{inside}",
    "trainable": "a {frozen} {kind} is {thawed}{inside}",
    "compiled": "a model that is {was}compiled is {now}compiled{inside}",
    "compiled_with shared": "{clone} is compiled with an optimizer, or a metric, of the original itself",
    "supports_masking": "the supports_masking of {a} is another{inside}",
    "policy": "{a} has another dtype policy{inside}",
    "layer missing": "{a} is missing{inside}",
    "layer extra": "there is one {kind} more{inside}",
    "giver missing": "{a} that gave an argument of a call is missing{inside}",
    "giver extra": "there is one {kind} more that gives an argument of a call{inside}",
    "layer order": "the layers of {a} come in another order{inside}",
    "layer shared": "{clone} holds {a} of the original itself",
    "layer shared by clones": "{clone} holds {a} of the first clone itself",
    "layer unshared": "a shared {kind} is two{inside}",
    "layer merged": "two layers are one{inside}",
    "layer replaced": "{a} is another object",
    "inbound nodes": "{a} of it is called once more",
    "outbound nodes": "what {a} of it gives is used once more",
    "call count": "{a} is called more often, or less,{inside}",
    "call order": "the calls of a shared {kind} come in another order{inside}",
    "call outputs": "a call of {a} gives another number of tensors{inside}",
    "state value": "a state of {a} begins with another value{inside}",
    "state not fresh": "a state of {a} begins as a run of the original has left it{inside}",
    "optimizer state": "what the optimizer and the metrics have counted is another",
    "weight value": "a weight has another value{inside}",
    "copied value": "a weight of {a} does not get the value that is copied into it{inside}",
    "value not kept": "a weight of {a} does not keep its value{inside}",
    "copied count": "{clone} takes more weights, or fewer",
    "first value": "a weight of {a} begins with another constant{inside}",
    "first value set": "a weight of {a} that is drawn by chance begins with a constant{inside}",
    "not fresh": "a weight of {a} begins with the original's value{inside}",
    "asked of an input": "a clone function is asked for an input layer",
    "asked of an operation": "a clone function is asked for what is no layer",
    "asked again": "a clone function is asked for a layer more than once",
    "not asked": "a clone function is not asked for a layer",
    "not what it gave": "what a clone function gives is not in the clone",
    "own error lost": "what a function raises that was given does not arrive",
    "touched": "something is not as it was",
}
_RUNS = {
    "not run": "{clone} was not run",
    "not saved": "the clone was not saved",
    "raises": "{clone} does not run{training}",
    "no longer raises": "{clone} runs{training} where the original raises an exception",
    "raises another": "{clone} raises another exception{training} than the original",
    "step missing": "{a} does not run{inside}{training}",
    "step extra": "{a} runs once more{inside}{training}",
    "count": "{clone} gives another number of outputs{training}{at}",
    "order": "{clone} gives its outputs in another order{training}",
    "shape": "{clone} gives another shape{training}{at}",
    "dtype": "{clone} gives another dtype{training}{at}",
    "value": "{clone} computes something else{training}{at}",
    "mask lost": "a mask is lost{inside}{training}{at}",
    "mask added": "there is a mask{inside} where the original has none{training}{at}",
    "mask value": "a mask has other values{inside}{training}{at}",
}
_TRAINING = {
    "losses count": "the layers add more losses, or fewer,{inside}",
    "losses order": "the losses that layers add come in another order{inside}",
    "losses value": "a loss that a layer adds is another{inside}",
    "not trained": "{clone} was not trained",
    "raises": "{clone} cannot be trained",
    "no longer raises": "{clone} can be trained where the original raises an exception",
    "loss": "a step of training gives another loss{inside}",
    "gradient count": "more weights, or fewer, have a gradient{inside}",
    "gradient missing": "a weight of {a} has no gradient{inside}",
    "gradient extra": "a weight of {a} has a gradient{inside}, and none in the original",
    "gradient shape": "the gradient of a weight of {a} has another shape{inside}",
    "gradient dtype": "the gradient of a weight of {a} has another dtype{inside}",
    "gradient value": "the gradient of a weight of {a} is another{inside}",
    "weight count": "a step of training leaves more weights, or fewer,{inside}",
    "weight missing": "a weight of {a} is gone after a step of training{inside}",
    "weight extra": "{a} has one weight more after a step of training{inside}",
    "weight shape": "a weight of {a} has another shape after a step of training{inside}",
    "weight dtype": "a weight of {a} has another dtype after a step of training{inside}",
    "weight value": "a weight of {a} has another value after a step of training{inside}",
}
_MADE = {
    "raises": "{held} cannot be cloned",
    "nothing": "the cloner gives nothing",
    "no error": "an argument that is plainly wrong is taken without a word",
    "unclear error": "an argument that is plainly wrong ends in an accident, not in an error that says so",
    "original refused": "the original cannot be built or run",
    "process timed out": "cloning a model, or running the clone, does not end in time",
    "process out of memory": "cloning a model, or running the clone, takes too much memory",
}
_APART = {
    **_NESTED,
    "made": "a model can be made on one CHECK, and not on the other",
    "weight count": "a model has more weights on one CHECK than on the other",
    "weight": "a weight that was set is another on another CHECK",
    "raises": "a model raises an exception on one CHECK, and another or none on the other",
    "count": "a model gives another number of outputs on another CHECK{at}",
    "shape": "a model gives another shape on another CHECK{at}",
    "dtype": "a model gives another dtype on another CHECK{at}",
    "mask": "a model gives another mask on another CHECK{at}",
    "value": "a model computes something else on another CHECK{at}",
    "value unknown": "a model may compute something else on another CHECK{at}",
    "process": "a model takes its process with it on one CHECK, and not on the other",
}
_RAISED_AT = {
    "set_weights": "{clone} does not take the weights of the original",
    "again": "a second clone cannot be made",
    "twice": "the clone cannot be cloned",
    "saved.saving": "the clone cannot be saved",
    "saved.loading": "the clone cannot be loaded once it is saved",
}
"""What raises, by its path, where the aspect alone does not say."""

_WORDS = {
    "": "layer",
    "model": "model",
    "Functional": "functional model",
    "Model": "functional model",
    "InputLayer": "input layer",
}
_OF_MODELS = ("", "model", "Functional", "Model")
"""Where it is no more than that it is in a model: so is everything."""
_FORMS = {
    "[": "a list",
    '{"tuple"': "a tuple",
    '{"dict"': "a dict",
    '{"tensor"': "a tensor",
    '{"outside"': "a tensor",
    '{"array"': "an array",
    '{"constant"': "a constant",
    '{"variable"': "a variable",
}
_KINDS = {name.rpartition(".")[2].lower(): name for name in CATALOGUE if "." not in name}


_KEYWORD = re.compile(r"\.kwargs\['(initial_state|constants|mask|\w+_mask)'\]")
_BESIDE_THE_SEQUENCE = re.compile(r"\.args\[0\]\[[1-9]\d*\]")
_RECURRENT = re.compile(r"(.*RNN|.*GRU|.*LSTM\w*|Bidirectional)")


def argument(root: Difference) -> str:
    """The name that Keras itself has for the argument of a call in which there is a difference; "" for all others."""
    named = _KEYWORD.search(root.path)
    if named:
        return named[1]
    of_a_sequence = root.first is not None and _RECURRENT.fullmatch(root.first.kind)
    return "initial_state" if of_a_sequence and _BESIDE_THE_SEQUENCE.search(root.path) else ""


def sentence(root: Difference, kind: str) -> str:
    """What is wrong, by the root of a cause. `kind` is that of the fingerprint: "" for a layer of any kind."""
    clone, inside, before = _where(root)
    apart = root.check in ("device", "backend")
    raised = _raised(root)
    word = f"layer in {_a(kind.removeprefix('in '))}" if kind.startswith("in ") else _WORDS.get(kind, kind)
    form, found = _form(root.expected), _form(root.found)
    on = root.expected.lower() == "true"
    said = _said(root).format(
        a=_a(word),
        kind=word,
        of=f" of {_a(word)}" if kind else "",
        at="" if kind in _OF_MODELS else f": first at {word if kind in CATALOGUE else _a(word)}",
        held=_held(root, kind),
        clone="" if apart else clone,
        inside=f" on another {root.check}" if apart else inside,
        training=" in training mode" if root.check in ("outputs", "masks") and root.path.startswith("training") else "",
        form=form,
        found_form=found if found != form else "of another type",
        frozen="trainable" if on else "frozen",
        thawed="frozen" if on else "trainable",
        was="" if on else "not ",
        now="not " if on else "",
        change="lost" if root.found.lower() in ("null", "none", "nothing") else "another",
        aspect=root.aspect,
    )
    said = f"{before}{said}{raised}"
    return said[:1].upper() + said[1:]


def _said(root: Difference) -> str:
    check, aspect = root.check, root.aspect
    if check in ("device", "backend"):
        return _APART.get(aspect, UNKNOWN).replace("CHECK", check)
    if check == "made":
        killed = "cloning a model, or running the clone, takes its process with it"
        return _MADE.get(aspect, killed if aspect.startswith("process ") else UNKNOWN)
    if aspect == "raises" and root.path in _RAISED_AT:
        return _RAISED_AT[root.path]
    if check == "training":
        return _TRAINING.get(aspect, UNKNOWN)
    part, _, leaf = aspect.partition(" ")
    name = argument(root) if part in ("call.args", "call.kwargs") and leaf in _ARGUMENTS else ""
    if name:
        return _ARGUMENTS[leaf].replace("NAME", name).replace("WITH_ARTICLE", _a(name))
    if aspect.startswith("compiled."):
        return f"what a model is compiled with is {{change}}{{inside}}: {_plain(aspect.removeprefix('compiled.'))}"
    setting = re.fullmatch(r"(config|attribute)\.(.+)", aspect, re.DOTALL)
    if setting:
        if setting[2] in ("optional", "sparse", "ragged"):
            return f"{{a}} that is {{was}}{setting[2]} is {{now}}{setting[2]}{{inside}}"
        name = _plain(setting[2])
        return f"the {'setting' if setting[1] == 'config' else 'attribute'} {name} of {{a}} is {{change}}{{inside}}"
    return _AT_REST.get(aspect) or _RUNS.get(aspect) or UNKNOWN


def _plain(text: str) -> str:
    """A text as it stands in a template."""
    return text.replace("{", "{{").replace("}", "}}")


def _where(root: Difference) -> tuple[str, str, str]:
    """What is another, where that is, and what the sentence begins with."""
    if root.check == "untouched":
        return "it", "", "cloning changes the original: "
    if root.check == "saved":
        return "the clone, saved and loaded,", " in the clone, saved and loaded", ""
    which = "the clone"
    if root.check == "again":
        which = "the clone of the clone" if root.path.startswith("twice") else "a second clone"
    return which, f" in {which}", ""


def _held(root: Difference, kind: str) -> str:
    """What cannot be cloned: a layer where a frame of its class says so, or else a model with one."""
    stem = root.raised.frame.rpartition(":")[0].rpartition("/")[2] if root.raised else ""
    stem = stem.removesuffix(".py").removesuffix("_layer").replace("_", "")
    if stem in _KINDS and "/layers/" in (root.raised.frame if root.raised else ""):
        return _a(_KINDS[stem])
    return "a model" if kind in _OF_MODELS else f"a model with {_a(_WORDS.get(kind, kind))}"


def _raised(root: Difference) -> str:
    if root.raised is None:
        return ""
    file, _, function = root.raised.frame.rpartition(":")
    at = f" in {file.rpartition('/')[2]}:{function}" if file else ""
    kind = "" if root.raised.type in ("timed out", "out of memory") else root.raised.type
    return f": {kind}{at}" if kind else at and f":{at}"


def _form(text: str) -> str:
    """The form of a part of a call's arguments, by how it is written down."""
    form = next((form for start, form in _FORMS.items() if text.startswith(start)), "a plain value")
    return f"{form} of its own class" if re.search(r', "type": "[^"]*"}$', text) else form


def _a(word: str) -> str:
    """A word with its article."""
    spelled = word[:1] in "FHLMNRSX" and word[1:2].isupper()
    return f"an {word}" if word[:1] in "AEIOaeio" or spelled else f"a {word}"
