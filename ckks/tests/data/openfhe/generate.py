#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files of this folder with OpenFHE (pip install openfhe==1.6.1). Keys and noise are fresh each time.

    python3 generate.py [FOLDER]
"""

import sys
from pathlib import Path

import openfhe as fhe

SLOTS = 8
VALUES = [0.25 * i - 0.75 for i in range(SLOTS)]
FORMS = {"json": fhe.JSON, "bin": fhe.BINARY}


def context(parameters, features, **settings):
    chosen = dict(MultiplicativeDepth=2, ScalingModSize=40, FirstModSize=50, RingDim=2 * SLOTS, BatchSize=SLOTS,
                  SecurityLevel=fhe.HEStd_NotSet, ScalingTechnique=fhe.FIXEDMANUAL, NumLargeDigits=2) | settings
    for name, value in chosen.items():
        getattr(parameters, "Set" + name)(value)
    made = fhe.GenCryptoContext(parameters)
    for feature in features:
        made.Enable(feature)
    return made


def serialize(folder, name, thing, forms=FORMS):
    for form in forms:
        assert fhe.SerializeToFile(str(folder / f"{name}.{form}"), thing, FORMS[form])


def ckks(folder):
    levelled = (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE)
    cc = context(fhe.CCParamsCKKSRNS(), levelled)
    keys = cc.KeyGen()
    cc.EvalMultKeyGen(keys.secretKey)
    cc.EvalRotateKeyGen(keys.secretKey, [1, -2])
    fresh = cc.Encrypt(keys.publicKey, cc.MakeCKKSPackedPlaintext(VALUES))
    rescaled = cc.Rescale(cc.EvalMult(fresh, fresh))
    serialize(folder, "context", cc)
    serialize(folder, "public", keys.publicKey, ["bin"])
    serialize(folder, "secret", keys.secretKey)
    serialize(folder, "fresh", fresh)
    serialize(folder, "product", cc.EvalMultNoRelin(fresh, fresh), ["bin"])
    serialize(folder, "rescaled", rescaled)
    serialize(folder, "rotated", cc.EvalRotate(rescaled, 1), ["bin"])
    for form in FORMS:
        assert cc.SerializeEvalMultKey(str(folder / f"mult.{form}"), FORMS[form], "")
    assert cc.SerializeEvalAutomorphismKey(str(folder / "auto.bin"), fhe.BINARY, "")

    composite = context(fhe.CCParamsCKKSRNS(), levelled, ScalingTechnique=fhe.COMPOSITESCALINGAUTO, RegisterWordSize=32,
                        ScalingModSize=48, FirstModSize=58, BatchSize=SLOTS // 2)
    keys = composite.KeyGen()
    values = composite.MakeCKKSPackedPlaintext(VALUES[:SLOTS // 2])
    serialize(folder, "composite", composite.Encrypt(keys.publicKey, values), ["bin"])
    bootstrapping = context(fhe.CCParamsCKKSRNS(), (*levelled, fhe.ADVANCEDSHE, fhe.FHE), MultiplicativeDepth=20)
    bootstrapping.EvalBootstrapSetup([2, 2], [0, 0], SLOTS)
    serialize(folder, "bootstrapping", bootstrapping, ["bin"])


def others(folder):
    """Writes files of schemes that polykem refuses."""
    for name, parameters in (("bgv", fhe.CCParamsBGVRNS()), ("bfv", fhe.CCParamsBFVRNS())):
        parameters.SetPlaintextModulus(65537)
        parameters.SetMultiplicativeDepth(1)
        parameters.SetRingDim(16)
        parameters.SetSecurityLevel(fhe.HEStd_NotSet)
        serialize(folder, name, fhe.GenCryptoContext(parameters), ["bin"])


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    ckks(folder)
    others(folder)


if __name__ == "__main__":
    main()
