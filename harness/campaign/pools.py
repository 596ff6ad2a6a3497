"""The workers of a campaign: threads here, or the workers of a Dask cluster.

A worker takes 6% of the CPU that its subject takes, so threads serve some 15 jobs; for more on one machine, start
workers of Dask there. Only this module imports Dask, and only for a cluster.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

from clonediff.harness.campaign import tasks
from clonediff.harness.campaign.shards import Result, Setup

WAIT = float(os.environ.get("CLONEDIFF_WAIT", "60"))
"""The seconds to wait for a scheduler, and for a worker of it."""


class ClusterError(ConnectionError):
    """A cluster that cannot be reached, or has no workers; the message says which and what to do."""


class LocalPool:
    """Threads, one for each job."""

    def __init__(self, jobs: int, setup: Setup) -> None:
        self.jobs = jobs
        self._setup = setup
        self._executor = ThreadPoolExecutor(jobs)

    def submit(self, work: Callable[..., Result], *arguments: Any) -> Future[Result]:
        return self._executor.submit(work, self._setup, *arguments)

    def check(self) -> None:
        """Threads do not die."""

    def close(self) -> None:
        """End the subjects, and with them whatever the threads wait for."""
        tasks.close(self._setup.campaign)
        self._executor.shutdown(cancel_futures=True)


class DaskPool:
    """The workers of a cluster that exists. They need clonediff, and a Keras to try."""

    def __init__(self, address: str, setup: Setup) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise ClusterError("--scheduler needs Dask: pip install 'clonediff[dask]'") from error
        for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client: Any = Client(address, timeout=WAIT, set_as_default=False)
            self._client.wait_for_workers(1, timeout=WAIT)
        except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
            raise ClusterError(f"{address}: no Dask scheduler with a worker answers within {WAIT:g} s") from error
        self._campaign = setup.campaign
        # A task of its own: known issues are half a megabyte, and a worker that joins late gets them too.
        self._setup = self._client.submit(copy.copy, setup, pure=False)
        self._executor = self._client.get_executor(pure=False)
        self._seen = time.monotonic()
        self.jobs = self._threads()

    def submit(self, work: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Have a worker do something; if that dies, the scheduler finds another."""
        future: Future[Result] = self._executor.submit(work, self._setup, *arguments)
        return future

    def _threads(self) -> int:
        return sum(worker["nthreads"] for worker in self._client.scheduler_info(n_workers=-1)["workers"].values())

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
