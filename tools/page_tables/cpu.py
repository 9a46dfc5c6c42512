# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of one core beside its peers in README.md and docs/performance.md, for tools/tables.py.

Sources in bench/results, for each kind of machine: cpu_peers*.json and, against peers without AVX-512,
cpu_peers*_haswell.json; cpu_rates_*.json, hybrids_zen4.json. A table whose source is not there is empty.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from floors import MAX_SMALL_BATCH, cycles_of, floors, is_best, model_of
from page_tables.gpu import million, resident_rates
from page_tables.sources import RESULTS, ROOT, load, markdown, present

BUILD = ROOT / "build"
FRONT = ["mlkem512", "mlkem768", "mlkem1024", "frodokem976aes", "frodokem976shake", "ntruhps4096821", "ntruhrss701",
         "saber"]  # the bars of README.md's plot
OPS = ["keygen", "encaps", "decaps"]
HYBRIDS = "hybrids_zen4.json"
RATES_OF_FLOORS = {"vpaddw": "add", "vpternlogq": "ternary", "vprolq": "rotate", "vpmullw": "multiply",
                   "vpdpwssd": "multiply", "vpminud": "minimum", "vaesenc": "aes"}  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of machine."""

    name: str
    suffix: str  # of its files
    machine: str  # its name in its files

    @property
    def file(self):
        return f"cpu_peers{self.suffix}.json"

    @property
    def rates_file(self):
        return f"cpu_rates{self.suffix or '_zen5'}.json"

    @property
    def narrow_file(self):
        return f"cpu_peers{self.suffix}_haswell.json"


ZEN5 = Kind("Zen 5", "", "one core of a machine with AVX-512 (AMD EPYC, Zen 5)")
XEON = Kind("Xeon", "_xeon", "one core of a Xeon with AVX-512 and AMX")


class Core:
    """The measurements on one kind of machine, by set and operation."""

    def __init__(self, kind):
        document = load(kind.file) if present(kind.file) else {"records": [], "ghz": 0, "machine": ""}
        self.kind, self.ghz, self.model = kind, document["ghz"], model_of(document["machine"])
        self.records = document["records"]
        self.narrow_records = load(kind.narrow_file)["records"] if present(kind.narrow_file) else []

    def find(self, scheme, op, forced=None, count=None, threads=1, keys="per-item", narrow=False):
        """Returns the record of the backend that was chosen, or of a forced one. count: None is a full batch. narrow:
        against peers without AVX-512."""
        for r in self.narrow_records if narrow else self.records:
            if (r["scheme"], r["op"], r["threads"], r["keys"]) != (scheme, op, threads, keys):
                continue
            if not (r["backend"] == forced and not is_best(r) if forced else is_best(r)):
                continue
            if r["count"] == count or (count is None and r["count"] > MAX_SMALL_BATCH):
                return r
        return None

    def sets(self, all_sets):
        return [s["name"] for s in all_sets if self.find(s["name"], "decaps")]


class Results:
    """The sources of the tables. sets: as `polykem list` prints them."""

    def __init__(self, sets):
        self.sets = sets
        self.zen5, self.xeon = Core(ZEN5), Core(XEON)
        self.gpu = resident_rates()


def rate(per_second):
    return f"{per_second:,.0f}"


def ratio(record, digits=1):
    return f"{record['ratio']:.{digits}f}x" if record else ""


def rate_and_ratio(core, name, op):
    if (record := core.find(name, op)) is None:
        return ""
    return f"{rate(record['ours_ops_per_s'])} ({ratio(record)})"


def table_sets(results):
    header = ["set", "also known as", "category", "public key", "secret key", "ciphertext", "secret"]
    sizes = ["public_key_bytes", "secret_key_bytes", "ciphertext_bytes", "shared_secret_bytes"]
    rows = [[s["name"], s["title"] + (", research only" if s["research"] else ""), str(s["security_category"])] +
            [f"{s[k]:,}" for k in sizes] for s in results.sets]  # fmt: skip
    return markdown(header, rows)


def table_summary(results):
    """Makes a row for each set: rate and ratio of each operation on each kind of machine."""
    cores = [core for core in (results.zen5, results.xeon) if core.records]
    rows = []
    for name in results.zen5.sets(results.sets):
        narrow = [results.zen5.find(name, op, "avx2", narrow=True) or results.zen5.find(name, op, "avx2") for op in OPS]
        gpu = [results.gpu.get((name, op)) for op in OPS]
        rows.append(
            [name]
            + [rate_and_ratio(core, name, op) for core in cores for op in OPS]
            + [" / ".join(ratio(r) for r in narrow) if all(narrow) else ""]
            + [" / ".join(million(g) for g in gpu) if all(gpu) else ""]
        )
    header = [f"{core.kind.name}: {op}/s" if op == OPS[0] else f"{op}/s" for core in cores for op in OPS]
    return markdown(["set", *header, "both sides AVX2 (Zen 5)", "H200, million/s"], rows)


def table_front(results):
    """Makes the table of some sets' encapsulation rates, in batches and one at a time."""
    rows = []
    for name in ("mlkem768", "frodokem976aes", "ntruhps4096821"):
        for core in (results.zen5, results.xeon):
            if found := core.find(name, "encaps"):
                alone = ratio(core.find(name, "encaps", count=1), 2)
                rows.append([name, f"one core, {core.kind.name}", rate(found["ours_ops_per_s"]), ratio(found), alone,
                             found["peer"].split(",")[0]])  # fmt: skip
    if present(HYBRIDS):
        hybrids = load(HYBRIDS)
        found = next(r for r in hybrids["records"] if r["set"] == "X25519MLKEM768" and r["op"] == "encaps")
        peer = found["openssl_ops_per_s"]
        rows.append(["x25519mlkem768", "one core, Zen 4", rate(found["batch_ops_per_s"]),
                     f"{found['batch_ops_per_s'] / peer:.1f}x", f"{found['single_ops_per_s'] / peer:.2f}x",
                     f"OpenSSL {hybrids['openssl']}"])  # fmt: skip
    if gpu := results.gpu.get(("mlkem768", "encaps")):
        rows.append(["mlkem768", "one NVIDIA H200", f"{million(gpu)} million", "", "", ""])
    return markdown(["set", "on", "encapsulations per second", "against the fastest peer", "one item at a time",
                     "that peer"], rows)  # fmt: skip


def triple(cells):
    """Joins the cells of the operations in one; it is empty if one of them is missing."""
    return ", ".join(cells) if all(cells) else ""


def ratios(records, digits=1):
    return triple([f"{r['ratio']:.{digits}f}" if r else "" for r in records])


def peers_table(core, sets):
    """Makes the table of ratios to each set's fastest peer; those of full batches of the chosen backend are in the
    summary."""
    if not core.records:
        return ""
    header = ["set", "fastest peer", "AVX2 forced", "the same, peer with AVX2 only", "single item",
              "single item, AVX2 forced", "encaps, one public key", "two threads over one"]
    rows = []
    for name in core.sets(sets):
        chosen, two = ([core.find(name, op, threads=threads) for op in OPS] for threads in (1, 2))
        rows.append([
            name, " / ".join(dict.fromkeys(r["peer"] for r in chosen)),
            ratios(core.find(name, op, "avx2") for op in OPS),
            ratios(core.find(name, op, "avx2", narrow=True) for op in OPS),
            ratios((core.find(name, op, count=1) for op in OPS), 2),
            ratios((core.find(name, op, "avx2", count=1) for op in OPS), 2),
            ratios([core.find(name, "encaps", keys="shared")]),
            triple([f"{b['ours_ops_per_s'] / a['ours_ops_per_s']:.2f}" if b else "" for a, b in zip(chosen, two)]),
        ])  # fmt: skip
    filled = [i for i in range(len(header)) if i < 2 or any(row[i] for row in rows)]
    return markdown([header[i] for i in filled], [[row[i] for i in filled] for row in rows])


def parsed_table(core, sets):
    """Makes the table of rates with keys that both sides have parsed before, with their ratios."""
    rows = []
    for name in core.sets(sets):
        found = [core.find(name, op, count=count, keys="parsed") for count in (None, 1) for op in OPS[1:]]
        if all(found):
            rows.append([name, " / ".join(dict.fromkeys(r["peer"] for r in found)),
                         *(f"{rate(r['ours_ops_per_s'])} ({ratio(r, 2)})" for r in found)])  # fmt: skip
    header = ["set", "fastest peer", "batch: encaps/s", "decaps/s", "single item: encaps/s", "decaps/s"]
    return markdown(header, rows) if rows else ""


def table_each_peer(results):
    """Makes the table of all peers' rates for ML-KEM, which has the most peers."""
    core = results.xeon
    sets = [name for name in core.sets(results.sets) if name.startswith("mlkem")]
    several = [(name, op, keys, r) for name in sets for op in OPS for keys in ("per-item", "shared")
               if (r := core.find(name, op, keys=keys)) and len(r.get("peers", [])) > 1]  # fmt: skip
    if not several:
        return ""
    names = sorted({p["name"] for *_, r in several for p in r["peers"]})
    rows = []
    for name, op, keys, r in several:
        rates = {p["name"]: rate(p["ops_per_s"]) for p in r["peers"]}
        what = op if keys == "per-item" else op + ", one key"
        rows.append([name, what, rate(r["ours_ops_per_s"]), *(rates.get(peer, "") for peer in names)])
    return markdown(["set", "operation", "polykem, op/s", *names], rows)


def table_small(results):
    """Makes the table of ratios to the fastest peer from a single item to a full batch."""
    core, rows = results.xeon, []
    counts = sorted({r["count"] for r in core.records if r["count"] <= MAX_SMALL_BATCH})
    for name in core.sets(results.sets):
        if core.find(name, OPS[0], count=counts[0]):
            rows.append([name, *(ratios((core.find(name, op, count=count) for op in OPS), 2)
                                 for count in [*counts, None])])  # fmt: skip
    return markdown(["set", "single item", *map(str, counts[1:]), "full batch"], rows) if rows else ""


def cell_of_floor(core, name, op, keys):
    """Returns the cycles, and how many times the floor they are."""
    r = core.find(name, op, keys=keys)
    if r is None:
        return ""
    cycles = cycles_of(r, core.ghz)
    return f"{cycles:,.0f} ({cycles / floors(name, keys == 'shared', core.model)[op]:.2f})"


def table_floors(results):
    """Makes the table of cycles beside their floors."""
    cores = [core for core in (results.zen5, results.xeon) if core.records]
    columns = [*((op, "per-item") for op in OPS), ("encaps", "shared")]
    header = [op if keys == "per-item" else op + ", one key" for op, keys in columns]
    rows = [[name, *(cell_of_floor(core, name, op, keys) for core in cores for op, keys in columns)]
            for name in results.zen5.sets(results.sets)]  # fmt: skip
    return markdown(["set", *(f"{core.kind.name}: {name}" if name == OPS[0] else name
                              for core in cores for name in header)], rows)  # fmt: skip


def table_rates(_):
    """Makes the table of instructions per cycle on each kind of machine, with the rates that the floors assume."""
    kinds = [(kind, model_of(kind.machine)) for kind in (ZEN5, XEON) if present(kind.rates_file)]
    if not kinds:
        return ""
    rates = [{r["name"]: r for r in load(kind.rates_file)["rates"]} for kind, _ in kinds]
    rows = []
    for name in dict.fromkeys(name for measured in rates for name in measured):
        cells = []
        for (_, model), measured in zip(kinds, rates):
            operation, found = RATES_OF_FLOORS.get(name), measured.get(name)
            used = 1 / model.cycles(**{operation: 1}) if operation else model.tile_macs if name == "tdpbusd" else 0
            cells += [f"{found['per_cycle']:,.{0 if found['per_cycle'] > 100 else 2}f}" if found else "",
                      f"{used:,.0f}" if used else ""]
        rows.append([f"`{name}`", next(measured[name]["of"] for measured in rates if name in measured), *cells])
    return markdown(["instruction", "", *(head for kind, _ in kinds for head in
                                          (f"{kind.name}, a cycle", "used for floors"))], rows)  # fmt: skip


TABLES = {
    "sets": table_sets, "front": table_front, "summary": table_summary,
    "peers": lambda results: peers_table(results.zen5, results.sets),
    "peers-xeon": lambda results: peers_table(results.xeon, results.sets),
    "parsed": lambda results: parsed_table(results.zen5, results.sets),
    "parsed-xeon": lambda results: parsed_table(results.xeon, results.sets),
    "each-peer": table_each_peer, "small": table_small,
    "floors": table_floors,
    "cpu-rates": table_rates,
}  # fmt: skip


def commit():
    """Returns the commit that is checked out, with "-dirty" if files differ from it; "unknown" outside a repository."""
    described = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False,
                               cwd=ROOT)  # fmt: skip
    return described.stdout.strip() or "unknown"


def record():
    """Stores the last measurement as the results of this kind of machine, one record a line, so that two measurements
    can be compared by eye."""
    for source in filter(Path.exists, (BUILD / "bench-peers.json", BUILD / "bench-peers-haswell.json")):
        document = json.loads(source.read_text(encoding="utf-8"))
        kind = next((kind for kind in (ZEN5, XEON) if kind.name in document["machine"]), None)
        if kind is None:
            sys.exit(f"{source.name}: measured on {document['machine']}; only results of a Zen 5 or a Xeon are stored")
        document["machine"] = kind.machine
        document["commit"] = commit()
        records = ",\n".join("  " + json.dumps(r, sort_keys=True) for r in document.pop("records"))
        head = json.dumps(document, indent=1, sort_keys=True)[:-2]
        name = kind.narrow_file if "haswell" in source.name else kind.file
        (RESULTS / name).write_text(f'{head},\n "records": [\n{records}\n ]\n}}\n', encoding="utf-8")
