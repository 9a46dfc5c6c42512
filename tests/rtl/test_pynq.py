# SPDX-License-Identifier: Apache-2.0
"""Tests hw/pynq/polykem_core.py with simulated registers and DMA: what it writes where and in which order, and what
happens if a command fails. Only the command SHAKE computes."""

import hashlib
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "hw/pynq"))
sys.dont_write_bytecode = True
import polykem_core as pk  # noqa: E402


class Buffer(bytearray):
    """A buffer like those of pynq.allocate, which records whether caches were flushed and invalidated."""

    flushed = invalidated = 0

    def __setitem__(self, key, value):
        if value == 0 and isinstance(key, slice):
            value = bytes(len(self[key]))
        super().__setitem__(key, value)

    def flush(self):
        self.flushed += 1

    def invalidate(self):
        self.invalidated += 1


class Channel:
    def __init__(self):
        self.transfers, self.running = [], True

    def transfer(self, buffer, nbytes):
        assert self.running
        self.transfers.append((buffer, nbytes))

    def wait(self):
        pass

    def stop(self):
        self.running = False

    def start(self):
        self.running = True


class Board:
    """Registers, a DMA and a core that fails with `error`, or hangs."""

    def __init__(self, error=0, hangs=False):
        self.error, self.hangs = error, hangs
        self.registers = {pk.ID: pk.CORE_ID, pk.STATUS: 0, pk.CYCLES: 1500, pk.OCCUPIED: 1900}
        self.commands, self.zeroized, self.buffers = [], 0, []
        self.sendchannel, self.recvchannel = Channel(), Channel()

    def allocate(self, shape, dtype):
        assert dtype == "u1"
        self.buffers.append(Buffer(shape[0]))
        return self.buffers[-1]

    def read(self, offset):
        return self.registers.get(offset, 0)

    def write(self, offset, value):
        if offset == pk.STATUS:
            self.registers[offset] &= ~value
            self.registers[pk.ERR] = 0
        elif offset == pk.ZEROIZE:
            self.zeroized += 1
            self.registers[pk.STATUS] = pk.ENDED
        elif offset == pk.CMD and not self.hangs:
            self.command(value)
        else:
            self.registers[offset] = value

    def command(self, value):
        source, size = self.sendchannel.transfers[-1]
        target, room = self.recvchannel.transfers[-1]
        self.commands.append((value, self.registers[pk.PARAMS], bytes(source[:size]), room))
        if value == pk.SHAKE:
            in_words, out_words = self.registers[pk.PARAMS] >> 8 & 255, self.registers[pk.PARAMS] >> 16 & 255
            answer = hashlib.shake_256(bytes(source[:8 * in_words])).digest(8 * out_words)
            target[:len(answer)] = answer
        else:
            target[:room] = bytes(i & 255 for i in range(room))
        self.registers[pk.ERR] = self.error
        self.registers[pk.STATUS] = pk.ENDED


class Pynq(unittest.TestCase):
    def core(self, **kwargs):
        board = Board(**kwargs)
        return board, pk.Core(board, board, board.allocate)

    def test_commands(self):
        board, core = self.core()
        ek, dk = core.keygen(768, bytes(64))
        self.assertEqual((len(ek), len(dk)), (1184, 2400))
        ct, ss = core.encaps(1024, bytes(1568), bytes(32), kyber=True)
        self.assertEqual((len(ct), len(ss)), (1568, 32))
        self.assertEqual(len(core.decaps(512, bytes(1632), bytes(768))), 32)
        self.assertEqual([(c, p, len(data), room) for c, p, data, room in board.commands],
                         [(1, 3, 64, 2400), (2, 4 | 8, 1600, 1600), (3, 2, 2400, 32)])
        self.assertTrue(all(not any(buffer) for buffer in board.buffers), "what passed through is wiped")
        self.assertEqual([b.flushed + b.invalidated for b in board.buffers], [3, 3])
        self.assertEqual(board.zeroized, 1)
        self.assertEqual(core.cycles(), {"command": 1500, "occupied": 1900, "phases": [0] * 4})

    def test_hash(self):
        board, core = self.core()
        words = b"two words of 8 b"
        self.assertEqual(core.hash("shake256", words, 40), hashlib.shake_256(words).digest(40))
        self.assertEqual(board.commands[0][1:], (2 | 1 << 4 | 1 << 6 | 2 << 8 | 5 << 16, words, 40))

    def test_errors_clear_the_core(self):
        board, core = self.core(error=2)
        with self.assertRaisesRegex(pk.CoreError, "not below q"):
            core.encaps(768, bytes(1184), bytes(32))
        self.assertEqual(board.zeroized, 2)
        self.assertTrue(board.sendchannel.running and board.recvchannel.running)
        self.assertFalse(any(board.buffers[0]) or any(board.buffers[1]))

    def test_a_core_that_hangs(self):
        board, core = self.core(hangs=True)
        pk.PATIENCE, patience = 0.01, pk.PATIENCE
        self.addCleanup(setattr, pk, "PATIENCE", patience)
        with self.assertRaisesRegex(pk.CoreError, "in time"):
            core.keygen(512, bytes(64))
        self.assertEqual(board.zeroized, 2)

    def test_no_core(self):
        board = Board()
        board.registers[pk.ID] = 0
        with self.assertRaisesRegex(pk.CoreError, "no polykem core"):
            pk.Core(board, board, board.allocate)

    def test_the_notebook_is_one(self):
        notebook = json.loads((ROOT / "hw/pynq/polykem.ipynb").read_text())
        code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        self.assertGreaterEqual(len(code), 4)
        for cell in code:
            compile(cell, "cell", "exec")
        self.assertFalse(any(cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"),
                         "it was never run on a board")


if __name__ == "__main__":
    unittest.main()
