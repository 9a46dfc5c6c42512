# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of AArch64 in docs/arm_figures.md, for tools/tables.py.

Sources in bench/results: arm64_instructions.json, by bench/arm64/measure.py, and arm64_peers.json.
"""

from page_tables.sources import load, markdown

OPERATIONS = ["keygen", "encaps", "decaps"]
BACKENDS = ["neon-sha3", "neon", "ref"]


def thousands(count):
    return f"{count / 1000:,.0f}"


def counts():
    """Returns the instructions per item by set, backend and operation."""
    return {(r["set"], r["backend"], r["operation"]): r["instructions"]
            for r in load("arm64_instructions.json")["records"]}  # fmt: skip


def beside_peers(_):
    """Makes the table of sets that a peer has: neon-sha3, the peer and their ratio, for each operation."""
    ours, rows = counts(), []
    for peer in load("arm64_peers.json")["records"]:
        name, cells = peer["set"], []
        for operation in OPERATIONS:
            own = ours[name, "neon-sha3", operation]
            cells.append(f"{thousands(own)} / {thousands(peer[operation])} ({own / peer[operation]:.2f}x)")
        rows.append([name, peer["peer"], *cells])
    return markdown(["set", "peer", *OPERATIONS], rows)


def backends(_):
    """Makes the table of all sets on the three backends."""
    ours, rows = counts(), []
    for name in dict.fromkeys(key[0] for key in ours):
        cells = [" / ".join(thousands(ours[name, backend, operation]) if (name, backend, operation) in ours else "-"
                            for operation in OPERATIONS)
                 for backend in BACKENDS]  # fmt: skip
        rows.append([name, *cells])
    return markdown(["set", *BACKENDS], rows)


def frodo_steps(_):
    """Makes the table of FrodoKEM-1344-AES by the paper's steps: its microseconds, our instructions, and shares."""
    paper = load("arm64_peers.json")["frodokem_paper"]
    records = load("arm64_instructions.json")["records"]
    ours = {(r["backend"], r["operation"]): r["steps"] for r in records if r["set"] == "frodokem1344aes"}
    rows = []
    for operation in OPERATIONS:
        lines = [("the paper, us", dict(zip(paper["steps"], paper[operation], strict=True)), 1)]
        lines += [(f"{backend}, thousand instructions", ours[backend, operation], 1000)
                  for backend in BACKENDS[:2]]  # fmt: skip
        for name, steps, unit in lines:
            total = sum(steps.values())
            cells = [f"{steps[step] / unit:,.0f} ({100 * steps[step] / total:.1f} %)" for step in paper["steps"]]
            rows.append([operation, name, *cells, f"{total / unit:,.0f}"])
    return markdown(["operation", "", *paper["steps"], "total"], rows)


TABLES = {"arm-frodo-steps": frodo_steps, "arm-peers": beside_peers, "arm-backends": backends}
