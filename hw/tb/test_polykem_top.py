# SPDX-License-Identifier: Apache-2.0
"""Drives the whole core through cocotbext-axi, whose masters, source and sink know AXI but nothing of the core. In all
cycles of all tests, what the core offers on a bus must stay until it is taken."""

import itertools
import json
import logging
import pathlib
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, Timer, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiStreamBus, AxiStreamSink, AxiStreamSource
from model import codec, ring

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests/data"
ID, VERSION, PARAMS, CMD, STATUS, ERR, IRQ_EN, ZEROIZE, CYCLES, OCCUPIED = range(0, 0x28, 4)
KEYGEN, ENCAPS, DECAPS, NTT, INTT, PWM, SHAKE = range(1, 8)
BUSY, ENDED = 1, 2
BAD_COMMAND, ABORTED = 8, 16
LIMIT_NS = 100_000  # 50,000 cycles, in which every command ends
INPUTS = ("s_axi_awvalid", "s_axi_awaddr", "s_axi_wvalid", "s_axi_wdata", "s_axi_bready", "s_axi_arvalid",
          "s_axi_araddr", "s_axi_rready", "s_axis_tvalid", "s_axis_tdata", "s_axis_tlast", "m_axis_tready")
OUTPUTS = ("irq", "s_axi_awready", "s_axi_wready", "s_axi_bvalid", "s_axi_bresp", "s_axi_arready", "s_axi_rvalid",
           "s_axi_rdata", "s_axi_rresp", "s_axis_tready", "m_axis_tvalid", "m_axis_tdata", "m_axis_tlast")


def after(cycles):
    """Yields whether to pause in each cycle: only in the first `cycles`."""
    yield from itertools.repeat(True, cycles)
    yield from itertools.repeat(False)


def at_times(of_256):
    """Yields pauses in random cycles, on average in `of_256` of 256."""
    while True:
        yield random.randrange(256) < of_256


async def keeps(dut, valid, ready, *payload):
    """Fails if the core withdraws or changes what it offers untaken; ZEROIZE may withdraw a word of output."""
    offered = None
    while True:
        await RisingEdge(dut.aclk)
        now = tuple(int(getattr(dut, name).value) for name in payload) if int(getattr(dut, valid).value) else None
        assert offered is None or now == offered, f"{valid}: {offered} became {now} before {ready}"
        ends = not int(dut.aresetn.value) or (valid == "m_axis_tvalid" and int(dut.u_registers.abort_o.value))
        offered = None if ends or int(getattr(dut, ready).value) else now


async def shows_zero(dut):
    """Fails if the output stream shows anything but zero without tvalid."""
    while True:
        await RisingEdge(dut.aclk)
        if not int(dut.m_axis_tvalid.value):
            assert int(dut.m_axis_tdata.value) == 0 and int(dut.m_axis_tlast.value) == 0


class Host:
    """The other side of the core's buses."""

    def __init__(self, dut):
        logging.getLogger("cocotb.polykem_top").setLevel(logging.ERROR)
        self.dut = dut
        self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), dut.aclk, dut.aresetn, False)
        self.source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.aclk, dut.aresetn, False)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.aclk, dut.aresetn, False)
        write, read = self.registers.write_if, self.registers.read_if
        self.channels = [write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel]

    async def reset(self):
        """Resets the core in the middle of a cycle and waits until it has overwritten its memories."""
        self.dut.aresetn.value = 1
        await Timer(3, unit="ns")
        self.dut.aresetn.value = 0
        await Timer(7, unit="ns")
        await FallingEdge(self.dut.aclk)
        self.dut.aresetn.value = 1
        while await self.read(STATUS) & BUSY:
            pass

    async def start(self):
        cocotb.start_soon(Clock(self.dut.aclk, 2, unit="ns").start())
        await self.reset()
        for signals in (("s_axi_bvalid", "s_axi_bready", "s_axi_bresp"),
                        ("s_axi_rvalid", "s_axi_rready", "s_axi_rdata", "s_axi_rresp"),
                        ("m_axis_tvalid", "m_axis_tready", "m_axis_tdata", "m_axis_tlast")):
            cocotb.start_soon(keeps(self.dut, *signals))
        cocotb.start_soon(shows_zero(self.dut))
        await self.write(STATUS, ENDED)

    async def read(self, address):
        return await with_timeout(self.registers.read_dword(address), LIMIT_NS, "ns")

    async def write(self, address, value):
        await with_timeout(self.registers.write_dword(address, value), LIMIT_NS, "ns")

    def pause(self, generator):
        """Gives every channel and stream pauses that generator() yields; None: no pauses."""
        for end in (*self.channels, self.source, self.sink):
            end.set_pause_generator(generator and generator())
            end.pause = False

    async def end(self):
        """Waits for the end of a command and returns ERR."""
        while not await self.read(STATUS) & ENDED:
            pass
        errors = await self.read(ERR)
        await self.write(STATUS, ENDED)
        return errors

    async def run(self, command, params, data, input_first=True):
        """Runs a command that must end without an error and returns its output."""
        await self.write(PARAMS, params)
        if input_first:
            self.source.send_nowait(data)
        await self.write(CMD, command)
        if not input_first:
            self.source.send_nowait(data)
        errors = await self.end()
        assert errors == 0, f"command {command} ended with ERR {errors}"
        packet = await with_timeout(self.sink.recv(), LIMIT_NS, "ns")
        assert self.sink.empty(), "more than one packet"
        return bytes(packet.tdata)


async def host_of(dut):
    host = Host(dut)
    await host.start()
    return host


def known_answer(name):
    entry = json.loads((DATA / f"{name}.json").read_text())["counts"][0]
    value = {key: bytes.fromhex(entry[key]) for key in ("pk", "sk", "ct", "ss")}
    coins, m = "".join(entry["keypair_draws"]), entry["encaps_draws"][0]
    return value | {"coins": bytes.fromhex(coins), "m": bytes.fromhex(m)}


async def whole_exchange(host, name):
    """Runs KEYGEN, ENCAPS and DECAPS of a set and compares them with its first known answer."""
    answer = known_answer(name)
    params = {"512": 2, "768": 3, "1024": 4}[name[5:]] | 8 * name.startswith("kyber")
    assert await host.run(KEYGEN, params, answer["coins"]) == answer["sk"]
    assert await host.run(ENCAPS, params, answer["m"] + answer["pk"]) == answer["ct"] + answer["ss"]
    assert await host.run(DECAPS, params, answer["ct"] + answer["sk"], input_first=False) == answer["ss"]


async def one_transform(host, **options):
    """Runs the shortest commands: two transforms, the second of which undoes the first."""
    poly = [random.randrange(ring.Q) for _ in range(256)]
    packed = codec.encode(poly, 12)
    assert await host.run(NTT, 2, packed, **options) == codec.encode(ring.ntt(poly), 12)
    assert await host.run(INTT, 2, packed, **options) == codec.encode(ring.inverse_ntt(poly), 12)


@cocotb.test()
async def registers_with_channels_in_every_order(dut):
    """The address before, with and after the data, each ready before, with and after its valid. A command that were
    written twice would be refused the second time."""
    host = await host_of(dut)
    aw, w, b, ar, r = host.channels
    for address_late, data_late, answer_late in itertools.product(range(4), repeat=3):
        value = random.getrandbits(24)
        for channel, late in ((aw, address_late), (w, data_late), (b, answer_late), (ar, address_late),
                              (r, answer_late)):
            channel.set_pause_generator(after(late))
        await host.write(PARAMS, value)
        assert await host.read(PARAMS) == value
        await host.write(PARAMS, 1 << 16 | 1 << 8 | 1 << 4)
        for channel, late in ((aw, data_late), (w, answer_late), (b, address_late)):
            channel.set_pause_generator(after(late))
        await host.write(CMD, SHAKE)
        assert (await host.read(STATUS), await host.read(ERR)) == (BUSY, 0)
        host.source.send_nowait(bytes(8))
        assert await host.end() == 0
        await with_timeout(host.sink.recv(), LIMIT_NS, "ns")
    host.pause(None)
    assert await host.read(ID) == 0x504B454D and await host.read(VERSION) == 0x00010000


@cocotb.test()
async def reads_and_writes_at_once(dut):
    host = await host_of(dut)
    host.pause(lambda: at_times(100))
    for _ in range(50):
        value = random.getrandbits(24)
        reads = [cocotb.start_soon(host.read(random.choice((ID, VERSION)))) for _ in range(4)]
        await host.write(PARAMS, value)
        assert await host.read(PARAMS) == value
        assert all([await read in (0x504B454D, 0x00010000) for read in reads])


@cocotb.test()
async def streams_in_every_order(dut):
    """Input before and after its command, output ready before, with and long after its first word."""
    host = await host_of(dut)
    for input_first, in_late, out_late in itertools.product((True, False), (0, 1, 40), (0, 1, 200, 500)):
        host.source.set_pause_generator(after(in_late))
        host.sink.set_pause_generator(after(out_late))
        await one_transform(host, input_first=input_first)


@cocotb.test()
async def known_answers_without_pauses(dut):
    host = await host_of(dut)
    for name in ("mlkem512", "mlkem768", "mlkem1024"):
        await whole_exchange(host, name)


@cocotb.test()
async def known_answers_with_random_pauses(dut):
    host = await host_of(dut)
    for name, pauses in (("mlkem512", 128), ("mlkem768", 40), ("mlkem1024", 100), ("kyber768", 200)):
        host.pause(lambda pauses=pauses: at_times(pauses))
        await whole_exchange(host, name)


@cocotb.test()
async def bad_commands(dut):
    host = await host_of(dut)
    host.pause(lambda: at_times(60))
    for params, command in ((3, 0), (3, 8), (1, KEYGEN), (5, ENCAPS), (0, DECAPS), (1 << 16 | 3 << 4, SHAKE)):
        await host.write(PARAMS, params)
        await host.write(CMD, command)
        assert (await host.read(STATUS), await host.read(ERR)) == (0, BAD_COMMAND)
        await host.write(STATUS, ENDED)
    await host.write(PARAMS, 2)
    await host.write(CMD, NTT)
    await host.write(CMD, NTT)
    assert (await host.read(STATUS), await host.read(ERR)) == (BUSY, BAD_COMMAND)
    host.source.send_nowait(bytes(384))
    assert await host.end() == BAD_COMMAND
    assert bytes((await host.sink.recv()).tdata) == bytes(384)
    await one_transform(host)


@cocotb.test()
async def zeroize_ends_a_command(dut):
    """ZEROIZE before, while and after the input comes and while the output waits; no word leaves afterwards."""
    host = await host_of(dut)
    answer = known_answer("mlkem512")
    await host.write(IRQ_EN, 1)
    for wait in (0, 5, 100, 400, 1000, 1700, 3000):
        host.sink.pause = True
        await host.write(PARAMS, 2)
        await host.write(CMD, ENCAPS)
        host.source.send_nowait(answer["m"] + answer["pk"])
        await Timer(2 * wait, unit="ns") if wait else None
        await host.write(ZEROIZE, 1)
        assert await host.read(STATUS) == BUSY and not int(dut.irq.value)
        host.source.assert_reset(True)  # as a host that resets its DMA
        host.source.clear()
        host.source.assert_reset(False)
        host.sink.pause = False
        assert await host.end() == ABORTED
        assert host.sink.empty(), f"a packet left after ZEROIZE in cycle {wait}"
        host.sink.assert_reset(True)  # forgets the beginning of a packet
        host.sink.assert_reset(False)
        await one_transform(host)


@cocotb.test()
async def reset_ends_a_command(dut):
    host = await host_of(dut)
    answer = known_answer("mlkem512")
    for wait in (1, 50, 700):
        await host.write(PARAMS, 2)
        await host.write(CMD, DECAPS)
        host.source.send_nowait(answer["ct"] + answer["sk"])
        await Timer(2 * wait, unit="ns")
        await host.reset()
        host.source.clear()
        assert await host.end() == 0  # the overwriting after the reset
        await whole_exchange(host, "mlkem512")


@cocotb.test()
async def no_input_reaches_an_output_within_a_cycle(dut):
    """Flips every input of the buses in the middle of cycles and looks whether an output changes."""
    host = await host_of(dut)
    host.pause(lambda: at_times(100))
    exchange = cocotb.start_soon(whole_exchange(host, "mlkem512"))
    while not exchange.done():
        for _ in range(37):
            await FallingEdge(dut.aclk)
        before = {name: int(getattr(dut, name).value) for name in OUTPUTS}
        inputs = {name: int(getattr(dut, name).value) for name in INPUTS}
        for name, value in inputs.items():
            signal = getattr(dut, name)
            signal.value = ~value & ((1 << len(signal)) - 1)
            await Timer(10, unit="ps")
            now = {other: int(getattr(dut, other).value) for other in OUTPUTS}
            assert now == before, f"{name} reaches {[other for other in OUTPUTS if now[other] != before[other]]}"
            signal.value = value
        await ReadOnly()
    await exchange


@cocotb.test()
async def counters_of_cycles_wrap(dut):
    """CYCLES and OCCUPIED have 24 bits and count on from zero."""
    host = await host_of(dut)
    await host.write(PARAMS, 2)
    await host.write(CMD, NTT)
    await FallingEdge(dut.aclk)
    dut.u_registers.occupied_q.value = 2**24 - 100
    host.source.send_nowait(bytes(384))
    assert await host.end() == 0
    cycles, occupied = await host.read(CYCLES), await host.read(OCCUPIED)
    assert 0 < cycles < occupied < 1000, (cycles, occupied)
