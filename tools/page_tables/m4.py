# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of the Cortex-M4 in docs/arm_figures.md, for tools/tables.py. Sources: m4_cycles.json of
bench/results, which bench/m4/measure.py writes, and bench/m4/published.json."""

import json

from page_tables.sources import ROOT, load, markdown, present

SOURCE = "m4_cycles.json"
PUBLISHED = ROOT / "bench/m4/published.json"
OPS = ("keygen", "encaps", "decaps")
# rows of the paper's table: the operation that a share is of, the function, the paper's name for it
ROWS = [("keygen", "keygen", "key generation"), ("keygen", "poly_Rq_inv", "poly_Rq_inv"),
        ("keygen", "poly_S3_inv", "poly_S3_inv"), ("keygen", "products_in_inverse", "poly_Rq_mul, in poly_Rq_inv"),
        ("keygen", "products", "poly_Rq_mul, the others"), ("encaps", "encaps", "encapsulation"),
        ("encaps", "poly_Rq_mul", "poly_Rq_mul"), ("encaps", "sample_rm", "sample_rm"),
        ("decaps", "decaps", "decapsulation")]
FUNCTIONS = [("poly_Rq_inv", "poly_Rq_inv"), ("poly_S3_inv", "poly_S3_inv"), ("one_product", "poly_Rq_mul"),
             ("sample_rm", "sample_rm")]


def sources():
    return load(SOURCE)["sets"], json.loads(PUBLISHED.read_text())


def with_share(value, whole, text):
    return text if value == whole else f"{text} ({100 * value / whole:.1f} %)"


def table_m4_paper(_):
    """Makes the NTRU paper's table 2 beside ours: thousands of cycles, with shares of the operation in brackets."""
    if not present(SOURCE):
        return ""
    measured, published = sources()
    rows = []
    for name, paper in published["paper"]["sets"].items():
        rows.append([f"**{name}**", "", "", "", ""])
        for operation, function, title in ROWS:
            cycles = f"{paper[function] * published['paper']['megahertz']:,.0f}"
            row = [title, with_share(paper[function], paper[operation], cycles)]
            for build in ("O0", "O2", "m4"):
                value, whole = measured[name][build][function], measured[name][build][operation]
                row.append(with_share(value, whole, f"{value / 1000:,.0f}"))
            rows.append(row)
    return markdown(["", "paper", "reference, -O0", "reference, -O2", "Cortex-M4 code"], rows)


def table_m4_functions(_):
    """Makes the table of the paper's four functions and a product of a small operand beside pqm4's, in one model."""
    if not present(SOURCE):
        return ""
    measured, published = sources()
    rows = []
    for name, peer in published["pqm4"]["modelled"].items():
        row = [name]
        for ours, theirs in FUNCTIONS:
            value = measured[name]["m4"][ours]
            row.append(f"{value:,} ({value / peer[theirs]:.2f})")
        rows.append([*row, f"({measured[name]['m4']['one_product'] / peer['small_Rq_mul']:.2f})"])
    return markdown(["", *(title for _, title in FUNCTIONS), "poly_Rq_mul, small operand"], rows)


def table_m4_operations(_):
    """Makes the table of all operations, with the ratio to pqm4, of modelled cycles where pqm4 is modelled too."""
    if not present(SOURCE):
        return ""
    measured, published = sources()
    rows = []
    for name, found in measured.items():
        row = [name]
        for build in ("O2", "m4"):
            row.append(" / ".join(f"{found[build][op] / 1000:,.0f}" for op in OPS))
        peer = {**published["pqm4"]["published"][name], **published["pqm4"]["modelled"].get(name, {})}
        row.append(" / ".join(f"{found['m4'][op] / peer[op]:.2f}" for op in OPS))
        workspaces = [found["workspace"][op] for op in OPS]
        whole = f"{workspaces[0]:,}" if len(set(workspaces)) == 1 else " / ".join(f"{bytes:,}" for bytes in workspaces)
        row += [whole, f"{found['stack']:,}", " / ".join(f"{bytes:,}" for bytes in peer["stack"]),
                f"{found['m4']['code']:,}"]
        rows.append(row)
    header = ["", "reference, -O2", "Cortex-M4 code", "of pqm4", "workspace", "stack", "pqm4's stack", "program"]
    return markdown(header, rows)


TABLES = {"m4-paper": table_m4_paper, "m4-functions": table_m4_functions, "m4-operations": table_m4_operations}
