# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of docs/gpu_figures.md and research/seong2021/README.md, for tools/tables.py.

Sources in bench/results: h200_ntru.json and a second run of it (100,000 items), h200_ntru_400000.json,
h200x2_cards_*.json and h200x2_bulk*.json (two GPUs), h200_seong2021.json; if they exist, h200_mlkem.json
(100,000 items), h200_mlkem_500000.json, h200_saber.json, h200_saber_500000.json, h200_frodokem.json, h200_lac.json,
h200_lac_500000.json, h200_hybrid.json, h200_mldsa.json and h200_gpu_rates.json.
"""

import statistics
import textwrap

from page_tables.sources import ROOT, load, markdown, present

STEPS_SET = "ntruhps4096821"
TWINS = ("efrodo", "lac128_", "lac192_", "lac256_")  # within 1 % of other sets, and only in the files
OPS = ("keygen", "encaps", "decaps")
RUNS = ["h200_ntru.json", "h200_ntru_run2.json"]
TWO_GPUS = ["h200x2_cards_frodokem976shake.json", "h200x2_cards_frodokem976shake_2.json",
            "h200x2_cards_ntru_400000.json"]
BULK_TWO_GPUS = ["h200x2_bulk.json", "h200x2_bulk_ntru.json", "h200x2_bulk_ntru_400000.json"]
# kernels of every family
FAMILIES = ["h200_ntru.json", "h200_mlkem.json", "h200_frodokem.json", "h200_saber.json", "h200_lac.json",
            "h200_hybrid.json", "h200_mldsa.json"]


def ops_of(document):
    """Returns the operations of a family's sets."""
    return [r["op"] for r in document["sets"][0]["resident"]]


def resident_rates():
    """Returns the items per second with all data on the GPU, by set and operation, of the measured families."""
    return {(s["name"], r["op"]): r["per_second"] for name in FAMILIES if present(name)
            for s in load(name)["sets"] for r in s["resident"]}


def million(per_second):
    """Formats in millions, with one digit after the point or, below one million, three."""
    return f"{per_second / 1e6:.{1 if per_second >= 1e6 else 3}f}"


def pinned(document):
    """Returns the records of the largest batch, host to host from pinned memory, by set and operation."""
    return {(s["name"], h["op"]): h for s in document["sets"] for h in s["host_to_host"]
            if h["pinned"] and h["items"] == document["items"]}


def limit(document, name, h):
    """Returns the least time of a batch in milliseconds, and what determines it."""
    rates = {r["op"]: r["per_second"] for s in document["sets"] if s["name"] == name for r in s["resident"]}
    kernels = h["items"] / rates[h["op"]] / document.get("devices", 1) * 1e3
    return (h["pcie_ms"], "PCIe") if h["pcie_ms"] > kernels else (kernels, "kernels")


def triples(times, shares):
    """Returns cells with three times in milliseconds, and with the limit as a part of them."""
    return [", ".join(f"{ms:.2f}" for ms in times), ", ".join(f"{100 * share:.0f}" for share in shares)]


def shown_limit(least_and_what):
    least, what = least_and_what
    return f"{least:.2f}" + (" P" if what == "PCIe" else "")


def measured_at(documents):
    """Returns the line above a table that names the commits of its results."""
    return f"Measured at {' and '.join(dict.fromkeys(document['commit'] for document in documents))}:\n\n"


def table_kernels(_):
    """Makes the table of rates with all data on the GPU."""
    document = load("h200_ntru.json")
    return measured_at([document]) + markdown(
        ["set", "keygen", "encaps", "decaps"],
        [[s["name"]] + [f"{r['per_second'] / 1e6:.1f} M/s" for r in s["resident"]] for s in document["sets"]])


def table_steps(_):
    """Makes the table of steps beside their floors."""
    return steps_table(load("h200_ntru.json"), STEPS_SET)


def table_host(_):
    """Makes the table of times from host to host beside the limit, which the fastest bus of all runs determines."""
    runs, large = [load(run) for run in RUNS], load("h200_ntru_400000.json")
    many = pinned(large)
    rows = []
    for s in runs[0]["sets"]:
        name = s["name"]
        found = [[pinned(run)[name, op] for run in runs] for op in OPS]
        limits = [min(limit(run, name, h) for run, h in zip(runs, of_op)) for of_op in found]
        row = [name, ", ".join(map(shown_limit, limits))]
        for key in ("row_ms", "ms"):
            times = [statistics.median(h[key] for h in of_op) for of_op in found]
            row += triples(times, [least / ms for (least, _), ms in zip(limits, times)])
        of_large = [limit(large, name, many[name, op])[0] / many[name, op]["ms"] for op in OPS]
        rows.append([*row, *triples([many[name, op]["ms"] for op in OPS], of_large)])
    return measured_at([*runs, large]) + markdown(
        ["set", "limit, ms", "in a row of batches, ms", "% of the limit", "one batch alone, ms", "% of the limit",
         "400,000 items alone, ms", "% of the limit"], rows)


def table_pageable(_):
    """Makes the table of times from host to host from ordinary memory."""
    run = load("h200_ntru.json")
    found = {(s["name"], h["op"], h["items"], h["pinned"]): h for s in run["sets"] for h in s["host_to_host"]}

    def ms(name, *key, what="ms"):
        return ", ".join(f"{found[(name, op, *key)][what]:.2f}" for op in OPS)
    many = run["items"]
    rows = [[name, ms(name, 10000, True), ms(name, 10000, False), ms(name, many, True), ms(name, many, False),
             ms(name, many, False, what="copy_ms")] for name in (s["name"] for s in run["sets"])]
    return markdown(["set", "10,000 items, pinned, ms", "ordinary", f"{many:,} items, pinned, ms", "ordinary",
                     "its bytes copied by all CPUs"], rows)


def table_two(_):
    """Makes the table of two GPUs beside one of them, host to host: a batch alone, and one of a row."""
    rows = []
    for name in TWO_GPUS:
        run = load(name)
        rows += [[case["name"], f"{run['items']:,}", case["op"]] +
                 [text for way in (case["alone"], case["in_a_row"])
                  for text in (f"{way['one_ms']:.1f} ms", f"{way['all_ms']:.1f} ms", f"{way['gain']:.2f}x")]
                 for case in run["cases"]]
    return markdown(["set", "items", "operation", "alone: one H200", "two", "gain",
                     "in a row: one H200", "two", "gain"], rows)


def table_bulk_two(_):
    """Makes the table of one worker per GPU, host to host through Python. If several runs have a case, it has all."""
    cases = {}
    for run in map(load, BULK_TWO_GPUS):
        for case in run["cases"]:
            cases.setdefault((case["scheme"], case["batch_rows"], case["operation"]), []).append(case["rates"])

    def million(runs, gpus):
        return " / ".join(f"{run[gpus]['rows_per_second'] / 1e6:.3g}" for run in runs)
    return markdown(["set", "rows of a batch", "operation", "one H200, million rows a second", "two", "gain"],
                    [[name, f"{rows:,}", op, million(runs, 0), million(runs, -1),
                      " / ".join(f"{run[-1]['gain']:.2f}x" for run in runs)]
                     for (name, rows, op), runs in cases.items()])


def table_rates(_):
    """Makes the table of the best rates of the GPU's units; it is empty if they were not measured."""
    if not present("h200_gpu_rates.json"):
        return ""

    def in_units(per_second):
        for factor, letter in ((1e12, "T"), (1e9, "G")):
            if per_second >= factor:
                return f"{per_second / factor:.2f} {letter}/s"
        return f"{per_second:,.0f}/s"
    document = load("h200_gpu_rates.json")
    return measured_at([document]) + markdown(
        ["rate", "of", "measured", "used for floors"],
        [[f"`{r['name']}`", r["of"], in_units(r["per_second"]),
          in_units(r["used_for_floors"]) if "used_for_floors" in r else ""] for r in document["rates"]])


def device_arrays(_):
    """Returns the part of examples/device_arrays.c that docs/gpu.md shows."""
    text = (ROOT / "examples/device_arrays.c").read_text(encoding="utf-8")
    quote = text.split("/* begin of the quote in docs/gpu.md */\n")[1].split("/* end of the quote */")[0]
    return f"```c\n{quote}```\n"


def table_threads(_):
    """Makes the table of the 2021 paper's scaling in one block."""
    rows = load("h200_seong2021.json")["one_block"]
    header = ["operation", "registers", "T = 1, us"] + [str(2**k) for k in range(1, len(rows[0]["us"]))]
    return markdown(header, [[r["operation"], str(r["registers"]), f"{r['us'][0]:.1f}"]
                             + [f"{r['us'][0] / us:.1f}" for us in r["us"][1:]] for r in rows])


def table_clients(_):
    """Makes the table of the 2021 paper's crowds, in milliseconds."""
    def show(ms):
        return "-" if ms == 0 else f"{ms:.3f}" if ms < 10 else f"{ms:.1f}"
    rows = load("h200_seong2021.json")["crowd"]
    header = ["N", "2021 encaps", "split", "2021 decaps", "split", "kernels encaps", "decaps", "host to host encaps",
              "decaps", "CPU encaps", "decaps", "ref encaps", "decaps"]
    return markdown(header, [[str(r["n"])] + [show(ms) for key in ("paper", "kernels", "host", "cpu", "ref")
                                              for ms in r[key]] for r in rows])


def table_one_key(_):
    """Makes the table of TensorCrypto's case."""
    def rate(row, key):
        return f"{row['batch'] / row[key] / 1e3:.2f} M/s"
    return markdown(["set", "batch", "encrypt", "decrypt"],
                    [[r["set"], str(r["batch"]), rate(r, "encrypt_ms"), rate(r, "decrypt_ms")]
                     for r in load("h200_seong2021.json")["one_key"]])


def floor_ns(resident):
    return sum(step["floor_ns"] for step in resident["steps"] if step["name"] != "wipe")


# ML-KEM's steps, by their names in results from before they had the names of FIPS 203.
MLKEM_STEPS = {"gen_a": "sample_ntt", "sample_cbd": "sample_poly_cbd", "ntt_basemul_tobytes": "ntt_multiply_encode",
               "sha3_512_reject": "sha3_512_shake256", "sha3_256.ek": "sha3_256.H"}


def title_of(step, name):
    title = step.replace("draw", "coins")  # the name in results from before the rename
    return MLKEM_STEPS.get(title, title) if name.startswith(("mlkem", "kyber")) else title


def steps_table(document, name):
    """Makes the table of a set's steps and whole operations, and how many times their floors they take."""
    rows = []
    for r in next(s for s in document["sets"] if s["name"] == name)["resident"]:
        whole = {"name": "", "ns": 1e9 / r["per_second"], "floor_ns": floor_ns(r)}
        for step in r["steps"] + [whole]:
            gap = f"{step['ns'] / step['floor_ns']:.1f}" if step["floor_ns"] > 0 else ""
            title = title_of(step["name"], name)
            rows.append([r["op"], f"`{title}`" if title else "all", f"{step['ns']:.2f}", gap])
    return markdown(["operation", "step", "ns an item", "times the floor"], rows)


def with_ratio(r):
    return f"{million(r['per_second'])} M/s" + (f" (**{r['ratio']:.2f}x**)" if "ratio" in r else "")


def kernels_table(documents, shown):
    """Makes the table of rates with all data on the GPU, formatted by `shown`, also with one key if measured."""
    sets = [s for document in documents for s in document["sets"]]
    rows = [[s["name"], f"{s['items']:,}", *(shown(r) for r in s["resident"]),
             *(f"{million(r['per_second'])} M/s" for r in s.get("shared_key", []))] for s in sets]
    columns = max(map(len, rows))
    ops = ops_of(documents[0])
    header = ["set", "items", *ops, f"one key: {ops[1]}", ops[2]][:columns]
    return markdown(header, [row + [""] * (columns - len(row)) for row in rows])


def host_table(document):
    """Makes the table of the largest batches from host to host; it is empty if they were not measured."""
    rows, ops = [], ops_of(document)
    for s in document["sets"]:
        many = {(h["op"], h["pinned"]): h for h in s["host_to_host"] if h["items"] == s["items"]}
        found = [many[op, True] for op in ops if (op, True) in many]
        if not found:
            continue
        limits = [limit(document, s["name"], h) for h in found]
        of_limit = [least / h["row_ms"] for (least, _), h in zip(limits, found)]
        ordinary = [f"{many[op, False]['ms']:.2f}" for op in ops if (op, False) in many]
        rows.append([s["name"], ", ".join(map(shown_limit, limits)), *triples([h["row_ms"] for h in found], of_limit),
                     ", ".join(f"{h['ms']:.2f}" for h in found), ", ".join(ordinary)])
    if not rows:
        return ""
    return f"\nFrom host to host, {document['sets'][0]['items']:,} items:\n\n" + markdown(
        ["set", "limit, ms", "in a row of batches, ms", "% of the limit", "one batch alone, ms",
         "from ordinary memory, ms"], rows)


def one_key_line():
    """Returns a line on FrodoKEM with one key for a batch that fills the GPU."""
    if not present("h200_frodokem_one_key.json"):
        return ""
    document = load("h200_frodokem_one_key.json")
    rates = [f"{s['name']} {million(r['per_second'])} M/s {r['op']}" for s in document["sets"] for r in s["shared_key"]]
    line = (f"One key for {document['items']:,} items, which fill the GPU (at {document['commit']}): "
            + ", ".join(rates) + ".")
    return f"\n{textwrap.fill(line, 120)}\n"


def host_peer_line(document):
    """Returns a line on batches of a peer's size from host to host, beside that peer."""
    beside = [f"{s['name']} {h['op']} {million(h['items'] / h['ms'] * 1e3)} M/s (**{h['ratio']:.1f}x**)"
              for s in document["sets"] for h in s["host_to_host"] if "peer" in h]
    peer = next((f"{h['peer']}, batches of {h['items']:,} with transfers" for s in document["sets"]
                 for h in s["host_to_host"] if "peer" in h), "")
    return f"\nHost to host, compared with {peer}: {'; '.join(beside)}.\n" if peer else ""


def beside_floor(r):
    return f"{million(r['per_second'])} M/s (x{1e9 / r['per_second'] / floor_ns(r):.2f})"


def family_table(names, steps_of, shown=beside_floor, line=lambda document: ""):
    """Returns a function that makes a family's rates, steps and times from host to host, if its first file exists.
    names: of its files. steps_of: the set whose steps are shown. line: makes one more line of the first file."""
    def table(_):
        documents = [load(name) for name in names if present(name)]
        if not present(names[0]):
            return ""
        main = {**documents[0], "sets": [s for s in documents[0]["sets"] if not s["name"].startswith(TWINS)]}
        return (measured_at(documents) + kernels_table([main, *documents[1:]], shown) + line(main)
                + f"\nThe steps of {steps_of}:\n\n" + steps_table(main, steps_of) + host_table(main))
    return table


TABLES = {"gpu-kernels": table_kernels, "gpu-steps": table_steps, "gpu-host": table_host,
          "gpu-pageable": table_pageable, "gpu-two": table_two, "gpu-bulk-two": table_bulk_two,
          "gpu-rates": table_rates, "device-arrays": device_arrays, "seong-threads": table_threads,
          "seong-clients": table_clients, "seong-one-key": table_one_key,
          "gpu-mlkem": family_table(["h200_mlkem.json", "h200_mlkem_500000.json"], "mlkem768", with_ratio),
          "gpu-saber": family_table(["h200_saber.json", "h200_saber_500000.json"], "saber", line=host_peer_line),
          "gpu-frodokem": family_table(["h200_frodokem.json"], "frodokem976shake", line=lambda _: one_key_line()),
          "gpu-lac": family_table(["h200_lac.json", "h200_lac_500000.json"], "lac128"),
          "gpu-hybrid": family_table(["h200_hybrid.json"], "x25519mlkem768"),
          "gpu-mldsa": family_table(["h200_mldsa.json"], "mldsa65", with_ratio)}
