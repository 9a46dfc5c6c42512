# SPDX-License-Identifier: Apache-2.0
"""Compares words packed from quads with [FIPS203, Alg 5], with and without gaps, one polynomial after the other."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

from model import codec


@cocotb.test()
async def polynomials(dut):
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="ns").start())
    dut.valid_i.value = 0
    dut.clear_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    for index, d in enumerate(codec.WIDTHS):
        dut.width_i.value = index
        for often in (1, 0.5):
            values = [random.getrandbits(d) for _ in range(256)]
            out, at = b"", 0
            while at < 256:
                valid = random.random() < often
                dut.valid_i.value = int(valid)
                dut.quad_i.value = sum((value << 12 - d | random.getrandbits(12 - d)) << 12 * i
                                       for i, value in enumerate(values[at:at + 4]))
                await ReadOnly()
                if int(dut.valid_o.value):
                    out += int(dut.word_o.value).to_bytes(8, "little")
                at += 4 * valid
                await FallingEdge(dut.clk_i)
            assert out == codec.encode(values, d), d
