#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves properties of the modules for all inputs and all times, and that each proof finds a planted fault.

    prove.py [PROOF...]

The assertions stand in the modules (`ifdef FORMAL) or, where there is one, in hw/formal/TOP.sv. Yosys makes a
transition system of a module and z3 does k-induction: the assertions hold in the first k cycles, and after any k
cycles in which they held."""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import NamedTuple

HW = pathlib.Path(__file__).resolve().parents[1]
SYNTHESIS = """\
import sys
import pyosys.libyosys as yosys
design = yosys.Design()
for command in sys.argv[1:]:
    yosys.run_pass(command, design)
"""
TIMEOUT_S = 120


class Proof(NamedTuple):
    top: str
    parameters: dict
    cycles: int  # k of the k-induction
    fault: tuple  # (file below rtl/, text in it, text that replaces it in the faulty copy)
    leaves_out: str = ""  # the assertions that another proof proves, as a selection of Yosys
    frees: str = ""  # wires that may have any value, as a selection of Yosys


PROOFS = {
    "fold24": Proof("reduce_fold", {"Width": 24}, 1, ("arith/reduce_fold.sv", "high, 9'd0}", "high, 8'd0, 1'b1}")),
    "fold27": Proof("reduce_fold", {"Width": 27}, 1, ("arith/reduce_fold.sv", "i < 3; i++) folded",
                                                      "i < 2; i++) folded")),
    "table24": Proof("reduce_table", {"Width": 24}, 1, ("arith/reduce_table.sv", "reaches_q(folded)",
                                                        "folded > 13'(Q)")),
    "table24_signed": Proof("reduce_table", {"Width": 24, "Signed": 1, "Exact": 0}, 1,
                            ("arith/reduce_table.sv", "Signed && i == Tables ? 2 ** (Bits - 1) : 32;", "32;")),
    "table25": Proof("reduce_table", {"Width": 25}, 1, ("arith/reduce_table.sv", "power(2, shift) % Q",
                                                        "power(2, shift) % (Q + 2)")),
    "table27": Proof("reduce_table", {"Width": 27}, 1, ("arith/reduce_table.sv", "i / 16 + i % 2 -",
                                                        "i / 16 -")),
    "butterfly": Proof("butterfly_proof", {}, 6, ("ntt/butterfly.sv", "|upper[11:10]", "&upper[11:10]"),
                       frees="w:u_dut.r"),
    **{f"commutator{depth}": Proof("commutator_proof", {"Depth": depth}, 2 * depth + 2,
                                   ("ntt/commutator.sv", "crossed ? a_i : b_late", "crossed ? a_i : b_i"))
       for depth in (1, 2, 4, 8, 32)},
    "gearbox": Proof("gearbox", {}, 1, ("sampler/gearbox.sv", "kept_q[47:16]", "kept_q[31:0]")),
    **{f"sampler{candidates}": Proof("uniform_sampler", {"Candidates": candidates}, 1, (
        "sampler/uniform_sampler.sv", "&& !reaches_q({1'b0, candidates_i[i]})", "")) for candidates in (4, 8)},
    "rounds1": Proof("keccak_core", {"RoundsPerCycle": 1}, 1, ("keccak/keccak_core.sv", "round_q < 24",
                                                                "round_q < 25")),
    "rounds2": Proof("keccak_core", {"RoundsPerCycle": 2}, 1, ("keccak/keccak_core.sv", "round_q <= '0",
                                                                "round_q <= 5'd1")),
    **{f"fifo{depth}": Proof("fifo_proof", {"Depth": depth}, 1, ("mem/fifo.sv", "if (pop_i)  first_q <=", "first_q <="))
       for depth in (4, 16)},
    "block_fifo": Proof("block_fifo_proof", {}, 1, ("mem/block_fifo.sv", "out_d != in_q;", "out_q != in_q;")),
    "product_control": Proof("product_control_proof", {}, 1, (
        "control/product_unit.sv", "counts_i.transforms > first_y + column && counts_i.decoded",
        "counts_i.transforms >= first_y + column && counts_i.decoded")),
    "guards": Proof("guards_proof", {}, 1, (
        "control/transform_unit.sv", "counts_i.products >= products_needed;", "counts_i.products > products_needed;"),
        "c:*no_overflow* c:*no_underflow* %u"),
    "deadlock": Proof("deadlock_proof", {}, 1, ("../formal/programs_pkg.sv", "HashNoise:   return HashMatrix;",
                                                "HashNoise:   return HashKey;")),
}


def transition_system(proof, name, folder, rtl):
    """Returns the module as SMT-LIB text, which defines functions of the module's states."""
    files = [rtl / line.removeprefix("rtl/") for line in (HW / "rtl/files.f").read_text().split()]
    formal = rtl.parent / "formal"
    own = formal / f"{proof.top}.sv"
    sources = " ".join(str(file) for file in [*files, *([formal / "programs_pkg.sv", own] if own.exists() else [])])
    values = " ".join(f"-G{key}={value}" for key, value in proof.parameters.items())
    out = folder / f"{name}.smt2"
    commands = [f"read_slang {'' if own.exists() else '-D FORMAL'} --top {proof.top} {values} {sources}",
                f"prep -flatten -top {proof.top}", "memory_map -rom-only",
                *[f"cutpoint {proof.frees}"] * bool(proof.frees),
                *[f"delete {proof.leaves_out}"] * bool(proof.leaves_out), "async2sync", "chformal -lower",
                "dffunmap", "opt_clean", "rename -top block", f"write_smt2 -stbv {out}"]
    done = subprocess.run([sys.executable, "-c", SYNTHESIS, *commands], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"Yosys ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    text = out.read_text()
    if "|block_a|" not in text or "; yosys-smt2-assert" not in text:
        raise RuntimeError("no assertion came through")
    return text


def solver_answer(system, lines, folder):
    """Returns z3's answer for the system and these lines: "sat", "unsat", or what kept z3 from an answer."""
    file = folder / "query.smt2"
    file.write_text("\n".join([system, *lines, "(check-sat)", ""]))
    done = subprocess.run([pathlib.Path(sys.executable).with_name("z3"), f"-T:{TIMEOUT_S}", file], capture_output=True,
                          text=True, check=False)
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr.strip()


def states(count):
    """Returns the lines that declare states s0, s1, ... of the system, of which each follows from the one before."""
    lines = []
    for i in range(count):
        lines += [f"(declare-fun s{i} () |block_s|)", f"(assert (|block_u| s{i}))", f"(assert (|block_h| s{i}))"]
        if i:
            lines.append(f"(assert (|block_t| s{i - 1} s{i}))")
    return lines


def prove(proof, name, folder, rtl=HW / "rtl"):
    """Does k-induction. Returns "proved", "faulty", or what stopped the solver."""
    system = transition_system(proof, name, folder, rtl)
    k = proof.cycles
    some_fails = "(assert (or " + " ".join(f"(not (|block_a| s{i}))" for i in range(k)) + "))"
    base = solver_answer(system, [*states(k), "(assert (|block_i| s0))", some_fails], folder)
    if base != "unsat":
        return "faulty" if base == "sat" else base
    held = [f"(assert (|block_a| s{i}))" for i in range(k)]
    step = solver_answer(system, [*states(k + 1), *held, f"(assert (not (|block_a| s{k})))"], folder)
    return {"unsat": "proved", "sat": "faulty"}.get(step, step)


def with_fault(proof, folder):
    """Copies the sources, plants the fault in the copy and returns the copy's folder rtl."""
    file, text, instead = proof.fault
    for source in [*(HW / "rtl").rglob("*.sv"), *(HW / "formal").glob("*.sv")]:
        copy = folder / source.relative_to(HW)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(source.read_text())
    faulty = folder / "rtl" / file
    if text not in faulty.read_text():
        raise RuntimeError(f"{file} has no {text!r}: the planted fault is out of date")
    faulty.write_text(faulty.read_text().replace(text, instead))
    return folder / "rtl"


def report(name):
    """Returns whether the proof holds and finds its fault, and a line that says so."""
    proof = PROOFS[name]
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        try:
            result = prove(proof, name, folder)
            planted = prove(proof, name, folder, with_fault(proof, folder))
        except RuntimeError as error:
            result = planted = str(error)
    good = result == "proved" and planted == "faulty"
    return good, f"{'passed' if good else 'FAILED'}  {name}: {result}; with a planted fault: {planted}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("proofs", nargs="*", metavar="PROOF", default=list(PROOFS))
    options = parser.parse_args()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as provers:
        for good, line in provers.map(report, options.proofs):
            failed += not good
            print(line, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
