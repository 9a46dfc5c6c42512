# SPDX-License-Identifier: Apache-2.0
"""Tests constant time on the Cortex-M4: the addresses of all instructions and data that an operation touches must be
the same for all secrets.

bench/m4/secrets.c runs operations with different secrets and the same public values; the plugin hashes the addresses of
each call. Functions with a branch and with an address that depend on a secret must be found.
"""

import m4cycles

CALLS = 4


def operations(name):
    """Returns the operations to compare. In key generation of ML-KEM and FrodoKEM-AES traces may differ: each pair has
    a matrix of its own, made from a public seed by rejection or with tables."""
    public_matrix = name.startswith("mlkem") or name.endswith("aes")
    return ("encaps", "decaps") if public_matrix else ("keygen", "encaps", "decaps")


def are_equal(elf, functions, wanted):
    """Returns (passed, text). Each function must have one trace in all calls or, if not `wanted`, several."""
    passed, text = True, []
    for name, found in m4cycles.measure(elf, traced=functions)["traces"].items():
        different = len(set(found))
        passed = passed and len(found) >= CALLS and (different == 1) == wanted
        text.append(f"{name}: {len(found)} calls, different traces: {different}")
    return passed and len(text) == len(functions), "\n".join(text)


def tests(folder, sets):
    """Returns (name, test) of each of `sets`, among them mlkem512, and of the leaks."""
    for name in sets:
        elf = folder / "bench" / f"secrets_{name}"
        yield f"traces of {name}", lambda e=elf, f=operations(name): are_equal(e, f, True)
    leaks = ("leak_by_branch", "leak_by_address")
    elf = folder / "bench" / "secrets_mlkem512"
    yield "traces of leaks, which must be found", lambda: are_equal(elf, leaks, False)
