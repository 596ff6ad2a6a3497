"""Pieces of real architectures, as instructions of a program like others: what a drawn model may begin with.

Owns which pieces there are, and how one is read from a few bytes. Of each instruction it is drawn whether it stays, so
that a piece shrinks as a program does, by deleting.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from clonediff.strategies.graph import Input, Value
from clonediff.strategies.programs import Again, Apply, Instruction, Nest, Program, Touch

IMAGE = Input((4, 4, 2))
IDS = Input((3,), "int32", fill="ids", high=6)
VECTOR = Input((4,))


@dataclass(frozen=True, slots=True)
class Piece:
    """Some inputs, and what is done with them. Register 1 holds the first input, 2 the second."""

    name: str
    inputs: tuple[Input, ...]
    body: tuple[Instruction, ...]


def _apply(kind: str, *sources: int, dest: int = 0, **options: Value) -> Apply:
    return Apply(kind, sources or (0,), dest, tuple(options.items()))


def _convolved(filters: int, source: int = 0, dest: int = 0) -> Apply:
    return _apply("Conv2D", source, dest=dest, filters=filters, kernel_size=2, padding="same")


def _normalized() -> tuple[Apply, Apply]:
    return _apply("BatchNormalization"), _apply("ReLU")


PIECES = (
    Piece(
        "a residual block",
        (IMAGE,),
        (
            _convolved(2, 1, dest=1),
            *_normalized(),
            _convolved(2),
            _apply("BatchNormalization"),
            _apply("Add", 1, 2),
            _apply("ReLU"),
        ),
    ),
    Piece(
        "an attention block with its masks",
        (IDS,),
        (
            _apply("Embedding", 1, input_dim=6, output_dim=4, mask_zero=True),
            _apply("MultiHeadAttention", 1, 1, dest=1, num_heads=2, key_dim=2),
            _apply("Add", 1, 2),
            _apply("LayerNormalization"),
            _apply("Dense", 1, dest=1, units=4, activation="relu"),
            _apply("Add", 1, 2),
            _apply("LayerNormalization"),
        ),
    ),
    Piece(
        "an encoder and a decoder that share an embedding",
        (IDS, IDS),
        (
            _apply("Embedding", 1, input_dim=6, output_dim=4, mask_zero=True),
            Again(0, (2,)),
            _apply("GRU", 1, units=3),
            Apply("GRU", (2,), 0, (("units", 3), ("return_sequences", True)), way="initial_state"),
            _apply("Dense", 2, units=4, activation="softmax"),
        ),
    ),
    Piece(
        "an inverted bottleneck",
        (IMAGE,),
        (
            _convolved(3, 1, dest=1),
            *_normalized(),
            _apply("DepthwiseConv2D", kernel_size=2, padding="same"),
            *_normalized(),
            _convolved(2),
            _apply("BatchNormalization"),
            _apply("Add", 1, 2),
        ),
    ),
    Piece(
        "a skip of a U-net",
        (IMAGE,),
        (
            _convolved(2, 1),
            _apply("MaxPooling2D", 1, dest=1, pool_size=2),
            _convolved(3),
            _apply("UpSampling2D", size=2),
            _apply("Concatenate", 1, 2),
            _convolved(2),
        ),
    ),
    Piece(
        "a network of two towers",
        (VECTOR, VECTOR),
        (
            Nest((_apply("Dense", units=3, activation="relu"), _apply("Dense", units=4)), (1,)),
            Again(0, (2,)),
            _apply("Dot", 1, 2, axes=-1, normalize=True),
            _apply("Dense", units=1),
        ),
    ),
)
"""Each leaves what it makes in the register that is written last."""


def instructions_of(body: Iterable[Instruction]) -> Iterator[Instruction]:
    """The instructions, those of nested programs among them."""
    for each in body:
        yield each
        if isinstance(each, Nest):
            yield from instructions_of(each.body)


_STEPS = max(sum(1 for _ in instructions_of(piece.body)) for piece in PIECES)
_PLAINLY = 224
"""A byte below that begins with no piece: seven of eight."""
BYTES = st.binary(min_size=1 + _STEPS, max_size=1 + _STEPS)
Touches = Callable[[str], tuple[Touch, ...]]


def begun_with_a_piece(
    program: Program, drawn: bytes, pieces: tuple[Piece, ...], touches: Touches, most_inputs: int, most: int
) -> Program:
    """The program, one in eight with a piece before its instructions, of which there are at most so many in all.

    A byte for each instruction of the piece says how it is touched; where it is 0 that one is left out.
    """
    which, *steps = drawn
    if which < _PLAINLY or not pieces:
        return program
    piece = pieces[which % len(pieces)]
    body = tuple(_drawn(piece.body, iter(steps), touches))
    if not body:
        return program
    return replace(
        program,
        inputs=(*piece.inputs, *program.inputs)[: max(most_inputs, len(piece.inputs))],
        body=(*body, *program.body[: most - len(body)]),
        sequential=False,
    )


def _drawn(body: Iterable[Instruction], steps: Iterator[int], touches: Touches) -> Iterator[Instruction]:
    for each in body:
        step = next(steps)
        match each:
            case Apply():
                its = touches(each.kind)
                its_own: Instruction = replace(each, touch=its[step % len(its)])
            case Nest():
                its_own = replace(each, body=tuple(_drawn(each.body, steps, touches)))
            case _:
                its_own = each
        if step:
            yield its_own


def pieces_of(
    kinds: Collection[str], features: Collection[str], without: Collection[str], most_inputs: int, most: int
) -> tuple[Piece, ...]:
    """The pieces that can be made of these kinds, with these features and without what is named."""
    return tuple(
        piece
        for piece in PIECES
        if len(piece.inputs) <= most_inputs
        and len(piece.body) <= most
        and all(_there(each, kinds, features, without) for each in instructions_of(piece.body))
    )


def _there(
    instruction: Instruction, kinds: Collection[str], features: Collection[str], without: Collection[str]
) -> bool:
    match instruction:
        case Apply():
            named = (f"{instruction.kind}.{key}" for key, _ in instruction.options)
            given = not instruction.way or "call arguments" in features
            return given and instruction.kind in kinds and not any(each in without for each in named)
        case Again():
            return "sharing" in features
        case Nest():
            return "nesting" in features
    return True
