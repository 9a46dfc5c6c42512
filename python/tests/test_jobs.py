# SPDX-License-Identifier: Apache-2.0
"""Tests batches that overlap: threads, futures, asyncio, processes that fork, the end of the interpreter."""
import asyncio
import concurrent.futures
import os
import subprocess
import sys
import threading
import time

import numpy as np
import polykem
import pytest


def test_futures(ctx):
    jobs = [ctx.submit("keygen", "mlkem512", n) for n in range(1, 20)]
    done, waiting = concurrent.futures.wait(jobs, timeout=60)
    assert not waiting and len(done) == 19
    assert [job.result().pk.shape[0] for job in jobs] == list(range(1, 20))
    pk, sk = jobs[-1].result()
    ct, ss, _ = ctx.submit("encaps", "mlkem512", pk).result(60)
    assert ctx.submit("decaps", "mlkem512", sk, ct).result(60).ss == ss
    assert not jobs[0].cancel() and jobs[0].done() and not jobs[0].cancelled()


def test_callbacks_may_block_and_submit(ctx):
    finished = concurrent.futures.Future()

    def encaps(job):
        time.sleep(0.01)
        ctx.submit("encaps", "mlkem512", job.result().pk).add_done_callback(finished.set_result)

    ctx.submit("keygen", "mlkem512", 3).add_done_callback(encaps)
    assert finished.result(60).result().ct.shape == (3, 768)


def test_errors_of_jobs(ctx):
    pk = np.full((2, 1184), 255, np.uint8)
    job = ctx.submit("encaps", "mlkem768", pk)
    with pytest.raises(polykem.ItemsError):
        job.result(60)
    assert isinstance(job.exception(), polykem.ItemsError) and job.exception().items.tolist() == [0, 1]
    assert ctx.submit("encaps", "mlkem768", pk, errors="return").result(60).status.all()
    with pytest.raises(polykem.SizeError):
        ctx.submit("encaps", "mlkem768", pk[:, :-1].copy())


def test_a_thread_that_cannot_start(ctx, monkeypatch):
    """If no thread can start, the batch is not started, and later ones are completed."""
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(polykem._jobs, "_jobs", polykem._jobs._Jobs())
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError):
            ctx.submit("keygen", "mlkem512", 1)
    assert ctx.submit("keygen", "mlkem512", 2).result(60).pk.shape[0] == 2


def test_asyncio(ctx):
    async def exchange(n):
        pk, sk = await ctx.submit("keygen", "mlkem512", n)
        ct, ss, _ = await ctx.submit("encaps", "mlkem512", pk)
        return (await ctx.submit("decaps", "mlkem512", sk, ct)).ss == ss

    async def main():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        results = await asyncio.gather(*(exchange(n) for n in range(1, 20)))
        await asyncio.wait_for(exchange(5), 60)
        ticking.cancel()
        with pytest.raises(polykem.ItemsError):
            await ctx.submit("encaps", "mlkem768", np.full((1, 1184), 255, np.uint8))
        return results, ticks

    results, ticks = asyncio.run(main())
    assert all(results) and len(results) == 19 and ticks > 0


def test_a_job_keeps_what_it_needs():
    ctx = polykem.Context(threads=2)
    keyset, pk = polykem.KeySet.generate(ctx, "mlkem512", 500)
    job = ctx.submit("encaps", "mlkem512", pk.copy())
    ct, ss, _ = job.result(60)
    again = ctx.submit("decaps", "mlkem512", keyset, ct.copy())
    keyset.close()
    ctx.close()
    del ctx, keyset
    assert again.result(60).ss == ss


def test_a_context_dies_with_its_jobs_just_finished():
    """The library's threads do not need the GIL to end, even if a job has just finished."""
    program = """
import polykem
for _ in range(300):
    ctx = polykem.Context(threads=2)
    job = ctx.submit("keygen", "mlkem512", 10)
    job.result(60)
    ctx.close()
    del ctx, job
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_many_threads_of_one_context(ctx):
    wrong = []

    def work(scheme):
        for n in range(1, 12):
            pk, sk = ctx.keygen(scheme, n)
            ct, ss, _ = ctx.encaps(scheme, pk)
            if not (ctx.decaps(scheme, sk, ct).ss == ss and ctx.submit("decaps", scheme, sk, ct).result(60).ss == ss):
                wrong.append((scheme, n))

    threads = [threading.Thread(target=work, args=(s,)) for s in ("mlkem512", "mlkem768", "ntruhps2048509") * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_blocking_calls_release_the_gil():
    """A Python thread continues during a call, although the switch interval is a minute."""
    ticks, computing = [], threading.Event()

    def tick():
        computing.wait()
        while computing.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=tick)
    with polykem.Context(threads=1) as ctx:
        pk = ctx.keygen("frodokem640shake", 1).pk
        thread.start()
        sys.setswitchinterval(60)
        try:
            computing.set()
            begun = time.perf_counter()
            while (took := time.perf_counter() - begun) < 0.2 or (len(ticks) <= 10 and took < 20):  # on a busy machine
                ctx.encaps("frodokem640shake", pk[0], 200)
        finally:
            sys.setswitchinterval(interval)
            computing.clear()
            thread.join()
    assert len(ticks) > 10, f"{len(ticks)} ticks in {took} s"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_fork():
    """A child uses its parent's context and key sets, with random numbers and jobs of its own."""
    program = """
import os, polykem, sys, warnings
warnings.simplefilter("ignore")
ctx = polykem.Context(threads=2)
keyset, pk = polykem.KeySet.generate(ctx, "mlkem512", 3)
assert ctx.submit("keygen", "mlkem512", 50).result(60)
job = ctx.submit("keygen", "frodokem1344shake", 300)
read, write = os.pipe()
child = os.fork()
if child == 0:
    ct, ss, _ = ctx.encaps("mlkem512", pk)
    assert ctx.decaps("mlkem512", keyset, ct).ss == ss
    made = ctx.submit("keygen", "mlkem512", 1).result(60)
    try:
        job.result(1)
        raise SystemExit("the parent's job has a result")
    except polykem.ArgumentError as error:
        assert "forked" in str(error)
    os.write(write, bytes(made.pk[0, :32]))
    os._exit(0)
mine = bytes(ctx.keygen("mlkem512", 1).pk[0, :32])
theirs = os.read(read, 32)
assert os.waitpid(child, 0)[1] == 0 and len(theirs) == 32 and mine != theirs
assert job.result(60).pk.shape[0] == 300
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_the_interpreter_waits_for_jobs():
    """Jobs that are in flight at the end finish, and their callbacks run."""
    program = """
import polykem
ctx = polykem.Context(threads=2)
ctx.submit("keygen", "frodokem640shake", 400).add_done_callback(lambda job: print(job.result().pk.shape, flush=True))
"""
    result = subprocess.run([sys.executable, "-c", program], check=True, timeout=120, capture_output=True, text=True)
    assert result.stdout == "(400, 9616)\n" and not result.stderr
