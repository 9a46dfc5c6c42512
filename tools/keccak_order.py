#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Searches for a better order of the instructions in src/prim/keccak/avx512/rounds_intel.hpp.

    tools/keccak_order.py [--seconds N] [--from-rows] [--compiler CXX]

Four rounds of Keccak on eight states are 420 instructions. The CPU assigns each to one of two units before it is known
which unit will be free, so the order decides how often a unit is idle, which cannot be predicted. The search moves
instructions at random as far as registers and memory allow, keeps what takes less time, and writes the header if the
best order takes less than the one that is there. It begins with that order, or with rows one after the
other (--from-rows). Needs a CPU with AVX-512 that is otherwise idle; finds 2 to 3 % within five minutes.
src/prim/keccak/README.md says what the rows do, permute.hpp what each register holds.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src/prim/keccak/avx512"
HEADER = FOLDER / "rounds_intel.hpp"
RHO = [[0, 44, 43, 21, 14], [28, 20, 3, 45, 61], [1, 6, 25, 8, 18], [27, 36, 10, 15, 56], [62, 55, 39, 41, 2]]
LANES = 8
COPY0, COPY1 = 30, 31  # copies of words 0 and 1 of a row
PLACES = [2, 8, 14, 15, 21], [0, 1, 3, 4, 5]  # in memory, of the words that wait there before even and odd rounds
MUTANTS = 9  # orders that are measured together
ENOUGH = 0.999  # an order is better if it takes less than this share of the time


def register(rounds, x, y):
    """Returns the register of word (x, y) after that many rounds."""
    for _ in range(rounds):
        y = (x + 2 * y) % 5
    return 5 * y + x


def rotated_sum(x):
    """Returns the register of the rotated sum of column x."""
    return 25 + x % 5


def one_row(number, r):
    """Returns the instructions of theta, rho and chi for row r < 4: tuples of a macro, its result and its operands."""
    source = [register(number, (t + 3 * r) % 5, t) for t in range(5)]
    shift = 2 * r % 5
    words = [source[(x + shift) % 5] for x in range(5)]

    def theta(t):
        x = (t + 3 * r) % 5
        return "XOR3", source[t], register(number, (x - 1) % 5, (x + 2) % 5), rotated_sum(x + 1)

    if r == 0:
        return ([theta(t) for t in range(5)] + [("MOVE", COPY0, words[0])]
                + [("ROL", words[t], source[t], RHO[0][t]) for t in range(1, 5)] + chi(words))
    order = [-i * shift % 5 for i in range(5)]  # each word takes the register that the previous one has left
    targets = [COPY0] + [source[t] for t in order[:4]]
    return ([theta(t) for t in order] + [("ROL", to, source[t], RHO[r][t]) for t, to in zip(order, targets)]
            + [("MOVE", words[0], COPY0)] + chi(words))


def last_row(number):
    """Returns the instructions of row 4, whose words come from memory and replace the sums."""
    words = [register(number, x, (x + 3) % 5) for x in range(5)]
    result = [("XOR3_AT", rotated_sum(t + 3), words[(t + 1) % 5], PLACES[number % 2][t]) for t in range(5)]
    rotations = [("ROL", words[t], rotated_sum(t + 3), RHO[4][t]) for t in range(5)]
    return result + rotations[:1] + [("MOVE", COPY0, words[0])] + rotations[1:] + chi(words)


def chi(b):
    """Returns the instructions of chi for a row whose word 0 is also in COPY0."""
    return [("XOR_ANDNOT", b[0], b[1], b[2]), ("MOVE", COPY1, b[1]), ("XOR_ANDNOT", b[1], b[2], b[3]),
            ("XOR_ANDNOT", b[2], b[3], b[4]), ("XOR_ANDNOT", b[3], b[4], COPY0), ("XOR_ANDNOT", b[4], COPY0, COPY1)]


def one_round(number):
    def new(x, y):
        return register(number + 1, x, y)

    def add(x, a, b):
        """Adds two words of new column x to its sum, which starts as the word that waits in memory."""
        return "XOR3", new(x, (x + 3) % 5), new(x, a), new(x, b)

    wait = [("STORE", new((r + 2) % 5, r), PLACES[1 - number % 2][r]) for r in range(5)]
    result = [("ROL", rotated_sum(x), register(number, x, (x + 3) % 5), 1) for x in range(5)]
    result += one_row(number, 0) + one_row(number, 1) + [("IOTA", 0, number), wait[0]]
    result += one_row(number, 2) + [wait[1]]
    result += one_row(number, 3) + [wait[2], add(2, 1, 2), add(3, 0, 2), add(4, 0, 1)]
    result += last_row(number) + [wait[3], add(0, 0, 1), wait[4], add(1, 0, 1)]
    return result + [add(0, 2, 4), add(1, 2, 3), add(2, 3, 4), add(3, 3, 4), add(4, 3, 4)]


def by_rows():
    return [instruction for number in range(4) for instruction in one_round(number)]


def accesses(instruction):
    """Returns what an instruction reads and what it writes: registers, and places in memory as negative numbers."""
    name, first, *rest = instruction
    if name == "STORE":
        return {first}, {~rest[0]}
    operands = {"ROL": rest[:1], "MOVE": rest, "IOTA": [first], "XOR3_AT": [first, rest[0], ~rest[-1]]}
    return set(operands.get(name, [first, *rest])), {first}


def independent(a, b):
    (reads_a, writes_a), (reads_b, writes_b) = accesses(a), accesses(b)
    return not (writes_a & (reads_b | writes_b) or reads_a & writes_b)


def moved(order, moves):
    order = list(order)
    for _ in range(moves):
        at, step = random.randrange(len(order)), random.choice((-1, 1))
        for _ in range(1 + int(random.expovariate(1 / 8))):
            if not 0 <= at + step < len(order) or not independent(order[at], order[at + step]):
                break
            order[at], order[at + step] = order[at + step], order[at]
            at += step
    return order


def macros(order):
    return [f"POLYKEM_{name}({', '.join(map(str, operands))})" for name, *operands in order]


def read_order():
    """Returns the header's order; None if it has other instructions."""
    order = [(name, *map(int, operands.split(", ")))
             for name, operands in re.findall(r"POLYKEM_(\w+)\(([\d, ]+)\)", HEADER.read_text())]
    return order if sorted(order) == sorted(by_rows()) else None


def with_scalars(texts):
    """Adds SCALAR for each of the eight states, spread evenly: work of the caller in between."""
    places = {(2 * lane + 1) * len(texts) // (2 * LANES): f"SCALAR({lane})" for lane in range(LANES)}
    return [item for i, text in enumerate(texts) for item in ([places[i]] if i in places else []) + [text]]


def write_order(order):
    lines = [""]
    for macro in with_scalars(macros(order)):
        if len(lines[-1]) + len(macro) + 5 > 120:
            lines.append("")
        lines[-1] += " " + macro
    HEADER.write_text("""// SPDX-License-Identifier: Apache-2.0
// Four rounds of Keccak for Intel's CPUs, in an order that tools/keccak_order.py found. Do not edit: it has the
// rounds in readable order.
#pragma once

// clang-format off
#define POLYKEM_FOUR_ROUNDS_INTEL(SCALAR) \\
""" + " \\\n".join(" " + line for line in lines) + "\n// clang-format on\n")


PROGRAM = """
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>
#include "prim/keccak/avx512/permute.hpp"
namespace polykem::lanes {
constexpr KeccakForm form = KeccakForm::kIntel;
%s
void (*const forms[])(uint64_t*, const uint64_t*) = {%s};
constexpr size_t kForms = sizeof forms / sizeof *forms, kTimes = 400;
alignas(64) uint64_t states[200], wanted[200], iota[24];
double time_of(size_t form) {
  for (int i = 0; i < 2; ++i) forms[form](states, iota);  // its code is in the caches then
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 6; ++i) forms[form](states, iota);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
}  // namespace polykem::lanes
int main() {
  using namespace polykem::lanes;
  for (size_t i = 0; i < 24; ++i) iota[i] = (i + 1) * 0x9e3779b97f4a7c15;
  std::vector<double> ratios[kForms];
  for (size_t form = 0; form < kForms; ++form) {
    for (size_t i = 0; i < 200; ++i) states[i] = i * 0xd1342543de82ef95;
    forms[form](states, iota);
    if (form == 0) memcpy(wanted, states, sizeof states);
    if (memcmp(wanted, states, sizeof states) != 0) return 1;
  }
  for (size_t i = 0; i < kTimes; ++i) {
    for (size_t form = 0; form < kForms; ++form) {
      const double before = time_of(0), time = time_of(form), after = time_of(0);
      ratios[form].push_back(2 * time / (before + after));
    }
  }
  for (auto& r : ratios) {
    std::nth_element(r.begin(), r.begin() + kTimes / 2, r.end());
    printf("%%.5f\\n", r[kTimes / 2]);
  }
}
"""


def measure(compiler, orders, folder):
    """Returns the median time of each order, as a multiple of the first one's."""
    text = (FOLDER / "permute.hpp").read_text()
    begin = text.index("POLYKEM_NOINLINE inline void keccak_permute8(")
    function = text[begin:text.index("\n}\n", begin) + 3]
    forms = [f"#undef POLYKEM_FOUR_ROUNDS_INTEL\n#define POLYKEM_FOUR_ROUNDS_INTEL(SCALAR) {' '.join(macros(order))}\n"
             + function.replace("keccak_permute8", f"form{i}").replace(", KeccakForm form = keccak_form()", "")
             for i, order in enumerate(orders)]
    source, program = folder / "order.cpp", folder / "order"
    source.write_text(PROGRAM % ("".join(forms), ", ".join(f"form{i}" for i in range(len(orders)))))
    subprocess.run([compiler, "-std=c++20", "-O1", "-mavx512f", "-DPOLYKEM_ISA_AVX512", f"-I{ROOT}/src", str(source),
                    "-o", str(program)], check=True)
    output = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [float(line) for line in output.split()]


def search(start, args, folder):
    best, end = start, time.monotonic() + args.seconds
    while time.monotonic() < end:
        found = [moved(best, random.choice((1, 3, 10, 40, 150))) for _ in range(MUTANTS)]
        _, *ratios = measure(args.compiler, [best, *found], folder)
        candidate = found[ratios.index(min(ratios))]
        if min(ratios) > ENOUGH or measure(args.compiler, [best, candidate], folder)[1] > ENOUGH:
            continue
        best = candidate
        ratio = measure(args.compiler, [start, best], folder)[1]
        print(f"\r{end - time.monotonic():4.0f} s left, {ratio:.4f} of the first order's time", end="", flush=True)
    print()
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=300, help="how long to search (default 300)")
    parser.add_argument("--from-rows", action="store_true", help="begin with rows one after the other")
    parser.add_argument("--compiler", default="c++")
    args = parser.parse_args()
    there = read_order()
    with tempfile.TemporaryDirectory() as folder:
        best = search(by_rows() if args.from_rows or there is None else there, args, Path(folder))
        ratio = measure(args.compiler, [there, best], Path(folder))[1] if there is not None else 0
    if ratio > ENOUGH:
        sys.exit("no better order was found")
    write_order(best)
    print(f"{HEADER.relative_to(ROOT)} is written: " +
          (f"{ratio:.4f} of the time" if there is not None else "it had other instructions"))


if __name__ == "__main__":
    main()
