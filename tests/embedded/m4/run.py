#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds polykem for a Cortex-M4 and runs its tests on QEMU; a line for each test, as `make test-m4` shows it.

    run.py [--quick] [--build FOLDER]

Every set: known answers 0 to 9 with their rejections and the accumulated hashes on the board mps2-an386, and the first
known answer on netduinoplus2, an STM32F405 with 128 KB. The primitives written for the Cortex-M4 beside the portable
ones. The example. The hand-counted loops of tools/m4cycles, and its traces of instructions and addresses: equal for
different secrets, not equal for a planted leak. Proofs of machine code, with faults and a comparison with QEMU, skipped
where their tools cannot be fetched. --quick: the first known answer of one or two sets of each scheme, the
primitives, what the library needs, the counted loops, traces of one set and of the leaks, and fewer proofs.
"""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "embedded"), str(ROOT / "tools" / "m4cycles")]
import cases  # noqa: E402
import m4cycles  # noqa: E402
import selftest  # noqa: E402
import traces  # noqa: E402

BOARDS = {"mps2_an386": "mps2-an386", "stm32f405": "netduinoplus2"}
SECONDS = 1200  # of one program; on two busy cores the longest takes five minutes


QUICK_SETS = ("ntruhps2048509", "ntruhrss701", "mlkem512", "mlkem768", "frodokem640aes")
QUICK_TRACES = "mlkem512"
QUICK_TARGETS = [*(f"{name}_mps2_an386" for name in QUICK_SETS), f"secrets_{QUICK_TRACES}", "kernels", "mlkem_kernels",
                 "polykem_proofs"]
QUICK_PROOFS = ("mlkem m4 transform", "mlkem m4 compress", "mlkem m4 noise", "frodo m4 product", "ntru m4 pack 509",
                "ct m4")
PROOFS = ("mlkem m4", "frodo m4", "ntru m4 product 509", "ntru m4 pack", "ntru m4 unpack", "ct m4")
SKIPPED = 77  # exit status of tools/prove.sh


def build(folder, targets):
    commands = [["cmake", "-S", ROOT / "embedded", "-B", folder, "--toolchain", "arm-none-eabi.cmake", "-G", "Ninja"],
                ["cmake", "--build", folder, *(["--target", *targets] if targets else [])]]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout[-4000:] + done.stderr[-2000:] + "test-m4: the build failed")


def write_cases(folder, counts, with_accumulated):
    folder.mkdir(parents=True, exist_ok=True)
    for name in cases.SETS:
        (folder / f"{name}.cases").write_bytes(b"".join(cases.cases(name, counts, with_accumulated)))
    return folder


def run_program(elf, argument, board):
    """Runs a program on the emulator. Returns (passed, its output)."""
    command = m4cycles.emulator(elf, argument, BOARDS[board])
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    return done.returncode == 0, done.stdout + done.stderr


def tool_lines(tool, *arguments):
    done = subprocess.run([f"arm-none-eabi-{tool}", *arguments], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def needs_nothing(library):
    """Returns (passed, text). The library must call nothing outside but what every freestanding compiler requires."""
    words = [line.split() for line in tool_lines("nm", library)]
    defined = {word[2] for word in words if len(word) == 3}
    needed = {word[1] for word in words if len(word) == 2 and word[0] == "U"} - defined
    return needed == {"memcpy", "memset", "memcmp"}, " ".join(sorted(needed))


def divides_nowhere(library):
    """Returns (passed, text). The library must not divide: the time depends on the operands. [CM4TRM, 3.3.1]"""
    code = tool_lines("objdump", "-d", "--no-show-raw-insn", library)
    operations = ("udiv", "sdiv", "vdiv", "vsqrt")
    found = [line for line in code if len(line.split()) > 1 and line.split()[1].startswith(operations)]
    return not found and len(code) > 1000, "\n".join(found)


def proves(library, quick):
    """Returns (passed, text) of the proofs of tools/proofs/README.md that are quick, with a fault beside each; None for
    passed where their tools cannot be fetched."""
    names = QUICK_PROOFS if quick else PROOFS
    command = [ROOT / "tools/prove.sh", "--library", library, "--wrappers", library, "--faults", "--cpu", *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    passed = None if done.returncode == SKIPPED else done.returncode == 0
    return passed, (done.stdout if done.returncode == 1 else "") + done.stderr


def programs(build_folder, quick):
    """Returns (name, test) of everything that runs on the emulator, the longest first."""
    first = write_cases(build_folder / "cases" / "first", 1, False)
    everything = first if quick else write_cases(build_folder / "cases" / "all", 10, True)
    for name in QUICK_SETS if quick else reversed(cases.SETS):
        elf = build_folder / "tests" / f"{name}_mps2_an386"
        yield f"{name} on mps2-an386", lambda e=elf, n=name: run_program(e, everything / f"{n}.cases", "mps2_an386")
    for name in () if quick else cases.SETS:
        elf = build_folder / "tests" / f"{name}_stm32f405"
        yield f"{name} in 128 KB", lambda e=elf, n=name: run_program(e, first / f"{n}.cases", "stm32f405")
    for name in ("kernels", "mlkem_kernels"):
        yield name, lambda e=build_folder / "tests" / name: run_program(e, "", "mps2_an386")
    if not quick:
        yield "example", lambda: run_program(build_folder / "example" / "exchange_mps2_an386", "", "mps2_an386")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--build", type=Path, default=ROOT / "build-m4")
    options = parser.parse_args()
    build(options.build, QUICK_TARGETS if options.quick else [])
    m4cycles.plugin()
    library = options.build / "library" / "libpolykem_embedded.a"
    tests = [*programs(options.build, options.quick),
             ("the library needs nothing", lambda: needs_nothing(library)),
             ("the library does not divide", lambda: divides_nowhere(library)),
             ("proofs of machine code", lambda: proves(options.build / "tests" / "polykem_proofs", options.quick)),
             *selftest.tests(options.build),
             *traces.tests(options.build, [QUICK_TRACES] if options.quick else cases.SETS)]
    failed = skipped = 0
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name, result in [(name, pool.submit(test)) for name, test in tests]:
            passed, said = result.result()
            failed += passed is False
            skipped += passed is None
            verdict = {True: "ok", False: "FAIL", None: "skipped"}[passed]
            print(f"{name} ... {verdict}", flush=True)
            print("".join(f"    {line}\n" for line in said.splitlines()[-20:]), end="", flush=True)
    print(f"{len(tests) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
