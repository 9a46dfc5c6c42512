# SPDX-License-Identifier: Apache-2.0
"""Compares the module with [FIPS203, 4.8] for every value and width, and tests that it passes coefficients that are not
compressed."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from every_value import check
from model import codec, ring


@cocotb.test()
async def all_values(dut):
    def drive(value, d):
        dut.whole_i.value, dut.y_i.value = 0, value << (11 - d)

    await check(dut, drive, lambda d: int(dut.x_o.value), 2, lambda d: 1 << d, codec.decompress)


@cocotb.test()
async def whole_coefficients_pass(dut):
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="ns").start())
    dut.whole_i.value = 1
    for value in range(ring.Q):
        dut.y_i.value = value
        await FallingEdge(dut.clk_i)
        if value >= 1:
            assert int(dut.x_o.value) == value - 1
