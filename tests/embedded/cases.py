#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes known answers of tests/data in the form that known_answers.cpp reads.

    cases.py FOLDER [SET...] [--counts N] [--no-accumulated]

Each set becomes FOLDER/SET.cases: counts 0 to N - 1 (all 10) with their rejections, the accumulated hashes over 100
rounds, and, of ML-KEM, keys that the standard refuses, of FrodoKEM, ciphertexts with one bit changed in each part.
"""

import argparse
import gzip
import hashlib
import json
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
SETS = ("ntruhps2048509", "ntruhps2048677", "ntruhps4096821", "ntruhrss701", "mlkem512", "mlkem768", "mlkem1024",
        "frodokem640shake", "frodokem640aes")
FIELDS = {"pk": 1, "sk": 2, "ct": 4, "ss": 8, "ssr": 16}


def load(name):
    packed = DATA / f"{name}.json.gz"
    return json.loads(gzip.decompress(packed.read_bytes()) if packed.exists() else (DATA / f"{name}.json").read_text())


def counts_of(known, counts):
    for case in known["counts"][:counts]:
        pk, sk, ct, ss = (bytes.fromhex(case[field]) for field in ("pk", "sk", "ct", "ss"))
        keygen, encaps = (bytes.fromhex("".join(case[field])) for field in ("keypair_draws", "encaps_draws"))
        yield b"k" + keygen + pk + sk
        yield b"e" + encaps + pk + ct + ss
        yield b"d" + sk + ct + ss
        for change in case["reject"]:
            changed = bytearray(ct)
            changed[change["byte"]] ^= change["xor"]
            yield b"d" + sk + bytes(changed) + bytes.fromhex(change["ss"])


def refusals(known):
    """Returns keys to refuse: with a first coefficient q = 3329, which is not reduced, and with a changed hash in the
    secret key. [FIPS203, 7.2 and 7.3]"""
    case = known["counts"][0]
    pk, sk, ct = (bytearray.fromhex(case[field]) for field in ("pk", "sk", "ct"))
    pk[0], pk[1] = 3329 & 0xff, pk[1] & 0xf0 | 3329 >> 8
    sk[-64] ^= 1
    yield b"p" + bytes.fromhex("".join(case["encaps_draws"])) + bytes(pk)
    yield b"s" + bytes(sk) + bytes(ct)


def frodo640_rejections(known):
    """Returns ciphertexts with a changed lowest bit in the last coefficient of each row of B' and of C: the message
    stays, so only the comparison finds it. [FRODO21, Alg 14, L16-18]"""
    case = known["counts"][0]
    sk, ct = bytes.fromhex(case["sk"]), bytes.fromhex(case["ct"])
    row, c2_end, secret = 640 * 15 // 8, (640 * 8 + 64) * 15 // 8, 16
    for end in [*range(row, 8 * row + 1, row), c2_end]:
        changed = bytearray(ct)
        changed[end - 1] ^= 1
        yield b"d" + sk + bytes(changed) + hashlib.shake_128(bytes(changed) + sk[:secret]).digest(secret)


def accumulated(name):
    for mode, hashes in json.loads((DATA / "accumulated.json").read_text())["sets"][name].items():
        for rounds, wanted in hashes.items():
            fields = sum(FIELDS[field] for field in mode.split(","))
            yield b"a" + int(rounds).to_bytes(4, "little") + bytes([fields]) + bytes.fromhex(wanted)


def cases(name, counts, with_accumulated):
    known = load(name)
    yield name.encode().ljust(32, b"\0")
    yield from counts_of(known, counts)
    if name.startswith("mlkem"):
        yield from refusals(known)
    if name.startswith("frodokem640"):
        yield from frodo640_rejections(known)
    if with_accumulated:
        yield from accumulated(name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--counts", type=int, default=10)
    parser.add_argument("--no-accumulated", dest="accumulated", action="store_false")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.sets:
        (options.folder / f"{name}.cases").write_bytes(b"".join(cases(name, options.counts, options.accumulated)))


if __name__ == "__main__":
    main()
