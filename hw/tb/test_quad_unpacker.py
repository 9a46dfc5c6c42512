# SPDX-License-Identifier: Apache-2.0
"""Compares quads unpacked from words with [FIPS203, Alg 6]; the words pause at random."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

from model import codec


async def unpack(dut, data, quads, often, step, low):
    """Returns the values, which begin at bit `low` of each coefficient, and the cycles until the last of them."""
    found, at, cycles = [], 0, 0
    while len(found) < 4 * quads:
        valid = at < len(data) and random.random() < often
        dut.valid_i.value = int(valid)
        dut.word_i.value = int.from_bytes(data[at:at + 8], "little") if valid else random.getrandbits(64)
        await ReadOnly()
        if int(dut.valid_o.value):
            quad = int(dut.quad_o.value)
            found += [(quad >> 12 * i & 0xFFF) >> low for i in range(4 * step)]
        at += 8 * (valid and int(dut.ready_o.value))
        cycles += 1
        await FallingEdge(dut.clk_i)
    return found, cycles


@cocotb.test()
async def polynomials(dut):
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="ns").start())
    dut.valid_i.value = 0
    dut.clear_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    for index, d in enumerate(codec.WIDTHS):
        dut.width_i.value = index
        steps = (1, 2) if int(dut.Quads.value) == 2 and d not in (10, 11) else (1,)
        for often, step in ((often, step) for often in (1, 0.4) for step in steps):
            dut.two_i.value = int(step == 2)
            values = [random.getrandbits(d) for _ in range(512)]
            found, cycles = await unpack(dut, codec.encode(values, d), 128, often, step, max(11 - d, 0))
            assert found == values, (d, step)
            # in every cycle the module gives as many quads as it may, or takes a word
            assert often != 1 or cycles <= max(128 // step, 8 * d) + 2, (d, step, cycles)
