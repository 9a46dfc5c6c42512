# SPDX-License-Identifier: Apache-2.0
"""Tests the program's server against an implementation of docs/protocol.md in Python, with the KEM through files."""

import pathlib
import subprocess
import tempfile
import unittest

import protocol
from program import PATIENCE, PROGRAM, SCHEME, ProgramTest
from protocol import CIPHERTEXT, CONFIRM, HELLO, PUBLIC_KEY, Peer, frame


def kem(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments), "--scheme", SCHEME], check=True, capture_output=True,
                   timeout=PATIENCE)


class IndependentClient(ProgramTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def encapsulate(self, public_key):
        (self.path / "pk").write_bytes(public_key)
        kem("encaps", "--pk", self.path / "pk", "--ct", self.path / "ct", "--ss", self.path / "ss", "--format", "raw")
        return (self.path / "ct").read_bytes(), (self.path / "ss").read_bytes()

    def decapsulate(self):
        kem("decaps", "--sk", self.path / "sk", "--ct", self.path / "ct", "--ss", self.path / "ss", "--format", "raw")
        return (self.path / "ss").read_bytes()

    def test_with_a_decapsulating_server_a_few_bytes_at_a_time(self):
        server = self.server("--role", "server-decaps", "--clients", 1)
        with Peer.connect(server.port) as peer:
            said_hello = protocol.hello(protocol.SERVER_DECAPS)
            peer.trickle(said_hello, step=1)
            public_key = peer.expect(PUBLIC_KEY)
            ciphertext, secret = self.encapsulate(public_key)
            frames = [said_hello, frame(PUBLIC_KEY, public_key), frame(CIPHERTEXT, ciphertext)]
            peer.trickle(frames[2] + frame(CONFIRM, protocol.client_tag(secret, frames)), step=5)
            self.assertEqual(peer.expect(CONFIRM), protocol.server_tag(secret, frames))
        self.assertEqual(server.finish()["agreed"], 1)
        self.assertEqual(server.exit_code, 0)

    def test_with_an_encapsulating_server(self):
        server = self.server("--role", "server-encaps", "--clients", 1)
        kem("keygen", "--pk", self.path / "pk", "--sk", self.path / "sk", "--format", "raw")
        with Peer.connect(server.port) as peer:
            said_hello = protocol.hello(protocol.SERVER_ENCAPS)
            said_key = frame(PUBLIC_KEY, (self.path / "pk").read_bytes())
            peer.send(said_hello + said_key)
            ciphertext = peer.expect(CIPHERTEXT)
            (self.path / "ct").write_bytes(ciphertext)
            secret = self.decapsulate()
            frames = [said_hello, said_key, frame(CIPHERTEXT, ciphertext)]
            peer.send(frame(CONFIRM, protocol.client_tag(secret, frames)))
            self.assertEqual(peer.expect(CONFIRM), protocol.server_tag(secret, frames))
        self.assertEqual(server.finish()["agreed"], 1)

    def test_altered_ciphertext_is_caught_by_the_confirmation(self):
        server = self.server("--role", "server-decaps")
        with Peer.connect(server.port) as peer:
            said_hello = protocol.hello(protocol.SERVER_DECAPS)
            peer.send(said_hello)
            public_key = peer.expect(PUBLIC_KEY)
            ciphertext, secret = self.encapsulate(public_key)
            altered = bytes([ciphertext[0] ^ 1]) + ciphertext[1:]
            frames = [said_hello, frame(PUBLIC_KEY, public_key), frame(CIPHERTEXT, altered)]
            peer.send(frames[2] + frame(CONFIRM, protocol.client_tag(secret, frames)))
            self.assertEqual(peer.drop_reason(), "mismatch")
        self.assertEqual(server.stop()["failed_reasons"], {"mismatch": 1})

    def test_altered_transcript_is_caught_by_the_confirmation(self):
        server = self.server("--role", "server-decaps")
        with Peer.connect(server.port) as peer:
            peer.send(protocol.hello(protocol.SERVER_DECAPS))
            public_key = peer.expect(PUBLIC_KEY)
            ciphertext, secret = self.encapsulate(public_key)
            another_hello = frame(HELLO, b"\x02" + protocol.SCHEME)
            frames = [another_hello, frame(PUBLIC_KEY, public_key), frame(CIPHERTEXT, ciphertext)]
            peer.send(frames[2] + frame(CONFIRM, protocol.client_tag(secret, frames)))
            self.assertEqual(peer.drop_reason(), "mismatch")
        self.assertEqual(server.stop()["agreed"], 0)


if __name__ == "__main__":
    unittest.main()
