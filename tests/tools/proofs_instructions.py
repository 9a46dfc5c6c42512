# SPDX-License-Identifier: Apache-2.0
"""What tests that compare single instructions with a processor share: drawn words, flags, differences."""


def drawn_words(draw, sizes, count, small):
    """Returns `count` bytes of words, all of one of the sizes, each of which is extreme, below `small`, or any."""
    size = draw.choice(sizes)
    extremes = [(value % (1 << 8 * size)).to_bytes(size, "little") for value in (0, -1, 1 << 8 * size - 1)]
    return b"".join(draw.choice((*extremes, draw.randrange(small).to_bytes(size, "little"), draw.randbytes(size)))
                    for _ in range(count // size))


def flags_meet(condition, flags):
    """Returns whether the flags N, Z, C and V of an Arm, the highest bit first, meet a condition."""
    n, z, c, v = (flags >> bit & 1 for bit in (3, 2, 1, 0))
    return {"eq": z, "ne": not z, "mi": n, "pl": not n, "cs": c, "hs": c, "cc": not c, "lo": not c,
            "hi": c and not z, "ls": not c or z, "vs": v, "vc": not v, "lt": n != v, "ge": n == v,
            "gt": n == v and not z, "le": n != v or z}[condition]


def differences(compared, processor):
    """Returns which of (what it is, the machine's term, the processor's value) are not equal."""
    return [f"{what}: {term} by the machine, {value:#x} by {processor}" for what, term, value in compared
            if term.value != value]
