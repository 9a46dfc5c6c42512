# SPDX-License-Identifier: Apache-2.0
"""OpenFHE's part of peers.py.

    openfhe_peer.py LOG_N LIMBS DIGITS SECONDS
"""
import sys
import time

import numpy as np
import openfhe as fhe


def timing(operation, seconds, call):
    call()
    times, begin = [], time.process_time()
    while len(times) < 3 or time.process_time() - begin < seconds:
        start = time.process_time()
        call()
        times.append(1e3 * (time.process_time() - start))
    print(operation, f"{min(times):.4f}", f"{np.median(times):.4f}", sep="\t", flush=True)


def main(log_n, limbs, digits, seconds):
    parameters = fhe.CCParamsCKKSRNS()
    for name, value in dict(RingDim=2 ** log_n, BatchSize=2 ** (log_n - 1), SecurityLevel=fhe.HEStd_NotSet,
                            MultiplicativeDepth=limbs - 1, ScalingModSize=50, FirstModSize=60, NumLargeDigits=digits,
                            KeySwitchTechnique=fhe.HYBRID, ScalingTechnique=fhe.FIXEDMANUAL).items():
        getattr(parameters, "Set" + name)(value)
    cc = fhe.GenCryptoContext(parameters)
    for feature in (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE):
        cc.Enable(feature)
    keys = cc.KeyGen()
    cc.EvalMultKeyGen(keys.secretKey)
    cc.EvalRotateKeyGen(keys.secretKey, list(range(1, 17)))
    x = np.random.default_rng(1).uniform(-1, 1, 2 ** (log_n - 1))
    a = cc.Encrypt(keys.publicKey, cc.MakeCKKSPackedPlaintext(x.tolist()))
    product = cc.EvalMult(a, a)
    timing("multiply", seconds, lambda: cc.EvalMult(a, a))
    timing("rotate", seconds, lambda: cc.EvalRotate(a, 1))
    timing("rescale", seconds, lambda: cc.Rescale(product))

    def hoisted():
        digits = cc.EvalFastRotationPrecompute(a)
        for steps in range(1, 17):
            cc.EvalFastRotation(a, steps, 2 ** (log_n + 1), digits)
    timing("16 rotations", seconds, hoisted)


main(*map(int, sys.argv[1:4]), float(sys.argv[4]))
