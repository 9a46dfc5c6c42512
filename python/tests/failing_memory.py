# SPDX-License-Identifier: Apache-2.0
"""Runs with the library of failing_memory.cpp preloaded: calls of the package with each allocation of the extension
failing, one after the other.

    failing_memory.py [--long]

Each call must raise MemoryError, or end as if nothing had happened; afterwards it must work, no block may be lost, and
no freed block may hold a secret. Prints a line for each call, and ends with 1 if something is wrong. --long: also with
all later allocations failing, and at the first use of the library.
"""
import ctypes
import gc
import mmap
import os
import signal
import sys
import threading
import time

import numpy as np
import polykem
from polykem import _core, ckks

try:
    from polykem import hpke
except ImportError:
    hpke = None

SHIM = ctypes.CDLL(os.environ["LD_PRELOAD"])
SHIM.live_blocks.restype = SHIM.secrets_found.restype = ctypes.c_long
SET, HYBRID = polykem.Scheme("mlkem512"), polykem.Scheme("x25519mlkem768")
SIGNER = polykem.SignatureScheme("mldsa44")
COUNT, MOST = 3, 2000
COINS = (np.arange(COUNT * 64) * 37 % 251).astype(np.uint8).reshape(COUNT, 64)
PARAMETERS = ckks.Parameters.choose(5, 2, 40, 60)
NUMBERS = np.linspace(-1, 1, 16)


class Calls:
    """Calls of a program that uses polykem. Each method returns a result that must not change."""

    def __init__(self, ctx):
        self.ctx = ctx
        self.pk, self.sk = ctx.keygen(SET, COUNT, coins=COINS)
        self.ct, self.ss, _ = ctx.encaps(SET, self.pk, coins=COINS[:, :32].copy())
        self.hybrid_sk, self.hybrid_ss = self.hybrid()[2:]
        self.signing_sk = ctx.keygen(SIGNER, COUNT, coins=COINS[:, :32].copy()).sk

    def context(self):
        with polykem.Context(threads=2) as context:
            return context.threads

    def keygen(self):
        pk, sk = self.ctx.keygen(SET, COUNT, coins=COINS)
        return np.array_equal(pk, self.pk) and sk == self.sk

    def keygen_into_arrays(self):
        pk, sk = np.full((COUNT, 800), 7, np.uint8), np.full((COUNT, 1632), 7, np.uint8)
        try:
            self.ctx.keygen(SET, COUNT, coins=COINS, out=(pk, sk))
        except MemoryError:
            assert not (sk != 7).any() or not sk.any(), "a failed call wrote a secret key"
            raise
        return np.array_equal(pk, self.pk) and self.sk == sk

    def encaps(self):
        ct, ss, status = self.ctx.encaps(SET, self.pk, coins=COINS[:, :32].copy())
        return np.array_equal(ct, self.ct) and ss == self.ss and not status.any()

    def decaps(self):
        return self.ctx.decaps(SET, self.sk, self.ct).ss == self.ss

    def hybrid(self):
        coins = np.resize(COINS, (1, HYBRID.keygen_coin_bytes)), np.resize(COINS, (1, HYBRID.encaps_coin_bytes))
        pk, sk = self.ctx.keygen(HYBRID, 1, coins=coins[0])
        ct, ss, status = self.ctx.encaps(HYBRID, pk, coins=coins[1])
        assert self.ctx.decaps(HYBRID, sk, ct).ss == ss and not status.any()
        return pk.tobytes(), ct.tobytes(), sk, ss

    def submit(self):
        jobs = [self.ctx.submit("decaps", SET, self.sk, self.ct) for _ in range(3)]
        return all(job.result(20).ss == self.ss for job in jobs)

    def key_set(self):
        with self.ctx.keyset(SET, self.sk) as keys:
            return len(keys), self.ctx.decaps(SET, keys, self.ct, key_index=[0, 1, 2]).ss == self.ss

    def generated_key_set(self):
        keys, pk = polykem.KeySet.generate(self.ctx, SET, 2)
        ct, ss, _ = self.ctx.encaps(SET, pk)
        return self.ctx.decaps(SET, keys, ct).ss == ss

    def secret(self):
        secret = polykem.Secret(self.ss)
        return secret[1] == self.ss[1] and np.array_equal(np.asarray(secret), np.asarray(self.ss))

    def refused(self):
        """Checks that the extension releases an array of a wrong size."""
        short = bytearray(799)
        try:
            _core.Request(0, SET._index, 1, {"pk_out": short, "sk_out": bytearray(1632)})
        except polykem.ArgumentError:
            pass
        finally:
            short.append(0)

    def description(self):
        return self.ctx.plan(SET, "decaps"), polykem.Scheme("ML-KEM-512").title, len(polykem.backends())

    def profile(self):
        return [record.step for record in self.ctx.profile(SET, "encaps", 2)]

    def ckks(self):
        context = ckks.Context(PARAMETERS, threads=2, allow_insecure=True)
        secret = ckks.SecretKey.generate(context)
        public = ckks.PublicKey.generate(context, secret)
        evaluator = ckks.Evaluator(context, ckks.Keys.generate(context, secret, rotations=[1]))
        x = evaluator.bind(context.encrypt(public, NUMBERS))
        y = evaluator.rotate(evaluator.square(x), 1)
        assert y.words.shape[0] == 1
        return bool(np.abs(context.decrypt(secret, y) - np.roll(NUMBERS * NUMBERS, -1)).max() < 1e-3)

    def signatures(self):
        pk, sk = self.ctx.keygen(SIGNER, COUNT, coins=COINS[:, :32].copy())
        with self.ctx.keyset(SIGNER, sk) as keys:
            sig = self.ctx.sign(SIGNER, keys, [b"a", b"", b"bc"], context=b"x", deterministic=True).sig
        job = self.ctx.submit("verify", SIGNER, pk, polykem.Strings(b"abc", [0, 1, 1, 3]), sig, context=b"x")
        return sig.tobytes(), job.result(20).tolist()

    def hpke(self):
        if hpke is None:
            return None
        suite = hpke.Suite("ML-KEM-512", "HKDF-SHA256", "AES-128-GCM")
        pk, sk = suite.generate(self.ctx, 2)
        enc, ciphertexts = suite.seal(self.ctx, pk, [b"one", b"three"])
        sender = suite.sender(self.ctx, pk, [b"a", b"bc"])
        recipient = suite.recipient(self.ctx, sk, sender.enc, [b"a", b"bc"])
        assert recipient.export(b"", 9) == sender.export(b"", 9)
        first = suite.open(self.ctx, sk, enc, ciphertexts).plaintexts
        return first + recipient.open(sender.seal([b"x", b"yz"])).plaintexts


NAMES = [name for name in vars(Calls) if not name.startswith("_")]


def grow_table_of_objects():
    """Enlarges nanobind's table of objects in advance: nanobind ends the process if it cannot enlarge the table."""
    kept = [_core.DeviceBytes(0, 0) for _ in range(1 << 14)]
    del kept


def once(call, expected, nth, onward):
    """Makes one allocation fail. Returns whether that happened, and what is wrong."""
    problem = None
    SHIM.arm(nth, onward)
    try:
        result, raised = call(), False
    except MemoryError:
        result, raised = None, True
    except BaseException as error:
        result, raised, problem = None, True, f"{type(error).__name__}: {error}"
    happened = SHIM.disarm() == 1
    if not raised and result != expected:
        problem = "a wrong result"
    elif raised and not happened and problem is None:
        problem = "MemoryError without a fault"
    return happened, problem


def sweep(call, onward, place):
    """Makes each allocation fail in turn. Returns how many there were, and what is wrong."""
    expected = call()
    for nth in range(1, MOST):
        place[0] = nth
        happened, problem = once(call, expected, nth, onward)
        if problem is None and call() != expected:
            problem = "a wrong result after the fault"
        if problem is not None or not happened:
            return nth - 1, problem
    return MOST, "the faults have no end"


def settled_blocks():
    """Returns the number of the extension's blocks, after threads have had time to free theirs."""
    while any(thread.name == "polykem-jobs" for thread in threading.enumerate()):
        time.sleep(0.01)
    time.sleep(0.02)
    gc.collect()
    return SHIM.live_blocks()


def later_use(name, onward, place):
    """Sweeps several times. The first sweep leaves what the library and its threads keep; a leak grows with each."""
    call = getattr(Calls(polykem.Context(threads=2)), name)
    faults, problem = sweep(call, onward, place)
    lost, rounds = 1, 0
    while problem is None and lost > 0:
        blocks = settled_blocks()
        faults, problem = sweep(call, onward, place)
        lost, rounds = settled_blocks() - blocks, rounds + 1
        if problem is None and lost > 0 and rounds == 4:
            problem = f"{lost} blocks lost in {faults} faults"
    if problem is None and SHIM.secrets_found():
        problem = "a freed block held a secret"
    return faults, problem


def first_use(nth, onward, place):
    """Makes one allocation fail at the first use of the library in this process."""
    def everything():
        with polykem.Context(threads=2) as context:
            calls = Calls(context)
            return calls.decaps() and calls.submit() and calls.secret()

    place[0] = nth
    happened, problem = once(everything, True, nth, onward)
    if problem is None and not everything():
        problem = "a wrong result after the fault"
    return int(happened), problem


def in_child(work, *arguments):
    """Runs work(*arguments, place) in a child. Returns its result, or how the child died."""
    place = memoryview(mmap.mmap(-1, 8)).cast("q")
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        faults, problem = work(*arguments, place)
        os.write(sink, f"{faults} {problem or ''}".encode())
        os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if status != 0:
        return place[0], f"the process ended with {os.waitstatus_to_exitcode(status)}, {said}"
    faults, _, problem = said.partition(" ")
    return int(faults), problem


def report(what, faults, problem):
    print(f"{what}: {faults} faults" + (f"; at the next: {problem}" if problem else ""), flush=True)
    return 1 if problem or faults == 0 else 0


def planted(place):
    """Frees a public block that is declared secret, which must be found."""
    context = ckks.Context(PARAMETERS, threads=1, allow_insecure=True)
    ciphertexts = context.encrypt(ckks.PublicKey.generate(context, ckks.SecretKey.generate(context)), NUMBERS)
    SHIM.add_secret(ciphertexts.words.tobytes()[:16])
    del ciphertexts
    gc.collect()
    return SHIM.secrets_found(), None


def add_secrets():
    """Declares the secrets that `Calls` computes from fixed coins."""
    calls = Calls(polykem.Context(threads=1))
    for secrets in (calls.sk, calls.ss, calls.hybrid_sk, calls.hybrid_ss):
        for row in np.asarray(secrets):
            SHIM.add_secret(row.tobytes()[:16])
    for row in np.asarray(calls.signing_sk):  # rho, which is public, K, tr, s1
        for at in 32, 128:
            SHIM.add_secret(row.tobytes()[at:at + 16])


def first_uses(onward):
    """Makes each allocation of the first use fail, each in a process of its own."""
    for nth in range(1, MOST):
        happened, problem = in_child(first_use, nth, onward)
        if problem or not happened:
            return nth - 1, problem
    return MOST, "the faults have no end"


def searched(name, onward, place):
    add_secrets()
    return later_use(name, onward, place)


def main():
    long = "--long" in sys.argv[1:]
    if SHIM.watch_polykem() < 2:
        sys.exit("the extension and the C++ runtime were not found")
    grow_table_of_objects()
    failures = report("a planted secret is found", *in_child(planted))
    for onward in (False, True) if long else (True,):
        suffix = ", all later ones too" if onward else ""
        for name in NAMES:
            failures += report(name + suffix, *in_child(searched, name, onward))
        if long:
            failures += report("first use" + suffix, *first_uses(onward))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
