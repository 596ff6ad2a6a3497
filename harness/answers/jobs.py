"""Many things done one after another, or several at once: each job is a thread, with a process of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def by_jobs(things: Sequence[T], job: Callable[[], AbstractContextManager[Callable[[T], R]]], jobs: int) -> Iterator[R]:
    """What comes of each thing, as it comes. Each thread enters a `job`, which gives what is called on things.

    An exception in a job is raised here.
    """
    todo: queue.SimpleQueue[T] = queue.SimpleQueue()
    for each in things:
        todo.put(each)
    done: queue.SimpleQueue[tuple[R, None] | tuple[None, BaseException]] = queue.SimpleQueue()
    stopped = threading.Event()

    def work() -> None:
        try:
            with job() as do:
                while not stopped.is_set():
                    try:
                        thing = todo.get_nowait()
                    except queue.Empty:
                        return
                    done.put((do(thing), None))
        except BaseException as error:  # it is raised where results are read
            done.put((None, error))

    for _ in range(min(jobs, len(things))):
        # A daemon: whoever interrupts it waits for nobody, and a process ends with the thread that started it.
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in things:
            came, error = done.get()
            if error is not None:
                raise error
            yield came  # type: ignore[misc]  # where there is no error
    finally:
        stopped.set()
