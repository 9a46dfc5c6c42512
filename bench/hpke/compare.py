#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HPKE of polykem beside pyca/cryptography 50, in turn on one core, messages of 32 bytes.

    taskset -c 1 python bench/hpke/compare.py build/bin/polykem_bench_hpke FILE.json [--rounds N]

pyca seals and opens one message at a time with a key that was loaded before, polykem a batch for one key ("shared"),
or every item with a key of its own ("per-item"). Of the rounds the best of either side counts.
"""

import argparse
import json
import subprocess
import tempfile
import time

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


def pyca_rates(kem, kdf, aead, message_bytes):
    """Messages a second, sealed and opened."""
    key = pyca_key(kem)
    if key is None:
        return None
    suite, secret = hpke.Suite(key[0], KDFS[kdf], AEADS[aead]), key[1]
    public, message, count = secret.public_key(), bytes(message_bytes), 200 if "P384" in kem else 4000
    start = time.perf_counter()
    sealed = [suite.encrypt(message, public) for _ in range(count)]
    middle = time.perf_counter()
    opened = [suite.decrypt(one, secret) for one in sealed]
    end = time.perf_counter()
    assert opened == [message] * count
    return {"seal": count / (middle - start), "open": count / (end - middle)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("json")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ours, theirs = {}, {}
    for _ in range(options.rounds):
        with tempfile.NamedTemporaryFile() as file:
            subprocess.run([options.program, file.name], check=True, stdout=subprocess.DEVNULL)
            report = json.load(open(file.name, encoding="utf-8"))
        for record in report["records"]:
            name = (record["kem"], record["kdf"], record["aead"], record["op"], record["keys"])
            if name not in ours or record["us"] < ours[name]["us"]:
                ours[name] = record
        for suite in {name[:3] for name in ours}:
            for op, rate in (pyca_rates(*suite, report["message_bytes"]) or {}).items():
                theirs[suite, op] = max(rate, theirs.get((suite, op), 0))
    for name, record in ours.items():
        rate = theirs.get((name[:3], name[3]))
        record["pyca_ops_per_s"] = rate and round(rate)
        record["ratio"] = rate and round(record["ops_per_s"] / rate, 2)
        print(*name, f"{record['ops_per_s']:,}", rate and f"{rate:,.0f} {record['ratio']}", sep="  ")
    report.update(records=list(ours.values()), rounds=options.rounds, pyca=cryptography.__version__)
    with open(options.json, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
