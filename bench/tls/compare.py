#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares HAProxy with polykem's provider, with OpenSSL's own ML-KEM and with another provider, in one run on one
machine. Every contender is measured once in each round, in turn; the figures are medians over the rounds.

    compare.py --json FILE [--peer oqsprovider.so] [--openssl PREFIX] [--rounds 5] [--seconds 3] [--only NAME...]

--peer is the module of a provider that has the same groups, --openssl where an OpenSSL 3.5 or newer is installed.
Three loads:

    low     one connection after the other, whole handshakes: p50 of the time that a client waits
    high    64 connections at once that replay a recorded ClientHello, so that the server has the machine to itself:
            answers a second, and the server's CPU time for one
    whole   64 connections at once, whole handshakes, the client with the provider that the server has, so that half of
            the work is the client's
"""

import argparse
import dataclasses
import json
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/tls"))

import cases  # noqa: E402
import openssl  # noqa: E402
from servers import HAProxy  # noqa: E402

HYBRID, FRODO = "X25519MLKEM768", "frodo976aes"
LOADS = {"low": {"connections": 1}, "high": {"connections": 64, "replay": True}, "whole": {"connections": 64}}


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str
    group: str
    provider: str
    newer: bool = False  # with the OpenSSL of --openssl
    asynchronous: bool = False
    device: bool = False  # polykem has a simulated device, which takes 1 ms for a batch
    signature: str = "P-256"  # of the certificate


CONTENDERS = (
    Contender("X25519 of OpenSSL 3.0", "X25519", "none"),
    Contender("ML-KEM, peer", HYBRID, "peer"),
    Contender("ML-KEM, polykem waiting", HYBRID, "polykem"),
    Contender("ML-KEM, polykem pausing", HYBRID, "polykem", asynchronous=True),
    Contender("ML-KEM, OpenSSL's own", HYBRID, "none", newer=True),
    Contender("ML-KEM, OpenSSL's own, async", HYBRID, "none", newer=True, asynchronous=True),
    Contender("ML-KEM, polykem waiting, newer OpenSSL", HYBRID, "polykem", newer=True),
    Contender("ML-KEM, polykem pausing, newer OpenSSL", HYBRID, "polykem", newer=True, asynchronous=True),
    Contender("ML-DSA-65, OpenSSL's own", HYBRID, "none", newer=True, signature="ML-DSA-65"),
    Contender("ML-DSA-65, OpenSSL's own, async", HYBRID, "none", newer=True, asynchronous=True, signature="ML-DSA-65"),
    Contender("ML-DSA-65, polykem waiting", HYBRID, "polykem", newer=True, signature="ML-DSA-65"),
    Contender("ML-DSA-65, polykem pausing", HYBRID, "polykem", newer=True, asynchronous=True, signature="ML-DSA-65"),
    Contender("ML-DSA-65, device of 1 ms, waiting", HYBRID, "polykem", newer=True, device=True, signature="ML-DSA-65"),
    Contender("ML-DSA-65, device of 1 ms, pausing", HYBRID, "polykem", newer=True, asynchronous=True, device=True,
              signature="ML-DSA-65"),
    Contender("FrodoKEM-976, peer", FRODO, "peer"),
    Contender("FrodoKEM-976, polykem waiting", FRODO, "polykem"),
    Contender("FrodoKEM-976, polykem pausing", FRODO, "polykem", asynchronous=True),
    Contender("ML-KEM, device of 1 ms, waiting", HYBRID, "polykem", device=True),
    Contender("ML-KEM, device of 1 ms, pausing", HYBRID, "polykem", asynchronous=True, device=True),
)

# (figure, better, worse, load, quantity): the ratio of two contenders. For times it is worse divided by better.
RATIOS = (
    ("low load, pausing beside OpenSSL's own", "ML-KEM, polykem pausing, newer OpenSSL",
     "ML-KEM, OpenSSL's own, async", "low", "p50_us"),
    ("low load, waiting beside OpenSSL's own", "ML-KEM, polykem waiting, newer OpenSSL", "ML-KEM, OpenSSL's own",
     "low", "p50_us"),
    ("low load, waiting beside the peer", "ML-KEM, polykem waiting", "ML-KEM, peer", "low", "p50_us"),
    ("high load, waiting beside OpenSSL's own", "ML-KEM, polykem waiting, newer OpenSSL", "ML-KEM, OpenSSL's own",
     "high", "per_second"),
    ("high load, pausing beside OpenSSL's own", "ML-KEM, polykem pausing, newer OpenSSL",
     "ML-KEM, OpenSSL's own, async", "high", "per_second"),
    ("high load, waiting beside the peer", "ML-KEM, polykem waiting", "ML-KEM, peer", "high", "per_second"),
    ("high load, pausing beside the peer", "ML-KEM, polykem pausing", "ML-KEM, peer", "high", "per_second"),
    ("ML-DSA-65, high load, waiting beside OpenSSL's own", "ML-DSA-65, polykem waiting", "ML-DSA-65, OpenSSL's own",
     "high", "per_second"),
    ("ML-DSA-65, high load, pausing beside OpenSSL's own", "ML-DSA-65, polykem pausing",
     "ML-DSA-65, OpenSSL's own, async", "high", "per_second"),
    ("ML-DSA-65, whole handshakes, waiting beside OpenSSL's own", "ML-DSA-65, polykem waiting",
     "ML-DSA-65, OpenSSL's own", "whole", "per_second"),
    ("ML-DSA-65, whole handshakes, pausing beside OpenSSL's own", "ML-DSA-65, polykem pausing",
     "ML-DSA-65, OpenSSL's own, async", "whole", "per_second"),
    ("ML-DSA-65, device of 1 ms, pausing beside waiting", "ML-DSA-65, device of 1 ms, pausing",
     "ML-DSA-65, device of 1 ms, waiting", "high", "per_second"),
    ("FrodoKEM-976, waiting beside the peer", "FrodoKEM-976, polykem waiting", "FrodoKEM-976, peer",
     "high", "per_second"),
    ("FrodoKEM-976, pausing beside the peer", "FrodoKEM-976, polykem pausing", "FrodoKEM-976, peer",
     "high", "per_second"),
    ("device of 1 ms, pausing beside waiting", "ML-KEM, device of 1 ms, pausing", "ML-KEM, device of 1 ms, waiting",
     "high", "per_second"),
    ("FrodoKEM-976, whole handshakes, pausing beside the peer", "FrodoKEM-976, polykem pausing", "FrodoKEM-976, peer",
     "whole", "per_second"),
)


def server_of(contender, options):
    """Returns a context in which HAProxy runs as the contender has it."""
    # The simulated device is this machine's CPU, late when others need that; a deadline would take its work away.
    device = {"variables": openssl.simulated_device(), "backend": "cuda", "deadline_us": 500000}
    return HAProxy(contender.group, contender.provider, asynchronous=contender.asynchronous, workers=2,
                   openssl_prefix=prefix_of(contender, options), signature=contender.signature,
                   **(device if contender.device else {}))


def prefix_of(contender, options):
    return options.openssl if contender.newer else ""


def warm(server, contender, options):
    cases.load(server, contender.group, seconds=0.5, openssl_prefix=prefix_of(contender, options))


def under_load(server, contender, name, options):
    """Returns the report of one load, with the server's CPU time."""
    conf = server.client_conf if name == "whole" else client_configuration(server, contender)
    cpu, begun = server.cpu_seconds(), time.monotonic()
    report = cases.load(server, contender.group, seconds=options.seconds, conf=conf,
                        openssl_prefix=prefix_of(contender, options), **LOADS[name])
    cpu, wall = server.cpu_seconds() - cpu, time.monotonic() - begun
    return {**report, "server_cpu_us": 1e6 * cpu / max(1, report["handshakes"]), "server_cores": cpu / wall}


def measure(contender, options):
    """Returns {load: report} of a contender in a round."""
    with server_of(contender, options) as server:
        warm(server, contender, options)
        return {name: under_load(server, contender, name, options) for name in LOADS}


def client_configuration(server, contender):
    """Returns the client, one for all with a group and an OpenSSL: a newer OpenSSL's own ML-KEM, else polykem."""
    provider = "none" if contender.newer or contender.group == "X25519" else "polykem"
    folder = server.folder / "other"
    folder.mkdir(exist_ok=True)
    return openssl.configuration(folder, provider)


def median(rounds, name, load, quantity):
    return statistics.median(found[name][load][quantity] for found in rounds)


def ratios(rounds):
    names = rounds[0].keys()
    found = {}
    for figure, ours, theirs, load, quantity in RATIOS:
        if ours not in names or theirs not in names:
            continue
        quotient = median(rounds, ours, load, quantity) / median(rounds, theirs, load, quantity)
        found[figure] = 1 / quotient if quantity.endswith("_us") else quotient
        if load == "high":  # less disturbed by what else runs on the machine
            found[figure + ": CPU time of the server"] = (median(rounds, theirs, load, "server_cpu_us") /
                                                          median(rounds, ours, load, "server_cpu_us"))
    return found


def table(rounds):
    yield f"{'':40} {'low p50':>8} {'high':>8} {'CPU':>8} {'p50':>8} {'p99':>8} {'whole':>8}"
    yield f"{'':40} {'us':>8} {'/s':>8} {'us':>8} {'ms':>8} {'ms':>8} {'/s':>8}"
    for name in rounds[0]:
        def of(load, quantity, scale=1.0):
            return f"{scale * median(rounds, name, load, quantity):8.{0 if scale == 1 else 1}f}"
        yield (f"{name:40} {of('low', 'p50_us')} {of('high', 'per_second')} {of('high', 'server_cpu_us')} "
               f"{of('high', 'p50_us', 1e-3)} {of('high', 'p99_us', 1e-3)} {of('whole', 'per_second')}")


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(": ")[2]
    return "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", required=True)
    parser.add_argument("--peer", default="")
    parser.add_argument("--peer-name", default="oqs-provider")
    parser.add_argument("--openssl", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", nargs="+", help="contenders whose names contain one of these")
    options = parser.parse_args()
    openssl.PEER = options.peer
    chosen = [each for each in CONTENDERS
              if (options.peer or each.provider != "peer") and (options.openssl or not each.newer) and
              (not options.only or any(part in each.name for part in options.only))]
    rounds = []
    for number in range(options.rounds):
        rounds.append({each.name: measure(each, options) for each in chosen})
        print(f"round {number + 1} of {options.rounds}", flush=True)
    print(*table(rounds), sep="\n")
    for figure, ratio in ratios(rounds).items():
        print(f"{ratio:6.2f}x  {figure}")
    out = {"schema": "polykem-tls-compare-1", "machine": machine(), "peer": options.peer_name if options.peer else "",
           "seconds": options.seconds, "ratios": ratios(rounds), "rounds": rounds}
    pathlib.Path(options.json).write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
