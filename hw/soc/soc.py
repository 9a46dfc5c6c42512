#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A LiteX system on a chip: a VexRiscv, memory, a UART, the core and a DMA for its streams. Writes Verilog to FOLDER.

    soc.py sim FOLDER       for bench.cpp, which simulates it
    soc.py ulx3s FOLDER     for the board ULX3S with an LFE5U-85F, at 25 MHz, with the constraints of its pins

The CPU runs firmware/main.c from a ROM of the FPGA. The core itself is not in the Verilog: its sources are added when
the system is simulated or synthesised."""

import argparse
import json
import logging
import os
import pathlib
import subprocess

import litex
from litex.build.generic_platform import Pins, Subsignal
from litex.build.sim import SimPlatform
from litex.gen import LiteXModule
from litex.soc.cores.dma import WishboneDMAReader, WishboneDMAWriter
from litex.soc.integration import export
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCCore
from litex.soc.interconnect import axi, stream, wishbone
from litex.soc.interconnect.csr import CSRStatus, CSRStorage
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import ClockSignal, Instance, ResetInserter, ResetSignal, Signal
from migen.genlib.io import CRG

HERE = pathlib.Path(__file__).resolve().parent
LITEX = pathlib.Path(litex.__file__).parent
ROM_BYTES, SRAM_BYTES = 0x4000, 0x4000
CORE_BASE = 0x90000000  # in the CPU's region without caches
CLOCK_HZ = 25_000_000
SIM_IO = [("clock", 0, Pins(1)),
          ("serial", 0, *(Subsignal(f"{side}_{name}", Pins(bits)) for side in ("source", "sink")
                          for name, bits in (("valid", 1), ("ready", 1), ("data", 8))))]
NAME = "polykem_soc"
COMPILER = "riscv64-unknown-elf-gcc"
FLAGS = ["-march=rv32i2p0", "-mabi=ilp32", "-Os", "-Wall", "-Wextra", "-ffreestanding", "-nostdlib", "-static"]


class StreamDma(LiteXModule):
    """Moves `in_bytes` bytes of memory to the core as a packet, and a packet of the core to `out_bytes` bytes of memory
    at most, once while `enable` is 1. At 0 it drops all words. Lengths are multiples of eight."""

    def __init__(self):
        self.in_base = CSRStorage(32)
        self.in_bytes = CSRStorage(16)
        self.out_base = CSRStorage(32)
        self.out_bytes = CSRStorage(16)
        self.enable = CSRStorage()
        self.out_words = CSRStatus(16)  # of 32 bits, that came
        self.read_bus, self.write_bus = wishbone.Interface(), wishbone.Interface()
        # Byte 0 of a word of memory is bits 7:0, as on the core's streams. LiteX calls this "big".
        self.reader = ResetInserter()(WishboneDMAReader(self.read_bus, endianness="big"))
        self.writer = ResetInserter()(WishboneDMAWriter(self.write_bus, endianness="big"))
        self.widen = ResetInserter()(stream.Converter(32, 64))
        self.narrow = ResetInserter()(stream.Converter(64, 32))
        self.reader.add_ctrl()
        self.writer.add_ctrl(ready_on_idle=0)
        for part in (self.reader, self.writer, self.widen, self.narrow):
            self.comb += part.reset.eq(~self.enable.storage)
        for part, base, size in ((self.reader, self.in_base, self.in_bytes),
                                 (self.writer, self.out_base, self.out_bytes)):
            self.comb += part.base.eq(base.storage), part.length.eq(size.storage), part.enable.eq(self.enable.storage)
        self.comb += self.out_words.status.eq(self.writer.offset)
        self.comb += self.reader.source.connect(self.widen.sink), self.narrow.source.connect(self.writer.sink)


class Core(LiteXModule):
    """polykem_top: its registers as an AXI4-Lite slave, its streams with a DMA, its interrupt."""

    def __init__(self):
        self.bus = bus = axi.AXILiteInterface(address_width=32, data_width=32)
        self.dma = dma = StreamDma()
        self.ev = EventManager()
        self.ev.core = EventSourceLevel()
        self.ev.finalize()
        self.comb += bus.b.resp.eq(0), bus.r.resp.eq(0)
        self.specials += Instance(
            "polykem_top", i_aclk=ClockSignal("sys"), i_aresetn=~ResetSignal("sys"), o_irq=self.ev.core.trigger,
            i_s_axi_awvalid=bus.aw.valid, o_s_axi_awready=bus.aw.ready, i_s_axi_awaddr=bus.aw.addr[:8],
            i_s_axi_wvalid=bus.w.valid, o_s_axi_wready=bus.w.ready, i_s_axi_wdata=bus.w.data,
            o_s_axi_bvalid=bus.b.valid, i_s_axi_bready=bus.b.ready, o_s_axi_bresp=Signal(2),
            i_s_axi_arvalid=bus.ar.valid, o_s_axi_arready=bus.ar.ready, i_s_axi_araddr=bus.ar.addr[:8],
            o_s_axi_rvalid=bus.r.valid, i_s_axi_rready=bus.r.ready, o_s_axi_rdata=bus.r.data, o_s_axi_rresp=Signal(2),
            i_s_axis_tvalid=dma.widen.source.valid, o_s_axis_tready=dma.widen.source.ready,
            i_s_axis_tdata=dma.widen.source.data, i_s_axis_tlast=dma.widen.source.last,
            o_m_axis_tvalid=dma.narrow.sink.valid, i_m_axis_tready=dma.narrow.sink.ready,
            o_m_axis_tdata=dma.narrow.sink.data, o_m_axis_tlast=dma.narrow.sink.last)


class System(SoCCore):
    """rom: the words of the firmware."""

    def __init__(self, platform, clock, uart, rom):
        self.crg = CRG(clock)
        super().__init__(platform, CLOCK_HZ, cpu_type="vexriscv", cpu_variant="minimal", uart_name=uart,
                         with_timer=False, integrated_rom_size=ROM_BYTES, integrated_rom_init=rom,
                         integrated_sram_size=SRAM_BYTES, ident="polykem", ident_version=False)
        self.polykem = Core()
        self.bus.add_slave("polykem", self.polykem.bus, SoCRegion(origin=CORE_BASE, size=0x1000, cached=False))
        self.bus.add_master("polykem_in", self.polykem.dma.read_bus)
        self.bus.add_master("polykem_out", self.polykem.dma.write_bus)
        self.irq.add("polykem")


def system(board, rom):
    """Returns the system of a board."""
    if board == "sim":
        platform = SimPlatform("SIM", SIM_IO, name=NAME)
        return System(platform, platform.request("clock"), "sim", rom)
    from litex_boards.platforms import radiona_ulx3s  # pylint: disable=import-outside-toplevel
    platform = radiona_ulx3s.Platform(device="LFE5U-85F", toolchain="trellis")
    return System(platform, platform.request("clk25"), "serial", rom)


def known_answer():
    """Returns C arrays with the first known answer of ML-KEM-768 and a rejection."""
    entry = json.loads((HERE.parents[1] / "tests/data/mlkem768.json").read_text())["counts"][0]
    reject = entry["reject"][0]
    arrays = {"coins": "".join(entry["keypair_draws"]), "m": entry["encaps_draws"][0], "dk": entry["sk"],
              "ct": entry["ct"], "ss": entry["ss"], "rejected_ss": reject["ss"]}
    lines = [f"static const uint8_t known_{name}[] = {{{', '.join(f'0x{byte:02x}' for byte in bytes.fromhex(text))}}};"
             for name, text in arrays.items()]
    return "\n".join([*lines, f"enum {{ kRejectByte = {reject['byte']}, kRejectXor = {reject['xor']} }};", ""])


def write_headers(soc, folder):
    """Writes LiteX's headers and linker scripts of a finalized system to folder/generated."""
    generated = folder / "generated"
    generated.mkdir(parents=True, exist_ok=True)
    for name, text in (
            ("csr.h", export.get_csr_header(soc.csr_regions, soc.constants, soc.mem_regions["csr"].origin)),
            ("soc.h", export.get_soc_header(soc.constants)), ("mem.h", export.get_mem_header(soc.mem_regions)),
            ("regions.ld", export.get_linker_regions(soc.mem_regions)),
            ("output_format.ld", export.get_linker_output_format(soc.cpu)), ("known_answer.h", known_answer())):
        (generated / name).write_text(text)


def firmware(folder):
    """Compiles the firmware with the headers in folder/generated. Returns its words."""
    cpu = LITEX / "soc/cores/cpu/vexriscv"
    elf, image = folder / "firmware.elf", folder / "firmware.bin"
    includes = [folder, LITEX / "soc/software/include", LITEX / "soc/software", cpu]
    subprocess.run([COMPILER, *FLAGS, *(f"-I{place}" for place in includes), f"-L{folder}",
                    "-T", LITEX / "soc/software/bios/linker.ld", cpu / "crt0.S",
                    *sorted((HERE / "firmware").glob("*.c")), "-o", elf], check=True)
    subprocess.run([COMPILER.replace("gcc", "objcopy"), "-O", "binary", elf, image], check=True)
    data = image.read_bytes()
    data += bytes(-len(data) % 4)
    return [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]


def write_verilog(soc, board, folder):
    """Writes the Verilog, files with the contents of memories and, for a board, the constraints of its pins."""
    if board != "sim":
        soc.platform.build(soc, build_dir=str(folder), build_name=NAME, run=False)
        return
    os.chdir(folder)  # LiteX writes the contents of memories to the working directory
    fragment = soc.get_fragment()
    soc.platform.finalize(fragment)
    soc.platform.get_verilog(fragment, name=NAME).write(f"{NAME}.v")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("board", choices=("sim", "ulx3s"))
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.folder.resolve()
    logging.disable(logging.INFO)
    first = system(options.board, [])  # the firmware needs its addresses
    first.finalize()
    write_headers(first, folder)
    soc = system(options.board, firmware(folder))
    soc.finalize()
    write_verilog(soc, options.board, folder)
    sources = [source[0] for source in soc.platform.sources if source[0].endswith(".v")]
    (folder / "sources.f").write_text("\n".join(dict.fromkeys([*sources, str(folder / f"{NAME}.v")])) + "\n")


if __name__ == "__main__":
    main()
