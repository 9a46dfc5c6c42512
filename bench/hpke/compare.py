#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures HPKE of polykem, pyca/cryptography 50 and Go 1.26's crypto/hpke in turn on one core, messages of 32 bytes.

    taskset -c 1 python bench/hpke/compare.py build/bin/polykem_bench_hpke FILE.json [--rounds N]

polykem seals and opens batches with one key ("shared") or with a key for each item ("per-item"). The others process one
message at a time: pyca with a loaded key, Go with a loaded key and with keys that it parses. The best round of each
counts; times are CPU times of the process.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import cryptography
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric import ec, mlkem, x25519


def pyca_key(kem):
    if kem == "ML-KEM-768":
        return hpke.KEM.MLKEM768, mlkem.MLKEM768PrivateKey.generate()
    if kem == "ML-KEM-1024":
        return hpke.KEM.MLKEM1024, mlkem.MLKEM1024PrivateKey.generate()
    if kem == "MLKEM768-X25519":
        parts = mlkem.MLKEM768PrivateKey.generate(), x25519.X25519PrivateKey.generate()
        return hpke.KEM.MLKEM768_X25519, hpke.MLKEM768X25519PrivateKey(*parts)
    if kem == "MLKEM1024-P384":
        parts = mlkem.MLKEM1024PrivateKey.generate(), ec.generate_private_key(ec.SECP384R1())
        return hpke.KEM.MLKEM1024_P384, hpke.MLKEM1024P384PrivateKey(*parts)
    return None


KDFS = {"HKDF-SHA256": hpke.KDF.HKDF_SHA256, "HKDF-SHA384": hpke.KDF.HKDF_SHA384, "SHAKE256": hpke.KDF.SHAKE256}
AEADS = {"AES-128-GCM": hpke.AEAD.AES_128_GCM, "AES-256-GCM": hpke.AEAD.AES_256_GCM,
         "ChaCha20Poly1305": hpke.AEAD.CHACHA20_POLY1305}
BLOCKS = 8


def block(kem):
    """Returns the number of messages that are timed together. The fastest of BLOCKS such blocks counts."""
    return 50 if "P384" in kem else 500


def best_rate(size, call):
    """Returns calls per second, and what the calls returned."""
    best, results = 0, []
    for first in range(0, BLOCKS * size, size):
        start = time.process_time()
        results += [call(i) for i in range(first, first + size)]
        best = max(best, size / (time.process_time() - start))
    return best, results


def pyca_rates(kem, kdf, aead, message_bytes):
    """Returns messages per second by operation and keys. The rate with one key is also used beside a key for each."""
    key = pyca_key(kem)
    if key is None:
        return {}
    suite, secret = hpke.Suite(key[0], KDFS[kdf], AEADS[aead]), key[1]
    public, message = secret.public_key(), bytes(message_bytes)
    rates = {}
    rates["seal"], sealed = best_rate(block(kem), lambda _: suite.encrypt(message, public))
    rates["open"], opened = best_rate(block(kem), lambda i: suite.decrypt(sealed[i], secret))
    assert opened == [message] * len(opened)
    return {(op, keys): rate for op, rate in rates.items() for keys in ("shared", "per-item")}


class Go:
    def __init__(self, folder):
        self.program, source = Path(folder) / "go", Path(__file__).parent / "go"
        self.environment = {**os.environ, "GOTOOLCHAIN": "local", "GOMAXPROCS": "1"}
        subprocess.run(["go", "build", "-o", self.program, "."], cwd=source, env=self.environment, check=True)
        version = subprocess.check_output(["go", "env", "GOVERSION"], cwd=source, text=True)
        self.version = version.strip().removeprefix("go")

    def rates(self, kem, kdf, aead, message_bytes):
        """Returns what pyca_rates returns, for Go."""
        if kem == "ML-KEM-512":  # which Go lacks
            return {}
        arguments = [kem, kdf, aead, str(message_bytes), str(BLOCKS), str(block(kem))]
        report = json.loads(subprocess.check_output([self.program, *arguments], env=self.environment))
        return {(op, keys): rate for op, by_keys in report.items() for keys, rate in by_keys.items()}


def compare(program, peers, rounds, path):
    """Returns polykem's report, with the peers' rates and the ratios added to its records."""
    ours, theirs = {}, {}
    for _ in range(rounds):
        subprocess.run([program, path], check=True, stdout=subprocess.DEVNULL)
        report = json.loads(Path(path).read_text(encoding="utf-8"))
        for record in report["records"]:
            name = (record["kem"], record["kdf"], record["aead"], record["op"], record["keys"])
            if name not in ours or record["us"] < ours[name]["us"]:
                ours[name] = record
        for suite in sorted({name[:3] for name in ours}):
            for peer, rates in peers.items():
                for row, rate in rates(*suite, report["message_bytes"]).items():
                    name = (peer, *suite, *row)
                    theirs[name] = max(rate, theirs.get(name, 0))
    for name, record in ours.items():
        for peer in peers:
            rate = theirs.get((peer, *name))
            record[f"{peer}_ops_per_s"] = rate and round(rate)
            record[f"{peer}_ratio"] = rate and round(record["ops_per_s"] / rate, 2)
        print(*name, *(record[key] for key in record if key.endswith(("ops_per_s", "ratio"))), sep="  ")
    return {**report, "records": list(ours.values())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("json")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        go = Go(folder)
        report = compare(options.program, {"pyca": pyca_rates, "go": go.rates}, options.rounds, f"{folder}/ours.json")
    report.update(rounds=options.rounds, pyca=cryptography.__version__, go=go.version)
    with open(options.json, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
