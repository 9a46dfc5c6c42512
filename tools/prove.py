#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves what functions of the compiled library compute, for all of their inputs: tools/proofs/README.md.

    tools/prove.sh [--library FILE] [--wrappers FILE] [--vectors avx512|avx2|none] [--faults] [--cpu] [--jobs N]
                   [--json FILE] [--all | NAME...]

Every claim whose name contains one of the NAMEs, or every one that does not take long, is a line: what is computed,
from which inputs, in how many seconds, by which methods. With --all, the long ones are lines too. With --faults, faults
are then planted in an instruction or a constant, one at a time and at most 24, until the proof fails with one.
With --cpu this CPU, or QEMU for AArch64 and Thumb, runs the function too, on drawn inputs, and has to write what
machine.py says.
Exit status: 0 if all holds, 1 if something does not, 2 for wrong arguments.
"""

import argparse
import contextlib
import gc
import json
import multiprocessing
import os
import sys
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from proofs import faults
from proofs.algebra import methods, terms
from proofs.algebra.facts import NotProved, OtherRange, OtherResult
from proofs.all_claims import LEFT_OUT, chosen_claims
from proofs.claims import Claim, Ran, Run
from proofs.machines.emulated import Missing
from proofs.machines.machine import Machine
from proofs.machines.memory import Library, NotFollowed, NotRestored, NotWritten
from proofs.native import Differs, Processor, processor_of

DRAWS = 24
# What refutes a fault. Any other NotProved: nothing is found that holds, or a result has not the shape of the claim's.
REFUTED_BY = {OtherResult: "another result", OtherRange: "another range", NotWritten: "a read outside",
              NotRestored: "a register not restored",
              NotProved: "no proof"}
ROOT = Path(__file__).resolve().parent.parent


def kind_of(problem: NotProved | NotFollowed | None) -> str | None:
    """Returns by what a fault is refuted, or None if that decides nothing."""
    return next((name for of, name in REFUTED_BY.items() if isinstance(problem, of)), None)


def attempt(claim: Claim, library: Library) -> NotProved | NotFollowed | None:
    """Returns why a claim was not proved, or None."""
    terms.forget()
    methods.forget()
    Run.begin_claim()
    try:
        claim.prove(library, claim.function)
        Run.end_claim()
    except (NotProved, NotFollowed) as error:
        return error
    return None


def check(claim: Claim, library: Library, with_fault: bool, cpu: Processor | None) -> dict[str, object]:
    """Returns what a claim says and whether it holds, as the JSON file has it."""
    begun = time.monotonic()
    problem = attempt(claim, library)
    report: dict[str, object] = {"name": claim.name, "function": claim.function, "inputs": claim.inputs,
                                 "result": claim.result, "seconds": round(time.monotonic() - begun, 1),
                                 "methods": sorted(methods.used), "instructions": Run.ran().steps,
                                 "problem": str(problem or "")}
    if with_fault and not problem:
        report |= refute(claim, library, Run.ran())
    if cpu is not None and not problem and cpu.runs(claim.name):
        terms.forget()
        try:
            cpu.compare(claim, library, seed=1)
            report["compared"] = True
        except (Differs, NotFollowed) as error:
            report["problem"] = str(error)
    return report


@contextlib.contextmanager
def endless_after(steps: int) -> Iterator[None]:
    """A fault may make a loop endless: gives a run up after so many instructions."""
    before = Machine.most_steps
    Machine.most_steps = steps
    try:
        yield
    finally:
        Machine.most_steps = before


def refute(claim: Claim, library: Library, ran: Ran) -> dict[str, object]:
    """Plants one fault after the other until one is refuted: the claim is not proved, or the run reads outside the
    arrays. A fault with which the claim is proved all the same, such as one in a lane that nothing uses, is not found;
    one whose run stops at an instruction, address or branch that cannot be followed decides nothing."""
    report: dict[str, object] = {"refuted": "", "not found": [], "not followed": []}
    for draw in range(DRAWS):
        seed = zlib.crc32(f"{claim.name} {draw}".encode())
        faulty, fault = faults.plant(library, ran.executed, ran.constants, seed)
        with endless_after(2 * ran.longest + 1000):
            found = attempt(claim, faulty)
        report["faults drawn"] = draw + 1
        kind = kind_of(found)
        if kind is not None:
            return report | {"fault": fault, "refuted": str(found), "refuted by": kind}
        report["not found" if found is None else "not followed"].append(fault)  # type: ignore[attr-defined]
    return report


def one_of(instruction_sets: set[str]) -> str:
    if len(instruction_sets) > 1:
        raise ValueError("the libraries are for different processors")
    return instruction_sets.pop()


def processor(instruction_set: str) -> Processor | None:
    """Returns what to compare with; says so if there is nothing."""
    try:
        return processor_of(instruction_set)
    except Missing as error:
        print(f"prove: {error}", flush=True)
        return None


def line(report: dict[str, object]) -> str:
    if report["problem"]:
        return f"{report['name']}: NOT PROVED: {report['problem']}"
    text = f"{report['name']:<36} {report['inputs']} -> {report['result']} ({report['seconds']} s)"
    text += f"; by {', '.join(report['methods'])}"  # type: ignore[arg-type]
    if "refuted" in report:
        text += (f"; fault {report['faults drawn']}, {report['fault']}, refuted: {report['refuted by']}"
                 if report["refuted"] else f"; NO FAULT REFUTED of {report['faults drawn']}: {report['not found']}")
    return text


class Checker:
    """Checks claims by their numbers, in processes that are forked: they cannot be sent there."""

    def __init__(self, claims: list[Claim], libraries: dict[bool, Library], with_faults: bool, cpu: Processor | None):
        self.claims, self.libraries, self.with_faults, self.cpu = claims, libraries, with_faults, cpu

    def reports(self, jobs: int) -> Iterator[dict[str, object]]:
        """Yields the report of each claim, in order."""
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), self._begin) as pool:
            yield from pool.map(Checker._report, range(len(self.claims)))

    def _begin(self) -> None:
        Checker.of_process = self
        gc.disable()  # a claim makes millions of terms, and no cycles of them

    @staticmethod
    def _report(number: int) -> dict[str, object]:
        self = Checker.of_process
        claim = self.claims[number]
        try:
            report = check(claim, self.libraries[claim.inlined], self.with_faults, self.cpu)
        except Exception as error:  # a claim that is wrong itself does not end the others
            traceback.print_exc()
            report = {"name": claim.name, "problem": repr(error)}
        gc.collect()
        return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only claims whose names contain one of these")
    parser.add_argument("--all", action="store_true", help="also claims that take long")
    parser.add_argument("--library", type=Path, default=ROOT / "build/src/libpolykem.so", help="not stripped")
    parser.add_argument("--wrappers", type=Path,
                        help="of code that the library has inlined only: tools/proofs/wrappers; by default of the "
                             "library's build")
    parser.add_argument("--vectors", choices=LEFT_OUT, default="avx512",
                        help="POLYKEM_VECTORS of the library; claims of code that it has not are left out")
    parser.add_argument("--faults", action="store_true", help="plant a fault beside each proof")
    parser.add_argument("--cpu", action="store_true", help="compare with what this CPU or QEMU computes")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N",
                        help="processes; as many as CPUs if not given")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all of it there")
    arguments = parser.parse_args()
    if arguments.jobs < 1:
        parser.error("--jobs is at least 1")
    wrappers = arguments.wrappers or arguments.library.parent.parent / "tools/proofs/libpolykem_proofs.so"
    try:
        libraries = {False: Library(arguments.library), True: Library(wrappers)}
        instruction_set = one_of({library.instruction_set for library in libraries.values()})
        cpu = processor(instruction_set) if arguments.cpu else None
    except (OSError, ValueError) as error:
        parser.error(f"{error}; `make prove` builds it")
    try:
        chosen = chosen_claims(instruction_set, arguments.names, arguments.all or bool(arguments.names),
                               arguments.vectors)
    except ValueError as error:
        parser.error(str(error))
    reports = []
    for report in Checker(chosen, libraries, arguments.faults, cpu).reports(arguments.jobs):
        reports.append(report)
        print(line(report), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"library": str(arguments.library), "claims": reports}, indent=1) + "\n")
    wrong = sum(bool(report["problem"] or not report.get("refuted", True)) for report in reports)
    with_faults = ", with a fault beside each" if arguments.faults else ""
    print(f"{len(reports) - wrong} of {len(reports)} proved{with_faults}")
    if arguments.faults:
        kinds = Counter(str(report["refuted by"]) for report in reports if "refuted by" in report)
        print("faults refuted by " + ", ".join(f"{kind}: {count}" for kind, count in kinds.most_common()))
    if arguments.cpu:
        compared = sum("compared" in report for report in reports)
        print(f"{compared} of {len(reports)} compared with {'this CPU' if instruction_set == 'x86-64' else 'QEMU'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
