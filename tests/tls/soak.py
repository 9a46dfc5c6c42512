#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HAProxy with polykem's provider under lasting load and under faults. Nothing may hang, crash or go wrong, and memory
must not grow.

    soak.py [--seconds 20] [--only SCENARIO...] [--group X25519MLKEM768] [--json FILE]

Every scenario gets its share of the time. Ends with 1 if one of them failed.

    waiting   80 % of the load that the server bears; one client in five resets the connection within 3 ms
    pausing   the same in asynchronous mode, with a simulated device that takes 3 ms for a batch, so that every
              handshake pauses. HAProxy loses memory with each connection that is reset then (its issue 3453): growth
              is bounded for each of them, and the provider bounds their number
    baseline  the same as `waiting` without polykem, X25519: how memory looks when all is well
    files     too few file descriptors for an eventfd of each handshake
    reload    `haproxy -W` reloads again and again: workers start, and old ones end
    device    a simulated device that takes 1 ms for a batch works, stalls, works and fails, in rounds of 12 s, at least
              one. It must have most of the operations while it works, and be given up when it does not
    broker    polykemd, which has such a device, is killed ten times and started again; left out where it was not built
    forks     nginx, whose workers are forked from a process that has loaded the provider
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

import openssl
from cases import load
from servers import HAProxy, Nginx

DAEMON = os.environ.get("POLYKEM_DAEMON", openssl.BUILD / "bin/polykemd")
CONNECTIONS = 64
RESETS = 0.2
# Growth that is not a leak: fragmentation. Caches and pools are full before growth is measured.
SLACK_BYTES = 8 << 20
# The most connections at once in `waiting` and `pausing`; the server keeps the memory of that many.
CROWD = 512
PHASE_SECONDS = 3
# What HAProxy 2.6 loses with a connection that is reset while paused: the fibre with what it had allocated, among it
# the client's key share and the server's, where they are large.
HAPROXY_LEAK_BYTES = 24 << 10
LARGE_SHARES_BYTES = {"frodo976aes": 15632 + 15744}
# The number that the provider allows, and the connections that pause when it counts the last one.
MAX_LEAKS = 1000 + CROWD


class Watch:
    """Samples a server's memory in a thread beside the load."""

    def __init__(self, server, seconds=0.25):
        self._server, self._seconds, self._end = server, seconds, threading.Event()
        self.samples = []
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _run(self):
        while not self._end.wait(self._seconds):
            try:
                self.samples.append(self._server.memory())
            except (OSError, ProcessLookupError):
                pass  # a worker that ended just now

    def growth(self):
        """Returns the growth in bytes from the maximum of the second quarter of the time to that of the last quarter,
        so that a late leak is seen too."""
        quarter = len(self.samples) // 4
        return max(self.samples[-quarter:]) - max(self.samples[quarter:2 * quarter]) if quarter > 0 else 0


def check(report, condition, what):
    if not condition:
        report.setdefault("wrong", []).append(what)


def bearable(server, group, seconds):
    """Returns 80 % of the handshakes per second that the server and its clients achieve on this machine."""
    return 0.8 * load(server, group, connections=CONNECTIONS, seconds=seconds)["per_second"]


def lasting(group, seconds, provider, asynchronous, **settings):
    with HAProxy(group, provider, asynchronous=asynchronous, workers=2, **settings) as server:
        rate = bearable(server, group, min(2, seconds / 4))
        # A machine that stalls makes a crowd of the clients that come meanwhile; its memory is there from the start.
        load(server, group, connections=CROWD, seconds=min(5, seconds / 4))
        with Watch(server) as watch:
            report = load(server, group, connections=CROWD, seconds=seconds, rate=rate, resets=RESETS)
        after = load(server, group, connections=CONNECTIONS, seconds=0.5)
        report.update(rate=rate, growth_bytes=watch.growth(), memory_bytes=watch.samples, runs=server.runs())
        check(report, report["failed"] + after["failed"] == 0, "handshakes failed")
        check(report, report["resets"] > 0, "nothing was reset")
        check(report, report["runs"], "the server ended")
        return report


def waiting(group, seconds):
    report = lasting(group, seconds, "polykem", asynchronous=False)
    check(report, report["growth_bytes"] < SLACK_BYTES, "memory grows")
    return report


def baseline(_, seconds):
    return lasting("X25519", seconds, "none", asynchronous=True)


def pausing(group, seconds):
    report = lasting(group, seconds, "polykem", asynchronous=True, backend="cuda", deadline_us=500000,
                     variables=openssl.simulated_device(3000))
    resets = report["resets"] / 2  # growth is that of half the time
    report["growth_bytes_per_reset"] = report["growth_bytes"] / max(1, resets)
    leak = HAPROXY_LEAK_BYTES + LARGE_SHARES_BYTES.get(group, 0)
    check(report, report["growth_bytes"] < SLACK_BYTES + leak * min(resets, MAX_LEAKS),
          "memory grows by more than HAProxy's own leak")
    return report


def files(group, seconds):
    """Lets HAProxy run out of descriptors: it counts two for each connection and none for the provider's, and every
    handshake would pause."""
    options = {"asynchronous": True, "workers": 2, "connections": 40, "headroom": 1, "backend": "cuda",
               "deadline_us": 500000, "variables": openssl.simulated_device(20000)}
    with HAProxy(group, **options) as server:
        limit = int(re.search(r"Maxsock: (\d+)", server.ask("show info")).group(1))
    with HAProxy(group, wrapper=("prlimit", f"--nofile={limit}"), **options) as server:
        report = load(server, group, connections=256, seconds=seconds)
        after = load(server, group, connections=4, seconds=0.5)
        check(report, report["handshakes"] > 0, "no handshake succeeded")
        check(report, after["failed"] == 0, "handshakes fail when the load is gone")
        check(report, server.runs(), "the server ended")
        return report


def reload(group, seconds):
    with HAProxy(group, asynchronous=True, workers=2, master=True) as server:
        done = threading.Event()
        reloads = threading.Thread(target=reload_until, args=(server, done, min(1.5, seconds / 3)))
        reloads.start()
        try:
            report = load(server, group, connections=CONNECTIONS, seconds=seconds, expect_failures=True)
        finally:
            done.set()
            reloads.join()
        time.sleep(1)
        after = load(server, group, connections=CONNECTIONS, seconds=0.5)
        report["workers"] = len(server.processes()) - 1
        # A connection that the old worker has not accepted yet is lost with its socket.
        check(report, report["failed"] <= 0.01 * report["handshakes"] + CONNECTIONS, "too many handshakes failed")
        check(report, "no answer in time" not in report.get("errors", {}), "handshakes hang")
        check(report, after["failed"] == 0, "handshakes fail after the last reload")
        return report


def reload_until(server, done, interval):
    while not done.wait(interval):
        server.reload()


def device(group, seconds):
    rounds = max(1, round(seconds / (4 * PHASE_SECONDS)))
    phases = []
    with tempfile.TemporaryDirectory() as folder:
        fault = pathlib.Path(folder) / "fault"
        fault.write_text("none")
        with HAProxy(group, asynchronous=True, workers=2, backend="cuda", deadline_us=50000,
                     variables=openssl.simulated_device(fault=fault)) as server:
            warm = load(server, group, connections=CONNECTIONS, seconds=2)
            faults = threading.Thread(target=cause_faults, args=(server, fault, rounds, phases))
            faults.start()
            try:
                report = load(server, group, connections=CONNECTIONS, seconds=4 * PHASE_SECONDS * rounds)
            finally:
                faults.join()
            after = load(server, group, connections=CONNECTIONS, seconds=1)
        report["phases"] = phases
    check(report, warm["failed"] + report["failed"] + after["failed"] == 0, "handshakes failed")
    check(report, phases[0]["opened"] == 0, "the breaker opened without a fault")
    for phase in phases:
        if phase["fault"] == "none":
            check(report, phase["on_accelerator"] > 0, "the device was not used")
        else:
            check(report, phase["opened"] > 0, f"the breaker did not open at '{phase['fault']}'")
    well = [phase for phase in phases if phase["fault"] == "none"]
    share = sum(phase["on_accelerator"] for phase in well) / sum(phase["operations"] for phase in well)
    check(report, share > 0.5, f"while it worked the device had only {share:.0%}")
    report["share_of_device"] = share
    return report


def cause_faults(server, fault, rounds, phases):
    """Appends, for every phase, how often the breaker opened, and who computed in its second half, as counters are up
    to a second old."""
    for word in rounds * ("none", "stall", "none", "fail"):
        opened = server.breakers_opened()
        fault.write_text(word)
        time.sleep(PHASE_SECONDS / 2)
        middle = server.counters()
        time.sleep(PHASE_SECONDS / 2)
        end = server.counters()
        grown = {name: end[name] - middle[name] for name in ("operations", "on_accelerator", "rescued")}
        phases.append({"fault": word, "opened": server.breakers_opened() - opened, **grown})
    fault.write_text("none")


class Daemon:
    """polykemd with a simulated device, killed and started again."""

    def __init__(self, folder):
        self.socket = pathlib.Path(folder) / "socket"
        self._process = None

    def __enter__(self):
        variables = openssl.environment(POLYKEM_BACKEND="cuda", **openssl.simulated_device(100))
        self._process = subprocess.Popen([DAEMON, "--socket", self.socket], env=variables,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while not self.socket.exists() and time.monotonic() < end:
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self.socket.unlink(missing_ok=True)

    def die_and_return(self, times, seconds):
        for _ in range(times):
            time.sleep(seconds / times)
            self.__exit__()
            self.__enter__()


def broker(_, seconds):
    """Kills and restarts the broker. Its device computes the set, the largest FrodoKEM, faster than a worker's CPU."""
    group = "frodo1344aes"
    with tempfile.TemporaryDirectory() as folder, Daemon(folder) as daemon, \
            HAProxy(group, asynchronous=True, workers=2, broker=daemon.socket) as server:
        for _ in range(25):  # a device whose probe was slow is measured again after ten seconds
            load(server, group, connections=CONNECTIONS, seconds=1)
            if server.counters().get("on_broker"):
                break
        deaths = threading.Thread(target=daemon.die_and_return, args=(10, 0.9 * seconds))
        deaths.start()
        try:
            report = load(server, group, connections=CONNECTIONS, seconds=seconds)
        finally:
            deaths.join()
        after = load(server, group, connections=CONNECTIONS, seconds=2)
        counters = server.counters()
        report["on_broker"], report["rescued"] = counters["on_broker"], counters["rescued"]
        check(report, report["failed"] + after["failed"] == 0, "handshakes failed")
        check(report, counters["on_broker"] > 0, "the broker was never used")
        return report


def forks(group, seconds):
    with Nginx(group, workers=2) as server:
        report = load(server, group, connections=CONNECTIONS, seconds=seconds, resets=RESETS)
        check(report, len(server.processes()) == 3, "a worker ended")
        return report


SCENARIOS = {"waiting": waiting, "pausing": pausing, "baseline": baseline, "files": files, "reload": reload,
             "device": device, "broker": broker, "forks": forks}


def describe(name, report):
    wrong = "; ".join(report.get("wrong", []))
    growth = f", memory {report['growth_bytes'] / 2**20:+.1f} MiB" if "growth_bytes" in report else ""
    errors = f", {report['errors']}" if report.get("errors") else ""
    return (f"{name:9} {report['handshakes']:8} handshakes, {report['resets']} resets, {report['failed']} failed"
            f"{growth}{errors}: {wrong or 'ok'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20, help="in all")
    here = [name for name in SCENARIOS if name != "broker" or pathlib.Path(DAEMON).exists()]
    parser.add_argument("--only", nargs="+", choices=list(SCENARIOS), default=here)
    parser.add_argument("--group", default="X25519MLKEM768")
    parser.add_argument("--json", help="write the report here")
    options = parser.parse_args()
    reports = {}
    for name in options.only:
        try:
            reports[name] = SCENARIOS[name](options.group, options.seconds / len(options.only))
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            reports[name] = {"handshakes": 0, "resets": 0, "failed": 0, "wrong": [str(error)]}
        print(describe(name, reports[name]), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"group": options.group, "seconds": options.seconds, "scenarios": reports}, out)
            out.write("\n")
    return 1 if any("wrong" in report for report in reports.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
