"""The session of a TensorFlow graph, and the values of its variables: read and written one at a time, run in batches.

A call of `Session.run` that was not made before costs milliseconds, whatever it does. So values are remembered, writes
wait until something runs, and both are forgotten once somebody else runs something in the session.
"""

from __future__ import annotations

from typing import Any

# What draws numbers, of the operations that Keras 2 makes. Each has the attributes `seed` and `seed2`.
_RANDOM = frozenset(
    ["Multinomial", "RandomGamma", "RandomShuffle", "RandomStandardNormal", "RandomUniform", "RandomUniformInt"]
    + ["ParameterizedTruncatedNormal", "TruncatedNormal"]
)


class GraphSession:
    """The session that Keras uses, and what its variables hold."""

    def __init__(self, tf: Any, keras_backend: Any) -> None:
        self._tf = tf
        self._keras = keras_backend
        self._type = _watched(tf.Session)
        self._session: Any = None
        self._attribute: Any = None
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._variables: list[Any] = []
        self._values: dict[int, Any] = {}
        self._waiting: dict[int, Any] = {}
        self._met = 0
        self._seeded = 0
        self._stale = False

    def begin(self) -> None:
        """Go to the graph that is the default one now, where nothing is known yet."""
        self._begin_anew()
        self._open()

    def restart(self, seeds: set[int]) -> None:
        """Let every operation that draws numbers begin anew: the state of those is the session's.

        Keras gives an operation without a seed of its own (none of `seeds`) one by chance: it gets a fixed one.
        """
        self._meet()
        self._refresh()
        self._close()
        self._fix_seeds(seeds)
        self._open()
        self._waiting = {id(variable): variable for variable in self._variables}

    def read(self, variable: Any) -> Any:
        """What a variable holds. One that holds nothing yet is initialised, with all others that do not."""
        if id(variable) not in self._values:
            self._meet()
        self._refresh()
        return self._values[id(variable)]

    def write(self, variable: Any, array: Any) -> None:
        """Give a variable a value, before anything else runs."""
        if id(variable) not in self._values:
            self._meet()
        self._refresh()
        self._values[id(variable)] = array.astype(variable.dtype.base_dtype.as_numpy_dtype, copy=False)
        self._waiting[id(variable)] = variable

    def run(self, fetches: Any, feed: dict[Any, Any], changes: bool = False) -> Any:
        """Run something of ours. `changes` says that it changes variables."""
        self._meet()
        self.settle()
        self._stale = self._stale or changes
        return self._run(fetches, feed)

    def first(self, tensors: list[Any]) -> Any:
        """What tensors give in a session where nothing was drawn: a seed gives another number the next time."""
        self.begin()
        return self._run(tensors, {})

    def settle(self) -> None:
        """Write what waits to be written."""
        while self._waiting:
            feed: dict[Any, Any] = {}
            initializers = []
            for key, variable in list(self._waiting.items()):
                operation = variable.initializer
                first = operation.inputs[1]
                # Two variables may begin with one tensor, which can be fed one value at a time.
                if first not in feed:
                    feed[first] = self._values[key]
                    initializers.append(operation)
                    del self._waiting[key]
            self._run(initializers, feed)

    def others_run(self) -> None:
        """Somebody else is about to run something in this session."""
        self.settle()
        self._stale = True

    def _meet(self) -> None:
        """Initialise the variables that came since the last time, and remember what they hold."""
        known = self._tf.get_collection_ref(self._tf.GraphKeys.GLOBAL_VARIABLES)
        if len(known) == self._met:
            return
        new, self._met = known[self._met :], len(known)
        fresh = [variable for variable in new if not getattr(variable, "_keras_initialized", False)]
        for variable in fresh:
            variable._keras_initialized = True
        # The tensor that a variable is initialised with is what it holds then.
        firsts = [variable.initializer.inputs[1] for variable in fresh]
        values, _ = self._run([firsts, [variable.initializer for variable in fresh]], {}) if fresh else ([], None)
        self._values.update(zip(map(id, fresh), values))
        self._variables.extend(new)
        self._stale = self._stale or len(fresh) < len(new)

    def _refresh(self) -> None:
        """Read everything once more, if somebody may have changed it."""
        if not self._stale:
            return
        self.settle()
        self._stale = False
        values = self._run([variable.value() for variable in self._variables], {})
        self._values.update(zip(map(id, self._variables), values))

    def _open(self) -> None:
        tf = self._tf
        config = tf.ConfigProto(
            allow_soft_placement=True, intra_op_parallelism_threads=1, inter_op_parallelism_threads=1
        )
        # Graphs run once or twice: to optimise one costs more than it saves, and a clone must take the same kernels.
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.graph_options.optimizer_options.opt_level = -1
        self._session = self._type(config=config)
        self._session.owner = self
        self._keras.set_session(self._session)

    def _close(self) -> None:
        self._session.owner = None
        self._session.close()
        self._session = None

    def _run(self, fetches: Any, feed: dict[Any, Any]) -> Any:
        return self._tf.Session.run(self._session, fetches, feed)

    def _fix_seeds(self, seeds: set[int]) -> None:
        operations = self._tf.get_default_graph().get_operations()
        for operation in operations[self._seeded :]:
            if operation.type in _RANDOM and operation.get_attr("seed2") not in seeds:
                operation._set_attr("seed2", self._tf.AttrValue(i=1))
        self._seeded = len(operations)


def _watched(session: Any) -> Any:
    """The type of a session that tells its owner before it runs anything."""

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.owner is not None:
            self.owner.others_run()
        return session.run(self, *args, **kwargs)

    def make_callable(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = session._make_callable_from_options(self, *args, **kwargs)

        def call(*inputs: Any, **options: Any) -> Any:
            if self.owner is not None:
                self.owner.others_run()
            return made(*inputs, **options)

        return call

    return type("Session", (session,), {"owner": None, "run": run, "_make_callable_from_options": make_callable})
