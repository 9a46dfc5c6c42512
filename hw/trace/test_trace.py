# SPDX-License-Identifier: Apache-2.0
"""Tests that the traces that trace.sh left in BUILD hold what pictures and waveforms show, and that the pictures in
doc/ are of this core. Prints a line for each fault.

    test_trace.py BUILD"""

import pathlib
import sys
import tempfile

import schedule
import vcd
import walk
import waves

DOC = pathlib.Path(__file__).resolve().parents[1] / "doc"
K = 3
# {operation: {row: its busy cycles}}. A product takes 64 cycles, a transform 128, an entry of A has 64 words;
# doc/registers.md has the lengths of the streams.
WANTED = {
    "keygen": {"words in": 8, "words out": (768 * K + 96) // 8, "products": 64 * K * K, "hash: words of A": 64 * K * K,
               "into the NTT lane": 128 * 2 * K, "out of the NTT lane": 128 * 2 * K, "clearing": 192},
    "encaps": {"words in": (32 + 384 * K + 32) // 8, "words out": (1088 + 32) // 8, "products": 64 * (K * K + K),
               "hash: words of A": 64 * K * K, "into the NTT lane": 128 * (2 * K + 1), "clearing": 192},
    "decaps": {"words in": (1088 + 768 * K + 96) // 8, "words out": 4, "products": 64 * (K * K + 2 * K),
               "hash: words of A": 64 * K * K, "into the NTT lane": 128 * (3 * K + 2), "clearing": 192},
}


def faults(build):
    """Yields a line for each fault."""
    for operation, wanted in WANTED.items():
        trace = build / f"mlkem768-{operation}.vcd"
        values = schedule.values_during_command(vcd.read(trace, schedule.signals()))
        for row in schedule.ROWS:
            busy = sum(schedule.busy_cycles(row, values))
            if busy != wanted.get(row.title, busy) or busy == 0:
                yield f"{operation}: {row.title}: busy in {busy} cycles, not in {wanted.get(row.title)}"
        if schedule.draw(values, f"ML-KEM-768, {operation}") != (DOC / f"schedule_{operation}.svg").read_text():
            yield f"doc/schedule_{operation}.svg is that of another core: make hw-schedule"
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "core.gtkw"
            waves.write(trace, out)
            if sum(line.startswith("TOP.") for line in out.read_text().splitlines()) < 60:
                yield f"{operation}: the save file lacks signals"
    page = (DOC / "walk.md").read_text()
    if walk.with_table(page, build / "mlkem768-encaps.vcd") != page:
        yield "the table of doc/walk.md is that of another core: make hw-schedule"


if __name__ == "__main__":
    found = list(faults(pathlib.Path(sys.argv[1])))
    print(*found, sep="\n")
    sys.exit(bool(found))
