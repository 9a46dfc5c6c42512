# SPDX-License-Identifier: Apache-2.0
"""Computes a term for every value of one word, by a program in C, where the values are too many for arrays."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofs.algebra import methods
from proofs.algebra.programs import compiled
from proofs.algebra.terms import Term

LARGEST_INTEGER = 1 << 62  # of tables, which have 64 bits for sums and differences of such ones
BLOCK = 1 << 16

_PROGRAM = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef uint32_t u32; typedef int32_t s32; typedef uint64_t u64; typedef int64_t s64;
#define Q {q}ll
#define INVERSE {inverse}ull  /* of Q mod 2^64 */
static u64 {constants};
static s64 value(s64 x) {{
  {lines}
  return {result};
}}
int main(int count, char** words) {{
  const s64 low = atoll(words[1]), high = atoll(words[2]), block = atoll(words[3]);
  u64* const constants[] = {{{addresses}}};
  for (int i = 4; i < count; ++i) *constants[i - 4] = strtoull(words[i], 0, 10);
  const s64 first = value(low), factor = ((value(low + 1) - first) % Q + Q) % Q;
  s64 line = 0;
  u64 wrong = 0;
  for (s64 at = low; at < high; at += block) {{
    s64 ends[2] = {{INT64_MAX, INT64_MIN}};
    const s64 end = at + block < high ? at + block : high;
    for (s64 x = at; x < end; ++x) {{
      const s64 v = value(x);
      ends[0] = v < ends[0] ? v : ends[0];
      ends[1] = v > ends[1] ? v : ends[1];
      /* The multiples of Q near zero are those whose product with the inverse is small. */
      wrong |= (u64)(v - first - line) * INVERSE + ((u64)1 << 39) >> 40;
      line += factor;
      line -= line >= Q ? Q : 0;
    }}
    fwrite(ends, sizeof ends, 1, stdout);
  }}
  const s64 last[3] = {{wrong == 0, factor, ((first - factor * (low % Q)) % Q + Q) % Q}};
  fwrite(last, sizeof last, 1, stdout);
}}
"""


@dataclass(frozen=True)
class LargeTable:
    """A table that a program in C has computed: the line, and the smallest and largest result of each block."""

    low: int
    unsigned: bool
    factor: int
    constant: int
    ends: NDArray[np.int64]


def large_table(lines: list[str], constants: list[int], width: int, low: int, high: int,
                q: int) -> LargeTable | None:
    """Computes the table of the sources in [low, high)."""
    if q >= 1 << 23:
        return None
    methods.used.add("tables")
    last = lines[-1].split()[1]
    signed_result = f"(s64)((u64){last} << {64 - width}) >> {64 - width}"
    names = [f"c{n}" for n in range(max(1, len(constants)))]
    for result in (signed_result, f"(s64){last}") if width < 64 else (signed_result,):
        text = _PROGRAM.format(q=q, inverse=pow(q, -1, 1 << 64), result=result,
                               lines="\n  ".join(lines), constants=", ".join(names),
                               addresses=", ".join(f"&{name}" for name in names))
        arguments = [str(number) for number in (low, high, BLOCK, *constants)]
        output = subprocess.run([compiled(text), *arguments], check=True, capture_output=True).stdout
        numbers = np.frombuffer(output, dtype=np.int64)
        holds, factor, constant = map(int, numbers[-3:])
        ends = numbers[:-3].reshape(-1, 2)
        # The program computes mod 2^64: differences of results, and multiples of q, have to be far below that.
        if holds and int(ends[:, 1].max()) - int(ends[:, 0].min()) < LARGEST_INTEGER:
            return LargeTable(low, result != signed_result, factor, constant, ends)
    return None


def statements(source: Term, steps: Iterable[tuple[Term, int | None]]) -> tuple[list[str], list[int]]:
    """Returns terms as statements of C, and the constants c0, c1, ... in them. x is the source's integer, v0 its bits;
    the last variable is the last term. Equal statements are equal functions of x. Each step is a term, operands first,
    with what is added to x where its integer is such a sum."""
    names, lines = {source: "v0"}, [_as_bits("v0", source, 0)]
    constants: list[int] = []
    for number, (step, offset) in enumerate(steps, 1):
        name = names[step] = f"v{number}"
        kind = _kind(step)
        if step.value is not None:
            names[step] = f"(({kind})c{len(constants)})"
            constants.append(step.value)
        elif offset is None:
            lines.append(f"{kind} {name} = {_expression(step, [names[arg] for arg in step.args])};")
        else:
            lines.append(_as_bits(name, step, offset))
    return lines, constants


def _kind(term: Term) -> str:
    return "u64" if term.width > 32 else "u32"


def _as_bits(name: str, term: Term, offset: int) -> str:
    """Returns the statement that makes a variable the bits of a term whose integer is x + offset."""
    kind = _kind(term)
    return f"{kind} {name} = ({kind})(x + {offset}ll) & {(1 << term.width) - 1:#x}ull;"


def _expression(term: Term, x: list[str]) -> str:
    if term.value is not None:
        return f"{term.value:#x}ull"
    kind, width = _kind(term), term.args[0].width
    wide = 64 if width > 32 else 32

    def signed(name: str) -> str:
        return f"((s{wide})({name} << {wide - width}) >> {wide - width})"

    match term.op:
        case "add" | "sub" | "mul" | "and" | "or" | "xor":
            sign = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}[term.op]
            text = f"({kind}){x[0]} {sign} {x[1]}"
        case "extract":
            text = f"{x[0]} >> {term.extra[1]}"  # type: ignore[index]
        case "sext":
            text = f"({kind}){'(s64)' if term.width > 32 else ''}{signed(x[0])}"
        case "concat":
            text = f"({kind}){x[0]}"
            for part, name in zip(term.args[1:], x[1:]):
                text = f"(({text}) << {part.width} | {name})"
        case "eq":
            text = f"{x[0]} == {x[1]}"
        case "ult":
            text = f"{x[0]} < {x[1]}"
        case "slt":
            text = f"{signed(x[0])} < {signed(x[1])}"
        case "ite":
            text = f"{x[0]} ? {x[1]} : {x[2]}"
        case _:
            raise ValueError(term.op)
    return text if term.width in (32, 64) else f"({text}) & {(1 << term.width) - 1:#x}ull"
