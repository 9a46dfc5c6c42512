# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/gpu_figures.md and bench/seong2021/README.md, for tools/tables.py.

Sources in bench/results: h200_ntru.json and a second run of it (100,000 items), h200_ntru_400000.json,
h200x2_ntru_400000.json (two GPUs), h200_seong2021.json.
"""

import json
import statistics
from pathlib import Path

RESULTS = Path(__file__).resolve().parent.parent / "bench/results"
STEPS_SET = "ntruhps4096821"
RUNS = ["h200_ntru.json", "h200_ntru_run2.json"]


def load(name):
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def percent(share):
    return f"{100 * share:.0f} %"


def pinned(document):
    """Host to host from pinned memory, the largest batch: by set and operation."""
    return {(s["name"], h["op"]): h for s in document["sets"] for h in s["host_to_host"]
            if h["pinned"] and h["items"] == document["items"]}


def limit(document, name, h):
    """The least time of a batch in milliseconds, and what sets it."""
    rates = {r["op"]: r["per_second"] for s in document["sets"] if s["name"] == name for r in s["resident"]}
    kernels = h["items"] / rates[h["op"]] / document.get("devices", 1) * 1e3
    return (h["pcie_ms"], "PCIe") if h["pcie_ms"] > kernels else (kernels, "kernels")


def table_kernels(_):
    """Everything on the card."""
    return markdown(["set", "keygen", "encaps", "decaps"],
                    [[s["name"]] + [f"{r['per_second'] / 1e6:.1f} M/s" for r in s["resident"]]
                     for s in load("h200_ntru.json")["sets"]])


def table_steps(_):
    """Each step beside its floor."""
    resident = next(s for s in load("h200_ntru.json")["sets"] if s["name"] == STEPS_SET)["resident"]
    return markdown(["operation", "step", "ns an item", "floor", "times the floor"],
                    [[r["op"], f"`{step['name']}`", f"{step['ns']:.2f}", f"{step['floor_ns']:.2f}",
                      f"{step['ns'] / step['floor_ns']:.1f}"] for r in resident for step in r["steps"]])


def table_host(_):
    """Host to host beside the limit; the fastest bus of all runs sets it."""
    runs, large = [load(run) for run in RUNS], load("h200_ntru_400000.json")
    many = pinned(large)
    rows = []
    for name, op in pinned(runs[0]):
        found = [pinned(run)[name, op] for run in runs]
        least, what = min(limit(run, name, h) for run, h in zip(runs, found))
        row = [name, op, f"{least:.2f} ms ({what})"]
        for times in ([h["row_ms"] for h in found], [h["ms"] for h in found]):
            row += [f"{statistics.median(times):.2f} ms ({min(times):.2f} to {max(times):.2f})",
                    percent(least / statistics.median(times))]
        big = many[name, op]
        rows.append(row + [f"{big['ms']:.2f} ms, {percent(limit(large, name, big)[0] / big['ms'])}"])
    return markdown(["set", "operation", "limit", "100,000 items in a row of batches", "of the limit",
                     "one batch alone", "of the limit", "400,000 items alone, of the limit"], rows)


def table_pageable(_):
    """Host to host from ordinary memory."""
    run = load("h200_ntru.json")
    many = run["items"]
    found = {(s["name"], h["op"], h["items"], h["pinned"]): h for s in run["sets"] for h in s["host_to_host"]}

    def ms(*key, what="ms"):
        return f"{found[key][what]:.2f} ms"
    rows = [[name, op, ms(name, op, 10000, True), ms(name, op, 10000, False), ms(name, op, many, True),
             ms(name, op, many, False), ms(name, op, many, False, what="copy_ms")] for name, op in pinned(run)]
    return markdown(["set", "operation", "10,000 items, pinned", "ordinary", f"{many:,} items, pinned", "ordinary",
                     "its bytes copied by all CPUs"], rows)


def table_two(_):
    """Two GPUs beside one."""
    one, two = pinned(load("h200_ntru_400000.json")), pinned(load("h200x2_ntru_400000.json"))
    return markdown(["set", "operation", "one H200", "two", "gain"],
                    [[*key, f"{one[key]['ms']:.2f} ms", f"{h['ms']:.2f} ms", f"{one[key]['ms'] / h['ms']:.2f}x"]
                     for key, h in two.items()])


def table_threads(_):
    """The 2021 paper's scaling in one block."""
    rows = load("h200_seong2021.json")["one_block"]
    header = ["operation", "registers", "T = 1, us"] + [str(2**k) for k in range(1, len(rows[0]["us"]))]
    return markdown(header, [[r["operation"], str(r["registers"]), f"{r['us'][0]:.1f}"]
                             + [f"{r['us'][0] / us:.1f}" for us in r["us"][1:]] for r in rows])


def table_clients(_):
    """The 2021 paper's crowds, in milliseconds."""
    def show(ms):
        return "-" if ms == 0 else f"{ms:.3f}" if ms < 10 else f"{ms:.1f}"
    rows = load("h200_seong2021.json")["crowd"]
    header = ["N", "2021 encaps", "split", "2021 decaps", "split", "kernels encaps", "decaps", "host to host encaps",
              "decaps", "CPU encaps", "decaps", "ref encaps", "decaps"]
    return markdown(header, [[str(r["n"])] + [show(ms) for key in ("paper", "kernels", "host", "cpu", "ref")
                                              for ms in r[key]] for r in rows])


def table_one_key(_):
    """TensorCrypto's case."""
    def rate(row, key):
        return f"{row['batch'] / row[key] / 1e3:.2f} M/s"
    return markdown(["set", "batch", "encrypt", "decrypt"],
                    [[r["set"], str(r["batch"]), rate(r, "encrypt_ms"), rate(r, "decrypt_ms")]
                     for r in load("h200_seong2021.json")["one_key"]])


TABLES = {"gpu-kernels": table_kernels, "gpu-steps": table_steps, "gpu-host": table_host,
          "gpu-pageable": table_pageable, "gpu-two": table_two, "seong-threads": table_threads,
          "seong-clients": table_clients, "seong-one-key": table_one_key}
