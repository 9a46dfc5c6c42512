# SPDX-License-Identifier: Apache-2.0
"""LAC's arithmetic mod 251, as its specification and src/schemes/lac/steps.hpp have it. Claims are about steps of the
library, on a state of one item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proofs.algebra.facts import Fact, Form, OtherRange, OtherResult
from proofs.algebra.sums import Sums
from proofs.algebra.terms import Term, concat, const, keep_sums_whole, sext
from proofs.claims import Array, Claim, Proof, Run, Values
from proofs.machines.memory import Library, bytes_of

Q, MOST_COEFFICIENTS, SET_BYTES = 251, 1024, 72
SECRET, NOISE, NOISE2, STREAM, CODE = 2048, 3072, 4096, 5120, 6272  # offsets in an Item
HASH_INPUT = {"ref": 7032, "avx2": 7104, "avx512": 7104}
AFTER_HASH_INPUT = 32 + 1424 + 32 + 8  # m, a ciphertext, a hash, whether the ciphertext is rejected
SCRATCH = {"ref": 6144, "avx2": 6144, "avx512": 14400}  # bytes of a product's
BIT_VALUE = Q // 2  # that a one adds


@dataclass(frozen=True)
class Set:
    """A set of the specification, and its number in kSets."""

    number: int
    name: int
    n: int
    parity_bytes: int
    noise_factors: int  # e2 is the difference of two bits, or the product of so many differences
    doubled: bool  # D2: each bit is sent twice

    @property
    def code_bits(self) -> int:
        return 256 + 8 * self.parity_bytes

    @property
    def second(self) -> int:
        """Returns the number of coefficients of the ciphertext's second part."""
        return self.code_bits * (2 if self.doubled else 1)


SETS = (Set(0, 128, 512, 18, 1, False), Set(1, 192, 1024, 9, 2, False), Set(2, 256, 1024, 18, 1, True))
SEED = 32


def stored_set(run: Run, library: Library, parameters: Set) -> int:
    """Returns the address of a copy of the library's parameters."""
    at = library.objects["_ZN7polykem3lac5kSetsE"] + SET_BYTES * parameters.number
    return run.store([const(byte, 8) for byte in library.read(at, SET_BYTES) or b""], 8)


class Item:
    """A state of one item, with its records, which have what a claim stores there."""

    def __init__(self, run: Run, library: Library, parameters: Set, isa: str, records: Sequence[str]) -> None:
        self.run, self.of = run, parameters
        self.address = run.workspace(-(-(HASH_INPUT[isa] + AFTER_HASH_INPUT) // 64) * 64)
        self.hash_input = self.address + HASH_INPUT[isa]
        self.records = {name: run.space() for name in records}
        fields = {"pk": 3, "sk": 4, "ct": 5}
        words = [1] + [0] * 31
        for name, at in self.records.items():
            words[fields[name]] = at
        scratch = run.workspace(SCRATCH[isa])
        self.state = run.pointers(stored_set(run, library, parameters), run.pointers(*words), self.address, scratch,
                                  scratch)

    def signed_bytes(self, name: str, at: int, count: int, high: int = 1) -> Array:
        """Makes bytes that are signed integers from -1 to 1, or to another one, with few bits."""
        array = self.run.fields(name, count, high.bit_length() + 1, -1, high)
        for n, word in enumerate(array.words):
            self.run.machine.memory.store(self.address + at + n, bytes_of(sext(word, 8)))
        return array

    def bytes(self, name: str, at: int, count: int, high: int = 255) -> Array:
        return self.run.unknown(name, count, 0, high, 8, at)


def expected_product(a: Array, s: Array, added: Array | None, n: int, at: int) -> Form:
    """Returns coefficient `at` of a s + added mod (x^n + 1, q)."""
    form: Form = {(a.first + (at - j) % n, s.first + j): 1 if j <= at else Q - 1 for j in range(n)}
    if added is not None:
        form[(added.first + at,)] = 1
    return {tuple(sorted(key)): value for key, value in form.items()}


def product(step: str, isa: str, parameters: Set) -> Proof:
    """multiply_a: b = a s + e; multiply_b: c2 = b r + e2 + 125 bits, rounded; multiply_s: c1 s. [LAC19]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, n = Run(library, Q), parameters.n
        item = Item(run, library, parameters, isa, {"a": (), "b": ("pk",), "s": ("ct",)}[step])
        s = item.signed_bytes("s", SECRET, n)
        if step == "a":
            a, added = item.bytes("a", item.address, n, Q - 1), item.signed_bytes("e", NOISE, n)
        elif step == "b":
            a = item.bytes("b", item.records["pk"] + SEED, n)
            added = item.signed_bytes("e", NOISE2, parameters.second, BIT_VALUE + 1)
        else:
            a, added = item.bytes("c", item.records["ct"], n), None
        run.machine.call(function, item.state)
        sums, results = Sums(run.facts), []
        for at in range(n if step == "a" else parameters.second):
            results.append(run.result(item.address + MOST_COEFFICIENTS, at, 8))
            fact = sums.fact(results[-1])
            if fact.form != expected_product(a, s, added, n, at):
                raise OtherResult(f"coefficient {at} is not that of the product")
            if fact.low < 0 or fact.high >= Q:
                raise OtherRange(f"coefficient {at} is in [{fact.low}, {fact.high}]")
        if step == "b":
            expect_compressed(run, results, item.hash_input + SEED + n)

    return prove


def nibble(x: Values) -> Values:
    """A coefficient's four highest bits, rounded; 16 where it rounds up to that. [LAC19]"""
    return (2 * x + 16) // 32


def compressed(x: Values, y: Values) -> Values:
    """Two coefficients in a byte, as the submission's code has them: the first one's 16 inverts the lowest bit of the
    second one, whose own 16 is 0."""
    return nibble(x) % 16 + 16 * (nibble(x) // 16 ^ nibble(y) % 16)


def expect_compressed(run: Run, words: Sequence[Term], address: int) -> None:
    """Raises NotProved unless an array has pairs of words in [0, q), compressed."""
    for word in set(words):
        run.facts.of[word] = Fact(0, Q - 1, None)
    for n in range(0, len(words), 2):
        run.expect_table(run.result(address, n // 2, 8), words[n:n + 2], compressed, f"byte {n // 2}")


def loaded(isa: str, parameters: Set) -> Proof:
    """load_ct_sk: the bytes 0, 1, 2, 3 mod 4 of s are 0, 1, 0, -1; a byte of c2 has two coefficients' highest bits."""

    def prove(library: Library, function: str) -> None:
        run, n = Run(library, Q), parameters.n
        item = Item(run, library, parameters, isa, ("sk", "ct"))
        s = item.bytes("s", item.records["sk"], n)
        c2 = run.fields("c", parameters.second, 4).words
        for at in range(0, len(c2), 2):
            byte = bytes_of(concat(c2[at + 1], c2[at]))
            run.machine.memory.store(item.records["ct"] + n + at // 2, byte)
        run.machine.call(function, item.state)
        for at in range(n):
            run.expect_table(run.result(item.address + SECRET, at, 8), s.words[at], ternary, f"word {at} of s")
        for at, field in enumerate(c2):
            run.expect_same(run.result(item.address + STREAM, at, 8), concat(field, const(0, 4)), f"word {at} of c2")

    return prove


def ternary(x: Values) -> Values:
    return (x & 1) * (1 - (x & 2))


def noise2(parameters: Set) -> Proof:
    """The coefficients of e2 are b0 - b1, or (b0 - b1) (b2 - b3): the PRG's bytes are all b0, then all b1, and so on.
    [LAC19]"""

    def prove(library: Library, function: str) -> None:
        run, count = Run(library, Q), parameters.second
        parts = 2 * parameters.noise_factors
        out, bits = run.space(), run.stream("b", parts * count, 1)
        run.machine.call(function, out, bits.address, stored_set(run, library, parameters))
        for at in range(count):
            of = [bits.words[part * count + at] for part in range(parts)]
            run.expect_table(run.result(out, at, 8), of, DIFFERENCES[parameters.noise_factors], f"coefficient {at}")

    return prove


DIFFERENCES = {1: lambda a, b: a - b, 2: lambda a, b, c, d: (a - b) * (c - d)}


def code_added(parameters: Set) -> Proof:
    """Adds 125 times each bit of the code word, once or twice."""

    def prove(library: Library, function: str) -> None:
        run, count = Run(library, Q), parameters.code_bits
        noise = run.unknown("e", parameters.second, -1, 1, 8)
        code = run.stream("b", count, 1)
        run.machine.call(function, noise.address, code.address, stored_set(run, library, parameters))
        for at, word in enumerate(noise.words):
            run.expect_table(run.result(noise.address, at, 8), [word, code.words[at % count]], with_bit, f"word {at}")

    return prove


def with_bit(e: Values, bit: Values) -> Values:
    return e + BIT_VALUE * bit


def received(parameters: Set) -> Proof:
    """A bit is one if (c2 - c1 s) mod q is in [floor(q / 4), floor(3 q / 4)), or, with D2, if the distances of both its
    coefficients from 125 have a sum of at most 125. [LAC19]"""

    def prove(library: Library, function: str) -> None:
        run, count = Run(library, Q), parameters.code_bits
        c2, product = run.fields("c", parameters.second, 4).words, run.unknown("p", parameters.second, 0, Q - 1, 8)
        code = run.space()
        words = run.store([concat(field, const(0, 4)) for field in c2], 8)
        run.machine.call(function, code, words, product.address, stored_set(run, library, parameters))
        expected = nearer if parameters.doubled else near
        for at in range(count):
            of = [word for n in range(at, parameters.second, count) for word in (c2[n], product.words[n])]
            run.expect_table(run.field(code, at, 1), of, expected, f"bit {at}")

    return prove


def near(c: Values, p: Values) -> Values:
    v = (16 * c - p) % Q
    return (Q // 4 <= v) & (v < 3 * Q // 4)


def nearer(c: Values, p: Values, d: Values, r: Values) -> Values:
    distances = [abs((16 * x - y) % Q - BIT_VALUE) for x, y in ((c, p), (d, r))]
    return distances[0] + distances[1] <= BIT_VALUE


ISAS = {"ref": "8portable", "avx2": "4avx2", "avx512": "6avx512"}


def claims() -> Iterator[Claim]:
    """Yields what is claimed of LAC."""
    for isa, scope in ISAS.items():
        steps = f"_ZN7polykem3lac{scope}5Steps*E"
        for of in SETS:
            for step, inputs, result in (
                    ("a", "a in [0, 250], s and e in [-1, 1]", "a s + e mod (251, x^n + 1), in [0, 250]"),
                    ("b", "any bytes b, r in [-1, 1], e2 + 125 bits", "b r + e2 + 125 bits, rounded to 4 bits"),
                    ("s", "any bytes c1, s in [-1, 1]", "c1 s mod (251, x^n + 1), in [0, 250]")):
                if step == "a" and of.name == 256:  # the same n as 192
                    continue
                yield Claim(f"lac {isa} product {step} {of.name}", f"{steps}10multiply_{step}E*", inputs, result,
                            product(step, isa, of), is_long=isa == "ref" or step != "a" or of.n > 512)
            yield Claim(f"lac {isa} load {of.name}", f"{steps}10load_ct_skE*", "any bytes",
                        "s in [-1, 1], coefficients of 4 bits", loaded(isa, of), is_long=of.name != 128)
            functions = f"_ZN7polykem3lac{scope}"
            yield Claim(f"lac {isa} e2 {of.name}", f"{functions}6noise2E*", "any bytes", "differences of bits",
                        noise2(of), is_long=of.name == 256)
            yield Claim(f"lac {isa} add code {of.name}", f"{functions}8add_codeE*", "e2, any bytes", "e2 + 125 bits",
                        code_added(of), is_long=of.name == 192)
            yield Claim(f"lac {isa} received {of.name}", f"{functions}13received_wordE*",
                        "coefficients of 4 bits, words in [0, 250]", "whether c2 - c1 s is near 125", received(of),
                        is_long=of.name == 192)
