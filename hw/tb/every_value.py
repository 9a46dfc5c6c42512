# SPDX-License-Identifier: Apache-2.0
"""Tests a module of the codec with every value, for the tests of `compress` and `decompress`."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from model import codec


async def check(dut, drive, seen, latency, values, expected):
    """Feeds the values below values(d) for every d below 12, one in every cycle, by drive(value, d). `latency` cycles
    later seen(d) must be expected(value, d)."""
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="ns").start())
    cases = [(d, value) for d in codec.WIDTHS if d < 12 for value in range(values(d))]
    for now in range(len(cases) + latency):
        if now < len(cases):
            d, value = cases[now]
            drive(value, d)
        await FallingEdge(dut.clk_i)
        if latency <= now + 1 < len(cases) + latency:
            d, value = cases[now + 1 - latency]
            got = seen(d)
            assert got == expected(value, d), (d, value, got)
