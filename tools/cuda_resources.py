#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the CUDA compiler said of each kernel: registers, shared memory, spills, warps that fit a multiprocessor.

    tools/cuda_resources.py [--check] FOLDER     FOLDER holds the .log files of a build, e.g. build/src/cuda

Prints a Markdown table. --check: fails if a kernel spills registers or has a stack frame; none of ours may.
"""

import re
import subprocess
import sys
from pathlib import Path

REGISTERS_PER_SM, SHARED_PER_SM, WARPS_PER_SM, BLOCKS_PER_SM = 65536, 227 * 1024, 64, 32  # compute capability 9.0
ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(sm_\d+)'")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")
ONE_WARP = ("draw_kernel", "hash_rm_kernel", "hash_select_kernel", "invert_mod", "imma_kernel")  # blocks of one warp


def demangled(names):
    result = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


def kernels(folder):
    """(mangled name, architecture, registers, shared bytes, stack, spill bytes) of every kernel in the logs."""
    for log in sorted(folder.glob("*.log")):
        name = arch = None
        stack = spills = 0
        for line in log.read_text().splitlines():
            if match := ENTRY.search(line):
                name, arch = match.groups()
            elif match := FRAME.search(line):
                stack, spills = int(match[1]), int(match[2]) + int(match[3])
            elif (match := USED.search(line)) and name:
                yield name, arch, int(match[1]), int(match[2] or 0), stack, spills
                name = None


def short(name):
    name = re.sub(r"\(.*", "", name.replace("(anonymous namespace)::", "").replace("(polykem::cuda::MulKind)", "kind "))
    return re.sub(r"^void |polykem::|ntru::|cuda::", "", name)


def warps(name, registers, shared):
    block = 1 if any(kernel in name for kernel in ONE_WARP) else 4
    per_warp = (registers * 32 + 255) // 256 * 256
    blocks = min(BLOCKS_PER_SM, WARPS_PER_SM // block, REGISTERS_PER_SM // (per_warp * block))
    if shared:
        blocks = min(blocks, SHARED_PER_SM // (shared + 1024))
    return blocks * block


def main():
    check = "--check" in sys.argv
    folders = [a for a in sys.argv[1:] if not a.startswith("--")]
    if len(folders) != 1 or not Path(folders[0]).is_dir():
        sys.exit(__doc__)
    found = list(kernels(Path(folders[0])))
    if not found:
        sys.exit(f"no kernels in the logs of {folders[0]}; build the target polykem_cuda first")
    names = [short(n) for n in demangled([k[0] for k in found])]
    bad = [(n, k) for n, k in zip(names, found) if k[4] or k[5]]
    if check:
        for name, kernel in bad:
            print(f"{name} ({kernel[1]}): stack frame {kernel[4]}, spills {kernel[5]} bytes")
        print(f"{len(found)} kernels, {len(bad)} with a stack frame or spills")
        sys.exit(1 if bad else 0)
    print("| kernel | arch | registers | shared memory, bytes | warps per SM | spills |\n|---|---|---|---|---|---|")
    for name, (_, arch, registers, shared, _, spills) in sorted(zip(names, found)):
        print(f"| `{name}` | {arch} | {registers} | {shared} | {warps(name, registers, shared)} | {spills} |")


if __name__ == "__main__":
    main()
