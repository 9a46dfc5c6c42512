#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds polykem for cores that run the Cortex-M4's code too, and runs it on QEMU; a line for each test.

    cores.py [--core CORE...] [--polykem PROGRAM]

Each core: the first known answer of every set with its rejections, and the example of embedded/example; with --polykem
also an exchange of keys with that program over the board's UART. The module of Zephyr is built with stand-ins."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/embedded"), str(ROOT / "tools/m4cycles")]
import cases  # noqa: E402
import m4cycles  # noqa: E402

BOARDS = {"cortex-m7": "mps2_an500", "cortex-m33": "mps2_an505"}
SECONDS = 1200  # of one program


def build(core, source, folder):
    """Builds everything of a CMake project for a core. Returns (passed, what the build said)."""
    toolchain = ROOT / "embedded/arm-none-eabi.cmake"
    for command in (["cmake", "-S", source, "-B", folder, "--toolchain", toolchain, "-G", "Ninja",
                     "-DCMAKE_BUILD_TYPE=Release", f"-DPOLYKEM_CORE={core}", "-DPOLYKEM_BUILD_BENCH=OFF"],
                    ["cmake", "--build", folder]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return False, done.stdout[-4000:] + done.stderr[-2000:]
    return True, ""


def emulator(elf, board, argument=""):
    return m4cycles.emulator(elf, argument, board.replace("_", "-"))


def run_program(elf, board, argument=""):
    """Returns (passed, what the program said)."""
    done = subprocess.run(emulator(elf, board, argument), capture_output=True, text=True, timeout=SECONDS)
    return done.returncode == 0, done.stdout + done.stderr


def exchange_over_uart(elf, board, program):
    """Returns (passed, what the partner said). The partner connects before the board starts."""
    with tempfile.TemporaryDirectory() as folder:
        port = Path(folder) / "uart"
        command = emulator(elf, board)
        command[command.index("-serial") + 1] = f"unix:{port},server"
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as machine:
            machine.stderr.readline()  # it waits for a connection
            done = subprocess.run([ROOT / "embedded/example/partner.py", port, program], capture_output=True, text=True,
                                  timeout=SECONDS)
            machine.wait(SECONDS)
        return done.stdout == "a message from the board\n" and machine.returncode == 0, done.stdout + done.stderr


def tests(core, cases_folder, program):
    """Yields (name, test) for a core. A test returns (passed, text)."""
    board = BOARDS[core]
    folder = ROOT / f"build-{core.removeprefix('cortex-')}"
    yield f"build for a {core}", lambda: build(core, ROOT / "embedded", folder)
    for name in cases.SETS:
        yield f"{name} on a {core}", lambda n=name: run_program(folder / "tests" / f"{n}_{board}", board,
                                                                cases_folder / f"{n}.cases")
    yield f"example on a {core}", lambda: run_program(folder / "example" / f"exchange_{board}", board)
    if program:
        yield f"UART of a {core}", lambda: exchange_over_uart(folder / "example" / f"uart_{board}", board, program)
    if core == "cortex-m33":
        yield "module of Zephyr", lambda: build(core, ROOT / "tests/embedded/zephyr", folder / "zephyr")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--core", nargs="*", choices=BOARDS, default=list(BOARDS))
    parser.add_argument("--polykem", type=Path, metavar="PROGRAM")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        for name in cases.SETS:
            (Path(place) / f"{name}.cases").write_bytes(b"".join(cases.cases(name, 1, False)))
        for core in options.core:
            for name, test in tests(core, Path(place), options.polykem):
                passed, said = test()
                failed += not passed
                print(f"{name} ... {'ok' if passed else 'FAIL'}", flush=True)
                print("".join(f"    {line}\n" for line in said.splitlines()[-20:]), end="", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
