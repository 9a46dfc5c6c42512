#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables and plots of README.md and other pages from the program's list of sets and measured results.

    tools/tables.py [--check] [--record] [--program build/bin/polykem]

A table stands between the lines "<!-- table: NAME -->" and "<!-- end of table -->". With --check nothing is written:
the exit status is 1 if a page is not what its sources say. With --record the results of `make bench-peers` and
`make bench-peers PEER=haswell` in build/ become those of bench/results first; `make figures` does all of it.

Sources: `polykem list --json -`, and of bench/results cpu_peers.json and cpu_peers_haswell.json (peers without
AVX-512); gpu_tables.py and frodo_cuda_tables.py name those of GPUs, tls_tables.py that of TLS.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import frodo_cuda_tables
import gpu_tables
import tls_tables
from floors import floors
from gpu_tables import markdown
from plot_peers import plot

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "docs/performance.md", "docs/user_guide.md", "docs/gpu_figures.md", "bench/seong2021/README.md",
         "bench/frodo_cuda/README.md", "docs/tls.md"]
PLOT = "bench/results/cpu_peers.svg"
RECORDED = {"build/bench-peers.json": "cpu_peers.json", "build/bench-peers-haswell.json": "cpu_peers_haswell.json"}
FRONT = ["mlkem512", "mlkem768", "mlkem1024", "kyber768", "ntruhps4096821", "ntruhrss701", "efrodokem640shake",
         "efrodokem976aes"]  # the rows of README.md
OPS = ["keygen", "encaps", "decaps"]
BLOCK = re.compile(r"(<!-- table: ([a-z-]+) -->\n).*?(<!-- end of table -->)", re.S)


class Results:
    """What was measured, by set and operation."""

    def __init__(self, sets):
        self.sets = sets
        document = json.loads((ROOT / "bench/results/cpu_peers.json").read_text(encoding="utf-8"))
        self.peers, self.ghz = document["records"], document["ghz"]
        haswell = json.loads((ROOT / "bench/results/cpu_peers_haswell.json").read_text(encoding="utf-8"))
        self.narrow_peers = haswell["records"]
        self.gpu = gpu_tables.resident_rates()

    def find(self, scheme, op, backend="avx512", many=True, threads=1, keys="per-item", narrow=False):
        """narrow: against the peer without AVX-512."""
        for r in self.narrow_peers if narrow else self.peers:
            if (r["scheme"], r["op"], r["backend"], r["threads"]) == (scheme, op, backend, threads):
                if (r["count"] > 1) == many and r["keys"] == keys:
                    return r
        return None

    def measured_sets(self):
        return [s for s in self.sets if self.find(s["name"], "decaps")]


def rate(per_second):
    return f"{per_second:,.0f}"


def ratio(record):
    return f"{record['ratio']:.1f}x" if record else ""


def table_sets(results):
    header = ["set", "also known as", "category", "public key", "secret key", "ciphertext", "secret"]
    sizes = ["public_key_bytes", "secret_key_bytes", "ciphertext_bytes", "shared_secret_bytes"]
    rows = [[s["name"], s["title"], str(s["security_category"])] + [f"{s[k]:,}" for k in sizes] for s in results.sets]
    return markdown(header, rows)


def table_summary(results, only=None):
    """One line a set: rate and ratio of each operation."""
    rows = []
    for name in only or [s["name"] for s in results.measured_sets()]:
        records = [results.find(name, op) for op in OPS]
        narrow = [results.find(name, op, "avx2", narrow=True) or results.find(name, op, "avx2") for op in OPS]
        gpu = [results.gpu.get((name, op)) for op in OPS]
        rows.append(
            [name]
            + [f"{rate(r['ours_ops_per_s'])} ({ratio(r)})" for r in records]
            + [" / ".join(ratio(r) for r in narrow) if all(narrow) else ""]
            + [" / ".join(gpu_tables.million(g) for g in gpu) if all(gpu) else ""]
        )
    return markdown(["set", *(f"{op}/s" for op in OPS), "both sides AVX2", "H200, million/s"], rows)


def table_front(results):
    return table_summary(results, FRONT)


def table_peers(results):
    """Every operation of every set against its peer."""
    header = ["set", "operation", "peer", "polykem avx512, op/s", "peer, op/s", "ratio", "avx2 forced",
              "avx2 forced, peer with AVX2 only", "a lone item: avx512 / avx2", "one public key", "2 threads / 1"]
    rows = []
    for s in results.measured_sets():
        for op in OPS:
            name = s["name"]
            r = results.find(name, op)
            two = results.find(name, op, threads=2)
            alone = [results.find(name, op, backend, many=False) for backend in ("avx512", "avx2")]
            rows.append([
                name, op, r["peer"], rate(r["ours_ops_per_s"]), rate(r["peer_ops_per_s"]), f"**{r['ratio']:.1f}**",
                ratio(results.find(name, op, "avx2")), ratio(results.find(name, op, "avx2", narrow=True)),
                " / ".join(f"{a['ratio']:.2f}" for a in alone) if all(alone) else "",
                ratio(results.find(name, op, keys="shared")),
                f"{two['ours_ops_per_s'] / r['ours_ops_per_s']:.2f}" if two else "",
            ])
    return markdown(header, rows)


def table_floors(results):
    """Cycles beside the cycles of the work that cannot be left out."""
    rows = []
    for s in results.measured_sets():
        for op, keys in [*((op, "per-item") for op in OPS), ("encaps", "shared")]:
            r = results.find(s["name"], op, keys=keys)
            if r is None:
                continue
            cycles, floor = results.ghz * 1e9 / r["ours_ops_per_s"], floors(s["name"], keys == "shared")[op]
            rows.append([s["name"], op if keys == "per-item" else op + ", one key", f"{cycles:,.0f}", f"{floor:,.0f}",
                         f"{cycles / floor:.2f}"])
    return markdown(["set", "operation", f"cycles at {results.ghz:.2f} GHz", "floor", "measured / floor"], rows)


TABLES = {"sets": table_sets, "front": table_front, "summary": table_summary, "peers": table_peers,
          "floors": table_floors, **gpu_tables.TABLES, **frodo_cuda_tables.TABLES,
          **tls_tables.TABLES}


def record():
    """One record a line, so that two measurements can be compared by eye."""
    for source, name in RECORDED.items():
        document = json.loads((ROOT / source).read_text(encoding="utf-8"))
        records = ",\n".join("  " + json.dumps(r, sort_keys=True) for r in document.pop("records"))
        head = json.dumps(document, indent=1, sort_keys=True)[:-2]
        (ROOT / "bench/results" / name).write_text(f'{head},\n "records": [\n{records}\n ]\n}}\n', encoding="utf-8")


def fresh_pages(results):
    """Every page and plot that is made here, as it should be."""
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        yield page, BLOCK.sub(lambda m: m[1] + TABLES[m[2]](results) + m[3], text)
    yield PLOT, plot([(name, {op: results.find(name, op)["ratio"] for op in OPS}) for name in FRONT])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, say which page is out of date")
    parser.add_argument("--record", action="store_true", help="take over what was measured last")
    parser.add_argument("--program", default=ROOT / "build/bin/polykem", help="the program that lists the sets")
    arguments = parser.parse_args()
    if arguments.record:
        record()
    listed = subprocess.run([arguments.program, "list", "--json", "-"], capture_output=True, text=True, check=True)
    results = Results(json.loads(listed.stdout)["schemes"])
    stale = False
    for page, fresh in fresh_pages(results):
        path = ROOT / page
        if path.exists() and path.read_text(encoding="utf-8") == fresh:
            continue
        stale = True
        print(f"{page}: " + ("not what its sources say; run `make tables`" if arguments.check else "written"))
        if not arguments.check:
            path.write_text(fresh, encoding="utf-8")
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
