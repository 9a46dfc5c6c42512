# SPDX-License-Identifier: Apache-2.0
"""The table of crowds in docs/tls.md, for tools/tables.py. Source: tls_crowd.json of bench/results, where it is."""

from gpu_tables import load, markdown, present

SOURCE = "tls_crowd.json"
CLIENTS = (10, 1000, 10000)


def milliseconds(microseconds):
    return f"{microseconds / 1000:,.{0 if microseconds >= 100000 else 1}f}"


def table_tls_crowd(_):
    """The server alone at three sizes of the crowd, and whole handshakes at the largest."""
    if not present(SOURCE):
        return ""
    points = {(p["name"], p["load"], p["clients"]): p for p in load(SOURCE)["points"]}
    header = ["", *(f"{n:,} clients, {what}" for n in CLIENTS for what in ("answers/s", "p50 / p99, ms")),
              "mean batch", "10,000 clients, whole handshakes/s"]
    rows = []
    for name in dict.fromkeys(name for name, _, _ in points):
        row = [name]
        for n in CLIENTS:
            p = points[name, "server", n]
            row += [f"{p['per_second']:,.0f}", f"{milliseconds(p['p50_us'])} / {milliseconds(p['p99_us'])}"]
        largest, whole = points[name, "server", CLIENTS[-1]], points[name, "whole", CLIENTS[-1]]
        rows.append([*row, f"{largest['mean_batch']:.1f}", f"{whole['per_second']:,.0f}"])
    return markdown(header, rows)


TABLES = {"tls-crowd": table_tls_crowd}
