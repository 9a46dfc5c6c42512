#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows HAProxy with polykem's provider and a crowd of clients; `make demo-tls` runs it.

    demo.py [--seconds 5] [--connections 256]

First, clients of other projects say which group they negotiated. Then the load generator keeps connections open, and
prints a line about its handshakes and the server's batches every second. At the end there is a table."""

import argparse
import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests/tls"
sys.path.insert(0, str(TESTS))

import cases  # noqa: E402
import clients  # noqa: E402
import openssl  # noqa: E402
import tap  # noqa: E402
from servers import HAProxy  # noqa: E402

HYBRID, FRODO = "X25519MLKEM768", "frodo976aes"


@dataclasses.dataclass(frozen=True)
class Row:
    """A contender. openssl: where the OpenSSL that it needs is installed; None: the system's."""
    name: str
    group: str
    provider: str
    asynchronous: bool = False
    signature: str = "P-256"  # of the certificate
    openssl: str | None = None


ROWS = (
    Row("provider off: X25519", "X25519", "none"),
    Row("X25519MLKEM768, waiting", HYBRID, "polykem"),
    Row("X25519MLKEM768, pausing", HYBRID, "polykem", True),
    Row("FrodoKEM-976, waiting", FRODO, "polykem"),
    Row("FrodoKEM-976, pausing", FRODO, "polykem", True),
)


def newer_openssl():
    """Returns where an OpenSSL with ML-KEM and ML-DSA is: POLYKEM_OPENSSL or one that the tests built; "" if none."""
    if openssl.version() >= (3, 5):
        return openssl.PREFIX
    found = subprocess.run([TESTS / "openssl35.sh", "--built"], capture_output=True, text=True, check=False)
    return found.stdout.strip()


def rows():
    """Returns the contenders, with OpenSSL's own ML-KEM and ML-DSA if it has them."""
    own = (Row("provider off: X25519MLKEM768", HYBRID, "none"),) if openssl.version() >= (3, 5) else ()
    newer = newer_openssl()
    if not newer:
        print("No rows with certificates of ML-DSA, which need OpenSSL 3.5: run tests/tls/openssl35.sh once.\n")
        return own + ROWS
    return (*own, *ROWS, Row("ML-DSA-65 cert., provider off", HYBRID, "none", False, "ML-DSA-65", newer),
            Row("ML-DSA-65 certificate", HYBRID, "polykem", False, "ML-DSA-65", newer))


def show_clients():
    """Returns the clients that are installed and need not be fetched or built for minutes."""
    with HAProxy(f"{HYBRID}:X25519", asynchronous=True) as server, tap.Tap(server.port) as wire:
        print("HAProxy with polykem serves https://localhost. Clients that know nothing of polykem:")
        for name, client in (("Go's crypto/tls", clients.go), ("Chromium", clients.chromium)):
            try:
                client(wire.port, server.certificate)
                print(f"  {name:16} negotiates {wire.last().selected}", flush=True)
            except clients.MissingClient as missing:
                print(f"  {name:16} left out: {missing}", flush=True)
        clients.curl(wire.port, server.certificate, server.client_conf, HYBRID)
        print(f"  {'curl (polykem)':16} negotiates {wire.last().selected}\n")


class Batches:
    """Returns what the server's batcher did since the last call."""

    def __init__(self, server):
        self._server, self._before = server, server.counters()

    def since(self):
        now, before = self._server.counters(), self._before
        self._before = now
        if not now:
            return ""
        batches = now["batches"] - before.get("batches", 0)
        items = sum(now[who] - before.get(who, 0) for who in ("on_cpu", "on_accelerator", "on_broker"))
        alone = now["on_caller"] - before.get("on_caller", 0)
        sizes = [a - b for a, b in zip(now["batch_items"], before.get("batch_items", [0] * 99))]
        largest = max((i for i, count in enumerate(sizes) if count), default=0)
        mean = items / batches if batches else 0
        return f"{alone:10}{batches:10}{mean:10.1f}{f'{2**largest}+' if batches else '-':>10}"


def run(row, options):
    """Prints a line each second and returns the report of the whole run."""
    heads = ("handsh./s", "p50 ms", "p99 ms", "at once", "batches", "mean", "largest")
    print(row.name, "".join(f"{head:>10}" for head in heads), sep="\n", flush=True)
    with HAProxy(row.group, row.provider, asynchronous=row.asynchronous, workers=2, signature=row.signature,
                 openssl_prefix=row.openssl) as server:
        batches = Batches(server)
        command = [cases.LOAD, server.port, "--group", row.group, "--connections", options.connections,
                   "--seconds", options.seconds, "--warm-up", 1, "--every", 1]
        load = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True,
                                env=openssl.environment(row.openssl, OPENSSL_CONF=server.client_conf))
        report = {}
        for line in load.stdout:
            report = json.loads(line)
            if "group" not in report:  # the last line sums up
                print(f"{report['per_second']:10.0f}{report['p50_us'] / 1000:10.1f}{report['p99_us'] / 1000:10.1f}"
                      f"{batches.since()}", flush=True)
        if load.wait() != 0:
            sys.exit(f"handshakes failed: {report.get('errors')}")
        print()
        return report


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, default=256)
    options = parser.parse_args()
    if not shutil.which("haproxy", path="/usr/bin:/usr/sbin:/usr/local/sbin:/usr/local/bin"):
        sys.exit("HAProxy is not installed: tools/setup.sh tls")
    show_clients()
    print("Each second: handshakes, then the server's encapsulations: how many the thread that had them computed\n"
          "at once, and of the others how many batches there were, and how large.\n")
    reports = [(row.name, run(row, options)) for row in rows()]
    print(f"{options.connections} connections at once, server and clients on this machine:")
    print(f"  {'':30}{'handshakes/s':>13}{'p50 ms':>9}{'p99 ms':>9}")
    for name, report in reports:
        print(f"  {name:30}{report['per_second']:13.0f}{report['p50_us'] / 1000:9.1f}{report['p99_us'] / 1000:9.1f}")


if __name__ == "__main__":
    main()
