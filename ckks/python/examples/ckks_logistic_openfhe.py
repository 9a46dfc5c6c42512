# SPDX-License-Identifier: Apache-2.0
"""The circuit of ckks_logistic.py in OpenFHE (pip install openfhe==1.6.1), with the same parameters, for comparison.

    OMP_NUM_THREADS=1 python ckks_logistic_openfhe.py
"""
import time

import numpy as np
import openfhe as fhe

ROWS, FEATURES, BOUND = 1024, 8, 4.0


def seconds(work, times=5):
    work()
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        result = work()
        taken.append(time.perf_counter() - begin)
    return result, sorted(taken)[times // 2]


def context():
    parameters = fhe.CCParamsCKKSRNS()
    for name, value in dict(RingDim=2 ** 14, BatchSize=2 ** 13, MultiplicativeDepth=4, ScalingModSize=40,
                            FirstModSize=50, NumLargeDigits=3, SecurityLevel=fhe.HEStd_NotSet,
                            KeySwitchTechnique=fhe.HYBRID, ScalingTechnique=fhe.FIXEDMANUAL).items():
        getattr(parameters, "Set" + name)(value)
    cc = fhe.GenCryptoContext(parameters)
    for feature in (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE):
        cc.Enable(feature)
    return cc


def logistic(cc, rows, weights, bias, cubic):
    z = cc.Rescale(cc.EvalMult(rows, cc.MakeCKKSPackedPlaintext(list(np.repeat(weights, ROWS)))))
    for steps in (4 * ROWS, 2 * ROWS, ROWS):
        z = cc.EvalAdd(z, cc.EvalRotate(z, steps))
    z = cc.EvalAdd(z, bias)
    odd = cc.Rescale(cc.EvalMult(cc.Rescale(cc.EvalMult(z, z)), cubic[3]))
    odd = cc.EvalAdd(odd, cubic[1])
    return cc.EvalAdd(cc.Rescale(cc.EvalMult(odd, cc.LevelReduce(z, None, 2))), cubic[0])


def main():
    rng, grid = np.random.default_rng(7), np.linspace(-BOUND, BOUND, 1000)
    x, weights, bias = rng.uniform(-1, 1, (ROWS, FEATURES)), rng.uniform(-1, 1, FEATURES), 0.25
    cubic = np.polynomial.Polynomial.fit(grid, 1 / (1 + np.exp(-grid)), 3).convert().coef
    cc = context()
    keys = cc.KeyGen()
    cc.EvalMultKeyGen(keys.secretKey)
    cc.EvalRotateKeyGen(keys.secretKey, [4 * ROWS, 2 * ROWS, ROWS])
    rows, encryption = seconds(
        lambda: cc.Encrypt(keys.publicKey, cc.MakeCKKSPackedPlaintext(list(x.T.reshape(-1)))))
    scores, computing = seconds(lambda: logistic(cc, rows, weights, bias, cubic))
    plaintext, decryption = seconds(lambda: cc.Decrypt(scores, keys.secretKey))
    plaintext.SetLength(ROWS)
    error = np.abs(np.array(plaintext.GetRealPackedValue()) - np.polynomial.Polynomial(cubic)(x @ weights + bias)).max()
    print(f"OpenFHE: encryption {encryption * 1e3:.1f} ms, inference {computing * 1e3:.1f} ms "
          f"({computing / ROWS * 1e6:.1f} us a row), decryption {decryption * 1e3:.1f} ms; "
          f"precision {-np.log2(error):.1f} bits")


if __name__ == "__main__":
    main()
