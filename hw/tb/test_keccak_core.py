# SPDX-License-Identifier: Apache-2.0
"""Compares the sponge with hashlib: every function of FIPS 202 that ML-KEM uses, messages of many lengths."""

import hashlib
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

# name: (rate in lanes, first byte of the padding)
FUNCTIONS = {"sha3_512": (9, 6), "sha3_256": (17, 6), "shake_256": (17, 0x1F), "shake_128": (21, 0x1F)}


def reference(name, message, count):
    function = getattr(hashlib, name)(message)
    return function.digest(count) if name.startswith("shake") else function.digest()


class Sponge:
    def __init__(self, dut):
        self.dut = dut

    async def start(self):
        cocotb.start_soon(Clock(self.dut.clk_i, 2, unit="ns").start())
        for name in ("first", "absorb", "capture", "permute", "write", "next"):
            getattr(self.dut, f"{name}_i").value = 0
        self.dut.rst_ni.value = 0
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        await self.pulse(first=1, absorb=1)  # clears the input block, which the reset does not

    async def pulse(self, **values):
        """Runs one cycle with these inputs, then clears those that say what to do."""
        for name, value in values.items():
            getattr(self.dut, f"{name}_i").value = value
        await FallingEdge(self.dut.clk_i)
        for name in values:
            if name not in ("write_lane", "word"):
                getattr(self.dut, f"{name}_i").value = 0

    async def wait(self):
        """Waits until the permutation ends. Returns the cycles that it took."""
        cycles = 0
        while int(self.dut.busy_o.value):
            await FallingEdge(self.dut.clk_i)
            cycles += 1
        return cycles

    async def words(self, count):
        out = b""
        for _ in range(count):
            out += int(self.dut.word_o.value).to_bytes(8, "little")
            await self.pulse(next=1)
        return out

    async def matrix_block(self):
        """Returns a whole block of SHAKE128; a core with two lanes gives 96 bits of it in a cycle."""
        if int(self.dut.Lanes.value) == 1:
            return await self.words(21)
        out = b""
        for _ in range(14):
            out += int(self.dut.wide_word_o.value).to_bytes(12, "little")
            await self.pulse(next=1)
        return out

    async def hash(self, name, message, count):
        """Absorbs the message block by block and returns `count` bytes of output. A lane of zeros need not be written,
        as a block is cleared when it is absorbed."""
        lanes, padding = FUNCTIONS[name]
        padded = bytearray(message) + bytes([padding]) + bytes(-(len(message) + 1) % (8 * lanes))
        padded[-1] |= 0x80
        for begin in range(0, len(padded), 8 * lanes):
            for lane in range(lanes):  # while the permutation of the block before runs
                word = int.from_bytes(padded[begin + 8 * lane:begin + 8 * lane + 8], "little")
                if word:
                    await self.pulse(write=1, write_lane=lane, word=word)
            await self.wait()
            await self.pulse(first=int(begin == 0), absorb=1, permute=1)
        assert await self.wait() == 24 // int(self.dut.RoundsPerCycle.value)
        return await self.squeeze(name, count)

    async def squeeze(self, name, count):
        """Returns `count` bytes of the output. The next permutation runs while a block leaves."""
        lanes, out = FUNCTIONS[name][0], b""
        while len(out) < count:
            await self.pulse(capture=1, permute=1)
            out += await self.words(min(lanes, (count - len(out) + 7) // 8))
            await self.wait()
        return out[:count]


@cocotb.test()
async def messages_of_all_lengths(dut):
    sponge = Sponge(dut)
    await sponge.start()
    for name, (lanes, _) in FUNCTIONS.items():
        block = 8 * lanes
        for length in (0, 1, 7, 8, 33, block - 2, block - 1, block, block + 1, 3 * block - 1):
            message = random.randbytes(length)
            count = {"sha3_512": 64, "sha3_256": 32}.get(name, 2 * block + 5)
            assert await sponge.hash(name, message, count) == reference(name, message, count), (name, length)


@cocotb.test()
async def blocks_for_a_matrix(dut):
    sponge = Sponge(dut)
    await sponge.start()
    message = random.randbytes(34)
    wanted = reference("shake_128", message, 3 * 168)
    await sponge.hash("shake_128", message, 0)
    for begin in range(0, len(wanted), 168):
        await sponge.pulse(capture=1, permute=1)
        assert await sponge.matrix_block() == wanted[begin:begin + 168], begin
        await sponge.wait()
