# SPDX-License-Identifier: Apache-2.0
"""FrodoKEM's products of matrices mod 2^16, as src/schemes/frodo/matmul/matmul.hpp defines them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from proofs.claims import Claim, Run
from proofs.machine import Library
from proofs.ranges import Form

Q = 1 << 16
ANY_WORD = (-(1 << 15), (1 << 15) - 1)


def product(rows: int, inner: int, columns: int, transposed: bool) -> Callable[[Library, str], None]:
    """c += a b, with b given as its transpose or not."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        c, a, b = (run.unknown(name, count, *ANY_WORD) for name, count in (
            ("c", rows * columns), ("a", rows * inner), ("b", inner * columns)))
        run.machine.call(function, c.address, columns, a.address, inner, b.address, inner if transposed else columns,
                         rows, inner, columns, 1, 0, 0)
        for row in range(rows):
            for column in range(columns):
                form: Form = {(c.first + row * columns + column,): 1}
                for i in range(inner):
                    of_b = column * inner + i if transposed else i * columns + column
                    form[(a.first + row * inner + i, b.first + of_b)] = 1
                run.expect(run.result(c.address, row * columns + column), form, -Q, Q, f"row {row}, column {column}")

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of FrodoKEM."""
    # Shapes with whole registers and with a rest in each direction; the code for other sizes repeats these blocks.
    tables = {"ref": "15kMatMulPortable", "avx2": "11kMatMulAvx2", "avx512": "18kMatMulFormsAvx512"}
    for name, table in tables.items():
        forms = (("", 0), (" plain", 2)) if name == "avx512" else (("", 0),)
        for form, first in forms:
            for transposed in (False, True):
                for shape in ((8, 32, 40), (8, 72, 8), (3, 33, 17)):
                    yield Claim(f"frodo {name}{form} product {'x'.join(map(str, shape))}{', transposed' if transposed else ''}",
                                f"_ZN7polykem{table}E[{first + transposed}]", "any words", "c + a b mod 2^16",
                                product(*shape, transposed))
