#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the known answers of this folder with OpenFHE (pip install openfhe==1.6.1). Keys and noise are fresh each
time.

    python3 generate.py [FOLDER]
"""

import json
import random
import sys
from pathlib import Path

import openfhe as fhe

RING, SLOTS = 64, 32
SETS = {
    "manual": dict(ScalingTechnique=fhe.FIXEDMANUAL, MultiplicativeDepth=3, ScalingModSize=40, FirstModSize=50),
    "composite": dict(ScalingTechnique=fhe.COMPOSITESCALINGMANUAL, RegisterWordSize=32, CompositeDegree=2,
                      MultiplicativeDepth=2, ScalingModSize=48, FirstModSize=58),
}


# For "composite", which OpenFHE rescales by itself, as many as are small enough.
LEFT_OUT = {"manual": (), "composite": ("difference", "negative", "product", "rescaled", "low_rotated", "rotated_-2")}
ROTATIONS = {"manual": [1, -2], "composite": [1]}


def context(settings):
    parameters = fhe.CCParamsCKKSRNS()
    chosen = dict(RingDim=RING, BatchSize=SLOTS, SecurityLevel=fhe.HEStd_NotSet, KeySwitchTechnique=fhe.HYBRID,
                  NumLargeDigits=2) | settings
    for name, value in chosen.items():
        getattr(parameters, "Set" + name)(value)
    made = fhe.GenCryptoContext(parameters)
    for feature in (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE, fhe.ADVANCEDSHE):
        made.Enable(feature)
    return made


def answers(cc, keys, conjugation, values):
    """Returns inputs and functions of the results, by name."""
    a, b = (cc.Encrypt(keys.publicKey, cc.MakeCKKSPackedPlaintext(values[name])) for name in "ab")
    plain = cc.MakeCKKSPackedPlaintext(values["plain"])
    product = cc.EvalMultNoRelin(a, b)
    relinearised = cc.Relinearize(product)
    rescaled = cc.Rescale(relinearised)
    return {
        "a": lambda: a, "b": lambda: b, "sum": lambda: cc.EvalAdd(a, b), "difference": lambda: cc.EvalSub(a, b),
        "negative": lambda: cc.EvalNegate(a), "product": lambda: product, "relinearised": lambda: relinearised,
        "rescaled": lambda: rescaled, "low_square": lambda: cc.EvalMult(rescaled, rescaled),
        "low_rotated": lambda: cc.EvalRotate(rescaled, 1), "rotated_1": lambda: cc.EvalRotate(a, 1),
        "rotated_-2": lambda: cc.EvalRotate(a, -2), "plain_sum": lambda: cc.EvalAdd(a, plain),
        "conjugate": lambda: cc.EvalAutomorphism(a, 2 * RING - 1, conjugation),
        "plain_product": lambda: cc.EvalMult(a, plain),
    }


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    for name, settings in SETS.items():
        (folder / name).mkdir(exist_ok=True)
        cc = context(settings)
        keys = cc.KeyGen()
        cc.EvalMultKeyGen(keys.secretKey)
        cc.EvalRotateKeyGen(keys.secretKey, ROTATIONS[name])
        conjugation = cc.EvalAutomorphismKeyGen(keys.secretKey, [2 * RING - 1])
        cc.InsertEvalAutomorphismKey(conjugation, keys.secretKey.GetKeyTag())
        values = {key: [random.uniform(-1, 1) for _ in range(SLOTS)] for key in ("a", "b", "plain")}
        things = {"context": lambda: cc, "secret": lambda: keys.secretKey}
        for thing, value in (things | answers(cc, keys, conjugation, values)).items():
            if thing not in LEFT_OUT[name]:
                assert fhe.SerializeToFile(str(folder / name / f"{thing}.bin"), value(), fhe.BINARY)
        assert cc.SerializeEvalMultKey(str(folder / name / "mult.bin"), fhe.BINARY, "")
        assert cc.SerializeEvalAutomorphismKey(str(folder / name / "auto.bin"), fhe.BINARY, "")
        (folder / name / "values.json").write_text(json.dumps(values))
        cc.ClearStaticMapsAndVectors()


if __name__ == "__main__":
    main()
