#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a handshake costs HAProxy, by part: 64 connections replay a ClientHello with X25519MLKEM768, with a
certificate of ECDSA on P-256, while `perf` samples the server. Results are medians over the rounds; in each round, all
contenders run in turn.

    shares.py --json FILE --openssl PREFIX [--rounds 5] [--seconds 3] [--machine WORDS] [--symbols N]

--openssl is where an OpenSSL 3.5 or newer is installed, with the symbols of libcrypto, which tell its parts apart. A
part's time is its share of the samples of the server's CPU time. POLYKEM_COMMIT names the commit.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys

import compare
from crowd import mean_batch

CONTENDERS = ("ML-KEM, OpenSSL's own", "ML-KEM, OpenSSL's own, async", "ML-KEM, polykem waiting, newer OpenSSL",
              "ML-KEM, polykem pausing, newer OpenSSL")
HERTZ = 2000
# (part, shared object, symbol); the first that matches counts.
PARTS = tuple((part, re.compile(dso), re.compile(symbol)) for part, dso, symbol in (
    ("polykem", r"(lib)?polykem.*\.so", r""),
    ("OpenSSL's ML-KEM and X25519", r"libcrypto\.so",
     r"(^|_)(ml_kem|mlx)_|[xX]25519|[kK]eccak|(sha|SHA)3_|shake|^(fe|ge|scalar|vector|matrix|sample|cbd)_|"
     r"^(cmov|table_select)$|^hash_[gh]|^(en|de)(crypt_cpa|cap$|code_pubkey)"),
    ("ECDSA signature", r"libcrypto\.so", r"(^|_)(ec|EC|ecdsa|ECDSA|bn|BN)_|nistz256|bn2|2bn"),
    ("rest of libcrypto", r"libcrypto\.so", r""),
    ("libssl", r"libssl\.so", r""),
    ("HAProxy", r"haproxy$", r""),
    ("kernel", r"\[(?!vdso|unknown)", r""),
    ("libc", r"(libc|libm|ld-linux.*)\.so|\[vdso", r""),
    ("other", r"", r""),
))


def part_of(dso, symbol):
    return next(part for part, of_dso, of_symbol in PARTS if of_dso.match(dso) and of_symbol.search(symbol))


class Sampler:
    """Samples processes while it is entered. Afterwards `counts` has the samples by (shared object, symbol)."""

    def __init__(self, processes, folder):
        self._processes, self._file, self.counts = processes, folder / "perf.data", collections.Counter()

    def __enter__(self):
        control, told = os.pipe()
        heard, acknowledged = os.pipe()
        self._perf = subprocess.Popen(["perf", "record", "-e", "cpu-clock", "-F", str(HERTZ), "-o", self._file,
                                       "-p", ",".join(map(str, self._processes)), "-D", "-1",
                                       f"--control=fd:{control},{acknowledged}"], pass_fds=(control, acknowledged),
                                      stderr=subprocess.PIPE, text=True)
        os.close(control)
        os.close(acknowledged)
        with contextlib.suppress(BrokenPipeError):
            os.write(told, b"enable\n")
        if not os.read(heard, 16):
            sys.exit(f"perf does not sample here: {self._perf.communicate()[1]}")
        self._pipes = told, heard  # perf ends when they are closed
        return self

    def __exit__(self, *_):
        self._perf.send_signal(signal.SIGINT)
        said = self._perf.communicate()[1]
        for descriptor in self._pipes:
            os.close(descriptor)
        report = subprocess.run(["perf", "report", "-q", "--stdio", "-i", self._file, "-g", "none", "-F",
                                 "sample,dso,sym", "-t", "|"], capture_output=True, text=True, check=False).stdout
        for line in report.splitlines():
            if line.count("|") == 2:
                count, dso, symbol = (field.strip() for field in line.split("|"))
                self.counts[dso, symbol.partition("] ")[2]] += int(count)
        if not self.counts:
            sys.exit(f"perf took no samples: {said}")


def measure(contender, options):
    """Measures a contender in a round: microseconds of the server's CPU time per answered handshake, by part."""
    with compare.server_of(contender, options) as server:
        compare.warm(server, contender, options)
        with Sampler(server.processes(), server.folder) as sampler:
            report = compare.under_load(server, contender, "high", options)
        server.finish()
        batch = mean_batch(server.counters())
    samples = collections.Counter()
    for (dso, symbol), count in sampler.counts.items():
        samples[part_of(dso, symbol)] += count
    share = report["server_cpu_us"] / sum(samples.values())
    if options.symbols:
        for (dso, symbol), count in sampler.counts.most_common(options.symbols):
            print(f"{count * share:8.2f} us  {part_of(dso, symbol):28} {dso:20} {symbol}")
    return {"per_second": report["per_second"], "server_cpu_us": report["server_cpu_us"],
            "mean_batch": batch, "samples": sum(samples.values()),
            "us": {part: samples[part] * share for part, _, _ in PARTS}}


def middle(found):
    """Returns the medians of several rounds; "us" is a dictionary of its own."""
    return {key: middle([each[key] for each in found]) if isinstance(value, dict)
            else statistics.median(each[key] for each in found) for key, value in found[0].items()}


def table(records):
    yield f"{'':38}" + "".join(f"{record['name'].removesuffix(', newer OpenSSL'):>29}" for record in records)
    for what in ("per_second", "server_cpu_us", "mean_batch"):
        yield f"{what:38}" + "".join(f"{record[what]:29.1f}" for record in records)
    for part in records[0]["us"]:
        yield f"{part + ', us':38}" + "".join(f"{record['us'][part]:29.1f}" for record in records)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", required=True)
    parser.add_argument("--openssl", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--machine", default=compare.machine(), help="a description of the machine")
    parser.add_argument("--symbols", type=int, default=0, help="print so many symbols, to see that parts are right")
    options = parser.parse_args()
    for program in (compare.HAProxy.path(), shutil.which("perf")):
        if program is None:
            sys.exit("HAProxy or perf is not installed: tools/setup.sh tls; linux-perf")
    load_average = os.getloadavg()[0]
    chosen = [each for each in compare.CONTENDERS if each.name in CONTENDERS]
    rounds = []
    for number in range(options.rounds):
        rounds.append({each.name: measure(each, options) for each in chosen})
        print(f"round {number + 1} of {options.rounds}", flush=True)
    records = [{"name": each.name, **middle([found[each.name] for found in rounds])} for each in chosen]
    print(*table(records), sep="\n")
    out = {"schema": "polykem-tls-shares-1", "machine": options.machine,
           "commit": os.environ.get("POLYKEM_COMMIT", ""),
           "command": f"bench/tls/shares.py --json FILE --openssl PREFIX --rounds {options.rounds} "
                      f"--seconds {options.seconds:g}",
           "load_average": load_average, "records": records}
    pathlib.Path(options.json).write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
