# SPDX-License-Identifier: Apache-2.0
"""Searches for bytes in the memory of another process."""

import mmap

import numpy as np

HEAD = 8  # bytes that select candidate positions; no needle is shorter


class Needles:
    """Byte strings to search for at once: one search for each would take minutes."""

    def __init__(self, needles):
        self.by_head = {}
        for needle in needles:
            self.by_head.setdefault(int.from_bytes(needle[:HEAD], "little"), []).append(needle)
        self.heads = np.array(list(self.by_head), "<u8")
        self.prefixes = np.zeros(1 << 16, bool)
        self.prefixes[self.heads & 0xFFFF] = True

    def within(self, data):
        """Returns the needles that occur in `data`."""
        whole, found = np.frombuffer(data, np.uint8), set()
        if len(data) < HEAD:
            return found
        windows = np.lib.stride_tricks.sliding_window_view(whole, HEAD)
        for odd in (0, 1):
            pairs = np.frombuffer(data, "<u2", (len(data) - odd) // 2, odd)
            places = 2 * np.flatnonzero(self.prefixes[pairs]) + odd
            places = places[places < len(windows)]
            heads = windows[places].view("<u8").ravel()
            chosen = np.isin(heads, self.heads)
            for place, head in zip(places[chosen].tolist(), heads[chosen].tolist()):
                found |= {needle for needle in self.by_head[head] if data.startswith(needle, place)}
        return found


def in_use(pagemap, begin, end):
    """Returns (begin, end) of each run of pages between two addresses that were ever written or read. Allocators
    reserve much more than they use."""
    pagemap.seek(begin // mmap.PAGESIZE * 8)
    entries = np.frombuffer(pagemap.read((end - begin) // mmap.PAGESIZE * 8), "<u8")
    held = entries >> np.uint64(62) != 0  # in memory, or swapped
    edges = np.flatnonzero(np.diff(np.concatenate(([False], held, [False]))))
    return (edges.reshape(-1, 2) * mmap.PAGESIZE + begin).tolist()


def writable_memory(pid):
    """Yields (name, bytes) of a process's writable memory, by mapping, except for a GPU driver's mappings."""
    with (open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory,
          open(f"/proc/{pid}/pagemap", "rb", 0) as pagemap):
        for line in maps:
            span, mode, *_ = line.split()
            if not mode.startswith("rw") or "[v" in line:
                continue
            for begin, end in in_use(pagemap, *(int(x, 16) for x in span.split("-"))):
                try:
                    memory.seek(begin)
                    data = memory.read(end - begin)
                except OSError:
                    continue
                yield line.strip(), data


def occurrences(pid, needles):
    """Returns {needle: names of the mappings of a process that hold it}, for needles of at least eight bytes."""
    sought, found = Needles(needles), {}
    for name, data in writable_memory(pid):
        for needle in sought.within(data):
            found.setdefault(needle, []).append(name)
    return found
