# SPDX-License-Identifier: Apache-2.0
"""Compares products in the NTT domain, added to an accumulator, with [FIPS203, Alg 11]."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from model import ring

LATENCY = 10


def pack(coefficients):
    return sum(value << 12 * i for i, value in enumerate(coefficients))


async def multiply(dut, accumulator, a, b, begins=0, one=0):
    found = []
    dut.valid_i.value, dut.begins_i.value, dut.one_i.value = 1, begins, one
    for cycle in range(64 + LATENCY):
        if cycle < 64:
            dut.index_i.value = cycle
            for name, poly in (("accumulator", accumulator), ("a", a), ("b", b)):
                getattr(dut, f"{name}_i").value = pack(poly[4 * cycle:4 * cycle + 4])
        await FallingEdge(dut.clk_i)
        if cycle >= LATENCY - 1 and len(found) < 256:
            word = int(dut.result_o.value)
            found += [word >> 12 * i & 0xFFF for i in range(4)]
    return found


@cocotb.test()
async def beside_the_standard(dut):
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="ns").start())
    top = [ring.Q - 1] * 256
    cases = [(top, top, top), ([0] * 256, top, [1] * 256), (top, [0] * 256, top)]
    for _ in range(20):
        cases.append(tuple([random.randrange(ring.Q) for _ in range(256)] for _ in range(3)))
    for accumulator, a, b in cases:
        wanted = [(x + y) % ring.Q for x, y in zip(accumulator, ring.base_multiply(a, b), strict=True)]
        assert await multiply(dut, accumulator, a, b) == wanted
        wanted = ring.base_multiply(a, b)
        assert await multiply(dut, accumulator, a, b, begins=1) == wanted
        wanted = [(x + y) % ring.Q for x, y in zip(accumulator, a, strict=True)]
        assert await multiply(dut, accumulator, a, b, one=1) == wanted


@cocotb.test()
async def nothing_stays(dut):
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="ns").start())
    await multiply(dut, *[[ring.Q - 1] * 256] * 3)
    dut.valid_i.value = 0
    for _ in range(LATENCY):
        await FallingEdge(dut.clk_i)
    assert int(dut.result_o.value) == 0
