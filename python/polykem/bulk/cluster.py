# SPDX-License-Identifier: Apache-2.0
"""Runs workers as Ray actors: one for each GPU, or one for each host of a cluster that has none.

Ray places the actors and tells when one has died. Rows never pass through Ray: an actor reads, computes and commits on
its own, and only partition numbers and receipts travel (docs/adr/0013-bulk-jobs.md).
"""

from __future__ import annotations

import collections
import contextlib
import functools
import importlib
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import ray
import ray._private.ray_constants
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import polykem

from ..report.streams import StandardError
from .driver import IN_FLIGHT, Compute, Unlock
from .errors import DEFECT, RESOURCES, USAGE, BulkError
from .head import PROBE_SECONDS, Head
from .progress import Reporter
from .worker import Worker

if TYPE_CHECKING:
    from .job import Job

ATTEMPTS = 5  # to compute a partition before it is blamed for the deaths of workers
DEATHS = 5  # consecutive deaths of workers that were never ready
LOOK_SECONDS = 2  # between two queries of the cluster's nodes
PATIENCE_SECONDS = 120  # without any worker

WorkerId = tuple[str, int]  # a node, and the number of a worker there


class WorkerHandle:
    """An actor and its partitions."""

    def __init__(self, node: str, worker_id: WorkerId, actor: Any, unlock: Unlock) -> None:
        self.node, self.worker_id, self.actor = node, worker_id, actor
        self.ready = False
        self.tasks: dict[Any, int | None] = {actor.unlock.remote(*unlock): None}


class WorkerPool:
    """All workers of a job, as many as the cluster has room for.

    Parameters
    ----------
    folder : str
    unlock : tuple
        Arguments of `Worker.unlock`.
    backend : str or None
    cpus : int
        CPUs of each worker; 0: all of its host.
    gpus : bool
        A worker for each GPU where a host has any.
    head : Head
    """

    def __init__(self, folder: str, unlock: Unlock, backend: str | None, cpus: int, gpus: bool, head: Head) -> None:
        self.head = head
        self.folder, self.unlock, self.backend, self.cpus, self.gpus = folder, unlock, backend, cpus, gpus
        self.workers: dict[WorkerId, WorkerHandle] = {}
        self.looked = 0.0
        self.deaths = 0  # since a worker was last ready

    def possible(self) -> Iterator[tuple[WorkerId, dict[str, int]]]:
        """Yields the id of each worker that the cluster has room for, and the resources that it takes."""
        for node in ray.nodes():
            if not node["Alive"]:
                continue
            resources, name = node["Resources"], node["NodeID"]
            gpus = int(resources.get("GPU", 0)) if self.gpus else 0
            have = int(resources.get("CPU", 0))
            cpus = min(self.cpus or max(1, have // max(1, gpus)), have)
            for number in range(gpus or (1 if have else 0)):
                yield (name, number), {"num_cpus": cpus, "num_gpus": 1 if gpus else 0}

    def start(self) -> None:
        """Starts the missing workers; queries the nodes only every few seconds."""
        if time.monotonic() - self.looked < LOOK_SECONDS:
            return
        self.looked = time.monotonic()
        for worker_id, share in self.head.ask(lambda: list(self.possible())):
            if worker_id not in self.workers:
                self.workers[worker_id] = self.head.ask(functools.partial(self._start, worker_id, share))

    def _start(self, worker_id: WorkerId, share: dict[str, int]) -> WorkerHandle:
        stay = NodeAffinitySchedulingStrategy(worker_id[0], soft=False)
        remote = ray.remote(Worker).options(max_restarts=0, max_concurrency=IN_FLIGHT, scheduling_strategy=stay,
                                            **share)
        actor = remote.remote(self.folder, share["num_cpus"], self.backend)
        return WorkerHandle(worker_id[0], worker_id, actor, self.unlock)

    def forget(self, worker: WorkerHandle, error: BaseException) -> list[int]:
        """Removes a dead worker. Returns its partitions."""
        self.workers.pop(worker.worker_id)
        self.deaths += 1
        if self.deaths >= DEATHS and not any(other.ready for other in self.workers.values()):
            raise BulkError(f"the last {DEATHS} workers died before they had begun", RESOURCES, str(error))
        return [partition for partition in worker.tasks.values() if partition is not None]

    def stop(self) -> None:
        for worker in self.workers.values():
            ray.kill(worker.actor)


def compute_on(pool: WorkerPool, job: Job, partitions: list[int], reporter: Reporter) -> None:
    """Lets a pool's workers compute partitions until all are committed."""
    todo = collections.deque(partitions)
    attempts: collections.Counter[int] = collections.Counter()
    alone_since = time.monotonic()
    while todo or any(partition is not None for worker in pool.workers.values() for partition in worker.tasks.values()):
        pool.head.check()
        pool.start()
        give_work(pool, todo, attempts)
        reporter.workers = sum(worker.ready for worker in pool.workers.values())
        if reporter.workers:
            alone_since = time.monotonic()
        elif time.monotonic() - alone_since > PATIENCE_SECONDS:
            raise BulkError(f"no worker could be started for {PATIENCE_SECONDS} seconds", RESOURCES,
                            "'ray status' shows whether the cluster's CPUs or GPUs are taken")
        waiting = {task: worker for worker in pool.workers.values() for task in worker.tasks}
        if not waiting:
            time.sleep(0.2)
            continue
        for task in ray.wait(list(waiting), timeout=1)[0]:
            settle(pool, waiting[task], task, todo, reporter)
        reporter.tell()


def give_work(pool: WorkerPool, todo: collections.deque[int], attempts: collections.Counter[int]) -> None:
    """Gives partitions to every worker that is ready."""
    for worker in pool.workers.values():
        while worker.ready and todo and len(worker.tasks) < IN_FLIGHT:
            partition = todo.popleft()
            attempts[partition] += 1
            if attempts[partition] > ATTEMPTS:
                raise BulkError(f"partition {partition} was given to {ATTEMPTS} workers, and each died", RESOURCES,
                                "a host may lack memory for it: begin a job with a smaller --partition-mb")
            worker.tasks[worker.actor.compute.remote(partition)] = partition


def settle(pool: WorkerPool, worker: WorkerHandle, task: Any, todo: collections.deque[int], reporter: Reporter) -> None:
    """Handles the result of a task, or the death of its worker."""
    try:
        result = ray.get(task)
    except RayTaskError as error:
        raise error.cause if isinstance(error.cause, BulkError) else BulkError(
            f"a worker failed: {error.cause!r}", DEFECT, str(error)) from None
    except RayActorError as error:
        if pool.workers.get(worker.worker_id) is worker:
            lost = pool.forget(worker, error)
            todo.extendleft(reversed(lost))
            reporter.retries += len(lost)
            reporter.say(f"a worker on node {worker.node[:8]} has died; {len(lost)} partitions go to another")
        return
    partition = worker.tasks.pop(task)
    if partition is None:
        worker.ready, pool.deaths = True, 0
        reporter.start()
    else:
        reporter.committed(result)


def unreachable(address: str, why: object) -> BulkError:
    return BulkError(f"no Ray cluster answers at {address}: {why}", RESOURCES,
                     "start one with 'ray start --head', or give --ray local or --ray none")


def probe(address: str) -> None:
    """Checks that something listens at the address, because Ray would wait for minutes."""
    if not address:
        raise BulkError("--ray needs an address, local, auto or none", USAGE)
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), PROBE_SECONDS).close()
    except OSError as error:
        raise unreachable(address, error.strerror or error) from None


OWN_ENVIRONMENT = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER")


def _reread_environment() -> None:
    """Makes Ray reread whether a token is needed, and which; it caches both."""
    raylet: Any = importlib.import_module("ray._raylet")
    raylet.Config.initialize("")  # first, because a running thread may still use the old token
    raylet.AuthenticationTokenLoader.instance().reset_cache()


@contextlib.contextmanager
def own_cluster(**options: Any) -> Iterator[None]:
    """Runs a cluster for this host alone during the block.

    Whoever reaches a Ray cluster may run programs on it. This one listens on the loopback interface only, and answers
    only those who have its token, which this process makes and its children inherit; other users of the host do not
    have it. `options` go to `ray.init`.
    """
    if ray.is_initialized():
        raise BulkError("Ray runs in this process already", RESOURCES, "end it, or name that cluster's address")
    constants = ray._private.ray_constants
    kept, reachable = {name: os.environ.get(name) for name in OWN_ENVIRONMENT}, constants.ENABLE_RAY_CLUSTER
    os.environ.pop("RAY_AUTH_TOKEN_PATH", None)
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32),
                      RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")  # keeps Ray on the loopback interface, on Linux too
    constants.ENABLE_RAY_CLUSTER = False
    try:
        _reread_environment()
        try:
            ray.init(address="local", include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False,
                     logging_level="ERROR", **options)
        except Exception as error:  # Ray has no class of its own for it
            raise BulkError(f"Ray did not start on this host: {error}".rstrip(". "), RESOURCES,
                            "run the job again with --resume when the host is less busy") from error
        yield
    finally:
        ray.shutdown()
        constants.ENABLE_RAY_CLUSTER = reachable
        for name, value in kept.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        _reread_environment()


class ClusterConnection:
    """Joins a cluster, or starts one on this host.

    Parameters
    ----------
    address : str
        "local": start one here. "auto": the one that the process has joined, or that RAY_ADDRESS or this host has. Else
        its address. A process that has joined a cluster computes on no other.
    """

    def __init__(self, address: str) -> None:
        self.address = address

    def __enter__(self) -> ClusterConnection:
        probe(self.address)
        handler = signal.getsignal(signal.SIGTERM)  # Ray would replace it by its own, which prints nothing
        with contextlib.ExitStack() as opened:
            opened.enter_context(contextlib.redirect_stdout(StandardError()))  # Ray prints messages about dead workers
            try:
                self._open(opened)
            except (ConnectionError, RayError, GetTimeoutError, ValueError, RuntimeError) as error:
                raise unreachable(self.address, str(error).splitlines()[0]) from None
            finally:
                if threading.current_thread() is threading.main_thread():
                    signal.signal(signal.SIGTERM, handler or signal.SIG_DFL)
            self.opened = opened.pop_all()
        return self

    def _open(self, opened: contextlib.ExitStack) -> None:
        if ray.is_initialized():  # the caller's, who ends it
            joined = ray.get_runtime_context().gcs_address
            if self.address not in ("auto", joined):
                raise BulkError(f"this process has joined the Ray cluster at {joined}, and the job is to run on "
                                f"'{self.address}'", USAGE, f"name 'auto' or {joined}, or end it: ray.shutdown()")
            return
        if self.address == "local":
            with polykem.Context() as allowed:  # Ray would count the host's CPUs
                opened.enter_context(own_cluster(num_cpus=allowed.threads))
            return
        ray.init(address=self.address, log_to_driver=False, logging_level="ERROR")
        opened.callback(ray.shutdown)

    def __exit__(self, *error: Any) -> None:
        self.opened.__exit__(*error)


def compute_with_ray(address: str = "local", backend: str | None = None, cpus: int = 0, gpus: bool = True) -> Compute:
    """Returns a `compute` for `driver.run` that uses Ray actors.

    Parameters
    ----------
    address : str
        See `ClusterConnection`.
    backend : str or None
    cpus : int
        CPUs of each worker; 0: all of its host.
    gpus : bool
    """
    def compute(folder: str, job: Job, partitions: list[int], unlock: Unlock, reporter: Reporter) -> None:
        with ClusterConnection(address):
            with Head(ray.get_runtime_context().gcs_address) as head:
                pool = WorkerPool(folder, unlock, backend, cpus, gpus, head)
                try:
                    compute_on(pool, job, partitions, reporter)
                finally:
                    pool.stop()
    return compute
