# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of ckks/figures.md, for tools/tables.py, with ckks/bench/report_ckks.py.
Source: h200_ckks.json of ckks/bench/results, if it exists, which `polykem-lab ckks` wrote."""

import sys
import textwrap

from page_tables.sources import ROOT

BENCH = ROOT / "ckks/bench"
sys.path.append(str(BENCH))
import report_ckks  # noqa: E402

SOURCE = BENCH / "results/h200_ckks.json"


def table(make):
    """Returns a function that makes a table with `make` from our and the published figures, if there are any."""
    def of_source(_):
        if not SOURCE.exists():
            return ""
        return report_ckks.markdown(*make(report_ckks.load(SOURCE), report_ckks.load_published()))
    return of_source


def source(_):
    """Returns a sentence on where and how the figures were measured."""
    if not SOURCE.exists():
        return ""
    document = report_ckks.load(SOURCE).document
    core = f" and one core of {document['cpu']}" if document["cpu"] else ""
    text = (f"Measured on one {document['gpu']}{core}, all data on the GPU, at commit {document['commit']} by "
            f"`{document['command']}`, after {document['compared']:,} numbers of all forms and operations were "
            "compared with their definition.")
    return textwrap.fill(text, 120, break_on_hyphens=False) + "\n"


TABLES = {
    "ckks-source": source,
    "ckks-forms-32": table(lambda records, peers: report_ckks.forms_table(records, peers, 32)),
    "ckks-forms-64": table(lambda records, peers: report_ckks.forms_table(records, peers, 64)),
    "ckks-operations-31": table(lambda records, peers: report_ckks.operations_table(records, peers, 31)),
    "ckks-operations-60": table(lambda records, peers: report_ckks.operations_table(records, peers, 60)),
    "ckks-tensor-cores": table(lambda records, peers: report_ckks.tensor_core_table(records)),
    "ckks-papers": table(report_ckks.papers_table),
}
