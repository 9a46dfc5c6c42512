# SPDX-License-Identifier: Apache-2.0
"""Reports from Verilator's coverage files which lines of the sources ran and which bits changed, and which did not."""

import collections
import pathlib
import re

POINT = re.compile(r"^C '(.*)' (\d+)$")


def points(files):
    """Returns {(source, line, kind, what): how often}, summed over all instances and tests."""
    found = collections.Counter()
    for file in files:
        for text in file.read_text(errors="replace").splitlines():
            match = POINT.match(text)
            if not match:
                continue
            fields = dict(field.split("\x02", 1) for field in match[1].split("\x01") if "\x02" in field)
            kind = fields.get("page", "").split("/")[0].removeprefix("v_")
            kind = "toggle" if kind == "toggle" else "line"
            found[fields["f"], int(fields["l"]), kind, fields.get("o", "")] += int(match[2])
    return found


def write_report(files, out):
    """Writes and prints a table of shares by source, then the lines that never ran and the bits that never changed."""
    by_source = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    holes = collections.defaultdict(set)
    for (source, line, kind, what), count in points(files).items():
        name = pathlib.Path(source).name
        by_source[name][kind][0] += count > 0
        by_source[name][kind][1] += 1
        if count == 0:
            holes[name].add((line, kind, re.sub(r"\[\d+\]", "", what.split(":")[0])))
    lines = ["| source | lines | bits |", "|---|---:|---:|"]
    for name in sorted(by_source):
        shares = (by_source[name][kind] for kind in ("line", "toggle"))
        lines.append(f"| {name} | " + " | ".join(f"{hit} of {total}" if total else "" for hit, total in shares) + " |")
    lines.append("")
    for name in sorted(holes):
        lines += [f"{name}:{line}: {kind}: {what}" for line, kind, what in sorted(holes[name])]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
