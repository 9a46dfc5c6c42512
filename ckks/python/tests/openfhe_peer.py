# SPDX-License-Identifier: Apache-2.0
"""Does OpenFHE's part of test_ckks_openfhe.py's live exchanges, in the working folder. Ends with 77 without OpenFHE.

    openfhe_peer.py encrypt TECHNIQUE LOG_N FORM | decrypt FORM | compute FORM
"""
import sys

import numpy as np

try:
    import openfhe as fhe
except ImportError:
    sys.exit(77)

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


def encrypt(technique, log_n, form):
    slots = 2 ** int(log_n) // 2
    parameters = fhe.CCParamsCKKSRNS()
    for name, value in dict(RingDim=2 * slots, BatchSize=slots, SecurityLevel=fhe.HEStd_NotSet, MultiplicativeDepth=11,
                            ScalingModSize=50, FirstModSize=60, NumLargeDigits=3, KeySwitchTechnique=fhe.HYBRID,
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
    for i in range(3):
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


if __name__ == "__main__":
    {"encrypt": encrypt, "decrypt": decrypt, "compute": compute}[sys.argv[1]](*sys.argv[2:])
