# SPDX-License-Identifier: Apache-2.0
"""Makes the table of docs/hpke_figures.md, for tools/tables.py. Source: hpke_zen4.json of bench/results."""

from page_tables.sources import load, markdown, present

SOURCE = "hpke_zen4.json"
KEYS = {"shared": "one key", "per-item": "a key each"}


def peer(record, name):
    rate, ratio = record[f"{name}_ops_per_s"], record[f"{name}_ratio"]
    return [f"{rate:,}", f"{ratio:.1f}x"] if rate else ["", ""]


def table_hpke(_):
    if not present(SOURCE):
        return ""
    rows = []
    for r in load(SOURCE)["records"]:
        curve = f"{r['curve_us']:.1f}" if r["curve_us"] else ""
        rows.append([f"{r['kem']}, {r['kdf']}, {r['aead']}", r["op"], KEYS[r["keys"]], f"{r['ops_per_s']:,}",
                     *peer(r, "pyca"), *peer(r, "go"), f"{r['us']:.2f}", f"{r['lattice_us']:.2f}", curve,
                     f"{r['key_schedule_us']:.2f}", f"{r['cipher_us']:.2f}",
                     f"{r['us'] / r['floor_us']:.2f}"])  # fmt: skip
    return markdown(["KEM, KDF, cipher", "operation", "keys", "per second", "pyca 50", "ratio", "Go 1.26", "ratio",
                     "us", "ML-KEM", "curve", "schedule", "cipher", "of floor"], rows)


TABLES = {"hpke": table_hpke}
