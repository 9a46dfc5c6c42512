# SPDX-License-Identifier: Apache-2.0
"""Makes the table of ML-DSA in docs/performance.md, for tools/tables.py. Source: mldsa_zen4.json of bench/results."""

from page_tables.sources import load, markdown, present

SOURCE = "mldsa_zen4.json"
KEYS = {"per-item": "a key each", "shared": "one key", "parsed-shared": "one key, read before"}
PEERS = {"wolfSSL": "wolfSSL 5.9.4", "AWS-LC": "AWS-LC 0.47", "liboqs": "liboqs 0.13", "OpenSSL": "OpenSSL 3.6"}


def table_mldsa(_):
    if not present(SOURCE):
        return ""
    rows = []
    for r in load(SOURCE)["records"]:
        if r["forced"]:
            continue
        ratio = {peer["name"].split(" ")[0]: peer["ratio"] for peer in r["peers"]}
        batch = f"{r['count']:,} items" if r["count"] > 1 else "one item"
        rows.append([r["scheme"], r["op"], f"{batch}, {KEYS[r['keys']]}", f"{r['ours_ops_per_s']:,.0f}",
                     *(f"{ratio[name]:.2f}x" for name in PEERS)])  # fmt: skip
    return markdown(["set", "operation", "batch", "per second", *PEERS.values()], rows)


TABLES = {"mldsa": table_mldsa}
