#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints which share of each parser's lines the fuzzers' inputs reach, as a Markdown table.

    tests/fuzz/coverage.py [--missing] BUILD [CORPUS]

BUILD: a folder configured with POLYKEM_FUZZ_COVERAGE=ON, whose fuzzers are built. The inputs are the seeds and what
fuzzing has kept in CORPUS (POLYKEM_FUZZ_CORPUS, else build-fuzz/corpus). --missing lists the lines that none reaches.
Needs llvm-cov and llvm-profdata of the compiler's version.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPENFHE = [f"ckks/openfhe/{name}" for name in ("binary.cpp", "check.cpp", "json.cpp", "json_tree.cpp", "openfhe.cpp",
                                               "pointers.cpp", "reader.cpp", "schema.cpp", "schema.hpp")]
KAT = [f"cli/kat/{name}.cpp" for name in ("accumulated", "acvp", "cctv", "formats", "json_fields", "suite", "vectors",
                                          "wycheproof")]
# What strangers' bytes pass through: the parsers by their fuzzers, and their sources.
PARSERS = [
    ("keys in DER and PEM", ["key_der"], ["formats/base64.cpp", "formats/der.cpp", "formats/keys.cpp",
                                          "formats/pem.cpp"]),
    ("encrypted keys", ["encrypted_key"], ["cli/files/encrypted_key.cpp"]),
    ("files of records", ["key_file"], ["cli/files/armour.cpp", "cli/files/named_records.cpp"]),
    ("known answers", ["kat_files", "kat_json", "kat_rsp"], KAT),
    ("input, plain or gzipped", ["gzip", "key_file"], ["cli/common/input.cpp"]),
    ("frames of `polykem exchange`", ["frame"], ["cli/net/frame.cpp"]),
    ("metrics of `polykem top`", ["metrics"], ["cli/top/samples.cpp", "cli/top/figures.cpp"]),
    ("ServerHello", ["server_hello"], ["cli/tls/server_hello.cpp"]),
    ("polykemd's clients", ["broker"], ["src/broker/session.cpp", "src/broker/protocol.cpp"]),
    ("files of OpenFHE", ["openfhe_binary", "openfhe_json"], OPENFHE),
    ("their objects", ["ckks_files"], ["ckks/openfhe/handles.cpp"]),
]


def llvm_tool(name, build):
    """Returns the path of an LLVM tool of the version of the build's compiler."""
    compiler = re.search(r"^CMAKE_CXX_COMPILER:.*=(.*)", (build / "CMakeCache.txt").read_text(), re.M)[1]
    banner = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"version (\d+)", banner)[1]
    for suffix in (f"-{version}", ""):
        cov, path = shutil.which(f"llvm-cov{suffix}"), shutil.which(f"{name}{suffix}")
        if cov and path and f"version {version}." in subprocess.run([cov, "--version"], capture_output=True, text=True,
                                                                    check=True).stdout:
            return path
    sys.exit(f"coverage.py: no {name} of version {version} is installed: apt-get install llvm-{version}")


def folders_of(fuzzer, build, corpus):
    return [folder for folder in (build / "tests/fuzz/seeds" / fuzzer, corpus / fuzzer) if folder.is_dir()]


def measure(names, build, corpus, scratch):
    """Runs the fuzzers over their inputs. Returns the merged profile and the programs."""
    programs, profiles = [], []
    for name in names:
        fuzzer = f"fuzz_{name}"
        programs.append(build / "bin" / fuzzer)
        profiles.append(scratch / f"{fuzzer}.profraw")
        subprocess.run([programs[-1], *folders_of(fuzzer, build, corpus), "-runs=0"], check=True, capture_output=True,
                       cwd=scratch, env={**os.environ, "LLVM_PROFILE_FILE": str(profiles[-1])})
    merged = scratch / f"{names[0]}.profdata"
    subprocess.run([llvm_tool("llvm-profdata", build), "merge", "-sparse", *profiles, "-o", merged], check=True)
    return merged, programs


def exported(profile, programs, sources, build):
    """Returns what llvm-cov says of the sources: {source: its record}."""
    others = [word for program in programs[1:] for word in ("-object", program)]
    command = [llvm_tool("llvm-cov", build), "export", programs[0], *others, f"-instr-profile={profile}",
               *(ROOT / source for source in sources)]
    document = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return {Path(file["filename"]).relative_to(ROOT).as_posix(): file for file in document["data"][0]["files"]}


def missing_lines(record):
    """Returns the lines at which code begins that never ran."""
    return sorted({segment[0] for segment in record["segments"] if segment[3] and segment[2] == 0})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missing", action="store_true", help="the lines that none reaches")
    parser.add_argument("build", type=lambda text: Path(text).resolve())
    parser.add_argument("corpus", nargs="?", type=lambda text: Path(text).resolve(),
                        default=Path(os.environ.get("POLYKEM_FUZZ_CORPUS") or ROOT / "build-fuzz/corpus").resolve())
    arguments = parser.parse_args()
    print("| parser | fuzzers | inputs | lines | reached | sources |\n|---|---|---|---|---|---|")
    missing = []
    with tempfile.TemporaryDirectory() as scratch:
        for title, names, sources in PARSERS:
            if not all((arguments.build / "bin" / f"fuzz_{name}").exists() for name in names):
                continue
            profile, programs = measure(names, arguments.build, arguments.corpus, Path(scratch))
            files = exported(profile, programs, sources, arguments.build)
            lines = [file["summary"]["lines"] for file in files.values()]
            covered, count = sum(one["covered"] for one in lines), sum(one["count"] for one in lines)
            inputs = sum(len(list(folder.iterdir())) for name in names
                         for folder in folders_of(f"fuzz_{name}", arguments.build, arguments.corpus))
            print(f"| {title} | {', '.join(names)} | {inputs:,} | {count:,} | {100 * covered / count:.1f} % "
                  f"| {', '.join(sources)} |", flush=True)
            missing += [f"{source}:{line}" for source, file in files.items() for line in missing_lines(file)]
    if arguments.missing:
        print("\n" + "\n".join(missing))


if __name__ == "__main__":
    main()
