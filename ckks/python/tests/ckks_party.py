# SPDX-License-Identifier: Apache-2.0
"""A context with all keys, for tests: its ring is too small to be secure."""
from dataclasses import replace

import numpy as np

from polykem import ckks


class Party:
    def __init__(self, parameters, rotations=(), conjugation=False):
        self.context = ckks.Context(parameters, threads=2, allow_insecure=True)
        self.secret = ckks.SecretKey.generate(self.context)
        self.public = ckks.PublicKey.generate(self.context, self.secret)
        self.keys = ckks.Keys.generate(self.context, self.secret, rotations=rotations, conjugation=conjugation)
        self.evaluator = ckks.Evaluator(self.context, self.keys)
        self.manual = ckks.Evaluator(self.context, self.keys, automatic=False)

    def encrypt(self, values):
        return self.evaluator.bind(self.context.encrypt(self.public, values))

    def error(self, ciphertexts, values):
        return float(np.abs(self.context.decrypt(self.secret, ciphertexts) - values).max())


def techniques(log_n, levels):
    """Returns parameters as OpenFHE's scaling techniques have them, by name. FIXEDAUTO differs from FIXEDMANUAL in
    files only."""
    x = ckks.Parameters.choose(log_n, levels, 45, 60)
    more = ckks.Parameters.choose(log_n, levels + 1, 45, 60)
    return {"FIXEDMANUAL": x, "FLEXIBLEAUTO": replace(x, scale=float(x.q[-1])),
            "FLEXIBLEAUTOEXT": replace(more, scale=float(more.q[-2]), extra_limb=True),
            "COMPOSITESCALINGMANUAL": ckks.Parameters.choose(log_n, levels, 50, 60, short_primes=True)}
