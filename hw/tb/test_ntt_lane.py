# SPDX-License-Identifier: Apache-2.0
"""Compares a lane with the model: transforms of both kinds, mixed, without gaps and with gaps of many lengths."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from model import ring

LATENCY = 7 * 5 + 63  # seven butterflies of five cycles, and the FIFOs


async def reset(dut):
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="ns").start())
    dut.start_i.value = 0
    dut.rst_ni.value = 0
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


async def feed(dut, frames):
    """Feeds frames and returns the cycle in which each began. A frame: (gap before it, is it an INTT, 64 pairs)."""
    begun, now = [], 0
    for gap, inverse, pairs in frames:
        dut.start_i.value = 0
        for _ in range(gap):
            await FallingEdge(dut.clk_i)
            now += 1
        begun.append(now)
        for i, (a, b) in enumerate(pairs):
            dut.start_i.value = int(i == 0)
            dut.transform_i.value = int(inverse) if i == 0 else random.getrandbits(1)
            dut.a_i.value, dut.b_i.value = a, b
            await FallingEdge(dut.clk_i)
            now += 1
    dut.start_i.value = 0
    for _ in range(LATENCY + 70):
        await FallingEdge(dut.clk_i)
    return begun


async def collect(dut, frames):
    """Waits for `frames` frames and returns [(cycle of its first pair, transform_o, pairs)] of them."""
    found, now = [], 0
    pairs, left = [], 0
    while len(found) < frames or left:
        if int(dut.start_o.value):
            assert left == 0, "a frame began within another"
            pairs, left = [], 64
            found.append((now, int(dut.transform_o.value), pairs))
        if left:
            pairs.append((int(dut.a_o.value), int(dut.b_o.value)))
            left -= 1
        await FallingEdge(dut.clk_i)
        now += 1
    return found


async def check(dut, kinds, sequences=None):
    """Sends frames through the lane and compares what leaves with the model. kinds: (gap, inverse) of each frame.
    sequences: the coefficients of each frame; without them they are random."""
    await reset(dut)
    frames = []
    for n, (gap, inverse) in enumerate(kinds):
        sequence = sequences[n] if sequences else [random.randrange(ring.Q) for _ in range(128)]
        frames.append((gap, inverse, ring.lane_input(sequence, inverse)))
    watcher = cocotb.start_soon(collect(dut, len(frames)))
    begun = await feed(dut, frames)
    found = await watcher
    for (_, inverse, pairs), entered, (left, kind, got) in zip(frames, begun, found, strict=True):
        assert kind == inverse
        assert left - entered == LATENCY, left - entered
        assert got == ring.lane(pairs, inverse)


@cocotb.test()
async def frames_that_follow_each_other(dut):
    await check(dut, [(0, n % 2) for n in range(6)] + [(0, n // 2 % 2) for n in range(6)])


@cocotb.test()
async def frames_with_gaps(dut):
    await check(dut, [(gap, random.getrandbits(1)) for gap in [*range(1, 12), 31, 32, 33, 63, 64, 65, 127]])


@cocotb.test()
async def extreme_coefficients(dut):
    top = ring.Q - 1
    rows = [[0] * 128, [top] * 128, [top, 0] * 64, [0, top] * 64, [1] + [0] * 127, [0] * 127 + [top]]
    await check(dut, [(0, inverse) for inverse in (0, 1) for _ in rows], rows * 2)


def image(place, inverse):
    """Returns what [FIPS203, section 4.3] makes of the unit vector `place` of 128 even, or odd, coefficients: powers of
    zeta^(2 BitRev7(i) + 1), the zeros of the 128 factors, or for the inverse a column of the inverse matrix."""
    zeros = [pow(ring.ZETA, 2 * ring.bit_reverse(i, 7) + 1, ring.Q) for i in range(128)]
    if inverse:
        return [pow(zeros[place], -i, ring.Q) * pow(128, -1, ring.Q) % ring.Q for i in range(128)]
    return [pow(zero, place, ring.Q) for zero in zeros]


@cocotb.test()
async def unit_vectors_have_the_standards_images(dut):
    """The lane's control does not depend on its coefficients, and its butterflies are linear modulo Q (hw/formal, proof
    "butterfly"). So it is a linear map, which the images of all unit vectors determine."""
    await reset(dut)
    for inverse in (False, True):
        units = [[int(i == place) for i in range(128)] for place in range(128)]
        frames = [(0, inverse, ring.lane_input(unit, inverse)) for unit in units]
        watcher = cocotb.start_soon(collect(dut, len(frames)))
        await feed(dut, frames)
        for place, (_, _, pairs) in enumerate(await watcher):
            assert ring.lane_output(pairs, inverse) == image(place, inverse), (place, inverse)
