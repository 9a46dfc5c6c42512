#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Upsets bits of the simulated core while it decapsulates forged ciphertexts, and counts what leaves it.

    faults.py BUILD [--json FILE]     the whole campaign, and the same with a planted weakness, which it must find
    faults.py BUILD --sample          a small part of it

A forged ciphertext is a known answer's with the lowest bit of one coefficient flipped: m' stays, and one word of the
ciphertext differs from that of the second encryption. K' = K of the known answer must never leave the core, nor a word
of m', r, s or z. Any that does is an error. tb/core/fault_test.cpp runs the campaign and says what its counts mean."""

import argparse
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys

HW = pathlib.Path(__file__).resolve().parents[1]
DATA = HW.parent / "tests/data"
OUTCOMES = ("alert", "error", "harmless", "wrong", "nothing", "leaked", "accepted")
LAST_OF_U, FIRST_OF_V = "last word of u", "first word of v"
# set and place of the forgery: (byte, bit that is flipped)
FORGERIES = {("mlkem512", LAST_OF_U): (638, 0x40), ("mlkem512", FIRST_OF_V): (640, 0x01),
             ("mlkem1024", FIRST_OF_V): (1408, 0x01), ("kyber512", LAST_OF_U): (638, 0x40)}
# (model, set, place, kind of register, arguments of fault_test)
CAMPAIGN = (
    ("", "mlkem512", LAST_OF_U, "control", ("grid", "400", "40")),
    ("", "mlkem512", FIRST_OF_V, "control", ("grid", "10000", "20")),
    ("", "kyber512", LAST_OF_U, "control", ("grid", "10000", "20")),
    ("", "mlkem1024", FIRST_OF_V, "control", ("random", "1000")),
    ("", "mlkem512", LAST_OF_U, "memory", ("random", "1000")),
    ("", "mlkem512", LAST_OF_U, "data", ("random", "1000")),
)
SAMPLE = (("", "mlkem512", LAST_OF_U, "control", ("random", "2000")),
          ("", "kyber512", LAST_OF_U, "memory", ("random", "500")))
# The verdict in one rail: what the core had before. {text in output_unit.sv: text that replaces it in the weak copy}
WEAKNESS = {"= unfinished_q || unequal_q;": "= unfinished_q || !equal_q;", "equal_q == unequal_q": "1'b0"}
WEAK_CAMPAIGN = ("weak", "mlkem512", LAST_OF_U, "control", ("grid", "10000", "12"))


def fault_line(name, place):
    """Returns the line for fault_test of a known answer's forged ciphertext."""
    entry = json.loads((DATA / f"{name}.json").read_text())["counts"][0]
    ciphertext, key = bytearray.fromhex(entry["ct"]), bytes.fromhex(entry["sk"])
    byte, bit = FORGERIES[name, place]
    ciphertext[byte] ^= bit
    kyber = name.startswith("kyber")
    if kyber:
        message = hashlib.sha3_256(bytes.fromhex(entry["encaps_draws"][0])).digest()
        pre_key = hashlib.sha3_512(message + hashlib.sha3_256(bytes.fromhex(entry["pk"])).digest()).digest()[:32]
        ends = hashlib.sha3_256(ciphertext).digest()
        accepted = hashlib.shake_256(pre_key + ends).hexdigest(32)
    else:
        ends, accepted = bytes(ciphertext), entry["ss"]
    rejected = hashlib.shake_256(key[-32:] + ends).hexdigest(32)
    k = {"512": 2, "768": 3, "1024": 4}[name.removeprefix("mlkem").removeprefix("kyber")]
    return f"{name} {int(kyber)} {k} {ciphertext.hex()}{key.hex()} {rejected} {accepted}\n"


def build(folder, sources=HW):
    subprocess.run([sources / "tools/build_model.sh", folder, "fault_test"], check=True)


def run(folder, model, name, place, kind, arguments):
    """Runs a part of the campaign on a model in its folder. Returns its counts, and what was accepted or leaked."""
    folder /= model
    done = subprocess.run([folder / "fault_test", folder / "model_faults/flops.txt", kind, *arguments],
                          input=fault_line(name, place), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{name}, {kind}: the campaign ended with {done.returncode}: {done.stderr[-2000:]}")
    rows = [line.split() for line in done.stdout.splitlines()]
    counts = {"model": model, "set": name, "differs": place, "kind": kind, "cycles": " ".join(arguments),
              "registers": len(rows), "bits": sum(int(row[2]) for row in rows),
              "flips": sum(int(row[3]) for row in rows)}
    for i, outcome in enumerate(OUTCOMES):
        counts[outcome] = sum(int(row[4 + i]) for row in rows)
    return counts, done.stderr


def weak_copy(folder):
    """Copies hw/ and plants the weakness in the copy. Returns the copy's folder."""
    copy = folder / "weak/hw"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(HW, copy, ignore=shutil.ignore_patterns("doc", "pynq", "__pycache__"))
    file = copy / "rtl/control/output_unit.sv"
    text = file.read_text()
    for old, new in WEAKNESS.items():
        if text.count(old) != 1:
            raise SystemExit(f"output_unit.sv has no {old!r}: the planted weakness is out of date")
        text = text.replace(old, new)
    file.write_text(text)
    return copy


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.build.resolve()
    build(folder)
    found, bad = [], 0
    for part in SAMPLE if options.sample else CAMPAIGN:
        counts, said = run(folder, *part)
        found.append(counts)
        bad += counts["leaked"] + counts["accepted"]
        print(", ".join(f"{key} {value}" for key, value in counts.items()), flush=True)
        print(said, end="")
    if options.sample:
        return 1 if bad else 0
    copy = weak_copy(folder)
    if not (copy.parent / ".venv-hw").exists():
        (copy.parent / ".venv-hw").symlink_to(HW.parent / ".venv-hw")
    build(folder / "weak", copy)
    planted, _ = run(folder / "weak", *WEAK_CAMPAIGN)
    print(f"with the verdict in one rail: accepted {planted['accepted']} of {planted['flips']}")
    if options.json:
        content = {"schema": "polykem-hw-faults-1", "command": "make hw-faults", "parts": found, "planted": planted}
        options.json.write_text(json.dumps(content, indent=1) + "\n")
    return 1 if bad or planted["accepted"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
