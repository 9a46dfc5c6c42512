#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tables and plots of the results of polykem-lab, with the figures of TensorCrypto beside them.

    research/lab/report.py lab.json FOLDER      writes FOLDER/report.md and, where matplotlib is, FOLDER/lab_*.svg

The tables also go to standard output. matplotlib: pip install -r research/lab/requirements.txt
"""

import json
import sys
from pathlib import Path

from drawing import pyplot, save

PUBLISHED = Path(__file__).with_name("published.json")
# Methods that TensorCrypto's tensor cores compare with, by whether an operand is shared.
TENSOR_SHARED = ("gemm", "imma_shared", "imma")
TENSOR_DISTINCT = ("imma", "imma_tmvp")


class Records:
    """The figures of one run."""

    def __init__(self, document):
        self.document = document
        self.rows = [row for row in document["records"] if "ns" in row]
        self.problems = list(dict.fromkeys(row["problem"] for row in self.rows))

    def missing(self):
        """Returns a note on a run that was interrupted, else ""."""
        if self.document.get("complete", True):
            return ""
        return f"incomplete: {len(self.rows):,} of {self.document['planned']:,} figures, then the run was interrupted"

    def find(self, **wanted):
        return [row for row in self.rows if all(row[key] == value for key, value in wanted.items())]

    def usual(self, problem):
        """Returns the figures of a problem in its own size, which is that of the first; those of axes come later."""
        rows = self.find(problem=problem)
        return [row for row in rows if (row["n"], row["nbar"]) == (rows[0]["n"], rows[0]["nbar"])]

    def best(self, problem, shared, methods=None, on="cuda", items=None):
        """Returns the fastest figure, of the largest batch if `items` is None; None if there is none."""
        rows = [row for row in self.usual(problem) if row["on"] == on and row["shared"] == shared]
        rows = [row for row in rows if methods is None or row["method"] in methods]
        if items is None and rows:
            items = max(row["items"] for row in rows)
        rows = [row for row in rows if row["items"] == items]
        return min(rows, key=lambda row: row["ns"], default=None)


def significant(value):
    """Formats with three digits, and thousands with commas."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def millions(row):
    return significant(row["per_second"] * 1e-6) if row else ""


def times(row, rate):
    return f"{row['per_second'] / rate:.1f}x" if row else ""


def table(title, head, rows):
    if not rows:
        return ""
    lines = [f"## {title}", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n\n"


def method_of(row):
    return f"`{row['method']}`" if row else ""


def seeds_table(records, measured):
    """Returns TensorCrypto's products on the same kind of GPU, beside ours with one operand shared and with none."""
    rows = []
    for peer in measured["rows"]:
        if peer["problem"] not in records.problems:
            continue
        small = records.best(peer["problem"], "a", TENSOR_SHARED, items=peer["batch"])
        small = small or records.best(peer["problem"], "a", TENSOR_SHARED, items=512)
        large = records.best(peer["problem"], "a", TENSOR_SHARED)
        distinct = records.best(peer["problem"], "none", TENSOR_DISTINCT)
        rate = peer["tensor"]
        rows.append([peer["name"], peer["operands"], significant(peer["int32"] * 1e-6), significant(rate * 1e-6),
                     millions(small), times(small, rate), f"{millions(large)} {method_of(large)}", times(large, rate),
                     millions(distinct), times(distinct, rate)])  # fmt: skip
    head = ["", "operands", "int32", "tensor cores", "ours, that batch", "", "ours, one operand shared, large batch",
            "", "ours, distinct operands, large batch", ""]  # fmt: skip
    return table(f"Million products a second beside TensorCrypto, one operand shared ({measured['what']})", head, rows)


def gains_table(records, published):
    """Returns what tensor cores gain over 32-bit arithmetic, in TensorCrypto and here."""
    rows = []
    for peer in published["rows"]:
        if peer["problem"] not in records.problems:
            continue
        plain = records.best(peer["problem"], "a", ("int32", "schoolbook_int32"))
        tensor = records.best(peer["problem"], "a", TENSOR_SHARED)
        if plain and tensor:
            rows.append([peer["name"], str(peer["int32_ms"]), str(peer["tensor_ms"]),
                         f"{peer['int32_ms'] / peer['tensor_ms']:.1f}x", significant(plain["ns"]),
                         significant(tensor["ns"]), f"{plain['ns'] / tensor['ns']:.1f}x"])  # fmt: skip
    head = ["", "int32, ms", "tensor cores, ms", "gain", "ours: int32, ns a product", "tensor cores, ns", "gain"]
    return table(f"Tensor cores over 32-bit arithmetic ({published['what']})", head, rows)


def dot_product_table(records):
    """Returns what dp2a and dp4a gain over 32-bit multiply-adds in the same kernel, as DPCrypto asks."""
    rows = []
    for problem in records.problems:
        for shared in ("none", "a"):
            found = [records.best(problem, shared, (method,)) for method in ("int32", "dp2a", "dp4a")]
            if not all(found):
                continue
            plain = found[0]
            rows.append([problem, shared, f"{plain['items']:,}", *(significant(row["ns"]) for row in found),
                         *(f"{plain['ns'] / row['ns']:.2f}x" for row in found[1:])])  # fmt: skip
    head = ["problem", "shared", "batch", "int32, ns", "dp2a, ns", "dp4a, ns", "dp2a gains", "dp4a gains"]
    title = "Dot-product instructions over 32-bit multiply-adds, the same kernel (DPCrypto's comparison)"
    return table(title, head, rows)


def occupancy(row):
    if "registers" not in row:
        return ["", "", ""]
    return [str(row["registers"]), f"{row['shared_bytes']:,}",
            f"{row['blocks_per_multiprocessor']} x {row['threads']}, {100 * row['occupancy']:.0f} %"]  # fmt: skip


def methods_table(records, on_gpu):
    """Returns the table of each method at its largest batch, fastest first."""
    rows = []
    for problem in records.problems:
        for shared in ("none", "a", "b"):
            found = {}
            for row in records.usual(problem):
                if row["shared"] == shared and (row["on"] == "cuda") == on_gpu:
                    key = (row["method"], row["on"])
                    found[key] = max(row, found.get(key, row), key=lambda r: r["items"])
            for row in sorted(found.values(), key=lambda r: r["ns"]):
                floor = row.get("floor_ns")
                cells = [problem, shared, method_of(row) + ("" if on_gpu else f" {row['on']}"), f"{row['items']:,}",
                         millions(row), significant(row["ns"]), significant(floor) if floor else "",
                         f"{row['ns'] / floor:.2f}" if floor else ""]  # fmt: skip
                cells += occupancy(row) if on_gpu else [significant(row["cycles"]) if "cycles" in row else ""]
                rows.append(cells)
    head = ["problem", "shared", "method", "batch", "M/s", "ns", "floor, ns", "x floor"]
    head += ["registers", "shared bytes", "blocks x threads, occupancy"] if on_gpu else ["core cycles"]
    return table("Every method on the GPU" if on_gpu else "Every method on one core", head, rows)


def axis(records, key):
    """Returns FrodoKEM-976's figures along n or n-bar: {(method, shared): [(value, row)]}."""
    rows = [row for row in records.find(problem="frodo976", on="cuda") if row["n" if key == "nbar" else "nbar"]
            == (976 if key == "nbar" else 8)]  # fmt: skip
    lines = {}
    for row in rows:
        line = lines.setdefault((row["method"], row["shared"]), {})
        line[row[key]] = max(row, line.get(row[key], row), key=lambda r: r["items"])
    return {name: sorted(line.items()) for name, line in lines.items() if len(line) > 1}


def macs(row):
    """Returns the rate in 10^12 multiply-adds a second, each of an entry of S' and a word of A."""
    return row["nbar"] * row["n"] ** 2 * row["per_second"] * 1e-12


def axis_table(records, key, title):
    lines = axis(records, key)
    values = sorted({value for line in lines.values() for value, _ in line})
    rows = []
    for (method, shared), line in sorted(lines.items(), key=lambda item: (item[0][1], item[0][0])):
        found = dict(line)
        rows.append([f"`{method}`", shared, *(significant(macs(found[v])) if v in found else "" for v in values)])
    return table(title, ["method", "shared", *(f"{key} = {value}" for value in values)], rows)


def make_tables(records, published):
    document = records.document
    text = "# What polykem-lab measured\n\n"
    text += f"{document['gpu'] or 'No GPU'}, {document['cpu']} (one core), commit {document['commit']}, "
    text += f"`{document['command']}`, {document['compared']:,} products compared.\n\n"
    if records.missing():
        text += f"**This report is {records.missing()}.**\n\n"
    text += seeds_table(records, published["measured"]) + gains_table(records, published["published"])
    text += dot_product_table(records)
    text += axis_table(records, "n", "S' A with eight rows against n, 10^12 multiply-adds a second")
    text += axis_table(records, "nbar", "S' A with n = 976 against the rows of S', 10^12 multiply-adds a second")
    return text + methods_table(records, True) + methods_table(records, False)


def plot_methods(plt, records, shared, path):
    """Plots the products per second of each method, with a group of bars for each problem."""
    problems = [p for p in records.problems if records.best(p, shared)]
    found = {p: {w: records.best(p, shared, (w,)) for w in dict.fromkeys(r["method"] for r in records.usual(p))}
             for p in problems}  # fmt: skip
    methods = sorted({method for rows in found.values() for method, row in rows.items() if row})
    if not methods:
        return
    figure, axes = plt.subplots(figsize=(14, 6))
    width = 0.85 / len(methods)
    for index, method in enumerate(methods):
        points = [(i + (index + 0.5) * width - 0.425, found[p][method]["per_second"] * 1e-6)
                  for i, p in enumerate(problems) if found[p].get(method)]  # fmt: skip
        axes.bar(*zip(*points), width=width, label=method, color=plt.get_cmap("tab20")(index % 20))
    axes.set_xticks(range(len(problems)), problems, rotation=20)
    axes.set_yscale("log")
    axes.set_ylabel("million products a second")
    what = "operands of their own" if shared == "none" else "one operand shared"
    axes.set_title(f"{records.document['gpu']}, {what}, largest batch")
    axes.legend(fontsize=8, ncols=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False)
    axes.grid(alpha=0.3, axis="y")
    save(figure, path, records)


def plot_seeds(plt, records, measured, path):
    """Plots TensorCrypto's products and ours."""
    peers = [p for p in measured["rows"] if records.best(p["problem"], "a")]
    if not peers:
        return
    bars = {
        "TensorCrypto, int32": [p["int32"] for p in peers],
        "TensorCrypto, tensor cores": [p["tensor"] for p in peers],
    }
    ours = {"int32": ("none", ("int32",)), "distinct operands": ("none", TENSOR_DISTINCT),
            "one operand shared": ("a", TENSOR_SHARED)}  # fmt: skip
    for label, (shared, methods) in ours.items():
        rows = [records.best(p["problem"], shared, methods) for p in peers]
        bars[f"ours, {label}"] = [row["per_second"] if row else 0 for row in rows]
    figure, axes = plt.subplots(figsize=(8, 5.5))
    for index, (label, values) in enumerate(bars.items()):
        places = [i + 0.17 * index - 0.34 for i in range(len(peers))]
        axes.bar(places, [v * 1e-6 for v in values], width=0.17, label=label)
    axes.set_xticks(range(len(peers)), [p["name"] for p in peers])
    axes.set_yscale("log")
    axes.set_ylabel("million products a second")
    axes.set_title(f"TensorCrypto's products on one {records.document['gpu']}")
    axes.legend(fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.08), frameon=False)
    axes.grid(alpha=0.3, axis="y")
    save(figure, path, records)


def plot_axes(plt, records, path):
    figure, panes = plt.subplots(1, 2, figsize=(12, 6), sharey=True)
    for pane, key, label in zip(panes, ("n", "nbar"), ("n, with eight rows of S'", "rows of S', n = 976")):
        for (method, shared), line in sorted(axis(records, key).items()):
            pane.plot([value for value, _ in line], [macs(row) for _, row in line], marker="o", markersize=3,
                      linestyle="-" if shared == "a" else "--",
                      label=f"{method}, {'one A' if shared == 'a' else 'an A each'}")  # fmt: skip
        pane.set_xscale("log", base=2)
        pane.set_yscale("log")
        pane.set_xlabel(label)
        pane.grid(alpha=0.3)
        if pane.lines:
            pane.legend(fontsize=7, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    panes[0].set_ylabel("10^12 multiply-adds a second")
    figure.suptitle(f"FrodoKEM's S' A on one {records.document['gpu']}")
    if panes[0].lines or panes[1].lines:
        save(figure, path, records)


def plot(records, published, folder):
    """Writes all plots; prints a note if there is nothing to draw or matplotlib is missing."""
    plt = pyplot(records.document)
    if plt is None:
        return
    drawings = {
        "lab_distinct.svg": lambda path: plot_methods(plt, records, "none", path),
        "lab_shared.svg": lambda path: plot_methods(plt, records, "a", path),
        "lab_tensorcrypto.svg": lambda path: plot_seeds(plt, records, published["measured"], path),
        "lab_frodo.svg": lambda path: plot_axes(plt, records, path),
    }
    for number, (name, draw) in enumerate(drawings.items(), 1):
        print(f"drawing {number} of {len(drawings)}: {name}", file=sys.stderr)
        draw(folder / name)


def load(path):
    """Returns the records of a file; ends the program if polykem-lab did not write it."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"report.py: cannot read {path}: {error}")
    if not isinstance(document, dict) or document.get("schema") != "polykem-lab-1":
        sys.exit(f"report.py: {path} is not what polykem-lab --json writes")
    return Records(document)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    records = load(sys.argv[1])
    if not records.rows:
        sys.exit(f"report.py: {sys.argv[1]} has no figures; polykem-lab --check measures none")
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    text = make_tables(records, published)
    (folder / "report.md").write_text(text, encoding="utf-8")
    print(text, end="")
    if records.missing():
        print(f"report.py: {sys.argv[1]} is {records.missing()}", file=sys.stderr)
    plot(records, published, folder)


if __name__ == "__main__":
    main()
