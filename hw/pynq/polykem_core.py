# SPDX-License-Identifier: Apache-2.0
"""The driver of the core for PYNQ. It takes and returns records as bytes; hw/doc/registers.md has the registers.

    overlay = pynq.Overlay("polykem.bit")
    core = Core(overlay.core.mmio, overlay.dma, pynq.allocate)
    ek, dk = core.keygen(768, os.urandom(64))
"""

import time

ID, VERSION, PARAMS, CMD, STATUS, ERR, IRQ_EN, ZEROIZE, CYCLES, OCCUPIED, PHASE = range(0, 0x2c, 4)
CORE_ID = 0x504B454D
BUSY, ENDED = 1, 2
KYBER, XOF = 1 << 3, 1 << 6
KEYGEN, ENCAPS, DECAPS, NTT, INTT, PWM, SHAKE = range(1, 8)
HASHES = {"sha3_512": 0, "sha3_256": 1 << 4, "shake256": 1 << 4 | XOF, "shake128": 2 << 4 | XOF}
ERRORS = ("the input is too short or too long", "a coefficient of ek is not below q", "the hash of ek in dk is wrong",
          "the core did not take the command", "the command was aborted", "an upset bit was found")
BUFFER_BYTES = 8192  # the longest packet has 4,736
PATIENCE = 1.0  # seconds that a command may take


class CoreError(Exception):
    """The core ended a command with an error, or not at all."""


class Core:
    """One core. mmio: its registers, with read() and write(). dma: a pynq.lib.DMA without scatter-gather. allocate:
    pynq.allocate."""

    def __init__(self, mmio, dma, allocate):
        self._mmio, self._dma = mmio, dma
        self._in = allocate(shape=(BUFFER_BYTES,), dtype="u1")
        self._out = allocate(shape=(BUFFER_BYTES,), dtype="u1")
        if mmio.read(ID) != CORE_ID:
            raise CoreError("there is no polykem core: its register ID has another value")
        self.zeroize()

    def zeroize(self):
        """Ends a running command and clears every secret."""
        self._mmio.write(STATUS, ENDED)
        self._mmio.write(ZEROIZE, 1)
        if not self._ends():
            raise CoreError("the core does not answer: it could not clear its secrets")

    def keygen(self, level, coins, kyber=False):
        """Generates a key pair and returns ek and dk. coins: d and z, 64 bytes."""
        k, _ = sizes(level)
        dk = self.run(KEYGEN, k | kyber * KYBER, coins, 768 * k + 96)
        return dk[384 * k:768 * k + 32], dk

    def encaps(self, level, ek, m, kyber=False):
        """Encapsulates and returns the ciphertext and the shared secret. m: 32 bytes."""
        k, ct = sizes(level)
        out = self.run(ENCAPS, k | kyber * KYBER, m + ek, ct + 32)
        return out[:ct], out[ct:]

    def decaps(self, level, dk, ct, kyber=False):
        """Decapsulates and returns the shared secret."""
        k, _ = sizes(level)
        return self.run(DECAPS, k | kyber * KYBER, ct + dk, 32)

    def hash(self, name, message, length):
        """Returns `length` bytes of a function of HASHES. message and length: 1 to 255 words of eight bytes."""
        return self.run(SHAKE, 2 | HASHES[name] | len(message) << 5 | length << 13, message, length)

    def run(self, command, params, data, length):
        """Runs one command on `data` and returns the `length` bytes that it gives. Raises CoreError if it fails."""
        self._mmio.write(STATUS, ENDED)
        self._mmio.write(PARAMS, params)
        self._in[:len(data)] = bytearray(data)
        self._in.flush()
        self._dma.recvchannel.transfer(self._out, nbytes=length)
        self._dma.sendchannel.transfer(self._in, nbytes=len(data))
        self._mmio.write(CMD, command)
        try:
            self._check(self._ends())
            self._dma.recvchannel.wait()
            self._out.invalidate()
            return bytes(bytearray(self._out[:length]))
        except CoreError:
            self._dma.sendchannel.stop()
            self._dma.recvchannel.stop()
            self.zeroize()
            self._dma.sendchannel.start()
            self._dma.recvchannel.start()
            raise
        finally:
            self._in[:len(data)] = 0
            self._out[:length] = 0

    def cycles(self):
        """Returns the cycles of the last command: until its result had left ("command"), until its secrets were
        overwritten ("occupied"), and of each phase."""
        phases = [self._mmio.read(PHASE + 4 * i) for i in range(4)]
        return {"command": self._mmio.read(CYCLES), "occupied": self._mmio.read(OCCUPIED), "phases": phases}

    def _ends(self):
        deadline = time.monotonic() + PATIENCE
        while not self._mmio.read(STATUS) & ENDED and not self._mmio.read(ERR):
            if time.monotonic() > deadline:
                return False
        return True

    def _check(self, ended):
        if not ended:
            raise CoreError("the core did not end a command in time")
        bits = self._mmio.read(ERR)
        if bits:
            raise CoreError("; ".join(text for i, text in enumerate(ERRORS) if bits >> i & 1))


def sizes(level):
    """Returns k and the bytes of a ciphertext. level: 512, 768 or 1024."""
    k = {512: 2, 768: 3, 1024: 4}[level]
    return k, 32 * (11 * k + 5 if k == 4 else 10 * k + 4)
