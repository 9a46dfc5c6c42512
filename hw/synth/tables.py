#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of hw/README.md between its marks, from area.json, published.json and software.json beside this,
and from faults/faults.json and tb/masked/tvla.json."""

import json
import pathlib
import re

HW = pathlib.Path(__file__).resolve().parents[1]
COLUMNS = ("LUT", "FF", "DSP", "BRAM36")
FAULT_COLUMNS = ("bits", "flips", "alert", "error", "harmless", "wrong", "nothing", "leaked", "accepted")


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table(head, rows):
    return "\n".join([row(head), "|---" + "|---:" * (len(head) - 1) + "|", *map(row, rows)])


def number(value):
    return f"{value:,g}" if isinstance(value, (int, float)) else value


def area_rows(areas):
    return [(f"`{module}`", *(number(found[column]) for column in COLUMNS)) for module, found in areas.items()]


def published_rows(designs):
    return [(design["design"], *(design.get(column, "") if isinstance(design.get(column), str) else
                                 number(design.get(column, "")) for column in (*COLUMNS, "keygen", "encaps", "decaps")))
            for design in designs]


def measured(software):
    """Returns a sentence that says where software was measured, and how to repeat it."""
    source = f"at commit {software['commit']}" if "commit" in software else f"recorded in {software['recorded_in']}"
    return f"CPU: {software['cpu']}; compiler: {software['compiler']}; `{software['command']}`, {source}."


def software_rows(rows):
    """Yields a row of each set. One cell holds the cycles of key generation, encapsulation and decapsulation, or their
    ratios to the core's."""
    for found in rows:
        core, ref, chosen = (list(found[who][operation] for operation in ("keygen", "encaps", "decaps"))
                             for who in ("core", "ref", "chosen"))  # fmt: skip
        cells = [" / ".join(map(number, core))]
        for software in (ref, chosen):
            cells += [" / ".join(map(number, software)), " / ".join(f"{s / c:.0f}" for s, c in zip(software, core))]
        yield (found["set"], *cells)


def fault_rows(faults):
    """Yields a row of each part of the campaign, and one of that with the planted weakness."""
    for part in (*faults["parts"], faults["planted"]):
        name = f"{part['set']}, {part['differs']}" + (", **verdict in one rail**" if part["model"] == "weak" else "")
        yield (name, part["kind"], part["cycles"], *(number(part[column]) for column in FAULT_COLUMNS))


def tvla_rows(tvla):
    for name, found in (("masked", tvla["masked"]), ("with a planted leak", tvla["leaky"])):
        yield (name, number(found["traces"]), found["points"], number(found["largest_t"]), found["at"])


def main():
    areas = json.loads((HW / "synth/area.json").read_text())["modules"]
    designs = json.loads((HW / "synth/published.json").read_text())["designs"]
    software = json.loads((HW / "synth/software.json").read_text())
    tvla = json.loads((HW / "tb/masked/tvla.json").read_text())
    faults = json.loads((HW / "faults/faults.json").read_text())
    chosen = ", ".join(f"`{name}`" for name in dict.fromkeys(found["chosen"]["backend"] for found in software["rows"]))
    tables = {
        "faults": table(("forged ciphertext", "kind", "cycles", "bits", "flips", "alert", "other error", "harmless",
                         "wrong, rejected", "no result", "secret left", "accepted"), fault_rows(faults)),
        "tvla": table(("", "traces", "points", "largest t", "where"), tvla_rows(tvla)),
        "area": table(("module", *COLUMNS), area_rows(areas)),
        "published": table(("design", *COLUMNS, "key generation", "encapsulation", "decapsulation"),
                           published_rows(designs)),
        "software": measured(software) + "\n\n" + table(
            ("set", "core", "`ref`", "ratio", f"chosen here: {chosen}", "ratio"),
            software_rows(software["rows"])),
    }
    readme = HW / "README.md"
    text = readme.read_text()
    for name, content in tables.items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.S)
        if not mark.search(text):
            raise SystemExit(f"hw/README.md has no mark for the table {name!r}")
        text = mark.sub(lambda found, content=content: found[1] + content + "\n" + found[2], text)
    readme.write_text(text)


if __name__ == "__main__":
    main()
