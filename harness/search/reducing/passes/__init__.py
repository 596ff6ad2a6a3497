"""The passes of a reduction: each offers graphs that are a little smaller than the one given.

Owns their order: what cuts most comes first, so that the limit of tries is spent well. A pass offers what may make no
sense (or None, where an edit names what is gone): fitting, the catalogue and the measure are held against each offer
afterwards.
"""

from __future__ import annotations

from clonediff.harness.search.reducing.passes.bases import Pass, everywhere
from clonediff.harness.search.reducing.passes.connections import (
    begin_later,
    bypass_call,
    chain_output,
    drop_call,
    drop_idle_input,
    drop_output,
    end_earlier,
    give_fewer_tensors,
    give_plainly,
    merge_inputs,
    take_plainly,
    unshare,
    use_fewer_tensors,
    use_first_output,
    use_one_tensor,
)
from clonediff.harness.search.reducing.passes.kinds import plainer_kind, plainer_kind_on_one, use_plain_inputs
from clonediff.harness.search.reducing.passes.models import (
    drop_inner_output,
    inline_model,
    take_model_out,
)
from clonediff.harness.search.reducing.passes.plainer import (
    drop_rank,
    leave_out_parts,
    reduce_batch,
    reduce_dimension,
    reduce_every_dimension,
    say_less,
    say_less_at_once,
    simplify_arguments,
    unwrap,
)
from clonediff.harness.search.reducing.passes.preparations import (
    drop_output_with_its_preparation,
    plainer_kind_with_its_preparation,
)

PASSES: tuple[Pass, ...] = (
    leave_out_parts,
    take_model_out,
    end_earlier,
    drop_output,
    drop_output_with_its_preparation,
    begin_later,
    everywhere(bypass_call),
    everywhere(drop_call),
    everywhere(inline_model),
    everywhere(use_one_tensor),
    everywhere(use_fewer_tensors),
    everywhere(merge_inputs),
    drop_idle_input,
    everywhere(drop_inner_output),
    everywhere(use_first_output),
    everywhere(unshare),
    chain_output,
    give_plainly,
    take_plainly,
    say_less_at_once,
    unwrap,
    everywhere(plainer_kind),
    everywhere(plainer_kind_on_one),
    plainer_kind_with_its_preparation,
    use_plain_inputs,
    everywhere(give_fewer_tensors),
    simplify_arguments,
    say_less,
    drop_rank,
    reduce_every_dimension,
    reduce_dimension,
    reduce_batch,
)

__all__ = ["PASSES", "Pass"]
