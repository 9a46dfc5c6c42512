#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures HAProxy with N clients at once, N = 10 to 10,000: the scenario of [SEONG21], figures 12 and 13, over TLS
1.3, in which the server encapsulates.

    crowd.py --json FILE [--backend cuda | --broker SOCKET] [--deadline-us N] [--machine WORDS] [--clients N...]
             [--only NAME...] [--seconds 0.5]

plot_crowd.py draws it. All N connect at once, and when the last is served all come again, until --seconds are over;
times count from the moment at which they come. Two loads:

    server  clients replay a recorded ClientHello and leave with the server's answer: the machine is the server's
    whole   whole handshakes, the client with the provider that the server has, on the same machine

--backend is the server's, --broker where polykemd listens (docs/tls_reference.md). A machine whose limit of
descriptors is low lets HAProxy hold fewer than N connections; the others wait in the kernel's queues.
"""

import argparse
import json
import pathlib
import re
import resource
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/tls"))

import cases  # noqa: E402
from compare import machine  # noqa: E402
from servers import HAProxy  # noqa: E402

CLIENTS = (10, 30, 100, 300, 1000, 3000, 10000)
LOADS = {"server": {"replay": True}, "whole": {}}
HYBRID, FRODO, NTRU = "X25519MLKEM768", "frodo976shake", "ntru_hps4096821"
# The configurations: group, provider, and whether in asynchronous mode.
ROWS = (
    ("X25519, provider off", "X25519", "none", False),
    (f"{HYBRID}, waiting", HYBRID, "polykem", False),
    (f"{HYBRID}, pausing", HYBRID, "polykem", True),
    (f"{NTRU}, waiting", NTRU, "polykem", False),
    (f"{NTRU}, pausing", NTRU, "polykem", True),
    (f"{FRODO}, waiting", FRODO, "polykem", False),
    (f"{FRODO}, pausing", FRODO, "polykem", True),
)
OPENS_WITHIN = 20  # seconds
PATIENCE = 100  # seconds that the last of a crowd may wait
WHO = ("on_caller", "on_cpu", "on_accelerator", "on_broker", "spilled", "rescued")
KEPT = ("handshakes", "seconds", "per_second", "p50_us", "p90_us", "p99_us", "max_us")


def raise_limit_of_files():
    """Raises the limit of descriptors as far as possible, also for child processes, and returns it."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    return limit


def haproxy_settings(asynchronous, limit):
    """Settings with which HAProxy holds 10,000 clients, or as many as `limit` allows. It counts two descriptors for
    each; a client takes one, and two more while polykem lets it pause, so that every second one can."""
    settings = {"asynchronous": asynchronous, "workers": 2, "connections": min(CLIENTS[-1], limit // 2 - 100),
                "headroom": 1, "listeners": 4}
    with HAProxy("X25519", "none", **settings) as server:
        size = int(re.search(r"Maxsock: (\d+)", server.ask("show info")).group(1))
    # If polykem's descriptors exceed its table, HAProxy exits; with a limit of connections, handshakes wait instead.
    return {**settings, "wrapper": ("prlimit", f"--nofile={size}")}


def mean_batch(counters):
    items = sum(counters.get(who, 0) for who in ("on_cpu", "on_accelerator", "on_broker"))
    return items / counters["batches"] if counters.get("batches") else 1


def warm(server, group, waits_for_device):
    """Runs a few handshakes; with a device or a broker, which take seconds to open, until these compute batches."""
    patient_until = time.monotonic() + OPENS_WITHIN
    cases.load(server, group, connections=10, seconds=0.1)
    while waits_for_device and not any(e["executor"] != "cpu" and e["state"] == "closed" for e in server.executors()):
        if time.monotonic() > patient_until:
            print(f"# no device takes batches: {server.executors()}", flush=True)
            return
        cases.load(server, group, connections=64, seconds=1.2)  # the counters are a second old at most


def measure(row, load, clients, settings, options):
    """Measures one point, with a server of its own."""
    name, group, provider, asynchronous = row
    own = {key: getattr(options, key) for key in ("backend", "broker", "deadline_us") if getattr(options, key)}
    own = own if provider == "polykem" else {}
    with HAProxy(group, provider, **settings, **own) as server:
        warm(server, group, bool(own) and asynchronous)
        cpu = server.cpu_seconds()
        report = cases.load(server, group, connections=clients, seconds=options.seconds, burst=True,
                            patience=PATIENCE, **LOADS[load])
        cpu = server.cpu_seconds() - cpu
        server.finish()
        if server.crashed():
            sys.exit(f"{name}: HAProxy died of {server.crashed()} at its end: {server.log()}")
        counters, executors = server.counters(), server.executors()
    return {"name": name, "load": load, "clients": clients, "group": group, "asynchronous": asynchronous,
            **{key: report[key] for key in KEPT}, "server_cpu_us": 1e6 * cpu / report["handshakes"],
            "mean_batch": mean_batch(counters), "operations": {who: counters.get(who, 0) for who in WHO},
            "executors": executors}


def line(point):
    operations = point["operations"]
    elsewhere = operations["on_accelerator"] + operations["on_broker"]
    return (f"{point['name']:28}{point['load']:>8}{point['clients']:9}{point['per_second']:8.0f}"
            f"{point['p50_us'] / 1000:9.1f}{point['p99_us'] / 1000:9.1f}{point['server_cpu_us']:8.0f}"
            f"{point['mean_batch']:8.1f}{elsewhere:10}{operations['rescued']:9}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", required=True)
    parser.add_argument("--backend", default="", help="the server's, `cuda` say; by default the provider's choice")
    parser.add_argument("--broker", default="", help="the socket of a polykemd that computes for the server")
    parser.add_argument("--deadline-us", type=int, help="microseconds after which the CPU computes an operation too")
    parser.add_argument("--machine", default=machine(), help="a description of the machine")
    parser.add_argument("--clients", type=int, nargs="+", default=CLIENTS)
    parser.add_argument("--only", nargs="+", default=[""], help="rows whose names contain one of these")
    parser.add_argument("--seconds", type=float, default=0.5, help="how long crowds keep coming")
    options = parser.parse_args()
    if HAProxy.path() is None:
        sys.exit("HAProxy is not installed: tools/setup.sh tls")
    limit = raise_limit_of_files()
    settings = {pausing: haproxy_settings(pausing, limit) for pausing in (False, True)}
    print(f"{'':28}{'load':>8}{'clients':>9}{'/s':>8}{'p50 ms':>9}{'p99 ms':>9}{'CPU us':>8}{'batch':>8}"
          f"{'elsewhere':>10}{'rescued':>9}", flush=True)
    points = []
    for row in (row for row in ROWS if any(part in row[0] for part in options.only)):
        for load in LOADS:
            for clients in options.clients:
                point = measure(row, load, clients, settings[row[3]], options)
                points.append(point)
                print(line(point), flush=True)
                out = {"schema": "polykem-tls-crowd-1", "machine": options.machine,
                       "backend": options.backend or "the provider's choice", "broker": bool(options.broker),
                       "held_at_once": settings[True]["connections"], "points": points}
                pathlib.Path(options.json).write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
