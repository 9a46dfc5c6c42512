# SPDX-License-Identifier: Apache-2.0
"""Compares rejection sampling with [FIPS203, Alg 7], with a consumer and a producer that pause at random."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from model import ring


async def run(dut, candidates, often_valid, often_ready):
    """Returns the coefficients that come out. often_valid, often_ready: the chance, in each cycle, that the producer
    has candidates, and that the consumer takes coefficients."""
    dut.clear_i.value = 1
    dut.valid_i.value = 0
    dut.ready_i.value = 0
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    found, at = [], 0
    width = int(dut.Candidates.value)
    while at < len(candidates):
        valid = random.random() < often_valid
        dut.valid_i.value = int(valid)
        dut.ready_i.value = int(random.random() < often_ready)
        dut.candidates_i.value = sum(value << 12 * i for i, value in enumerate(candidates[at:at + width]))
        await cocotb.triggers.ReadOnly()
        if int(dut.valid_o.value) and int(dut.ready_i.value):
            word = int(dut.coeffs_o.value)
            found += [word >> 12 * i & 0xFFF for i in range(width)]
        at += width if valid and int(dut.ready_o.value) else 0
        await FallingEdge(dut.clk_i)
    return found


@cocotb.test()
async def accepted_in_order(dut):
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="ns").start())
    sources = [
        [random.randrange(4096) for _ in range(1344)],
        [ring.Q - 1] * 400,
        [ring.Q] * 400 + [1] * 8,
        [random.choice([ring.Q - 1, ring.Q, 0, 4095]) for _ in range(2000)],
    ]
    for candidates in sources:
        for often_valid, often_ready in ((1, 1), (0.5, 1), (1, 0.5), (0.3, 0.3)):
            found = await run(dut, candidates, often_valid, often_ready)
            wanted = [value for value in candidates if value < ring.Q]
            assert found == wanted[:len(found)], (len(found), len(wanted))
            assert len(wanted) - len(found) < 2 * int(dut.Candidates.value), (len(found), len(wanted))
