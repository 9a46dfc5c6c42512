# SPDX-License-Identifier: Apache-2.0
"""Does OpenFHE's part of test_ckks_openfhe.py's live exchanges, in the working folder.

    openfhe_peer.py encrypt TECHNIQUE LOG_N FORM [BITS] | decrypt FORM | compute FORM | subtract COUNT | use COUNT |
                    draw SEED COUNT

`draw` prints the moduli that OpenFHE chooses for COUNT random parameter sets: ckks/tests/data/openfhe_special.json is
`draw 1 400`.
"""
import json
import os
import random
import sys
import tempfile
from pathlib import Path

import numpy as np
import openfhe as fhe

FORMS = {"binary": fhe.BINARY, "json": fhe.JSON}


def save(name, thing, form):
    assert fhe.SerializeToFile(name, thing, FORMS[form]), name


def load(kind, name, form):
    thing, fine = getattr(fhe, "Deserialize" + kind)(name, FORMS[form])
    assert fine, name
    return thing


def numbers(cc, secret, ciphertext, slots):
    plaintext = cc.Decrypt(ciphertext, secret)
    plaintext.SetLength(slots)
    return np.array(plaintext.GetRealPackedValue())


def encrypt(technique, log_n, form, bits=50):
    slots = 2 ** int(log_n) // 2
    parameters = fhe.CCParamsCKKSRNS()
    for name, value in dict(RingDim=2 * slots, BatchSize=slots, SecurityLevel=fhe.HEStd_NotSet, MultiplicativeDepth=11,
                            ScalingModSize=int(bits), FirstModSize=60, NumLargeDigits=3, KeySwitchTechnique=fhe.HYBRID,
                            ScalingTechnique=getattr(fhe, technique)).items():
        getattr(parameters, "Set" + name)(value)
    cc = fhe.GenCryptoContext(parameters)
    for feature in (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE):
        cc.Enable(feature)
    keys = cc.KeyGen()
    cc.EvalMultKeyGen(keys.secretKey)
    cc.EvalRotateKeyGen(keys.secretKey, [1, -2])
    assert cc.SerializeEvalMultKey("mult", FORMS[form], "")
    assert cc.SerializeEvalAutomorphismKey("auto", FORMS[form], "")
    save("context", cc, form)
    save("secret", keys.secretKey, form)
    for i in range(3):
        values = np.random.uniform(-1, 1, slots)
        np.save(f"input{i}.npy", values)
        save(f"input{i}", cc.Encrypt(keys.publicKey, cc.MakeCKKSPackedPlaintext(list(values))), form)


def decrypt(form):
    cc, secret = load("CryptoContext", "context", form), load("PrivateKey", "secret", form)
    for i in range(4):
        result = load("Ciphertext", f"result{i}", form)
        np.save(f"result{i}.npy", numbers(cc, secret, result, len(np.load("input0.npy"))))


def compute(form):
    """Computes a power, which is rescaled after each product, and a rotation, and makes a new ciphertext."""
    cc, public = load("CryptoContext", "context", form), load("PublicKey", "public", form)
    secret = load("PrivateKey", "secret", form)
    for feature in (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE):
        cc.Enable(feature)
    assert cc.DeserializeEvalMultKey("mult", FORMS[form]) and cc.DeserializeEvalAutomorphismKey("auto", FORMS[form])
    x, values = load("Ciphertext", "input0", form), np.load("input0.npy")
    assert np.abs(numbers(cc, secret, x, len(values)) - values).max() < 2 ** -20
    np.save("rotated.npy", np.roll(values, -1) + np.roll(values, 2))
    save("rotated", cc.EvalAdd(cc.EvalRotate(x, 1), cc.EvalRotate(x, -2)), form)
    power, expected = x, values
    for _ in range(10):
        power = cc.EvalSub(cc.Rescale(cc.EvalMult(power, power)), 0.25)
        expected = expected * expected - 0.25
    np.save("powers.npy", expected)
    save("powers", power, form)
    own = np.random.uniform(-1, 1, len(values))
    np.save("own.npy", own)
    save("own", cc.Encrypt(public, cc.MakeCKKSPackedPlaintext(list(own))), form)


def subtract(count):
    """Subtracts its own fifth power of input0 from each result, and writes the largest differences."""
    cc, secret = load("CryptoContext", "context", "binary"), load("PrivateKey", "secret", "binary")
    assert cc.DeserializeEvalMultKey("mult", fhe.BINARY)
    x, values = load("Ciphertext", "input0", "binary"), np.load("input0.npy")
    square = cc.EvalMult(x, x)
    power = cc.EvalMult(cc.EvalMult(square, square), x)
    results = [load("Ciphertext", f"result{i}", "binary") for i in range(int(count))]
    errors = [error_of(cc, secret, cc.EvalSub(result, power), np.zeros(len(values))) for result in results]
    Path("errors.json").write_text(json.dumps(errors))


def error_of(cc, secret, ciphertext, expected):
    try:
        return float(np.abs(numbers(cc, secret, ciphertext, len(expected)) - expected).max())
    except RuntimeError as refusal:  # what OpenFHE cannot decrypt
        return str(refusal)


def use(count):
    """Loads what is in the folders 0, 1, ..., squares and rotates x by 1, and writes the largest errors."""
    for folder in map(Path, map(str, range(int(count)))):
        cc, secret = (load(kind, str(folder / name), "binary") for kind, name in (("CryptoContext", "context"),
                                                                                 ("PrivateKey", "secret")))
        for name, read in (("mult", cc.DeserializeEvalMultKey), ("auto", cc.DeserializeEvalAutomorphismKey)):
            assert read(str(folder / name), fhe.BINARY), folder
        x, values = load("Ciphertext", str(folder / "x"), "binary"), np.load(folder / "x.npy")
        square = cc.Rescale(cc.EvalMult(x, x))
        errors = {"x": error_of(cc, secret, x, values), "square": error_of(cc, secret, square, values ** 2),
                  "rotated": error_of(cc, secret, cc.EvalRotate(x, 1), np.roll(values, -1))}
        (folder / "errors.json").write_text(json.dumps(errors))
        fhe.ClearEvalMultKeys()


def random_parameters(rng):
    """Draws settings of a context; OpenFHE may refuse them."""
    technique = rng.choice(["FIXEDMANUAL", "FIXEDAUTO", "FLEXIBLEAUTO", "FLEXIBLEAUTOEXT", "COMPOSITESCALINGAUTO",
                            "COMPOSITESCALINGMANUAL"])
    depth, scale, log_n = rng.randrange(13), rng.randrange(22, 60), rng.randrange(6, 9)
    chosen = dict(ScalingTechnique=technique, RingDim=2 ** log_n, BatchSize=2 ** (log_n - 1), MultiplicativeDepth=depth,
                  ScalingModSize=scale, FirstModSize=rng.randrange(scale, 61), NumLargeDigits=rng.randrange(5))
    if technique.startswith("COMPOSITE"):
        chosen |= dict(RegisterWordSize=rng.choice([28, 30, 32, 40, 48, 64]), ScalingModSize=rng.randrange(40, 100))
        chosen["FirstModSize"] = chosen["ScalingModSize"] + rng.randrange(1, 18)
        if technique == "COMPOSITESCALINGMANUAL":
            chosen["CompositeDegree"] = rng.choice([1, 2, 3])
    return chosen


def made(chosen):
    parameters = fhe.CCParamsCKKSRNS()
    for name, value in chosen.items():
        getattr(parameters, "Set" + name)(getattr(fhe, value) if isinstance(value, str) else value)
    parameters.SetSecurityLevel(fhe.HEStd_NotSet)
    parameters.SetKeySwitchTechnique(fhe.HYBRID)
    cc = fhe.GenCryptoContext(parameters)
    for feature in (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE):
        cc.Enable(feature)
    return cc


def moduli(polynomial):
    return [tower["v"]["ptr_wrapper"]["data"]["m"]["v"] for tower in polynomial["v"]]


def chosen_moduli(chosen):
    """Returns what OpenFHE makes of settings, read from the files of its context and keys."""
    cc = made(chosen)
    keys = cc.KeyGen()
    cc.EvalMultKeyGen(keys.secretKey)
    save("public", keys.publicKey, "json")
    assert cc.SerializeEvalMultKey("mult", fhe.JSON, "")
    fhe.ClearEvalMultKeys()
    public = json.loads(Path("public").read_text())["value0"]["ptr_wrapper"]["data"]
    key = json.loads(Path("mult").read_text())["value0"][0]["value"][0]["ptr_wrapper"]["data"]
    settings = public["value0"]["value0"]["cc"]["ptr_wrapper"]["data"]["cc"]["ptr_wrapper"]["data"]["value0"]
    q = moduli(public["h"][0])
    return dict(log_n=chosen["RingDim"].bit_length() - 1, digits=settings["dnum"], bits=settings["ab"],
                limbs_per_level=settings["cd"], q=q, p=moduli(key["ak"][0])[len(q):])


def draw(seed, count):
    rng, drawn = random.Random(int(seed)), []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        while len(drawn) < int(count):
            try:
                drawn.append(chosen_moduli(random_parameters(rng)))
            except RuntimeError:  # refused
                continue
    print("[" + ",\n ".join(json.dumps(one, separators=(",", ":")) for one in drawn) + "]")


if __name__ == "__main__":
    commands = {f.__name__: f for f in (encrypt, decrypt, compute, subtract, use, draw)}
    commands[sys.argv[1]](*sys.argv[2:])
