# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/tls_figures.md, for tools/tables.py. Sources in bench/results: tls_haproxy.json,
tls_haproxy_zen4.json, tls_crowd.json, h200_tls_crowd.json, hybrids_zen4.json and hybrids_xeon.json. A table whose
source is not there is empty."""

from statistics import median

from page_tables.sources import load, markdown, present

HAPROXY, HAPROXY_HYBRIDS = "tls_haproxy.json", "tls_haproxy_zen4.json"
CROWD, CROWD_GPU = "tls_crowd.json", "h200_tls_crowd.json"
CLIENTS = (10, 1000, 10000)
CONTENDERS = {  # of bench/tls/compare.py: OpenSSL's version, group, who computes
    "ML-KEM, OpenSSL's own": ("3.5", "X25519MLKEM768", "OpenSSL"),
    "ML-KEM, polykem waiting, newer OpenSSL": ("3.5", "X25519MLKEM768", "polykem"),
    "ML-KEM, OpenSSL's own, async": ("3.5", "X25519MLKEM768", "OpenSSL, async"),
    "ML-KEM, polykem pausing, newer OpenSSL": ("3.5", "X25519MLKEM768", "polykem, async"),
    "X25519 of OpenSSL 3.0": ("3.0", "X25519", "OpenSSL"),
    "ML-KEM, peer": ("3.0", "X25519MLKEM768", "oqs-provider"),
    "ML-KEM, polykem waiting": ("3.0", "X25519MLKEM768", "polykem"),
    "ML-KEM, polykem pausing": ("3.0", "X25519MLKEM768", "polykem, async"),
    "FrodoKEM-976, peer": ("3.0", "frodo976aes", "oqs-provider"),
    "FrodoKEM-976, polykem waiting": ("3.0", "frodo976aes", "polykem"),
    "FrodoKEM-976, polykem pausing": ("3.0", "frodo976aes", "polykem, async"),
    "ML-KEM, device of 1 ms, waiting": ("3.0", "X25519MLKEM768", "polykem, device of 1 ms"),
    "ML-KEM, device of 1 ms, pausing": ("3.0", "X25519MLKEM768", "polykem, device of 1 ms, async"),
}  # fmt: skip


def milliseconds(microseconds):
    return f"{microseconds / 1000:,.{0 if microseconds >= 100000 else 1}f}"


def latencies(point):
    return f"{milliseconds(point['p50_us'])} / {milliseconds(point['p99_us'])}"


def table_haproxy(source):
    """Medians over the rounds."""
    if not present(source):
        return ""
    rounds = load(source)["rounds"]

    def of(name, what, quantity):
        return f"{median(found[name][what][quantity] for found in rounds):,.0f}"
    return markdown(["OpenSSL", "group", "computed by", "1 connection, us", "64 connections, answers/s",
                     "server's CPU, us", "whole handshakes/s"],
                    [[*words, of(name, "low", "p50_us"), of(name, "high", "per_second"),
                      of(name, "high", "server_cpu_us"), of(name, "whole", "per_second")]
                     for name, words in CONTENDERS.items() if name in rounds[0]])


def table_crowd(_):
    """The server alone at three sizes of the crowd, and whole handshakes at the largest."""
    if not present(CROWD):
        return ""
    points = {(p["name"], p["load"], p["clients"]): p for p in load(CROWD)["points"]}
    header = ["", *(f"{n:,} clients, {what}" for n in CLIENTS for what in ("answers/s", "p50 / p99, ms")),
              "mean batch", "10,000 clients, whole handshakes/s"]
    rows = []
    for name in dict.fromkeys(name for name, _, _ in points):
        row = [name]
        for n in CLIENTS:
            p = points[name, "server", n]
            row += [f"{p['per_second']:,.0f}", latencies(p)]
        largest, whole = points[name, "server", CLIENTS[-1]], points[name, "whole", CLIENTS[-1]]
        rows.append([*row, f"{largest['mean_batch']:.1f}", f"{whole['per_second']:,.0f}"])
    return markdown(header, rows)


def table_crowd_gpu(_):
    """FrodoKEM-976-SHAKE with a GPU and without, the server alone."""
    if not present(CROWD_GPU):
        return ""
    points = {(p["name"].split(", ")[1], p["clients"]): p for p in load(CROWD_GPU)["points"] if p["load"] == "server"}
    names = dict.fromkeys(name for name, _ in points)
    header = [f"{name}: {what}" for name in names for what in ("answers/s", "p50 / p99, ms")]
    rows = []
    for n in dict.fromkeys(n for _, n in points):
        found = [points[name, n] for name in names]
        rows.append([f"{n:,}", *(cell for p in found for cell in (f"{p['per_second']:,.0f}", latencies(p)))])
    return markdown(["clients at once", *header], rows)


HYBRIDS = ("hybrids_zen4.json", "hybrids_xeon.json")


def table_hybrids(_):
    rows = []
    for source in filter(present, HYBRIDS):
        result = load(source)
        for r in result["records"]:
            openssl = r["openssl_ops_per_s"]
            rows.append([result["machine"].removeprefix("one core of "), r["set"], r["op"], f"{r['batch_ops_per_s']:,}",
                         f"{r['single_ops_per_s']:,}", f"{openssl:,}", f"{r['batch_ops_per_s'] / openssl:.1f}x",
                         f"{r['single_ops_per_s'] / openssl:.2f}x"])  # fmt: skip
    return markdown(["one core of", "group", "operation", "1,024 at a time, /s", "one at a time, /s", "OpenSSL 3.5, /s",
                     "ratio", "one at a time"], rows) if rows else ""


TABLES = {
    "tls-hybrids": table_hybrids,
    "tls-haproxy": lambda _: table_haproxy(HAPROXY),
    "tls-haproxy-hybrids": lambda _: table_haproxy(HAPROXY_HYBRIDS),
    "tls-crowd": table_crowd,
    "tls-crowd-gpu": table_crowd_gpu,
}
