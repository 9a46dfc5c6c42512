#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the inputs that each fuzzer starts from, made from the vectors and files of the tests.

    tests/fuzz/seeds.py FOLDER     writes FOLDER/FUZZER/NAME; the same bytes each time

tests/exhaustive changes the same inputs byte by byte, so they are as few and as short as they can be.
"""

import base64
import gzip
import json
import re
import shutil
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
OPENFHE = ROOT / "ckks/tests/data/openfhe"


def der_blocks(text):
    """Returns the contents of a file's PEM blocks."""
    blocks = re.findall(rb"-----BEGIN [^-]*-----([A-Za-z0-9+/=\s]*)-----END", text)
    return [base64.b64decode(block) for block in blocks]


def armour(label, record):
    lines = re.findall(".{1,64}", base64.b64encode(record).decode())
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""]).encode()


def known_answer(name):
    """Returns a file's first known answer, and the file with that one alone."""
    document = json.loads((DATA / name).read_text())
    first = document["counts"][0]
    first["reject"] = first["reject"][:1]
    return first, {"name": document["name"], "counts": [first]}


def rsp(scheme, answer):
    lines = [f"# {scheme}", ""] + [f"{key} = {answer[key].upper() if key != 'count' else answer[key]}"
                                   for key in ("count", "seed", "pk", "sk", "ct", "ss")]
    return ("\n".join(lines) + "\n").encode()


def compact(document):
    return json.dumps(document, separators=(",", ":")).encode()


def first_tests(file, groups=lambda group: True):
    """Yields a vector file with each of its groups in turn, of which only the first test is left."""
    document = json.loads(gzip.decompress((DATA / file).read_bytes()))
    for group in filter(groups, document["testGroups"]):
        tests = [{key: value[:64] if key == "message" else value for key, value in group["tests"][0].items()
                  if key != "comment"}]
        yield compact({**{key: value for key, value in document.items() if key != "notes"},
                       "testGroups": [{**group, "tests": tests}]})


def key_files():
    """Returns the keys of the standards and of other programs: {name: content}."""
    folders = ("rfc9935", "rfc9881", "foreign_keys")
    return {path.name: path.read_bytes() for folder in folders for path in sorted((DATA / folder).iterdir())
            if path.suffix not in (".sh", ".py")}


def key_der(keys):
    for name in ("ML-KEM-512-both.priv", "ML-KEM-512-seed.priv", "ML-KEM-512.pub", "mlkem768.crt", "key_first.pem"):
        yield name, keys[name]
    for name, content in keys.items():
        for number, block in enumerate(der_blocks(content)):
            if len(block) < 3000 and b"ENCRYPTED" not in content:
                yield f"{name}.{number}.der", block
    for name in ("wolfssl_pk.der", "wolfssl_sk.der"):  # FrodoKEM-976's: the fuzzer appends zeros
        yield name + ".begin", keys[name][:64]


def encrypted_key(keys):
    yield from ((name, content) for name, content in keys.items()
                if name.endswith(".der") and not name.startswith("wolfssl"))


def key_file(keys):
    for name in ("ML-KEM-512-seed.priv", "ML-KEM-512.pub", "bad-ML-KEM-512-2.priv", "mlkem768.crt", "ca.crt",
                 "scrypt.pem", "aes-256-cbc.der"):
        yield name, keys[name]
    public, seed = (der_blocks(keys[f"ML-KEM-512{suffix}"])[0] for suffix in (".pub", "-seed.priv"))
    yield "public.der", public
    yield "two_seeds.der", 2 * seed
    yield "certificate.der", der_blocks(keys["ca.crt"])[0]
    answer, _ = known_answer("ntruhps2048509.json")
    for kind, label in (("pk", "PUBLIC KEY"), ("ss", "SHARED SECRET"), ("ct", "CIPHERTEXT")):
        record = bytes.fromhex(answer[kind])
        yield f"{kind}.raw", record
        yield f"{kind}.armour", armour(f"ntruhps2048509 {label}", record)
    secret = bytes.fromhex(answer["ss"])
    yield "two.raw", 2 * secret
    yield "two.armour", 2 * armour("ntruhps2048509 SHARED SECRET", secret)


def kat_rsp():
    answer, _ = known_answer("ntruhps2048509.json")
    yield "ntruhps2048509.rsp", rsp("ntruhps2048509", answer)
    yield "empty.rsp", b"# ntruhps2048509\n\ncount = 0\nseed =\n"


def kat_json():
    _, file = known_answer("ntruhps2048509.json")
    yield "ntruhps2048509.json", compact(file)
    yield "empty.json", compact({"name": "ntruhps2048509", "counts": []})


def kat_files():
    yield from kat_rsp()
    yield from kat_json()
    accumulated = json.loads((DATA / "accumulated.json").read_text())
    yield "accumulated.json", compact({key: value[:4] if isinstance(value, str) else
                                       {name: value[name] for name in ("mlkem512", "ntruhps2048509")}
                                       for key, value in accumulated.items()})
    small = "ML-KEM-512", "ML-DSA-44"
    for name in ("acvp/v1.1.0.43/ML-KEM-keyGen-FIPS203/internalProjection.json.gz",
                 "acvp/v1.1.0.43/ML-KEM-encapDecap-FIPS203-tr1/internalProjection.json.gz",
                 "mldsa/acvp_key-gen.json.gz", "mldsa/acvp_sig-gen.json.gz", "mldsa/acvp_sig-ver.json.gz"):
        groups = first_tests(name, lambda group: group["parameterSet"] in small)
        title = "_".join(name.removesuffix(".json.gz").split("/")[-2:])
        yield from ((f"{title}.{number}.json", group) for number, group in zip(range(4), groups))
    for name in ("mlkem_512_encaps", "mlkem_512_keygen_seed", "mlkem_512_semi_expanded_decaps", "mlkem_512",
                 "mldsa_44_verify", "mldsa_44_sign_seed"):
        folder = "mldsa" if name.startswith("mldsa") else "wycheproof"
        yield name + ".json", next(first_tests(f"{folder}/{name}_test.json.gz"))
    for folder in ("modulus", "strcmp", "unluckysample"):
        text = gzip.decompress((DATA / f"cctv/{folder}/ML-KEM-512.txt.gz").read_bytes())
        yield folder + ".txt", text.split(b"\n")[0] + b"\n" if folder == "modulus" else text


def gzipped():
    text = b"# ntruhps2048509\n\ncount = 0\n"
    whole = gzip.compress(text, mtime=0)
    yield "plain", text
    yield "compressed", whole
    yield "stored", gzip.compress(text, 0, mtime=0)
    yield "two_members", 2 * whole
    yield "named", whole[:3] + b"\x08" + whole[4:10] + b"a.rsp\0" + whole[10:]
    yield "dynamic", gzip.compress(bytes(i * i % 251 for i in range(2000)), mtime=0)
    yield "long", gzip.compress(bytes(1 << 20), mtime=0)


def frames():
    def frame(kind, payload):
        return b"PKEX" + struct.pack(">BBHI", 1, kind, 0, len(payload)) + payload
    hello = frame(1, b"\x01ntruhps2048509")
    yield "hello", hello
    yield "hello_encaps", frame(1, b"\x02mlkem512")
    yield "public_key", frame(2, bytes(64))
    yield "ciphertext", frame(3, bytes(32))
    yield "confirm", frame(4, bytes(32))
    yield "error", frame(5, b"\x03bad key")
    yield "empty", frame(4, b"")
    yield "two", 2 * hello


def metrics():
    def text(count):
        labels = '{set="mlkem768",op="encaps"'
        return (f'# HELP polykem_operations_total Finished operations\n# TYPE polykem_operations_total counter\n'
                f'polykem_build_info{{version="0.2.0",program="polykemd"}} 1\n'
                f'polykem_operations_total{labels},where="cpu"}} {count}\n'
                f'polykem_wait_seconds_bucket{labels},le="0.001"}} {count}\n'
                f'polykem_wait_seconds_bucket{labels},le="+Inf"}} {count}\n'
                f'polykem_service_seconds_bucket{labels},le="1e-05"}} {count}\n'
                f'polykem_batch_items_bucket{labels},le="16"}} {count}\n'
                f'polykem_spilled_total{labels}}} {count}\npolykem_rescued_total{labels}}} {count}\n'
                f'polykem_refused_total{labels}}} {count}\npolykem_failed_total{labels}}} {count}\n'
                f'polykem_waiting{labels}}} 3\npolykem_in_flight{labels}}} 4\npolykem_broker_clients 2\n'
                f'polykem_breaker_state{{executor="gpu0",state="open"}} 1\n'
                f'polykem_breaker_opened_total{{executor="gpu0"}} {count}\n').encode()
    yield "twice", text(1000) + text(2000)
    yield "escapes", b'a{b="\\"\\\\\\n"} 1.5e3\n' + b'a{b="\\"\\\\\\n"} +Inf\n'


def scheme_names():
    for name in ("ntruhps2048509", "mlkem768", "X25519MLKEM768", "frodokem-640 shake", "lac256", "mldsa44", "mlkme768"):
        yield name.replace(" ", "_"), name.encode()


def server_hellos():
    def hello(random, extensions):
        tail = b"" if extensions is None else struct.pack(">H", len(extensions)) + extensions
        body = b"\x03\x03" + random + b"\x20" + bytes(32) + b"\x13\x01\0" + tail
        return b"\x02" + len(body).to_bytes(3, "big") + body
    versions, share = b"\0\x2b\0\x02\x03\x04", b"\0\x33\0\x24\x11\xec\0\x20" + bytes(32)
    retry = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
    yield "hello", hello(bytes(32), versions + share)
    yield "retry", hello(retry, versions + b"\0\x33\0\x02\x11\xec")
    yield "tls12", hello(bytes(32), None)


def operations():
    """Sets by number, with the bytes that keys and coins are stretched from."""
    for number in (0, 5, 9, 14, 20):
        yield f"set{number}", bytes([number, 129]) + bytes(range(61))


def signatures():
    for number in range(3):
        yield f"set{number}", bytes([number, 5, 2, 7, 0, 1]) + b"hellox" + b"ctx" + bytes(range(64))


def broker():
    """A flag (the harness completes the greeting), the greeting, steps of eight bytes: what, slot, value."""
    greeting = struct.pack("<IIQII", 0x4D4B4C50, 2, 0, 4, 0)
    step = struct.Struct("<BBHI").pack
    submit = step(1, 0, 0, 0) + step(0, 0, 0, 1) + step(6, 0, 0, 0)
    for name, operation in (("keygen", 0), ("encaps", 1), ("decaps", 2), ("decaps_seed", 0x102)):
        yield name, b"\1" + greeting + step(2, 0, 0, 7) + step(3, 0, 0, operation) + submit
    yield "late", b"\1" + greeting + step(4, 0, 0, 1) + submit
    yield "too_many", b"\1" + greeting + step(0, 0, 0, 5) + step(6, 0, 0, 0)
    yield "greeting", b"\0" + greeting


def ckks_programs():
    """Calls that fit: keys, a ciphertext, products and rotations, the result decrypted and read."""
    encode, secret, public = bytes([2, 1, 3, 2, 10, 16, 0, 0]), bytes([4, 0, 0, 0]), bytes([4, 1, 0, 0, 0])
    encrypt, decrypt, decode = bytes([5, 0, 0, 0, 0]), bytes([6, 0, 0, 0, 1]), bytes([1, 8, 0, 1])
    yield "round_trip", encode + secret + public + encrypt + decrypt + decode
    for which in range(9):
        yield f"compute{which}", (encode + secret + public + encrypt + bytes([4, 2, 0, 0, 0])
                                  + bytes([7, which, 0, 0, 0, 0, 2, 0, 1, 0]) + bytes([0]))
    for which in range(5):
        yield f"words{which}", bytes([3, which, 4, 0, 1, 5, 1, 2, 2, 10, 0, 0, 0])


def openfhe(suffix):
    for path in sorted(OPENFHE.glob("*" + suffix)) + sorted((OPENFHE / "hostile").glob("*" + suffix)):
        yield path.name, path.read_bytes()


def corpora():
    keys = key_files()
    return {"key_der": key_der(keys), "encrypted_key": encrypted_key(keys), "key_file": key_file(keys),
            "kat_rsp": kat_rsp(), "kat_json": kat_json(), "kat_files": kat_files(), "gzip": gzipped(),
            "frame": frames(), "metrics": metrics(), "scheme_name": scheme_names(), "server_hello": server_hellos(),
            "broker": broker(), "encaps": operations(), "decaps": operations(), "backends": operations(),
            "signatures": signatures(), "ckks_rings": ckks_programs(), "openfhe_binary": openfhe(".bin"),
            "openfhe_json": openfhe(".json"), "ckks_files": openfhe(".bin")}


def main():
    folder = Path(sys.argv[1])
    for parser, inputs in corpora().items():
        place = folder / f"fuzz_{parser}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for name, content in inputs:
            (place / name).write_bytes(content)


if __name__ == "__main__":
    main()
