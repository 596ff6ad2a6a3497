"""The workers of a campaign: a local cluster on the loopback, or one that exists and is reached by its address.

Only this module and the engine import Dask, so that nothing but a campaign waits for it.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import dask
import psutil  # type: ignore[import-untyped]  # it comes without types
from distributed import Client, LocalCluster, Worker, WorkerPlugin
from distributed.comm.core import connect

from clonediff.harness.campaign import warm_subjects
from clonediff.harness.campaign.shards import Setup

LOOPBACK = "127.0.0.1"
WAIT = float(os.environ.get("CLONEDIFF_WAIT", "60"))
"""The seconds to wait for a scheduler, and for its first worker."""
STARTS = 8
"""How often it is tried to start the local workers."""
EACH = 3 << 29
"""The memory that a job takes, about: a subject, what runs its scripts, and its worker."""


class ClusterError(ConnectionError):
    """A cluster that cannot be reached, or has no workers; the message says which and what to do."""


def jobs_here() -> int:
    """The number of jobs that this machine has cores and memory for."""
    cores = len(os.sched_getaffinity(0))
    return max(1, min(cores, int(psutil.virtual_memory().available // EACH)))


@contextmanager
def local(jobs: int, setup: Setup) -> Iterator[Client]:
    """A cluster of this machine's own: a process for each job, that only this machine can reach."""
    settings: dict[str, Any] = {
        # A worker that is killed is nobody's fault; the engine itself gives up on a shard that always does it.
        "distributed.scheduler.allowed-failures": 10,
        # It is started again, however long that takes on a busy machine.
        "distributed.deploy.lost-worker-timeout": "1h",
        "distributed.scheduler.worker-saturation": 1.0,
        "distributed.admin.low-level-log-length": 100,  # which would fill for half an hour
        "distributed.comm.timeouts.connect": "60s",
        "distributed.worker.profile.enabled": False,
        # What it does for its own sake, of which every worker and the driver would have some per cent of a core.
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.tick.limit": "1h",
        "distributed.admin.system-monitor.interval": "30s",
        "distributed.scheduler.active-memory-manager.start": False,
        "distributed.scheduler.work-stealing": False,  # no worker has more than one task
        "distributed.worker.preload": ["clonediff.harness.campaign.cluster"],
    }
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="clonediff-", ignore_cleanup_errors=True))
        stack.enter_context(dask.config.set({**settings, "temporary-directory": scratch}))
        _quiet()
        cluster = stack.enter_context(_started(jobs))
        client = stack.enter_context(Client(cluster, set_as_default=False))
        stack.enter_context(_plugged(client, setup))
        yield client


def _started(jobs: int) -> LocalCluster:
    for attempt in range(STARTS):
        try:
            return LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                processes=True,
                host=LOOPBACK,
                dashboard_address=f"{LOOPBACK}:0",
                memory_limit=0,  # a subject has its own limit, and is not the worker
                silence_logs=logging.CRITICAL,
            )
        except (RuntimeError, OSError, TimeoutError) as error:
            # A worker that is ended while it starts takes the start of all of them with it.
            if attempt + 1 == STARTS:
                raise ClusterError(f"{jobs} local workers cannot be started: {error}") from error
    raise AssertionError("it was started, or was not")


@contextmanager
def remote(address: str, setup: Setup) -> Iterator[Client]:
    """A cluster that exists. Its workers need clonediff, and a Keras to try."""
    _quiet()
    try:
        # A client that cannot connect leaves a traceback behind when it is collected: better none is made.
        asyncio.run(_reach(address))
        client = Client(address, timeout=WAIT, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
        raise ClusterError(f"{address}: no Dask scheduler answers there within {WAIT:g} s ({error})") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=WAIT)
        except TimeoutError as error:
            raise ClusterError(
                f"{address}: the scheduler has no workers: start one with `dask worker {address}`"
            ) from error
        with _plugged(client, setup):
            yield client


async def _reach(address: str) -> None:
    comm = await connect(address, timeout=WAIT)
    await comm.close()


def threads(client: Client) -> int:
    """How many shards the workers can try at once."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return sum(worker["nthreads"] for worker in workers)


class _Ours(WorkerPlugin):
    """What each worker does before and after a campaign, also one that joins later."""

    def __init__(self, setup: Setup) -> None:
        self.name = f"clonediff-{setup.campaign}"
        self._setup = setup

    def setup(self, worker: Worker) -> None:
        warm_subjects.prepare(self._setup)
        gc.collect()
        gc.freeze()  # what is imported by now stays, and need not be looked at again
        # Hypothesis looks whether the global generator was used while it draws: it was, by a thread of Dask's.
        warnings.filterwarnings("ignore", message="Do not use the `random` module inside strategies")

    def teardown(self, worker: Worker) -> None:
        warm_subjects.close(self._setup.campaign)


@contextmanager
def _plugged(client: Client, setup: Setup) -> Iterator[None]:
    plugin = _Ours(setup)
    try:
        client.register_plugin(plugin)
    except Exception as error:  # whatever a worker raises comes back as it is
        raise ClusterError(
            f"the workers cannot be prepared ({type(error).__name__}: {error}): install the same clonediff on each"
        ) from error
    try:
        yield
    finally:
        with suppress(OSError, TimeoutError):  # the scheduler may be gone
            client.unregister_worker_plugin(plugin.name)


def _quiet() -> None:
    """Silence Dask: the engine tells of workers that come and go in its own words."""
    for name in ("distributed", "distributed.client", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def dask_setup(worker: Worker) -> None:
    """Ignore Ctrl-C in a local worker: it goes to every process of a terminal, and the engine handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _quiet()
