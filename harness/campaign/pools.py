"""The workers of a campaign: processes here, or the workers of a Dask cluster.

Both are a list of executors of `concurrent.futures`, one for each task that can run at once. Only this module imports
Dask, and only for a cluster.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any, TypeAlias

import psutil  # type: ignore[import-untyped]  # it comes without types

from clonediff.harness.campaign import tasks

WAIT = float(os.environ.get("CLONEDIFF_WAIT", "60"))
"""The seconds to wait for a scheduler, and for a worker of it."""
JOB = 3 << 29
"""The memory of a subject in a job, about: its process, and the one that runs its scripts."""


class ClusterError(ConnectionError):
    """A cluster that cannot be reached, or has no workers; the message says which and what to do."""


def jobs_here(subjects: int) -> int:
    """The number of jobs that this machine has cores and memory for, each with so many subjects."""
    return max(1, min(len(os.sched_getaffinity(0)), int(psutil.virtual_memory().available // (JOB * subjects))))


def _follow_driver() -> None:
    """End this worker, and with it its subjects, when the driver is killed."""
    driver = multiprocessing.parent_process()
    assert driver is not None

    def wait() -> None:
        driver.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


class LocalPool:
    """A process for each job, each in an executor of its own: one that dies breaks no task but its own."""

    def __init__(self, jobs: int) -> None:
        self._pids: dict[Executor, Future[int]] = {}
        self.executors = [self._start() for _ in range(jobs)]

    def _start(self) -> Executor:
        executor = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _follow_driver)
        # Ctrl-C goes to every process of a terminal: workers inherit that they ignore it.
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self._pids[executor] = executor.submit(os.getpid)
        finally:
            signal.signal(signal.SIGINT, handler)
        return executor

    def replace(self, executor: Executor) -> Executor:
        """A new process in the place of one that died."""
        self._pids.pop(executor)
        executor.shutdown(wait=False)
        return self._start()

    def check(self) -> None:
        """A process that died is noticed by its task."""

    def close(self) -> None:
        """Kill the processes, which take their subjects with them."""
        for executor, pid in self._pids.items():
            with contextlib.suppress(Exception):  # it may be dead
                psutil.Process(pid.result(WAIT)).kill()
            executor.shutdown(cancel_futures=True)


class DaskPool:
    """The workers of a cluster that exists. They need clonediff, and a Keras to try."""

    def __init__(self, address: str, campaign: str) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise ClusterError("--scheduler needs Dask: pip install 'clonediff[dask]'") from error
        for name in ("distributed", "distributed.client", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client: Any = Client(address, timeout=WAIT, set_as_default=False)
            self._client.wait_for_workers(1, timeout=WAIT)
        except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
            raise ClusterError(f"{address}: no Dask scheduler with a worker answers within {WAIT:g} s") from error
        self._campaign = campaign
        self._seen = time.monotonic()
        self._executor: Executor = self._client.get_executor(pure=False)
        self.executors = [self._executor] * self._threads()

    def _threads(self) -> int:
        return sum(worker["nthreads"] for worker in self._client.scheduler_info(n_workers=-1)["workers"].values())

    def replace(self, executor: Executor) -> Executor:
        """The scheduler finds another worker."""
        return executor

    def check(self) -> None:
        """Raise `ClusterError` if the scheduler is gone, or there was no worker for long."""
        if self._client.status != "running":
            raise ClusterError("the scheduler is gone")
        if self._threads():
            self._seen = time.monotonic()
        elif time.monotonic() - self._seen > WAIT:
            raise ClusterError(f"the cluster has had no worker for {WAIT:g} s")

    def close(self) -> None:
        """Cancel the tasks, and end the subjects: the workers go on without them."""
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self._executor.shutdown(wait=False)
            if self._client.status == "running":
                self._client.run(tasks.close, self._campaign)
            self._client.close(timeout=5)


Pool: TypeAlias = LocalPool | DaskPool
