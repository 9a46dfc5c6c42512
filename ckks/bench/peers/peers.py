# SPDX-License-Identifier: Apache-2.0
"""Measures one core beside Lattigo, OpenFHE and SEAL: the tables of ckks/figures.md.

    peers.py --build BUILD [--openfhe PYTHON] [--seal PREFIX] [--rounds 3] [--seconds 0.5]

BUILD is a build of ckks/, PYTHON one that has openfhe 1.6.1, PREFIX where SEAL is installed. Lattigo needs Go 1.24.
What is not there is left out. Every program has the same ring, the same number of primes of the same bits and runs on
one core with one thread, in turns. A time is CPU time of one ciphertext: the best of all and the median of a program's
medians, in milliseconds.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SETS = {"2^14, 6 + 2": (14, 6, 2, 3), "2^15, 9 + 3": (15, 9, 3, 3)}
OF_SEAL = {"2^14, 6 + 1": (14, 6, 1, 6), "2^15, 9 + 1": (15, 9, 1, 9)}
AVX2 = {"POLYKEM_CPU_MASK": "avx512f"}


def compiled(folder, source, *arguments):
    """Returns a compiled program, or None with a word on standard error."""
    program = folder / source
    done = subprocess.run([os.environ.get("CXX", "c++"), "-O2", "-std=c++20", HERE / f"{source}.cpp", "-o", program,
                           *arguments], check=False)
    return program if done.returncode == 0 else None


def programs(options, folder, specials_of_seal):
    """Returns the command and the environment of each program; {} stands for the numbers of a parameter set."""
    library = pathlib.Path(options.build).resolve() / "src"
    ours = [compiled(folder, "polykem", f"-I{ROOT}/ckks/include", f"-L{library}", "-lpolykem_ckks",
                     f"-Wl,-rpath,{library}"), "{log_n}", "{limbs}", "{specials}", "{digits}"]
    out = {"polykem, AVX-512": (ours, {}), "polykem, AVX2": (ours, AVX2)}
    if specials_of_seal:
        if options.seal:
            prefix = pathlib.Path(options.seal)
            seal = compiled(folder, "seal", f"-I{next(prefix.glob('include/SEAL-*'))}",
                            next(prefix.glob("lib/libseal-*.a")), "-lpthread")
            out["SEAL"] = [seal, "{log_n}", "{limbs}"], {}
        return out
    if shutil.which("go"):
        subprocess.run(["go", "build", "-o", folder / "lattigo", "."], cwd=HERE / "lattigo", check=True,
                       env=os.environ | {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"})
        out["Lattigo"] = [folder / "lattigo", "{log_n}", "{limbs}", "{specials}"], {"GOMAXPROCS": "1"}
    if options.openfhe:
        out["OpenFHE"] = ([options.openfhe, HERE / "openfhe_peer.py", "{log_n}", "{limbs}", "{digits}"],
                          {"OMP_NUM_THREADS": "1"})
    return out


def measured(command, environment, numbers, options):
    """Returns (best, median) by operation."""
    names = dict(zip(("log_n", "limbs", "specials", "digits"), numbers))
    arguments = ["taskset", "-c", str(options.core), *(str(part).format(**names) for part in command),
                 str(options.seconds)]
    lines = subprocess.run(arguments, check=True, capture_output=True, text=True, env=os.environ | environment).stdout
    return {name: (float(best), float(median)) for name, best, median in (x.split("\t") for x in lines.splitlines())}


def table(title, numbers, by_program, options):
    rounds = [{name: measured(*program, numbers, options) for name, program in by_program.items()}
              for _ in range(options.rounds)]
    operations = list(rounds[0]["polykem, AVX-512"])
    print(f"| {title} | " + " | ".join(by_program) + " |", "|---" * (len(by_program) + 1) + "|", sep="\n")
    for operation in operations:
        cells = []
        for name in by_program:
            times = [x[name][operation] for x in rounds if operation in x[name]]
            best = min((best for best, _ in times), default=None)
            cells.append(f"{best:.3g} ({statistics.median(median for _, median in times):.3g})" if times else "")
        print(f"| {operation} | " + " | ".join(cells) + " |")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--openfhe")
    parser.add_argument("--seal")
    parser.add_argument("--core", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for sets, of_seal in ((SETS, False), (OF_SEAL, True)):
            by_program = programs(options, pathlib.Path(name), of_seal)
            if None in (command[0] for command, _ in by_program.values()):
                sys.exit("a program was not compiled")
            for title, numbers in sets.items():
                table(title, numbers, by_program, options)


main()
