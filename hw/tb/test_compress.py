# SPDX-License-Identifier: Apache-2.0
"""Compares the module with [FIPS203, 4.7] for every value and width, and tests that it passes coefficients that are not
compressed. The second coefficient goes through the values backwards."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from every_value import check
from model import codec, ring


def both(value):
    return value | (ring.Q - 1 - value) << 12


@cocotb.test()
async def all_values(dut):
    def drive(value, d):
        dut.width_i.value, dut.x_i.value = codec.WIDTHS.index(d), both(value)

    def seen(d):
        y = int(dut.y_o.value)
        return (y & 0xfff) >> 12 - d, y >> 24 - d

    def expected(value, d):
        return codec.compress(value, d), codec.compress(ring.Q - 1 - value, d)

    await check(dut, drive, seen, 2, lambda d: ring.Q, expected)


@cocotb.test()
async def whole_coefficients_pass(dut):
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="ns").start())
    dut.width_i.value = codec.WIDTHS.index(12)
    for value in range(ring.Q):
        dut.x_i.value = both(value)
        await FallingEdge(dut.clk_i)
        if value >= 1:
            assert int(dut.y_o.value) == both(value - 1)
