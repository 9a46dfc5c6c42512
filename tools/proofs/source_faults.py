# SPDX-License-Identifier: Apache-2.0
"""Faults in lines of the source: tools/prove.sh --source-faults.

A claim runs machine code; its debug information says which lines that is of. Lines with arithmetic are drawn, one is
changed at a time in a copy of the tree, the library is compiled, and a claim that ran the line has to fail. With
--files the files of src are listed instead that the library has code of and of which no claim runs a line.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import re
import subprocess
import sys
from collections import defaultdict
from enum import Enum
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from mutants import Scratch  # noqa: E402
from prove import attempt, kind_of  # noqa: E402
from proofs.all_claims import chosen_claims  # noqa: E402
from proofs.claims import Claim, Run  # noqa: E402
from proofs.machines.memory import Library  # noqa: E402

CONFIGURE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS=-g1", "-DPOLYKEM_VECTORS=avx512",
             "-DPOLYKEM_CUDA=OFF", "-DPOLYKEM_CKKS=OFF", "-DPOLYKEM_BUILD_TESTS=ON", "-DPOLYKEM_BUILD_CLI=OFF",
             "-DPOLYKEM_BUILD_PROVIDER=OFF", "-DPOLYKEM_BUILD_EXAMPLES=OFF", "-DCMAKE_UNITY_BUILD=OFF"]
# Operators and names of intrinsics become others.
CHANGES = [(r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" & ", " | "), (r" \| ", " & "), (r" \^ ", " | "),
           (r"(<<|>>) (?=\w)", r"\1 1 + "), (r"_add_", "_sub_"), (r"_sub_", "_add_"), (r"_mullo_", "_mulhi_"),
           (r"_mulhi_", "_mullo_"), (r"_and_", "_or_"), (r"_mulhrs_", "_mulhi_"), (r"_madd_", "_mullo_"),
           (r"\bmulhi\(", "mullo("), (r"\bmullo\(", "mulhi("), (r"_srai_", "_srli_"), (r"_min_", "_max_")]
# Loops, conditions of the compiler, comments, and lines that only pass addresses on.
NO_ARITHMETIC = re.compile(r"^\s*(//|#|for \(|while \(|static_assert|template|using|case )|assert\(")

Line = tuple[str, int]  # file, number from 1


def lines_run(library: Library, executed: set[int], tree: Path) -> set[Line]:
    """Returns the lines that instructions come from, those that were inlined included."""
    addresses = "".join(f"{at:#x}\n" for at in sorted(executed))
    said = subprocess.run(["addr2line", "-i", "-e", str(library.path)], input=addresses, capture_output=True, text=True,
                          check=True).stdout
    found = set()
    for place in said.splitlines():
        file, _, number = place.split(" ")[0].rpartition(":")
        path = Path(file)
        if number.isdecimal() and path.is_relative_to(tree / "src"):
            found.add((str(path.relative_to(tree)), int(number)))
    return found


def lines_compiled(library: Library, tree: Path) -> set[Line]:
    """Returns the lines that the functions of a library begin with."""
    return lines_run(library, set(library.functions.values()), tree)


def changed(text: str, generator: random.Random) -> str | None:
    """Returns a line with one operation replaced, or None if it has none."""
    code, comment, rest = text.partition("//")
    places = [(match, new) for old, new in CHANGES for match in re.finditer(old, code)]
    if NO_ARITHMETIC.search(text) or not places:
        return None
    match, new = generator.choice(places)
    return code[:match.start()] + match.expand(new) + code[match.end():] + comment + rest


class NotPlanted(Exception):
    """A line gets no fault: it has no arithmetic, its change does not compile, or the file does not have it."""


class Verdict(Enum):
    """What the claims that ran a line say of its fault."""

    REFUTED = "refuted by {}"
    NOT_FOUND = "NOT FOUND"
    UNDECIDED = "undecided: not followed"  # a claim could not follow the code


class Planted(NamedTuple):
    """A fault that a line got, and what refuted it, if that is the verdict."""

    fault: str
    verdict: Verdict
    by: str = ""

    def __str__(self) -> str:
        return f"{self.fault}\n  {self.verdict.value.format(self.by)}"


class Faults:
    """A copy of the tree with its build, and the claims that ran each line."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self.scratch = Scratch(folder.resolve(), CONFIGURE)
        self.scratch.configure()
        self._compile()
        self.claims_of: dict[Line, list[Claim]] = defaultdict(list)
        libraries = self._libraries()
        chosen = chosen_claims(libraries[False].instruction_set, names, with_long=False)
        for claim in chosen:
            problem = attempt(claim, libraries[claim.inlined])
            if problem is not None:
                raise RuntimeError(f"{claim.name}: {problem}, without a fault")
            for line in lines_run(libraries[claim.inlined], Run.ran().executed, self.scratch.tree):
                self.claims_of[line].append(claim)
            gc.collect()
            print(f"\r{claim.name:<70}", end="", file=sys.stderr)
        self.compiled = lines_compiled(libraries[False], self.scratch.tree)
        print(f"\r{len(chosen)} claims run {len(self.claims_of)} lines of src{' ' * 40}", file=sys.stderr)

    def _compile(self) -> None:
        self.scratch.compile("polykem_shared", "polykem_proofs")

    def _libraries(self) -> dict[bool, Library]:
        build = self.scratch.build
        return {False: Library(build / "src/libpolykem.so"),
                True: Library(build / "tools/proofs/libpolykem_proofs.so")}

    def files_not_run(self) -> list[str]:
        """Returns the files of src with functions in the library of which no claim runs a line."""
        return sorted({file for file, _ in self.compiled} - {file for file, _ in self.claims_of})

    def plant(self, line: Line, generator: random.Random) -> Planted:
        """Changes a line, compiles, and checks the claims that ran it. Raises NotPlanted."""
        path = self.scratch.tree / line[0]
        original = path.read_text()
        text = original.splitlines(keepends=True)
        if line[1] > len(text):
            print(f"{line[0]} has no line {line[1]}, which debug information names: not planted", flush=True)
            raise NotPlanted("no such line")
        faulty = changed(text[line[1] - 1], generator)
        if faulty is None:
            raise NotPlanted("no arithmetic")
        fault = f"{line[0]}:{line[1]}: {text[line[1] - 1].strip()}  ->  {faulty.strip()}"
        text[line[1] - 1] = faulty
        path.write_text("".join(text))
        try:
            self._compile()
            return Planted(fault, *self._verdict(self.claims_of[line]))
        except RuntimeError:
            raise NotPlanted("does not compile") from None
        finally:
            path.write_text(original)

    def _verdict(self, claims: list[Claim]) -> tuple[Verdict, str]:
        libraries, verdict = self._libraries(), Verdict.NOT_FOUND
        for claim in claims:
            problem = attempt(claim, libraries[claim.inlined])
            if kind := kind_of(problem):
                return Verdict.REFUTED, f"{claim.name}: {kind}: {problem}"
            if problem is not None:
                verdict = Verdict.UNDECIDED
        return verdict, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only claims whose names contain one of these")
    parser.add_argument("--count", type=int, default=5, help="faults (%(default)s)")
    parser.add_argument("--seed", type=int, help="of the draw; by default another one each time")
    parser.add_argument("--build", type=Path, default=ROOT / "build-source-faults", help="where the copy is built")
    parser.add_argument("--files", action="store_true", help="list files of src that no claim runs")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    generator = random.Random(seed)
    arguments.build.mkdir(parents=True, exist_ok=True)
    os.environ |= {"CCACHE_BASEDIR": "", "CCACHE_HASHDIR": "true"}  # debug information names files of this copy
    gc.disable()  # a claim makes millions of terms, and no cycles of them
    faults = Faults(arguments.build, arguments.names)
    if arguments.files:
        print("\n".join(faults.files_not_run()))
        return 0
    lines = sorted(faults.claims_of)
    generator.shuffle(lines)
    found = missed = 0
    for line in lines:
        if found + missed == arguments.count:
            break
        try:
            planted = faults.plant(line, generator)
        except NotPlanted:
            continue
        print(planted, flush=True)
        found += planted.verdict is Verdict.REFUTED
        missed += planted.verdict is Verdict.NOT_FOUND
    print(f"{found} faults refuted, {missed} not found")
    return 1 if missed or found < arguments.count else 0


if __name__ == "__main__":
    sys.exit(main())
