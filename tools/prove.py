#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves what functions of the compiled library compute, for all of their inputs: tools/proofs/README.md.

    tools/prove.sh [--library FILE] [--wrappers FILE] [--faults] [--cpu] [--jobs N] [--json FILE] [--all | NAME...]

Every claim whose name contains one of the NAMEs, or every one that does not take long, is a line: what is computed,
from which inputs, in how many seconds. With --all, the long ones are lines too. With --faults a fault is then planted
in an instruction or a constant, and the proof has to fail.
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
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from proofs import faults
from proofs.algebra import terms
from proofs.algebra.facts import NotProved
from proofs.all_claims import all_claims
from proofs.claims import Claim, Run
from proofs.machines.emulated import Missing
from proofs.machines.machine import Machine
from proofs.machines.memory import Library, NotFollowed, NotWritten
from proofs.native import Differs, Processor, processor_of

DRAWS = 24
ROOT = Path(__file__).resolve().parent.parent


def attempt(claim: Claim, library: Library) -> NotProved | NotFollowed | None:
    """Returns why a claim was not proved, or None."""
    terms.forget()
    try:
        claim.prove(library, claim.function)
    except (NotProved, NotFollowed) as error:
        return error
    return None


def check(claim: Claim, library: Library, with_fault: bool, cpu: Processor | None) -> dict[str, object]:
    """Returns what a claim says and whether it holds, as the JSON file has it."""
    begun = time.monotonic()
    problem = attempt(claim, library)
    report: dict[str, object] = {"name": claim.name, "function": claim.function, "inputs": claim.inputs,
                                 "result": claim.result, "seconds": round(time.monotonic() - begun, 1),
                                 "instructions": Run.last.machine.steps, "problem": str(problem or "")}
    if with_fault and not problem:
        report |= refute(claim, library, Run.last.machine)
    if cpu is not None and not problem and cpu.runs(claim.name):
        terms.forget()
        try:
            cpu.compare(claim, library, seed=1)
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


def refute(claim: Claim, library: Library, ran: Machine) -> dict[str, object]:
    """Plants faults until one is refuted: found by the proof or by a read outside the arrays, not by an instruction
    that cannot be followed. A fault that makes no difference, in a lane that nothing uses, is kept as such."""
    harmless: list[str] = []
    for draw in range(DRAWS):
        seed = zlib.crc32(f"{claim.name} {draw}".encode())
        faulty, fault = faults.plant(library, ran.executed, ran.memory.constants, seed)
        with endless_after(2 * ran.steps + 1000):
            found = attempt(claim, faulty)
        if isinstance(found, (NotProved, NotWritten)):
            return {"fault": fault, "refuted": str(found), "harmless": harmless}
        if found is None:
            harmless.append(fault)
    return {"refuted": "", "harmless": harmless}


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
    if "refuted" in report:
        text += "; fault refuted" if report["refuted"] else f"; FAULTS NOT FOUND: {report['harmless']}"
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
    parser.add_argument("--faults", action="store_true", help="plant a fault beside each proof")
    parser.add_argument("--cpu", action="store_true", help="compare with what this CPU or QEMU computes")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N",
                        help="processes; as many as CPUs if not given")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all of it there")
    arguments = parser.parse_args()
    if arguments.jobs < 1:
        parser.error("--jobs is at least 1")
    chosen = [claim for claim in all_claims()
              if (any(name in claim.name for name in arguments.names) if arguments.names else
                  arguments.all or not claim.is_long)]
    if not chosen:
        parser.error(f"no claim has a name like {', '.join(arguments.names)}")
    wrappers = arguments.wrappers or arguments.library.parent.parent / "tools/proofs/libpolykem_proofs.so"
    paths = {inlined: path for inlined, path in ((False, arguments.library), (True, wrappers))
             if any(claim.inlined == inlined for claim in chosen)}
    try:
        libraries = {inlined: Library(path) for inlined, path in paths.items()}
        instruction_set = one_of({library.instruction_set for library in libraries.values()})
        cpu = processor(instruction_set) if arguments.cpu else None
    except (OSError, ValueError) as error:
        parser.error(f"{error}; `make prove` builds it")
    chosen = [claim for claim in chosen if claim.is_for(instruction_set)]
    reports = []
    for report in Checker(chosen, libraries, arguments.faults, cpu).reports(arguments.jobs):
        reports.append(report)
        print(line(report), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"library": str(arguments.library), "claims": reports}, indent=1) + "\n")
    wrong = sum(bool(report["problem"] or not report.get("refuted", True)) for report in reports)
    with_faults = ", with a fault beside each" if arguments.faults else ""
    print(f"{len(reports) - wrong} of {len(reports)} proved{with_faults}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
