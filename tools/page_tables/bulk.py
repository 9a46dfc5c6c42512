# SPDX-License-Identifier: Apache-2.0
"""The table of docs/bulk_figures.md, for tools/tables.py. Source: bulk_scale.json of bench/results."""

from page_tables.sources import load, markdown, present

SOURCE = "bulk_scale.json"


def table_scale(_):
    if not present(SOURCE):
        return ""
    rows = []
    for r in load(SOURCE)["records"]:
        rows.append([f"{r['rows']:,}", r["job"], f"{r['seconds']:.1f}", f"{r['rows'] / r['seconds'] / 1000:.0f} k",
                     f"{r['bytes'] / 1e6:,.1f}", str(max(r["peak_mb"]))])
    return markdown(["rows", "job", "seconds", "rows a second", "MB written", "most MB of memory"], rows)


TABLES = {"bulk-scale": table_scale}
