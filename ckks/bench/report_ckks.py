#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tables and plots of the results of `polykem-lab ckks`, with the figures of other libraries beside them.

    ckks/bench/report_ckks.py ckks.json FOLDER     writes FOLDER/report.md and, where matplotlib is, FOLDER/ckks_*.svg

The tables also go to standard output. matplotlib: pip install -r research/lab/requirements.txt
"""

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "research/lab"))
from drawing import pyplot, save  # noqa: E402

PUBLISHED = Path(__file__).with_name("published_ckks.json")
SCHEMA = "polykem-lab-ckks-1"
FORMS = ("one block", "cluster of 2", "cluster of 4", "cluster of 8", "two pass", "imma 256x256", "imma 64x32x32",
         "imma 16x16x16x16")  # fmt: skip
SWITCHING = ("conversion_up", "conversion_down", "mod_up", "mod_down", "hmult", "hrotate")
NAMES = {"ntt": "NTT", "intt": "inverse NTT", "hadd": "HADD", "hsub": "HSUB", "plain_add": "sum with a plaintext",
         "plain_mul": "product with a plaintext", "tensor": "HMULT, three parts", "automorphism": "automorphism alone",
         "rescale": "RESCALE", "conversion_up": "conversion alone, raising",
         "conversion_down": "conversion alone, lowering", "mod_up": "raising (mod_up)",
         "mod_down": "lowering (mod_down)", "key_product": "products with keys",
         "hmult": "HMULT with relinearisation", "hrotate": "HROTATE"}  # fmt: skip


class Records:
    """The figures of one run."""

    def __init__(self, document):
        self.document = document
        self.rows = document["records"]

    def find(self, **wanted):
        return [row for row in self.rows if all(row.get(key) == value for key, value in wanted.items())]

    def best(self, **wanted):
        """Returns the fastest of these; None if there is none."""
        return max(self.find(**wanted), key=lambda row: row["per_second"], default=None)

    def largest_batch(self, **wanted):
        return max((row["batch"] for row in self.find(**wanted)), default=0)

    def chains(self, on):
        """Returns (bits, limbs, specials) of the operations."""
        rows = self.find(on=on)
        return list(dict.fromkeys((row["bits"], row["limbs"], row["specials"]) for row in rows if "specials" in row))

    def primes(self, on, word_bits):
        """Returns the numbers of primes of transforms' rows, that of most figures first."""
        counts = [row["limbs"] for row in self.transforms(on, word_bits)]
        return sorted(dict.fromkeys(counts), key=lambda count: -counts.count(count))

    def transforms(self, on, word_bits, **wanted):
        return [row for row in self.find(on=on, **wanted) if row["operation"] in ("ntt", "intt")
                and (row["bits"] > 32) == (word_bits > 32)]  # fmt: skip

    def missing(self):
        return "" if self.document.get("complete", True) else f"incomplete: {len(self.rows)} figures, then it was ended"


def significant(value):
    """Formats with three digits, and thousands with commas."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def over_floor(row):
    return f"{row['ns'] / row['floor_ns']:.2f}" if row else ""


def rate(row):
    return significant(row["per_second"]) if row else ""


def in_order(forms):
    """Returns known forms in the order of the kernels' list, then others."""
    return sorted(dict.fromkeys(forms), key=lambda form: FORMS.index(form) if form in FORMS else len(FORMS))


def forms_table(records, published, word_bits):
    """Returns head and rows: each form's transforms and inverses by N, over floors, then other libraries."""
    primes = records.primes("cuda", word_bits)
    if not primes:
        return [], []
    rows_of = records.transforms("cuda", word_bits)
    columns = [(log_n, primes[0]) for log_n in sorted({row["log_n"] for row in rows_of})]
    columns += [(log_n, count) for count in primes[1:]
                for log_n in sorted({row["log_n"] for row in rows_of if row["limbs"] == count})]  # fmt: skip
    table = []
    for form in in_order(row["form"] for row in rows_of):
        cells = [form]
        for log_n, count in columns:
            both = [records.best(on="cuda", operation=op, form=form, log_n=log_n, limbs=count, bits=rows_of[0]["bits"])
                    for op in ("ntt", "intt")]  # fmt: skip
            if not both[0]:
                cells.append("")
                continue
            speeds = " / ".join(significant(row["per_second"] * 1e-6) for row in both if row)
            star = " *" if both[0]["used"] else ""
            cells.append(f"{speeds} (x{', x'.join(over_floor(row) for row in both if row)}){star}")
        table.append(cells)
    table += sustained_rows(records, columns, rows_of[0]["bits"])
    for peer in published["measured"]["transforms"]:
        if peer["word_bits"] != word_bits:
            continue
        cells = [f"{peer['name']}, {peer['parameters']}"]
        for log_n, count in columns:
            found = [peer[op].get(str(log_n)) for op in ("ntt", "intt")]
            beside = max(c for n, c in columns if n == log_n) if peer["own_primes"] else primes[0]
            fits = found[0] and count == beside
            cells.append(" / ".join(significant(value * 1e-6) for value in found) if fits else "")
        table.append(cells)
    head = [f"2^{log_n}" + ("" if count == primes[0] else f", {count} primes") for log_n, count in columns]
    return ["form", *head], table


def sustained_rows(records, columns, bits):
    """Returns rows for the library's transforms, repeated for a second without a pause, where that was measured."""
    cells = []
    for log_n, count in columns:
        used = [records.best(on="cuda", operation=op, log_n=log_n, limbs=count, bits=bits, used=True)
                for op in ("ntt", "intt")]  # fmt: skip
        measured = [row["sustained_ns"] for row in used if row and "sustained_ns" in row]
        cells.append(" / ".join(significant(1e3 / ns) for ns in measured))
    return [["those with *, for a second", *cells]] if any(cells) else []


def operations_table(records, published, bits):
    """Returns head and rows: operations per second against the batch, by the faster unit, beside other libraries."""
    chains = [chain for chain in records.chains("cuda") if chain[0] == bits]
    peers = [peer for peer in published["measured"]["operations"] if peer["beside"] == bits]
    if not chains:
        return [], []
    batches = sorted({row["batch"] for row in records.find(on="cuda", bits=bits) if "specials" in row})
    ends = sorted({batches[0], batches[-1]})
    table = []
    for operation, name in NAMES.items():
        rows = [records.best(on="cuda", operation=operation, bits=bits, batch=batch) for batch in batches]
        if operation in ("ntt", "intt") or not any(rows):
            continue
        core = records.best(on="cpu", operation=operation, bits=bits, log_n=16)
        cells = [name, *(rate(row) for row in rows), *(over_floor(rows[batches.index(batch)]) for batch in ends)]
        for peer in peers:
            note = peer.get("notes", {}).get(operation)
            cells.append(significant(peer[operation]) + (f" ({note})" if note else "") if operation in peer else "")
        for peer in peers:
            ours = rows[0] if operation in peer and batches[0] == peer["batch"] else None
            cells.append(f"{ours['per_second'] / peer[operation]:.2f}x" if ours else "")
        table.append([*cells, rate(core)])
    head = ["operations a second", *(f"batch {batch}" for batch in batches), *(f"x floor, {batch}" for batch in ends),
            *(f"{peer['name']}, {peer['parameters']}" for peer in peers),
            *(f"batch {peer['batch']} over {peer['name']}" for peer in peers), "one core"]  # fmt: skip
    if not any(row[-1] for row in table):
        head, table = head[:-1], [row[:-1] for row in table]
    return head, table


def tensor_core_table(records):
    """Returns head and rows: tensor cores compared with integer units."""
    table = []
    for operation in ("ntt", "intt"):
        fits = {"on": "cuda", "operation": operation, "log_n": 16, "bits": 31, "limbs": 16}
        plain, tensor = records.best(unit="integer", **fits), records.best(unit="imma", **fits)
        if plain and tensor:
            table.append(gain_row(f"{NAMES[operation]}, N = 2^16", plain, tensor))
    for operation in SWITCHING:
        largest = records.largest_batch(on="cuda", operation=operation, unit="imma")
        for batch in dict.fromkeys((1, largest)):
            fits = {"on": "cuda", "operation": operation, "bits": 31, "batch": batch}
            plain, tensor = records.best(unit="integer", **fits), records.best(unit="imma", **fits)
            if plain and tensor:
                table.append(gain_row(f"{NAMES[operation]}, batch {batch}", plain, tensor))
    head = ["a second", "integer units", "x floor", "tensor cores", "x floor", "tensor cores over integer units"]
    return head, table


def gain_row(name, plain, tensor):
    def cell(row):
        return rate(row) + (f" ({row['form']})" if "form" in row else "")
    return [name, cell(plain), over_floor(plain), cell(tensor), over_floor(tensor),
            f"{tensor['per_second'] / plain['per_second']:.2f}x"]  # fmt: skip


def papers_table(records, published):
    """Returns head and rows: published figures, beside ours at N = 2^16 with the largest batch."""
    def ours(operation):
        fits = {"on": "cuda", "operation": operation, "bits": 31, "log_n": 16}
        return records.best(batch=records.largest_batch(**fits), **fits)
    table = [[peer["name"], peer["card"], peer["parameters"], *(significant(peer[op]) if op in peer else ""
              for op in ("ntt", "hmult")), peer["source"]] for peer in published["published"]["rows"]]  # fmt: skip
    transform, product, tensor = ours("ntt"), ours("hmult"), ours("tensor")
    if transform or product:
        chain = f", {product['limbs']} + {product['specials']} limbs, batch {product['batch']}" if product else ""
        chain += f", HMULT with relinearisation; {rate(tensor)} without" if product and tensor else ""
        table.append(["polykem", records.document["gpu"], f"N = 2^16{chain}", rate(transform), rate(product), ""])
    return ["", "GPU", "parameters", "NTT a second", "HMULT a second", "source"], table


def core_table(records):
    """Returns head and rows: transforms on one core."""
    table = []
    for row in records.find(on="cpu"):
        chain = f"{row['limbs']} + {row['specials']}" if "specials" in row else "1"
        table.append([NAMES[row["operation"]], f"2^{row['log_n']}", f"{row['bits']}", chain, rate(row),
                      significant(row["ns"] * 1e-3), over_floor(row), row["limit"]])  # fmt: skip
    return ["", "N", "bits", "limbs", "a second", "us", "x floor", "bound by"], table


def every_table(records):
    """Returns head and rows: all figures of the GPU."""
    table = []
    for row in records.find(on="cuda"):
        chain = f"{row['limbs']} + {row['specials']}" if "specials" in row else f"{row['limbs']} primes"
        cells = [NAMES[row["operation"]], row.get("form", row["unit"]), f"2^{row['log_n']}", str(row["bits"]), chain,
                 f"{row['batch']:,}", significant(row["ns"] * 1e-3), rate(row), significant(row["floor_ns"] * 1e-3),
                 over_floor(row), row["limit"], str(row.get("launches", ""))]  # fmt: skip
        if "registers" in row:
            blocks = f"{row['blocks_per_multiprocessor']} x {row['threads']}, {100 * row['occupancy']:.0f} %"
            cells += [str(row["registers"]), f"{row['shared_bytes']:,}", blocks]
        else:
            cells += ["", "", ""]
        table.append(cells)
    return ["", "form or unit", "N", "bits", "limbs", "batch", "us", "a second", "floor, us", "x floor", "bound by",
            "kernels", "registers", "shared bytes", "blocks x threads, occupancy"], table  # fmt: skip


def markdown(head, rows):
    if not rows:
        return ""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def make_tables(records, published):
    document = records.document
    text = "# What polykem-lab ckks measured\n\n"
    text += f"{document['gpu'] or 'No GPU'}, {document['cpu'] or 'no core'}, commit {document['commit']}, "
    text += f"`{document['command']}`, {document['compared']:,} numbers compared.\n\n"
    if not document["gpu"]:
        text += f"No figures of a GPU: {document['no_gpu']}.\n\n"
    if records.missing():
        text += f"**This report is {records.missing()}.**\n\n"
    beside = published["measured"]["what"]
    parts = [
        ("Transforms of 32-bit words", f"Million a second, forward / inverse (time over floor). Others: {beside}.",
         forms_table(records, published, 32)),
        ("Transforms of 64-bit words", "", forms_table(records, published, 64)),
        ("Operations with primes of 31 bits", f"Others: {beside}, batch 1.", operations_table(records, published, 31)),
        ("Operations with primes of 60 bits", "", operations_table(records, published, 60)),
        ("Tensor cores against integer units", "", tensor_core_table(records)),
        ("What papers say of their own GPUs", "", papers_table(records, published)),
        ("Every figure of the GPU", "", every_table(records)),
        ("One core", "", core_table(records)),
    ]  # fmt: skip
    for title, words, (head, rows) in parts:
        if rows:
            text += f"## {title}\n\n" + (words + "\n\n" if words else "") + markdown(head, rows) + "\n"
    return text


def lines_of(records, word_bits):
    """Returns {form: rows of forward transforms against N}."""
    primes = records.primes("cuda", word_bits)[:1]
    lines = {}
    for row in records.transforms("cuda", word_bits, operation="ntt"):
        if row["limbs"] in primes:
            lines.setdefault(row["form"], []).append(row)
    return {form: lines[form] for form in in_order(lines)}


def plot_transforms(plt, records, published, path):
    figure, panes = plt.subplots(1, 2, figsize=(13, 5))
    for pane, word_bits in zip(panes, (32, 64)):
        lines = lines_of(records, word_bits)
        for index, (form, rows) in enumerate(lines.items()):
            colour = plt.get_cmap("tab10")(index)
            pane.plot([row["log_n"] for row in rows], [row["per_second"] * 1e-6 for row in rows], marker="o",
                      markersize=4, label=form, color=colour)  # fmt: skip
            pane.plot([row["log_n"] for row in rows], [1e3 / row["floor_ns"] for row in rows], marker="_",
                      linestyle=":", color=colour, label=f"{form}, floor")  # fmt: skip
        for marker, peer in zip("*sXD", published["measured"]["transforms"]):
            if peer["word_bits"] == word_bits:
                pane.plot([int(n) for n in peer["ntt"]], [value * 1e-6 for value in peer["ntt"].values()],
                          marker=marker, color="black", linestyle="--",
                          label=f"{peer['name']}, {peer['parameters']}")  # fmt: skip
        pane.set(title=f"{word_bits}-bit words", xlabel="log2 N", ylabel="million NTT a second", yscale="log",
                 xticks=range(12, 17))  # fmt: skip
        pane.legend(fontsize=6, ncols=2)
        pane.grid(alpha=0.3)
    figure.suptitle(f"{records.document['gpu']}, forward transforms")
    save(figure, path, records)


def plot_over_floor(plt, records, path):
    figure, panes = plt.subplots(1, 2, figsize=(12, 5), sharey=True)
    for pane, word_bits in zip(panes, (32, 64)):
        for form, rows in lines_of(records, word_bits).items():
            pane.plot([row["log_n"] for row in rows], [row["ns"] / row["floor_ns"] for row in rows], marker="o",
                      label=form)  # fmt: skip
        pane.axhline(1, color="black", linewidth=0.8)
        pane.set(title=f"{word_bits}-bit words", xlabel="log2 N", xticks=range(12, 17))
        pane.legend(fontsize=7)
        pane.grid(alpha=0.3)
    panes[0].set_ylabel("time over floor")
    figure.suptitle(f"{records.document['gpu']}, forward transforms")
    save(figure, path, records)


def plot_batches(plt, records, published, path):
    figure, panes = plt.subplots(1, 2, figsize=(12, 5))
    for pane, bits in zip(panes, (31, 60)):
        batches = sorted({row["batch"] for row in records.find(on="cuda", bits=bits) if "specials" in row})
        for index, operation in enumerate(("hadd", "plain_mul", "tensor", "rescale", "hmult", "hrotate")):
            rows = [records.best(on="cuda", operation=operation, bits=bits, batch=batch) for batch in batches]
            points = [(row["batch"], row["per_second"]) for row in rows if row]
            if not points:
                continue
            colour = plt.get_cmap("tab10")(index)
            pane.plot(*zip(*points), marker="o", markersize=4, label=NAMES[operation], color=colour)
            for marker, peer in zip("*sX", published["measured"]["operations"]):
                if peer["beside"] == bits and operation in peer:
                    pane.plot([peer["batch"]], [peer[operation]], marker=marker, color=colour)
        for marker, peer in zip("*sX", published["measured"]["operations"]):
            if peer["beside"] == bits:
                pane.plot([], [], marker=marker, color="black", linestyle="", label=peer["name"])
        pane.set(title=f"primes of {bits} bits", xlabel="batch", ylabel="operations a second", yscale="log")
        pane.set_xscale("log", base=2)
        pane.legend(fontsize=7)
        pane.grid(alpha=0.3)
    figure.suptitle(f"{records.document['gpu']}, N = 2^16")
    save(figure, path, records)


def plot_tensor_cores(plt, records, path):
    """Plots the microseconds of an operation by unit, for the largest batch."""
    bars = []
    for operation in SWITCHING:
        largest = records.largest_batch(on="cuda", operation=operation, unit="imma")
        rows = [records.best(on="cuda", operation=operation, bits=31, batch=largest, unit=unit)
                for unit in ("integer", "imma")]  # fmt: skip
        if all(rows):
            bars.append((operation, rows))
    if not bars:
        return
    figure, axes = plt.subplots(figsize=(9, 5))
    for place, label in enumerate(("integer units", "tensor cores")):
        axes.bar([i + 0.38 * place - 0.19 for i in range(len(bars))], [rows[place]["ns"] * 1e-3 for _, rows in bars],
                 width=0.38, label=label)  # fmt: skip
        axes.plot([i + 0.38 * place - 0.19 for i in range(len(bars))],
                  [rows[place]["floor_ns"] * 1e-3 for _, rows in bars], linestyle="", marker="_", markersize=18,
                  color="black", label="floor" if place == 0 else None)  # fmt: skip
    axes.set_xticks(range(len(bars)), [NAMES[name] for name, _ in bars], rotation=15)
    axes.set_ylabel("microseconds")
    axes.set_title(f"{records.document['gpu']}, 48 + 12 limbs, largest batch: what converts residues to other primes")
    axes.legend()
    axes.grid(alpha=0.3, axis="y")
    save(figure, path, records)


def plot(records, published, folder):
    """Writes all plots; prints a note if there is nothing to draw or matplotlib is missing."""
    plt = pyplot(records.document)
    if plt is None:
        return
    plot_transforms(plt, records, published, folder / "ckks_ntt.svg")
    plot_over_floor(plt, records, folder / "ckks_ntt_floor.svg")
    plot_batches(plt, records, published, folder / "ckks_batch.svg")
    plot_tensor_cores(plt, records, folder / "ckks_tensor_cores.svg")


def load(path):
    """Returns the records of a file; ends the program if polykem-lab did not write it."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"report_ckks.py: cannot read {path}: {error}")
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        sys.exit(f"report_ckks.py: {path} is not what polykem-lab ckks --json writes")
    return Records(document)


def load_published():
    return json.loads(PUBLISHED.read_text(encoding="utf-8"))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    records, published = load(sys.argv[1]), load_published()
    if not records.rows:
        sys.exit(f"report_ckks.py: {sys.argv[1]} has no figures; polykem-lab ckks --check measures none")
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    text = make_tables(records, published)
    (folder / "report.md").write_text(text, encoding="utf-8")
    print(text, end="")
    if records.missing():
        print(f"report_ckks.py: {sys.argv[1]} is {records.missing()}", file=sys.stderr)
    plot(records, published, folder)


if __name__ == "__main__":
    main()
