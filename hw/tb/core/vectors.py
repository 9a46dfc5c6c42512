#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints known answers of ML-KEM and Kyber as lines for core_test.

    vectors.py [--all]      prints a few of each set, or with --all every count, rejection and ACVP vector

A line is NAME COMMAND KYBER K RATE XOF IN OUT, with IN and OUT in hex. Where the core must refuse the input, OUT is the
name of the error."""

import argparse
import gzip
import hashlib
import json
import pathlib
import random
import sys

HW = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HW))

from model import codec, ring  # noqa: E402

DATA = HW.parent / "tests/data"
KEYGEN, ENCAPS, DECAPS, NTT, INTT, PWM, SHAKE = range(1, 8)
K_OF = {"ML-KEM-512": 2, "ML-KEM-768": 3, "ML-KEM-1024": 4}


def line(name, command, kyber, k, given, wanted, rate=0, xof=0):
    print(name.replace(" ", "_"), command, int(kyber), k, rate, xof, given, wanted)


def known_answers(counts):
    """Prints the first `counts` entries of each KAT file, with their rejections."""
    for kyber, family in ((False, "mlkem"), (True, "kyber")):
        for k, size in ((2, 512), (3, 768), (4, 1024)):
            for entry in json.loads((DATA / f"{family}{size}.json").read_text())["counts"][:counts]:
                name = f"{family}{size}/{entry['count']}"
                line(f"{name}/keygen", KEYGEN, kyber, k, "".join(entry["keypair_draws"]), entry["sk"])
                line(f"{name}/encaps", ENCAPS, kyber, k, entry["encaps_draws"][0] + entry["pk"],
                     entry["ct"] + entry["ss"])
                line(f"{name}/decaps", DECAPS, kyber, k, entry["ct"] + entry["sk"], entry["ss"])
                for reject in entry["reject"]:
                    ciphertext = bytearray.fromhex(entry["ct"])
                    ciphertext[reject["byte"]] ^= reject["xor"]
                    line(f"{name}/reject{reject['byte']}", DECAPS, kyber, k, ciphertext.hex() + entry["sk"],
                         reject["ss"])


def refusals():
    """Prints inputs that the core must refuse: keys that fail the checks of FIPS 203, and inputs of a wrong size."""
    for k, size in ((2, 512), (3, 768), (4, 1024)):
        entry = json.loads((DATA / f"mlkem{size}.json").read_text())["counts"][0]
        for position, value in ((0, b"\x01\x0d"), (384 * k - 2, b"\x10\xd0")):  # makes a coefficient q
            key = bytearray.fromhex(entry["pk"])
            key[position:position + 2] = value
            line(f"mlkem{size}/modulus{position}", ENCAPS, False, k, entry["encaps_draws"][0] + key.hex(), "modulus")
        for position in (384 * k, 768 * k + 31, 768 * k + 32, 768 * k + 63):
            key = bytearray.fromhex(entry["sk"])
            key[position] ^= 1
            line(f"mlkem{size}/hash{position}", DECAPS, False, k, entry["ct"] + key.hex(), "key")
        line(f"mlkem{size}/short", ENCAPS, False, k, entry["encaps_draws"][0] + entry["pk"][:-16], "size")
        line(f"mlkem{size}/long", DECAPS, False, k, entry["ct"] + entry["sk"] + "00" * 8, "size")


def acvp():
    for path in sorted((DATA / "acvp").rglob("*.json.gz")):
        for group in json.loads(gzip.decompress(path.read_bytes()))["testGroups"]:
            k = K_OF[group["parameterSet"]]
            for test in group["tests"]:
                name = f"{path.parts[-3]}/{group['parameterSet']}/{test['tcId']}"
                function = group.get("function")
                if function is None:
                    line(name, KEYGEN, False, k, test["d"] + test["z"], test["dk"].lower())
                elif function == "encapsulation" and "m" in test:
                    line(name, ENCAPS, False, k, test["m"] + test["ek"], (test["c"] + test["k"]).lower())
                elif function == "decapsulation" and "dk" in test:
                    line(name, DECAPS, False, k, test["c"] + test["dk"], test["k"].lower())
                elif function == "decapsulation":
                    line(name, DECAPS, False, k, test["c"] + group["dk"], test["k"].lower())


def raw(count):
    """Prints transforms and products of `count` random polynomials, and hashes; the model gives the answers."""
    def packed(poly):
        return codec.encode(poly, 12).hex()
    for n in range(count):
        f, g = ([random.randrange(ring.Q) for _ in range(256)] for _ in range(2))
        line(f"ntt/{n}", NTT, 0, 3, packed(f), packed(ring.ntt(f)))
        line(f"intt/{n}", INTT, 0, 3, packed(f), packed(ring.inverse_ntt(f)))
        line(f"pwm/{n}", PWM, 0, 3, packed(f) + packed(g), packed(ring.base_multiply(f, g)))
    for words in (1, 8, 9, 16, 17, 20, 21, 22, 50):
        for name, rate, xof, size in (("sha3_512", 0, 0, 8), ("sha3_256", 1, 0, 4), ("shake_256", 1, 1, 40),
                                      ("shake_128", 2, 1, 63)):
            message = random.randbytes(8 * words)
            function = getattr(hashlib, name)(message)
            digest = function.hexdigest(8 * size) if xof else function.hexdigest()
            line(f"{name}/{words}", SHAKE, 0, 3, message.hex(), digest, rate, xof)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    random.seed(203)
    raw(20 if options.all else 2)
    known_answers(None if options.all else 2)
    refusals()
    if options.all:
        acvp()


if __name__ == "__main__":
    main()
