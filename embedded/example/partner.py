#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The partner of example/uart.c: encapsulates to the board's key with the program polykem and prints its message.

    partner.py PORT [POLYKEM]     PORT: a serial port, or the Unix socket of an emulator (-serial unix:PORT,server)

A serial port must be set to 115,200 baud, raw: stty -F PORT 115200 raw -echo."""

import pathlib
import socket
import stat
import subprocess
import sys
import tempfile

PUBLIC_KEY_BYTES, MESSAGE_BYTES = 1184, 32


def open_port(path):
    """Returns a file of bytes in both directions."""
    if stat.S_ISSOCK(path.stat().st_mode):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(path))
        return connection.makefile("rwb", buffering=0)
    return path.open("r+b", buffering=0)


def receive(port, count):
    data = b""
    while len(data) < count:
        part = port.read(count - len(data))
        if not part:
            raise SystemExit(f"partner: the board sent {len(data)} of {count} bytes")
        data += part
    return data


def encapsulate(program, public_key):
    """Returns the ciphertext and the shared secret."""
    with tempfile.TemporaryDirectory() as folder:
        pk, ct, ss = (pathlib.Path(folder) / name for name in ("pk", "ct", "ss"))
        pk.write_bytes(public_key)
        subprocess.run([program, "encaps", "--quiet", "--scheme", "mlkem768", "--format", "raw", "--pk", pk, "--ct", ct,
                        "--ss", ss], check=True)
        return ct.read_bytes(), ss.read_bytes()


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    port = open_port(pathlib.Path(sys.argv[1]))
    program = sys.argv[2] if len(sys.argv) == 3 else "polykem"
    ciphertext, secret = encapsulate(program, receive(port, PUBLIC_KEY_BYTES))
    port.write(ciphertext)
    encrypted = receive(port, MESSAGE_BYTES)
    print(bytes(a ^ b for a, b in zip(encrypted, secret, strict=True)).rstrip(b"\0").decode())


if __name__ == "__main__":
    main()
