#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much faster several GPUs are than one, with workers of polykem.bulk, a process for each, without Ray.

    PYTHONPATH=build/python python3 bench/bulk/multi_gpu.py --gpus 1,2 --json bench/results/h200x2_bulk.json

Inputs and outputs are in pinned memory (CuPy), and two threads of each process keep a batch waiting. No disk is used:
this is the bound of a job that its disks do not slow down. `--backend avx512` measures processes on CPUs in the same
way. Each set is checked first: both sides must have the same secrets. POLYKEM_COMMIT names the commit that was built.
"""

import argparse
import json
import multiprocessing
import os
import platform
import threading
import time
from types import SimpleNamespace

DEFAULT = {"frodokem640aes": 16_384, "frodokem976aes": 16_384, "frodokem976shake": 8_192, "ntruhps4096821": 100_000,
           "ntruhrss701": 100_000, "mlkem768": 200_000}
OPERATIONS = ("keygen", "encaps", "decaps")


def copy_of(memory, role, array):
    copy = memory.take(role, array.shape)
    copy[:] = array
    return copy


def prepare(scheme, rows, options):
    """Returns a Computer for each operation, with its inputs in the workers' memory."""
    import numpy as np
    from polykem.bulk.kem import Computer
    from polykem.bulk.memory import Ordinary, Pinned
    kind = Ordinary if options.memory == "ordinary" else Pinned
    memory, memory_of_inputs = kind(), kind()
    inputs, computers = {"keygen": {}}, {}
    for operation in OPERATIONS:
        job = SimpleNamespace(operation=operation, scheme=scheme, writes=[])
        computers[operation] = Computer(job, options.threads, options.backend, memory)
    pairs = computers["keygen"].run(rows, {}, None)
    sent = computers["encaps"].run(rows, {"pk": pairs["pk"]}, None)
    inputs["encaps"] = {"pk": copy_of(memory_of_inputs, "pk", pairs["pk"])}
    inputs["decaps"] = {"sk": copy_of(memory_of_inputs, "sk", pairs["sk"]),
                        "ct": copy_of(memory_of_inputs, "ct", sent["ct"])}
    got = computers["decaps"].run(rows, inputs["decaps"], None)
    assert np.array_equal(got["ss"], sent["ss"]), "encaps and decaps do not agree"
    for results in (pairs, sent, got):
        memory.give_back(results)
    return memory, computers, inputs


def measure(computer, inputs, rows, memory, seconds):
    """Returns (batches, seconds) of two threads that compute for some seconds."""
    counts, stop = [0, 0], [0.0]

    def loop(number):
        while time.monotonic() < stop[0]:
            results = computer.run(rows, inputs, None)
            status = results.get("status")
            assert status is None or not status.any(), "a row failed"
            memory.give_back(results)
            counts[number] += 1

    stop[0] = time.monotonic() + seconds
    begun = time.monotonic()
    threads = [threading.Thread(target=loop, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts), time.monotonic() - begun


def worker(device, cases, options, barrier, results):
    """Measures the cases on one GPU, in a process of its own."""
    if options.backend == "cuda":
        os.environ["CUDA_VISIBLE_DEVICES"] = str(device)
    for scheme, rows in cases:
        memory, computers, inputs = prepare(scheme, rows, options)
        for operation in options.operations:
            measure(computers[operation], inputs[operation], rows, memory, min(1.0, options.seconds))
            barrier.wait()
            batches, took = measure(computers[operation], inputs[operation], rows, memory, options.seconds)
            results.put((scheme, operation, device, batches * rows / took))
            barrier.wait()
    results.put(None)


def rates(gpus, cases, options):
    """Returns (scheme, operation) -> rows per second of each GPU while all compute."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(gpus), context.Queue()
    workers = [context.Process(target=worker, args=(device, cases, options, barrier, results))
               for device in range(gpus)]
    for process in workers:
        process.start()
    found, ended = {}, 0
    while ended < gpus:
        try:
            row = results.get(timeout=5)
        except Exception:
            if any(process.exitcode for process in workers):
                barrier.abort()
                raise SystemExit("a worker failed") from None
            continue
        if row is None:
            ended += 1
        else:
            found.setdefault(row[:2], {})[row[2]] = row[3]
    for process in workers:
        process.join()
    return found


def devices(backend):
    if backend != "cuda":
        return [platform.processor() or platform.machine()]
    import cupy
    runtime = cupy.cuda.runtime
    return [runtime.getDeviceProperties(i)["name"].decode() for i in range(runtime.getDeviceCount())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpus", default="1,2", help="numbers of GPUs, separated by commas (%(default)s)")
    parser.add_argument("--schemes", default=",".join(DEFAULT))
    parser.add_argument("--operations", default=",".join(OPERATIONS))
    parser.add_argument("--rows", type=int, help="rows of a batch")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement (%(default)s)")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--memory", choices=["pinned", "ordinary"], default="pinned")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads of a worker (%(default)s)")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    options.operations = options.operations.split(",")
    cases = [(scheme, options.rows or DEFAULT.get(scheme, 50_000)) for scheme in options.schemes.split(",")]
    counts = [int(count) for count in options.gpus.split(",")]
    found = {count: rates(count, cases, options) for count in counts}
    records = []
    print(f"{'set':18} {'operation':9}" + "".join(f"{str(count) + ' GPU':>14}{'gain':>7}" for count in counts))
    for scheme, rows in cases:
        for operation in options.operations:
            sums = [sum(found[count][scheme, operation].values()) for count in counts]
            records.append({"scheme": scheme, "operation": operation, "batch_rows": rows, "rates": [
                {"gpus": count, "rows_per_second": round(total), "gain": round(total / sums[0], 3),
                 "each": [round(rate) for _, rate in sorted(found[count][scheme, operation].items())]}
                for count, total in zip(counts, sums)]})
            print(f"{scheme:18} {operation:9}" + "".join(f"{total:14,.0f}{total / sums[0]:6.2f}x" for total in sums))
    if options.json:
        import polykem
        with open(options.json, "w") as file:
            json.dump({"schema": "polykem-bulk-gpus-1", "version": polykem.__version__,
                       "commit": os.environ.get("POLYKEM_COMMIT"), "cpu_threads": os.cpu_count(),
                       "devices": devices(options.backend), "backend": options.backend,
                       "memory": options.memory, "seconds": options.seconds,
                       "cases": records}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
