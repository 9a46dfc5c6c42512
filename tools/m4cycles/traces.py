# SPDX-License-Identifier: Apache-2.0
"""Constant time on the Cortex-M4: the addresses of all instructions and of all data that an operation touches must be
the same whatever its secrets are.

bench/m4/secrets.c runs operations with different secrets and the same public values; the plugin hashes the addresses of
each call. Functions with a branch and with an address that depend on a secret must be found.
"""

import m4cycles

CALLS = 4


def operations(name):
    """Key pairs have matrices of their own, which ML-KEM samples by rejection and FrodoKEM-AES makes with tables, from
    a public seed: their traces may differ."""
    public_matrix = name.startswith("mlkem") or name.endswith("aes")
    return ("encaps", "decaps") if public_matrix else ("keygen", "encaps", "decaps")


def are_equal(elf, functions, wanted):
    """(passed, text): whether all calls of each function have one trace, as it should be."""
    passed, text = True, []
    for name, found in m4cycles.measure(elf, traced=functions)["traces"].items():
        different = len(set(found))
        passed = passed and len(found) >= CALLS and (different == 1) == wanted
        text.append(f"{name}: {len(found)} calls, different traces: {different}")
    return passed and len(text) == len(functions), "\n".join(text)


def tests(folder, sets):
    """(name, test) of each of `sets`, among which is mlkem512, and of the leaks."""
    for name in sets:
        elf = folder / "bench" / f"secrets_{name}"
        yield f"traces of {name}", lambda e=elf, f=operations(name): are_equal(e, f, True)
    leaks = ("leak_by_branch", "leak_by_address")
    elf = folder / "bench" / "secrets_mlkem512"
    yield "traces of leaks, which must be found", lambda: are_equal(elf, leaks, False)
