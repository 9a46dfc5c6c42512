# SPDX-License-Identifier: Apache-2.0
"""Compares the published core's design with the model, over its bus: transforms, and key generation, encryption and
decryption of the CPA-secure scheme [FIPS203, Alg 13-15]. The tests make A, s, e and the message themselves."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from model import codec, ring

Q = ring.Q
KEYGEN, ENCRYPT, DECRYPT, NTT, INTT = 1, 2, 3, 4, 5
A, S, E, T = 0x4000, 0x8000, 0xC000, 0x10000
STATUS, K, CYCLES, MESSAGE = 0, 4, 8, 0x20


def uniform():
    return [random.randrange(Q) for _ in range(256)]


def noise():
    return [(random.getrandbits(2).bit_count() - random.getrandbits(2).bit_count()) % Q for _ in range(256)]


def add(*polys):
    return [sum(values) % Q for values in zip(*polys, strict=True)]


def dot(row, column):
    return add(*(ring.base_multiply(a, b) for a, b in zip(row, column, strict=True)))


class Core:
    def __init__(self, dut):
        self.dut = dut

    async def start(self):
        cocotb.start_soon(Clock(self.dut.clk_i, 2, unit="ns").start())
        for name in ("awvalid", "wvalid", "arvalid"):
            getattr(self.dut, f"{name}_i").value = 0
        self.dut.bready_i.value = self.dut.rready_i.value = 1
        self.dut.rst_ni.value = 0
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    async def write(self, address, value):
        self.dut.awvalid_i.value = self.dut.wvalid_i.value = 1
        self.dut.awaddr_i.value, self.dut.wdata_i.value = address, value
        await cocotb.triggers.ReadOnly()
        assert int(self.dut.awready_o.value) and int(self.dut.wready_o.value)
        await FallingEdge(self.dut.clk_i)
        self.dut.awvalid_i.value = self.dut.wvalid_i.value = 0
        assert int(self.dut.bvalid_o.value) and int(self.dut.bresp_o.value) == 0

    async def read(self, address):
        self.dut.arvalid_i.value = 1
        self.dut.araddr_i.value = address
        await FallingEdge(self.dut.clk_i)
        self.dut.arvalid_i.value = 0
        while not int(self.dut.rvalid_o.value):
            await FallingEdge(self.dut.clk_i)
        value = int(self.dut.rdata_o.value)
        await FallingEdge(self.dut.clk_i)
        return value

    async def put(self, bank, slot, poly):
        for i in range(128):
            await self.write(bank + 512 * slot + 4 * i, poly[2 * i] | poly[2 * i + 1] << 16)

    async def get(self, bank, slot):
        words = [await self.read(bank + 512 * slot + 4 * i) for i in range(128)]
        return [half for word in words for half in (word & 0xFFFF, word >> 16)]

    async def command(self, number):
        """Runs a command. Returns the cycles that it took."""
        await self.write(STATUS, number)
        while await self.read(STATUS):
            pass
        return await self.read(CYCLES)


@cocotb.test()
async def transforms(dut):
    core = Core(dut)
    await core.start()
    await core.write(K, 2)
    for polys in ([uniform() for _ in range(3)], [[0] * 256, [Q - 1] * 256, [1] + [0] * 255]):
        for slot in (0, 1):
            await core.put(S, slot, polys[slot])
        assert await core.command(NTT) == 2 * 256 + 175
        assert [await core.get(S, slot) for slot in (0, 1)] == [ring.ntt(poly) for poly in polys[:2]]
        for slot, poly in enumerate(polys):
            await core.put(T, slot, poly)
        await core.command(INTT)
        assert [await core.get(T, slot) for slot in range(3)] == [ring.inverse_ntt(poly) for poly in polys]


@cocotb.test()
async def scheme(dut):
    core = Core(dut)
    await core.start()
    for k in (2, 3, 4):
        matrix = [[uniform() for _ in range(k)] for _ in range(k)]
        secret, error = [noise() for _ in range(k)], [noise() for _ in range(k)]
        await core.write(K, k)
        for i in range(k):
            for j in range(k):
                await core.put(A, 4 * i + j, matrix[i][j])
            await core.put(S, i, secret[i])
            await core.put(E, i, error[i])
        cycles = [await core.command(KEYGEN)]
        secret = [ring.ntt(poly) for poly in secret]
        public = [add(dot(matrix[i], secret), ring.ntt(error[i])) for i in range(k)]
        assert [await core.get(S, i) for i in range(k)] == secret
        assert await core.get(E, 0) == ring.ntt(error[0]) and await core.get(A, k - 1) == matrix[0][k - 1]
        assert [await core.get(T, i) for i in range(k)] == public

        message = random.getrandbits(256)
        blind, error = [noise() for _ in range(k)], [noise() for _ in range(k + 1)]
        for i in range(k):
            await core.put(A, 16 + i, public[i])
            await core.put(S, i, blind[i])
        for i in range(k + 1):
            await core.put(E, i, error[i])
        for i in range(8):
            await core.write(MESSAGE + 4 * i, message >> 32 * i & 0xFFFFFFFF)
        cycles.append(await core.command(ENCRYPT))
        blind = [ring.ntt(poly) for poly in blind]
        columns = [[matrix[j][i] for j in range(k)] for i in range(k)]
        u = [add(ring.inverse_ntt(dot(columns[i], blind)), error[i]) for i in range(k)]
        bits = [codec.decompress(message >> i & 1, 1) for i in range(256)]
        v = add(ring.inverse_ntt(dot(public, blind)), error[k], bits)
        assert [await core.get(T, i) for i in range(k + 1)] == [*u, v]
        assert sum([await core.read(MESSAGE + 4 * i) << 32 * i for i in range(8)]) == message

        for sent in (True, False):  # the ciphertext that was sent, then a random one
            if not sent:
                u, v = [uniform() for _ in range(k)], uniform()
            for i in range(k):
                await core.put(A, 16 + i, secret[i])
                await core.put(S, i, u[i])
            await core.put(E, k, v)
            cycles.append(await core.command(DECRYPT))
            product = ring.inverse_ntt(dot(secret, [ring.ntt(poly) for poly in u]))
            found = sum(codec.compress((x - y) % Q, 1) << i for i, (x, y) in enumerate(zip(v, product, strict=True)))
            assert sum([await core.read(MESSAGE + 4 * i) << 32 * i for i in range(8)]) == found
            assert not sent or found == message
        assert cycles[2] == cycles[3]
        dut._log.info("k = %d: key generation %d, encryption %d, decryption %d cycles", k, *cycles[:3])


@cocotb.test()
async def commands_that_do_nothing(dut):
    core = Core(dut)
    await core.start()
    await core.write(K, 3)
    for value in (0, 1, 5):
        await core.write(K, value)
    assert await core.read(K) == 3
    for value in (0, 6, 7):
        await core.write(STATUS, value)
        assert await core.read(STATUS) == 0
    await core.write(STATUS, NTT)
    await core.write(K, 2)  # this write and the next come while a command runs
    await core.write(STATUS, KEYGEN)
    while await core.read(STATUS):
        pass
    assert await core.read(CYCLES) == 3 * 256 + 175 and await core.read(K) == 3


@cocotb.test()
async def answers_that_wait(dut):
    core = Core(dut)
    await core.start()
    dut.bready_i.value = dut.rready_i.value = 0
    await core.write(K, 4)
    dut.awvalid_i.value = dut.wvalid_i.value = dut.arvalid_i.value = 1
    dut.awaddr_i.value = dut.araddr_i.value = K
    dut.wdata_i.value = 2
    for _ in range(5):
        await FallingEdge(dut.clk_i)
        assert int(dut.bvalid_o.value) and not int(dut.awready_o.value) and not int(dut.wready_o.value)
    assert int(dut.rvalid_o.value) and int(dut.rdata_o.value) == 4 and not int(dut.arready_o.value)
    dut.arvalid_i.value = 0
    dut.bready_i.value = dut.rready_i.value = 1
    await FallingEdge(dut.clk_i)  # the first answer leaves, and the second write enters
    dut.awvalid_i.value = dut.wvalid_i.value = 0
    assert int(dut.bvalid_o.value) and not int(dut.rvalid_o.value)
    await FallingEdge(dut.clk_i)
    assert not int(dut.bvalid_o.value)
    assert await core.read(K) == 2
