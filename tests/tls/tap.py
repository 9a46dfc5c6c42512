# SPDX-License-Identifier: Apache-2.0
"""Sits between a client and a server and reads what both send in the clear: what the ClientHello offers and which group
the ServerHello selects. So the group is known from both sides, whatever the programs report."""

import dataclasses
import socket
import struct
import threading

NAMES = {
    0x0017: "secp256r1", 0x001D: "X25519",
    0x0200: "MLKEM512", 0x0201: "MLKEM768", 0x0202: "MLKEM1024",
    0x11EB: "SecP256r1MLKEM768", 0x11EC: "X25519MLKEM768", 0x11ED: "SecP384r1MLKEM1024",
}
SUPPORTED_GROUPS, SUPPORTED_VERSIONS, KEY_SHARE = 10, 43, 51
HANDSHAKE_RECORD, CLIENT_HELLO, SERVER_HELLO = 22, 1, 2
# A ServerHello with this random is a HelloRetryRequest [RFC8446, 4.1.3].
RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
PATIENCE = 200


def name(group):
    return NAMES.get(group, f"0x{group:04x}")


@dataclasses.dataclass
class Seen:
    """The plaintext parts of one connection's handshake."""
    offered: list = dataclasses.field(default_factory=list)  # the client's groups, best first
    shares: list = dataclasses.field(default_factory=list)  # those it sent a key share for
    selected: str = ""  # the server's
    retried: bool = False  # it asked for another key share


class Tap:
    """Forwards each connection on its own port to `target`. `connections` has what was seen of each, in order."""

    def __init__(self, target):
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def last(self):
        """Returns the last connection whose ServerHello was seen."""
        answered = [seen for seen in self.connections if seen.selected]
        if not answered:
            raise AssertionError("no ServerHello was seen")
        return answered[-1]

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._target), timeout=PATIENCE)
            except OSError:
                client.close()
                continue
            seen = Seen()
            self.connections.append(seen)
            threading.Thread(target=serve, args=(client, server, seen), daemon=True).start()


def serve(client, server, seen):
    """Forwards both directions of a connection, until both have ended."""
    other = threading.Thread(target=forward, args=(server, client, read_server, seen), daemon=True)
    with client, server:
        other.start()
        forward(client, server, read_client, seen)
        other.join()


def forward(source, sink, read, seen):
    """Forwards bytes until their end, and passes all so far to `read` until it returns true."""
    heard = b""
    try:
        while data := source.recv(65536):
            if heard is not None:
                heard = None if read(heard + data, seen) else heard + data
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, sink):  # so that the other direction ends too
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended


def messages(stream):
    """Yields the complete handshake messages (type, body) at the start of a stream of TLS records in the clear."""
    data, at = b"", 0
    while at + 5 <= len(stream):
        kind, length = stream[at], struct.unpack_from(">H", stream, at + 3)[0]
        if kind == HANDSHAKE_RECORD:
            data += stream[at + 5:at + 5 + length]
        at += 5 + length
    at = 0
    while at + 4 <= len(data):
        length = int.from_bytes(data[at + 1:at + 4], "big")
        if at + 4 + length <= len(data):
            yield data[at], data[at + 4:at + 4 + length]
        at += 4 + length


def extensions(body, at):
    """Returns {type: data} of the extensions, whose length is at `at`."""
    found, end = {}, at + 2 + struct.unpack_from(">H", body, at)[0]
    at += 2
    while at < end:
        kind, length = struct.unpack_from(">HH", body, at)
        found[kind] = body[at + 4:at + 4 + length]
        at += 4 + length
    return found


def groups_of_shares(data):
    found, at = [], 2
    while at < len(data):
        group, length = struct.unpack_from(">HH", data, at)
        found.append(name(group))
        at += 4 + length
    return found


def read_client(stream, seen):
    """Notes a complete ClientHello. Reads on, since a second one may follow."""
    for kind, body in messages(stream):
        if kind != CLIENT_HELLO:
            continue
        at = 35 + body[34]  # version, random, session id
        at += 2 + struct.unpack_from(">H", body, at)[0]  # cipher suites
        at += 1 + body[at]  # compression
        found = extensions(body, at)
        groups = found.get(SUPPORTED_GROUPS, b"\0\0")
        seen.offered = [name(group) for group, in struct.iter_unpack(">H", groups[2:])]
        seen.shares = groups_of_shares(found.get(KEY_SHARE, b"\0\0"))
    return len(stream) > 200000


def read_server(stream, seen):
    for kind, body in messages(stream):
        if kind != SERVER_HELLO:
            continue
        found = extensions(body, 35 + body[34] + 3)
        if body[2:34] == RETRY:
            seen.retried = True
            continue
        if KEY_SHARE in found:
            seen.selected = name(struct.unpack_from(">H", found[KEY_SHARE])[0])
        return True
    return False
