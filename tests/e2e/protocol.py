# SPDX-License-Identifier: Apache-2.0
"""The exchange protocol, written from docs/protocol.md independently of the program."""

import hashlib
import hmac
import socket
import struct

HELLO, PUBLIC_KEY, CIPHERTEXT, CONFIRM, ERROR = 1, 2, 3, 4, 5
SERVER_DECAPS, SERVER_ENCAPS = 1, 2
# Public key, ciphertext and shared secret of ntruhps2048509.
PK_BYTES, CT_BYTES, SS_BYTES = 699, 699, 32
SCHEME = b"ntruhps2048509"
CODES = {
    1: "garbage", 2: "oversized", 3: "wrong_size", 4: "unexpected_frame", 5: "wrong_scheme", 6: "wrong_role",
    7: "silent", 8: "half_frame", 9: "timeout", 10: "disconnected", 11: "bad_key", 12: "mismatch", 13: "peer_error",
    14: "connect_failed", 15: "stopped", 16: "internal",
}  # fmt: skip


def frame(kind, payload, magic=b"PKEX", version=1, length=None):
    """Returns a frame; the named arguments make it wrong."""
    size = len(payload) if length is None else length
    return magic + struct.pack(">BBHI", version, kind, 0, size) + payload


def hello(role, scheme=SCHEME):
    return frame(HELLO, bytes([role]) + scheme)


def tag(secret, label, frames):
    """Returns the CONFIRM payload of one end. frames: HELLO, PUBLIC_KEY and CIPHERTEXT, whole."""
    digest = hashlib.sha256(b"".join(frames)).digest()
    return hmac.new(secret, label + digest, hashlib.sha256).digest()


def client_tag(secret, frames):
    return tag(secret, b"polykem exchange v1, client confirms", frames)


def server_tag(secret, frames):
    return tag(secret, b"polykem exchange v1, server confirms", frames)


class Peer:
    """A connected socket that sends frames, or any bytes that a test passes."""

    def __init__(self, connected):
        self.socket = connected
        self.socket.settimeout(300)

    @classmethod
    def connect(cls, port):
        return cls(socket.create_connection(("127.0.0.1", port)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def trickle(self, data, step):
        """Sends in small pieces, each a packet of its own."""
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(0, len(data), step):
            self.socket.sendall(data[at : at + step])

    def receive(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError(f"closed after {len(data)} of {size} bytes")
            data += part
        return data

    def receive_frame(self):
        """Returns the next frame as (type, payload)."""
        header = self.receive(12)
        magic, version, kind, reserved, length = struct.unpack(">4sBBHI", header)
        if (magic, version, reserved) != (b"PKEX", 1, 0):
            raise ValueError(f"no frame header: {header!r}")
        return kind, self.receive(length)

    def expect(self, kind):
        """Returns the payload of the next frame, which must be of that type."""
        got, payload = self.receive_frame()
        if got != kind:
            raise AssertionError(f"frame type {got} where {kind} was due: {payload!r}")
        return payload

    def drop_reason(self):
        """Waits to be dropped. Returns the reason in the ERROR frame, after which the other end must close."""
        payload = self.expect(ERROR)
        if self.socket.recv(1) != b"":
            raise AssertionError("bytes after an ERROR frame")
        return CODES[payload[0]]
