# SPDX-License-Identifier: Apache-2.0
"""Thousands of hostile clients. Each kind is a function that a process of its own repeats for ever."""

import collections
import contextlib
import itertools
import multiprocessing
import os
import random
import socket
import struct
import time

import protocol
from protocol import CIPHERTEXT, CONFIRM, ERROR, HELLO, frame

RESET = struct.pack("ii", 1, 0)
# Connections that a kind of client holds open at once, where it holds any.
HELD = 500


def connect(port):
    connected = socket.create_connection(("127.0.0.1", port), timeout=5)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connected


def reset(connected):
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    connected.close()


def wait_for_end(connected):
    """Reads until the other end closes."""
    with contextlib.suppress(OSError):
        while connected.recv(65536):
            pass
    connected.close()


def vanish(port, _scheme):
    """Connects and closes the connection."""
    connect(port).close()


def hello_and_reset(port, scheme):
    """Asks the server for a key, and resets the connection at once."""
    connected = connect(port)
    connected.sendall(protocol.hello(protocol.SERVER_DECAPS, scheme))
    reset(connected)


def hello_and_reset_late(port, scheme, asked=collections.deque()):
    """Asks for a key and resets the connection HELD clients later, so that as many requests wait at any time."""
    asked.append(connect(port))
    asked[-1].sendall(protocol.hello(protocol.SERVER_DECAPS, scheme))
    if len(asked) > HELD:
        reset(asked.popleft())


def repeat_hello(port, scheme):
    """Sends the same cheap frame repeatedly."""
    connected = connect(port)
    with contextlib.suppress(OSError):
        connected.sendall(protocol.hello(protocol.SERVER_DECAPS, scheme) * 2000)
    wait_for_end(connected)


def garbage(port, _scheme):
    connected = connect(port)
    with contextlib.suppress(OSError):
        connected.sendall(os.urandom(1 << 18).replace(b"P", b"Q"))
    wait_for_end(connected)


def giant_lengths(port, scheme):
    """Claims lengths that the protocol, or this state, does not allow, and sends what it claimed."""
    claims = [frame(HELLO, bytes(60000)), frame(HELLO, b"", length=0xFFFFFFFF) + bytes(60000)]
    claims += [protocol.hello(protocol.SERVER_DECAPS, scheme) + frame(CIPHERTEXT, bytes(65536))]
    for claim in claims:
        connected = connect(port)
        with contextlib.suppress(OSError):
            connected.sendall(claim)
        wait_for_end(connected)


def error_texts(port, _scheme):
    """Never sends the same ERROR twice."""
    connected = connect(port)
    text = f"{random.getrandbits(64):016x}" + "z" * 200
    connected.sendall(frame(ERROR, bytes([random.randrange(256)]) + text.encode()))
    wait_for_end(connected)


def wrong_tags(port, scheme):
    """Makes the server generate a key and decapsulate random bytes."""
    connected = connect(port)
    connected.sendall(protocol.hello(protocol.SERVER_DECAPS, scheme))
    with contextlib.suppress(OSError, EOFError):
        size = len(protocol.Peer(connected).expect(protocol.PUBLIC_KEY))
        connected.sendall(frame(CIPHERTEXT, bytes(size)) + frame(CONFIRM, bytes(32)))
    wait_for_end(connected)


def hold(port, say):
    """Keeps HELD connections open, opening a new one for each that the server closes. Each sometimes sends a byte."""
    held = []
    for turn in itertools.count():
        while len(held) < HELD:
            held.append(connect(port))
            held[-1].setblocking(False)
        for connected in list(held):
            with contextlib.suppress(BlockingIOError):
                try:
                    if turn < len(say):
                        connected.send(say[turn : turn + 1])
                    if connected.recv(4096) != b"":
                        continue
                except ConnectionError:
                    pass
                held.remove(connected)
                connected.close()
        time.sleep(1)


def byte_a_second(port, scheme):
    hold(port, protocol.hello(protocol.SERVER_DECAPS, scheme))


def half_open(port, _scheme):
    hold(port, b"")


KINDS = [vanish, hello_and_reset, hello_and_reset_late, repeat_hello, garbage, giant_lengths, error_texts, wrong_tags,
         byte_a_second, half_open]  # fmt: skip


def repeat(kind, port, scheme, rate):
    """Repeats a kind of client for ever. rate: the largest number per second."""
    due = time.monotonic()
    while True:
        with contextlib.suppress(OSError):
            kind(port, scheme)
        due = max(due + 1 / rate, time.monotonic() - 0.1)
        time.sleep(max(due - time.monotonic(), 0))


class Flood:
    """Runs clients of one kind against a server inside `with`."""

    def __init__(self, kind, port, scheme, rate=1000):
        processes = multiprocessing.get_context("fork")
        arguments = (kind, port, scheme.encode(), rate)
        self._process = processes.Process(target=repeat, args=arguments, daemon=True)

    def __enter__(self):
        self._process.start()
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.join()
        self._process.close()
