# SPDX-License-Identifier: Apache-2.0
"""Tests processes that start others, tasks that are cancelled, and contexts that are closed meanwhile."""
import asyncio
import multiprocessing
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import polykem
import pytest

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks")


def round_trip(ctx=None):
    with ctx or polykem.Context(threads=2) as context:
        pk, sk = context.keygen("mlkem512", 5)
        ct, ss, _ = context.encaps("mlkem512", pk)
        return context.decaps("mlkem512", sk, ct).ss == ss


def fails():
    return polykem.Context(threads=1).encaps("mlkem768", np.full((2, 1184), 255, np.uint8))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_context_in_each_process(ctx, method):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        assert pool.submit(round_trip).result(60)
        with pytest.raises(polykem.ItemsError, match="2 of 2") as caught:
            pool.submit(fails).result(60)
        assert caught.value.items.tolist() == [0, 1] and caught.value.result is None
        with pytest.raises(TypeError, match="make one in each process"):
            pool.submit(round_trip, ctx).result(60)


@LINUX
def test_fork_beside_threads_that_compute(ctx):
    """A child can use its parent's context, in which batches were running."""
    pk, stop = ctx.keygen("mlkem512", 2000).pk, threading.Event()

    def work():
        while not stop.is_set():
            ctx.encaps("mlkem512", pk)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            child = multiprocessing.get_context("fork").Process(target=child_of_fork, args=(ctx,))
            child.start()
            child.join(60)
            assert child.exitcode == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def child_of_fork(ctx):
    assert round_trip(ctx)


def test_cancelled_tasks(ctx):
    """A job continues when the task that waits for it is cancelled, and nothing is reported to the loop."""
    async def main():
        reported = []
        asyncio.get_running_loop().set_exception_handler(lambda _, what: reported.append(what))
        for i in range(3):
            job = ctx.submit("keygen", "frodokem640shake", 20)

            async def wait(job=job):
                return await job

            task = asyncio.create_task(wait())
            await asyncio.sleep(0.001 * i)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            slow = ctx.submit("keygen", "frodokem640shake", 400)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(slow, 0.001)
            assert (await job).pk.shape[0] == 20 and not job.cancel() and not job.cancelled()
        return reported, [ctx.submit("keygen", "frodokem640shake", 50) for _ in range(3)]

    reported, left = asyncio.run(main())
    assert not reported and [job.result(60).pk.shape[0] for job in left] == [50] * 3


def test_cancelled_futures_of_a_pool(ctx):
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(ctx.keygen, "mlkem512", 100) for _ in range(60)]
        cancelled = [future.cancel() for future in futures[30:]]
    assert all(future.result().pk.any(1).all() for future, gone in zip(futures, [False] * 30 + cancelled) if not gone)


def test_a_context_that_another_thread_closes():
    ctx = polykem.Context(threads=2)
    threading.Thread(target=lambda: (time.sleep(0.05), ctx.close())).start()
    deadline = time.monotonic() + 60
    with pytest.raises(polykem.ArgumentError, match="closed"):
        while time.monotonic() < deadline:
            ctx.keygen("mlkem512", 500)
