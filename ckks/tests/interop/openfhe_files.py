#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exchanges files with OpenFHE: OpenFHE writes, polykem reads and writes, OpenFHE reads this and computes with it.

    python3 openfhe_files.py TOOL              TOOL: the program polykem_openfhe_tool
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import openfhe as fhe

FORMS = {"json": ("json", fhe.JSON), "bin": ("binary", fhe.BINARY)}
KINDS = {"context": "context", "public": "public", "secret": "secret", "mult": "mult", "auto": "auto"}
TOLERANCE = 1e-4
SETS = {
    "FIXEDMANUAL": {},
    "FIXEDAUTO": dict(ScalingTechnique=fhe.FIXEDAUTO),
    "FLEXIBLEAUTO": dict(ScalingTechnique=fhe.FLEXIBLEAUTO),
    "FLEXIBLEAUTOEXT": dict(ScalingTechnique=fhe.FLEXIBLEAUTOEXT),
    "registers of 32 bits": dict(ScalingTechnique=fhe.COMPOSITESCALINGAUTO, RegisterWordSize=32, ScalingModSize=48,
                                 FirstModSize=58),
    "one digit": dict(MultiplicativeDepth=2, NumLargeDigits=1),
    "nine levels": dict(MultiplicativeDepth=9, NumLargeDigits=3),
    "few slots": dict(BatchSize=4),
    "BV": dict(KeySwitchTechnique=fhe.BV, DigitSize=10),
    "sparse": dict(SecretKeyDist=fhe.SPARSE_TERNARY, RingDim=256),
    "N = 4096": dict(RingDim=4096, BatchSize=2048),
    "bootstrapping": dict(MultiplicativeDepth=20, Bootstrapping=True),
}


def context(settings):
    chosen = dict(MultiplicativeDepth=3, ScalingModSize=40, FirstModSize=50, RingDim=64, BatchSize=32,
                  SecurityLevel=fhe.HEStd_NotSet, ScalingTechnique=fhe.FIXEDMANUAL, NumLargeDigits=2) | settings
    bootstrapping = chosen.pop("Bootstrapping", False)
    parameters = fhe.CCParamsCKKSRNS()
    for name, value in chosen.items():
        getattr(parameters, "Set" + name)(value)
    made = fhe.GenCryptoContext(parameters)
    for feature in (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE, fhe.ADVANCEDSHE):
        made.Enable(feature)
    if bootstrapping:
        made.Enable(fhe.FHE)
        made.EvalBootstrapSetup([2, 2], [0, 0], chosen["BatchSize"])
    return made, chosen["BatchSize"]


def values(slots):
    return [0.05 * (i % 17) - 0.3 for i in range(slots)]


def ciphertexts(cc, public_key, slots):
    """Returns {name: (ciphertext, what it decrypts to)}."""
    plain = values(slots)
    squares = [x * x for x in plain]
    fresh = cc.Encrypt(public_key, cc.MakeCKKSPackedPlaintext(plain))
    product = cc.EvalMult(fresh, fresh)
    rescaled = cc.Rescale(product)
    made = {"fresh": (fresh, plain), "product": (product, squares), "rescaled": (rescaled, squares),
            "three parts": (cc.EvalMultNoRelin(fresh, fresh), squares),
            "rotated": (cc.EvalRotate(rescaled, 1), squares[1:] + squares[:1]),
            "sum": (cc.EvalAdd(rescaled, rescaled), [2 * x for x in squares]),
            "fourth power": (cc.EvalMult(rescaled, rescaled), [x * x for x in squares]),
            "compressed": (cc.Compress(fresh, 2), plain)}
    if cc.GetScalingTechnique() == fhe.FIXEDMANUAL:
        made["fewer levels"] = (cc.LevelReduce(fresh, None, 1), plain)
    return made


def generate(folder, name):
    cc, slots = context(SETS[name])
    keys = cc.KeyGen()
    cc.EvalMultKeyGen(keys.secretKey)
    cc.EvalRotateKeyGen(keys.secretKey, [1, -2])
    made = ciphertexts(cc, keys.publicKey, slots)
    things = {"context": cc, "public": keys.publicKey, "secret": keys.secretKey} | {k: v[0] for k, v in made.items()}
    for ending, (_, form) in FORMS.items():
        for thing, value in things.items():
            assert fhe.SerializeToFile(str(folder / f"{thing}.{ending}"), value, form)
        assert cc.SerializeEvalMultKey(str(folder / f"mult.{ending}"), form, "")
        assert cc.SerializeEvalAutomorphismKey(str(folder / f"auto.{ending}"), form, "")
    (folder / "expected").write_text(json.dumps({k: v[1] for k, v in made.items()}))


def same(ours, theirs):
    """Returns JSON without the last digits of scales, which may differ for the same number."""
    if ours.read_bytes() == theirs.read_bytes():
        return True
    return ours.suffix == ".json" and json.loads(ours.read_text()) == json.loads(theirs.read_text())


def convert(tool, source, target):
    """Writes the files of `source` again: unchanged, from either form; in new/, with our own sharing."""
    count = 0
    for path in sorted(source.glob("*.*")):
        kind = KINDS.get(path.stem, "ciphertext")
        for ending, (form, _) in FORMS.items():
            ours = target / f"{path.stem}.{ending}"
            subprocess.run([tool, kind, form, path, ours], check=True)
            assert same(ours, source / ours.name), f"{path} as {form}"
            subprocess.run([tool, kind, form, path, target / "new" / ours.name, "new"], check=True)
            count += 1
    return count


def load(function, path, form):
    thing, good = function(str(path), form)
    assert good, path
    return thing


def check(folder, ending, expected):
    """Checks that OpenFHE decrypts the folder's ciphertexts and computes with its keys. It needs a process of its own,
    as keys for evaluation are global."""
    form = FORMS[ending][1]
    cc = load(fhe.DeserializeCryptoContext, folder / f"context.{ending}", form)
    public_key = load(fhe.DeserializePublicKey, folder / f"public.{ending}", form)
    secret_key = load(fhe.DeserializePrivateKey, folder / f"secret.{ending}", form)
    assert cc.DeserializeEvalMultKey(str(folder / f"mult.{ending}"), form)
    assert cc.DeserializeEvalAutomorphismKey(str(folder / f"auto.{ending}"), form)

    def expect(ciphertext, plain, what):
        result = cc.Decrypt(ciphertext, secret_key)
        result.SetLength(len(plain))
        worst = max(abs(a - b) for a, b in zip(result.GetRealPackedValue(), plain))
        assert worst < TOLERANCE, f"{folder}: {what}.{ending} is off by {worst}"

    read = {name: load(fhe.DeserializeCiphertext, folder / f"{name}.{ending}", form) for name in expected}
    for name, plain in expected.items():
        expect(read[name], plain, name)
    plain = expected["fresh"]
    expect(cc.EvalMult(read["fresh"], read["fresh"]), [x * x for x in plain], "a product with the keys")
    expect(cc.EvalRotate(read["fresh"], -2), plain[-2:] + plain[:-2], "a rotation with the keys")
    fresh = cc.Encrypt(public_key, cc.MakeCKKSPackedPlaintext(plain))
    expect(cc.EvalAdd(fresh, read["fresh"]), [2 * x for x in plain], "a sum with a new ciphertext")


def exchange(tool, name, folder):
    source, target = folder / "theirs", folder / "ours"
    for made in (source, target / "new"):
        made.mkdir(parents=True)
    again = [sys.executable, __file__, tool]
    subprocess.run([*again, "generate", name, source], check=True)
    count = convert(tool, source, target)
    for written in (target, target / "new"):
        for ending in FORMS:
            subprocess.run([*again, "check", written, ending, source / "expected"], check=True)
    print(f"{name}: {count} files read, written, and read by OpenFHE", flush=True)


def main():
    tool, *rest = sys.argv[1:]
    if rest[:1] == ["generate"]:
        return generate(Path(rest[2]), rest[1])
    if rest[:1] == ["check"]:
        return check(Path(rest[1]), rest[2], json.loads(Path(rest[3]).read_text()))
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(SETS):
            exchange(tool, name, Path(folder) / str(number))


if __name__ == "__main__":
    main()
