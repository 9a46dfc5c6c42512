# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of one host in docs/bulk_figures.md, for tools/tables.py. Sources: bulk_scale.json and
bulk_hpke.json of bench/results."""

from functools import partial

from page_tables.sources import load, markdown, present


def table_scale(source, _):
    if not present(source):
        return ""
    rows = []
    for r in load(source)["records"]:
        rows.append([f"{r['rows']:,}", r["job"], f"{r['seconds']:.1f}", f"{r['rows'] / r['seconds'] / 1000:.0f} k",
                     f"{r['bytes'] / 1e6:,.1f}", str(max(r["peak_mb"]))])
    return markdown(["rows", "job", "seconds", "rows a second", "MB written", "most MB of memory"], rows)


TABLES = {"bulk-scale": partial(table_scale, "bulk_scale.json"), "bulk-hpke": partial(table_scale, "bulk_hpke.json")}
