#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what each kernel needs by the CUDA compiler's logs: registers, shared memory, spills, warps a multiprocessor.

    tools/cuda_resources.py [--check] FOLDER          FOLDER holds the .log files of a build, e.g. build/src/cuda
    tools/cuda_resources.py --update DOC FOLDER       writes the table of compute capability 9.0 into DOC
    tools/cuda_resources.py --compare DOC FOLDER NVCC fails if DOC has another table; 77 if NVCC is another version

Prints a Markdown table. --check: fails if a kernel spills registers or has a stack frame; none may, except for
those of KNOWN.
"""

import re
import subprocess
import sys
from pathlib import Path

REGISTERS_PER_SM, SHARED_PER_SM, WARPS_PER_SM, BLOCKS_PER_SM = 65536, 227 * 1024, 64, 32  # compute capability 9.0
ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(sm_\d+)'")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")
# Compute capability 7.5 has no m16n8k32: four small products stand for it; the largest kernel runs out of registers.
KNOWN = {("decrypt_r_kernel<Hrss1373>", "sm_75")}
# On compute capability 8.x a word is kept there for lanes of a warp that do not run together; all of them do.
KNOWN |= {(f"mlkem::warp_hash_decaps_kernel<mlkem::Mlkem{n}, false>", f"sm_{arch}")
          for n in (512, 768, 1024) for arch in (80, 86, 89)}
BEGIN, END = "<!-- cuda_resources: begin -->\n", "<!-- cuda_resources: end -->\n"
DEGREES = {"509": 509, "677": 677, "701": 701, "821": 821, "1229": 1229, "1373": 1373, "Hps2048509": 509,
           "Hps2048677": 677, "Hps4096821": 821, "Hps40961229": 1229, "Hrss701": 701, "Hrss1373": 1373}
KINDS = {"kind 0": "ternary", "kind 1": "general", "kind 2": "short", "kind 3": "bytes", "kind 4": "s3"}
# Family, what its table calls it, its columns and the sets that they stand for.
COLUMNS = [("mlkem::", "ML-KEM's", {"512": "Mlkem512", "768": "Mlkem768", "1024": "Mlkem1024"}),
           ("saber::", "Saber's", {"LightSaber": "LightSaber", "Saber": "Saber", "FireSaber": "FireSaber"}),
           ("mldsa::", "ML-DSA's", {"44": "Mldsa44", "65": "Mldsa65", "87": "Mldsa87"})]
LAC_SETS = ["lac128", "lac192", "lac256"]
HYBRID = ("hybrid::", "x25519_kernel")
HYBRID_SETS = {"Shape<0ul>": "x25519mlkem768", "Shape<3ul>": "mlkem768x25519"}
# Blocks of ML-KEM's and ML-DSA's kernels are one warp but for these; NTRU's are four but for the last ones, and two of
# invert_bytes_kernel.
FOUR_WARPS_MLKEM = ("keygen_kernel", "encrypt_kernel", "compare_kernel", "decrypt_kernel", "expand_vector_kernel")
TWO_WARPS_MLDSA = ("keygen_kernel", "commitment_kernel", "verify_kernel", "finish_kernel")
ONE_WARP = ("coin_kernel", "encrypt_kernel", "decrypt_m_kernel", "decrypt_r_kernel", "hash_rm_kernel",
            "hash_select_kernel", "imma_", "pack_h_kernel", "pack_invh_kernel")


def demangled(names):
    result = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


def kernels(folder):
    """Returns (mangled name, architecture, registers, shared bytes, stack, spill bytes) of every kernel in the logs."""
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
    name = name.replace("(anonymous namespace)::", "").replace("(polykem::cuda::MulKind)", "kind ")
    name = re.sub(r"\(.*", "", name.replace("(polykem::Status)", "status "))
    return re.sub(r"^void |polykem::|ntru::|cuda::", "", name)


def warps(name, registers, shared):
    if name.startswith("mlkem::"):
        block = 4 if any(f"::{kernel}" in name for kernel in FOUR_WARPS_MLKEM) else 1
    elif name.startswith("lac::stream_a_kernel"):
        block = 8
    elif name.startswith("mldsa::"):
        block = 2 if any(f"::{kernel}" in name for kernel in TWO_WARPS_MLDSA) else 1
    else:
        one = name.startswith(("saber::", "lac::")) or (name.startswith("hybrid::") and "_rows_" not in name)
        two = name.startswith("invert_bytes_kernel")
        block = 1 if one or any(kernel in name for kernel in ONE_WARP) else 2 if two else 4
    per_warp = (registers * 32 + 255) // 256 * 256
    blocks = min(BLOCKS_PER_SM, WARPS_PER_SM // block, REGISTERS_PER_SM // (per_warp * block))
    if shared:
        blocks = min(blocks, SHARED_PER_SM // (shared + 1024))
    return blocks * block


def cells(found, names):
    """Returns {row: {degree: "registers / shared / warps"}} of compute capability 9.0; degree 0 stands for none."""
    table = {}
    for name, (_, arch, registers, shared, _, _) in zip(names, found):
        if arch != "sm_90" or name.startswith(("mlkem::", "saber::", "mldsa::", "frodo::", "lac::", *HYBRID)):
            continue
        head, _, rest = name.partition("<")
        words = [w.strip() for w in rest.rstrip(">").split(",")] if rest else []
        degree = next((DEGREES[w] for w in words if w in DEGREES), 0)
        kind = next((f" {KINDS[w]}" for w in words if w in KINDS), "")
        side = {"true": ", a shared", "false": ", b shared"}.get(words[-1], "") if words else ""
        row = head.replace("_kernel", "") + kind + side
        cell = f"{registers} / {shared} / {warps(name, registers, shared)}"
        table.setdefault(row, {}).setdefault(degree, cell)
    return table


def family_table(found, names, family, title, sets):
    """Returns the table of a family's kernels. Kyber's are ML-KEM's but for a few that one of the two lacks."""
    rows = {}
    for name, (_, arch, registers, shared, _, _) in zip(names, found):
        if arch != "sm_90" or not name.startswith(family) or "Kyber" in name:
            continue
        head, _, rest = name[len(family):].partition("<")
        words = [re.sub(rf"{family}|u$", "", w.strip()) for w in rest.rstrip(">").split(",")]
        own = next((n for n, set_name in sets.items() if set_name in words), None)
        row = " ".join([head.replace("_kernel", "")] + [w for w in words if w not in sets.values()])
        for column in [own] if own else sets:
            rows.setdefault(row, {})[column] = f"{registers} / {shared} / {warps(name, registers, shared)}"
    lines = [f"| {title} kernel | " + " | ".join(sets) + " |", "|---" * (len(sets) + 1) + "|"]
    for row, columns in sorted(rows.items()):
        lines.append(f"| `{row}` | " + " | ".join(columns.get(n, "") for n in sets) + " |")
    return "\n".join(lines) + "\n"


def frodo_table(found, names):
    """Returns the table of FrodoKEM's kernels, whose blocks have several sizes."""
    lines = ["| FrodoKEM's kernel | registers / shared memory |", "|---|---|"]
    for name, (_, arch, registers, shared, _, _) in sorted(zip(names, found)):
        if arch == "sm_90" and name.startswith("frodo::"):
            lines.append(f"| `{name[len('frodo::'):].replace('_kernel', '')}` | {registers} / {shared} |")
    return "\n".join(dict.fromkeys(lines)) + "\n"


def lac_table(found, names):
    """Returns the table of LAC's kernels; a set's PRG blocks are in the kernel's name."""
    lines = ["| LAC's kernel | registers / shared memory / warps |", "|---|---|"]
    for name, (_, arch, registers, shared, _, _) in sorted(zip(names, found)):
        if arch == "sm_90" and name.startswith("lac::"):
            own = name.replace("lac::", "").replace("_kernel", "")
            for i, title in enumerate(LAC_SETS):
                own = own.replace(f"Shape<{i}ul> ", title).replace(f"Shape<{i}ul>", title)
            lines.append(f"| `{own}` | {registers} / {shared} / {warps(name, registers, shared)} |")
    return "\n".join(dict.fromkeys(lines)) + "\n"


def hybrid_table(found, names):
    """Returns the table of X25519's kernels, and of those that hybrids add to it and ML-KEM."""
    lines = ["| the hybrids' kernel | registers / shared memory / warps |", "|---|---|"]
    for name, (_, arch, registers, shared, _, _) in sorted(zip(names, found)):
        if arch == "sm_90" and name.startswith(HYBRID):
            own = re.sub(r"hybrid::|_kernel", "", name).replace(" >", ">")
            for shape, title in HYBRID_SETS.items():
                own = own.replace(shape, title)
            lines.append(f"| `{own}` | {registers} / {shared} / {warps(name, registers, shared)} |")
    return "\n".join(dict.fromkeys(lines)) + "\n"


def matrix(found, names):
    degrees = sorted(set(DEGREES.values()))
    lines = ["| kernel | " + " | ".join(f"n = {n}" for n in degrees) + " |", "|---" * (len(degrees) + 1) + "|"]
    for row, columns in sorted(cells(found, names).items()):
        shown = [columns.get(n, columns.get(0, "")) for n in degrees]
        lines.append(f"| `{row}` | " + " | ".join(shown) + " |")
    tables = [family_table(found, names, *columns) for columns in COLUMNS]
    tables += [of_family(found, names) for of_family in (frodo_table, lac_table, hybrid_table)]
    return "\n".join([*lines, "", *tables])


def read(folder):
    if not Path(folder).is_dir():
        sys.exit(__doc__)
    found = list(kernels(Path(folder)))
    if not found:
        sys.exit(f"no kernels in the logs of {folder}; build the target polykem_cuda first")
    return found, [short(n) for n in demangled([k[0] for k in found])]


def check(found, names):
    bad = [(n, k) for n, k in zip(names, found) if (k[4] or k[5]) and (n, k[1]) not in KNOWN]
    for name, kernel in bad:
        print(f"{name} ({kernel[1]}): stack frame {kernel[4]}, spills {kernel[5]} bytes")
    print(f"{len(found)} kernels, {len(bad)} with a stack frame or spills that are not known")
    return 1 if bad else 0


def nvcc_release(nvcc):
    out = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"release ([0-9.]+)", out)[1]


def in_document(document, folder, nvcc=None):
    """Writes the table or, if a compiler is named, compares it."""
    path, (found, names) = Path(document), read(folder)
    text = path.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    table = matrix(found, names)
    if nvcc is None:
        path.write_text(text[:begin] + table + text[end:])
        return 0
    if table.count(" / ") == 0 or f"CUDA {nvcc_release(nvcc)}" not in text[begin - 300 : begin]:
        print(f"skipped: the table of {document} is of another compiler or compute capability than this build")
        return 77
    if text[begin:end] == table:
        return 0
    print(f"{document} has another table; run: tools/cuda_resources.py --update {document} {folder}")
    return 1


def main():
    words = sys.argv[1:]
    if words[:1] == ["--check"] and len(words) == 2:
        sys.exit(check(*read(words[1])))
    if words[:1] == ["--update"] and len(words) == 3:
        sys.exit(in_document(words[1], words[2]))
    if words[:1] == ["--compare"] and len(words) == 4:
        sys.exit(in_document(*words[1:]))
    if len(words) != 1:
        sys.exit(__doc__)
    found, names = read(words[0])
    print("| kernel | arch | registers | shared memory, bytes | warps per SM | spills |\n|---|---|---|---|---|---|")
    for name, (_, arch, registers, shared, _, spills) in sorted(zip(names, found)):
        print(f"| `{name}` | {arch} | {registers} | {shared} | {warps(name, registers, shared)} | {spills} |")


if __name__ == "__main__":
    main()
