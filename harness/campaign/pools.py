"""A campaign's workers: local threads, or the workers of a Dask cluster.

Threads can serve about 15 jobs; for more on one machine, start Dask workers. Only this module imports Dask.
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

TIMEOUT = float(os.environ.get("CLONEDIFF_WAIT", "60"))
"""How many seconds to wait for a scheduler, and for a worker."""


class ClusterError(ConnectionError):
    """The cluster cannot be reached, or has no workers."""


class LocalPool:
    """Local threads, one for each job."""

    def __init__(self, jobs: int, setup: Setup) -> None:
        self.jobs = jobs
        self._setup = setup
        self._executor = ThreadPoolExecutor(jobs)

    def submit(self, work: Callable[..., Result], *arguments: Any) -> Future[Result]:
        return self._executor.submit(work, self._setup, *arguments)

    def check(self) -> None:
        """Do nothing: threads do not die."""

    def close(self) -> None:
        """End the subjects, so that threads stop waiting for them."""
        tasks.close_campaign(self._setup.campaign)
        self._executor.shutdown(cancel_futures=True)


class DaskPool:
    """The workers of a running cluster, with clonediff and its subjects installed."""

    def __init__(self, address: str, setup: Setup) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise ClusterError("--scheduler needs Dask: pip install 'clonediff[dask]'") from error
        for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client: Any = Client(address, timeout=TIMEOUT, set_as_default=False)
            self._client.wait_for_workers(1, timeout=TIMEOUT)
        except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
            raise ClusterError(
                f"{address}: no Dask scheduler with a worker answers within {TIMEOUT:g} s: start both"
            ) from error
        self._campaign = setup.campaign
        # The setup is a task: each worker fetches it only once.
        self._setup = self._client.submit(copy.copy, setup, pure=False)
        self._executor = self._client.get_executor(pure=False)
        self._last_seen = time.monotonic()
        self.jobs = self._count_threads()

    def submit(self, work: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Run a function on a worker; if it dies, the scheduler chooses another."""
        future: Future[Result] = self._executor.submit(work, self._setup, *arguments)
        return future

    def _count_threads(self) -> int:
        return sum(worker["nthreads"] for worker in self._client.scheduler_info(n_workers=-1)["workers"].values())

    def check(self) -> None:
        """Raise `ClusterError` if the scheduler or all workers are gone."""
        if self._client.status != "running":
            raise ClusterError("the scheduler is gone: restart it, and run again")
        if self._count_threads():
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > TIMEOUT:
            raise ClusterError(f"the cluster has had no worker for {TIMEOUT:g} s: start workers")

    def close(self) -> None:
        """Cancel the tasks and end the subjects. The workers keep running."""
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self._executor.shutdown(wait=False)
            if self._client.status == "running":
                self._client.run(tasks.close_campaign, self._campaign)
            self._client.close(timeout=5)


Pool: TypeAlias = LocalPool | DaskPool
