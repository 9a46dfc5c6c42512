# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of docs/tls_figures.md, for tools/tables.py. Sources in bench/results: tls_haproxy.json,
tls_haproxy_zen4.json, tls_mldsa_zen4.json, tls_shares_zen4.json, tls_crowd.json, h200_tls_crowd.json,
hybrids_zen4.json and hybrids_xeon.json. A table whose source is not there is empty."""

from statistics import median

from page_tables.sources import load, markdown, present

HAPROXY, HAPROXY_HYBRIDS = "tls_haproxy.json", "tls_haproxy_zen4.json"
HAPROXY_MLDSA = "tls_mldsa_zen4.json"
SHARES = "tls_shares_zen4.json"
CROWD, CROWD_GPU = "tls_crowd.json", "h200_tls_crowd.json"
CLIENTS = (10, 1000, 10000)
CONTENDERS = {  # of bench/tls/compare.py: OpenSSL's version; group, certificate where it is not of P-256; who computes
    "ML-KEM, OpenSSL's own": ("3.5", "X25519MLKEM768", "OpenSSL"),
    "ML-KEM, polykem waiting, newer OpenSSL": ("3.5", "X25519MLKEM768", "polykem"),
    "ML-KEM, OpenSSL's own, async": ("3.5", "X25519MLKEM768", "OpenSSL, async"),
    "ML-KEM, polykem pausing, newer OpenSSL": ("3.5", "X25519MLKEM768", "polykem, async"),
    "ML-DSA-65, OpenSSL's own": ("3.5", "X25519MLKEM768, ML-DSA-65", "OpenSSL"),
    "ML-DSA-65, polykem waiting": ("3.5", "X25519MLKEM768, ML-DSA-65", "polykem"),
    "ML-DSA-65, OpenSSL's own, async": ("3.5", "X25519MLKEM768, ML-DSA-65", "OpenSSL, async"),
    "ML-DSA-65, polykem pausing": ("3.5", "X25519MLKEM768, ML-DSA-65", "polykem, async"),
    "ML-DSA-65, device of 1 ms, waiting": ("3.5", "X25519MLKEM768, ML-DSA-65", "polykem, device of 1 ms"),
    "ML-DSA-65, device of 1 ms, pausing": ("3.5", "X25519MLKEM768, ML-DSA-65", "polykem, device of 1 ms, async"),
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

QUANTITIES = (("low", "p50_us"), ("high", "per_second"), ("high", "server_cpu_us"), ("whole", "per_second"))


def milliseconds(microseconds):
    return f"{microseconds / 1000:,.{0 if microseconds >= 100000 else 1}f}"


def latencies(point):
    return f"{milliseconds(point['p50_us'])} / {milliseconds(point['p99_us'])}"


def table_haproxy(source, ratios=False):
    """Makes a table of medians over the rounds, with ratios to OpenSSL's in the same mode if `ratios`."""
    if not present(source):
        return ""
    rounds = load(source)["rounds"]
    name_of = {words: name for name, words in CONTENDERS.items() if name in rounds[0]}

    def of(name, what, quantity):
        return median(found[name][what][quantity] for found in rounds)

    def beside_openssl(words):
        openssl = name_of.get((*words[:2], words[2].replace("polykem", "OpenSSL")))
        if openssl in (None, name_of[words]):
            return ["", ""]
        return [f"{of(name_of[words], 'high', 'per_second') / of(openssl, 'high', 'per_second'):.2f}x",
                f"{of(openssl, 'high', 'server_cpu_us') / of(name_of[words], 'high', 'server_cpu_us'):.2f}x"]

    rows = [[*words, *(f"{of(name, *quantity):,.0f}" for quantity in QUANTITIES),
             *(beside_openssl(words) if ratios else [])] for words, name in name_of.items()]
    header = ["OpenSSL", "group", "computed by", "1 connection, us", "64 connections, answers/s", "server's CPU, us",
              "whole handshakes/s", *(["answers/s, ratio", "CPU, ratio"] if ratios else [])]
    return markdown(header, rows)


def table_crowd(_):
    """Makes the table of the server alone at three sizes of the crowd, and of whole handshakes at the largest."""
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
    """Makes the table of FrodoKEM-976-SHAKE with and without a GPU, the server alone."""
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
        machine = result["machine"].removeprefix("one core of ")
        for r in result["records"]:
            batch, single, openssl = (r[f"{who}_ops_per_s"] for who in ("batch", "single", "openssl"))
            # Older results did not name the backend: it was the machine's best.
            rows.append([machine, r["set"], r["op"], r.get("backend", "avx512"), f"{batch:,}", f"{single:,}",
                         f"{openssl:,}", f"{batch / openssl:.1f}x", f"{single / openssl:.2f}x"])
    return markdown(["one core of", "group", "operation", "backend", "1,024 at a time, /s", "one at a time, /s",
                     "OpenSSL 3.5, /s", "ratio", "one at a time"], rows) if rows else ""


def table_shares(_):
    """Makes the table of the server's CPU time for an answered handshake, by part."""
    if not present(SHARES):
        return ""
    records = load(SHARES)["records"]
    rows = [[part, *(f"{r['us'][part]:,.1f}" for r in records)] for part in records[0]["us"]]
    rows += [[what, *(f"{r[quantity]:,.{digits}f}" for r in records)] for what, quantity, digits in
             (("**together**", "server_cpu_us", 1), ("answers/s", "per_second", 0), ("mean batch", "mean_batch", 1))]
    return markdown(["us a handshake", *(CONTENDERS[r["name"]][2] for r in records)], rows)


TABLES = {
    "tls-hybrids": table_hybrids,
    "tls-haproxy": lambda _: table_haproxy(HAPROXY),
    "tls-haproxy-hybrids": lambda _: table_haproxy(HAPROXY_HYBRIDS, ratios=True),
    "tls-haproxy-mldsa": lambda _: table_haproxy(HAPROXY_MLDSA, ratios=True),
    "tls-shares": table_shares,
    "tls-crowd": table_crowd,
    "tls-crowd-gpu": table_crowd_gpu,
}
